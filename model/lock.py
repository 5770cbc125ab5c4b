"""The lock of a queue: the broker's lock table, what clients believe about it, and the clocks on both sides.

This is the only text about locks. ``orderly_lock`` (clients that only lock, renew and unlock), ``orderly_ownership``
(the same with messages) and ``rebalance`` (with real members and shares) say when its steps are taken.

Orderly consumption rests on a table in the broker's memory: group and queue → client id and time of the last renewal
(OR-1: ``RebalanceLockManager``). The client keeps a flag and a time stamp of its own for each queue it has (PQ-10:
``ProcessQueue#isLocked``, ``#isLockExpired``). A client is not informed when its lock goes to another client; it is
safe only because it stops believing in its lock (30 s) well before the broker gives it away (60 s).

Time is counted in *ticks*, by default of 10 s. Ages matter, not points in time: an age grows with every tick, and stops
growing once nothing depends on it any more. The machine does not depend on the length of a tick, so a proof for all
values of the windows also covers arbitrarily short ticks. Where no time is counted, as in ``rebalance``, the table has
no ages, and a client believes in the lock of every queue that it has.
"""

from __future__ import annotations

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
    ite,
    maximum,
    minimum,
    not_,
    variable,
)
from .membership import Consumer
from .route import Chosen, Queue, nothing

lock = Machine("lock", doc="The broker's lock table, the clients' flags, and the ages of both.")


def uses_locks(k: Constants) -> bool:
    """Whether queues are locked: by orderly listeners in clustering; in broadcasting, queues are not shared (OR-12)."""
    if "orderly" in k:
        return bool(k.orderly)
    return k.get("listener", "orderly") == "orderly" and k.get("mode", "clustering") == "clustering"


def _expired(k: Constants) -> IntLike:
    window: IntLike = k.broker_window
    return window + 1


def _stale(k: Constants) -> IntLike:
    return maximum(k.client_window, k.unlock_delay) + 1


@lock.state
class LockState(State):
    """The broker's lock table, and what clients believe about their locks."""

    client_window = constant(3, low=1, doc="ticks after which a client stops to believe in its lock (30 s)")
    broker_window = constant(6, low=1, doc="ticks after which the broker gives a lock to another client (60 s)")
    unlock_delay = constant(2, doc="ticks without renewal after which a dropped queue is unlocked by force (20 s)")
    lock_losses = constant(0, high=2, doc="how often a broker may forget its locks, by restart or failover")
    holder = variable(
        Int(0, "consumers"), Queue, when=uses_locks, doc="1 + the client that the table names; 0 for no entry (OR-1)"
    )
    holder_age = variable(
        Int(0, _expired), Queue, when=uses_locks, doc="ticks since the broker granted or renewed the lock"
    )
    locked = variable(bool, Consumer, Queue, when=uses_locks, doc="ProcessQueue.locked")
    lock_age = variable(
        Int(0, _stale), Consumer, Queue, when=uses_locks, doc="ticks since ProcessQueue.lastLockTimestamp (PQ-10)"
    )


def _has_ages(k: Constants) -> bool:
    """Whether time is counted: whether the table is that of the machine ``lock``."""
    return "broker_window" in k


# --- the broker's half ----------------------------------------------------------------------------------------------


