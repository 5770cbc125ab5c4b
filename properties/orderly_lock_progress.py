"""What happens later to lock requests, late unlocks, dropped queues, pauses and false beliefs.

Two owners are excluded whether or not any of this happens, so a mutant could break it unnoticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_
from ..model.lock import fresh, holds_lock
from ..model.membership import Consumer, Life
from ..model.orderly_lock import OrderlyLockState, Request, Window, orderly_lock
from ..model.route import Queue
from .claim import Claim, Constants
from .orderly_lock import KEPT_TABLE, NO_FORCE, owned_is_renewed, rounds_in_time
from .property import Kind, Property, always, eventually, sometimes
from .verdict import Verdict


def _some(s: OrderlyLockState, holds: Callable[[Any, Any], BoolLike]) -> BoolLike:
    return s.exists(Queue, lambda q: s.exists(Consumer, lambda c: holds(c, q)))


def _untouched(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    return all_of(s.window[c, q] == Window.OUT, s.request[c, q] == Request.NONE)


def _sooner_or_later(
    name: str, statement: str, ends: Callable[[OrderlyLockState, Any, Any], BoolLike], *rules: str
) -> Property:
    """Something about a client and a queue that stays true only for a while."""
    return Property[OrderlyLockState](
        id=name,
        statement=statement,
        kind=Kind.EVENTUALLY,
        after=lambda s: _some(s, lambda c, q: ends(s, c, q)),
        holds=lambda s: not_(_some(s, lambda c, q: ends(s, c, q))),
        rules=rules,
    )


def _dead_holds(s: OrderlyLockState) -> BoolLike:
    return _some(s, lambda c, q: all_of(s.life[c] == Life.GONE, holds_lock(s, c, q)))


REQUEST_ENDS = _sooner_or_later(
    "lock-request-ends",
    "A lock request is eventually answered or given up.",
    lambda s, c, q: s.request[c, q] != Request.NONE,
    "OR-1",
    "OR-9",
)


@eventually(
    "free-queue-is-asked-for",
    "OR-1",
    "RB-30",
    after=lambda s: s.exists(Queue, lambda q: s.forall(Consumer, lambda c: _untouched(s, c, q))),
)
def free_is_asked_for(s: OrderlyLockState) -> BoolLike:
    """A queue that nobody has is asked for by a client that runs."""
    return s.forall(Queue, lambda q: s.exists(Consumer, lambda c: not_(_untouched(s, c, q))))


UNLOCK_COMES = _sooner_or_later(
    "late-unlock-comes", "An unlock that 4.9.8 puts off is sent.", lambda s, c, q: s.unlocking[c, q], "RB-34"
)
DROPPED_IS_REMOVED = _sooner_or_later(
    "dropped-queue-is-removed",
    "A dropped queue leaves the table of a client that runs.",
    lambda s, c, q: s.window[c, q] == Window.DROPPED,
    "RB-30",
    "RB-33",
)
RESUMES = _sooner_or_later(
    "paused-client-goes-on", "A suspended client eventually continues.", lambda s, c, q: s.paused[c], "OR-11"
)
FALSE_BELIEF_ENDS = _sooner_or_later(
    "false-belief-ends",
    "A client that believes in a lock that another client holds learns the truth with its next renewal.",
    lambda s, c, q: all_of(fresh(s, c, q), not_(holds_lock(s, c, q)), s.holder[q] != 0),
    "OR-9",
    "U10",
)


@eventually("lock-of-the-dead-ends", "OR-1", "OR-9", after=lambda s: _dead_holds(s))
def dead_lock_ends(s: OrderlyLockState) -> BoolLike:
    """The lock of a client that died eventually goes to another client, if one runs: refused renewals do not prolong
    it.
    """
    return any_of(not_(_dead_holds(s)), s.forall(Consumer, lambda c: s.life[c] != Life.UP))


@sometimes("lock-renewed-in-a-batch", "OR-9")
def renewed_in_a_batch(s: OrderlyLockState) -> BoolLike:
    """A lock is renewed while a listener runs: the call need not end for that."""
    return _some(s, lambda c, q: all_of(s.runs[c, q], s.locked[c, q], s.lock_age[c, q] < s.batch_age[c, q]))


@always("lone-client-keeps-its-locks", "OR-1", "OR-9", assuming=(KEPT_TABLE, "no other client"))
def alone_keeps(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """A client that is alone has the lock for as long as it has the queue."""
    return implies(s.window[c, q] == Window.IN, s.locked[c, q])


@always("listeners-run-in-the-table", "RB-33", "RB-34", assuming=(NO_FORCE,))
def runs_in_table(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """A queue stays in the table of its client while a listener runs on it."""
    return implies(s.runs[c, q], s.window[c, q] != Window.OUT)


def _ended(s: OrderlyLockState) -> IntLike:
    return (s.leaves - s.leaves_left if s.leaves else 0) + (s.crashes - s.crashes_left if s.crashes else 0)


@always("gone-client-has-nothing", "ST-8")
def gone_has_nothing(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """A client that is gone has no queue, believes in no lock, runs no listener and waits for no answer."""
    return implies(
        s.life[c] == Life.GONE,
        all_of(
            s.window[c, q] == Window.OUT,
            not_(s.locked[c, q]),
            not_(s.runs[c, q]),
            s.request[c, q] == Request.NONE if s.renewals == "in-flight" else True,
        ),
    )


@always("clients-end-by-stop-or-crash", "ST-8")
def ends_for_a_reason(s: OrderlyLockState) -> BoolLike:
    """Clients end exactly when they stop or die: as many have ended as there were stops and crashes."""
    return s.count(Consumer, lambda c: s.life[c] != Life.UP) == _ended(s)


@always(
    "stop-frees-its-locks", "ST-8", "OR-10", assuming=("no client dies", "its queues were not dropped a moment before")
)
def stop_frees_locks(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """Once a client begins to stop in order, the broker holds no lock for it."""
    return not_(all_of(s.life[c] != Life.UP, holds_lock(s, c, q)))


@eventually("stop-ends", "ST-8", after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.STOPPING))
def stop_ends(s: OrderlyLockState) -> BoolLike:
    """A client that begins to stop is eventually gone."""
    return not_(s.exists(Consumer, lambda c: s.life[c] == Life.STOPPING))


HANGING: Constants = {"consumers": 1, "batches": "endless"}
"""A listener that never returns, of the only client there is."""


def claims() -> Iterator[Claim]:
    """All claims about what happens around a lock."""
    asked: tuple[tuple[Property, Constants], ...] = (
        (REQUEST_ENDS, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (free_is_asked_for, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (UNLOCK_COMES, {"consumers": 1, "version": "4.9.8"}),
        (DROPPED_IS_REMOVED, {"consumers": 1}),
        (DROPPED_IS_REMOVED, {"consumers": 1, "version": "4.9.8"}),
        (RESUMES, {"consumers": 1, "pauses": 1}),
        (FALSE_BELIEF_ENDS, {"renewals": "certain", "lock_losses": 1}),
        (renewed_in_a_batch, {"consumers": 1}),
        (renewed_in_a_batch, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (renewed_in_a_batch, {"consumers": 1, "renewals": "certain"}),
        (alone_keeps, {"consumers": 1}),
        (alone_keeps, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (alone_keeps, {"consumers": 1, "renewals": "certain"}),
        (runs_in_table, {"consumers": 1}),
        (runs_in_table, {"consumers": 1, "version": "4.9.8"}),
        (runs_in_table, {"consumers": 1, "drops": 0, "force": 1}),
        (rounds_in_time, {"consumers": 1, "renewals": "certain"}),
        (owned_is_renewed, {"consumers": 1, "renewals": "certain"}),
        (gone_has_nothing, {"crashes": 1}),
        (gone_has_nothing, {"consumers": 1, "leaves": 1}),
        (gone_has_nothing, {"consumers": 1, "renewals": "in-flight", "answer": 1, "crashes": 1}),
        (dead_lock_ends, {"renewals": "certain", "lock_losses": 1, "crashes": 1, "drops": 0}),
        (ends_for_a_reason, {"consumers": 1, "crashes": 2}),
        (ends_for_a_reason, {"consumers": 1, "leaves": 2}),
        (stop_frees_locks, {"leaves": 1, "drops": 0}),
        (stop_frees_locks, {"leaves": 1, "drops": 0, "renewals": "certain"}),
        (stop_ends, {"leaves": 1, "drops": 0}),
        (DROPPED_IS_REMOVED, {**HANGING, "force": 1}),
    )
    for property, constants in asked:
        yield Claim(property=property, machine=orderly_lock, constants=constants)
    yield Claim(
        property=DROPPED_IS_REMOVED,
        machine=orderly_lock,
        constants=HANGING,
        expected=Verdict.VIOLATED,
        lesson=(
            "Without the forced unlock of 5.2.0, a listener that hangs keeps its queue away from everybody for ever."
        ),
    )
