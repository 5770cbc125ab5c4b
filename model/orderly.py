"""Orderly consumption: one batch of a queue at a time, under the broker's lock, put back as often as it fails.

``ConsumeMessageOrderlyService`` (section 7 of the rules). A worker moves the first messages of the window into a second
tree (``consumingTree``), calls the listener, and commits the whole second tree or puts the batch back. Between the
listener's return and that step the queue may be given up: the work is done then, and nobody will know. The lock of a
queue is explained in ``lock``; with ``clock=stopped`` no time passes, so that no lock ever expires.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from .concurrently import handle
from .consume_queue import Message
from .flow_control import cached
from .history import Cause, note_cause, note_delivery, note_success
from .kernel import (
    BoolLike,
    Constants,
    Int,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    implies,
    ite,
    minimum,
    not_,
    same,
)
from .lock import believe, disbelieve, fresh, grow_older, holds_lock, lock, obtainable, unlock, uses_locks
from .membership import Consumer, Life
from .process_queue import (
    Orphan,
    Stage,
    drops_in_steps,
    in_table,
    listener_runs,
    lock_follows,
    may_pull,
    may_take,
    take_out,
    working,
)
from .queue_table import change_table, nothing
from .rebalance import Chosen, Queue
from .retry_policy import copy_times, fallback_gives_up
from .shutdown import service_stops
from .start_position import start_offset


class Result(IntEnum):
    """What a listener has returned and its worker has not acted upon yet (``ConsumeOrderlyStatus``)."""

    NONE = 0
    SUCCESS = 1
    SUSPEND = 2
    COMMIT = 3
    ROLLBACK = 4


orderly = Machine("orderly", doc="Orderly listeners: batches, results, locks, and how queues are given up.").include(
    lock
)
orderly.constant("clock", "ticking", choices=("ticking", "stopped"), doc="stopped: no lock ever expires")
orderly.constant("call", 3, doc="ticks that a call of an orderly listener may last")
orderly.constant("auto_commit", 1, high=1, doc="ConsumeOrderlyContext.autoCommit")
orderly.constant(
    "give_up", "never", choices=("never", "attempts"), doc="maxReconsumeTimes: -1, or the constant attempts"
)
orderly.constant("poison", 0, high=1, doc="1: an orderly listener never succeeds with the first message of a queue")
orderly.constant(
    "forced_unlock", 0, high=1, doc="1 as in 5.2.0 and later: a dropped queue is unlocked by force (RB-33)"
)
orderly.constant(
    "reallocations", 0, high=2, doc="how often a queue being given up may be allocated to its client again"
)
orderly.constant("late_locks", 0, high=2, doc="how many lock requests may reach the broker after the unlock (OR-10)")


def is_orderly(k: Constants) -> bool:
    """Whether listeners are orderly."""
    return bool(k.listener == "orderly")


def _ticking(k: Constants) -> bool:
    return uses_locks(k) and bool(k.clock == "ticking")


def _manual(k: Constants) -> bool:
    return is_orderly(k) and not k.auto_commit


def gives_up(k: Constants) -> bool:
    """Whether an orderly message that fails too often is sent to the retry topic (OR-8)."""
    return is_orderly(k) and bool(k.give_up == "attempts")


def _zombies(k: Constants) -> bool:
    return drops_in_steps(k) and bool(k.reallocations)


def _unlocks_late(k: Constants) -> bool:
    return drops_in_steps(k) and bool(k.version == "4.9.8")


def _recomputes(k: Constants) -> bool:
    """Whether the offset can have changed between taking a queue and the first pull."""
    return uses_locks(k) and bool(k.late_commits)


orderly.variable("result", Result, Consumer, Queue, when=is_orderly, doc="returned, not yet acted upon")
orderly.variable(
    "wanted", bool, Consumer, Queue, when=_zombies, doc="dropped, and allocated to its client again (RB-35)"
)
orderly.variable("call_age", Int(0, "call"), Consumer, Queue, when=_ticking, doc="ticks since the listener was called")
orderly.variable(
    "kept", bool, Consumer, Queue, Message, when=_manual, doc="succeeded and not committed (autoCommit=false)"
)
orderly.variable(
    "suspended",
    Int(0, lambda k: k.attempts + k.refusals),
    Consumer,
    Queue,
    Message,
    when=gives_up,
    doc="reconsumeTimes, in memory only (OR-8)",
)
orderly.variable(
    "published", Int(0, 2), Queue, Message, when=gives_up, doc="how often it was sent to the retry topic; 2 is more"
)
orderly.variable("too_early", bool, when=gives_up, doc="one was sent there after fewer attempts than the maximum")
orderly.variable("goes_round", bool, when=gives_up, doc="one that was sent there has not become a dead letter")
orderly.variable("unlocking", bool, Consumer, Queue, when=_unlocks_late, doc="unlock put off by 20 s (RB-34)")
orderly.variable("recomputed", bool, Consumer, Queue, when=_recomputes, doc="the first locked pull was made (PL-11)")


# --- what an orderly client refines ---------------------------------------------------------------------------------


@orderly.refine(may_take)
def lock_granted(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """RB-30.3: the lock first; where it is refused the queue is left for another pass, in 500 ms."""
    return obtainable(s, c, q) if uses_locks(s.constants) else True


@orderly.refine(may_pull)
def locked_pull(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """PL-10, PL-11: a pull needs the flag, and before the first one the start offset is asked for again."""
    if not uses_locks(s.constants):
        return True
    return all_of(s.locked[c, q], s.recomputed[c, q] if _recomputes(s.constants) else True)


@orderly.refine(listener_runs)
def not_yet_returned(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """OR-6: the listener is busy with the batch, not with what it has succeeded with and not committed."""
    running = s.stage[c, q, m] == Stage.RUNNING
    if not is_orderly(s.constants):
        return running
    return all_of(running, s.result[c, q] == Result.NONE, not_(s.kept[c, q, m]) if _manual(s.constants) else True)


@orderly.refine(lock_follows)
def window_state(s: State, c: IntLike, lost: Chosen, won: Chosen) -> None:
    """RB-30.3: a new window begins locked; whatever belonged to an old one is gone."""
    k = s.constants
    if not is_orderly(k):
        return

    def kept(q: IntLike) -> BoolLike:
        return not_(lost(q))

    s.result[c] = lambda q: ite(lost(q), Result.NONE, s.result[c, q])
    if _manual(k):
        s.kept[c] = lambda q, m: all_of(kept(q), s.kept[c, q, m])
    if gives_up(k):
        s.suspended[c] = lambda q, m: ite(lost(q), 0, s.suspended[c, q, m])
    if not uses_locks(k):
        return
    s.locked[c] = lambda q: any_of(won(q), all_of(kept(q), s.locked[c, q]))
    s.lock_age[c] = lambda q: ite(any_of(won(q), lost(q)), 0, s.lock_age[c, q])
    if won is not nothing:
        s.holder = lambda q: ite(won(q), c + 1, s.holder[q])
        s.holder_age = lambda q: ite(won(q), 0, s.holder_age[q])
    if drops_in_steps(k):
        s.dropped[c] = lambda q: all_of(kept(q), s.dropped[c, q])
    if _zombies(k):
        s.wanted[c] = lambda q: all_of(kept(q), s.wanted[c, q])
    if _recomputes(k):
        s.recomputed[c] = lambda q: all_of(kept(q), s.recomputed[c, q])
    if _ticking(k) and not s.orphans:
        s.call_age[c] = lambda q: ite(lost(q), 0, s.call_age[c, q])


@orderly.refine(service_stops)
def unlock_all(s: State, c: IntLike) -> None:
    """ST-8 (1), ST-9: all queues not dropped are unlocked, before their offsets are persisted; listeners run on.

    ``ConsumeMessageOrderlyService#shutdown``, ``RebalanceImpl#unlockAll``.
    """
    if not uses_locks(s.constants):
        return

    def released(q: IntLike) -> BoolLike:
        return all_of(s.owns[c, q], holds_lock(s, c, q))

    s.holder_age = lambda q: ite(released(q), 0, s.holder_age[q])
    s.holder = lambda q: ite(released(q), 0, s.holder[q])
    s.locked[c] = lambda q: all_of(not_(s.owns[c, q]), s.locked[c, q])
    s.lock_age[c] = lambda q: ite(s.owns[c, q], 0, s.lock_age[c, q])


@orderly.action(fair=True, tells="{c} asks again where to start in {q}", when=_recomputes)
def recompute_offset(s: State, c: Consumer, q: Queue) -> None:
    """PL-11: the old owner's last commit may have come in since the queue was taken: the offset is asked for again."""
    s.require(working(s, c), s.owns[c, q], s.locked[c, q], not_(s.recomputed[c, q]))
    s.recomputed[c, q] = True
    s.next_offset[c, q] = start_offset(s, c, q)
    s.memory[c, q] = start_offset(s, c, q)


