"""What the lock of a queue guarantees: when it excludes a second listener, and what breaks it (guarantees G1, U10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..model.kernel import UNBOUNDED, BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.lock import fresh, holds_lock
from ..model.membership import Consumer, Life
from ..model.orderly_lock import OrderlyLockState, Request, Window, is_up, orderly_lock
from ..model.route import Queue
from .claim import Claim, Constants, claim_about
from .property import always, eventually, sometimes

SHORT_BATCHES = "no listener call lasts longer than the broker's window minus the client's (30 s) minus an answer (1 s)"
SURE_RENEWAL = "every round of renewal succeeds"
NO_DROP = "no queue is taken from a client while its listener runs"
NO_FORCE = "a dropped queue is not unlocked by force before its listener returns"
STEADY = "no client is suspended, and no clock is set back"
KEPT_TABLE = "the broker keeps its lock table"
AWAITED = "a stopping client waits for its listeners"
AT_ONCE = "an unlock is sent when the queue is given up (not 20 s later, as in 4.9.8)"


def everywhere(s: OrderlyLockState, holds: Callable[[Any, Any], BoolLike]) -> BoolLike:
    """Something holds of every client and queue."""
    return s.forall(Queue, lambda q: s.forall(Consumer, lambda c: holds(c, q)))


def _alone(s: OrderlyLockState, condition: BoolLike) -> BoolLike:
    """Under ``condition`` no two listeners run on a queue; stated without counting, so that it can be proven for any
    number.
    """

    def alone(c: IntLike, q: IntLike) -> BoolLike:
        return s.forall(Consumer, lambda d: implies(all_of(condition, s.runs[c, q], s.runs[d, q]), same(c, d)))

    return everywhere(s, alone)


def windows_fit(s: OrderlyLockState) -> BoolLike:
    """The condition on the windows: a client that stops believing in time, and ends what it has begun, is never
    overtaken.
    """
    return s.client_window + s.answer + s.batch <= s.broker_window


def force_waits(s: OrderlyLockState) -> BoolLike:
    """The condition on the forced unlock: it comes only after every batch begun under the lock has ended."""
    return s.unlock_delay >= s.client_window + s.batch if s.force else True


def _fit(s: OrderlyLockState) -> BoolLike:
    return all_of(windows_fit(s), force_waits(s))


def _is_waited_for(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """The client that holds the lock in the table has the queue, or is about to take it."""
    has = s.window[c, q] != Window.OUT
    taking = s.request[c, q] == Request.TAKING if s.renewals == "in-flight" else False
    return implies(all_of(holds_lock(s, c, q), is_up(s, c)), any_of(has, taking))


def _ages_agree(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """How the ages on the two sides of a lock are related: the broker's is older by at most the delay of an answer.

    A batch began under a lock that its client believed in; a client whose lock has expired neither believes in it nor
    runs a listener.
    """
    held = holds_lock(s, c, q)
    believed = all_of(held, s.holder_age[q] <= s.lock_age[c, q] + s.answer)
    begun = all_of(held, s.holder_age[q] <= s.client_window + s.answer + s.batch_age[c, q])
    parts = [
        implies(fresh(s, c, q), believed),
        implies(s.runs[c, q], begun),
        s.batch_age[c, q] <= s.batch,
    ]
    if s.renewals == "in-flight":
        young = all_of(held, s.holder_age[q] <= s.request_age[c, q])
        relevant = any_of(
            s.request[c, q] == Request.TAKING,
            all_of(s.request[c, q] == Request.GRANTED, s.window[c, q] != Window.OUT),
        )
        parts += [
            implies(relevant, young),
            implies(s.request[c, q] == Request.TAKING, s.window[c, q] == Window.OUT),
            s.request_age[c, q] <= s.answer,
        ]
    return all_of(parts)


def _force_comes_late(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """A dropped queue is unlocked by force only if its lock is so old that no batch begun under it can still run."""
    begun = all_of(s.locked[c, q], s.lock_age[c, q] <= s.client_window + s.batch_age[c, q])
    return all_of(implies(s.runs[c, q], begun), not_(s.outlived[c, q]))


def _owned(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    return all_of(is_up(s, c), s.window[c, q] == Window.IN)


@always(
    "one-listener-a-queue",
    "OR-1",
    "OR-6",
    "OR-11",
    "G1",
    "G4",
    assuming=(SHORT_BATCHES, NO_FORCE, STEADY, KEPT_TABLE, AWAITED, AT_ONCE),
)
def exclusive(s: OrderlyLockState) -> BoolLike:
    """Two clients never run a listener on one queue at a time."""
    return s.forall(Queue, lambda q: s.count(Consumer, lambda c: s.runs[c, q]) <= 1)


@always(
    "one-listener-a-queue-for-all-windows",
    "OR-1",
    "OR-6",
    "OR-11",
    "G1",
    assuming=(SHORT_BATCHES, NO_FORCE, STEADY, KEPT_TABLE, AWAITED, AT_ONCE),
)
def exclusive_for_all_windows(s: OrderlyLockState) -> BoolLike:
    """Two clients never run a listener on one queue, for any lock times that fit together."""
    return _alone(s, _fit(s))


@always("lock-ages-agree", *exclusive_for_all_windows.rules, assuming=exclusive_for_all_windows.assuming)
def ages_agree(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """For the broker, a lock is older than for its client, or for a batch begun under it, by at most the time of an
    answer.
    """
    return implies(_fit(s), _ages_agree(s, c, q))


@always("force-comes-late", "OR-1", "RB-33", assuming=exclusive_for_all_windows.assuming)
def force_comes_late(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """A call runs under a lock of its client, and none outlives the window that it belongs to."""
    return implies(_fit(s), _force_comes_late(s, c, q))


@always(
    "one-listener-a-queue-while-renewed",
    "OR-9",
    "OR-11",
    "G1",
    assuming=(SURE_RENEWAL, NO_DROP, STEADY, KEPT_TABLE, AWAITED),
)
def exclusive_while_renewed(s: OrderlyLockState) -> BoolLike:
    """As long as locks are renewed, a listener call may last any length of time without a second one running."""
    return _alone(s, s.renewal <= s.broker_window)


@always("rounds-in-time", "OR-9")
def rounds_in_time(s: OrderlyLockState, c: Consumer) -> BoolLike:
    """If every renewal succeeds, no more time than the period passes between two rounds of a client."""
    return s.round[c] <= s.renewal


@always("owned-lock-is-renewed", "OR-9", assuming=exclusive_while_renewed.assuming)
def owned_is_renewed(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """If every renewal succeeds, the lock of an owned queue is never older than the last round."""
    young = all_of(holds_lock(s, c, q), s.holder_age[q] <= s.round[c])
    return implies(all_of(s.renewal <= s.broker_window, _owned(s, c, q)), young)


@always("listeners-run-on-owned-queues", "OR-6", assuming=(NO_DROP, AWAITED))
def runs_on_owned(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """A listener runs only on a queue that its client has."""
    return implies(s.runs[c, q], _owned(s, c, q))


@always("believed-lock-is-held", "OR-1", "OR-9", "PQ-10", "U10", assuming=(STEADY, KEPT_TABLE, AT_ONCE))
def believed_is_held(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """A client that believes in its lock has it: the broker's table names no other."""
    return implies(fresh(s, c, q), holds_lock(s, c, q))


