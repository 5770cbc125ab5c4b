"""The origin of a message: the same number in every recording, whoever wrote it."""

from rocketproof.traces.format.schema import origin_of


def test_the_origin_of_a_key_is_a_signed_number_of_64_bits() -> None:
    assert [origin_of(key) for key in ("", "K1", "K2", "7F000001ABCD")] == [
        -5426141060434712860,
        5062201007073134785,
        4433917728037030179,
        -5203040186738594951,
    ]
