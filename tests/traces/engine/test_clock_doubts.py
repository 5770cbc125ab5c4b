"""Clocks that were set: they take the evidence of groups that go by them, and of no others."""

from __future__ import annotations

from rocketproof.traces.clocks.clocks import Clocks, Step
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.clock_doubts import steps_as_holes
from rocketproof.traces.format.coverage import ALL_KINDS, Coverage, Hole

ONE, TWO, BROKER = Actor("one", 0), Actor("two", 0), Actor("b", -1)
GROUPS = {ONE: {"G", "H"}, TWO: {"I"}}


def holes(*recorders: Actor) -> list[Hole]:
    step = Step(since=5_000_000, until=6_000_001, recorders=recorders, events=())
    return list(steps_as_holes(Clocks(steps=(step,)), GROUPS))


def test_the_clock_of_a_client_is_that_of_its_own_groups() -> None:
    assert [(hole.group, hole.recorder, hole.since, hole.until) for hole in holes(ONE)] == [
        ("G", "one", 5_000, 6_001),
        ("H", "one", 5_000, 6_001),
    ]
    covered = Coverage(recorded=ALL_KINDS, begin=0, end=9_000, holes=holes(ONE))
    lost = {group: covered.lost(ALL_KINDS, group=group, since=5_500, until=5_600) for group in ("G", "I", "")}
    assert (lost["G"] is not None, lost["I"] is None, lost[""] is not None) == (True, True, True)


def test_what_one_of_several_set_says_of_the_groups_of_all() -> None:
    assert [hole.group for hole in holes(ONE, TWO)] == ["G", "H", "I"]


def test_any_group_goes_by_the_clock_of_a_broker_or_of_nobody_known() -> None:
    assert [hole.group for hole in holes(ONE, BROKER)] == [""]
    assert [hole.group for hole in holes(Actor("three", 0))] == [""]
    assert [hole.group for hole in holes()] == [""]


def test_a_step_of_no_length_leaves_nothing_in_doubt() -> None:
    step = Step(since=5_000_000, until=5_000_000, recorders=(ONE,), events=("it went back by 5,000 ms",))
    assert list(steps_as_holes(Clocks(steps=(step,)), GROUPS)) == []
