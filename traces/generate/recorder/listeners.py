"""Listeners of concurrent consumption: calls, their results, and what leaves the window (CC-6 to CC-13)."""

from __future__ import annotations

from collections.abc import Iterable

from ....model.process_queue import Orphan, Stage
from ...format.kinds import Kind, Path, Result
from .step import Transition
from .windows import Record, in_turn


def called(now: Transition) -> None:
    """CC-6, OR-3: the listener is called with the messages that are in a call after the step, but were not before."""
    c, q = now.c, now.q
    batch = [m for m in now.messages if _runs_now(now, m)]
    for m in batch:
        now.wait_until(now.recorder.resubmitted.pop((c, q, m), 0))
    for m in batch:
        now.by_client(
            Kind.DELIVER,
            c,
            q,
            offset=m,
            next=batch[-1] + 1,
            count=len(batch),
            key=now.key(q, m),
            attempt=now.attempt(c, q, m),
        )


def _runs_now(now: Transition, m: int) -> bool:
    stage = now.after("stage", now.c, now.q, m)
    return stage == Stage.RUNNING != now.before("stage", now.c, now.q, m)


def task(now: Transition) -> list[int]:
    """The messages of the task that begins with the message of the action."""
    last = now.m
    while now.before("joined", now.c, now.q, last + 1) and last + 1 in now.messages:
        last += 1
    return list(range(now.m, last + 1))


def returned(now: Transition, result: Result, batch: Iterable[int]) -> None:
    """The call ends for the messages ``batch``."""
    c, q = now.c, now.q
    for m in batch:
        told = {"key": now.key(q, m), "attempt": now.attempt(c, q, m)}
        now.by_client(Kind.RESULT, c, q, offset=m, result=result, **told)


def left(now: Transition) -> None:
    """PQ-2: the messages that left the window of the action's client and queue, with the low-water mark afterwards."""
    c, q = now.c, now.q
    gone = [m for m in now.messages if now.before("stage", c, q, m) and not now.after("stage", c, q, m)]
    for m in gone:
        now.by_client(Kind.REMOVED, c, q, offset=m, next=_mark(now), key=now.key(q, m))
        del now.recorder.failed[c, q, m]


def _mark(now: Transition) -> int:
    """PQ-2: the smallest offset that is left, or the one after the last message that was put."""
    c, q = now.c, now.q
    behind = now.after("put_end" if now.after.has("put_end", c, q) else "next_offset", c, q)
    return next((m for m in now.messages if now.after("stage", c, q, m)), behind)


def task_ends(result: Result) -> Record:
    """CC-7, CC-10, CC-13: the listener returns; in broadcasting, failed messages leave the window as well (CC-11)."""
    return in_turn(lambda now: returned(now, result, task(now)), left)


def succeed_up_to(now: Transition) -> None:
    """CC-10: an ackIndex that leaves out the tail of the task."""
    last = now.arguments["last"]
    returned(now, Result.OK, [m for m in task(now) if m <= last])
    returned(now, Result.LATER, [m for m in task(now) if m > last])
    left(now)


def orphan_returns(result: Result) -> Record:
    """CC-9: the listener returns to a dropped window, and its result is discarded."""

    def record(now: Transition) -> None:
        key = now.key(now.q, now.m)
        now.from_dropped(Kind.RESULT, now.c, now.q, offset=now.m, result=result, key=key)
        if now.after("orphan", now.c, now.q, now.m) == Orphan.NONE:
            now.from_dropped(Kind.DISCARDED, now.c, now.q, offset=now.m, key=key)

    return record


def expire_unread(now: Transition) -> None:
    """PQ-9 (g): in broadcasting the copy goes to a topic that nobody reads."""
    key = now.key(now.q, now.m)
    now.by_client(Kind.EXPIRE, now.c, now.q, offset=now.m, key=key)
    now.by_client(Kind.SEND_BACK, now.c, now.q, offset=now.m, key=key, path=Path.EXPIRED, result=Result.OK)
    left(now)


def ghost_handles(now: Transition) -> None:
    """OF-31: a window that is in no table delivers, and writes the offset of its queue."""
    told = {"offset": now.m, "key": now.key(now.q, now.m), "attempt": 0}
    now.by_client(Kind.DELIVER, now.c, now.q, next=now.m + 1, count=1, **told)
    now.by_client(Kind.RESULT, now.c, now.q, result=Result.OK, **told)


ACTIONS: dict[str, Record] = {
    "begin": called,
    "succeed": task_ends(Result.OK),
    "fail": task_ends(Result.LATER),
    "succeed_up_to": succeed_up_to,
    "orphan_listener_fails": orphan_returns(Result.LATER),
    "orphan_succeeds": orphan_returns(Result.OK),
    "finish_without_update": task_ends(Result.OK),  # CC-13: the in-memory offset follows later
    "expire_unread": expire_unread,
    "ghost_handles": ghost_handles,
}
"""Actions of this file, by name."""
