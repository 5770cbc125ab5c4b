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
from .delivery import at_least_once, explained, mark, nothing_skipped, offset_safe, progress
from .offsets import counted
from .property import Property, always, eventually


def _before(s: GroupState, q: IntLike, m: IntLike, holds: Callable[[IntLike], BoolLike]) -> BoolLike:
    return s.forall(Message, lambda o: implies(o < m, holds(o)))


@always(
    "handled-in-order", "OR-4", "OR-7", "G4", assuming=("orderly listener", "the group begins at the first message")
)
def in_order(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """A message is handled for the first time only after all messages before it in its queue."""
    return implies(s.handled[q, m], _before(s, q, m, lambda o: s.handled[q, o]))


@always("delivered-in-steps", "OR-4", "PQ-4", "PQ-7", "G4", assuming=in_order.assuming)
def staircase(s: GroupState, c: Consumer, q: Queue, m: Message) -> BoolLike:
    """No listener gets a message before all earlier ones are handled or are in the same batch."""

    def handled_or_joined(o: IntLike) -> BoolLike:
        return s.handled[q, o] | batch_of(s, c, q, o)

    return implies(listener_runs(s, c, q, m), _before(s, q, m, handled_or_joined))


@always(
    "one-orderly-listener",
    "OR-11",
    "RB-33",
    "G1",
    "G4",
    assuming=(
        "listener calls end before the broker gives a lock away",
        "no forced unlock, no suspended client, no lost lock table, no graceful stop while a listener runs",
    ),
)
def one_orderly_listener(s: GroupState, q: Queue) -> BoolLike:
    """Two clients never run an orderly listener on one queue at a time."""
    return s.count(Consumer, lambda c: calls(s, c, q)) <= 1


@always("orderly-only-failing-given-up", "OR-6", "OR-8", assuming=("only the first message of a queue fails",))
def only_failing(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """An orderly message that never fails is not sent to the retry topic."""
    return implies(m > 0, s.published[q, m] == 0)


@always("orderly-attempts-before-giving-up", "OR-8")
def not_too_early(s: GroupState) -> BoolLike:
    """An orderly message is sent to the retry topic only after as many attempts as are configured."""
    return not_(s.too_early)


@always("orderly-dead-letter-at-maximum", "OR-8", "SB-15")
def dead_letter(s: GroupState) -> BoolLike:
    """An orderly message that is given up becomes a dead letter, and is not tried again from the retry topic."""
    return not_(s.goes_round)


@always("orderly-given-up-once", "OR-8", "G5", assuming=("batches of one message", "one client, which lives on"))
def given_up_once(s: GroupState, q: Queue, m: Message) -> BoolLike:
    """An orderly message is sent to the retry topic at most once."""
    return s.published[q, m] <= 1


def _kept(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether ``c`` runs and holds the lock of a queue that it does not use."""
    return all_of(working(s, c), holds_lock(s, c, q), not_(s.owns[c, q]))


@eventually(
    "given-up-queue-is-unlocked",
    "RB-33",
    "RB-34",
    "G10",
    after=lambda s: s.exists(Consumer, lambda c: s.exists(Queue, lambda q: _kept(s, c, q))),
    assuming=("listeners return", "no lock request is late"),
)
def given_up_is_free(s: GroupState) -> BoolLike:
    """A queue that its client has given up is eventually unlocked, whatever is still in the cache."""
    return s.forall(Consumer, lambda c: s.forall(Queue, lambda q: not_(_kept(s, c, q))))


@always("queue-is-used-or-given-up", "RB-30", "RB-35")
def used_or_given_up(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A queue that an orderly client is giving up is taken again only after it has left the table."""
    return not_(all_of(s.owns[c, q], s.dropped[c, q]))


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

_SAFE = (offset_safe, at_least_once, nothing_skipped, in_order, staircase)
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
            yield _claim(mark, constants)
        if constants.get("causes"):
            yield _claim(explained, constants)
    for constants in (STOPPED_CLOCK, LOCKED, LATE):
        yield _claim(one_orderly_listener, constants)
    for property in (offset_safe, in_order, not_too_early, dead_letter):
        yield _claim(property, LIMITED)
        yield _claim(property, {**LIMITED, "version": "4.9.8"})
    yield _claim(not_too_early, MANUAL_LIMITED)
    for constants in (GIVEN_UP, {**GIVEN_UP, "auto_commit": 0}):
        for property in (given_up_once, only_failing):
            yield _claim(property, constants)
    yield _claim(staircase, BROADCAST)
    yield _claim(counted, {**_STILL, "consumers": 1, "failures": 2, "counters": 1, "threshold": 1})
    for version in ("5.3.3", "4.9.8"):
        yield _claim(given_up_is_free, {**UNLOCKED, "version": version})
    for constants in (
        {**_STILL, "moves": 1, "failures": 2},
        {**_COARSE, "renewals": "certain", "messages": 1, "crashes": 1, "leaves": 1},
        GIVEN_UP,
        {**GIVEN_UP, "auto_commit": 0},
        {**GIVEN_UP, "threshold": 1, "moves": 1},
        ZOMBIE,
        GHOST,
    ):
        yield _claim(progress, constants)
    yield from _naive()


def _naive() -> Iterator[Claim]:
    for constants, lesson in _TWO_AT_ONCE:
        yield _claim(one_orderly_listener, constants, lesson)
    rows: tuple[tuple[Property, Constants, str], ...] = (
        (
            in_order,
            {"messages": 2, "consumers": 1},
            "A concurrent listener keeps no order, not even in one client.",
        ),
        (
            progress,
            POISON,
            "By default an orderly message that always fails is tried for ever, and blocks its queue.",
        ),
        (
            progress,
            {**ZOMBIE, "idle_limit": 0},
            "A queue that comes back while it is being given up is consumed by nobody until its pull expires (120 s).",
        ),
        (
            given_up_once,
            {**_STILL, "consumers": 1, "give_up": "attempts", "batch": 2, "failures": 4},
            (
                "In a batch with different counts, a message that has reached its limit is sent to the retry "
                "topic again with every failure."
            ),
        ),
        (
            given_up_once,
            {**_COARSE, "give_up": "attempts", "messages": 1, "failures": 4, "crashes": 1},
            "The count is in memory only: after a crash the message gets all its attempts again.",
        ),
    )
    for property, constants, lesson in rows:
        yield _claim(property, constants, lesson)
