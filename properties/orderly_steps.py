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
from .claim import Claim, claims_of
from .of_each import always, sometimes
from .offsets import STORED
from .orderly_call_steps import (
    ACTED_UPON_AT_ONCE,
    AGE_OF_A_CALL,
    BEGINS_LOCKED,
    BEYOND_THE_LIMIT,
    CACHED_IS_UNLOCKED_LATER,
    CALLS_LOCKED,
    COUNTED_ON,
    COUNTS_WHILE_STOPPING,
    DROPPED_IN_ORDER,
    FIRST_THAT_WAIT,
    FORCED_LATE,
    GIVEN_UP_IDLE,
    KEPT_IS_TAKEN,
    LEARNS_OF_A_LOSS,
    LOCK_IS_NEW,
    LOCKED_LATE,
    NEVER_SUCCEEDS,
    OFFSET_OF_A_BATCH,
    ORDERLY_STANDS_STILL,
    PULLED_LOCKED,
    RENEWS_DROPPED,
    RENEWS_OWNED,
    RETURNS_WHILE_STOPPING,
    ROLLED_BACK,
    SAYS_COMMIT,
    UNLOCKS_AT_LAST,
)
from .orderly_lock import KEPT_TABLE
from .orderly_lock_steps import held_lock, lost_only_by, renewed_by_holder
from .property import Kind, Property

Constants = dict[str, int | str]


_always = always(Consumer, Queue, assuming=(KEPT_TABLE,))
_can = sometimes(Consumer, Queue)


def _alive(s: GroupState, c: IntLike) -> BoolLike:
    return any_of(s.life[c] == Life.UP, s.life[c] == Life.STOPPING)


