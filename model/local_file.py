"""The offset file of a broadcasting client: one JSON file for each client id and group, and a copy of the last one.

OF-10 (``LocalFileOffsetStore``, ``MixAll#string2File``). Every write reads the file, puts the owned queues in, copies
the old content to ``.bak`` and writes the new one. 5.x writes in place, so a death during the write leaves the file
empty or torn; 4.9.8 writes a file beside it and renames that, so a death leaves the old file, or none and a good copy.
A reader falls back to the copy if the file is missing, empty or unreadable. The next write of 5.x copies the bad file
over the good copy first, and dying once more in that write leaves nothing to read.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from .kernel import BoolLike, Constants, Int, IntLike, Machine, State, all_of, constant, ite, not_, variable
from .membership import Consumer
from .process_queue import NO_OFFSET
from .route import Chosen, Queue

if TYPE_CHECKING:
    from .group import GroupState


class Content(IntEnum):
    """What a reader finds where the file, or its copy, should be."""

    OFFSETS = 0
    MISSING = 1
    EMPTY = 2
    UNREADABLE = 3


class Source(IntEnum):
    """Where the offsets come from when they are read."""

    FILE = 0
    COPY = 1
    NOWHERE = 2
    ERROR = 3


class Torn(IntEnum):
    """What a death during a write leaves of the file that was being written: an empty or an unreadable one."""

    COPY_EMPTY = 0
    COPY_UNREADABLE = 1
    FILE_EMPTY = 2
    FILE_UNREADABLE = 3
    FILE_MISSING = 4


local_file = Machine("local_file", doc="Offset files of broadcasting clients: reading, writing, torn writes.")


def keeps_files(k: Constants) -> bool:
    """Whether clients keep their offsets in files of their own: in broadcasting."""
    return bool(k.mode == "broadcasting")


def _has_copy(k: Constants) -> bool:
    """Whether the copy matters: a reader may find the file in a bad state."""
    return bool(keeps_files(k) and k.torn_writes > 0)


def _first_entry(k: Constants, c: int, q: int) -> int:
    unused = k.shared_file and c > 0
    added = k.group == "scaled" and q == k.queues - 1
    return NO_OFFSET if k.group == "new" or unused or added else 0


def _first_content(k: Constants, c: int) -> Content:
    return Content.MISSING if k.group == "new" or (k.shared_file and c > 0) else Content.OFFSETS


@local_file.state
class LocalFileState(State):
    """Offset files, and what is read from them."""

    torn_writes = constant(0, high=3, doc="how many clients may die while they write their offset file")
    torn_writes_left: IntLike
    lost_files = constant(0, high=2, doc="how often a client may come back without its file (new address)")
    shared_file = constant(0, high=1, doc="1: all clients have one client id, and so one file (OF-11)")
    disk = constant("writable", choices=("writable", "read-only"), doc="where offset files are kept")
    file = variable(
        Int(NO_OFFSET, "messages"), Consumer, Queue, init=_first_entry, when=keeps_files, doc="entries; -1: none"
    )
    copy = variable(
        Int(NO_OFFSET, "messages"), Consumer, Queue, init=_first_entry, when=_has_copy, doc="entries of the .bak"
    )
    file_is = variable(Content, Consumer, init=_first_content, when=_has_copy)
    copy_is = variable(Content, Consumer, init=_first_content, when=_has_copy)


local_file.constraint(
    "mode",
    "torn_writes",
    "lost_files",
    "shared_file",
    "disk",
    holds=lambda k: keeps_files(k) or not k.torn_writes + k.lost_files + k.shared_file + (k.disk == "read-only"),
    message="only broadcasting clients keep offsets in a file",
)


def place(s: GroupState, c: IntLike) -> IntLike:
    """Whose file ``c`` uses: two processes with one client id use the same (EN-7, OF-11)."""
    return 0 if s.shared_file else c


@local_file.definition
def source(s: GroupState, c: IntLike) -> IntLike:
    """OF-10: where ``c`` finds its offsets: in the file, otherwise in the copy
    (``LocalFileOffsetStore#readLocalOffset``).

    An empty or missing copy counts as "no offsets yet"; only an unreadable one is an error.
    """
    if not s.torn_writes:
        return Source.FILE
    of_copy = s.copy_is[place(s, c)]
    beside = ite(
        of_copy == Content.OFFSETS, Source.COPY, ite(of_copy == Content.UNREADABLE, Source.ERROR, Source.NOWHERE)
    )
    return ite(s.file_is[place(s, c)] == Content.OFFSETS, Source.FILE, beside)


def read_entry(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """READ_FROM_STORE (OF-3): the stored offset of ``q``; -1 if there is none, or if reading fails."""
    in_file = s.file[place(s, c), q]
    if not s.torn_writes:
        return in_file
    found = source(s, c)
    return ite(found == Source.FILE, in_file, ite(found == Source.COPY, s.copy[place(s, c), q], NO_OFFSET))


def may_load(s: GroupState, c: IntLike) -> BoolLike:
    """OF-10: ``load`` refuses, and so does the start, if neither file nor copy can be read."""
    return not_(source(s, c) == Source.ERROR)


def may_write(s: GroupState, c: IntLike) -> BoolLike:
    """Whether a write succeeds: the disk accepts it, and what was written before can be read."""
    return all_of(s.disk == "writable", may_load(s, c))


@local_file.definition
def write_one(s: GroupState, c: IntLike, written: Chosen, offset: Callable[[IntLike], IntLike]) -> None:
    """``persist(mq)``: the entry of a single queue goes into the file, at a drop and after OFFSET_ILLEGAL."""
    write_file(s, c, written, offset)


def write_file(s: GroupState, c: IntLike, written: Chosen, offset: Callable[[IntLike], IntLike]) -> None:
    """OF-10: entries ``offset`` of queues ``written`` go into the file; the others stay as they are."""
    at = place(s, c)

    def merged(q: IntLike) -> IntLike:
        return ite(written(q), offset(q), read_entry(s, c, q))

    with s.when(all_of(may_write(s, c), s.exists(Queue, written))):
        _copy_old_content(s, at)
        s.file[at] = merged
        if s.torn_writes:
            s.file_is[at] = Content.OFFSETS


@local_file.definition
def worth_copying(s: GroupState, at: IntLike) -> BoolLike:
    """OF-10: the old content is copied if there is a file, whatever is in it (``MixAll#string2File``)."""
    return s.file_is[at] != Content.MISSING


def _copy_old_content(s: GroupState, at: IntLike) -> None:
    if s.torn_writes:
        copied = worth_copying(s, at)
        s.copy[at] = lambda q: ite(copied, s.file[at, q], s.copy[at, q])
        s.copy_is[at] = ite(copied, s.file_is[at], s.copy_is[at])


def possible(k: Constants, torn: Torn) -> bool:
    """Whether a write of this version can be torn in this way."""
    if torn in (Torn.COPY_EMPTY, Torn.COPY_UNREADABLE):
        return True
    return bool((torn is Torn.FILE_MISSING) == (k.version == "4.9.8"))


def tear(s: GroupState, c: IntLike, torn: Torn) -> None:
    """A write of ``c`` ends in the middle. If the copy was not touched yet, nothing has changed at all."""
    at = place(s, c)
    if torn in (Torn.COPY_EMPTY, Torn.COPY_UNREADABLE):
        with s.when(worth_copying(s, at)):
            s.copy[at] = lambda q: NO_OFFSET
            s.copy_is[at] = Content.EMPTY if torn is Torn.COPY_EMPTY else Content.UNREADABLE
        return
    left = {
        Torn.FILE_EMPTY: Content.EMPTY,
        Torn.FILE_UNREADABLE: Content.UNREADABLE,
        Torn.FILE_MISSING: Content.MISSING,
    }
    _copy_old_content(s, at)
    s.file[at] = lambda q: NO_OFFSET
    s.file_is[at] = left[torn]


def forget_file(s: GroupState, c: IntLike) -> None:
    """The file and copy of ``c`` are not where it looks for them."""
    at = place(s, c)
    s.file[at] = lambda q: NO_OFFSET
    if s.torn_writes:
        s.copy[at] = lambda q: NO_OFFSET
        s.file_is[at] = Content.MISSING
        s.copy_is[at] = Content.MISSING


@local_file.mutant(
    "G3",
    "broadcast-file-corrupt",
    of=source,
    killed_by="broadcast-starts-again",
    constants={"mode": "broadcasting", "consumers": 1, "crashes": 1, "restarts": 1, "torn_writes": 1},
)
def file_without_copy(s: GroupState, c: IntLike) -> IntLike:
    """Nobody reads the copy: after one death in the middle of a write the client refuses to start.

    Mechanism: progress is one file rewritten in place, before 33fef52706 without a fall-back. In 5.x the fall-back is
    there, but two deaths in a row still leave nothing to read.
    """
    if not s.torn_writes:
        return Source.FILE
    of_file = s.file_is[place(s, c)]
    return ite(
        of_file == Content.OFFSETS, Source.FILE, ite(of_file == Content.UNREADABLE, Source.ERROR, Source.NOWHERE)
    )


@local_file.mutant(
    "G4",
    "broadcast-offset-cannot-be-fixed",
    of=write_one,
    killed_by="broadcast-correction-ends",
    constants={"mode": "broadcasting", "consumers": 1, "retentions": 1},
)
def write_one_forgotten(s: GroupState, c: IntLike, written: Chosen, offset: Callable[[IntLike], IntLike]) -> None:
    """The single-queue save of the local store does nothing, so the corrected offset is never read back.

    Mechanism: OFFSET_ILLEGAL, save nothing, add the queue again at the old offset, OFFSET_ILLEGAL, without end.
    Source: #7740, fixed in 5.2.0.
    """
