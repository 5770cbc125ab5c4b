from __future__ import annotations

from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.monitors.groups.rebalance_history import flapping, rebalance_history
from rocketproof.traces.monitors.groups.views import Differ

from .group_events import context_of, rebalance, stop

C1, C2 = Actor("c1", 0), Actor("c2", 0)


def test_what_each_pass_changed() -> None:
    events = [
        rebalance(0, "c1", ["c1"]),
        rebalance(20_000, "c1", ["c1"]),
        rebalance(30_000, "c2", ["c1", "c2"]),
        rebalance(31_000, "c1", ["c1", "c2"]),
        stop(50_000, "c1"),
        rebalance(60_000, "c2", ["c2"], ["b:0", "b:1", "b:2", "b:3", "b:4"]),
    ]
    changes = rebalance_history(context_of(events), "G")
    assert [(change.time, change.actor) for change in changes] == [(0, C1), (30_000, C2), (31_000, C1), (60_000, C2)]
    first, second, third, fourth = changes
    assert (first.joined, first.gained) == (("c1",), ("b:0", "b:1", "b:2", "b:3"))
    assert (second.gained, second.disagrees) == (("b:2", "b:3"), {C1: Differ.MEMBERS})
    assert (third.joined, third.lost, third.disagrees) == (("c2",), ("b:2", "b:3"), {})
    assert (fourth.left, fourth.added, fourth.gained) == (("c1",), ("b:4",), ("b:0", "b:1", "b:4"))
    assert fourth.disagrees == {}  # c1 is gone


def test_a_calm_group() -> None:
    score = flapping(rebalance_history(context_of([rebalance(0, "c1", ["c1"]), rebalance(9, "c1", ["c1"])]), "G"))
    assert (score.moves, score.returns, score.score, score.worst) == (0, 0, 0.0, None)


def test_a_group_that_flaps() -> None:
    # c2 is in the list and out of it again, twice: c1 gives b:2 and b:3 up and gets them back both times.
    members = [["c1"], ["c1", "c2"]] * 2 + [["c1"]]
    events = [rebalance(time * 20_000, "c1", seen) for time, seen in enumerate(members)]
    score = flapping(rebalance_history(context_of(events), "G"))
    assert (score.moves, score.returns, score.score) == (4, 4, 1.0)
    assert score.worst == ("T", "b:2", 2)