# --- batches --------------------------------------------------------------------------------------------------------


def busy(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """OR-4: whether a worker of ``c`` has the mutex of ``q``, in this window or in one that was dropped."""
    here = any_of(s.result[c, q] != Result.NONE, s.exists(Message, lambda m: listener_runs(s, c, q, m)))
    return any_of(here, _orphaned(s, c, q))


def _orphaned(s: State, c: IntLike, q: IntLike) -> BoolLike:
    return s.exists(Message, lambda m: s.orphan[c, q, m] != Orphan.NONE) if s.orphans else False


def calls(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a listener of ``c`` is running for ``q``."""
    running = s.exists(Message, lambda m: listener_runs(s, c, q, m))
    return any_of(running, _orphaned(s, c, q))


def batch_of(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether ``m`` belongs to the batch that the worker of ``q`` has taken last."""
    taken = s.stage[c, q, m] == Stage.RUNNING
    return all_of(taken, not_(s.kept[c, q, m])) if _manual(s.constants) else taken


def _first_waiting(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """PQ-4: whether ``m`` is among the first messages of the tree, as many as fit in a batch."""

    def waits(o: IntLike) -> BoolLike:
        return s.stage[c, q, o] == Stage.WAITING

    if s.batch == 1:
        return all_of(waits(m), s.forall(Message, lambda o: implies(waits(o), m <= o)))
    return all_of(waits(m), s.count(Message, lambda o: all_of(waits(o), o < m)) < s.batch)


@orderly.action(fair=True, tells="{c} calls the listener with the next messages of {q}", when=is_orderly)
def begin_batch(s: State, c: Consumer, q: Queue) -> None:
    """OR-3 to OR-6: under the mutex, not dropped, with a lock that is flagged and not expired.

    ``ConsumeMessageOrderlyService.ConsumeRequest#run``, ``ProcessQueue#takeMessages``.
    """
    s.require(working(s, c), s.owns[c, q], not_(busy(s, c, q)))
    s.require(s.exists(Message, lambda m: s.stage[c, q, m] == Stage.WAITING))
    if uses_locks(s.constants):
        s.require(fresh(s, c, q))
    note_delivery(s, c, q, lambda m: _first_waiting(s, c, q, m))
    s.stage[c, q] = lambda m: ite(_first_waiting(s, c, q, m), Stage.RUNNING, s.stage[c, q, m])


def _returns(s: State, c: IntLike, q: IntLike) -> BoolLike:
    return all_of(
        any_of(working(s, c), s.life[c] == Life.STOPPING), s.exists(Message, lambda m: listener_runs(s, c, q, m))
    )


def _succeeds(s: State, c: IntLike, q: IntLike, done: Callable[[IntLike], BoolLike]) -> None:
    handle(s, q, done)
    note_success(s, c, q, done)


def _may_succeed(s: State, c: IntLike, q: IntLike) -> BoolLike:
    return not_(batch_of(s, c, q, 0)) if s.poison else True


def _returned(s: State, c: IntLike, q: IntLike, result: Result) -> None:
    s.result[c, q] = result
    if _ticking(s.constants):
        s.call_age[c, q] = 0


@orderly.action(fair=True, tells="the listener of {c} succeeds with its batch of {q}", when=is_orderly)
def succeed_in_order(s: State, c: Consumer, q: Queue) -> None:
    """OR-6: the listener returns SUCCESS; the consume lock is free again, and the result is still to be acted upon."""
    s.require(_returns(s, c, q), _may_succeed(s, c, q))
    _succeeds(s, c, q, lambda m: batch_of(s, c, q, m))
    _returned(s, c, q, Result.SUCCESS)


@orderly.action(budget="failures", tells="the listener of {c} suspends {q}", when=is_orderly)
def suspend(s: State, c: Consumer, q: Queue) -> None:
    """OR-6: SUSPEND_CURRENT_QUEUE_A_MOMENT, null or an exception."""
    s.require(_returns(s, c, q))
    _returned(s, c, q, Result.SUSPEND)


@orderly.action(
    fair=True,
    tells="the listener of {c} fails with the first message of {q}",
    when=lambda k: is_orderly(k) and k.poison,
)
def suspend_poison(s: State, c: Consumer, q: Queue) -> None:
    """OR-6: a message that no attempt can handle."""
    s.require(_returns(s, c, q), not_(_may_succeed(s, c, q)))
    _returned(s, c, q, Result.SUSPEND)


@orderly.action(fair=True, tells="the listener of {c} says COMMIT for {q}", when=_manual)
def say_commit(s: State, c: Consumer, q: Queue) -> None:
    """OR-7, autoCommit=false: everything taken since the last commit is to be committed."""
    s.require(_returns(s, c, q), _may_succeed(s, c, q))
    _succeeds(s, c, q, lambda m: batch_of(s, c, q, m))
    _returned(s, c, q, Result.COMMIT)


@orderly.action(budget="failures", tells="the listener of {c} says ROLLBACK for {q}", when=_manual)
def say_rollback(s: State, c: Consumer, q: Queue) -> None:
    """OR-7, autoCommit=false: everything taken since the last commit is to be consumed again."""
    s.require(_returns(s, c, q))
    _returned(s, c, q, Result.ROLLBACK)


# --- what the worker makes of a result ------------------------------------------------------------------------------


def _acts(s: State, c: IntLike, q: IntLike, *results: Result) -> BoolLike:
    alive = any_of(working(s, c), s.life[c] == Life.STOPPING)
    return all_of(alive, any_of(s.result[c, q] == item for item in results))


def _taken(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    return s.stage[c, q, m] == Stage.RUNNING


@orderly.definition
def commit_offset(s: State, c: IntLike, q: IntLike) -> IntLike:
    """PQ-5: the offset after the last message taken (``ProcessQueue#commit``)."""

    def last(m: IntLike) -> BoolLike:
        return all_of(_taken(s, c, q, m), s.forall(Message, lambda o: implies(_taken(s, c, q, o), o <= m)))

    return s.least(Message, last, default=0) + 1


def _commit(s: State, c: IntLike, q: IntLike) -> None:
    """OR-7: the second tree is emptied; the offset moves only if the queue was not dropped."""
    s.memory[c, q] = ite(s.owns[c, q], commit_offset(s, c, q), s.memory[c, q])
    take_out(s, c, q, lambda m: _taken(s, c, q, m))
    s.result[c, q] = Result.NONE
    if _manual(s.constants):
        s.kept[c, q] = lambda m: False
    if gives_up(s.constants):
        s.suspended[c, q] = lambda m: ite(_taken(s, c, q, m), 0, s.suspended[c, q, m])


@orderly.action(fair=True, tells="{c} commits what it has taken of {q}", when=is_orderly)
def commit_taken(s: State, c: Consumer, q: Queue) -> None:
    """OR-7: SUCCESS with autoCommit, or COMMIT without (``ConsumeMessageOrderlyService#processConsumeResult``)."""
    s.require(_acts(s, c, q, *((Result.SUCCESS,) if s.auto_commit else (Result.COMMIT,))))
    _commit(s, c, q)


@orderly.action(fair=True, tells="{c} keeps the batch of {q} for a later commit", when=_manual)
def keep_taken(s: State, c: Consumer, q: Queue) -> None:
    """OR-7: SUCCESS without autoCommit does nothing, and the loop goes on."""
    s.require(_acts(s, c, q, Result.SUCCESS))
    s.kept[c, q] = lambda m: _taken(s, c, q, m)
    s.result[c, q] = Result.NONE


@orderly.definition
def put_back(s: State, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    """PQ-7: the batch moves from the second tree back into the first (``ProcessQueue#makeMessageToConsumeAgain``)."""
    return Stage.WAITING


@orderly.definition
def counted_again(s: State, c: IntLike, q: IntLike) -> IntLike:
    """PQ-8: how many messages a put-back adds to the counter: none, as taking them did not count them out."""
    return 0


def _consume_again(s: State, c: IntLike, q: IntLike, again: Callable[[IntLike], BoolLike]) -> None:
    note_cause(s, Cause.SUSPENDED, lambda p, m: all_of(same(p, q), again(m)))
    s.stage[c, q] = lambda m: ite(again(m), put_back(s, c, q, m), s.stage[c, q, m])
    s.result[c, q] = Result.NONE
    if s.counters:
        s.counted[c, q] = minimum(s.counted[c, q] + counted_again(s, c, q), s.messages)


def at_limit(s: State, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """OR-8: whether ``m`` has failed as often as it may."""
    return s.suspended[c, q, m] >= s.attempts if gives_up(s.constants) else False


def _is_put_back(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """OR-8: whether a failed batch is consumed again: as soon as one message of it is below its limit."""
    return s.exists(Message, lambda m: all_of(batch_of(s, c, q, m), not_(at_limit(s, c, q, m))))


@orderly.definition
def becomes_dead_letter(s: State, local: IntLike) -> BoolLike:
    """OR-8, SB-15: what the broker makes of an orderly message that was given up after ``local`` attempts.

    Up to 5.1.0 the client sends the count the message has, since then one more; since 5.1.1 any live lock of the group
    is enough (``SendMessageProcessor#handleRetryAndDLQ``).
    """
    sent = local if s.version == "4.9.8" else copy_times(local)
    return fallback_gives_up(s.version, sent, s.attempts, uses_locks(s.constants))


@orderly.action(fair=True, tells="{c} puts the batch of {q} back", when=is_orderly)
def put_batch_back(s: State, c: Consumer, q: Queue) -> None:
    """OR-7, OR-8: the batch is consumed again as a whole; messages of it that are at their limit are sent off too."""
    s.require(_acts(s, c, q, Result.SUSPEND), _is_put_back(s, c, q))
    if gives_up(s.constants):
        _publish(s, c, q)
        s.suspended[c, q] = lambda m: ite(
            all_of(batch_of(s, c, q, m), not_(at_limit(s, c, q, m))), s.suspended[c, q, m] + 1, s.suspended[c, q, m]
        )
    _consume_again(s, c, q, lambda m: batch_of(s, c, q, m))


def _publish(s: State, c: IntLike, q: IntLike) -> None:
    """OR-8: a new message to the retry topic, in the form of SB-4, which the broker makes a dead letter (SB-15)."""

    def sent(m: IntLike) -> BoolLike:
        return all_of(batch_of(s, c, q, m), at_limit(s, c, q, m))

    early = s.exists(Message, lambda m: all_of(sent(m), s.suspended[c, q, m] < s.attempts))
    s.too_early = any_of(s.too_early, early)
    round_again = s.exists(Message, lambda m: all_of(sent(m), not_(becomes_dead_letter(s, s.suspended[c, q, m]))))
    s.goes_round = any_of(s.goes_round, round_again)
    s.published[q] = lambda m: ite(sent(m), minimum(s.published[q, m] + 1, 2), s.published[q, m])
    s.handled[q] = lambda m: any_of(s.handled[q, m], sent(m))


@orderly.action(fair=True, tells="{c} sends the batch of {q} to the retry topic", when=gives_up)
def publish_batch(s: State, c: Consumer, q: Queue) -> None:
    """OR-8: all of the batch is at its limit and sent off, so it counts as consumed; autoCommit commits it."""
    s.require(_acts(s, c, q, Result.SUSPEND), not_(_is_put_back(s, c, q)))
    _publish(s, c, q)
    if s.auto_commit:
        _commit(s, c, q)
    else:
        s.kept[c, q] = lambda m: _taken(s, c, q, m)
        s.result[c, q] = Result.NONE


@orderly.action(budget="refusals", tells="{c} cannot send the batch of {q} to the retry topic", when=gives_up)
def publishing_fails(s: State, c: Consumer, q: Queue) -> None:
    """OR-8: a message that cannot be sent off is consumed again, and its count goes on."""
    s.require(_acts(s, c, q, Result.SUSPEND), not_(_is_put_back(s, c, q)))
    s.suspended[c, q] = lambda m: ite(batch_of(s, c, q, m), s.suspended[c, q, m] + 1, s.suspended[c, q, m])
    _consume_again(s, c, q, lambda m: batch_of(s, c, q, m))


@orderly.action(fair=True, tells="{c} rolls {q} back", when=lambda k: _manual(k) and k.failures)
def roll_back(s: State, c: Consumer, q: Queue) -> None:
    """OR-7, PQ-6: all that was taken since the last commit goes back (``ProcessQueue#rollback``)."""
    s.require(_acts(s, c, q, Result.ROLLBACK))
    s.kept[c, q] = lambda m: False
    _consume_again(s, c, q, lambda m: _taken(s, c, q, m))


@orderly.action(
    fair=True,
    tells="the listener of {c} returns to a dropped window of {q}",
    when=lambda k: is_orderly(k) and k.orphans,
)
def return_to_dropped_window(s: State, c: Consumer, q: Queue, success: bool) -> None:
    """OR-7: the window is gone; what was done is done, and nobody is told."""
    s.require(any_of(working(s, c), s.life[c] == Life.STOPPING), _orphaned(s, c, q))
    if success:
        _succeeds(s, c, q, lambda m: s.orphan[c, q, m] == Orphan.RUNNING)
    s.orphan[c, q] = lambda m: Orphan.NONE
    if _ticking(s.constants):
        s.call_age[c, q] = 0


# --- locks and time -------------------------------------------------------------------------------------------------


@orderly.action(fair=True, tells="a tick passes", when=_ticking)
def tick(s: State) -> None:
    """Everything grows older, unless a call is at its limit or its result is waiting; who stands still keeps neither."""

    def in_time(c: IntLike, q: IntLike) -> BoolLike:
        acts = not_(s.paused[c]) if s.pauses else True
        prompt = all_of(s.result[c, q] == Result.NONE, implies(calls(s, c, q), s.call_age[c, q] < s.call))
        return implies(acts, prompt)

    s.require(s.forall(Consumer, lambda c: s.forall(Queue, lambda q: in_time(c, q))))
    grow_older(s)
    s.call_age = lambda c, q: ite(calls(s, c, q), minimum(s.call_age[c, q] + 1, s.call), 0)


@orderly.action(fair=True, tells="{c} renews its lock of {q}", when=uses_locks)
def renew(s: State, c: Consumer, q: Queue) -> None:
    """OR-5, OR-9: every 20 s, or because a batch wants to begin; 4.9.8 renews what it has dropped as well."""
    mine = in_table(s, c, q) if s.version == "4.9.8" else s.owns[c, q]
    s.require(working(s, c), mine)
    with s.when(obtainable(s, c, q)):
        s.holder[q] = c + 1
        s.holder_age[q] = 0
        believe(s, c, q)
    with s.when(not_(obtainable(s, c, q))):
        disbelieve(s, c, q)


@orderly.action(budget="late_locks", tells="a late lock request of {c} for {q} reaches the broker", when=uses_locks)
def lock_late(s: State, c: Consumer, q: Queue) -> None:
    """OR-10: sent before the queue was given up, served after the unlock: a lock that nobody uses, for 60 s."""
    s.require(working(s, c), not_(in_table(s, c, q)), obtainable(s, c, q), not_(holds_lock(s, c, q)))
    s.holder[q] = c + 1
    s.holder_age[q] = 0


# --- giving a queue up ----------------------------------------------------------------------------------------------


@orderly.action(budget="moves", tells="{c} drops {q}", when=uses_locks)
def drop_in_order(s: State, c: Consumer, q: Queue) -> None:
    """RB-30.1: the queue is marked dropped; nothing new is begun, and the offset moves no more."""
    s.require(working(s, c), s.owns[c, q])
    s.owns[c, q] = False
    s.dropped[c, q] = True


def _given_up(s: State, c: IntLike, q: IntLike) -> BoolLike:
    again = s.wanted[c, q] if _zombies(s.constants) else False
    return all_of(working(s, c), s.dropped[c, q], not_(again))


@orderly.definition
def may_unlock(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """RB-33: giving a queue up takes the consume lock, which the listener has while it runs."""
    return not_(s.exists(Message, lambda m: listener_runs(s, c, q, m)))


def _tree_empty(s: State, c: IntLike, q: IntLike) -> BoolLike:
    return s.forall(Message, lambda m: s.stage[c, q, m] != Stage.WAITING)


@orderly.action(fair=True, tells="{c} unlocks and removes {q}", when=drops_in_steps)
def remove(s: State, c: Consumer, q: Queue) -> None:
    """RB-33, RB-34: the offset is persisted, then the broker is told to unlock; in 4.9.8 if nothing is cached."""
    s.require(_given_up(s, c, q), may_unlock(s, c, q))
    if _unlocks_late(s.constants):
        s.require(_tree_empty(s, c, q))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)
    unlock(s, c, q)


@orderly.action(
    fair=True, tells="{c} unlocks {q} by force", when=lambda k: drops_in_steps(k) and _ticking(k) and bool(k.forced_unlock)
)
def remove_by_force(s: State, c: Consumer, q: Queue) -> None:
    """RB-33: 20 s after the last renewal the queue is given up although a listener runs."""
    s.require(_given_up(s, c, q), s.lock_age[c, q] > s.unlock_delay, not_(may_unlock(s, c, q)))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)
    unlock(s, c, q)


@orderly.action(fair=True, tells="{c} removes {q} and will unlock it later", when=_unlocks_late)
def remove_and_unlock_later(s: State, c: Consumer, q: Queue) -> None:
    """RB-34: with messages in the cache the unlock waits for 20 s."""
    s.require(_given_up(s, c, q), may_unlock(s, c, q), not_(_tree_empty(s, c, q)))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)
    s.unlocking[c, q] = True


@orderly.action(fair=True, tells="{c} unlocks {q}, late", when=_unlocks_late)
def unlock_later(s: State, c: Consumer, q: Queue) -> None:
    """RB-34: whether the queue has been taken again meanwhile does not matter to the unlock."""
    s.require(working(s, c), s.unlocking[c, q])
    s.unlocking[c, q] = False
    unlock(s, c, q)


@orderly.action(budget="reallocations", tells="{q} is allocated to {c} again", when=drops_in_steps)
def allocate_again(s: State, c: Consumer, q: Queue) -> None:
    """RB-35: the table still has the dropped queue, so it is neither added nor removed."""
    s.require(_given_up(s, c, q), not_(may_unlock(s, c, q)))
    s.wanted[c, q] = True


@orderly.action(fair=True, tells="the pull of {q} expires in {c}", when=lambda k: _zombies(k) and k.idle_limit)
def pull_expires(s: State, c: Consumer, q: Queue) -> None:
    """PQ-11, RB-30.1: after 120 s without a pull the queue is given up once more, and can be added afterwards."""
    s.require(working(s, c), s.wanted[c, q])
    s.wanted[c, q] = False


# --- mutants --------------------------------------------------------------------------------------------------------

_ONE: dict[str, int | str] = {"listener": "orderly", "clock": "stopped", "consumers": 1, "messages": 2}


@orderly.mutant(
    "E1",
    "orderly-suspend-outlives-idle-limit",
    killed_by="every-message-is-handled",
    constants={**_ONE, "poison": 1, "give_up": "attempts", "threshold": 1, "moves": 1},
)
def drop_full_queue(s: State, c: Consumer, q: Queue) -> None:
    """Flow control does not refresh the time of the last pull, so a full queue is dropped and added again and again.

    Every new window begins its counts at 0, and no message ever reaches its limit. Source: alibaba/RocketMQ #459.
    """
    s.require(working(s, c), s.owns[c, q], cached(s, c, q) > s.threshold, may_unlock(s, c, q))
    s.owns[c, q] = False
    s.dropped[c, q] = True


@orderly.mutant(
    "E6", "orderly-suspend-loses-message", of=put_back, killed_by="handled-in-order", constants={**_ONE, "failures": 1}
)
def put_back_ignores_taken(s: State, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    """Putting back skips what is among the taken messages already, that is all of them; the next commit passes them.

    Source: rocketmq-client-go #618, #650, mended in 2.1.1.
    """
    return Stage.ABSENT


@orderly.mutant(
    "E6-insert",
    "orderly-suspend-counts-twice",
    of=counted_again,
    killed_by="every-message-is-handled",
    constants={**_ONE, "failures": 2, "counters": 1, "threshold": 1},
)
def put_back_inserts(s: State, c: IntLike, q: IntLike) -> IntLike:
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
def status_unknown(s: State, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    """A status of the other kind of listener is unknown to the switch: neither committed nor put back.

    Source: rocketmq-client-go #1229.
    """
    return Stage.FAILED


@orderly.mutant(
    "E3-orderly",
    "revoke-while-listener-runs",
    of=may_unlock,
    killed_by="one-orderly-listener",
    constants={"listener": "orderly", "clock": "stopped", "messages": 1, "moves": 1, "orphans": 1},
)
def unlock_without_consume_lock(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """The queue is unlocked while a listener call runs. Source: commit 45dae1fa82 (2014)."""
    return True


@orderly.mutant(
    "D3-orderly",
    "orderly-goes-round-after-max",
    of=becomes_dead_letter,
    killed_by="orderly-dead-letter-at-maximum",
    constants={**_ONE, "messages": 1, "poison": 1, "give_up": "attempts"},
)
def sent_at_maximum_given_up_above(s: State, local: IntLike) -> BoolLike:
    """The client sends the count the message has, the broker gives up above the maximum: it goes to the retry topic.

    Source: RocketMQ #6163, #5717, mended in 5.1.1.
    """
    return local > s.attempts
