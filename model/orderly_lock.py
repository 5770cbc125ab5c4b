"""Orderly consumption without messages: clients, their windows, lock renewal, and who runs a listener on which queue.

Rebalance is over-approximated: a client may take any queue whose lock it gets, and drop any queue at any time, so that
what holds here holds under every allocation. A listener call (*batch*) begins under a lock that the client believes it
has, and nothing that happens to the lock while it runs ends the call.
"""

from __future__ import annotations

from enum import IntEnum

from .kernel import (
    BoolLike,
    Constants,
    Int,
    IntLike,
    Machine,
    all_of,
    any_of,
    constant,
    implies,
    ite,
    minimum,
    not_,
    variable,
)
from .lock import (
    LockState,
    believe,
    disbelieve,
    forget_locks,
    fresh,
    grant,
    grant_batch,
    grow_older,
    leave,
    lock,
    obtainable,
    outlives_refusal,
    renew_batch,
    renew_lock,
    set_locked,
    unlock,
    unlock_batch,
)
from .membership import Consumer, Life
from .route import Queue

__all__ = ["Request", "Window", "forget_locks", "orderly_lock", "tick"]


class Window(IntEnum):
    """A queue in the process-queue table of a client: not there, in use, or dropped and not yet removed (RB-33)."""

    OUT = 0
    IN = 1
    DROPPED = 2


class Request(IntEnum):
    """A lock request on its way: to the broker, back with a renewed lock, or back with the lock of a queue to take."""

    NONE = 0
    ASKED = 1
    GRANTED = 2
    TAKING = 3


orderly_lock = Machine(
    "orderly_lock", doc="Who runs a listener on which queue when every client asks the broker for a lock first."
).include(lock)


def _certain(k: Constants) -> bool:
    return bool(k.renewals == "certain")


def _in_flight(k: Constants) -> bool:
    return bool(k.renewals == "in-flight")


def _limited(k: Constants) -> bool:
    return bool(k.batches == "limited")


def _forces(k: Constants) -> bool:
    return bool(k.force)


@orderly_lock.state
class OrderlyLockState(LockState):
    """Windows, listener calls and lock requests of clients that consume in order."""

    consumers = constant(2, low=1, high=4, doc="client instances, all of them running at first")
    queues = constant(1, low=1, high=4, doc="queues of one broker; their locks are independent")
    version = constant("5.3.3", choices=("5.3.3", "4.9.8"), doc="how queues are given up (RB-33, RB-34)")
    renewals = constant(
        "may-fail",
        choices=("certain", "may-fail", "in-flight"),
        doc="locks are renewed every 20 s without fail; at any time or never; so, by requests that take time",
    )
    renewal = constant(2, low=1, doc="ticks between two rounds of certain renewal (20 s)")
    answer = constant(0, doc="ticks that an answer to a lock request may take (it times out after 1 s)")
    batches = constant(
        "limited", choices=("limited", "long", "endless"), doc="in time; some time; never: a listener that hangs"
    )
    batch = constant(3, doc="ticks that a listener call may last, where limited")
    drops = constant(1, high=1, doc="1 when queues are taken from clients that have them")
    force = constant(0, high=1, doc="1 with the forced unlock of 5.2.0 and later (RB-33)")
    leaves = constant(0, high=2, doc="how many clients may stop in order")
    leaves_left: IntLike
    await_listeners = constant(1, high=1, doc="1 when a stop waits for listeners, which it does not by default")
    crashes = constant(0, high=2, doc="how many clients may die")
    crashes_left: IntLike
    pauses = constant(0, high=2, doc="how often a client may stand still (garbage collection, SIGSTOP)")
    clock_steps = constant(0, high=2, doc="how often the clock of a client may be set back")
    watch_steps = constant(0, high=1, doc="1 to keep what there was before the last step")
    life = variable(Life, Consumer, init=Life.UP, when=lambda k: k.leaves + k.crashes > 0)
    window = variable(Window, Consumer, Queue)
    runs = variable(bool, Consumer, Queue, doc="a listener call is running (OR-4: one for each client)")
    batch_age = variable(Int(0, "batch"), Consumer, Queue, when=_limited, doc="ticks since it checked the lock")
    round = variable(Int(0, "renewal"), Consumer, when=_certain, doc="ticks since the last round of renewal")
    request = variable(Request, Consumer, Queue, when=_in_flight)
    request_age = variable(Int(0, "answer"), Consumer, Queue, when=_in_flight, doc="ticks since it was granted")
    outlived = variable(
        bool, Consumer, Queue, when=_forces, doc="the call belongs to a window that was removed by force"
    )
    unlocking = variable(bool, Consumer, Queue, when=lambda k: k.version == "4.9.8", doc="unlock put off")
    paused = variable(bool, Consumer, when=lambda k: k.pauses > 0, doc="the process stands still")


