"""What can be relied on about orderly consumption, and what cannot (guarantee G4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ..model.consume_queue import Message
from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, implies, not_
from ..model.lock import holds_lock
from ..model.membership import Consumer
from ..model.orderly import batch_of, calls
from ..model.process_queue import listener_runs, working
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .delivery import AT_LEAST_ONCE, EXPLAINED, MARK, NOTHING_SKIPPED, OFFSET_SAFE, PROGRESS, every_message
from .offsets import COUNTED
from .property import Kind, Property


def _before(s: GroupState, q: IntLike, m: IntLike, holds: Callable[[IntLike], BoolLike]) -> BoolLike:
    return s.forall(Message, lambda o: implies(o < m, holds(o)))


def _staircase(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """If a listener is busy with ``m``, all unhandled messages before it belong to the same batch."""

    def handled_or_joined(o: IntLike) -> BoolLike:
        return s.handled[q, o] | batch_of(s, c, q, o)

    return implies(listener_runs(s, c, q, m), _before(s, q, m, handled_or_joined))


IN_ORDER = Property[GroupState](
    id="handled-in-order",
    statement="A message is handled for the first time only after all messages before it in its queue.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(
        s, lambda q, m: implies(s.handled[q, m], _before(s, q, m, lambda o: s.handled[q, o]))
    ),
    assuming=("orderly listener", "the group begins at the first message"),
    rules=("OR-4", "OR-7", "G4"),
)
STAIRCASE = Property[GroupState](
    id="delivered-in-steps",
    statement="No listener gets a message before all earlier ones are handled or are in the same batch.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Consumer, lambda c: every_message(s, lambda q, m: _staircase(s, c, q, m))),
    assuming=IN_ORDER.assuming,
    rules=("OR-4", "PQ-4", "PQ-7", "G4"),
)
ONE_ORDERLY_LISTENER = Property[GroupState](
    id="one-orderly-listener",
    statement="Two clients never run an orderly listener on one queue at a time.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Queue, lambda q: s.count(Consumer, lambda c: calls(s, c, q)) <= 1),
    assuming=(
        "listener calls end before the broker gives a lock away",
        "no forced unlock, no suspended client, no lost lock table, no graceful stop while a listener runs",
    ),
    rules=("OR-11", "RB-33", "G1", "G4"),
)
ONLY_FAILING = Property[GroupState](
    id="orderly-only-failing-given-up",
    statement="An orderly message that never fails is not sent to the retry topic.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(Queue, lambda q: s.forall(Message, lambda m: implies(m > 0, s.published[q, m] == 0))),
    assuming=("only the first message of a queue fails",),
    rules=("OR-6", "OR-8"),
)
NOT_TOO_EARLY = Property[GroupState](
    id="orderly-attempts-before-giving-up",
    statement="An orderly message is sent to the retry topic only after as many attempts as are configured.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.too_early),
    rules=("OR-8",),
)
DEAD_LETTER = Property[GroupState](
    id="orderly-dead-letter-at-maximum",
    statement="An orderly message that is given up becomes a dead letter, and is not tried again from the retry topic.",
    kind=Kind.ALWAYS,
    holds=lambda s: not_(s.goes_round),
    rules=("OR-8", "SB-15"),
)
GIVEN_UP_ONCE = Property[GroupState](
    id="orderly-given-up-once",
    statement="An orderly message is sent to the retry topic at most once.",
    kind=Kind.ALWAYS,
    holds=lambda s: every_message(s, lambda q, m: s.published[q, m] <= 1),
    assuming=("batches of one message", "one client, which lives on"),
    rules=("OR-8", "G5"),
)


def _kept(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether ``c`` runs and holds the lock of a queue that it does not use."""
    return all_of(working(s, c), holds_lock(s, c, q), not_(s.owns[c, q]))


