"""Orderly consumption: one batch of a queue at a time, under the broker's lock, put back as often as it fails.

``ConsumeMessageOrderlyService`` (section 7 of the rules). A worker moves the first messages of the window into a second
tree (``consumingTree``), calls the listener, and commits the whole second tree or puts the batch back. Between the
listener's return and that step the queue may be given up: the work is then done, but not recorded. How a client takes
and gives up a queue is described in ``orderly_ownership``.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from .concurrently import handle
from .consume_queue import Message
from .history import Cause, note_agreed, note_cause, note_delivery, note_success
from .kernel import (
    BoolLike,
    Constants,
    Int,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    implies,
    ite,
    minimum,
    not_,
    same,
    variable,
)
from .lock import fresh, lock, uses_locks
from .membership import Consumer, Life
from .process_queue import WINDOW, Orphan, Stage, listener_runs, take_out, working
from .retry_policy import copy_times, fallback_gives_up
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState


class Result(IntEnum):
    """What a listener has returned and its worker has not yet acted on (``ConsumeOrderlyStatus``)."""

    NONE = 0
    SUCCESS = 1
    SUSPEND = 2
    COMMIT = 3
    ROLLBACK = 4


orderly = Machine("orderly", doc="Orderly listeners: batches and their results.").include(lock)


def is_orderly(k: Constants) -> bool:
    """Whether listeners are orderly."""
    return bool(k.listener == "orderly")


def ticking(k: Constants) -> bool:
    """Whether time passes, so that locks expire."""
    return uses_locks(k) and bool(k.clock == "ticking")


def manual_commit(k: Constants) -> bool:
    """Whether the listener says when to commit (OR-7)."""
    return is_orderly(k) and not k.auto_commit


def gives_up(k: Constants) -> bool:
    """Whether an orderly message that fails too often is sent to the retry topic (OR-8)."""
    return is_orderly(k) and bool(k.give_up == "attempts")


@orderly.state
class OrderlyState(State):
    """Batches of orderly listeners."""

    clock = constant("ticking", choices=("ticking", "stopped"), doc="stopped: no lock ever expires")
    call = constant(3, doc="ticks that a call of an orderly listener may last")
    auto_commit = constant(1, high=1, doc="ConsumeOrderlyContext.autoCommit")
    give_up = constant("never", choices=("never", "attempts"), doc="maxReconsumeTimes: -1, or the constant attempts")
    poison = constant(0, high=1, doc="1: an orderly listener never succeeds with the first message of a queue")
    result = variable(Result, Consumer, Queue, when=is_orderly, lives_in=WINDOW, doc="returned, not yet acted upon")
    call_age = variable(Int(0, "call"), Consumer, Queue, when=ticking, doc="ticks since the listener was called")
    kept = variable(
        bool,
        Consumer,
        Queue,
        Message,
        when=manual_commit,
        lives_in=WINDOW,
        doc="succeeded and not committed (autoCommit=false)",
    )
    suspended = variable(
        Int(0, lambda k: k.attempts + k.refusals),
        Consumer,
        Queue,
        Message,
        when=gives_up,
        lives_in=WINDOW,
        doc="reconsumeTimes, in memory only (OR-8)",
    )
    published = variable(
        Int(0, 2), Queue, Message, when=gives_up, doc="how often it was sent to the retry topic; 2 is more"
    )
    too_early = variable(bool, when=gives_up, doc="one was sent there after fewer attempts than the maximum")
    goes_round = variable(bool, when=gives_up, doc="one that was sent there has not become a dead letter")


@orderly.refine(listener_runs)
def not_yet_returned(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """OR-6: the listener is busy with the batch, not with messages that succeeded and are not committed yet."""
    running = s.stage[c, q, m] == Stage.RUNNING
    if not is_orderly(s.constants):
        return running
    return all_of(running, s.result[c, q] == Result.NONE, not_(s.kept[c, q, m]) if manual_commit(s.constants) else True)


# --- batches --------------------------------------------------------------------------------------------------------


def busy(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """OR-4: whether a worker of ``c`` has the mutex of ``q``, in this window or in a dropped one."""
    here = any_of(s.result[c, q] != Result.NONE, s.exists(Message, lambda m: listener_runs(s, c, q, m)))
    return any_of(here, _orphaned(s, c, q))


def _orphaned(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    return s.exists(Message, lambda m: s.orphan[c, q, m] != Orphan.NONE) if s.orphans else False


def calls(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a listener of ``c`` is running for ``q``."""
    running = s.exists(Message, lambda m: listener_runs(s, c, q, m))
    return any_of(running, _orphaned(s, c, q))


