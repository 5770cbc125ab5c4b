"""Windows: queues that enter and leave the table of a client, with the offsets that are then queried and stored.

Whatever the action, the events are derived from the table before and after it, so that a step of a broken machine is
recorded as it happened. RB-30, RB-32, RB-40.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ....model.offsets import broadcasting
from ....model.orderly import Result as Returned
from ....model.process_queue import NO_OFFSET, Stage
from ...claims.settings import IDLE_LIMIT
from ...format.kinds import Kind, Path, Result
from .step import Transition, View, alive

Record = Callable[[Transition], None]
"""Writes the events of a step."""

_PARTS = ("owns", "dropped", "zombie", "leftover")
"""A queue is in the table if one of these is true: in use, or dropped and not removed yet."""


def in_table(view: View, c: int, q: int) -> bool:
    """Whether ``c`` has a window over ``q``, dropped or not."""
    return any(view(part, c, q) for part in _PARTS)


def table(now: Transition, path: Path = Path.REMOVAL, *, asks: bool = True) -> None:
    """Queues that were dropped (for the reason ``path``), those that left the tables, and those that entered them.

    With ``asks``, the client was told just before where to start.
    """
    windows = [(c, q) for c in now.clients for q in now.queues]
    for c, q in windows:
        if now.before("owns", c, q) and not now.after("owns", c, q):
            now.by_client(Kind.REVOKE, c, q, path=path)
            now.recorder.old_epoch[c, q] = now.recorder.epochs[c, q]
            now.recorder.renews_subscription(c)
        if in_table(now.before, c, q) and not in_table(now.after, c, q):
            _is_removed(now, c, q)
    for c, q in windows:
        if now.after("owns", c, q) and not now.before("owns", c, q):
            _begins(now, c, q, asks)


def _is_removed(now: Transition, c: int, q: int) -> None:
    """A result on which a worker has not acted will not be acted on any more, and counts in memory are gone."""
    if now.before("result", c, q) != Returned.NONE:
        for m in now.messages:
            if now.before("stage", c, q, m) == Stage.RUNNING and not now.before("kept", c, q, m):
                now.from_dropped(Kind.DISCARDED, c, q, offset=m, key=now.key(q, m))
    forget_counts(now, c, q)


def _begins(now: Transition, c: int, q: int, asks: bool) -> None:
    recorder = now.recorder
    recorder.epochs[c, q] += 1
    forget_counts(now, c, q)
    recorder.renews_subscription(c)
    if not now.after.has("next_offset", c, q):
        now.by_client(Kind.ASSIGN, c, q)
        return
    start = now.after("next_offset", c, q)
    if now.after.has("holder", q):
        now.by_client(Kind.LOCK, c, q, result=Result.OK)
    if asks and not broadcasting(now.constants):
        nothing = now.before("committed", q) == NO_OFFSET and not (now.constants.head_in_memory and start == 0)
        answer = {"result": Result.MISSING} if nothing else {"result": Result.OK, "offset": start}
        now.by_client(Kind.OFFSET_QUERY, c, q, **answer, due=now.recorder.time)
    now.by_client(Kind.ASSIGN, c, q, offset=start)


def forget_counts(now: Transition, c: int, q: int) -> None:
    """The client's counts for the messages in its window over ``q`` are gone."""
    for m in now.messages:
        del now.recorder.failed[c, q, m]


def stored(now: Transition, c: int, path: Path) -> None:
    """The offsets that changed in the store, sent by ``c`` on the path ``path``; in broadcasting those of its file."""
    for q in now.queues:
        store = store_of(now, c, q)
        if NO_OFFSET != now.after(*store) != now.before(*store):
            way = Path.FILE if broadcasting(now.constants) else path
            now.by_client(Kind.COMMIT, c, q, offset=now.after(*store), path=way)


def store_of(now: Transition, c: int, q: int) -> tuple[Any, ...]:
    """The variable with the stored offset of ``q``; in broadcasting that of the file of ``c``."""
    if broadcasting(now.constants):
        return "file", 0 if now.constants.shared_file else c, q
    return "committed", q


def leaves(path: Path, commit: Path | None = None) -> Record:
    """A step in which a client drops queues for the reason ``path``, with its last commit on the path ``commit``."""

    def record(now: Transition) -> None:
        if now.after.has("memory", 0, 0):
            stored(now, now.c, commit or path)
        table(now, path)

    return record


def sent(path: Path) -> Record:
    """The offsets that changed in the store were sent by the action's client, on the path ``path``."""
    return lambda now: stored(now, now.c, path)


def writes(kind: Kind, **fields: Any) -> Record:
    """The action's client writes one event about the action's queue."""
    return lambda now: now.by_client(kind, now.c, now.q, **fields)


def in_turn(*records: Record) -> Record:
    """A step of several things, one after the other."""

    def record(now: Transition) -> None:
        for one in records:
            one(now)

    return record


def in_memory(now: Transition) -> None:
    """OF-1: the in-memory offsets that changed, in windows that did not begin in this step."""
    for c in now.clients:
        for q in now.queues:
            offset = now.after("memory", c, q, default=NO_OFFSET)
            fresh = now.after("owns", c, q) and not now.before("owns", c, q)
            if alive(now.after, c) and offset != NO_OFFSET and offset != now.before("memory", c, q) and not fresh:
                now.by_client(Kind.COMMIT_MEMORY, c, q, offset=offset)


# --- actions of any assignment --------------------------------------------------------------------------------------


def find_no_offset(now: Transition) -> None:
    """OF-21: QUERY_NOT_FOUND."""
    now.by_client(Kind.OFFSET_QUERY, now.c, now.q, result=Result.MISSING, due=now.recorder.time)


def drop_expired(now: Transition) -> None:
    """PQ-11: nobody has pulled the queue for that long."""
    now.wait_until(now.recorder.time + IDLE_LIMIT)
    leaves(Path.EXPIRED)(now)


def drop_delaying_commit(now: Transition) -> None:
    """OF-8: the last commit is still under way when the queue leaves."""
    now.recorder.under_way[now.q] = (now.c, Path.REMOVAL)
    table(now)


ACTIONS: dict[str, Record] = {
    "take": table,  # RB-30.3, RB-40: the queue enters the table
    "take_where_chosen": partial(table, asks=False),  # RB-40: that nothing is stored was recorded by an earlier query
    # RB-40: the queue is left out of this pass.
    "query_fails": in_turn(writes(Kind.OFFSET_QUERY, result=Result.ERROR), partial(table, asks=False)),
    "find_no_offset": find_no_offset,
    "drop": leaves(Path.REMOVAL),
    "drop_losing_commit": leaves(Path.REMOVAL),
    "drop_delaying_commit": drop_delaying_commit,
    "drop_expired": drop_expired,
}
"""Actions of this file, by name."""