orderly_lock.constraint(
    "version", "force", holds=lambda k: not k.force or k.version == "5.3.3", message="only 5.2.0 and later force it"
)
orderly_lock.constraint(
    "renewals",
    "answer",
    holds=lambda k: not k.answer or k.renewals == "in-flight",
    message="answers take time only with renewals=in-flight",
)


def _drops(k: Constants) -> bool:
    return bool(k.drops)


orderly_lock.remember(
    *("life", "window", "runs", "batch_age", "round", "request", "unlocking", "paused"),
    *("holder", "holder_age", "locked", "lock_age"),
    when=lambda k: k.watch_steps == 1,
)


def is_up(s: OrderlyLockState, c: IntLike) -> BoolLike:
    """Whether ``c`` runs and is not shutting down."""
    return s.life[c] == Life.UP if s.leaves + s.crashes else True


def acts(s: OrderlyLockState, c: IntLike) -> BoolLike:
    """Whether the threads of ``c`` get to run."""
    return not_(s.paused[c]) if s.pauses else True


def _quiet(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    return s.request[c, q] == Request.NONE if _in_flight(s.constants) else True


@orderly_lock.action(fair=True, tells="a tick passes")
def tick(s: OrderlyLockState) -> None:
    """Everything grows older, unless a client that acts has to do something first.

    A batch has a time limit, an answer a timeout, and a round of certain renewal its turn; a client that stands still
    keeps none of these.
    """
    k = s.constants

    def in_time(c: IntLike, q: IntLike) -> BoolLike:
        batch = implies(s.runs[c, q], s.batch_age[c, q] < s.batch) if _limited(k) else True
        answered = (
            any_of(s.request[c, q] == Request.GRANTED, s.request[c, q] == Request.TAKING) if _in_flight(k) else False
        )
        answer = implies(answered, s.request_age[c, q] < s.answer) if _in_flight(k) else True
        renewal = (
            implies(all_of(is_up(s, c), s.window[c, q] == Window.IN), s.round[c] < s.renewal) if _certain(k) else True
        )
        return all_of(batch, answer, renewal)

    s.require(s.forall(Consumer, lambda c: implies(acts(s, c), s.forall(Queue, lambda q: in_time(c, q)))))
    grow_older(s)
    if _limited(k):
        s.batch_age = lambda c, q: ite(s.runs[c, q], minimum(s.batch_age[c, q] + 1, s.batch), s.batch_age[c, q])
    if _in_flight(k):
        s.request_age = lambda c, q: ite(
            s.request[c, q] >= Request.GRANTED, minimum(s.request_age[c, q] + 1, s.answer), s.request_age[c, q]
        )
    if _certain(k):
        s.round = lambda c: minimum(s.round[c] + 1, s.renewal)


# --- taking a queue, renewing its lock ------------------------------------------------------------------------------


def _may_take(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    return all_of(is_up(s, c), acts(s, c), s.window[c, q] == Window.OUT, _quiet(s, c, q), obtainable(s, c, q))


@orderly_lock.action(fair=True, tells="{c} locks and takes {q}", when=lambda k: not _in_flight(k))
def take(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-30.3: the lock first, then the window; if the lock is refused, the client tries again in 500 ms."""
    s.require(_may_take(s, c, q))
    grant(s, c, q)
    believe(s, c, q)
    s.window[c, q] = Window.IN


@orderly_lock.action(fair=True, tells="the broker gives {c} the lock of {q}", when=_in_flight)
def lock_to_take(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-30.3, first half: the lock is granted, the answer is on its way."""
    s.require(_may_take(s, c, q))
    grant(s, c, q)
    s.request[c, q] = Request.TAKING


@orderly_lock.action(fair=True, tells="{c} takes {q}", when=_in_flight)
def open_window(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-30.3, second half: the window is made, and its lock gets the time at which the window was made."""
    s.require(s.request[c, q] == Request.TAKING, acts(s, c))
    s.request[c, q] = Request.NONE
    s.request_age[c, q] = 0
    believe(s, c, q)
    s.window[c, q] = Window.IN


def renewable(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """OR-9: which locks ``c`` renews: all in its table in 4.9.8, those not dropped in 5.3.3.

    ``RebalanceImpl#buildProcessQueueTableByBrokerName``.
    """
    return s.window[c, q] != Window.OUT if s.version == "4.9.8" else s.window[c, q] == Window.IN


@orderly_lock.action(fair=True, tells="{c} renews its locks", when=_certain)
def renew_all(s: OrderlyLockState, c: Consumer) -> None:
    """OR-9: the round of every 20 s; what the broker refuses loses its flag (``RebalanceImpl#lockAll``)."""
    s.require(is_up(s, c), acts(s, c))
    s.round[c] = 0
    renew_batch(s, c, lambda q: renewable(s, c, q))


@orderly_lock.action(fair=True, tells="{c} renews its lock of {q}", when=lambda k: k.renewals == "may-fail")
def renew(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """OR-9: a round that reaches the broker; one that fails changes nothing, so it is not taken at all."""
    s.require(is_up(s, c), acts(s, c), renewable(s, c, q))
    renew_lock(s, c, q)


@orderly_lock.action(fair=True, tells="{c} asks for its lock of {q}", when=_in_flight)
def ask(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """OR-9: a round reads the table once; a queue that is dropped later is requested all the same (OR-10)."""
    s.require(is_up(s, c), acts(s, c), renewable(s, c, q), _quiet(s, c, q))
    s.request[c, q] = Request.ASKED


@orderly_lock.action(fair=True, tells="the broker answers {c} about {q}", when=_in_flight)
def answer_request(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """OR-1: granted, with the answer on its way; or refused, which the client then knows at once."""
    s.require(s.request[c, q] == Request.ASKED)
    with s.when(obtainable(s, c, q)):
        grant(s, c, q)
        s.request[c, q] = Request.GRANTED
    with s.when(not_(obtainable(s, c, q))):
        disbelieve(s, c, q)
        s.request[c, q] = Request.NONE


@orderly_lock.action(fair=True, tells="{c} hears that it has the lock of {q}", when=_in_flight)
def hear(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """OR-9: flag and time are set on the window in the table, if there is one."""
    s.require(s.request[c, q] == Request.GRANTED, acts(s, c))
    s.request[c, q] = Request.NONE
    s.request_age[c, q] = 0
    with s.when(s.window[c, q] != Window.OUT):
        believe(s, c, q)


@orderly_lock.action(tells="the lock request of {c} for {q} fails", when=_in_flight)
def lose_request(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """A timeout before or after the broker has acted, or a start offset that cannot be obtained (RB-40)."""
    s.require(s.request[c, q] != Request.NONE, acts(s, c))
    s.request[c, q] = Request.NONE
    s.request_age[c, q] = 0


# --- listeners ------------------------------------------------------------------------------------------------------


@orderly_lock.action(tells="{c} begins a batch of {q}")
def begin_batch(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """OR-4 to OR-6: under the mutex of the queue, not dropped, flagged and not expired.

    A worker of a client that shuts down continues its loop, unless the shutdown has waited for it.
    """
    k = s.constants
    working = s.life[c] <= Life.STOPPING if k.leaves and not k.await_listeners else is_up(s, c)
    s.require(working, acts(s, c), s.window[c, q] == Window.IN, fresh(s, c, q), not_(s.runs[c, q]))
    s.runs[c, q] = True


@orderly_lock.action(fair=True, tells="the batch of {c} in {q} ends", when=lambda k: k.batches != "endless")
def end_batch(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """The listener returns; OR-7 is about messages, and this machine has none."""
    s.require(s.runs[c, q], acts(s, c))
    _end(s, c, q)


def _end(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    s.runs[c, q] = False
    if _limited(s.constants):
        s.batch_age[c, q] = 0
    if _forces(s.constants):
        s.outlived[c, q] = False


# --- giving a queue up ----------------------------------------------------------------------------------------------


@orderly_lock.action(tells="{c} drops {q}", when=_drops)
def drop(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-30.1: the queue is no longer in the share of ``c``, or its pull has expired."""
    s.require(is_up(s, c), acts(s, c), s.window[c, q] == Window.IN)
    s.window[c, q] = Window.DROPPED


@orderly_lock.definition
def may_remove(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """RB-33, RB-34: giving up a dropped queue requires its consume lock, which a running listener holds.

    The lock belongs to a window (``ProcessQueue#getConsumeLock``): a call that outlived an earlier window holds a
    different one.
    """
    return any_of(not_(s.runs[c, q]), s.outlived[c, q] if _forces(s.constants) else False)


@orderly_lock.definition
def give_back(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-33: the flag is cleared first, then the broker is informed
    (``RebalancePushImpl#tryRemoveOrderMessageQueue``).
    """
    leave(s, c, q)
    unlock(s, c, q)


@orderly_lock.action(fair=True, tells="{c} unlocks and removes {q}", when=_drops)
def remove(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-30.2, RB-33: the window leaves the table."""
    s.require(is_up(s, c), acts(s, c), s.window[c, q] == Window.DROPPED, may_remove(s, c, q))
    s.window[c, q] = Window.OUT
    give_back(s, c, q)


@orderly_lock.action(fair=True, tells="{c} unlocks {q} by force", when=_forces)
def remove_by_force(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-33: a dropped queue whose lock was not renewed for 20 s is given up, even if a listener runs."""
    s.require(is_up(s, c), acts(s, c), s.window[c, q] == Window.DROPPED, s.lock_age[c, q] > s.unlock_delay)
    s.window[c, q] = Window.OUT
    s.outlived[c, q] = s.runs[c, q]
    give_back(s, c, q)


@orderly_lock.refine(outlives_refusal)
def in_table(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """RB-33: the forced unlock counts from the last renewal, of which there may have been none since a refusal."""
    return all_of(is_up(s, c), s.window[c, q] != Window.OUT) if _forces(s.constants) else False


def _unlocks_late(k: Constants) -> bool:
    return bool(k.version == "4.9.8" and k.drops)


@orderly_lock.action(tells="{c} removes {q} and will unlock it later", when=_unlocks_late)
def remove_and_unlock_later(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-34: with messages in the cache the unlock is put off by 20 s (4.9.8: ``RebalancePushImpl#unlockDelay``)."""
    s.require(is_up(s, c), acts(s, c), s.window[c, q] == Window.DROPPED, may_remove(s, c, q))
    s.window[c, q] = Window.OUT
    leave(s, c, q)
    s.unlocking[c, q] = True


@orderly_lock.action(fair=True, tells="{c} unlocks {q}, late", when=_unlocks_late)
def unlock_later(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """RB-34: the postponed unlock does not check whether the queue has been taken again meanwhile."""
    s.require(is_up(s, c), acts(s, c), s.unlocking[c, q])
    s.unlocking[c, q] = False
    unlock(s, c, q)


# --- stop, death, faults --------------------------------------------------------------------------------------------


@orderly_lock.definition
def flag_after_unlock(s: OrderlyLockState) -> BoolLike:
    """The client's flag once all its locks have been given back (``RebalanceImpl#unlockAll``)."""
    return False


@orderly_lock.action(budget="leaves", tells="{c} stops and unlocks its queues")
def stop(s: OrderlyLockState, c: Consumer) -> None:
    """ST-8 (1): the pool takes no new tasks, then all queues not dropped are unlocked, without waiting for listeners.

    ``ConsumeMessageOrderlyService#shutdown`` waits for ``awaitTerminationMillisWhenShutdown``, 0 by default. Rounds of
    renewal and this unlock exclude each other (both are ``synchronized``), so no request is on its way.
    """
    s.require(s.life[c] == Life.UP, acts(s, c), s.forall(Queue, lambda q: _quiet(s, c, q)))
    if s.await_listeners:
        s.require(s.forall(Queue, lambda q: not_(s.runs[c, q])))
    s.life[c] = Life.STOPPING

    def released(q: IntLike) -> BoolLike:
        return s.window[c, q] == Window.IN

    unlock_batch(s, c, released)
    set_locked(s, c, lambda q: all_of(released(q), not_(flag_after_unlock(s))), lambda _: False)


@orderly_lock.action(fair=True, tells="the process of {c} ends", when=lambda k: k.leaves > 0)
def end_stop(s: OrderlyLockState, c: Consumer) -> None:
    """ST-8: the rest of the shutdown; with the process its listeners end."""
    s.require(s.life[c] == Life.STOPPING, acts(s, c))
    _vanish(s, c)


@orderly_lock.action(budget="crashes", tells="{c} dies")
def die(s: OrderlyLockState, c: Consumer) -> None:
    """The process ends without warning; its locks stay in the broker's table."""
    s.require(s.life[c] != Life.GONE)
    _vanish(s, c)


def _vanish(s: OrderlyLockState, c: Consumer) -> None:
    """Nothing of a process outlives it, so nothing of it stays in the state."""
    k = s.constants
    s.life[c] = Life.GONE
    s.window[c] = Window.OUT
    s.locked[c] = False
    s.lock_age[c] = 0
    s.runs[c] = False
    if _limited(k):
        s.batch_age[c] = 0
    if _in_flight(k):
        s.request[c] = Request.NONE
        s.request_age[c] = 0
    if _certain(k):
        s.round[c] = 0
    if k.version == "4.9.8":
        s.unlocking[c] = False
    if _forces(k):
        s.outlived[c] = False
    if k.pauses:
        s.paused[c] = False


@orderly_lock.action(budget="pauses", tells="{c} stands still")
def pause(s: OrderlyLockState, c: Consumer) -> None:
    """Garbage collection, SIGSTOP, or a frozen virtual machine: no thread of ``c`` runs, while clocks go on."""
    s.require(not_(s.paused[c]), s.life[c] != Life.GONE if s.leaves + s.crashes else True)
    s.paused[c] = True


@orderly_lock.action(fair=True, tells="{c} goes on", when=lambda k: k.pauses > 0)
def resume(s: OrderlyLockState, c: Consumer) -> None:
    """The threads of ``c`` continue where they were, a listener in the middle of its batch."""
    s.require(s.paused[c])
    s.paused[c] = False


@orderly_lock.action(budget="clock_steps", tells="the clock of {c} is set back")
def step_clock_back(s: OrderlyLockState, c: Consumer) -> None:
    """PQ-10 reads ``System.currentTimeMillis``: if it is set back, an old lock looks young."""
    s.require(s.exists(Queue, lambda q: s.locked[c, q]))
    s.lock_age[c] = 0


# --- mutants --------------------------------------------------------------------------------------------------------


@orderly_lock.mutant(
    "E2",
    "lock-renewal-stops",
    of=renew_all,
    killed_by="one-listener-a-queue",
    constants={"renewals": "certain", "batches": "long", "drops": 0},
)
def renewal_that_has_stopped(s: OrderlyLockState, c: Consumer) -> None:
    """An exception ended the periodic task for good, so the round passes and renews nothing.

    Source: RocketMQ #3861 (before 4.9.3): ``scheduleAtFixedRate`` cancels a task that throws.
    """
    s.require(is_up(s, c), acts(s, c))
    s.round[c] = 0


@orderly_lock.mutant(
    "E2-timestamp",
    "renewal-refreshes-wrong-time",
    of=renew_all,
    killed_by="owner-is-ready",
    constants={"renewals": "certain", "batches": "long", "drops": 0},
)
def renewal_of_the_wrong_time(s: OrderlyLockState, c: Consumer) -> None:
    """The broker renews the lock, the client refreshes another time stamp: it refuses to consume a queue it owns.

    Source: rocketmq-client-go #1080, #1214: the time of consumption was set in the place of the time of the lock.
    """
    s.require(is_up(s, c), acts(s, c))
    s.round[c] = 0
    grant_batch(s, c, lambda q: all_of(renewable(s, c, q), obtainable(s, c, q)))
    s.locked[c] = lambda q: ite(renewable(s, c, q), obtainable(s, c, q), s.locked[c, q])


@orderly_lock.mutant("E3", "revoke-while-listener-runs", of=may_remove, killed_by="one-listener-a-queue")
def removal_without_the_consume_lock(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """The queue is unlocked while a listener call runs, and the next owner starts at once.

    Source: commit 45dae1fa82 (2014): since then a consume lock for each process queue.
    """
    return True


@orderly_lock.mutant("E4", "revoke-without-unlock", of=give_back, killed_by="released-queue-is-free")
def removal_that_keeps_the_lock(s: OrderlyLockState, c: Consumer, q: Queue) -> None:
    """A branch of the removal does not inform the broker, so the next owner waits for the lock to expire.

    Source: commit 4e41975178 (2015), rocketmq-client-go #1015.
    """
    leave(s, c, q)


@orderly_lock.mutant(
    "E5", "unlock-sets-locked-flag", of=flag_after_unlock, killed_by="believed-lock-is-held", constants={"leaves": 1}
)
def flag_that_stays(s: OrderlyLockState) -> BoolLike:
    """After the release the flag says *locked*, and workers go on with a queue that was given away.

    Source: rocketmq-client-cpp #175.
    """
    return True


orderly_lock.misconfiguration(
    "E2-periods",
    "windows-shorter-than-renewal",
    killed_by="owner-is-ready",
    constants={"renewals": "certain", "drops": 0},
    sets={"renewal": 4},
    doc="Locks are renewed less often than clients stop to believe in them, so queues stand still again and again: "
    "rocketmq.client.rebalance.lockInterval must be below rocketmq.client.rebalance.lockMaxLiveTime.",
)
orderly_lock.explanation(
    "E8",
    "forced-unlock-after-20s",
    naive="one-listener-a-queue",
    exact="believed-lock-is-held",
    constants={"force": 1},
    doc="Since 5.2.0 a dropped queue is unlocked 20 s after its last renewal although a listener runs: keep listener "
    "calls short, or set rocketmq.client.unlockDelayTimeMills above the client window plus the longest call.",
)
