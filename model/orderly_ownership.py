"""Ownership of orderly queues: a queue comes with the broker's lock, and is given up only with its consume lock.

RB-30.3, RB-33 to RB-35, OR-9 to OR-11: ``RebalancePushImpl#tryRemoveOrderMessageQueue``. A dropped queue stays in the
table until no listener runs for it, or, since 5.2.0, until 20 s after its last renewal. Its offset is persisted before
the lock is given back; only a client that shuts down does it in the opposite order (ST-9). Locks and their ages are
explained in ``lock``. With ``clock=stopped`` no time passes, so that no lock ever expires.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import Message
from .flow_control import cached
from .kernel import (
    BoolLike,
    Constants,
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
from .lock import (
    grant,
    grant_batch,
    grow_older,
    holds_lock,
    obtainable,
    outlives_refusal,
    renew_lock,
    set_locked,
    unlock,
    unlock_batch,
    uses_locks,
)
from .membership import Consumer
from .orderly import Result, calls, ticking
from .process_queue import (
    WINDOW,
    Stage,
    drops_in_steps,
    in_table,
    listener_runs,
    lock_follows,
    may_pull,
    may_take,
    working,
)
from .queue_table import change_table
from .route import Chosen, Queue, nothing
from .shutdown import service_stops
from .start_position import start_offset

if TYPE_CHECKING:
    from .group import GroupState

orderly_ownership = Machine("orderly_ownership", doc="How orderly clients lock queues, and how they give them up.")


def _zombies(k: Constants) -> bool:
    return drops_in_steps(k) and bool(k.reallocations)


def unlocks_late(k: Constants) -> bool:
    """Whether unlocks may be postponed (RB-34)."""
    return drops_in_steps(k) and bool(k.version == "4.9.8")


def _recomputes(k: Constants) -> bool:
    """Whether the offset can have changed between taking a queue and the first pull."""
    return uses_locks(k) and bool(k.late_commits)


@orderly_ownership.state
class OrderlyOwnershipState(State):
    """Unlocking, and what else an orderly client does with its table."""

    forced_unlock = constant(0, high=1, doc="1 as in 5.2.0 and later: a dropped queue is unlocked by force (RB-33)")
    reallocations = constant(0, high=2, doc="how often a queue being given up may be allocated to its client again")
    late_locks = constant(0, high=2, doc="how many lock requests may reach the broker after the unlock (OR-10)")
    renewals = constant(
        "may-fail", choices=("may-fail", "certain"), doc="certain: no lock of an owned queue goes stale (OR-9)"
    )
    wanted = variable(
        bool, Consumer, Queue, when=_zombies, lives_in=WINDOW, doc="dropped, and allocated to its client again (RB-35)"
    )
    unlocking = variable(bool, Consumer, Queue, when=unlocks_late, doc="unlock put off by 20 s (RB-34)")
    recomputed = variable(
        bool, Consumer, Queue, when=_recomputes, lives_in=WINDOW, doc="the first locked pull was made (PL-11)"
    )


@orderly_ownership.refine(may_take)
def lock_granted(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """RB-30.3: the lock first; if it is refused, the queue is left for another pass, in 500 ms."""
    return obtainable(s, c, q) if uses_locks(s.constants) else True


@orderly_ownership.refine(may_pull)
def locked_pull(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """PL-10, PL-11: a pull needs the flag, and before the first pull the start offset is queried again."""
    if not uses_locks(s.constants):
        return True
    return all_of(s.locked[c, q], s.recomputed[c, q] if _recomputes(s.constants) else True)


@orderly_ownership.refine(lock_follows)
def window_state(s: GroupState, c: IntLike, lost: Chosen, won: Chosen) -> None:
    """RB-30.3: a new window begins locked; everything that belonged to an old window is gone."""
    k = s.constants
    if not uses_locks(k):
        return
    set_locked(s, c, lambda q: any_of(won(q), lost(q)), won)
    if won is not nothing:
        grant_batch(s, c, won)
    if ticking(k) and not s.orphans:
        s.call_age[c] = lambda q: ite(lost(q), 0, s.call_age[c, q])


@orderly_ownership.refine(service_stops)
def unlock_all(s: GroupState, c: IntLike) -> None:
    """ST-8 (1), ST-9: all queues not dropped are unlocked, before their offsets are persisted; listeners continue to
    run.

    ``ConsumeMessageOrderlyService#shutdown``, ``RebalanceImpl#unlockAll``.
    """
    if not uses_locks(s.constants):
        return
    unlock_batch(s, c, lambda q: s.owns[c, q])
    set_locked(s, c, lambda q: s.owns[c, q], lambda _: False)


@orderly_ownership.action(fair=True, tells="{c} asks again where to start in {q}", when=_recomputes)
def recompute_offset(s: GroupState, c: Consumer, q: Queue) -> None:
    """PL-11: the old owner's last commit may have arrived since the queue was taken, so the offset is queried again."""
    s.require(working(s, c), s.owns[c, q], s.locked[c, q], not_(s.recomputed[c, q]))
    s.recomputed[c, q] = True
    s.next_offset[c, q] = start_offset(s, c, q)
    s.memory[c, q] = start_offset(s, c, q)


