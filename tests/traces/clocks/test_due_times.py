"""Due times by another clock than the times of events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rocketproof.model.delay import DEFAULT_LEVELS, DelayTable
from rocketproof.traces.clocks.clocks import Clocks
from rocketproof.traces.clocks.due_times import PROMPT, DueTimes
from rocketproof.traces.encoding.plain import plain, restored
from rocketproof.traces.engine.scan import conclude
from rocketproof.traces.engine.scanning import Scanning
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io.events import batch_of

BEGIN = 1_700_000_000_000
TABLE = DelayTable.parse(DEFAULT_LEVELS)


def waits(by: int, *, early: int = 0, wrong: int = 0) -> list[dict[str, Any]]:
    """Messages of levels 3 and 4 that wait; their due times are ``by`` ms ahead, they leave ``early`` ms too early, and
    are due ``wrong`` ms too late."""
    events = []
    for number, (level, delay) in enumerate([(3, 10_000), (4, 30_000)] * 5):
        at = BEGIN + 100 * number
        due = at + delay + wrong - number % 3
        told = {"broker": "b", "level": level, "topic": "%RETRY%g", "attempt": 1, "key": f"K{number}"}
        events.append({"time": at, "kind": "delay_store", "due": due + by, **told})
        events.append({"time": due - early + number, "kind": "delay_deliver", "due": due + by, **told})
    return events


def seen(events: list[dict[str, Any]]) -> DueTimes:
    found = DueTimes()
    found.see(batch_of(events))
    return found


@pytest.mark.parametrize("by", [-5_000, -500, 30, 5_000])
def test_due_times_that_were_left_where_they_were_are_by_another_clock(by: int) -> None:
    found = seen(waits(by))
    assert found.ahead(TABLE) == {"b": by}
    (step,) = found.steps(TABLE, BEGIN, BEGIN + 60_000)
    assert (step.since, step.until) == (1000 * BEGIN, 1000 * (BEGIN + 60_001))
    assert f"its due times are by a clock that is {abs(by):,} ms {'ahead' if by > 0 else 'behind'}" in str(step)


@pytest.mark.parametrize(("apart", "told"), [(PROMPT, {"b": 5_000}), (PROMPT + 1, {})])
def test_due_times_by_one_clock_are_about_as_far_ahead(apart: int, told: dict[str, int]) -> None:
    first, *others = waits(5_000)
    assert seen([{**first, "due": first["due"] - apart}, *others]).ahead(TABLE) == told


def test_due_times_of_a_defect_are_by_the_same_clock() -> None:
    assert seen(waits(0)).ahead(TABLE) == {}
    assert seen(waits(0, early=2_000)).ahead(TABLE) == {}
    assert seen(waits(0, wrong=5_000)).ahead(TABLE) == {}  # they leave when they are due
    assert seen(waits(5_000)[:8] + waits(0)[8:]).ahead(TABLE) == {}
    assert seen([event for event in waits(5_000) if event["kind"] == "delay_store"]).ahead(TABLE) == {}


def test_each_process_of_a_broker_has_its_own_clock() -> None:
    both = [{**event, "recorder": who} for who, by in (("one", 0), ("two", 5_000)) for event in waits(by)]
    assert seen(both).ahead(TABLE) == {"b": 5_000}


def test_a_clock_of_due_times_is_told_once_if_corrected_times_begin_later() -> None:
    def clocks(begin: int, before: Clocks | None = None) -> Clocks:
        looked_at = Scanning()
        looked_at.see(batch_of([{"time": begin, "kind": "client_start", "client": "c"}, *waits(5_000)]))
        return conclude(looked_at, Header(), files=(), clocks=before).context.clocks

    first = clocks(BEGIN - 1_000)
    assert [step.since for step in first.steps] == [1000 * (BEGIN - 1_000)]
    assert [step.since for step in clocks(BEGIN - 900, first).steps] == [1000 * (BEGIN - 900)]


def test_what_is_seen_in_parts_and_kept_is_the_same() -> None:
    one, other = seen(waits(5_000)[:10]), seen(waits(5_000)[10:])
    one.join(restored(DueTimes, json.loads(json.dumps(plain(other)))))
    assert one == seen(waits(5_000))
