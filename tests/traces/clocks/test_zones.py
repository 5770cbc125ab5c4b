"""Recorders whose times may be in another time zone."""

from __future__ import annotations

import pytest

from rocketproof.traces.clocks.clocks import Clock
from rocketproof.traces.clocks.zones import in_other_zones
from rocketproof.traces.encoding.names import Actor

BROKER, ONE, TWO = Actor("broker-a", -1), Actor("one", 0), Actor("two", 0)
MINUTE = 60_000
HOUR = 60 * MINUTE
BEGIN = 1_000 * HOUR


def told(clock: Clock, span: tuple[int, int]) -> list[str]:
    """What is told of a client with this clock that recorded then, beside a broker that recorded for half an hour."""
    clocks = {BROKER: Clock(recorder=BROKER, pairs=9, slow=0, fast=0, closest=0), clock.recorder: clock}
    spans = {BROKER: (BEGIN, BEGIN + 30 * MINUTE), clock.recorder: span}
    return [event for step in in_other_zones(clocks, spans) for event in step.events]


@pytest.mark.parametrize(
    ("begin", "end", "minutes"),
    [
        (60, 90, 60),
        (61, 70, 45),
        (-300, -280, 300),
        (0, 30, 0),  # at the same time
        (20, 50, 0),  # at the same time for a while
        (65, 99, 0),  # longer than the broker: no zone explains it
        (26 * 60 + 30, 26 * 60 + 31, 0),  # no two zones are so far apart
    ],
)
def test_times_that_lie_apart(begin: int, end: int, minutes: int) -> None:
    said = told(Clock(recorder=ONE, pairs=0), (BEGIN + begin * MINUTE, BEGIN + end * MINUTE))
    assert said == [f"its times are about {minutes} min from those of others, as in another time zone"] * (minutes > 0)


def test_what_a_predecessor_left_bounds_its_clock() -> None:
    # Its offsets were found by whoever took its queues: it cannot have stored them an hour later.
    before, after = (BEGIN - 20 * MINUTE, BEGIN - MINUTE), (BEGIN + 31 * MINUTE, BEGIN + 40 * MINUTE)
    for clock, count in (
        (Clock(recorder=ONE, pairs=9, slow=2 * MINUTE), 0),
        (Clock(recorder=ONE, pairs=9, slow=HOUR), 1),
    ):
        assert len(told(clock, before)) == count
        assert len(told(clock, after)) == 1
    assert told(Clock(recorder=ONE, pairs=9, fast=2 * MINUTE), after) == []


@pytest.mark.parametrize(
    ("pairs", "closest", "count"), [(3, HOUR + 20, 1), (2, HOUR + 20, 0), (3, HOUR + 9_000, 0), (3, 20, 0)]
)
def test_messages_that_all_take_an_hour(pairs: int, closest: int, count: int) -> None:
    clock = Clock(recorder=ONE, pairs=pairs, fast=closest, closest=closest)
    assert len(told(clock, (BEGIN, BEGIN + 2 * HOUR))) == count


def test_a_clock_that_is_bounded_is_known() -> None:
    clock = Clock(recorder=ONE, pairs=9, slow=3, fast=3, closest=3)
    assert told(clock, (BEGIN + HOUR, BEGIN + HOUR + MINUTE)) == []


def test_what_another_process_of_the_client_recorded_is_no_other() -> None:
    spans = {ONE: (BEGIN, BEGIN + MINUTE), Actor("one", 1): (BEGIN + HOUR, BEGIN + HOUR + MINUTE)}
    assert in_other_zones({}, spans) == []


def test_of_two_without_bounds_either_may_be_wrong() -> None:
    steps = in_other_zones({}, {ONE: (BEGIN, BEGIN + MINUTE), TWO: (BEGIN + HOUR, BEGIN + HOUR + MINUTE)})
    assert [step.recorders for step in steps] == [(ONE,), (TWO,)]


def test_all_is_in_doubt_as_long_as_anybody_recorded() -> None:
    spans = {ONE: (BEGIN, BEGIN + MINUTE), TWO: (BEGIN + HOUR, BEGIN + HOUR + MINUTE), BROKER: (BEGIN, BEGIN + MINUTE)}
    (step,) = in_other_zones({}, spans)
    assert step.recorders == (TWO,)
    assert (step.since, step.until) == (1000 * BEGIN, 1000 * (BEGIN + HOUR + MINUTE + 1))
