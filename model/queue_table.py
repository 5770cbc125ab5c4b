"""The table of owned queues: what happens in a client when queues enter and leave it.

RB-30, RB-32: ``RebalanceImpl#updateProcessQueueTableInRebalance``, ``RebalancePushImpl#removeUnnecessaryMessageQueue``.
A queue that leaves is dropped with one last commit, which is one-way, without waiting for listeners that still run. A
queue that enters gets a new window, which starts at the offset that the broker returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .history import Cause, note_cause, note_commit, note_new_windows, note_start, note_taken, note_window
from .kernel import BoolLike, IntLike, all_of, any_of, ite, not_, same
from .local_file import write_one
from .membership import PROCESS, Consumer
from .offsets import accepts_commit, broadcasting, stored_offset, to_commit
from .process_queue import (
    NO_OFFSET,
    WINDOW,
    Orphan,
    Stage,
    held,
    listener_runs,
    lock_follows,
    process_forgets,
    process_queue,
    reaches_broker,
    window_empty,
    windows_change,
)
from .route import Chosen, nothing
from .start_position import start_offset
from .tags import filtered

if TYPE_CHECKING:
    from .group import GroupState


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """How queues leave a table."""

    cause: Cause = Cause.REBALANCE  # why messages may be delivered again afterwards
    persists: bool = True  # the final commit is sent and arrives (RB-32)
    # what is committed instead of the in-memory offset, if anything (OFFSET_ILLEGAL)
    offset: Callable[[IntLike], IntLike] | None = None
    because: Callable[[IntLike], IntLike] | None = None  # why that may be less than the committed offset
    keeps_entry: bool = False  # the in-memory offset stays for now
    clears: bool = False  # the window is emptied (PQ-12), so that it looks empty to a late answer
    listeners_go_on: bool = True  # the process stays alive, and so do its running listeners


def change_table(
    s: GroupState,
    c: IntLike,
    *,
    lost: Chosen,
    won: Chosen,
    leaving: Leaving | None = None,
    start: Callable[[IntLike], IntLike] | None = None,
) -> None:
    """Queues ``lost`` leave the table of ``c`` with everything in their windows, and queues ``won`` enter it."""
    s.owns[c] = lambda q: ite(lost(q), False, ite(won(q), True, s.owns[c, q]))
    change_windows(s, c, lost=lost, won=won, leaving=leaving, start=start)


@process_queue.definition
def change_windows(
    s: GroupState,
    c: IntLike,
    *,
    lost: Chosen,
    won: Chosen,
    leaving: Leaving | None = None,
    start: Callable[[IntLike], IntLike] | None = None,
) -> None:
    """The windows of queues ``lost`` end and windows of queues ``won`` begin; changing the table is left to the caller.

    They begin at ``start`` or, if it is not given, at the offset from the offset store (RB-40).
    """
    leaving = leaving or Leaving()
    gone = not leaving.listeners_go_on

    def first(q: IntLike) -> IntLike:
        return start_offset(s, c, q) if start is None else start(q)

    def entry(q: IntLike) -> IntLike:
        if gone:
            return NO_OFFSET
        left = s.memory[c, q] if leaving.keeps_entry else NO_OFFSET
        return ite(lost(q), left, ite(won(q), first(q), s.memory[c, q]))

    s.next_offset[c] = lambda q: ite(lost(q), 0, ite(won(q), first(q), s.next_offset[c, q]))
    s.memory[c] = entry
    s.reset(WINDOW, c, ended=lost)
    if gone:
        s.reset(PROCESS, c)
        process_forgets(s, c)
    if filtered(s.constants):
        s.put_end[c] = lambda q: ite(any_of(lost(q), won(q)), 0, s.put_end[c, q])
    note_start(s, c, won, first)
    if won is not nothing:
        note_taken(s, c, won)
    note_new_windows(s, c, lambda q: any_of(lost(q), won(q)))
    windows_change(s, c)
    lock_follows(s, c, lost, won)
    if s.orphans and not gone:
        s.orphan[c] = lambda q, m: ite(lost(q), _orphan(s, c, q, m), s.orphan[c, q, m])
    if s.pulls == "fine" and not gone:
        _leave_request(s, c, lost, leaving)
    _persist(s, c, lost, won, leaving)


def _leave_request(s: GroupState, c: IntLike, lost: Chosen, leaving: Leaving) -> None:
    """A request under way will still be answered, to a dead window (PL-24)."""

    def empty(q: IntLike) -> BoolLike:
        return True if leaving.clears else window_empty(s, c, q)

    s.stale_empty[c] = lambda q: ite(all_of(lost(q), s.asked[c, q]), empty(q), s.stale_empty[c, q])
    s.stale[c] = lambda q: ite(all_of(lost(q), s.asked[c, q]), s.next_offset[c, q], s.stale[c, q])


def _orphan(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> IntLike:
    stage = s.stage[c, q, m]
    return ite(listener_runs(s, c, q, m), Orphan.RUNNING, ite(stage == Stage.FAILED, Orphan.FAILED, s.orphan[c, q, m]))


def _comes_elsewhere(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether another client, which owns the queue as well, has ``m`` in its window or will pull it."""

    def coming(d: IntLike) -> BoolLike:
        return all_of(not_(same(d, c)), s.owns[d, q], any_of(held(s, d, q, m), s.next_offset[d, q] <= m))

    return s.exists(Consumer, coming)


def _persist(s: GroupState, c: IntLike, lost: Chosen, won: Chosen, leaving: Leaving) -> None:
    def value(q: IntLike) -> IntLike:
        return to_commit(s, c, q) if leaving.offset is None else leaving.offset(q)

    def sent(q: IntLike) -> BoolLike:
        if not leaving.persists:
            return False
        return all_of(lost(q), value(q) != NO_OFFSET, reaches_broker(s, c, q), accepts_commit(s, q))

    def offset(q: IntLike) -> IntLike:
        return ite(sent(q), value(q), stored_offset(s, c, q))

    note_cause(s, leaving.cause, lambda q, m: all_of(lost(q), any_of(offset(q) <= m, _comes_elsewhere(s, c, q, m))))
    if broadcasting(s.constants):
        if leaving.persists:
            write_one(s, c, sent, value)
    elif not leaving.persists:
        note_window(s, c, lambda q: any_of(all_of(lost(q), not leaving.keeps_entry), won(q)))
    else:
        note_commit(s, sent, offset, by=c, because=leaving.because, renewed=lambda q: any_of(lost(q), won(q)))
        s.committed = offset
