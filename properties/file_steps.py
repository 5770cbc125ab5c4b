"""What a single step may do to the offset file of a broadcasting client, and to its backup copy."""

from __future__ import annotations

from ..model.consume_queue import Message
from ..model.group import GroupState
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, not_, same
from ..model.local_file import Content
from ..model.membership import Consumer, Life
from ..model.process_queue import NO_OFFSET
from ..model.route import Queue
from .of_each import always, sometimes


def _in_the_file(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    written = not_(same(s.file[c, q], s.was.file[c, q]))
    stops = all_of(s.was.life[c] == Life.STOPPING, not_(s.was.persisted[c])) if s.leaves else False
    own = all_of(any_of(s.was.life[c] == Life.UP, stops), s.was.owns[c, q], s.file[c, q] == s.was.memory[c, q])
    lost = (
        all_of(s.was.life[c] == Life.GONE, s.life[c] == Life.GONE, s.file[c, q] == NO_OFFSET) if s.lost_files else False
    )
    return implies(written, any_of(own, lost))


IN_THE_FILE = always(Consumer, Queue)(
    "file-has-what-was-remembered",
    (
        "A broadcasting client writes the offsets that it remembers into its file, and none after those of its "
        "shutdown; the file is left behind only while no process uses it."
    ),
    _in_the_file,
    "OF-10",
    "EN-7",
    "ST-8",
)
LEFT_BEHIND = sometimes(Consumer)(
    "file-may-be-left-behind",
    "A client may start without the file of its predecessor, although the predecessor had written one.",
    lambda s, c: all_of(
        s.was.life[c] == Life.GONE, s.life[c] == Life.UP, s.forall(Queue, lambda q: s.file[c, q] == NO_OFFSET)
    ),
    "EN-7",
)
FIRST_WRITE = sometimes(Consumer)(
    "file-is-written-before-the-first-message-is-done",
    "The first write of a broadcasting client may come, and be torn, before any message is handled.",
    lambda s, c: all_of(
        s.file_is[c] == Content.EMPTY, s.forall(Queue, lambda q: s.forall(Message, lambda m: not_(s.handled[q, m])))
    ),
    "OF-10",
)


def _torn_in_a_death(s: GroupState, c: IntLike) -> BoolLike:
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


TORN_IN_A_DEATH = always(Consumer)(
    "file-is-torn-in-a-death-only",
    (
        "Only a death during a write leaves an empty or torn file. The copy always has what the file had before the "
        "write, unless the copy itself was torn; then the file is unchanged."
    ),
    _torn_in_a_death,
    "OF-10",
)


def _starts(s: GroupState, c: IntLike) -> BoolLike:
    return all_of(s.was.life[c] == Life.GONE, s.life[c] == Life.UP)


STARTS_READABLE = always(Consumer)(
    "start-needs-a-file-or-a-copy",
    "A broadcasting client starts only where its file or its copy can be read, or nothing was ever written.",
    lambda s, c: implies(_starts(s, c), any_of(s.file_is[c] == Content.OFFSETS, s.copy_is[c] != Content.UNREADABLE)),
    "OF-10",
    "ST-1",
)
COPY_EMPTIED = sometimes(Consumer)(
    "copy-may-be-emptied",
    "A death in the middle of the copying may leave the copy empty, where the file has all offsets.",
    lambda s, c: all_of(
        s.was.life[c] == Life.UP,
        s.life[c] == Life.GONE,
        s.was.file_is[c] == Content.OFFSETS,
        s.copy_is[c] == Content.EMPTY,
    ),
    "OF-10",
)
COPY_RENEWED = sometimes(Consumer)(
    "copy-is-renewed-without-news",
    "A write that has nothing new for the file still makes a copy of it.",
    lambda s, c: all_of(
        s.was.file_is[c] == Content.OFFSETS,
        s.file_is[c] == Content.OFFSETS,
        s.was.copy_is[c] != Content.OFFSETS,
        s.copy_is[c] == Content.OFFSETS,
        s.forall(Queue, lambda q: same(s.file[c, q], s.was.file[c, q])),
    ),
    "OF-10",
)
COPY_CATCHES_UP = sometimes(Consumer)(
    "copy-gets-the-offsets-of-the-file",
    "The next write without news leaves the same offsets in file and copy.",
    lambda s, c: all_of(
        s.was.copy_is[c] == Content.OFFSETS,
        s.copy_is[c] == Content.OFFSETS,
        s.forall(Queue, lambda q: all_of(same(s.file[c, q], s.was.file[c, q]), same(s.copy[c, q], s.file[c, q]))),
        s.exists(Queue, lambda q: not_(same(s.copy[c, q], s.was.copy[c, q]))),
    ),
    "OF-10",
)
