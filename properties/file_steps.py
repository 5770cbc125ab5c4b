"""What a single step may do to the offset file of a broadcasting client, and to its backup copy."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.local_file import Content
from ..model.membership import Consumer, Life
from ..model.process_queue import NO_OFFSET
from ..model.route import Queue
from .property import always, sometimes


@always("file-has-what-was-remembered", "OF-10", "EN-7", "ST-8")
def in_the_file(s: GroupState, c: Consumer, q: Queue) -> BoolLike:
    """A broadcasting client writes the offsets that it remembers into its file, and none after those of its shutdown;
    the file is left behind only while no process uses it.
    """
    written = not_(same(s.file[c, q], s.was.file[c, q]))
    stops = all_of(s.was.life[c] == Life.STOPPING, not_(s.was.persisted[c])) if s.leaves else False
    own = all_of(any_of(s.was.life[c] == Life.UP, stops), s.was.owns[c, q], s.file[c, q] == s.was.memory[c, q])
    lost = (
        all_of(s.was.life[c] == Life.GONE, s.life[c] == Life.GONE, s.file[c, q] == NO_OFFSET) if s.lost_files else False
    )
    return implies(written, any_of(own, lost))


@sometimes("file-may-be-left-behind", "EN-7")
def left_behind(s: GroupState, c: Consumer) -> BoolLike:
    """A client may start without the file of its predecessor, although the predecessor had written one."""
    return all_of(
        s.was.life[c] == Life.GONE, s.life[c] == Life.UP, s.forall(Queue, lambda q: s.file[c, q] == NO_OFFSET)
    )


@sometimes("file-is-written-before-the-first-message-is-done", "OF-10")
def first_write(s: GroupState, c: Consumer) -> BoolLike:
    """The first write of a broadcasting client may come, and be torn, before any message is handled."""
    return all_of(
        s.file_is[c] == Content.EMPTY, s.forall(Queue, lambda q: s.forall(Message, lambda m: not_(s.handled[q, m])))
    )


@always("file-is-torn-in-a-death-only", "OF-10")
def torn_in_a_death(s: GroupState, c: Consumer) -> BoolLike:
    """Only a death during a write leaves an empty or torn file. The copy always has what the file had before the write,
    unless the copy itself was torn; then the file is unchanged.
    """
    died = all_of(s.was.life[c] != Life.GONE, s.life[c] == Life.GONE)
    file_torn = all_of(not_(same(s.file_is[c], s.was.file_is[c])), s.file_is[c] != Content.OFFSETS)
    copied = all_of(
        same(s.copy_is[c], s.was.file_is[c]), s.forall(Queue, lambda q: same(s.copy[c, q], s.was.file[c, q]))
    )
    kept = all_of(same(s.copy_is[c], s.was.copy_is[c]), s.forall(Queue, lambda q: same(s.copy[c, q], s.was.copy[c, q])))
    copy_torn = all_of(
        any_of(s.copy_is[c] == Content.EMPTY, s.copy_is[c] == Content.UNREADABLE),
        same(s.file_is[c], s.was.file_is[c]),
        died,
    )
    writes = s.exists(Queue, lambda q: all_of(s.was.owns[c, q], s.was.memory[c, q] != NO_OFFSET))
    return all_of(implies(file_torn, all_of(died, writes)), any_of(kept, copied, copy_torn))


def _starts(s: GroupState, c: IntLike) -> BoolLike:
    return all_of(s.was.life[c] == Life.GONE, s.life[c] == Life.UP)


@always("start-needs-a-file-or-a-copy", "OF-10", "ST-1")
def starts_readable(s: GroupState, c: Consumer) -> BoolLike:
    """A broadcasting client starts only where its file or its copy can be read, or nothing was ever written."""
    return implies(_starts(s, c), any_of(s.file_is[c] == Content.OFFSETS, s.copy_is[c] != Content.UNREADABLE))


@sometimes("copy-may-be-emptied", "OF-10")
def copy_emptied(s: GroupState, c: Consumer) -> BoolLike:
    """A death in the middle of the copying may leave the copy empty, where the file has all offsets."""
    return all_of(
        s.was.life[c] == Life.UP,
        s.life[c] == Life.GONE,
        s.was.file_is[c] == Content.OFFSETS,
        s.copy_is[c] == Content.EMPTY,
    )


@sometimes("copy-is-renewed-without-news", "OF-10")
def copy_renewed(s: GroupState, c: Consumer) -> BoolLike:
    """A write that has nothing new for the file still makes a copy of it."""
    return all_of(
        s.was.file_is[c] == Content.OFFSETS,
        s.file_is[c] == Content.OFFSETS,
        s.was.copy_is[c] != Content.OFFSETS,
        s.copy_is[c] == Content.OFFSETS,
        s.forall(Queue, lambda q: same(s.file[c, q], s.was.file[c, q])),
    )


@sometimes("copy-gets-the-offsets-of-the-file", "OF-10")
def copy_catches_up(s: GroupState, c: Consumer) -> BoolLike:
    """The next write without news leaves the same offsets in file and copy."""
    return all_of(
        s.was.copy_is[c] == Content.OFFSETS,
        s.copy_is[c] == Content.OFFSETS,
        s.forall(Queue, lambda q: all_of(same(s.file[c, q], s.was.file[c, q]), same(s.copy[c, q], s.file[c, q]))),
        s.exists(Queue, lambda q: not_(same(s.copy[c, q], s.was.copy[c, q]))),
    )
