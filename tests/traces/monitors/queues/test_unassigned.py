"""Queues that nobody ever takes: found where all members were recorded, and nowhere else."""

from __future__ import annotations

from typing import Any

from rocketproof.traces.encoding.names import Slot
from rocketproof.traces.encoding.store_counts import Stored
from rocketproof.traces.format.kinds import Kind

from ..groups.group_events import Judged, event, heartbeat, rebalance

CLAIM = "every-queue-gets-an-owner"
STORED = {Slot("", "T", "b", 9): Stored(10, 9, 500, 0, 500)}


def passes(client: str, members: list[str], assigned: list[str], *, end: int = 400_000, **more: Any) -> list[Any]:
    """Passes every 20 s of one member, which sees queues 0, 1 and 9."""
    seen = ["b:0", "b:1", "b:9"]
    times = range(1_000, end, 20_000)
    return [rebalance(time, client, members, seen, assigned=assigned, detail="AVG", **more) for time in times]


def test_a_queue_of_an_added_broker_that_nobody_takes() -> None:
    both = ["c1", "c2"]
    events = [*passes("c1", both, ["b:0"]), *passes("c2", both, ["b:1"])]
    judged = Judged(events, stores=STORED)
    assert judged.counts(CLAIM) == (1, 0)
    (row,) = judged.rows(CLAIM)
    assert (row["slot"], row["since"], row["time"]) == (Slot("G", "T", "b", 9), 1_000, 381_000)
    right = [*passes("c1", both, ["b:0", "b:9"]), *passes("c2", both, ["b:1"])]
    assert Judged(right, stores=STORED).counts(CLAIM) == (0, 0)


def test_what_a_member_takes_that_is_not_recorded_is_not_known() -> None:
    assert Judged(passes("c1", ["c1", "c2"], ["b:0"]), stores=STORED).counts(CLAIM) == (0, 0)


def test_a_queue_that_is_given_and_never_taken() -> None:
    given = passes("c1", ["c1"], ["b:0", "b:9"])
    assert Judged(given, stores=STORED, complete=True).counts(CLAIM) == (1, 0)
    assert Judged(given, stores=STORED).counts(CLAIM) == (0, 0)
    taken = event(2_000, Kind.ASSIGN, "c1", "G", topic="T", broker="b", queue=9)
    assert Judged([taken, *given], stores=STORED, complete=True).counts(CLAIM) == (0, 0)


def test_a_member_that_never_makes_a_pass_takes_nothing() -> None:
    """RB-1: the others count it, and leave its share to it; that it is recorded shows in its heartbeats."""
    others = passes("c1", ["c1", "c2"], ["b:0"])
    alive = [heartbeat(time, "c2", "T=*@1") for time in range(500, 400_000, 30_000)]
    assert Judged([*alive, *others], stores=STORED, complete=True).counts(CLAIM) == (1, 0)
    assert Judged([*alive, *others], stores=STORED).counts(CLAIM) == (0, 0)
    assert Judged(others, stores=STORED, complete=True).counts(CLAIM) == (0, 0)


def test_a_pass_whose_answer_is_not_recorded_may_have_taken_it() -> None:
    untold = [event | {"assigned": None} for event in passes("c1", ["c1"], [])]
    assert Judged(untold, stores=STORED).counts(CLAIM) == (0, 0)


def test_an_empty_queue_and_a_short_time_are_no_violation() -> None:
    assert Judged(passes("c1", ["c1"], ["b:0"]), stores={}).counts(CLAIM) == (0, 0)
    assert Judged(passes("c1", ["c1"], ["b:0"], end=150_000), stores=STORED).counts(CLAIM) == (0, 0)
