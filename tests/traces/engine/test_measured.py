"""The numbers of checked traces, against what is known of how they were made."""

from __future__ import annotations

import pytest

from rocketproof.traces.encoding.names import Actor, Slot
from rocketproof.traces.engine.measured import Overlaps, overlaps
from rocketproof.traces.explain.timelines import Ownership
from rocketproof.traces.format.kinds import Path
from rocketproof.traces.monitors.queues.ownership import End

FIRST, SECOND = Slot("g", "t", "b", 0), Slot("g", "t", "b", 1)


def owned(slot: Slot, client: str, since: int, until: int) -> Ownership:
    return Ownership(
        slot=slot, actor=Actor(client), since=since, until=until, end=End.REVOKED, path=Path.REMOVAL, start=0
    )


@pytest.mark.parametrize(
    ("times", "found"),
    [
        ([], Overlaps(count=0, longest=0, total=0)),
        ([("a", 0, 10), ("b", 10, 20)], Overlaps(count=0, longest=0, total=0)),
        ([("a", 0, 10), ("b", 7, 20)], Overlaps(count=1, longest=3, total=3)),
        ([("a", 0, 10), ("b", 7, 20), ("c", 18, 30)], Overlaps(count=2, longest=3, total=5)),
        ([("a", 0, 10), ("b", 2, 8), ("c", 4, 6)], Overlaps(count=1, longest=6, total=6)),
        ([("a", 5, 5), ("b", 0, 10)], Overlaps(count=0, longest=0, total=0)),
    ],
)
def test_an_overlap_lasts_while_two_or_more_own_a_queue(times: list[tuple[str, int, int]], found: Overlaps) -> None:
    assert overlaps([owned(FIRST, *time) for time in times]) == found


def test_queues_do_not_overlap_with_each_other() -> None:
    assert overlaps([owned(FIRST, "a", 0, 10), owned(SECOND, "b", 0, 10), owned(FIRST, "b", 9, 12)]) == Overlaps(
        count=1, longest=1, total=1
    )
