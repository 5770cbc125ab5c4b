"""Releases of the clients of a recording."""

from __future__ import annotations

import pytest

from rocketproof.traces.format.releases import client_releases, keep_offsets
from rocketproof.traces.format.schema import Header

SEVERAL = (
    "rocketproof agent 1, broker broker-a of RocketMQ 5.3.3; rocketproof agent 1, client of RocketMQ 5.5.0; "
    "rocketproof agent 1, client of RocketMQ 4.9.4"
)


def test_the_source_names_the_releases_of_clients() -> None:
    assert client_releases(Header(source=SEVERAL, release="5.3.3")) == {"5.5.0", "4.9.4"}
    assert client_releases(Header(source="a log", release="5.3.3")) == {"5.3.3"}


@pytest.mark.parametrize(
    ("release", "keeps"),
    [
        ("4.9.4", False),
        ("4.9.7", False),
        ("4.9.8", True),
        ("5.1.4", False),
        ("5.2.0", True),
        ("5.3.3", True),
        ("", True),
    ],
)
def test_which_releases_keep_the_offsets_of_queues_that_are_away(release: str, keeps: bool) -> None:
    assert keep_offsets(Header(release=release)) is keeps


def test_one_old_client_among_others_may_have_lost_them() -> None:
    assert not keep_offsets(Header(source=SEVERAL, release="5.3.3"))
