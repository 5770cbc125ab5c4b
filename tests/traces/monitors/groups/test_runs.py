from __future__ import annotations

from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.monitors.groups.runs import told_by

from .group_events import Event, event, heartbeat, rebalance, stop


def spans(events: list[Event], *kinds: Kind) -> list[tuple[int, int, int]]:
    return [(run.first, run.last, run.count) for run in told_by(ContextEvents.of(events)).of("G", *kinds)]


def test_equal_events_of_one_process_are_one_run() -> None:
    events = [heartbeat(time, client, "T=*") for time in range(0, 90, 30) for client in ("c1", "c2")]
    assert spans(events, Kind.HEARTBEAT) == [(0, 60, 3), (0, 60, 3)]


def test_a_change_begins_a_new_one() -> None:
    events = [rebalance(0, "c1", ["c1"]), rebalance(20, "c1", ["c1"]), rebalance(40, "c1", ["c1", "c2"])]
    events += [rebalance(50, "c1", ["c1"], topic="U"), rebalance(60, "c1", ["c1", "c2"])]
    assert spans(events, Kind.REBALANCE) == [(0, 20, 2), (40, 60, 2), (50, 50, 1)]


def test_so_does_a_new_process_or_a_long_pause_between_passes() -> None:
    events = [heartbeat(0, "c1", "T=*"), stop(5, "c1"), heartbeat(10, "c1", "T=*")]
    assert spans(events, Kind.HEARTBEAT) == [(0, 0, 1), (10, 10, 1)]
    passes = [rebalance(time, "c1", ["c1"]) for time in (0, 40_000, 80_001)]
    assert spans(passes, Kind.REBALANCE) == [(0, 40_000, 2), (80_001, 80_001, 1)]


def test_what_is_not_known_differs_from_what_is_empty() -> None:
    events = [event(time, Kind.MEMBERS, None, broker="b", members=members) for time, members in [(0, None), (1, [])]]
    (unknown, empty) = told_by(ContextEvents.of(events)).of("G", Kind.MEMBERS)
    assert (unknown.members, empty.members) == (None, ())
    assert unknown.actor.incarnation == -1
