"""Broadcasting: every client owns every queue, consumes everything, and keeps its offsets in a file of its own.

Section 12 of the rules. No member list, no lock, no retry topic: a message whose listener failed is dropped with a log
line (CC-11). Progress is only the file (OF-10), so what becomes of the file decides what a restarted client repeats
or skips. The client id is ``ip@DEFAULT`` (EN-7): a restart finds the same file, a new address finds none, and two
processes on one host overwrite each other's (OF-11).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .concurrently import concurrent
from .consume_queue import Message
from .faults import may_start, vanish
from .history import Cause
from .kernel import BoolLike, Constants, IntLike, Machine, all_of, any_of, not_, same
from .local_file import (
    Torn,
    forget_file,
    may_load,
    may_write,
    place,
    possible,
    read_entry,
    tear,
    worth_copying,
    write_file,
)
from .membership import Consumer, Life
from .offsets import broadcasting, to_commit
from .process_queue import NO_OFFSET, Orphan, Stage, held, take_out, working
from .queue_table import Leaving
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

broadcast = Machine("broadcasting", doc="What only broadcasting clients do: offset files, and messages that expire.")
broadcast.constraint(
    "mode",
    "late_commits",
    "lost_commits",
    "failed_queries",
    "broker_restarts",
    "copies",
    "refusals",
    holds=lambda k: (
        not broadcasting(k)
        or k.late_commits + k.lost_commits + k.failed_queries + k.broker_restarts + k.copies + k.refusals == 0
    ),
    message="broadcasting clients send the broker no commits, offset queries or send-backs",
)
broadcast.constraint(
    "mode", "causes", holds=lambda k: not (broadcasting(k) and k.causes), message="with broadcasting use watch_clients"
)


def _expires(k: Constants) -> bool:
    return broadcasting(k) and concurrent(k)


@broadcast.refine(may_start)
def file_can_be_read(s: GroupState, c: IntLike) -> BoolLike:
    """OF-10, ST-1: ``load`` is a step of the start, and its exception ends the start."""
    return may_load(s, c) if broadcasting(s.constants) else True


def _saved(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether ``persistAll`` would write an entry for ``q``: it is owned, and has an offset in memory."""
    return all_of(s.owns[c, q], to_commit(s, c, q) != NO_OFFSET)


def _news(s: GroupState, c: IntLike) -> BoolLike:
    """Whether a write would change anything: the file itself, or at least its backup copy."""
    at = place(s, c)

    def differs(q: IntLike) -> BoolLike:
        return all_of(_saved(s, c, q), to_commit(s, c, q) != read_entry(s, c, q))

    news = s.exists(Queue, differs)
    if not s.torn_writes:
        return news
    stale_copy = any_of(s.copy_is[at] != s.file_is[at], s.exists(Queue, lambda q: s.copy[at, q] != s.file[at, q]))
    return any_of(news, all_of(s.exists(Queue, lambda q: _saved(s, c, q)), stale_copy))


@broadcast.action(
    fair=True,
    tells="{c} writes its offsets to its file",
    when=lambda k: broadcasting(k) and k.disk == "writable",
)
def persist(s: GroupState, c: Consumer) -> None:
    """OF-10, ST-3: ``persistAll``, every 5 s, whether or not anything changed: even a write without news renews the
    copy.
    """
    s.require(working(s, c), may_write(s, c), _news(s, c))
    write_file(s, c, lambda q: _saved(s, c, q), lambda q: to_commit(s, c, q))


@broadcast.action(budget="torn_writes", tells="{c} dies while it writes its file; what was being written is {torn}")
def die_while_writing(s: GroupState, c: Consumer, torn: Torn) -> None:
    """OF-10: a kill, or a loss of power, between two steps of ``MixAll#string2File``."""
    s.require(possible(s.constants, torn), s.life[c] != Life.GONE, may_write(s, c))
    s.require(s.exists(Queue, lambda q: _saved(s, c, q)))
    if torn in (Torn.COPY_EMPTY, Torn.COPY_UNREADABLE):
        s.require(worth_copying(s, place(s, c)))
    tear(s, c, torn)
    vanish(s, c, Leaving(cause=Cause.CRASH, persists=False, listeners_go_on=False))


