"""The origin of a message, and how often a group tries."""

import pytest

from rocketproof.traces.format.schema import MOST_ATTEMPTS, Group, origin_of


def test_the_origin_of_a_key_is_a_signed_number_of_64_bits() -> None:
    assert [origin_of(key) for key in ("", "K1", "K2", "7F000001ABCD")] == [
        -5426141060434712860,
        5062201007073134785,
        4433917728037030179,
        -5203040186738594951,
    ]


@pytest.mark.parametrize("configured", [None, -1])
def test_only_an_orderly_group_tries_without_end_if_no_maximum_is_configured(configured: int | None) -> None:
    assert Group(listener="concurrently", max_attempts=configured).maximum == 16
    assert Group(listener="orderly", max_attempts=configured).maximum == MOST_ATTEMPTS
    assert Group(listener="orderly", max_attempts=3).maximum == 3
