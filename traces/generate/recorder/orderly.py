"""Orderly consumption: batches under the broker's lock, their results, and what a worker does with them (OR-3 to
OR-11).

A client counts the failures of a message in its window (OR-8: ``reconsumeTimes``, in memory only), whether or not there
is a maximum.
"""

from __future__ import annotations

from ....model.delay import stored_level
from ....model.process_queue import Orphan, Stage
from ....model.retry_policy import copy_times, fallback_level
from ...format.kinds import Kind, Path, Result
from .listeners import called, left, returned
from .retries import buried, delayed, sends
from .step import Transition
from .windows import Record, in_turn, leaves, sent, table, writes


def _batch(now: Transition) -> list[int]:
    """The batch that the worker of the queue took last."""
    return [m for m in _taken(now) if not now.before("kept", now.c, now.q, m)]


def _taken(now: Transition) -> list[int]:
    return [m for m in now.messages if now.before("stage", now.c, now.q, m) == Stage.RUNNING]


def returns(result: Result) -> Record:
    """OR-6: the listener returns; a rollback concerns everything that was taken since the last commit (OR-7)."""

    def record(now: Transition) -> None:
        returned(now, result, _taken(now) if result is Result.ROLLBACK else _batch(now))

    return record


def _at_limit(now: Transition, m: int) -> bool:
    """OR-8: whether ``m`` has failed as often as it may."""
    return now.before("suspended", now.c, now.q, m, default=-1) >= int(now.constants.attempts)


def put_batch_back(now: Transition) -> None:
    """OR-8: the batch is consumed again; its messages that are at their limit are also sent to the retry topic."""
    for m in _batch(now):
        if _at_limit(now, m):
            _publish(now, m)
        else:
            now.recorder.failed[now.c, now.q, m] += 1


def publish_batch(now: Transition) -> None:
    """OR-8: all of the batch goes to the retry topic, and counts as consumed."""
    for m in _batch(now):
        _publish(now, m)
    left(now)


def publishing_fails(now: Transition) -> None:
    """OR-8: nothing could be sent; the counts continue."""
    for m in _batch(now):
        sends(now, m, Path.FALLBACK, Result.FAILED)
        now.recorder.failed[now.c, now.q, m] += 1


def _publish(now: Transition, m: int) -> None:
    """OR-8, SB-15: a new message, which the broker turns into a dead letter, or else one more retry."""
    times, key = now.attempt(now.c, now.q, m), now.key(now.q, m)
    sends(now, m, Path.FALLBACK, Result.OK)
    if now.after("goes_round"):
        level = int(stored_level(fallback_level(times), int(now.constants.levels)))
        delayed(now, now.q, key, attempt=times, level=level)
    else:
        buried(now, now.q, key, attempt=int(copy_times(times)))


def return_to_dropped_window(now: Transition) -> None:
    """OR-7: the work is done, but the result is not recorded."""
    result = Result.OK if now.arguments["success"] else Result.SUSPEND
    for m in now.messages:
        if now.before("orphan", now.c, now.q, m) == Orphan.RUNNING:
            told = {"offset": m, "key": now.key(now.q, m)}
            now.from_dropped(Kind.RESULT, now.c, now.q, result=result, **told)
            now.from_dropped(Kind.DISCARDED, now.c, now.q, **told)


# --- locks ----------------------------------------------------------------------------------------------------------


def renew(now: Transition) -> None:
    """OR-9: a lock request and its answer; a client whose request is refused stops believing in its lock."""
    granted = now.after("holder", now.q) == now.c + 1
    now.by_client(Kind.LOCK, now.c, now.q, result=Result.OK if granted else Result.FAILED)
    if now.before("locked", now.c, now.q) and not now.after("locked", now.c, now.q):
        now.by_client(Kind.LOCK_LOST, now.c, now.q)


def recompute_offset(now: Transition) -> None:
    """PL-11: the offset is queried once more before the first pull."""
    offset = now.after("next_offset", now.c, now.q)
    now.by_client(Kind.OFFSET_QUERY, now.c, now.q, result=Result.OK, offset=offset, due=now.recorder.time)


unlock = writes(Kind.UNLOCK)
"""OR-1: the entry is removed if it belongs to the sender."""

remove = in_turn(sent(Path.REMOVAL), unlock, table)
"""RB-33: the offset is persisted, then the lock is given back."""

ACTIONS: dict[str, Record] = {
    "begin_batch": called,
    "succeed_in_order": returns(Result.OK),
    "suspend": returns(Result.SUSPEND),
    "suspend_poison": returns(Result.SUSPEND),
    "say_commit": returns(Result.COMMIT),
    "say_rollback": returns(Result.ROLLBACK),
    "commit_taken": left,
    "put_batch_back": put_batch_back,
    "publish_batch": publish_batch,
    "publishing_fails": publishing_fails,
    "return_to_dropped_window": return_to_dropped_window,
    "drop_in_order": table,
    "drop_full_queue": table,
    "renew": renew,
    "lock_late": writes(Kind.LOCK, result=Result.OK),  # OR-10: a request that is served after the unlock
    "remove": remove,
    "remove_by_force": remove,
    "remove_and_unlock_later": leaves(Path.REMOVAL),
    "unlock_later": unlock,
    "recompute_offset": recompute_offset,
}
"""Actions of this file, by name."""
