"""What a single step may do to an orderly client: its locks, its calls, and the windows that it has dropped.

``orderly_lock_steps`` says it about locks alone; here messages are included, and the texts differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..model.consume_queue import Message
from ..model.consumption import consumption
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.lock import holds_lock
from ..model.membership import Consumer, Life
from ..model.orderly import Result, calls
from ..model.orderly_ownership import unlocks_late
from ..model.process_queue import Orphan, Stage, listener_runs
from ..model.route import Queue
from .claim import Claim, Constants, claims_of
from .offsets import stored
from .orderly_call_steps import (
    acted_upon_at_once,
    age_of_a_call,
    begins_locked,
    beyond_the_limit,
    cached_is_unlocked_later,
    calls_locked,
    counted_on,
    counts_while_stopping,
    dropped_in_order,
    first_that_wait,
    forced_late,
    given_up_idle,
    had,
    has,
    kept_is_taken,
    late_while_stopping,
    learns_of_a_loss,
    lock_is_new,
    locked_late,
    never_succeeds,
    offset_of_a_batch,
    orderly_stands_still,
    pulled_locked,
    renewed_in_time,
    renews_dropped,
    renews_owned,
    returns_while_stopping,
    rolled_back,
    says_commit,
    unlocks_at_last,
)
from .orderly_lock import KEPT_TABLE
from .orderly_lock_steps import counts_on, held_lock, lost_only_by, renewed_by_holder
from .property import Property, always, eventually, sometimes


def _alive(s: GroupState, c: IntLike) -> BoolLike:
    return any_of(s.life[c] == Life.UP, s.life[c] == Life.STOPPING)


def _stops(s: GroupState, c: IntLike) -> BoolLike:
    return all_of(s.was.life[c] == Life.UP, s.life[c] == Life.STOPPING)


@always("orderly-lock-is-given-back-or-expires", "OR-1", "RB-33", assuming=(KEPT_TABLE,))
def given_back(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly client loses its lock only by giving it back, or because another client takes it after it
    has expired.
    """
    removed = all_of(had(s, c, q), not_(has(s, c, q)), not_(s.was.owns[c, q]))
    late = all_of(s.was.unlocking[c, q], not_(s.unlocking[c, q])) if unlocks_late(s.constants) else False
    return lost_only_by(s, c, q, removed, late, all_of(_stops(s, c), s.was.owns[c, q]))