GIVEN_UP_IS_FREE = Property[GroupState](
    id="given-up-queue-is-unlocked",
    statement="A queue that its client has given up is eventually unlocked, whatever is still in the cache.",
    kind=Kind.EVENTUALLY,
    after=lambda s: s.exists(Consumer, lambda c: s.exists(Queue, lambda q: _kept(s, c, q))),
    holds=lambda s: s.forall(Consumer, lambda c: s.forall(Queue, lambda q: not_(_kept(s, c, q)))),
    assuming=("listeners return", "no lock request is late"),
    rules=("RB-33", "RB-34", "G10"),
)

USED_OR_GIVEN_UP = Property[GroupState](
    id="queue-is-used-or-given-up",
    statement="A queue that an orderly client is giving up is taken again only after it has left the table.",
    kind=Kind.ALWAYS,
    holds=lambda s: s.forall(
        Consumer, lambda c: s.forall(Queue, lambda q: not_(all_of(s.owns[c, q], s.dropped[c, q])))
    ),
    rules=("RB-30", "RB-35"),
)

_COARSE: Constants = {"listener": "orderly", "client_window": 1, "broker_window": 2, "call": 1, "unlock_delay": 1}
"""Ticks of 30 s: a client believes in a lock for 1, the lock lasts for 2, and a call lasts 1 at most."""

_STILL: Constants = {"listener": "orderly", "clock": "stopped"}

STOPPED_CLOCK: Constants = {**_STILL, "messages": 3, "failures": 2, "moves": 2, "crashes": 1, "causes": 1}
LOCKED: Constants = {
    **_COARSE,
    "messages": 2,
    "failures": 1,
    "moves": 1,
    "crashes": 1,
    "causes": 1,
    "orphans": 1,
}
FORCED: Constants = {**LOCKED, "forced_unlock": 1}
WHOLE: Constants = {**FORCED, "leaves": 1, "reallocations": 1}
OLD: Constants = {**LOCKED, "version": "4.9.8"}
LATE: Constants = {**_COARSE, "messages": 2, "moves": 1, "causes": 1, "late_commits": 1, "late_locks": 1}
FINE: Constants = {**_STILL, "messages": 2, "failures": 1, "moves": 1, "crashes": 1, "pulls": "fine"}
BATCHES: Constants = {**_STILL, "messages": 3, "batch": 2, "failures": 2, "moves": 1, "causes": 1}
MANUAL: Constants = {**_STILL, "auto_commit": 0, "messages": 3, "failures": 2, "moves": 1, "crashes": 1, "causes": 1}
LIMITED: Constants = {
    **_STILL,
    "give_up": "attempts",
    "attempts": 2,
    "messages": 2,
    "failures": 4,
    "refusals": 1,
    "moves": 1,
}
MANUAL_LIMITED: Constants = {**_STILL, "auto_commit": 0, "give_up": "attempts", "messages": 2, "failures": 3}
BROADCAST: Constants = {"listener": "orderly", "mode": "broadcasting", "messages": 2, "failures": 1, "crashes": 1}
POISON: Constants = {**_STILL, "consumers": 1, "poison": 1}
GIVEN_UP: Constants = {**POISON, "give_up": "attempts"}
UNLOCKED: Constants = {**_STILL, "consumers": 1, "messages": 2, "moves": 1}
ZOMBIE: Constants = {**_STILL, "consumers": 1, "messages": 2, "moves": 1, "reallocations": 1}
GHOST: Constants = {**_COARSE, "renewals": "certain", "messages": 1, "moves": 1, "late_locks": 1}

_SAFE = (OFFSET_SAFE, AT_LEAST_ONCE, NOTHING_SKIPPED, IN_ORDER, STAIRCASE)
_SAFE_IN: tuple[Constants, ...] = (STOPPED_CLOCK, LOCKED, FORCED, WHOLE, OLD, LATE, FINE, BATCHES, MANUAL)

