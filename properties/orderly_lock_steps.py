"""What a single step may do to the lock of a queue, and to the client that holds it.

Two owners are excluded, and locks become free eventually, whether or not steps obey these claims; a mutant that adds a
step between two states that are possible anyway is therefore noticed only here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.lock import LockState, holds_lock
from ..model.membership import Consumer, Life
from ..model.orderly_lock import OrderlyLockState, Request, Window, is_up, orderly_lock, renewable
from ..model.route import Queue
from .claim import Claim, Constants, claims_of
from .orderly_lock import KEPT_TABLE
from .property import Property, always, eventually, sometimes


def held_lock(s: LockState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the broker's table named ``c`` before the step, expired or not."""
    return s.was.holder[q] == c + 1


def _not_renewed(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """The broker has neither given ``c`` the lock nor renewed it, and no answer that says so has reached ``c``."""
    broker = implies(holds_lock(s, c, q), all_of(held_lock(s, c, q), s.holder_age[q] >= s.was.holder_age[q]))
    client = implies(s.locked[c, q], all_of(s.was.locked[c, q], s.lock_age[c, q] >= s.was.lock_age[c, q]))
    return all_of(broker, client)


def _same_table(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    unlock = same(s.unlocking[c, q], s.was.unlocking[c, q]) if s.version == "4.9.8" else True
    return all_of(same(s.window[c, q], s.was.window[c, q]), unlock)


def _asks_nothing(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    """No request of ``c`` has begun, been answered to ``c`` or been given up; the broker may have processed one."""
    if s.renewals != "in-flight":
        return True
    answered = all_of(s.was.request[c, q] == Request.ASKED, s.request[c, q] != Request.TAKING)
    return any_of(same(s.request[c, q], s.was.request[c, q]), answered)


@always("paused-client-does-nothing", "OR-11", assuming=(KEPT_TABLE,))
def stands_still(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A suspended client does nothing until it continues: what it has, and what it runs, stays unchanged."""
    was_there = _same_table(s, c, q)
    broker = True if s.renewals == "in-flight" else _not_renewed(s, c, q)
    runs = same(s.runs[c, q], s.was.runs[c, q])
    alive = same(s.life[c], s.was.life[c]) if s.leaves else True
    return implies(s.was.paused[c], all_of(was_there, broker, runs, alive, _asks_nothing(s, c, q)))


@always("stopping-client-locks-nothing", "ST-8", assuming=(KEPT_TABLE,))
def stops(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client that shuts down no longer takes, renews or drops queues."""
    begins = all_of(s.runs[c, q], not_(s.was.runs[c, q])) if s.await_listeners else False
    lasts = all_of(s.was.life[c] == Life.STOPPING, s.life[c] == Life.STOPPING)
    quiet = all_of(_same_table(s, c, q), _not_renewed(s, c, q), _asks_nothing(s, c, q), not_(begins))
    return implies(lasts, quiet)


@always("gone-client-does-nothing", "ST-8", assuming=(KEPT_TABLE,))
def stays_gone(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client that is gone takes, renews and releases no lock, and is not suspended any more."""
    kept = implies(held_lock(s, c, q), any_of(holds_lock(s, c, q), s.holder[q] != 0))
    suspended = all_of(s.paused[c], not_(s.was.paused[c])) if s.pauses else False
    gone = all_of(s.life[c] == Life.GONE, _not_renewed(s, c, q), kept, not_(suspended))
    return implies(s.was.life[c] == Life.GONE, gone)


@sometimes("lock-outlives-its-client", "OR-1", "ST-6")
def outlives_its_client(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """The broker keeps the lock of a client that ends without giving it back: it has to expire."""
    return all_of(s.was.life[c] == Life.UP, s.life[c] == Life.GONE, holds_lock(s, c, q))


@always("queue-is-dropped-before-it-is-removed", "RB-30", "RB-33", assuming=(KEPT_TABLE,))
def in_turn(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A queue enters the table of a client, is dropped, and is removed, in this order, unless the client ends."""
    now, before = s.window[c, q], s.was.window[c, q]
    ended = all_of(s.life[c] == Life.GONE, s.was.life[c] != Life.GONE) if s.leaves + s.crashes else False
    return any_of(
        same(now, before),
        all_of(before == Window.OUT, now == Window.IN),
        all_of(before == Window.IN, now == Window.DROPPED),
        all_of(before == Window.DROPPED, now == Window.OUT),
        ended,
    )


def lost_only_by(s: LockState, c: IntLike, q: IntLike, *gives_back: BoolLike) -> BoolLike:
    """Whether ``c``, if the step took its lock, gave it back itself, or another client took it after it had expired."""
    freed = all_of(s.holder[q] == 0, any_of(*gives_back))
    taken = all_of(s.holder[q] != 0, s.was.holder_age[q] > s.broker_window)
    return implies(all_of(held_lock(s, c, q), not_(holds_lock(s, c, q))), any_of(freed, taken))


@always("lock-is-given-back-or-expires", "OR-1", "RB-33", assuming=(KEPT_TABLE,))
def given_back(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client loses its lock only by giving it back, or because another client takes it after it has expired."""
    removed = all_of(s.was.window[c, q] == Window.DROPPED, s.window[c, q] == Window.OUT)
    late = all_of(s.was.unlocking[c, q], not_(s.unlocking[c, q])) if s.version == "4.9.8" else False
    stops = all_of(s.was.life[c] == Life.UP, s.life[c] == Life.STOPPING) if s.leaves else False
    return lost_only_by(s, c, q, removed, late, all_of(stops, s.was.window[c, q] == Window.IN))


def renewed_by_holder(s: LockState, c: Consumer, q: Queue) -> BoolLike:
    """The age of a lock starts again only because the client that has it renews it."""
    younger = all_of(held_lock(s, c, q), holds_lock(s, c, q), s.holder_age[q] < s.was.holder_age[q])
    return implies(younger, all_of(s.locked[c, q], s.lock_age[c, q] == 0))


lock_renewed = always("lock-is-renewed-by-its-holder", "OR-9", assuming=(KEPT_TABLE,))(renewed_by_holder)


@always("removed-queue-is-unlocked", "RB-33", "RB-34", assuming=(KEPT_TABLE,))
def removed_is_unlocked(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client that removes a queue from its table unlocks it, or schedules the unlock, and no longer believes in its
    lock.
    """
    removed = all_of(s.was.window[c, q] == Window.DROPPED, s.window[c, q] == Window.OUT)
    alive = s.life[c] != Life.GONE if s.leaves + s.crashes else True
    freed = not_(holds_lock(s, c, q))
    later = s.unlocking[c, q] if s.version == "4.9.8" else False
    return implies(all_of(removed, alive), all_of(any_of(freed, later), not_(s.locked[c, q])))


@always("unlock-put-off-for-dropped-queues-only", "RB-34", assuming=(KEPT_TABLE,))
def unlocked_later(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """An unlock is put off only for a queue that was dropped and is being removed."""
    begins = all_of(s.unlocking[c, q], not_(s.was.unlocking[c, q]))
    return implies(begins, all_of(s.was.window[c, q] == Window.DROPPED, s.window[c, q] == Window.OUT))


@always("late-unlock-unlocks", "RB-34", assuming=(KEPT_TABLE,))
def late_unlock(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """An unlock that was put off frees the queue when it comes."""
    ends = all_of(s.was.unlocking[c, q], not_(s.unlocking[c, q]))
    alive = s.life[c] != Life.GONE if s.leaves + s.crashes else True
    return implies(all_of(ends, alive), not_(holds_lock(s, c, q)))


@always("listener-begins-under-its-lock", "OR-4", "OR-6", assuming=(KEPT_TABLE,))
def begins_in_turn(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A listener call begins only on a queue in use, whose lock its client believes in."""
    begins = all_of(s.runs[c, q], not_(s.was.runs[c, q]))
    fresh = all_of(s.was.locked[c, q], s.was.lock_age[c, q] <= s.client_window)
    return implies(begins, all_of(s.was.window[c, q] == Window.IN, fresh))


@always("only-own-queues-are-renewed", "OR-9", assuming=(KEPT_TABLE,))
def renews_its_own(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client asks to renew the locks of queues in its table only."""
    return implies(all_of(s.was.request[c, q] == 0, s.request[c, q] == Request.ASKED), renewable(s, c, q))


@always("one-lock-request-at-a-time", "OR-1", assuming=(KEPT_TABLE,))
def one_request(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client asks for a lock again only when its last request for it is over."""
    now, before = s.request[c, q], s.was.request[c, q]
    granted = all_of(before == Request.ASKED, now == Request.GRANTED)
    return any_of(
        same(now, before), now == Request.NONE, all_of(before == Request.NONE, now != Request.GRANTED), granted
    )


def _by_one(now: IntLike, before: IntLike) -> BoolLike:
    return any_of(same(now, 0), same(now, before), same(now, before + 1))


@always("clocks-go-on-together", "OR-1", "PQ-10", assuming=(KEPT_TABLE,))
def one_clock(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """Time passes for brokers and clients alike, one tick at a time."""
    # If one clock that is read for a lock moved on, all of them did: ages stop growing only at their maximum.
    broker_ran = s.holder_age[q] > s.was.holder_age[q]
    client_ran = s.lock_age[c, q] > s.was.lock_age[c, q]
    broker_runs = any_of(broker_ran, s.holder[q] == 0, s.holder_age[q] > s.broker_window)
    client_runs = any_of(client_ran, not_(s.locked[c, q]), s.lock_age[c, q] > s.client_window)
    by_one = all_of(_by_one(s.holder_age[q], s.was.holder_age[q]), _by_one(s.lock_age[c, q], s.was.lock_age[c, q]))
    rounds = _by_one(s.round[c], s.was.round[c]) if s.renewals == "certain" else True
    return all_of(by_one, rounds, implies(client_ran, broker_runs), implies(broker_ran, client_runs))


@always("ages-are-of-what-goes-on", "OR-5", "OR-9", assuming=(KEPT_TABLE,))
def ages_begin_anew(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """Each listener call and each answer is timed from its own beginning; what is over has no age."""
    answer = implies(s.request[c, q] < Request.GRANTED, s.request_age[c, q] == 0) if s.renewals == "in-flight" else True
    outlived = implies(s.outlived[c, q], s.runs[c, q]) if s.force else True
    return all_of(implies(not_(s.runs[c, q]), s.batch_age[c, q] == 0), answer, outlived)


def counts_on(s: LockState, c: Consumer, q: Queue, kept: BoolLike) -> BoolLike:
    """For as long as a queue is ``kept``, its time without a renewal ends only with one, and grows with the broker's
    clock until a forced unlock is due.
    """
    begins_anew = s.lock_age[c, q] < s.was.lock_age[c, q]
    tick_passed = s.holder_age[q] > s.was.holder_age[q]
    grows = any_of(s.lock_age[c, q] > s.was.lock_age[c, q], s.lock_age[c, q] > s.unlock_delay)
    return implies(kept, all_of(implies(begins_anew, s.locked[c, q]), implies(tick_passed, grows)))


@always("refusal-begins-no-new-time", "OR-9", "RB-33")
def refusal_keeps_time(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """The 20 s before a forced unlock count from the last renewal: a refusal neither begins them anew nor ends them."""
    return counts_on(s, c, q, all_of(s.was.window[c, q] != Window.OUT, s.window[c, q] != Window.OUT))


@sometimes("refused-renewal-is-heard-of", "OR-9")
def refused(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client that is refused the lock of a queue that it has stops believing in it, and its request is over."""
    over = s.request[c, q] == Request.NONE if s.renewals == "in-flight" else True
    in_use = all_of(s.was.window[c, q] == Window.IN, s.window[c, q] == Window.IN)
    return all_of(over, in_use, s.was.locked[c, q], not_(s.locked[c, q]))


@sometimes("dropped-queue-is-renewed", "OR-9")
def dropped_is_renewed(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """Clients of 4.9.8 renew the locks of queues that they have dropped, too."""
    return all_of(s.was.window[c, q] == Window.DROPPED, s.locked[c, q], s.lock_age[c, q] < s.was.lock_age[c, q])


@sometimes("call-of-an-old-window-keeps-no-new-one", "RB-33")
def old_call_keeps_nothing(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A call that outlived the forced unlock does not keep the queue from being removed after it was taken again."""
    return all_of(
        s.was.window[c, q] == Window.DROPPED,
        s.window[c, q] == Window.OUT,
        s.runs[c, q],
        s.was.lock_age[c, q] <= s.unlock_delay,
    )


def _late_round(s: OrderlyLockState, c: IntLike) -> BoolLike:
    """Whether time has passed although the next round of ``c`` was due."""
    return all_of(s.was.round[c] == s.renewal, s.round[c] == s.renewal)


@sometimes("time-passes-while-a-client-stops", "ST-8", "OR-9")
def stopping_ends_rounds(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """A client that shuts down no longer renews, and its listeners keep running beyond the next round."""
    return all_of(
        _late_round(s, c),
        s.was.life[c] == Life.STOPPING,
        s.window[c, q] == Window.IN,
        s.batch_age[c, q] > s.was.batch_age[c, q],
    )


@sometimes("dropped-queue-grows-old", "OR-9")
def dropped_is_not_in_rounds(s: OrderlyLockState, c: Consumer, q: Queue) -> BoolLike:
    """The lock of a dropped queue gets older than one round of renewal: rounds leave it out."""
    return all_of(
        _late_round(s, c), is_up(s, c), s.window[c, q] == Window.DROPPED, s.holder_age[q] > s.was.holder_age[q]
    )


@eventually(
    "renewal-is-asked-for",
    "OR-9",
    after=lambda s: s.exists(Queue, lambda q: s.exists(Consumer, lambda c: _could_ask(s, c, q))),
)
def renewal_is_asked(s: OrderlyLockState) -> BoolLike:
    """A client eventually asks to renew the lock of a queue that it has, after its last request is over."""
    return s.forall(Queue, lambda q: s.forall(Consumer, lambda c: not_(_could_ask(s, c, q))))


def _could_ask(s: OrderlyLockState, c: IntLike, q: IntLike) -> BoolLike:
    return all_of(s.window[c, q] == Window.IN, s.request[c, q] == Request.NONE)


_WATCHED: Constants = {"watch_steps": 1}
_ALONE: Constants = {**_WATCHED, "consumers": 1}
_OLD: Constants = {**_ALONE, "version": "4.9.8"}
_FLIGHT: Constants = {**_ALONE, "renewals": "in-flight", "answer": 1}
_CERTAIN: Constants = {**_ALONE, "renewals": "certain"}
_SHORT: Constants = {"client_window": 1, "broker_window": 2, "batch": 1}
"""Windows as short as possible: what a step does not depend on their length."""
_FORCED: Constants = {**_SHORT, "broker_window": 1, "unlock_delay": 1, "force": 1}


def claims() -> Iterator[Claim]:
    """All claims about steps."""
    asked: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        ({**_ALONE, "pauses": 1}, (stands_still, in_turn, ages_begin_anew)),
        ({**_ALONE, "pauses": 1, "leaves": 1}, (stands_still, stops, stays_gone)),
        ({**_OLD, "pauses": 1}, (stands_still, dropped_is_renewed, given_back)),
        ({**_FLIGHT, "pauses": 1}, (stands_still,)),
        ({**_CERTAIN, "pauses": 1}, (stands_still, one_clock)),
        (
            {**_ALONE, "force": 1, "pauses": 1},
            (stands_still, in_turn, removed_is_unlocked, given_back, ages_begin_anew, old_call_keeps_nothing),
        ),
        ({**_ALONE, "leaves": 1, "await_listeners": 0}, (stops,)),
        ({**_OLD, "leaves": 1}, (stops, removed_is_unlocked, unlocked_later, late_unlock, in_turn)),
        ({**_FLIGHT, "leaves": 1}, (stops, in_turn, renews_its_own, one_request, begins_in_turn)),
        ({**_CERTAIN, "leaves": 1}, (stops, begins_in_turn, dropped_is_not_in_rounds)),
        ({**_CERTAIN, "leaves": 1, "await_listeners": 0}, (stopping_ends_rounds,)),
        ({**_ALONE, "force": 1, "leaves": 1}, (stops,)),
        (
            {**_WATCHED, **_SHORT, "crashes": 1},
            (stays_gone, given_back, lock_renewed, removed_is_unlocked, begins_in_turn, one_clock, refused),
        ),
        ({**_WATCHED, **_SHORT, "leaves": 1}, (stays_gone, given_back, lock_renewed)),
        ({**_ALONE, **_SHORT, "lock_losses": 1}, (lock_renewed, one_clock)),
        ({**_FLIGHT, "crashes": 1}, (stays_gone, one_clock, ages_begin_anew, outlives_its_client)),
        ({**_WATCHED, **_SHORT, "renewals": "in-flight", "drops": 0}, (refused,)),
        ({**_WATCHED, **_FORCED}, (refusal_keeps_time,)),
        (
            {**_WATCHED, **_FORCED, "renewals": "certain", "renewal": 1, "lock_losses": 1},
            (refusal_keeps_time, lock_renewed),
        ),
        ({"consumers": 1, "renewals": "in-flight", "drops": 0}, (renewal_is_asked,)),
    )
    yield from claims_of(orderly_lock, asked)
