"""Texts of conformance: steps of the machine that a recording shows in halves, later, or for several messages at
once.

A search needs few and large steps; a recording shows small ones, each by the thread that makes it. Every text here says
for which actions of the machine it stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...model.concurrently import may_send_back
from ...model.consume_queue import Message
from ...model.first_query import enter_at
from ...model.lock import obtainable, uses_locks
from ...model.membership import Life
from ...model.offsets import broadcasting
from ...model.process_queue import NO_OFFSET, Orphan, Stage, finish, held, low_water_mark, take_out, window_empty
from ...model.pull import answers, correct_tags_offset
from ...model.queue_table import Leaving, change_table
from ...model.route import nothing
from ...model.tags import filtered

if TYPE_CHECKING:
    from ...model.group import GroupState

Q = 0
"""The machine has one queue."""


def mark(s: GroupState, c: int) -> int:
    """PQ-2: the low-water mark of a window: the smallest offset that it holds, or the one after the last it got."""
    return int(low_water_mark(s, c, Q, lambda m: False))


def store_offset(s: GroupState, c: int, offset: int) -> None:
    """OF-20: a commit arrives: ``commit``, or ``commit_late`` and ``late_commit_arrives``, at an unrecorded time."""
    if broadcasting(s.constants):
        s.file[c, Q] = offset
    else:
        s.committed[Q] = offset


def take_at(s: GroupState, c: int, offset: int) -> None:
    """``take``, with the answer of a query that other commits have overtaken; or ``take_where_chosen``.

    RB-43: the store's answer becomes the in-memory offset; see :func:`without_entry` for the case without an answer.
    """
    s.require(s.life[c] == Life.UP, not s.owns[c, Q])
    if uses_locks(s.constants):
        s.require(obtainable(s, c, Q))
    enter_at(s, c, Q, offset)


def without_entry(s: GroupState, c: int) -> None:
    """RB-43: if nothing is stored, the client begins where it chooses, and initially has no offset in memory.

    Then the first answer without messages, or the first message that leaves, makes the entry (OF-1). The machine begins
    with one: a search cannot distinguish the two.
    """
    s.memory[c, Q] = NO_OFFSET


def ask_again(s: GroupState, c: int, offset: int) -> None:
    """PL-11: ``recompute_offset``: the first pull with a lock begins at the offset that the broker answers by then."""
    s.require(s.owns[c, Q])
    s.next_offset[c, Q] = offset
    s.memory[c, Q] = offset


def late_update(s: GroupState, c: int, offset: int) -> None:
    """G2-9: ``update_late``: a worker of an old window raises the in-memory offset of the new one."""
    s.memory[c, Q] = max(s.memory[c, Q], offset)


def answer(s: GroupState, c: int, came: frozenset[int], after: int) -> None:
    """PL-23 FOUND and NO_MATCHED_MSG with an expression: ``answer_found`` for several messages at once, some left
    out.

    The received messages are put, and the position moves past everything that was scanned; if nothing is put, an empty
    window moves its offset (FI-3).
    """
    s.require(answers(s, c, Q))
    s.stage[c, Q] = lambda m: Stage.WAITING if m in came else int(s.stage[c, Q, m])
    s.next_offset[c, Q] = after
    s.asked[c, Q] = False
    if came and filtered(s.constants):
        s.put_end[c, Q] = max(came) + 1
    if not came:
        correct_tags_offset(s, c, Q, after)


def in_tasks_of(s: GroupState, c: int, pulled: range, size: int) -> None:
    """CC-1: pulled messages are put into tasks of ``size``; other members, or other times, may have larger ones.

    No message after them is in their tasks: what an earlier window had left is not looked at when the window ends.
    """
    s.joined[c, Q] = lambda m: (m - pulled.start) % size != 0 if m in pulled else m < pulled.start and s.joined[c, Q, m]


def not_taken(s: GroupState, c: int, beyond: frozenset[int]) -> None:
    """OR-3: ``begin_batch`` of a member whose calls have fewer messages: those beyond them wait on."""
    s.stage[c, Q] = lambda m: Stage.WAITING if m in beyond else int(s.stage[c, Q, m])


def nothing_new(s: GroupState, c: int) -> None:
    """``answer_nothing`` at an earlier moment: messages stored since then are not in the answer."""
    s.require(answers(s, c, Q))
    correct_tags_offset(s, c, Q, s.next_offset[c, Q])
    s.asked[c, Q] = False


def answered_with_error(s: GroupState, c: int) -> None:
    """PL-16: the broker refuses the request, and the client sends the same one again."""
    s.asked[c, Q] = False


def end_correction(s: GroupState, c: int) -> None:
    """``end_correction_late``: the queue is removed; the corrected offset shows when it is stored."""
    s.require(s.target[c, Q] != NO_OFFSET)
    change_table(s, c, lost=lambda _: True, won=nothing, leaving=Leaving(persists=False))
    s.zombie[c, Q] = False
    s.target[c, Q] = NO_OFFSET


def expire(s: GroupState, c: int, m: int) -> None:
    """PQ-9: ``clean_expired`` without the copy, which is followed elsewhere."""
    s.require(may_send_back(s, c), s.stage[c, Q, m] == Stage.RUNNING)
    s.require(s.forall(Message, lambda o: o >= m or not held(s, c, Q, o)))
    take_out(s, c, Q, lambda o: o == m)
    s.orphan[c, Q, m] = Orphan.RUNNING
    if s.batch > 1:
        s.joined[c, Q] = lambda o: s.joined[c, Q, o] and o != m + 1  # the others of its task go on without it


def follow_mark(s: GroupState, c: int) -> None:
    """CC-13: the successful messages of a call are removed after the rest was sent back, or could not be."""
    finish(s, c, Q, lambda _: False)


def overdue_returns(s: GroupState, c: int, m: int) -> None:
    """``overdue_succeeds`` and ``overdue_fails``: nothing is left to remove, and the offset follows the mark."""
    s.require(s.orphan[c, Q, m] == Orphan.RUNNING)
    s.orphan[c, Q, m] = Orphan.NONE
    with s.when(bool(s.owns[c, Q]) and not window_empty(s, c, Q)):
        finish(s, c, Q, lambda _: False)


def persisted(s: GroupState, c: int) -> None:
    """ST-8 (2): ``unregister`` at the moment of the last persist; messages finished later are not committed (ST-9)."""
    s.require(s.life[c] == Life.STOPPING)
    s.persisted[c] = True


def forget(s: GroupState, c: int) -> None:
    """The knowledge about a window is given up, after a mismatch or a gap."""
    change_table(s, c, lost=lambda _: True, won=nothing, leaving=Leaving(persists=False, listeners_go_on=False))
    s.life[c] = Life.UP


def clear(s: GroupState, c: int, flags: tuple[str, ...]) -> None:
    """After a mismatch: nothing about the queue is left in the table of a client."""
    for name in flags:
        getattr(s, name)[c, Q] = False


def note_reset(s: GroupState, noted: bool) -> None:
    """OF-30: whether the next pull is informed of a reset."""
    s.reset_noted[Q] = noted


def unlocked(s: GroupState, holder: int) -> None:
    """After a mismatch, or a late request: the broker's lock belongs to ``holder``: 1 + a client, or 0 for nobody."""
    s.holder[Q] = holder
    s.holder_age[Q] = 0