# --- locks and time -------------------------------------------------------------------------------------------------


@orderly_ownership.action(fair=True, tells="a tick passes", when=ticking)
def tick(s: GroupState) -> None:
    """Everything grows older, unless a client that acts has to do something first.

    A listener call has a time limit, its result is acted on at once, and a round of certain renewal is not late.
    """

    def in_time(c: IntLike, q: IntLike) -> BoolLike:
        acts = not_(s.paused[c]) if s.pauses else True
        prompt = all_of(s.result[c, q] == Result.NONE, implies(calls(s, c, q), s.call_age[c, q] < s.call))
        renewed: BoolLike = True
        if s.renewals == "certain":
            renewed = implies(all_of(s.owns[c, q], s.locked[c, q]), s.lock_age[c, q] < s.client_window)
        return implies(acts, all_of(prompt, renewed))

    s.require(s.forall(Consumer, lambda c: s.forall(Queue, lambda q: in_time(c, q))))
    grow_older(s)
    s.call_age = lambda c, q: ite(calls(s, c, q), minimum(s.call_age[c, q] + 1, s.call), 0)


@orderly_ownership.action(fair=True, tells="{c} renews its lock of {q}", when=uses_locks)
def renew(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-5, OR-9: every 20 s, or because a batch wants to begin; 4.9.8 also renews the locks of dropped queues."""
    mine = in_table(s, c, q) if s.version == "4.9.8" else s.owns[c, q]
    s.require(working(s, c), mine)
    renew_lock(s, c, q)


@orderly_ownership.action(
    budget="late_locks", tells="a late lock request of {c} for {q} reaches the broker", when=uses_locks
)
def lock_late(s: GroupState, c: Consumer, q: Queue) -> None:
    """OR-10: sent before the queue was given up, but served after the unlock: the lock is held for 60 s without being
    used.
    """
    s.require(working(s, c), not_(in_table(s, c, q)), obtainable(s, c, q), not_(holds_lock(s, c, q)))
    grant(s, c, q)


# --- giving a queue up ----------------------------------------------------------------------------------------------


def _given_up(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    again = s.wanted[c, q] if _zombies(s.constants) else False
    return all_of(working(s, c), s.dropped[c, q], not_(again))


@orderly_ownership.definition
def may_unlock(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """RB-33: giving up a queue requires the consume lock, which the listener holds while it runs."""
    return not_(s.exists(Message, lambda m: listener_runs(s, c, q, m)))


def _tree_empty(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    return s.forall(Message, lambda m: s.stage[c, q, m] != Stage.WAITING)


@orderly_ownership.action(fair=True, tells="{c} unlocks and removes {q}", when=drops_in_steps)
def remove(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-33, RB-34: the offset is persisted, then the broker is asked to unlock; in 4.9.8 only if nothing is cached."""
    s.require(_given_up(s, c, q), may_unlock(s, c, q))
    if unlocks_late(s.constants):
        s.require(_tree_empty(s, c, q))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)
    unlock(s, c, q)


