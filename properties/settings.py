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
from .delivery import every_window, handled_was_had, progress
from .offsets import retry_from_beginning
from .property import always, eventually, sometimes
from .retry import after_delivery, in_its_topic


def _task_size(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    return s.count(Message, lambda o: all_of(in_task(s, c, q, m, o), s.stage[c, q, o] == Stage.RUNNING))


def _tasks(s: GroupState, holds: Callable[[IntLike], BoolLike]) -> BoolLike:
    """Whether ``holds(size)`` is true of every running listener call."""

    def checked(c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
        return implies(starts_task(s, c, q, m, Stage.RUNNING), holds(_task_size(s, c, q, m)))

    return every_window(s, lambda c, q: s.forall(Message, lambda m: checked(c, q, m)))


@always("batch-size-kept", "CC-1")
def batch_kept(s: GroupState) -> BoolLike:
    """A listener is never called with more than consumeMessageBatchMaxSize messages."""
    return _tasks(s, lambda size: size <= s.batch)


@sometimes("batch-filled", "CC-1")
def batch_filled(s: GroupState) -> BoolLike:
    """A listener can be called with as many as consumeMessageBatchMaxSize messages."""
    return not_(_tasks(s, lambda size: size < s.batch))


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


@always("threshold-kept", "PL-7")
def threshold_kept(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client has at most pullThresholdForQueue messages of a queue plus those of one pull."""
    return implies(s.owns[c, q], _cached(s, c, q) <= s.threshold + s.pull_batch)


@sometimes("threshold-reached", "PL-7")
def threshold_reached(s: GroupState) -> BoolLike:
    """A pull is put off above pullThresholdForQueue, not at it: one more answer may come."""
    return not_(every_window(s, lambda c, q: _cached(s, c, q) < s.threshold + s.pull_batch))


@always("span-kept", "PL-9")
def span_kept(s: GroupState) -> BoolLike:
    """When a concurrent client pulls, the messages it has are at most consumeConcurrentlyMaxSpan apart."""
    return _when_it_pulled(s, s.span)


@sometimes("span-reached", "PL-9")
def span_reached(s: GroupState) -> BoolLike:
    """A pull is put off above consumeConcurrentlyMaxSpan, not at it."""
    return not_(_when_it_pulled(s, s.span - 1))


@always("span-and-one-pull", "PL-9")
def span_of_all(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The messages that a concurrent client has are at most consumeConcurrentlyMaxSpan plus one pull apart."""
    return implies(s.owns[c, q], _near(s, c, q, s.span + s.pull_batch, s.next_offset[c, q]))


def _left(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether everything up to ``m`` was handled, the offset has not passed it, and nobody has the queue."""
    nobody = s.forall(Consumer, lambda c: not_(in_table(s, c, q)))
    done = s.forall(Message, lambda o: implies(o <= m, s.handled[q, o]))
    return all_of(nobody, done, m < end(s, q), s.committed[q] <= m)


@always(
    "given-up-queue-is-committed",
    "RB-32",
    "OF-7",
    assuming=("one owner at a time", "no client dies, and the commit is not lost"),
)
def handed_over(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """When a running client gives up a queue, the offset is committed up to what is finished."""
    return not_(_left(s, q, m))


def _stops_with_news(s: GroupState, c: IntLike) -> BoolLike:
    done = s.exists(Queue, lambda q: all_of(s.owns[c, q], s.memory[c, q] > s.committed[q]))
    return all_of(s.life[c] == Life.STOPPING, not_(s.persisted[c]), done)


@eventually(
    "stop-commits-what-is-done",
    "ST-8",
    "OF-7",
    after=lambda s: s.exists(Consumer, lambda c: _stops_with_news(s, c)),
    assuming=("the client does not die meanwhile",),
)
def stop_commits(s: GroupState) -> BoolLike:
    """What a client had finished when it began to shut down is committed before it is gone."""
    return s.forall(Queue, lambda q: s.committed[q] == end(s, q))


@always("expired-message-waits-at-level-3", "PQ-9", "SB-16")
def expired_level(s: GroupState, k: Copy) -> BoolLike:
    """A message whose listener runs too long comes again after 10 s, whatever its count."""
    return implies(
        all_of(stored(s, k), s.reason[k] == Cause.TIMEOUT, not_(s.dead[k])),
        s.level[k] == stored_level(EXPIRY_LEVEL, s.levels),
    )


@sometimes("first-of-the-window-can-expire", "PQ-9")
def later_expires(s: GroupState, k: Copy) -> BoolLike:
    """A message can expire if it is the first that its window still holds, wherever it is in its queue."""
    return all_of(stored(s, k), s.reason[k] == Cause.TIMEOUT, s.source[k] == code(s, 0, 1))


@sometimes("reset-is-stored", "OF-30", "OF-31")
def reset_stored(s: GroupState, q: Queue) -> BoolLike:
    """A reset takes the committed offset back, not just what a client remembers."""
    return all_of(s.went_back[q] == Regression.RESET, s.committed[q] == s.reset_to)


@always("reset-noted-is-stored", "OF-22", "OF-30", assuming=("no commit comes with a pull",))
def reset_at_once(s: GroupState, q: Queue) -> BoolLike:
    """As long as no client knows of a reset, the committed offset is the one it was reset to."""
    return implies(s.reset_noted[q], s.committed[q] == s.reset_to)


ALONE: Constants = {"consumers": 1}
BATCHED: Constants = {**ALONE, "messages": 3, "batch": 2, "pull_batch": 3}


@sometimes("window-takes-all", "PL-7", assuming=("the span limit is for concurrent listeners only",))
def all_at_once(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A window that no limit is set for can hold every message of its queue at once."""
    return s.forall(Message, lambda m: held(s, c, q, m))


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
    for property in (batch_kept, batch_filled):
        yield _claim(property, BATCHED)
    # A pull brings more messages than one listener call takes.
    yield _claim(progress, BATCHED)
    for property in (threshold_kept, threshold_reached):
        yield _claim(property, THRESHOLD)
        yield _claim(property, {**THRESHOLD, "pull_batch": 2})
    yield _claim(progress, THRESHOLD)
    yield _claim(all_at_once, {**ALONE, "messages": 3})
    yield _claim(all_at_once, {**ALONE, "messages": 3, "span": 1, "listener": "orderly", "clock": "stopped"})
    for property in (span_kept, span_reached):
        yield _claim(property, SPAN)
    yield _claim(
        span_of_all,
        SPAN,
        "The span is that of the messages held now: where those above a slow one finish, pulling goes on beyond it.",
    )
    yield _claim(progress, SPAN)
    yield _claim(handed_over, HANDOVER)
    yield _claim(stop_commits, STOP)
    yield _claim(retry_from_beginning, RETRY)
    yield _claim(in_its_topic, RETRY)
    yield _claim(expired_level, EXPIRED)
    yield _claim(later_expires, ONE_EXPIRED)
    for constants in (ONE_EXPIRED, {**ONE_EXPIRED, "version": "4.9.8", "copies": 2, "failures": 1}):
        for property in (handled_was_had, after_delivery):
            yield _claim(property, {**constants, "causes": 1})
    yield _claim(reset_stored, OLD_RESET)
    yield _claim(reset_stored, NEW_RESET)
    yield _claim(reset_at_once, NEW_RESET)