def holds_lock(s: LockState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the broker's table names ``c``, expired or not."""
    return s.holder[q] == c + 1


def obtainable(s: LockState, c: IntLike, q: IntLike) -> BoolLike:
    """OR-1: whether the broker grants ``c`` the lock: if there is no entry, its own entry, or one not renewed for 60 s.

    ``RebalanceLockManager#tryLock``.
    """
    expired = s.holder_age[q] > s.broker_window if _has_ages(s.constants) else False
    return any_of(s.holder[q] == 0, holds_lock(s, c, q), expired)


def grant(s: LockState, c: Consumer, q: Queue) -> None:
    """OR-1: a lock request that is granted sets the entry and its time stamp."""
    s.holder[q] = c + 1
    if _has_ages(s.constants):
        s.holder_age[q] = 0


def unlock(s: LockState, c: Consumer, q: Queue) -> None:
    """OR-1: an unlock request removes the entry if it belongs to the sender (``RebalanceLockManager#unlockBatch``)."""
    if _has_ages(s.constants):
        s.holder_age[q] = ite(holds_lock(s, c, q), 0, s.holder_age[q])
    s.holder[q] = ite(holds_lock(s, c, q), 0, s.holder[q])


def grant_and_unlock(s: LockState, c: IntLike, granted: Chosen, unlocked: Chosen) -> None:
    """The same for many queues at once: ``c`` gets the locks of ``granted``, and gives back what it has of
    ``unlocked``.
    """

    def freed(q: IntLike) -> BoolLike:
        return all_of(unlocked(q), holds_lock(s, c, q))

    s.holder = lambda q: ite(granted(q), c + 1, ite(freed(q), 0, s.holder[q]))
    if _has_ages(s.constants):
        s.holder_age = lambda q: ite(any_of(granted(q), freed(q)), 0, s.holder_age[q])


def grant_batch(s: LockState, c: IntLike, granted: Chosen) -> None:
    """OR-1: ``RebalanceLockManager#tryLockBatch``, for those queues whose lock is granted."""
    grant_and_unlock(s, c, granted, nothing)


def unlock_batch(s: LockState, c: IntLike, unlocked: Chosen) -> None:
    """OR-1: ``RebalanceLockManager#unlockBatch``."""
    grant_and_unlock(s, c, nothing, unlocked)


def forget(s: LockState, forgotten: Chosen) -> None:
    """OR-1: the broker forgets the entries of some queues."""
    s.holder = lambda q: ite(forgotten(q), 0, s.holder[q])
    if _has_ages(s.constants):
        s.holder_age = lambda q: ite(forgotten(q), 0, s.holder_age[q])


# --- the client's half ----------------------------------------------------------------------------------------------


def fresh(s: LockState, c: IntLike, q: IntLike) -> BoolLike:
    """PQ-10: whether ``c`` believes that it has the lock: flagged, and renewed within its 30 s."""
    return all_of(s.locked[c, q], s.lock_age[c, q] <= s.client_window)


@lock.definition
def believe(s: LockState, c: Consumer, q: Queue) -> None:
    """The client's half: flag and time stamp are set when the *answer* arrives (OR-9: ``RebalanceImpl#lock``)."""
    s.locked[c, q] = True
    s.lock_age[c, q] = 0


@lock.definition
def outlives_refusal(s: LockState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the time of the last renewal still decides something after a refusal: a forced unlock asks for it."""
    return False


def disbelieve(s: LockState, c: Consumer, q: Queue) -> None:
    """OR-9: a refusal clears the flag, and leaves the time of the last renewal as it is (``RebalanceImpl#lockAll``)."""
    s.locked[c, q] = False
    s.lock_age[c, q] = ite(outlives_refusal(s, c, q), s.lock_age[c, q], 0)


def leave(s: LockState, c: Consumer, q: Queue) -> None:
    """Flag and time go with the window to which they belong."""
    s.locked[c, q] = False
    s.lock_age[c, q] = 0


def set_locked(s: LockState, c: IntLike, about: Chosen, granted: Chosen) -> None:
    """Windows begin with a lock, if ``granted``, or end: flag and time of those queues that it is ``about``."""
    s.locked[c] = lambda q: ite(about(q), granted(q), s.locked[c, q])
    s.lock_age[c] = lambda q: ite(about(q), 0, s.lock_age[c, q])


# --- both halves ----------------------------------------------------------------------------------------------------


def renew_lock(s: LockState, c: Consumer, q: Queue) -> None:
    """OR-9: the lock is renewed at the broker and in the client, or refused, so that the client loses its flag.

    ``RebalanceImpl#lockAll``. A refusal of a single request (``#lock``, OR-5) leaves the flag until then: it is asked
    for when the flag is gone or its lock too old to be believed in, so no listener starts either way.
    """
    with s.when(obtainable(s, c, q)):
        grant(s, c, q)
        believe(s, c, q)
    with s.when(not_(obtainable(s, c, q))):
        disbelieve(s, c, q)


def renew_batch(s: LockState, c: IntLike, about: Chosen) -> None:
    """OR-9: the same for many queues at once (``RebalanceImpl#lockAll``)."""
    grant_batch(s, c, lambda q: all_of(about(q), obtainable(s, c, q)))
    s.locked[c] = lambda q: ite(about(q), obtainable(s, c, q), s.locked[c, q])

    def age(q: IntLike) -> IntLike:
        kept = all_of(not_(obtainable(s, c, q)), outlives_refusal(s, c, q))
        return ite(all_of(about(q), not_(kept)), 0, s.lock_age[c, q])

    s.lock_age[c] = age


def grow_older(s: LockState) -> None:
    """One tick for everything that is measured by a clock; ages stop growing once nothing depends on them any more."""
    s.holder_age = lambda q: ite(s.holder[q] == 0, 0, minimum(s.holder_age[q] + 1, _expired(s.constants)))

    def age(c: IntLike, q: IntLike) -> IntLike:
        counts = any_of(s.locked[c, q], outlives_refusal(s, c, q))
        return ite(counts, minimum(s.lock_age[c, q] + 1, _stale(s.constants)), 0)

    s.lock_age = age


@lock.action(budget="lock_losses", tells="the broker forgets all its locks", when=uses_locks)
def forget_locks(s: LockState) -> None:
    """OR-1: the table is in memory only and not replicated, so a restart or failover loses it.

    ``RebalanceLockManager``; ``lockInStrictMode`` (5.x) would ask a quorum of replicas, and is off by default.
    """
    forget(s, lambda _: True)
