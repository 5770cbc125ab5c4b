"""What changed in the last step, if a machine remembers the state before it (``watch_changes``)."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.correction import leaves_zombies
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, not_
from ..model.membership import Life
from ..model.offsets import broadcasting
from ..model.process_queue import held
from ..model.tags import filtered


def fine(s: GroupState) -> bool:
    """Whether a request can be under way for a while (``pulls=fine``)."""
    return bool(s.pulls == "fine")


def stays(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a window existed before the last step, and still exists."""
    return all_of(s.was.owns[c, q], s.owns[c, q])


def had(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the queue was in the table before the last step, dropped or not."""
    return any_of(s.was.owns[c, q], s.was.zombie[c, q] if leaves_zombies(s.constants) else False)


def works(s: GroupState, c: IntLike) -> BoolLike:
    """Whether a client was running before the last step, and still is."""
    return all_of(s.was.life[c] == Life.UP, s.life[c] == Life.UP)


def lives(s: GroupState, c: IntLike) -> BoolLike:
    """Whether the process of a client existed before the last step, and still exists."""
    return all_of(s.was.life[c] != Life.GONE, s.life[c] != Life.GONE)


def noted(s: GroupState, q: IntLike) -> BoolLike:
    """Whether the broker had noted a reset for ``q`` of which no client knew."""
    return s.was.reset_noted[q] if s.resets and s.version == "5.3.3" else False


def mark(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """The lowest message of a window, or the offset after the last one that was put into it."""
    last = s.put_end[c, q] if filtered(s.constants) else s.next_offset[c, q]
    return s.least(Message, lambda m: held(s, c, q, m), default=last)


def empty(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a window holds no message."""
    return s.forall(Message, lambda m: not_(held(s, c, q, m)))


def was_stored(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """What was stored about ``q`` before the last step, in the store that ``c`` reads."""
    return s.was.file[c, q] if broadcasting(s.constants) else s.was.committed[q]


def in_two_steps(s: GroupState) -> bool:
    """Whether other actions may come between setting a corrected offset and removing the queue (4.9.8)."""
    return bool(s.version == "4.9.8" and s.held_updates)