@broadcast.action(budget="lost_files", tells="the place of {c} gets a new address, so its file stays behind")
def lose_file(s: GroupState, c: Consumer) -> None:
    """EN-7: the file is found by the client id, which contains the address; or somebody deletes a broken file."""
    s.require(s.life[c] == Life.GONE)
    forget_file(s, c)


@broadcast.action(budget="expiries", tells="{c} sends {m} of {q} back after the timeout, for nobody", when=_expires)
def expire_unread(s: GroupState, c: Consumer, q: Queue, m: Message) -> None:
    """PQ-9 (g): the cleaner ignores the message model; the copy goes to a retry topic to which no client here
    subscribes.

    Only the first message of a window can expire. It leaves the window without moving the offset, and its listener
    continues to run. ``ProcessQueue#cleanExpiredMsg``.
    """
    s.require(working(s, c), s.owns[c, q], s.stage[c, q, m] == Stage.RUNNING)
    s.require(s.forall(Message, lambda o: any_of(m <= o, not_(held(s, c, q, o)))))
    take_out(s, c, q, lambda o: same(o, m))
    if s.orphans:
        s.orphan[c, q, m] = Orphan.RUNNING


broadcast.misconfiguration(
    "A1-broadcast",
    "two-processes-one-offset-file",
    killed_by="broadcast-nothing-skipped",
    constants={"mode": "broadcasting", "messages": 2, "crashes": 1, "restarts": 1, "watch_clients": 1},
    sets={"shared_file": 1},
    doc="Two broadcasting processes on one host have the client id ip@DEFAULT and one offset file: after a restart the "
    "slower one begins where the faster one was. Give each an instance name of its own.",
)


@broadcast.mutant(
    "B7-broadcast",
    "file-gets-the-pull-position",
    killed_by="broadcast-nothing-skipped",
    of=persist,
    constants={"mode": "broadcasting", "messages": 2, "crashes": 1, "restarts": 1, "watch_clients": 1},
)
def persist_pull_position(s: GroupState, c: Consumer) -> None:
    """The position of the next pull is saved in the place of the low-water mark, so a restart skips the window."""
    s.require(working(s, c), may_write(s, c), s.exists(Queue, lambda q: s.owns[c, q]))
    write_file(s, c, lambda q: s.owns[c, q], lambda q: s.next_offset[c, q])


@broadcast.mutant(
    "B10-broadcast",
    "offsets-stay-in-memory",
    killed_by="broadcast-progress-saved",
    of=persist,
    constants={"mode": "broadcasting", "messages": 1},
)
def persist_what_was_read(s: GroupState, c: Consumer) -> None:
    """The file is written again without what is in memory, so a restart repeats everything."""
    s.require(working(s, c), may_write(s, c), _news(s, c))
    write_file(s, c, lambda q: _saved(s, c, q), lambda q: read_entry(s, c, q))


broadcast.explanation(
    "G5",
    "broadcast-failure-dropped",
    naive="broadcast-handled-by-each",
    exact="broadcast-nothing-skipped",
    constants={"mode": "broadcasting", "messages": 2, "failures": 1, "watch_clients": 1},
    doc="There is no retry topic in broadcasting: a message whose listener fails is logged and passed (CC-11). Every "
    "listener is called with every message, and that is all there is. Retry inside the listener, or use clustering.",
)
broadcast.explanation(
    "G3-torn-twice",
    "good-copy-overwritten-by-torn-file",
    naive="broadcast-starts-again",
    exact="broadcast-locked-out-after-two-torn-writes",
    constants={"mode": "broadcasting", "consumers": 1, "restarts": 2, "torn_writes": 2, "watch_clients": 1},
    doc="5.x writes in place and copies the torn file over the good copy at the next write: two deaths in the middle "
    "of a write leave nothing to read. 4.9.8 writes beside the file and renames; there one of the two is always good.",
)
