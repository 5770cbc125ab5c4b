"""What can be relied on about delayed delivery, which carries every retry: not early, in order, once, and
eventually.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..model.consumption import consumption
from ..model.delay import DEFAULT_LEVELS, DelayTable, corrected_due_time, due_time, is_due, loaded_position
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.retry_copy import Copy, Place, copies_in_retry_queue, stored
from ..model.schedule import Level, delivering, entries, waits
from .claim import Claim, Constants, claim_about
from .property import always, eventually
from .retry import CHAIN_ONLY
from .theorem import Theorem


def _nothing_waits(s: GroupState) -> BoolLike:
    return s.forall(Copy, lambda k: s.place[k] != Place.SCHEDULE_TOPIC)


@always(
    "schedule-not-early",
    "DL-3",
    "DL-5",
    "G6",
    assuming=("the broker's clock does not step back", "no level of the table is shortened"),
)
def not_early(s: GroupState, k: Copy) -> BoolLike:
    """A delayed message is not delivered before its delay has passed at the broker."""
    return implies(stored(s, k), implies(all_of(s.level[k] > 0, s.place[k] == Place.DELIVERED), s.ripe[k]))


@always("schedule-in-order", "DL-5", "DL-8", "U11", assuming=("no entry is unreadable when it is due",))
def in_order(s: GroupState) -> BoolLike:
    """Messages of one delay level are delivered in the order in which they were stored."""

    def overtakes(j: int, k: int) -> BoolLike:
        earlier_waits = all_of(stored(s, j), s.place[j] == Place.SCHEDULE_TOPIC, same(s.level[j], s.level[k]))
        return all_of(earlier_waits, stored(s, k), s.place[k] == Place.DELIVERED)

    return not_(s.exists(Copy, lambda j: s.exists(Copy, lambda k: overtakes(j, k) if j < k else False)))


@always(
    "schedule-once",
    "DL-4",
    "DL-6",
    "DL-7",
    assuming=("the broker is stopped in order, never killed", "no replica takes over", "every put is answered"),
)
def once(s: GroupState, k: Copy) -> BoolLike:
    """A delayed message is delivered once."""
    return implies(stored(s, k), copies_in_retry_queue(s, k) <= 1)


@always("schedule-never-passes-a-message", "DL-4", "DL-5", "G2", assuming=("no entry is unreadable when it is due",))
def never_passed(s: GroupState, k: Copy) -> BoolLike:
    """A delayed message that was not delivered yet is never behind the position of its level."""
    return implies(stored(s, k), implies(s.place[k] == Place.SCHEDULE_TOPIC, waits(s, k)))


@always("schedule-goes-on-where-saved", "DL-4", "DL-7")
def goes_on(s: GroupState) -> BoolLike:
    """Delivery resumes no earlier than at the last position that was saved, or copied by a replica."""

    def not_before(queue: IntLike) -> BoolLike:
        return s.position[queue] >= loaded_position(s.saved[queue], 0, entries(s, queue))

    return implies(delivering(s), s.forall(Level, not_before))


@eventually(
    "schedule-some-time",
    "DL-5",
    "DL-8",
    after=lambda s: not_(_nothing_waits(s)),
    assuming=("weak fairness of the delivery tasks and of time", "no entry is unreadable when it is due"),
)
def some_time(s: GroupState) -> BoolLike:
    """Every delayed message is eventually delivered."""
    return _nothing_waits(s)


def early_only_if_clock_stepped_back() -> Theorem:
    """DL-5: with an unchanged table, delivery is early exactly if the clock reads less than when the message was
    stored.
    """
    return Theorem(
        id="early-exactly-if-the-clock-stepped-back",
        statement=(
            "While the delay table is unchanged, a message is delivered early if and only if the broker's clock "
            "was set back to before the message was stored."
        ),
        sizes=("delay",),
        given=lambda stored, now, delay: delay >= 1,
        claim=lambda stored, now, delay: same(
            is_due(due_time(stored, delay), now, delay),
            any_of(now >= stored + delay, now < stored),
        ),
        covers="every store time, clock and delay",
        rules=("DL-3", "DL-5", "G6"),
    )


def changed_table_is_corrected() -> Theorem:
    """DL-5: after a level was shortened, a message that is due later than any message stored now is delivered at
    once.
    """
    return Theorem(
        id="shortened-level-delivers-at-once",
        statement=(
            "When a level is shortened, a message stored with the long delay is delivered at once if more than "
            "the new delay is left, otherwise when it is due."
        ),
        sizes=("delay", "before"),
        given=lambda stored, now, delay, before: all_of(0 <= delay, delay < before, stored <= now),
        claim=lambda stored, now, delay, before: same(
            is_due(due_time(stored, before), now, delay),
            any_of(stored + before - now > delay, now >= stored + before),
        ),
        covers="every store time, clock and pair of delays",
        rules=("DL-3", "DL-5"),
    )


def never_early() -> Theorem:
    """G6, naive: a delayed message never comes before its time."""
    return Theorem(
        id="delayed-message-never-early",
        statement="A delayed message is never delivered before its delay has passed.",
        sizes=("delay",),
        given=lambda stored, now, delay: all_of(delay >= 1, stored >= 0, now >= 0),
        claim=lambda stored, now, delay: implies(is_due(due_time(stored, delay), now, delay), now >= stored + delay),
        tells=lambda stored, now, delay: (
            f"stored at {stored} with a delay of {delay}, delivered when the clock reads {now}: it was stepped back, "
            f"and the due time {stored + delay} became {corrected_due_time(stored + delay, now, delay)}"
        ),
        covers="every store time, clock and delay",
        rules=("DL-5", "G6"),
    )


def loaded_position_loses_nothing() -> Theorem:
    """DL-4, H1: after a start, every message stored from then on is behind the position, wherever the file pointed."""
    return Theorem(
        id="loaded-position-skips-nothing-new",
        statement=(
            "After a start, delivery resumes inside the queue of the level: it skips nothing that is stored "
            "later, and nothing that the file says is undelivered."
        ),
        sizes=("saved", "low", "high"),
        given=lambda low, high: all_of(0 <= low, low <= high),
        claim=lambda saved, low, high: all_of(
            loaded_position(saved, low, high) >= low,
            loaded_position(saved, low, high) <= high,
            implies(all_of(low <= saved, saved <= high), same(loaded_position(saved, low, high), saved)),
        ),
        covers="every saved position and every queue",
        rules=("DL-4",),
    )


def missing_level_waits_a_second() -> Theorem:
    """DL-3: a message of a level that is no longer in the table waits a second."""
    table = DelayTable.parse(DEFAULT_LEVELS)
    return Theorem(
        id="missing-level-waits-a-second",
        statement="A message of a level that the table does not have, since the table was shortened, waits one second.",
        sizes=("level",),
        given=lambda level: any_of(level < 1, level > len(table.delays)),
        claim=lambda level: same(table.delay(level), 1_000),
        covers="every level, the default table",
        rules=("DL-3",),
    )


SCHEDULE_THEOREMS: tuple[Theorem, ...] = (
    early_only_if_clock_stepped_back(),
    changed_table_is_corrected(),
    loaded_position_loses_nothing(),
    missing_level_waits_a_second(),
)
"""What holds for due times and positions."""

NAIVE_SCHEDULE_THEOREMS: tuple[Theorem, ...] = (never_early(),)
"""A popular belief that is false."""

ONE_RETRY: Constants = {**CHAIN_ONLY, "copies": 2, "failures": 2, "levels": 3}
TWO_MESSAGES: Constants = {**ONE_RETRY, "messages": 4}
STOPPED: Constants = {**TWO_MESSAGES, "broker_stops": 1}
CRASHED: Constants = {**TWO_MESSAGES, "messages": 6, "retry_room": 4, "broker_crashes": 1}
PROMOTED: Constants = {**TWO_MESSAGES, "messages": 6, "retry_room": 4, "promotions": 1}
STORE_LOST: Constants = {**ONE_RETRY, "stores_lost": 1, "attempts": 2}


_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about delayed delivery, naive ones first."""
    yield _claim(
        once,
        CRASHED,
        "The positions are saved every 10 s: after a crash the deliveries since then are repeated.",
    )
    yield _claim(
        once,
        PROMOTED,
        "A replica has the positions of its last copy of the file: what was delivered since is delivered again.",
    )
    yield _claim(
        once,
        {**ONE_RETRY, "unsure_puts": 1},
        "A put that succeeded but was not confirmed is repeated 100 ms later.",
    )
    yield _claim(
        not_early,
        {**ONE_RETRY, "clock_steps": 1},
        "A due time too far in the future is taken for an error, and the message delivered at once.",
    )
    yield _claim(
        never_passed,
        {**ONE_RETRY, "unreadable": 1},
        "An entry whose message cannot be read when it is due is silently skipped.",
    )
    yield _claim(
        never_passed,
        {**STORE_LOST, "early_requests": 1},
        (
            "5.3.3 reads the positions again when its ports are open: a position beyond the end is then compared "
            "with an end that has grown, and what was stored in between is skipped."
        ),
    )
    yield _claim(
        never_passed,
        {**STORE_LOST, "broker_crashes": 1},
        (
            "The corrected position is only in memory: after a second crash, the one in the file is read again, "
            "and may be valid by then."
        ),
    )
    for constants in (CRASHED, STOPPED, PROMOTED):
        yield _claim(goes_on, constants)
    for constants in (CRASHED, STOPPED, PROMOTED, STORE_LOST):
        for property in (not_early, in_order, never_passed):
            yield _claim(property, constants)
    yield _claim(not_early, {**ONE_RETRY, "unsure_puts": 1})
    yield _claim(once, TWO_MESSAGES)
    yield _claim(once, STOPPED)
    for constants in (STOPPED, CRASHED, STORE_LOST):
        yield _claim(some_time, constants)
