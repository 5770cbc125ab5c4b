"""Orderly groups: one listener at a time, and the order of a queue."""

from __future__ import annotations

from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind

from .queue_events import (
    EVERYTHING,
    ORDERLY,
    Checked,
    Event,
    answered,
    assign,
    check,
    consumed,
    crash,
    deliver,
    found,
    gap,
    result,
    revoke,
    send_back,
)

ONE = "orderly-one-listener"
ORDER = "orderly-in-order"

PULLED = [assign(1_000, "one", 0), found(1_500, "one", 0, 20)]
# OR-11: the listener of the first runs until 9000, and the second takes the queue.
BOTH = [
    deliver(2_000, "one", 0),
    revoke(3_000, "one", "lock"),
    assign(4_000, "two", 0),
    deliver(5_000, "two", 0),
    result(9_000, "one", 0),
    result(9_500, "two", 0),
]


def orderly(*events: Event | list[Event], **options: object) -> Checked:
    return check(*events, groups=ORDERLY, **options)  # type: ignore[arg-type]


def test_a_clean_run() -> None:
    again = [deliver(3_000, "one", 3), result(3_100, "one", 3, "suspend"), deliver(4_100, "one", 3)]
    checked = orderly(PULLED, consumed(2_000, "one", 0, 1, 2), again, result(4_200, "one", 3))
    assert checked.broken == {}
    assert checked.judged(ONE) == checked.judged(ORDER) == 5


def test_two_listeners() -> None:
    # E3
    checked = orderly(PULLED, BOTH)
    assert checked.broken == {ONE: (1, 0)}
    (row,) = checked.rows(ONE)
    assert (row["offset"], row["since"], row["time"]) == (0, 2_000, 5_000)
    assert (checked.actor(row["actor"]), checked.actor(row["other"])) == ("two", "one")
    assert check(PULLED, BOTH).judged(ONE) == 0


def test_a_listener_that_died_does_not_run() -> None:
    assert orderly(PULLED, BOTH[:1], crash(3_000, "one"), BOTH[2:4]).broken == {}


def test_doubts_about_two_listeners() -> None:
    close = [*BOTH[:4], result(5_030, "one", 0), result(9_500, "two", 0)]
    assert orderly(PULLED, close).doubts(ONE) == [Doubt.SKEW]
    assert orderly(PULLED, BOTH, gap(2_500, 2_600)).doubts(ONE) == [Doubt.GAP]
    assert orderly(PULLED, BOTH, evidence=EVERYTHING - {Kind.CLIENT_CRASH}).doubts(ONE) == [Doubt.EVIDENCE]


def test_a_message_that_comes_too_late() -> None:
    checked = orderly(PULLED, consumed(2_000, "one", 0, 1, 3, 2))
    assert checked.broken == {ORDER: (1, 0)}
    (row,) = checked.rows(ORDER)
    assert (row["offset"], row["value"], row["expected"]) == (2, 2, 4)


def test_a_message_that_overtakes_one_put_off() -> None:
    # E6
    put_off = [deliver(2_000, "one", 0), result(2_100, "one", 0, "suspend"), *consumed(3_100, "one", 1)]
    checked = orderly(PULLED, put_off)
    assert [(row["value"], row["expected"]) for row in checked.rows(ORDER)] == [(1, 0)]


def test_a_batch_that_is_put_off_comes_as_a_whole() -> None:
    batch = [deliver(2_000, "one", n) for n in range(3)] + [result(2_100, "one", n, "suspend") for n in range(3)]
    again = [deliver(3_200, "one", n) for n in range(3)] + [result(3_300, "one", n) for n in range(3)]
    assert orderly(PULLED, batch, again, consumed(4_000, "one", 3)).broken == {}
    part = [deliver(3_200, "one", 0), deliver(3_200, "one", 2)]
    assert orderly(PULLED, batch, part).counts(ORDER) == (1, 0)


def test_a_message_that_was_given_up_is_overtaken() -> None:
    # OR-8: at its last attempt it is sent back.
    put_off = [deliver(2_000, "one", 0), result(2_100, "one", 0, "suspend"), send_back(2_110, "one", 0)]
    assert orderly(PULLED, put_off, consumed(3_100, "one", 1)).broken == {}


def test_gaps_do_not_break_the_order() -> None:
    some = [assign(1_000, "one", 0), found(1_500, "one", 0, 20, count=2), *consumed(2_000, "one", 3, 9)]
    assert orderly(some).broken == {}
    none = [assign(1_000, "one", 0), found(1_500, "one", 0, 1), *consumed(2_000, "one", 0)]
    none += [answered(3_000, "one", "no_matched_message", 1, 8, 9), found(3_100, "one", 8, 9)]
    assert orderly(none, consumed(4_000, "one", 8)).broken == {}


def test_a_new_window_begins_anew() -> None:
    again = [revoke(3_000, "one"), assign(4_000, "two", 1), *consumed(5_000, "two", 1, 2, 3)]
    assert orderly(PULLED, consumed(2_000, "one", 0, 1, 2), again).broken == {}


def test_doubts_about_the_order() -> None:
    put_off = [deliver(2_000, "one", 0), result(2_100, "one", 0, "suspend"), *consumed(3_100, "one", 1)]
    assert orderly(PULLED, put_off, gap(2_500, 2_600)).doubts(ORDER) == [Doubt.GAP]


def test_a_window_is_checked_again_after_each_call() -> None:
    late = "nothing-after-revoke"
    calls = [deliver(2_000, "one", 0), revoke(3_000, "one"), result(4_000, "one", 0), deliver(4_001, "one", 1)]
    assert orderly(PULLED, calls).broken[late] == (1, 0)
    assert late not in orderly(PULLED, calls[:2], deliver(3_001, "one", 1)).broken  # it was checked before
    assert late not in check(PULLED, calls).broken  # by another thread
