"""Offsets: the in-memory table of a client, the cell of the broker, and the messages between them.

The broker's cell is overwritten by every commit that arrives, from any client (OF-20:
``ConsumerOffsetManager#commitOffset``). A commit is one-way: it may be lost, and it may arrive after later ones (OF-5,
OF-8). The cell is written to disk only every 5 s (OF-23), so a crash of the broker takes it back. A broadcasting client
keeps its offsets in a file of its own (OF-10: ``LocalFileOffsetStore``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .history import Cause, Regression, note_cause, note_commit, note_sender
from .kernel import BoolLike, Constants, Int, IntLike, Machine, State, all_of, constant, ite, variable
from .local_file import local_file, may_write, read_entry, write_file
from .membership import Consumer
from .process_queue import NO_OFFSET, in_table, reaches_broker, working
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

offsets = Machine("offsets", doc="Committed offsets, how they are written and read.").include(local_file)


def may_be_missing(k: Constants) -> bool:
    """Whether some queue may have no stored offset."""
    return bool(k.group != "known" or k.recreations + k.torn_writes + k.lost_files > 0)


def lowest(k: Constants) -> int:
    """The lowest value of a stored offset; -1 where there may be none."""
    return NO_OFFSET if may_be_missing(k) else 0


def stored_at_start(k: Constants, q: int) -> int:
    """The stored offset of ``q`` in the initial state."""
    return NO_OFFSET if k.group == "new" or (k.group == "scaled" and q == k.queues - 1) else 0


def broadcasting(k: Constants) -> bool:
    """Whether every client consumes everything, and keeps its own offsets."""
    return bool(k.mode == "broadcasting")


def _restarts(k: Constants) -> bool:
    return bool(k.broker_restarts > 0 and not broadcasting(k))


@offsets.state
class OffsetsState(State):
    """Offsets at the broker, and on their way to it."""

    mode = constant("clustering", choices=("clustering", "broadcasting"), doc="message model of the group")
    version = constant("5.3.3", choices=("5.3.3", "4.9.8"), doc="version of clients and broker")
    group = constant(
        "known",
        choices=("known", "new", "scaled"),
        doc="new: no offsets are stored for it at first; scaled: none for the last queue, which was added to the topic",
    )
    late_commits = constant(0, high=3, doc="how many commits may arrive late")
    failed_queries = constant(0, high=2, doc="how many offset queries may fail")
    committed = variable(
        Int(lowest, "messages"),
        Queue,
        init=stored_at_start,
        when=lambda k: not broadcasting(k),
        doc="the broker's cell (OF-20)",
    )
    late = variable(Int(NO_OFFSET, "messages"), Queue, when=lambda k: k.late_commits > 0, doc="a commit under way")
    on_disk = variable(
        Int(lowest, "messages"), Queue, init=stored_at_start, when=_restarts, doc="the cell as last flushed (OF-23)"
    )


@offsets.definition
def stored_offset(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """READ_FROM_STORE (OF-3): the broker's cell, or the client's own file; -1 if there is none."""
    return read_entry(s, c, q) if broadcasting(s.constants) else s.committed[q]


@offsets.definition
def accepts_commit(s: GroupState, q: IntLike) -> BoolLike:
    """OF-22: whether the broker accepts commits of ``q``; otherwise it answers SUCCESS and ignores them."""
    return True


def write_offset(
    s: GroupState,
    c: IntLike,
    q: IntLike,
    offset: IntLike,
    cause: Cause = Cause.OFFSET_WENT_BACK,
    *,
    because: Regression | None = None,
    checked: bool = True,
) -> None:
    """OF-20: a commit arrives and overwrites the cell, larger or smaller; messages above a smaller one come again.

    Without ``because`` it is the window of ``c`` that sends its own offset. A commit that comes with a pull is not
    ``checked`` (OF-30).
    """
    if broadcasting(s.constants):
        write_file(s, c, lambda p: p == q, lambda _: offset)
        return
    written = ite(accepts_commit(s, q), offset, s.committed[q]) if checked else offset
    if because is None:
        note_commit(s, lambda p: p == q, lambda _: written, by=c)
        note_sender(s, c, in_table(s, c, q))
    else:
        note_commit(s, lambda p: p == q, lambda _: written, because=lambda _: because)
    note_cause(s, cause, lambda p, m: all_of(p == q, written <= m, m < s.committed[q]))
    s.committed[q] = written


@offsets.definition
def to_commit(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """The value that a commit carries: the in-memory offset; if it is -1, nothing is sent (OF-5)."""
    return s.memory[c, q]


def may_commit(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a commit of ``c`` would change what is stored of ``q`` (OF-6)."""
    offset = to_commit(s, c, q)
    possible = may_write(s, c) if broadcasting(s.constants) else reaches_broker(s, c, q)
    return all_of(in_table(s, c, q), offset != NO_OFFSET, offset != stored_offset(s, c, q), possible)