def batch_of(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` belongs to the batch that the worker of ``q`` took last."""
    taken = s.stage[c, q, m] == Stage.RUNNING
    return all_of(taken, not_(s.kept[c, q, m])) if manual_commit(s.constants) else taken


def _first_waiting(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """PQ-4: whether ``m`` is among the first messages of the tree, as many as fit into a batch."""

    def waits(o: IntLike) -> BoolLike:
        return s.stage[c, q, o] == Stage.WAITING

    if s.batch == 1:
        return all_of(waits(m), s.forall(Message, lambda o: implies(waits(o), m <= o)))
    return all_of(waits(m), s.count(Message, lambda o: all_of(waits(o), o < m)) < s.batch)


@orderly.action(fair="strongly", tells="{c} calls the listener with the next messages of {q}", when=is_orderly)
def begin_batch(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-3 to OR-6: under the mutex, not dropped, with a lock that is flagged and not expired.

    Strongly fair: without the lock the client tries again after 3 s at most, and a lock that is renewed lasts 30 s.

    ``ConsumeMessageOrderlyService.ConsumeRequest#run``, ``ProcessQueue#takeMessages``,
    ``ConsumeMessageOrderlyService#tryLockLaterAndReconsume``.
    """
    s.require(working(s, c), s.owns[c, q], not_(busy(s, c, q)))
    s.require(s.exists(Message, lambda m: s.stage[c, q, m] == Stage.WAITING))
    if uses_locks(s.constants):
        s.require(fresh(s, c, q))
    note_delivery(s, c, q, lambda m: _first_waiting(s, c, q, m))
    s.stage[c, q] = lambda m: ite(_first_waiting(s, c, q, m), Stage.RUNNING, s.stage[c, q, m])


def _returns(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    return all_of(
        any_of(working(s, c), s.life[c] == Life.STOPPING), s.exists(Message, lambda m: listener_runs(s, c, q, m))
    )


def _succeeds(s: GroupState, c: IntLike, q: IntLike, done: Callable[[IntLike], BoolLike]) -> None:
    handle(s, q, done)
    note_success(s, c, q, done)


def _may_succeed(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    return not_(batch_of(s, c, q, 0)) if s.poison else True


def _returned(s: GroupState, c: IntLike, q: IntLike, result: Result) -> None:
    s.result[c, q] = result
    if ticking(s.constants):
        s.call_age[c, q] = 0


@orderly.action(fair=True, tells="the listener of {c} succeeds with its batch of {q}", when=is_orderly)
def succeed_in_order(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-6: the listener returns SUCCESS; the consume lock is free again, and the result has not been acted on yet."""
    s.require(_returns(s, c, q), _may_succeed(s, c, q))
    _succeeds(s, c, q, lambda m: batch_of(s, c, q, m))
    _returned(s, c, q, Result.SUCCESS)


@orderly.action(budget="failures", tells="the listener of {c} suspends {q}", when=is_orderly)
def suspend(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-6: SUSPEND_CURRENT_QUEUE_A_MOMENT, null or an exception."""
    s.require(_returns(s, c, q))
    _returned(s, c, q, Result.SUSPEND)


@orderly.action(
    fair=True,
    tells="the listener of {c} fails with the first message of {q}",
    when=lambda k: is_orderly(k) and k.poison,
)
def suspend_poison(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-6: a message that fails at every attempt."""
    s.require(_returns(s, c, q), not_(_may_succeed(s, c, q)))
    _returned(s, c, q, Result.SUSPEND)


@orderly.action(fair=True, tells="the listener of {c} says COMMIT for {q}", when=manual_commit)
def say_commit(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-7, autoCommit=false: everything taken since the last commit is to be committed."""
    s.require(_returns(s, c, q), _may_succeed(s, c, q))
    _succeeds(s, c, q, lambda m: batch_of(s, c, q, m))
    note_agreed(s, q, lambda m: _taken(s, c, q, m))
    _returned(s, c, q, Result.COMMIT)


@orderly.action(budget="failures", tells="the listener of {c} says ROLLBACK for {q}", when=manual_commit)
def say_rollback(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-7, autoCommit=false: everything taken since the last commit is to be consumed again."""
    s.require(_returns(s, c, q))
    _returned(s, c, q, Result.ROLLBACK)


# --- what the worker does with a result -----------------------------------------------------------------------------


def _acts(s: GroupState, c: IntLike, q: IntLike, *results: Result) -> BoolLike:
    alive = any_of(working(s, c), s.life[c] == Life.STOPPING)
    return all_of(alive, any_of(s.result[c, q] == item for item in results))


def _taken(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return s.stage[c, q, m] == Stage.RUNNING


@orderly.definition
def commit_offset(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """PQ-5: the offset after the last message taken (``ProcessQueue#commit``)."""

    def last(m: IntLike) -> BoolLike:
        return all_of(_taken(s, c, q, m), s.forall(Message, lambda o: implies(_taken(s, c, q, o), o <= m)))

    return s.least(Message, last, default=0) + 1


def _commit(s: GroupState, c: IntLike, q: IntLike) -> None:
    """OR-7: the second tree is emptied; the offset moves only if the queue was not dropped."""
    s.memory[c, q] = ite(s.owns[c, q], commit_offset(s, c, q), s.memory[c, q])
    take_out(s, c, q, lambda m: _taken(s, c, q, m))
    s.result[c, q] = Result.NONE
    if manual_commit(s.constants):
        s.kept[c, q] = lambda m: False
    if gives_up(s.constants):
        s.suspended[c, q] = lambda m: ite(_taken(s, c, q, m), 0, s.suspended[c, q, m])


@orderly.action(fair=True, tells="{c} commits what it has taken of {q}", when=is_orderly)
def commit_taken(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-7: SUCCESS with autoCommit, or COMMIT without (``ConsumeMessageOrderlyService#processConsumeResult``)."""
    s.require(_acts(s, c, q, *((Result.SUCCESS,) if s.auto_commit else (Result.COMMIT,))))
    _commit(s, c, q)


@orderly.action(fair=True, tells="{c} keeps the batch of {q} for a later commit", when=manual_commit)
def keep_taken(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-7: SUCCESS without autoCommit does nothing, and the loop goes on."""
    s.require(_acts(s, c, q, Result.SUCCESS))
    s.kept[c, q] = lambda m: _taken(s, c, q, m)
    s.result[c, q] = Result.NONE


@orderly.definition
def put_back(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    """PQ-7: the batch moves from the second tree back into the first (``ProcessQueue#makeMessageToConsumeAgain``)."""
    return Stage.WAITING


@orderly.definition
def counted_again(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """PQ-8: by how many messages a put-back raises the counter: by none, as taking them did not lower it."""
    return 0


def _consume_again(s: GroupState, c: IntLike, q: IntLike, again: Callable[[IntLike], BoolLike]) -> None:
    note_cause(s, Cause.SUSPENDED, lambda p, m: all_of(same(p, q), again(m)))
    s.stage[c, q] = lambda m: ite(again(m), put_back(s, c, q, m), s.stage[c, q, m])
    s.result[c, q] = Result.NONE
    if s.counters:
        s.counted[c, q] = minimum(s.counted[c, q] + counted_again(s, c, q), s.messages)


def at_limit(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """OR-8: whether ``m`` has failed as often as it may."""
    return s.suspended[c, q, m] >= s.attempts if gives_up(s.constants) else False


def _is_put_back(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """OR-8: whether a failed batch is consumed again: if at least one of its messages is below its limit."""
    return s.exists(Message, lambda m: all_of(batch_of(s, c, q, m), not_(at_limit(s, c, q, m))))


@orderly.definition
def becomes_dead_letter(s: GroupState, local: IntLike) -> BoolLike:
    """OR-8, SB-15: whether the broker makes a dead letter of an orderly message given up after ``local`` attempts.

    Up to 5.1.0 the client sends the count that the message has, since then one more; since 5.1.1 any live lock of the
    group is enough (``SendMessageProcessor#handleRetryAndDLQ``).
    """
    sent = local if s.version == "4.9.8" else copy_times(local)
    return fallback_gives_up(s.version, sent, s.attempts, uses_locks(s.constants))


@orderly.action(fair=True, tells="{c} puts the batch of {q} back", when=is_orderly)
def put_batch_back(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-7, OR-8: the batch is consumed again as a whole; messages in it that are at their limit are also sent off."""
    s.require(_acts(s, c, q, Result.SUSPEND), _is_put_back(s, c, q))
    if gives_up(s.constants):
        _publish(s, c, q)
        s.suspended[c, q] = lambda m: ite(
            all_of(batch_of(s, c, q, m), not_(at_limit(s, c, q, m))), s.suspended[c, q, m] + 1, s.suspended[c, q, m]
        )
    _consume_again(s, c, q, lambda m: batch_of(s, c, q, m))


def _publish(s: GroupState, c: IntLike, q: IntLike) -> None:
    """OR-8: a new message to the retry topic, in the form of SB-4, which the broker turns into a dead letter
    (SB-15).
    """

    def sent(m: IntLike) -> BoolLike:
        return all_of(batch_of(s, c, q, m), at_limit(s, c, q, m))

    early = s.exists(Message, lambda m: all_of(sent(m), s.suspended[c, q, m] < s.attempts))
    s.too_early = any_of(s.too_early, early)
    round_again = s.exists(Message, lambda m: all_of(sent(m), not_(becomes_dead_letter(s, s.suspended[c, q, m]))))
    s.goes_round = any_of(s.goes_round, round_again)
    s.published[q] = lambda m: ite(sent(m), minimum(s.published[q, m] + 1, 2), s.published[q, m])
    s.handled[q] = lambda m: any_of(s.handled[q, m], sent(m))


@orderly.action(fair=True, tells="{c} sends the batch of {q} to the retry topic", when=gives_up)
def publish_batch(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-8: all messages of the batch are at their limit and sent off, so it counts as consumed; autoCommit commits
    it.
    """
    s.require(_acts(s, c, q, Result.SUSPEND), not_(_is_put_back(s, c, q)))
    _publish(s, c, q)
    if s.auto_commit:
        _commit(s, c, q)
    else:
        s.kept[c, q] = lambda m: _taken(s, c, q, m)
        s.result[c, q] = Result.NONE


@orderly.action(budget="refusals", tells="{c} cannot send the batch of {q} to the retry topic", when=gives_up)
def publishing_fails(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-8: a message that cannot be sent off is consumed again, and its count continues."""
    s.require(_acts(s, c, q, Result.SUSPEND), not_(_is_put_back(s, c, q)))
    s.suspended[c, q] = lambda m: ite(batch_of(s, c, q, m), s.suspended[c, q, m] + 1, s.suspended[c, q, m])
    _consume_again(s, c, q, lambda m: batch_of(s, c, q, m))


@orderly.action(fair=True, tells="{c} rolls {q} back", when=lambda k: manual_commit(k) and k.failures)
def roll_back(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-7, PQ-6: everything taken since the last commit goes back (``ProcessQueue#rollback``)."""
    s.require(_acts(s, c, q, Result.ROLLBACK))
    s.kept[c, q] = lambda m: False
    _consume_again(s, c, q, lambda m: _taken(s, c, q, m))


@orderly.action(
    fair=True,
    tells="the listener of {c} returns to a dropped window of {q}",
    when=lambda k: is_orderly(k) and k.orphans,
)
def return_to_dropped_window(s: GroupState, c: Consumer, q: Queue, success: bool) -> None:
    """OR-7: the window is gone; the work is done, but the result is not recorded."""
    s.require(any_of(working(s, c), s.life[c] == Life.STOPPING), _orphaned(s, c, q))
    if success:
        _succeeds(s, c, q, lambda m: s.orphan[c, q, m] == Orphan.RUNNING)
    s.orphan[c, q] = lambda m: Orphan.NONE
    if ticking(s.constants):
        s.call_age[c, q] = 0


# --- mutants --------------------------------------------------------------------------------------------------------

_ONE: dict[str, int | str] = {"listener": "orderly", "clock": "stopped", "consumers": 1, "messages": 2}


@orderly.mutant(
    "E6", "orderly-suspend-loses-message", of=put_back, killed_by="handled-in-order", constants={**_ONE, "failures": 1}
)
def put_back_ignores_taken(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    """Putting back skips what is among the taken messages already, that is all of them; the next commit passes them.

    Source: rocketmq-client-go #618, #650, fixed in 2.1.1.
    """
    return Stage.ABSENT


@orderly.mutant(
    "E6-insert",
    "orderly-suspend-counts-twice",
    of=counted_again,
    killed_by="counter-counts-the-window",
    constants={**_ONE, "failures": 2, "counters": 1, "threshold": 1},
)
def put_back_inserts(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """The batch is put back like new messages and counted twice, until flow control stops the queue for good.

    Source: rocketmq-client-go #575, #615.
    """
    return s.count(Message, lambda m: batch_of(s, c, q, m))


@orderly.mutant(
    "E7",
    "wrong-status-enum-in-orderly",
    of=put_back,
    killed_by="every-message-is-handled",
    constants={**_ONE, "messages": 1, "failures": 1},
)
def status_unknown(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    """A status of the other kind of listener is unknown to the switch: neither committed nor put back.

    Source: rocketmq-client-go #1229.
    """
    return Stage.FAILED


@orderly.mutant(
    "D3-orderly",
    "orderly-goes-round-after-max",
    of=becomes_dead_letter,
    killed_by="orderly-dead-letter-at-maximum",
    constants={**_ONE, "poison": 1, "give_up": "attempts"},
)
def sent_at_maximum_given_up_above(s: GroupState, local: IntLike) -> BoolLike:
    """The client sends the count the message has, the broker gives up above the maximum: it goes to the retry topic.

    Source: RocketMQ #6163, #5717, fixed in 5.1.1.
    """
    return local > s.attempts
