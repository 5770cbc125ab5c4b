"""What must have come before: events without it are found, once for each process and queue, where it is sure."""

from __future__ import annotations

from typing import Any

import pytest

from rocketproof.traces.claims.causes import Missing
from rocketproof.traces.claims.claims import claim
from rocketproof.traces.explain.titles import title
from rocketproof.traces.format.kinds import Kind

from ..monitors.queues.queue_events import (
    EVERYTHING,
    Checked,
    assign,
    check,
    consumed,
    deliver,
    event,
    found,
    gap,
    result,
    revoke,
    start,
)

CLAIM = "nothing-without-its-cause"
TAKEN = [assign(1_000, "one", 0), found(2_000, "one", 0, 4)]
HEALTHY = [*TAKEN, *consumed(3_000, "one", 0, 1, 2, 3), revoke(9_000, "one")]


def told(*parts: Any, **how: Any) -> list[tuple[Missing, int, int]]:
    """What has no cause, its offset, and when, beyond doubt, of a complete recording."""
    checked = check(*parts, **{"complete": True, **how})
    rows = checked.rows(CLAIM)
    assert checked.counts(CLAIM) == (sum(row["doubt"] == 0 for row in rows), sum(row["doubt"] != 0 for row in rows))
    return [(Missing(int(row["value"])), int(row["offset"]), int(row["time"])) for row in rows if row["doubt"] == 0]


def sentence(checked: Checked) -> str:
    (row,) = checked.rows(CLAIM)
    return title(claim(CLAIM), {name: int(row[name]) for name in row.dtype.names}, checked.names)


def test_what_is_cleaned_as_too_slow_was_given_to_a_listener() -> None:
    slow = [*TAKEN, deliver(3_000, "one", 0), event(63_000, Kind.EXPIRE, "one", offset=0)]
    assert told(slow) == []
    wrong = [*slow, event(64_000, Kind.EXPIRE, "one", offset=1)]
    assert told(wrong) == [(Missing.DELIVERY, 1, 64_000)]
    # A retry that its client sent itself has the time of its last call.
    assert told([{**one, "topic": "%RETRY%G"} for one in wrong]) == []


def test_every_cause_says_what_it_rests_on() -> None:
    for one in (row.step for row in Missing):
        assert one.rules
        assert one.statement.endswith(".")


def test_what_has_its_causes_is_healthy() -> None:
    checked = check(HEALTHY, complete=True, evidence=EVERYTHING - {Kind.PULL})
    assert checked.broken == {}
    assert checked.judged(CLAIM) == 1


WRONG = {
    Missing.DELIVERY: (
        [*TAKEN, result(5_000, "one", 3)],
        3,
        5_000,
        "one ended offset 3 of T@b:0, which it was not given",
    ),
    Missing.PULL: (
        [*TAKEN, deliver(5_000, "one", 4)],
        4,
        5_000,
        "one was given offset 4 of T@b:0, which it had not pulled",
    ),
    Missing.ASSIGNMENT: (
        [*TAKEN, event(5_000, Kind.PULL, "two", offset=4)],
        -1,
        5_000,
        "two used T@b:0, which it had never taken",
    ),
    Missing.PROGRESS: (
        [*TAKEN, found(5_000, "one", 4, 3, count=1)],
        4,
        5_000,
        "one pulled messages of T@b:0 from offset 4 on and was told to continue before that",
    ),
}


@pytest.mark.parametrize("missing", Missing)
def test_an_event_without_its_cause(missing: Missing) -> None:
    events, offset, time, words = WRONG[missing]
    assert told(events) == [(missing, offset, time)]
    assert sentence(check(events, complete=True)) == words
    # Queue by queue, and event by event, it is the same.
    assert told(events, by_queue=True, batch=1) == [(missing, offset, time)]


@pytest.mark.parametrize("missing", Missing)
def test_nothing_is_asked_of_a_process_whose_beginning_is_not_known(missing: Missing) -> None:
    events, offset, time, _ = WRONG[missing]
    checked = check(events)
    assert checked.counts(CLAIM) == (0, 0)
    assert checked.judged(CLAIM) == 0
    starts = [start(500, "one"), start(500, "two")]
    assert told(starts, events, complete=False) == [(missing, offset, time)]


@pytest.mark.parametrize("missing", Missing)
def test_a_hole_may_hide_the_cause(missing: Missing) -> None:
    events, _, time, _ = WRONG[missing]
    checked = check(events, gap(time - 500, time - 100), complete=True)
    assert checked.counts(CLAIM) == (0, 1)


@pytest.mark.parametrize(
    ("missing", "lost"),
    [
        (Missing.DELIVERY, Kind.DELIVER),
        (Missing.PULL, Kind.PULL_RESULT),
        (Missing.PULL, Kind.ASSIGN),
        (Missing.ASSIGNMENT, Kind.ASSIGN),
    ],
)
def test_a_cause_that_nobody_records_is_not_missed(missing: Missing, lost: Kind) -> None:
    events = [each for each in WRONG[missing][0] if each["kind"] != lost]
    assert told(events, evidence=EVERYTHING - {lost}) == []


@pytest.mark.parametrize(
    "late",
    [
        [*TAKEN, result(5_000, "one", 3), deliver(5_040, "one", 3)],
        [*TAKEN, deliver(5_000, "one", 4), found(5_040, "one", 4, 5)],
        [event(960, Kind.PULL, "one", offset=0), *TAKEN],
    ],
)
def test_a_cause_may_be_recorded_a_moment_later(late: list[Any]) -> None:
    assert told(late) == []


def test_a_result_of_what_only_another_process_was_given() -> None:
    other = [assign(1_500, "two", 0), found(2_500, "two", 0, 4)]
    assert told(TAKEN, other, deliver(3_000, "one", 0), result(3_100, "two", 0)) == [(Missing.DELIVERY, 0, 3_100)]
    both = [deliver(3_000, "one", 0), deliver(3_050, "two", 0)]
    assert told(TAKEN, other, both, result(3_100, "two", 0), result(3_200, "one", 0)) == []


def test_a_pull_in_between_is_missed() -> None:
    pulls = [found(2_000, "one", 0, 4), found(2_100, "one", 8, 12)]
    assert told(assign(1_000, "one", 0), pulls, deliver(5_000, "one", 6)) == [(Missing.PULL, 6, 5_000)]
    assert told(assign(1_000, "one", 0), pulls, found(2_050, "one", 4, 8), deliver(5_000, "one", 6)) == []


def test_what_was_pulled_in_the_window_before_may_still_come() -> None:
    again = [revoke(2_500, "one"), assign(2_600, "one", 0)]
    assert told(TAKEN, again, deliver(2_700, "one", 2)) == []
    assert told(TAKEN, again, deliver(200_000, "one", 2)) == [(Missing.PULL, 2, 200_000)]


def test_a_batch_stored_as_one_message_comes_as_a_whole() -> None:
    assert told(assign(1_000, "one", 2), found(2_000, "one", 2, 5, count=5), consumed(3_000, "one", 0, 1, 2)) == []


def test_a_pull_that_does_not_say_what_it_brought_may_have_brought_anything() -> None:
    blind = {**found(2_000, "one", 0, 4), "next": None}
    assert told(assign(1_000, "one", 0), blind, deliver(3_000, "one", 7)) == []


def test_other_processes_than_those_that_started_in_it_are_not_judged() -> None:
    # It pulled before it is said to have started: then its beginning is another one.
    early = event(1_000, Kind.PULL, "one", offset=0)
    assert told(early, start(60_000, "one"), deliver(61_000, "one", 9), complete=False) == []