def _had(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the queue was in the table."""
    return any_of(s.was.owns[c, q], s.was.dropped[c, q] if s.moves else False)


def _has(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    return any_of(s.owns[c, q], s.dropped[c, q] if s.moves else False)


def _stops(s: GroupState, c: IntLike) -> BoolLike:
    return all_of(s.was.life[c] == Life.UP, s.life[c] == Life.STOPPING)


def _given_back(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    removed = all_of(_had(s, c, q), not_(_has(s, c, q)), not_(s.was.owns[c, q]))
    late = all_of(s.was.unlocking[c, q], not_(s.unlocking[c, q])) if unlocks_late(s.constants) else False
    return lost_only_by(s, c, q, removed, late, all_of(_stops(s, c), s.was.owns[c, q]))


GIVEN_BACK = _always(
    "orderly-lock-is-given-back-or-expires",
    (
        "An orderly client loses its lock only by giving it back, or because another client takes it after it "
        "has expired."
    ),
    _given_back,
    "OR-1",
    "RB-33",
)


def _renewed_by_holder(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    return all_of(implies(s.holder[q] == 0, s.holder_age[q] == 0), renewed_by_holder(s, c, q))


RENEWED_BY_HOLDER = _always(
    "orderly-lock-is-renewed-by-its-holder",
    (
        "The age of a lock starts again only because the client that has it renews it; a lock that nobody has "
        "is of no age."
    ),
    _renewed_by_holder,
    "OR-9",
)


def _removed_is_unlocked(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    removed = all_of(_had(s, c, q), not_(_has(s, c, q)), _alive(s, c))
    later = s.unlocking[c, q] if unlocks_late(s.constants) else False
    return implies(removed, all_of(any_of(not_(holds_lock(s, c, q)), later), not_(s.locked[c, q])))


REMOVED_IS_UNLOCKED = _always(
    "orderly-queue-removed-is-unlocked",
    "An orderly client that removes a queue unlocks it, or schedules the unlock, and no longer believes in its lock.",
    _removed_is_unlocked,
    "RB-33",
    "RB-34",
)


def _stop_unlocks(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    owned = all_of(_stops(s, c), s.was.owns[c, q])
    dropped = all_of(_stops(s, c), not_(s.was.owns[c, q]))
    kept = all_of(same(s.holder[q], s.was.holder[q]), same(s.locked[c, q], s.was.locked[c, q]))
    return all_of(implies(owned, all_of(not_(holds_lock(s, c, q)), not_(s.locked[c, q]))), implies(dropped, kept))


STOP_UNLOCKS = _always(
    "stop-unlocks-what-is-owned",
    "The stop of an orderly client unlocks all queues that it owns, and no others: not those that it has dropped.",
    _stop_unlocks,
    "ST-8",
)


def _no_way_back(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    gone = implies(s.was.life[c] == Life.GONE, s.life[c] == Life.GONE)
    stopping = implies(s.was.life[c] == Life.STOPPING, s.life[c] != Life.UP)
    nothing = all_of(not_(_has(s, c, q)), not_(s.locked[c, q]), s.result[c, q] == Result.NONE, not_(calls(s, c, q)))
    wants = not_(s.wanted[c, q]) if s.reallocations else True
    locks = implies(holds_lock(s, c, q), all_of(held_lock(s, c, q), s.holder_age[q] >= s.was.holder_age[q]))
    return all_of(gone, stopping, implies(s.was.life[c] == Life.GONE, all_of(nothing, wants, locks)))


STAYS_GONE = _always(
    "gone-orderly-client-does-nothing",
    "An orderly client that is gone has, locks and runs nothing, and does not come back.",
    _no_way_back,
    "ST-8",
)


def _result_of_a_call(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    returned = all_of(s.result[c, q] != Result.NONE, not_(same(s.result[c, q], s.was.result[c, q])))
    ran = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.RUNNING)
    return implies(returned, all_of(s.was.result[c, q] == Result.NONE, ran))


RESULT_OF_A_CALL = _always(
    "a-result-comes-from-a-call",
    "A result to act upon comes from a listener that was running, and there is only one at a time.",
    _result_of_a_call,
    "OR-6",
)


def _one_call(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    runs = s.exists(Message, lambda m: listener_runs(s, c, q, m))
    return not_(all_of(runs, s.exists(Message, lambda m: s.orphan[c, q, m] != Orphan.NONE)))


ONE_CALL = _always(
    "one-call-of-a-queue-in-a-client",
    "A client calls no orderly listener while one runs for a window of the same queue that is gone.",
    _one_call,
    "OR-4",
)


def _left_running(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    def left(m: IntLike) -> BoolLike:
        new = all_of(s.orphan[c, q, m] != Orphan.NONE, s.was.orphan[c, q, m] == Orphan.NONE)
        return implies(new, s.was.stage[c, q, m] == Stage.RUNNING)

    return s.forall(Message, left)


LEFT_RUNNING = _always(
    "what-outlives-a-window-ran-in-it",
    "A call that outlives its window was running when the window was removed.",
    _left_running,
    "RB-33",
)


def _returned(s: GroupState, c: IntLike, q: IntLike, handled: bool) -> BoolLike:
    def done(m: IntLike) -> BoolLike:
        ended = all_of(s.was.orphan[c, q, m] == Orphan.RUNNING, s.orphan[c, q, m] == Orphan.NONE, s.life[c] == Life.UP)
        now = all_of(s.handled[q, m], not_(s.was.handled[q, m]))
        return all_of(ended, now if handled else not_(s.handled[q, m]))

    return s.exists(Message, done)


DONE_IS_DONE = _can(
    "late-success-counts",
    "Work that a listener does for a window that is gone counts: it may be the first to handle the message.",
    lambda s, c, q: _returned(s, c, q, True),
    "OR-7",
)
LATE_FAILURE = _can(
    "late-failure-is-forgotten",
    "A listener that fails for a window that is gone leaves the message to the next owner.",
    lambda s, c, q: _returned(s, c, q, False),
    "OR-7",
)


def _wanted_in_turn(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    begins = all_of(s.wanted[c, q], not_(s.was.wanted[c, q]))
    ends = all_of(s.was.wanted[c, q], not_(s.wanted[c, q]))
    ran = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.RUNNING)
    returned = s.was.result[c, q] == Result.NONE
    expired = any_of(s.life[c] != Life.STOPPING, not_(s.dropped[c, q]))
    return all_of(implies(begins, all_of(s.was.dropped[c, q], ran, returned)), implies(ends, expired))


WANTED_IN_TURN = _always(
    "allocated-again-while-being-given-up",
    (
        "Only a dropped queue whose listener is running is allocated again without being taken; a working "
        "client ends that."
    ),
    _wanted_in_turn,
    "RB-35",
)


def _attempts_kept(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    def kept(m: IntLike) -> BoolLike:
        stays = all_of(s.owns[c, q], s.stage[c, q, m] != Stage.ABSENT, s.was.stage[c, q, m] != Stage.ABSENT)
        none = implies(s.stage[c, q, m] == Stage.ABSENT, s.suspended[c, q, m] == 0)
        return all_of(none, implies(stays, s.suspended[c, q, m] >= s.was.suspended[c, q, m]))

    return s.forall(Message, kept)


ATTEMPTS_KEPT = _always(
    "attempts-are-counted-until-the-message-leaves",
    "The attempts of an orderly message are counted from when it comes into a window until it leaves it.",
    _attempts_kept,
    "OR-8",
)


def _put_back(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    failed = any_of(s.was.result[c, q] == Result.SUSPEND, s.was.result[c, q] == Result.ROLLBACK)

    def again(m: IntLike) -> BoolLike:
        back = all_of(s.was.stage[c, q, m] == Stage.RUNNING, s.stage[c, q, m] == Stage.WAITING)
        return implies(back, failed)

    return s.forall(Message, again)


PUT_BACK = _always(
    "only-what-failed-is-put-back",
    "An orderly message is consumed again only after its listener has failed with it, or rolled it back.",
    _put_back,
    "OR-7",
    "OR-8",
)


def _unlocked_later(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    begins = all_of(s.unlocking[c, q], not_(s.was.unlocking[c, q]))
    cached = s.exists(Message, lambda m: s.was.stage[c, q, m] == Stage.WAITING)
    return implies(begins, all_of(s.was.dropped[c, q], cached))


UNLOCKED_LATER = _always(
    "unlock-waits-for-cached-messages-only",
    "A client of 4.9.8 puts an unlock off only where messages wait in the window that it gives up.",
    _unlocked_later,
    "RB-34",
)


def _outlived(s: GroupState) -> BoolLike:
    return s.exists(
        Consumer,
        lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: s.orphan[c, q, m] != Orphan.NONE)),
    )


LATE_RETURN = Property[GroupState](
    id="call-for-a-gone-window-returns",
    statement="A listener call that outlives its window eventually returns, unless its process ends.",
    kind=Kind.EVENTUALLY,
    after=_outlived,
    holds=lambda s: not_(_outlived(s)),
    assuming=("listeners return",),
    rules=("OR-7",),
)

DROPPED_GROWS_OLD = _can(
    "dropped-queue-loses-its-lock",
    (
        "The lock of a dropped queue gets too old to be believed in while its listener runs: rounds of renewal "
        "leave it out."
    ),
    lambda s, c, q: all_of(s.dropped[c, q], s.locked[c, q], s.lock_age[c, q] > s.client_window),
    "OR-9",
)

_COARSE: Constants = {"listener": "orderly", "client_window": 1, "broker_window": 2, "call": 1, "unlock_delay": 1}
_WATCHED: Constants = {**_COARSE, "watch_steps": 1, "messages": 1}
_ALONE: Constants = {**_WATCHED, "consumers": 1}
_STILL: Constants = {"listener": "orderly", "clock": "stopped", "consumers": 1, "watch_steps": 1}
_CHANGES: Constants = {"watch_changes": 1}
_STOPPING = (RETURNS_WHILE_STOPPING, COUNTS_WHILE_STOPPING)
_ORDERLY = (
    OFFSET_OF_A_BATCH,
    AGE_OF_A_CALL,
    ACTED_UPON_AT_ONCE,
    BEGINS_LOCKED,
    CALLS_LOCKED,
    RENEWS_OWNED,
    DROPPED_IN_ORDER,
)
_OLD_UNLOCK = (CACHED_IS_UNLOCKED_LATER, UNLOCKS_AT_LAST, RENEWS_DROPPED, BEGINS_LOCKED, DROPPED_IN_ORDER)


def claims() -> Iterator[Claim]:
    """All claims about steps."""
    asked: tuple[tuple[Constants, tuple[Property, ...]], ...] = (
        (
            {**_ALONE, "moves": 1, "leaves": 2},
            (STOP_UNLOCKS, STAYS_GONE, GIVEN_BACK, REMOVED_IS_UNLOCKED, DROPPED_IN_ORDER, *_STOPPING),
        ),
        (
            {**_ALONE, **_CHANGES, "moves": 1, "version": "4.9.8"},
            (*_OLD_UNLOCK, GIVEN_BACK, REMOVED_IS_UNLOCKED, RENEWED_BY_HOLDER, UNLOCKED_LATER),
        ),
        ({**_ALONE, "moves": 1, "crashes": 1, "failures": 1}, (STAYS_GONE, RESULT_OF_A_CALL)),
        ({**_WATCHED, "moves": 1}, (RENEWED_BY_HOLDER, LEARNS_OF_A_LOSS)),
        ({**_WATCHED, "crashes": 1}, (STAYS_GONE, GIVEN_BACK, RENEWED_BY_HOLDER)),
        ({**_WATCHED, "leaves": 1}, (STOP_UNLOCKS, GIVEN_BACK, RENEWED_BY_HOLDER)),
        (
            {**_ALONE, **_CHANGES, "moves": 1, "orphans": 1, "forced_unlock": 1},
            (
                *_ORDERLY,
                FORCED_LATE,
                ONE_CALL,
                LEFT_RUNNING,
                DONE_IS_DONE,
                LATE_FAILURE,
                REMOVED_IS_UNLOCKED,
                GIVEN_BACK,
            ),
        ),
        ({**_ALONE, "moves": 1, "reallocations": 1, "leaves": 1}, (WANTED_IN_TURN, STAYS_GONE)),
        ({**_ALONE, "moves": 1, "renewals": "certain"}, (DROPPED_GROWS_OLD,)),
        (
            {**_STILL, "messages": 2, "give_up": "attempts", "attempts": 2, "failures": 2, "refusals": 1},
            (ATTEMPTS_KEPT, PUT_BACK),
        ),
        (
            {**_STILL, "messages": 2, "give_up": "attempts", "auto_commit": 0, "failures": 3},
            (ATTEMPTS_KEPT, RESULT_OF_A_CALL, PUT_BACK),
        ),
        ({"listener": "orderly", "clock": "stopped", "consumers": 1, "messages": 3, "batch": 2}, (STORED,)),
        ({**_COARSE, "messages": 1, "consumers": 1, "moves": 1, "orphans": 1, "forced_unlock": 1}, (LATE_RETURN,)),
        ({"listener": "orderly", "clock": "stopped", "consumers": 1, "messages": 1, "late_commits": 1}, (STORED,)),
        ({**_ALONE, **_CHANGES, "moves": 1, "late_locks": 1}, (*_ORDERLY, LOCKED_LATE)),
        ({**_ALONE, **_CHANGES, "moves": 1, "late_commits": 1}, _ORDERLY),
        ({**_ALONE, **_CHANGES, "pauses": 1, "moves": 1}, (ORDERLY_STANDS_STILL, BEGINS_LOCKED, DROPPED_IN_ORDER)),
        (
            {**_STILL, **_CHANGES, "messages": 1, "give_up": "attempts", "attempts": 1, "failures": 3, "refusals": 1},
            (OFFSET_OF_A_BATCH, COUNTED_ON, BEYOND_THE_LIMIT),
        ),
        (
            {**_STILL, **_CHANGES, "messages": 2, "auto_commit": 0, "failures": 1, "moves": 1},
            (OFFSET_OF_A_BATCH, KEPT_IS_TAKEN, SAYS_COMMIT, ROLLED_BACK, DROPPED_IN_ORDER),
        ),
        (
            {**_STILL, "messages": 1, "poison": 1, "give_up": "attempts", "attempts": 1, "auto_commit": 0},
            (NEVER_SUCCEEDS,),
        ),
        (
            {**_STILL, **_CHANGES, "messages": 2, "poison": 1, "give_up": "attempts", "attempts": 1, "auto_commit": 0},
            (OFFSET_OF_A_BATCH,),
        ),
        ({**_STILL, "messages": 2, "moves": 1, "version": "4.9.8"}, (GIVEN_UP_IDLE,)),
        ({**_STILL, **_CHANGES, "messages": 3, "batch": 2}, (FIRST_THAT_WAIT, OFFSET_OF_A_BATCH)),
        ({**_WATCHED, "late_locks": 1}, (LOCK_IS_NEW,)),
        ({**_WATCHED, **_CHANGES}, (PULLED_LOCKED,)),
        (
            {**_STILL, **_CHANGES, "messages": 2, "expression": "Aa", "tags": "Aa,C", "moves": 1},
            (OFFSET_OF_A_BATCH, DROPPED_IN_ORDER),
        ),
    )
    yield from claims_of(consumption, asked)