@always(
    "released-queue-is-free", "RB-33", "OR-10", assuming=("no lock request is on its way when the queue is given up",)
)
def released_is_free(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """The lock of a queue that a running client has given up is free for the next owner."""
    return _is_waited_for(s, c, q)


@always(
    "owner-is-ready",
    "OR-9",
    "PQ-10",
    assuming=(SURE_RENEWAL, "locks are renewed more often than they go stale", NO_DROP, KEPT_TABLE),
)
def ready(s: OrderlyLockState, q: Queue, c: Consumer) -> BoolLike:
    """The owner of a queue always believes in its lock, so it may consume."""
    return implies(_owned(s, c, q), fresh(s, c, q))


def _blocked(s: OrderlyLockState) -> BoolLike:
    """Some queue is locked for a client that does not have it, while another client runs that could take it."""

    def useless(c: IntLike, q: IntLike) -> BoolLike:
        return all_of(holds_lock(s, c, q), any_of(not_(is_up(s, c)), s.window[c, q] == Window.OUT))

    return s.exists(Queue, lambda q: s.exists(Consumer, lambda c: useless(c, q)))


def _served(s: OrderlyLockState, q: IntLike) -> BoolLike:
    ready = s.exists(Consumer, lambda c: all_of(_owned(s, c, q), fresh(s, c, q)))
    return any_of(ready, s.forall(Consumer, lambda c: not_(_owned(s, c, q))))


def _nobody_left(s: OrderlyLockState) -> BoolLike:
    return s.forall(Consumer, lambda c: s.life[c] != Life.UP) if s.leaves + s.crashes else False


@eventually(
    "lock-taken-over",
    "OR-1",
    "RB-30",
    "G10",
    after=_blocked,
    assuming=("weak fairness of clocks, rebalance and renewal",),
)
def takeover(s: OrderlyLockState) -> BoolLike:
    """A lock whose holder does not have the queue eventually ends up with a client that has it."""
    return any_of(not_(_blocked(s)), _nobody_left(s))


@eventually(
    "owner-ready-again",
    "OR-5",
    "OR-9",
    "G10",
    after=lambda s: not_(s.forall(Queue, lambda q: _served(s, q))),
    assuming=("weak fairness of clocks, rebalance and renewal",),
)
def ready_again(s: OrderlyLockState) -> BoolLike:
    """If clients have a queue, one of them eventually believes in its lock, or nobody has the queue any more."""
    return s.forall(Queue, lambda q: _served(s, q))


@sometimes("ghost-lock", "OR-10")
def ghost(s: OrderlyLockState) -> BoolLike:
    """A lock request that is late locks a queue for a client that has just given it up."""
    return not_(everywhere(s, lambda c, q: _is_waited_for(s, c, q)))


SMALL: Constants = {}
"""Two clients, one queue, renewals that may fail: 5.3.3 without its forced unlock."""

THREE: Constants = {"consumers": 3, "crashes": 1, "leaves": 1}
TWO_QUEUES: Constants = {"queues": 2, "crashes": 1}
LATE_ANSWERS: Constants = {"renewals": "in-flight", "answer": 1, "batch": 2, "crashes": 1}
RENEWED: Constants = {"renewals": "certain", "batches": "long", "drops": 0, "crashes": 1, "leaves": 1}
WAITING_FORCE: Constants = {"force": 1, "unlock_delay": 6}
ANY_WINDOWS: Constants = {
    "consumers": UNBOUNDED,
    "queues": UNBOUNDED,
    "client_window": UNBOUNDED,
    "broker_window": UNBOUNDED,
    "unlock_delay": UNBOUNDED,
    "batch": UNBOUNDED,
    "crashes": 1,
    "leaves": 1,
}
ANY_RENEWAL: Constants = {
    "consumers": UNBOUNDED,
    "queues": UNBOUNDED,
    "broker_window": UNBOUNDED,
    "client_window": UNBOUNDED,
    "unlock_delay": UNBOUNDED,
    "renewal": UNBOUNDED,
    "renewals": "certain",
    "batches": "long",
    "drops": 0,
    "crashes": 1,
    "leaves": 1,
}

# Each condition of OR-11 is dropped in turn, in a configuration where nothing else can happen.
_BREAKERS: tuple[tuple[Constants, str], ...] = (
    (
        {"batch": 4},
        "A listener call of 40 s, begun when the last renewal was 30 s old, outlives the lock (60 s).",
    ),
    (
        {"renewals": "in-flight", "answer": 1},
        (
            "30 s is too long for a listener call: the broker counts from when it granted the lock, the client only "
            "from when it received the answer."
        ),
    ),
    ({"pauses": 1}, "A listener that was suspended for a minute continues as if it still had the lock."),
    (
        {"clock_steps": 1},
        "A clock that is set back makes an old lock look new, so the client continues for another 30 s.",
    ),
    (
        {"lock_losses": 1},
        "The lock table is in the broker's memory: after a restart, the next client that asks gets the lock.",
    ),
    (
        {"force": 1},
        "Since 5.2.0 a dropped queue is unlocked by force 20 s after its last renewal, while a listener runs.",
    ),
    (
        {"version": "4.9.8"},
        "In 4.9.8 an unlock put off by 20 s takes the lock from a client that has the queue again.",
    ),
    (
        {"leaves": 1, "await_listeners": 0},
        "A stopping client unlocks its queues without waiting for listeners: awaitTerminationMillisWhenShutdown is 0.",
    ),
    (
        {"renewals": "certain", "batches": "long"},
        (
            "The lock of a dropped queue is no longer renewed, so a long listener call outlives it however well "
            "renewal works."
        ),
    ),
)


_FALSE_BELIEFS: tuple[tuple[Constants, str], ...] = (
    (
        {"lock_losses": 1},
        "After a restart of the broker, two clients can both believe that they hold the lock of one queue.",
    ),
    ({"clock_steps": 1}, "A clock set back makes a client believe in a lock that has expired."),
)

_BELIEVED: tuple[Constants, ...] = (THREE, LATE_ANSWERS, {"force": 1}, {"batch": 4})
_ALL_WINDOWS: tuple[Constants, ...] = (
    ANY_WINDOWS,
    {**ANY_WINDOWS, "renewals": "in-flight", "answer": UNBOUNDED},
    {**ANY_WINDOWS, "force": 1},
)


_claim = partial(claim_about, orderly_lock)


def claims() -> Iterator[Claim]:
    """All claims about the lock machine, naive ones last."""
    for constants in (SMALL, THREE, TWO_QUEUES, LATE_ANSWERS, RENEWED, WAITING_FORCE):
        yield _claim(exclusive, constants)
    for constants in _ALL_WINDOWS:
        lemmas = (ages_agree, force_comes_late) if "force" in constants else (ages_agree,)
        yield Claim(property=exclusive_for_all_windows, machine=orderly_lock, constants=constants, lemmas=lemmas)
    yield Claim(
        property=exclusive_while_renewed,
        machine=orderly_lock,
        constants=ANY_RENEWAL,
        lemmas=(rounds_in_time, owned_is_renewed, runs_on_owned),
    )
    for constants in _BELIEVED:
        yield _claim(believed_is_held, constants)
    yield _claim(released_is_free, SMALL)
    yield _claim(ready, RENEWED)
    yield _claim(takeover, {"crashes": 1})
    yield _claim(ready_again, {"lock_losses": 1})
    yield _claim(ghost, {"renewals": "in-flight"})
    for constants, lesson in _BREAKERS:
        yield _claim(exclusive, constants, lesson)
    for constants, lesson in _FALSE_BELIEFS:
        yield _claim(believed_is_held, constants, lesson)
    yield _claim(
        released_is_free,
        {"renewals": "in-flight"},
        "A renewal that arrives after the unlock keeps the next owner waiting for 60 s (OR-10).",
    )
    yield _claim(
        takeover,
        {"renewals": "in-flight"},
        "A client that gets the lock in every pass, but never a start offset, keeps the queue for itself "
        "and leaves it idle.",
    )
    yield _claim(
        ready, {"drops": 0}, "Where renewals may fail, an owner stops consuming 30 s after the last one that succeeded."
    )
