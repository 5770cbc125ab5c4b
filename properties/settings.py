"""What a user's settings and commands promise: batch sizes, thresholds, orderly results, resets, delays.

Each of these mechanisms could be broken in the model without any other property noticing; see ``docs/mutants.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..model.concurrently import in_task, starts_task
from ..model.consume_queue import Message, end
from ..model.consumption import consumption
from ..model.delay import stored_level
from ..model.group import GroupState
from ..model.history import Cause, Regression
from ..model.kernel import BoolLike, IntLike, all_of, implies, not_
from ..model.membership import Consumer, Life
from ..model.process_queue import Stage, held, in_table
from ..model.retry_copy import Copy, code, stored
from ..model.retry_policy import EXPIRY_LEVEL
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .delivery import HANDLED_WAS_HAD, PROGRESS, every_message, every_window
from .offsets import RETRY_FROM_BEGINNING
from .property import Kind, Property
from .retry import AFTER_DELIVERY, IN_ITS_TOPIC


def _task_size(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    return s.count(Message, lambda o: all_of(in_task(s, c, q, m, o), s.stage[c, q, o] == Stage.RUNNING))


def _tasks(s: GroupState, holds: Callable[[IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(size)`` is true of every running listener call."""

    def checked(c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
        return implies(starts_task(s, c, q, m, Stage.RUNNING), holds(_task_size(s, c, q, m)))

    return every_window(s, lambda c, q: s.forall(Message, lambda m: checked(c, q, m)))


BATCH_KEPT = Property[GroupState](
    id="batch-size-kept",
    statement="A listener is never called with more than consumeMessageBatchMaxSize messages.",
    kind=Kind.ALWAYS,
    holds=lambda s: _tasks(s, lambda size: size <= s.batch),
    rules=("CC-1",),
)
BATCH_FILLED = Property[GroupState](
    id="batch-filled",
    statement="A listener can be called with as many as consumeMessageBatchMaxSize messages.",
    kind=Kind.SOMETIMES,
    holds=lambda s: not_(_tasks(s, lambda size: size < s.batch)),
    rules=("CC-1",),
)


def _cached(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    return s.count(Message, lambda m: held(s, c, q, m))


def _near(s: GroupState, c: IntLike, q: IntLike, distance: IntLike, below: IntLike) -> BoolLike:
    """Whether any two messages of a window that are ``below`` an offset are at most that far apart."""

    def close(m: IntLike) -> BoolLike:
        far = s.exists(Message, lambda o: all_of(held(s, c, q, o), m > o + distance))
        return implies(all_of(held(s, c, q, m), m < below), not_(far))

    return s.forall(Message, close)


def _when_it_pulled(s: GroupState, distance: IntLike) -> BoolLike:
    """Whether the messages that a window had at its last pull, and still has, are at most that far apart."""
    return every_window(s, lambda c, q: _near(s, c, q, distance, s.next_offset[c, q] - s.pull_batch))


THRESHOLD_KEPT = Property[GroupState](
    id="threshold-kept",
    statement="A client has at most pullThresholdForQueue messages of a queue plus those of one pull.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(s, lambda c, q: _cached(s, c, q) <= s.threshold + s.pull_batch),
    rules=("PL-7",),
)
THRESHOLD_REACHED = Property[GroupState](
    id="threshold-reached",
    statement="A pull is put off above pullThresholdForQueue, not at it: one more answer may come.",
    kind=Kind.SOMETIMES,
    holds=lambda s: not_(every_window(s, lambda c, q: _cached(s, c, q) < s.threshold + s.pull_batch)),
    rules=("PL-7",),
)
SPAN_KEPT = Property[GroupState](
    id="span-kept",
    statement="When a concurrent client pulls, the messages it has are at most consumeConcurrentlyMaxSpan apart.",
    kind=Kind.ALWAYS,
    holds=lambda s: _when_it_pulled(s, s.span),
    rules=("PL-9",),
)
SPAN_REACHED = Property[GroupState](
    id="span-reached",
    statement="A pull is put off above consumeConcurrentlyMaxSpan, not at it.",
    kind=Kind.SOMETIMES,
    holds=lambda s: not_(_when_it_pulled(s, s.span - 1)),
    rules=("PL-9",),
)
SPAN_OF_ALL = Property[GroupState](
    id="span-and-one-pull",
    statement="The messages that a concurrent client has are at most consumeConcurrentlyMaxSpan plus one pull apart.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_window(s, lambda c, q: _near(s, c, q, s.span + s.pull_batch, s.next_offset[c, q])),
    rules=("PL-9",),
)


def _left(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether everything up to ``m`` was handled, the offset has not passed it, and nobody has the queue."""
    nobody = s.forall(Consumer, lambda c: not_(in_table(s, c, q)))
    done = s.forall(Message, lambda o: implies(o <= m, s.handled[q, o]))
    return all_of(nobody, done, m < end(s, q), s.committed[q] <= m)


HANDED_OVER = Property[GroupState](
    id="given-up-queue-is-committed",
    statement="When a running client gives up a queue, the offset is committed up to what is finished.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: not_(_left(s, q, m))),
    assuming=("one owner at a time", "no client dies, and the commit is not lost"),
    rules=("RB-32", "OF-7"),
)


def _stops_with_news(s: GroupState, c: IntLike) -> BoolLike:
    done = s.exists(Queue, lambda q: all_of(s.owns[c, q], s.memory[c, q] > s.committed[q]))
    return all_of(s.life[c] == Life.STOPPING, not_(s.persisted[c]), done)


STOP_COMMITS = Property[GroupState](
    id="stop-commits-what-is-done",
    statement="What a client had finished when it began to shut down is committed before it is gone.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Consumer, lambda c: _stops_with_news(s, c)),
    holds=lambda s: s.forall(Queue, lambda q: s.committed[q] == end(s, q)),
    assuming=("the client does not die meanwhile",),
    rules=("ST-8", "OF-7"),
)
EXPIRED_LEVEL = Property[GroupState](
    id="expired-message-waits-at-level-3",
    statement="A message whose listener runs too long comes again after 10 s, whatever its count.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Copy,
        lambda k: implies(
            all_of(stored(s, k), s.reason[k] == Cause.TIMEOUT, not_(s.dead[k])),
            s.level[k] == stored_level(EXPIRY_LEVEL, s.levels),
        ),
    ),
    rules=("PQ-9", "SB-16"),
)
LATER_EXPIRES = Property[GroupState](
    id="first-of-the-window-can-expire",
    statement="A message can expire if it is the first that its window still holds, wherever it is in its queue.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(
        Copy, lambda k: all_of(stored(s, k), s.reason[k] == Cause.TIMEOUT, s.source[k] == code(s, 0, 1))
    ),
    rules=("PQ-9",),
)
RESET_STORED = Property[GroupState](
    id="reset-is-stored",
    statement="A reset takes the committed offset back, not just what a client remembers.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(Queue, lambda q: all_of(s.went_back[q] == Regression.RESET, s.committed[q] == s.reset_to)),
    rules=("OF-30", "OF-31"),
)
RESET_AT_ONCE = Property[GroupState](
    id="reset-noted-is-stored",
    statement="As long as no client knows of a reset, the committed offset is the one it was reset to.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Queue, lambda q: implies(s.reset_noted[q], s.committed[q] == s.reset_to)),
    assuming=("no commit comes with a pull",),
    rules=("OF-22", "OF-30"),
)

ALONE: Constants = {"consumers": 1}
BATCHED: Constants = {**ALONE, "messages": 3, "batch": 2, "pull_batch": 3}
ALL_AT_ONCE = Property[GroupState](
    id="window-takes-all",
    statement="A window that no limit is set for can hold every message of its queue at once.",
    kind=Kind.SOMETIMES,
    holds=lambda s: s.exists(
        Consumer, lambda c: s.exists(Queue, lambda q: s.forall(Message, lambda m: held(s, c, q, m)))
    ),
    assuming=("the span limit is for concurrent listeners only",),
    rules=("PL-7",),
)

THRESHOLD: Constants = {**ALONE, "messages": 4, "threshold": 1}
SPAN: Constants = {**ALONE, "messages": 4, "span": 1}
HANDOVER: Constants = {"messages": 2, "moves": 1, "overlaps": 0}
STOP: Constants = {**ALONE, "messages": 1, "leaves": 1}
RETRY: Constants = {
    **ALONE,
    "queues": 2,
    "messages": 2,
    "arriving": 1,
    "retry_room": 1,
    "copies": 1,
    "failures": 1,
    "group": "new",
    "watch_starts": 1,
    "from_where": "LAST_OFFSET",
}
EXPIRED: Constants = {
    **ALONE,
    "queues": 2,
    "messages": 3,
    "retry_room": 2,
    "copies": 2,
    "failures": 1,
    "expiries": 2,
    "levels": 5,
    "watch_retries": 1,
}
ONE_EXPIRED: Constants = {
    **ALONE,
    "queues": 2,
    "messages": 3,
    "retry_room": 1,
    "copies": 1,
    "expiries": 1,
    "watch_retries": 1,
}
OLD_RESET: Constants = {**ALONE, "messages": 2, "version": "4.9.8", "resets": 1, "watch_offsets": 1}
NEW_RESET: Constants = {**ALONE, "messages": 2, "resets": 1, "corrections": "steps", "watch_offsets": 1}

_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about settings and commands."""
    for property in (BATCH_KEPT, BATCH_FILLED):
        yield _claim(property, BATCHED)
    # A pull brings more messages than one listener call takes.
    yield _claim(PROGRESS, BATCHED)
    for property in (THRESHOLD_KEPT, THRESHOLD_REACHED):
        yield _claim(property, THRESHOLD)
        yield _claim(property, {**THRESHOLD, "pull_batch": 2})
    yield _claim(PROGRESS, THRESHOLD)
    yield _claim(ALL_AT_ONCE, {**ALONE, "messages": 3})
    yield _claim(ALL_AT_ONCE, {**ALONE, "messages": 3, "span": 1, "listener": "orderly", "clock": "stopped"})
    for property in (SPAN_KEPT, SPAN_REACHED):
        yield _claim(property, SPAN)
    yield _claim(
        SPAN_OF_ALL,
        SPAN,
        "The span is that of the messages held now: where those above a slow one finish, pulling goes on beyond it.",
    )
    yield _claim(PROGRESS, SPAN)
    yield _claim(HANDED_OVER, HANDOVER)
    yield _claim(STOP_COMMITS, STOP)
    yield _claim(RETRY_FROM_BEGINNING, RETRY)
    yield _claim(IN_ITS_TOPIC, RETRY)
    yield _claim(EXPIRED_LEVEL, EXPIRED)
    yield _claim(LATER_EXPIRES, ONE_EXPIRED)
    for constants in (ONE_EXPIRED, {**ONE_EXPIRED, "version": "4.9.8", "copies": 2, "failures": 1}):
        for property in (HANDLED_WAS_HAD, AFTER_DELIVERY):
            yield _claim(property, {**constants, "causes": 1})
    yield _claim(RESET_STORED, OLD_RESET)
    yield _claim(RESET_STORED, NEW_RESET)
    yield _claim(RESET_AT_ONCE, NEW_RESET)