def late_slot_free(s: GroupState, q: IntLike) -> BoolLike:
    """Whether no commit of ``q`` is delayed; the machine follows one delayed commit at a time."""
    return s.late[q] == NO_OFFSET


@offsets.action(fair=True, tells="{c} commits the offset of {q}", when=lambda k: not broadcasting(k))
def commit(s: GroupState, c: Consumer, q: Queue) -> None:
    """OF-6: every 5 s the in-memory offsets are sent (``RemoteBrokerOffsetStore#persistAll``); this commit arrives."""
    s.require(working(s, c), may_commit(s, c, q))
    write_offset(s, c, q, to_commit(s, c, q))


@offsets.action(budget="late_commits", tells="{c} commits the offset of {q}; the message is held up")
def commit_late(s: GroupState, c: Consumer, q: Queue) -> None:
    """OF-5, OF-8: commits are one-way, so one may be overtaken by later ones, of this client or of another."""
    s.require(working(s, c), may_commit(s, c, q), late_slot_free(s, q))
    s.late[q] = to_commit(s, c, q)


@offsets.action(tells="the held-up commit of {q} arrives", when=lambda k: k.late_commits > 0)
def late_commit_arrives(s: GroupState, q: Queue) -> None:
    """OF-20: the broker checks neither who sent it nor when."""
    s.require(s.late[q] != NO_OFFSET)
    write_offset(s, 0, q, s.late[q], because=Regression.LATE_COMMIT)
    s.late[q] = NO_OFFSET


@offsets.action(fair=True, tells="the broker writes the offset of {q} to disk", when=_restarts)
def flush(s: GroupState, q: Queue) -> None:
    """OF-23: every 5 s the table is written to ``consumerOffset.json`` (``ConfigManager#persist``)."""
    s.require(s.on_disk[q] != s.committed[q])
    s.on_disk[q] = s.committed[q]


def _one_broker(k: Constants) -> bool:
    """Whether brokers are not followed individually; if they are, a restart takes their members as well."""
    return not broadcasting(k) and "brokers" not in k


@offsets.action(budget="broker_restarts", tells="the broker crashes and comes back", when=_one_broker)
def restart_offsets(s: GroupState) -> None:
    """OF-23: commits after the last flush are lost; clients that are alive send theirs again within 5 s."""
    note_commit(s, lambda _: True, lambda q: s.on_disk[q], because=lambda _: Regression.BROKER_RESTART)
    note_cause(s, Cause.BROKER_RESTART, lambda q, m: all_of(s.on_disk[q] <= m, m < s.committed[q]))
    s.committed = lambda q: s.on_disk[q]


@offsets.mutant(
    "B10",
    "manual-commit-never-persisted",
    of=commit,
    killed_by="progress-is-stored",
    constants={"messages": 1, "consumers": 1},
)
def never_persists(s: GroupState, c: Consumer, q: Queue) -> None:
    """The periodic writer returns early, so a commit changes memory only, and a restart repeats everything.

    apache/rocketmq#5635, fixed in 5.1.0 (lite pull without automatic commit).
    """
    s.require(working(s, c), may_commit(s, c, q))