@always("orderly-lock-is-renewed-by-its-holder", "OR-9", assuming=(KEPT_TABLE,))
def lock_renewed(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The age of a lock starts again only because the client that has it renews it; a lock that nobody has is of no
    age.
    """
    return all_of(implies(s.holder[q] == 0, s.holder_age[q] == 0), renewed_by_holder(s, c, q))


@always("orderly-refusal-begins-no-new-time", "OR-9", "RB-33")
def refusal_keeps_time(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly client counts from the last renewal of a lock, whether or not the lock is refused meanwhile."""
    return counts_on(s, c, q, all_of(had(s, c, q), has(s, c, q)))


@always("orderly-queue-removed-is-unlocked", "RB-33", "RB-34", assuming=(KEPT_TABLE,))
def removed_is_unlocked(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly client that removes a queue unlocks it, or schedules the unlock, and no longer believes in
    its lock.
    """
    removed = all_of(had(s, c, q), not_(has(s, c, q)), _alive(s, c))
    later = s.unlocking[c, q] if unlocks_late(s.constants) else False
    return implies(removed, all_of(any_of(not_(holds_lock(s, c, q)), later), not_(s.locked[c, q])))


@always("stop-unlocks-what-is-owned", "ST-8", assuming=(KEPT_TABLE,))
def stop_unlocks(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The stop of an orderly client unlocks all queues that it owns, and no others: not those that it has dropped."""
    owned = all_of(_stops(s, c), s.was.owns[c, q])
    dropped = all_of(_stops(s, c), not_(s.was.owns[c, q]))
    kept = all_of(same(s.holder[q], s.was.holder[q]), same(s.locked[c, q], s.was.locked[c, q]))
    return all_of(implies(owned, all_of(not_(holds_lock(s, c, q)), not_(s.locked[c, q]))), implies(dropped, kept))


@always("gone-orderly-client-does-nothing", "ST-8", assuming=(KEPT_TABLE,))
def stays_gone(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly client that is gone has, locks and runs nothing, and does not come back."""
    gone = implies(s.was.life[c] == Life.GONE, s.life[c] == Life.GONE)
    stopping = implies(s.was.life[c] == Life.STOPPING, s.life[c] != Life.UP)
    nothing = all_of(not_(has(s, c, q)), not_(s.locked[c, q]), s.result[c, q] == Result.NONE, not_(calls(s, c, q)))
    wants = not_(s.wanted[c, q]) if s.reallocations else True
    locks = implies(holds_lock(s, c, q), all_of(held_lock(s, c, q), s.holder_age[q] >= s.was.holder_age[q]))
    return all_of(gone, stopping, implies(s.was.life[c] == Life.GONE, all_of(nothing, wants, locks)))


@always("a-result-comes-from-a-call", "OR-6", assuming=(KEPT_TABLE,))
def result_of_a_call(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A result to act upon comes from a listener that was running, and there is only one at a time."""
    returned = all_of(s.result[c, q] != Result.NONE, not_(same(s.result[c, q], s.was.result[c, q])))
    ran = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.RUNNING)
    return implies(returned, all_of(s.was.result[c, q] == Result.NONE, ran))


@always("one-call-of-a-queue-in-a-client", "OR-4", assuming=(KEPT_TABLE,))
def one_call(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client calls no orderly listener while one runs for a window of the same queue that is gone."""
    runs = s.exists(Message, lambda m: listener_runs(s, c, q, m))
    return not_(all_of(runs, s.exists(Message, lambda m: s.orphan[c, q, m] != Orphan.NONE)))


@always("what-outlives-a-window-ran-in-it", "RB-33", assuming=(KEPT_TABLE,))
def left_running(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A call that outlives its window was running when the window was removed."""

    def left(m: IntLike) -> BoolLike:
        new = all_of(s.orphan[c, q, m] != Orphan.NONE, s.was.orphan[c, q, m] == Orphan.NONE)
        return implies(new, s.was.stage[c, q, m] == Stage.RUNNING)

    return s.forall(Message, left)


def _returned(s: GroupState, c: IntLike, q: IntLike, handled: bool) -> BoolLike:
    def done(m: IntLike) -> BoolLike:
        ended = all_of(s.was.orphan[c, q, m] == Orphan.RUNNING, s.orphan[c, q, m] == Orphan.NONE, s.life[c] == Life.UP)
        now = all_of(s.handled[q, m], not_(s.was.handled[q, m]))
        return all_of(ended, now if handled else not_(s.handled[q, m]))

    return s.exists(Message, done)


@sometimes("late-success-counts", "OR-7")
def done_is_done(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Work that a listener does for a window that is gone counts: it may be the first to handle the message."""
    return _returned(s, c, q, True)


@sometimes("late-failure-is-forgotten", "OR-7")
def late_failure(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A listener that fails for a window that is gone leaves the message to the next owner."""
    return _returned(s, c, q, False)


@always("allocated-again-while-being-given-up", "RB-35", assuming=(KEPT_TABLE,))
def wanted_in_turn(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """Only a dropped queue whose listener is running is allocated again without being taken; a working client ends
    that.
    """
    begins = all_of(s.wanted[c, q], not_(s.was.wanted[c, q]))
    ends = all_of(s.was.wanted[c, q], not_(s.wanted[c, q]))
    ran = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.RUNNING)
    returned = s.was.result[c, q] == Result.NONE
    expired = any_of(s.life[c] != Life.STOPPING, not_(s.dropped[c, q]))
    return all_of(implies(begins, all_of(s.was.dropped[c, q], ran, returned)), implies(ends, expired))


@always("attempts-are-counted-until-the-message-leaves", "OR-8", assuming=(KEPT_TABLE,))
def attempts_kept(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The attempts of an orderly message are counted from when it comes into a window until it leaves it."""

    def kept(m: IntLike) -> BoolLike:
        stays = all_of(s.owns[c, q], s.stage[c, q, m] != Stage.ABSENT, s.was.stage[c, q, m] != Stage.ABSENT)
        none = implies(s.stage[c, q, m] == Stage.ABSENT, s.suspended[c, q, m] == 0)
        return all_of(none, implies(stays, s.suspended[c, q, m] >= s.was.suspended[c, q, m]))

    return s.forall(Message, kept)


@always("only-what-failed-is-put-back", "OR-7", "OR-8", assuming=(KEPT_TABLE,))
def put_back(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """An orderly message is consumed again only after its listener has failed with it, or rolled it back."""
    failed = any_of(s.was.result[c, q] == Result.SUSPEND, s.was.result[c, q] == Result.ROLLBACK)

    def again(m: IntLike) -> BoolLike:
        back = all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.WAITING)
        return implies(back, failed)

    return s.forall(Message, again)


@always("unlock-waits-for-cached-messages-only", "RB-34", assuming=(KEPT_TABLE,))
def unlocked_later(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A client of 4.9.8 puts an unlock off only where messages wait in the window that it gives up."""
    begins = all_of(s.unlocking[c, q], not_(s.was.unlocking[c, q]))
    cached = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.WAITING)
    return implies(begins, all_of(s.was.dropped[c, q], cached))


def _outlived(s: GroupState) -> BoolLike:
    return s.exists(
        Consumer,
        lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: s.orphan[c, q, m] != Orphan.NONE)),
    )


@eventually("call-for-a-gone-window-returns", "OR-7", after=_outlived, assuming=("listeners return",))
def late_return(s: GroupState) -> BoolLike:
    """A listener call that outlives its window eventually returns, unless its process ends."""
    return not_(_outlived(s))


@sometimes("dropped-queue-loses-its-lock", "OR-9")
def dropped_grows_old(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """The lock of a dropped queue gets too old to be believed in while its listener runs: rounds of renewal leave it
    out.
    """
    return all_of(s.dropped[c, q], s.locked[c, q], s.lock_age[c, q] > s.client_window)


_COARSE: Constants = {"listener": "orderly", "client_window": 1, "broker_window": 2, "call": 1, "unlock_delay": 1}
_WATCHED: Constants = {**_COARSE, "watch_steps": 1, "messages": 1}
_ALONE: Constants = {**_WATCHED, "consumers": 1}
_STILL: Constants = {"listener": "orderly", "clock": "stopped", "consumers": 1, "watch_steps": 1}
_CHANGES: Constants = {"watch_changes": 1}
_STOPPING = (returns_while_stopping, counts_while_stopping)
_ORDERLY = (
    offset_of_a_batch,
    age_of_a_call,
    acted_upon_at_once,
    begins_locked,
    calls_locked,
    renews_owned,
    dropped_in_order,
)
_OLD_UNLOCK = (cached_is_unlocked_later, unlocks_at_last, renews_dropped, begins_locked, dropped_in_order)


def claims() -> Iterator[Claim]:
    """All claims about steps."""
    asked: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        (
            {**_ALONE, "moves": 1, "leaves": 2},
            (stop_unlocks, stays_gone, given_back, removed_is_unlocked, dropped_in_order, *_STOPPING),
        ),
        (
            {**_ALONE, **_CHANGES, "moves": 1, "version": "4.9.8"},
            (*_OLD_UNLOCK, given_back, removed_is_unlocked, lock_renewed, unlocked_later),
        ),
        ({**_ALONE, "moves": 1, "crashes": 1, "failures": 1}, (stays_gone, result_of_a_call)),
        ({**_WATCHED, "moves": 1}, (lock_renewed, learns_of_a_loss)),
        ({**_WATCHED, "crashes": 1}, (stays_gone, given_back, lock_renewed)),
        ({**_WATCHED, "leaves": 1}, (stop_unlocks, given_back, lock_renewed)),
        (
            {**_ALONE, **_CHANGES, "moves": 1, "orphans": 1, "forced_unlock": 1},
            (
                *_ORDERLY,
                forced_late,
                one_call,
                left_running,
                done_is_done,
                late_failure,
                removed_is_unlocked,
                given_back,
            ),
        ),
        ({**_ALONE, "moves": 1, "reallocations": 1, "leaves": 1}, (wanted_in_turn, stays_gone)),
        ({**_ALONE, "moves": 1, "renewals": "certain"}, (dropped_grows_old, renewed_in_time)),
        (
            {**_STILL, "messages": 2, "give_up": "attempts", "attempts": 2, "failures": 2, "refusals": 1},
            (attempts_kept, put_back),
        ),
        (
            {**_STILL, "messages": 2, "give_up": "attempts", "auto_commit": 0, "failures": 3},
            (attempts_kept, result_of_a_call, put_back),
        ),
        ({"listener": "orderly", "clock": "stopped", "consumers": 1, "messages": 3, "batch": 2}, (stored,)),
        ({**_COARSE, "messages": 1, "consumers": 1, "moves": 1, "orphans": 1, "forced_unlock": 1}, (late_return,)),
        ({"listener": "orderly", "clock": "stopped", "consumers": 1, "messages": 1, "late_commits": 1}, (stored,)),
        ({**_ALONE, **_CHANGES, "moves": 1, "late_locks": 1}, (*_ORDERLY, locked_late)),
        ({**_ALONE, **_CHANGES, "moves": 1, "late_commits": 1}, _ORDERLY),
        ({**_ALONE, **_CHANGES, "pauses": 1, "moves": 1}, (orderly_stands_still, begins_locked, dropped_in_order)),
        (
            {**_STILL, **_CHANGES, "messages": 1, "give_up": "attempts", "attempts": 1, "failures": 3, "refusals": 1},
            (offset_of_a_batch, counted_on, beyond_the_limit),
        ),
        (
            {**_STILL, **_CHANGES, "messages": 2, "auto_commit": 0, "failures": 1, "moves": 1},
            (offset_of_a_batch, kept_is_taken, says_commit, rolled_back, dropped_in_order),
        ),
        (
            {**_STILL, "messages": 1, "poison": 1, "give_up": "attempts", "attempts": 1, "auto_commit": 0},
            (never_succeeds,),
        ),
        (
            {**_STILL, **_CHANGES, "messages": 2, "poison": 1, "give_up": "attempts", "attempts": 1, "auto_commit": 0},
            (offset_of_a_batch,),
        ),
        ({**_STILL, "messages": 2, "moves": 1, "version": "4.9.8"}, (given_up_idle,)),
        ({**_STILL, **_CHANGES, "messages": 3, "batch": 2}, (first_that_wait, offset_of_a_batch)),
        ({**_WATCHED, "moves": 1, "failures": 1, "forced_unlock": 1}, (refusal_keeps_time,)),
        ({**_WATCHED, "late_locks": 1}, (lock_is_new,)),
        ({**_WATCHED, **_CHANGES, "late_commits": 1}, (pulled_locked,)),
        (
            {
                **{"listener": "orderly", "mode": "broadcasting", "messages": 1, "consumers": 1},
                **{"watch_changes": 1, "moves": 1, "leaves": 1, "orphans": 1},
            },
            (late_while_stopping,),
        ),
        (
            {**_STILL, **_CHANGES, "messages": 2, "expression": "Aa", "tags": "Aa,C", "moves": 1},
            (offset_of_a_batch, dropped_in_order),
        ),
    )
    yield from claims_of(consumption, asked)
