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
from .orderly_lock import KEPT_TABLE, NO_FORCE, OWNED_IS_RENEWED, ROUNDS_IN_TIME, everywhere
from .property import Kind, Property
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
FREE_IS_ASKED_FOR = Property[OrderlyLockState](
    id="free-queue-is-asked-for",
    statement="A queue that nobody has is asked for by a client that runs.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Queue, lambda q: s.forall(Consumer, lambda c: _untouched(s, c, q))),
    holds=lambda s: s.forall(Queue, lambda q: s.exists(Consumer, lambda c: not_(_untouched(s, c, q)))),
    rules=("OR-1", "RB-30"),
)
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
DEAD_LOCK_ENDS = Property[OrderlyLockState](
    id="lock-of-the-dead-ends",
    statement=(
        "The lock of a client that died eventually goes to another client, if one runs: refused renewals do not "
        "prolong it."
    ),
    kind=Kind.EVENTUALLY,
    after=lambda s: _dead_holds(s),
    holds=lambda s: any_of(not_(_dead_holds(s)), s.forall(Consumer, lambda c: s.life[c] != Life.UP)),
    rules=("OR-1", "OR-9"),
)
RENEWED_IN_A_BATCH = Property[OrderlyLockState](
    id="lock-renewed-in-a-batch",
    statement="A lock is renewed while a listener runs: the call need not end for that.",
    kind=Kind.SOMETIMES,
    holds=lambda s: _some(s, lambda c, q: all_of(s.runs[c, q], s.locked[c, q], s.lock_age[c, q] < s.batch_age[c, q])),
    rules=("OR-9",),
)
ALONE_KEEPS = Property[OrderlyLockState](
    id="lone-client-keeps-its-locks",
    statement="A client that is alone has the lock for as long as it has the queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q: implies(s.window[c, q] == Window.IN, s.locked[c, q])),
    assuming=(KEPT_TABLE, "no other client"),
    rules=("OR-1", "OR-9"),
)
RUNS_IN_TABLE = Property[OrderlyLockState](
    id="listeners-run-in-the-table",
    statement="A queue stays in the table of its client while a listener runs on it.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q: implies(s.runs[c, q], s.window[c, q] != Window.OUT)),
    assuming=(NO_FORCE,),
    rules=("RB-33", "RB-34"),
)


def _ended(s: OrderlyLockState) -> IntLike:
    return (s.leaves - s.leaves_left if s.leaves else 0) + (s.crashes - s.crashes_left if s.crashes else 0)


GONE_HAS_NOTHING = Property[OrderlyLockState](
    id="gone-client-has-nothing",
    statement="A client that is gone has no queue, believes in no lock, runs no listener and waits for no answer.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(
        s,
        lambda c, q: implies(
            s.life[c] == Life.GONE,
            all_of(
                s.window[c, q] == Window.OUT,
                not_(s.locked[c, q]),
                not_(s.runs[c, q]),
                s.request[c, q] == Request.NONE if s.renewals == "in-flight" else True,
            ),
        ),
    ),
    rules=("ST-8",),
)
ENDS_FOR_A_REASON = Property[OrderlyLockState](
    id="clients-end-by-stop-or-crash",
    statement="Clients end exactly when they stop or die: as many have ended as there were stops and crashes.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.count(Consumer, lambda c: s.life[c] != Life.UP) == _ended(s),
    rules=("ST-8",),
)
STOP_FREES_LOCKS = Property[OrderlyLockState](
    id="stop-frees-its-locks",
    statement="Once a client begins to stop in order, the broker holds no lock for it.",
    kind=Kind.ALWAYS,
    holds=lambda s: everywhere(s, lambda c, q: not_(all_of(s.life[c] != Life.UP, holds_lock(s, c, q)))),
    assuming=("no client dies", "its queues were not dropped a moment before"),
    rules=("ST-8", "OR-10"),
)
STOP_ENDS = Property[OrderlyLockState](
    id="stop-ends",
    statement="A client that begins to stop is eventually gone.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Consumer, lambda c: s.life[c] == Life.STOPPING),
    holds=lambda s: not_(s.exists(Consumer, lambda c: s.life[c] == Life.STOPPING)),
    rules=("ST-8",),
)

HANGING: Constants = {"consumers": 1, "batches": "endless"}
"""A listener that never returns, of the only client there is."""


def claims() -> Iterator[Claim]:
    """All claims about what happens around a lock."""
    asked: tuple[tuple[Property, Constants], ...] = (
        (REQUEST_ENDS, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (FREE_IS_ASKED_FOR, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (UNLOCK_COMES, {"consumers": 1, "version": "4.9.8"}),
        (DROPPED_IS_REMOVED, {"consumers": 1}),
        (DROPPED_IS_REMOVED, {"consumers": 1, "version": "4.9.8"}),
        (RESUMES, {"consumers": 1, "pauses": 1}),
        (FALSE_BELIEF_ENDS, {"renewals": "certain", "lock_losses": 1}),
        (RENEWED_IN_A_BATCH, {"consumers": 1}),
        (RENEWED_IN_A_BATCH, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (RENEWED_IN_A_BATCH, {"consumers": 1, "renewals": "certain"}),
        (ALONE_KEEPS, {"consumers": 1}),
        (ALONE_KEEPS, {"consumers": 1, "renewals": "in-flight", "answer": 1}),
        (ALONE_KEEPS, {"consumers": 1, "renewals": "certain"}),
        (RUNS_IN_TABLE, {"consumers": 1}),
        (RUNS_IN_TABLE, {"consumers": 1, "version": "4.9.8"}),
        (RUNS_IN_TABLE, {"consumers": 1, "drops": 0, "force": 1}),
        (ROUNDS_IN_TIME, {"consumers": 1, "renewals": "certain"}),
        (OWNED_IS_RENEWED, {"consumers": 1, "renewals": "certain"}),
        (GONE_HAS_NOTHING, {"crashes": 1}),
        (GONE_HAS_NOTHING, {"consumers": 1, "leaves": 1}),
        (GONE_HAS_NOTHING, {"consumers": 1, "renewals": "in-flight", "answer": 1, "crashes": 1}),
        (DEAD_LOCK_ENDS, {"renewals": "certain", "lock_losses": 1, "crashes": 1, "drops": 0}),
        (ENDS_FOR_A_REASON, {"consumers": 1, "crashes": 2}),
        (ENDS_FOR_A_REASON, {"consumers": 1, "leaves": 2}),
        (STOP_FREES_LOCKS, {"leaves": 1, "drops": 0}),
        (STOP_FREES_LOCKS, {"leaves": 1, "drops": 0, "renewals": "certain"}),
        (STOP_ENDS, {"leaves": 1, "drops": 0}),
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