_TWO_AT_ONCE: tuple[tuple[Constants, str], ...] = (
    (
        FORCED,
        "A listener call that outlasts the forced unlock (20 s after the last renewal) meets the next owner's.",
    ),
    (
        {**_COARSE, "messages": 1, "orphans": 1, "lock_losses": 1},
        "A broker that restarts gives away a lock that is still in use.",
    ),
    ({**_COARSE, "messages": 1, "pauses": 1}, "A client that was suspended continues in the middle of its batch."),
    ({**_COARSE, "messages": 1, "call": 2}, "A listener call of 60 s outlasts a lock that was not renewed."),
    (
        {**_STILL, "messages": 1, "leaves": 1},
        "A stopping client unlocks its queues while its listeners run.",
    ),
    (OLD, "In 4.9.8 a late unlock takes the lock from a client that has the queue again."),
)


_claim = partial(claim_about, consumption)


def claims() -> Iterator[Claim]:
    """All claims about orderly consumption, naive ones last."""
    for constants in _SAFE_IN:
        for property in _SAFE:
            yield _claim(property, constants)
        if constants.get("pulls", "whole") == "whole":
            yield _claim(MARK, constants)
        if constants.get("causes"):
            yield _claim(EXPLAINED, constants)
    for constants in (STOPPED_CLOCK, LOCKED, LATE):
        yield _claim(ONE_ORDERLY_LISTENER, constants)
    for property in (OFFSET_SAFE, IN_ORDER, NOT_TOO_EARLY, DEAD_LETTER):
        yield _claim(property, LIMITED)
        yield _claim(property, {**LIMITED, "version": "4.9.8"})
    yield _claim(NOT_TOO_EARLY, MANUAL_LIMITED)
    for constants in (GIVEN_UP, {**GIVEN_UP, "auto_commit": 0}):
        for property in (GIVEN_UP_ONCE, ONLY_FAILING):
            yield _claim(property, constants)
    yield _claim(STAIRCASE, BROADCAST)
    yield _claim(COUNTED, {**_STILL, "consumers": 1, "failures": 2, "counters": 1, "threshold": 1})
    for version in ("5.3.3", "4.9.8"):
        yield _claim(GIVEN_UP_IS_FREE, {**UNLOCKED, "version": version})
    for constants in (
        {**_STILL, "moves": 1, "failures": 2},
        {**_COARSE, "renewals": "certain", "messages": 1, "crashes": 1, "leaves": 1},
        GIVEN_UP,
        {**GIVEN_UP, "auto_commit": 0},
        {**GIVEN_UP, "threshold": 1, "moves": 1},
        ZOMBIE,
        GHOST,
    ):
        yield _claim(PROGRESS, constants)
    yield from _naive()


def _naive() -> Iterator[Claim]:
    for constants, lesson in _TWO_AT_ONCE:
        yield _claim(ONE_ORDERLY_LISTENER, constants, lesson)
    rows: tuple[tuple[Property, Constants, str], ...] = (
        (
            IN_ORDER,
            {"messages": 2, "consumers": 1},
            "A concurrent listener keeps no order, not even in one client.",
        ),
        (
            PROGRESS,
            POISON,
            "By default an orderly message that always fails is tried for ever, and blocks its queue.",
        ),
        (
            PROGRESS,
            {**ZOMBIE, "idle_limit": 0},
            "A queue that comes back while it is being given up is consumed by nobody until its pull expires (120 s).",
        ),
        (
            GIVEN_UP_ONCE,
            {**_STILL, "consumers": 1, "give_up": "attempts", "batch": 2, "failures": 4},
            (
                "In a batch with different counts, a message that has reached its limit is sent to the retry "
                "topic again with every failure."
            ),
        ),
        (
            GIVEN_UP_ONCE,
            {**_COARSE, "give_up": "attempts", "messages": 1, "failures": 4, "crashes": 1},
            "The count is in memory only: after a crash the message gets all its attempts again.",
        ),
    )
    for property, constants, lesson in rows:
        yield _claim(property, constants, lesson)