def _forces(k: Constants) -> bool:
    return drops_in_steps(k) and ticking(k) and bool(k.forced_unlock)


@orderly_ownership.refine(outlives_refusal)
def window_lives(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """RB-33: the forced unlock counts from the last renewal, of which there may have been none since a refusal."""
    return all_of(working(s, c), in_table(s, c, q)) if _forces(s.constants) else False


@orderly_ownership.action(fair=True, tells="{c} unlocks {q} by force", when=_forces)
def remove_by_force(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-33: 20 s after the last renewal the queue is given up, even if a listener runs."""
    s.require(_given_up(s, c, q), s.lock_age[c, q] > s.unlock_delay, not_(may_unlock(s, c, q)))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)
    unlock(s, c, q)


@orderly_ownership.action(fair=True, tells="{c} removes {q} and will unlock it later", when=unlocks_late)
def remove_and_unlock_later(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-34: with messages in the cache the unlock waits for 20 s."""
    s.require(_given_up(s, c, q), may_unlock(s, c, q), not_(_tree_empty(s, c, q)))
    change_table(s, c, lost=lambda p: same(p, q), won=nothing)
    s.unlocking[c, q] = True


@orderly_ownership.action(fair=True, tells="{c} unlocks {q}, late", when=unlocks_late)
def unlock_later(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-34: the unlock happens even if the queue has been taken again meanwhile."""
    s.require(working(s, c), s.unlocking[c, q])
    s.unlocking[c, q] = False
    unlock(s, c, q)


@orderly_ownership.action(budget="reallocations", tells="{q} is allocated to {c} again", when=drops_in_steps)
def allocate_again(s: GroupState, c: Consumer, q: Queue) -> None:
    """RB-35: the dropped queue is still in the table, so it is neither added nor removed."""
    s.require(_given_up(s, c, q), not_(may_unlock(s, c, q)))
    s.wanted[c, q] = True


@orderly_ownership.action(
    fair=True, tells="the pull of {q} expires in {c}", when=lambda k: _zombies(k) and k.idle_limit
)
def pull_expires(s: GroupState, c: Consumer, q: Queue) -> None:
    """PQ-11, RB-30.1: after 120 s without a pull, the queue is given up once more, and can be added afterwards."""
    s.require(working(s, c), s.wanted[c, q])
    s.wanted[c, q] = False


# --- mutants --------------------------------------------------------------------------------------------------------


@orderly_ownership.mutant(
    "E1",
    "orderly-suspend-outlives-idle-limit",
    killed_by="every-message-is-handled",
    tells="{c} drops {q}, which is suspended and full",
    constants={
        "listener": "orderly",
        "clock": "stopped",
        "consumers": 1,
        "messages": 2,
        "poison": 1,
        "give_up": "attempts",
        "threshold": 1,
        "moves": 1,
    },
)
def drop_full_queue(s: GroupState, c: Consumer, q: Queue) -> None:
    """Flow control does not refresh the time of the last pull, so a full queue is dropped and added again and again.

    Every new window begins its counts at 0, and no message ever reaches its limit. Source: alibaba/RocketMQ #459.
    """
    s.require(working(s, c), s.owns[c, q], s.result[c, q] == Result.NONE, may_unlock(s, c, q))
    s.require(cached(s, c, q) > s.threshold, s.exists(Message, lambda m: s.suspended[c, q, m] > 0))
    s.owns[c, q] = False
    s.dropped[c, q] = True


@orderly_ownership.mutant(
    "E3-orderly",
    "revoke-while-listener-runs",
    of=may_unlock,
    killed_by="one-orderly-listener",
    constants={"listener": "orderly", "clock": "stopped", "messages": 1, "moves": 1, "orphans": 1},
)
def unlock_without_consume_lock(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """The queue is unlocked while a listener call runs. Source: commit 45dae1fa82 (2014)."""
    return True
