"""Offsets: the in-memory table of a client, the cell of the broker, and the messages between them.

The broker's cell is overwritten by whatever arrives, from whomever (OF-20: ``ConsumerOffsetManager#commitOffset``). A
commit is one-way: it may be lost, and it may arrive after later ones (OF-5, OF-8). The cell is written to disk only
every 5 s (OF-23), so a crash of the broker takes it back. A broadcasting client keeps its offsets in a file of its own
(OF-10: ``LocalFileOffsetStore``).
"""

from __future__ import annotations

from .consume_queue import end, is_retry, start
from .history import Cause, note_cause, note_commit
from .kernel import BoolLike, Constants, Int, IntLike, Machine, State, all_of, ite, not_
from .local_file import local_file, may_write, read_entry, write_file
from .membership import Consumer
from .process_queue import NO_OFFSET, may_take, reaches_broker, working
from .rebalance import Queue

FROM_WHERE = ("LAST_OFFSET", "FIRST_OFFSET", "TIMESTAMP")

offsets = Machine("offsets", doc="Committed offsets, how they are written and read.").include(local_file)
offsets.constant("mode", "clustering", choices=("clustering", "broadcasting"), doc="message model of the group")
offsets.constant("version", "5.3.3", choices=("5.3.3", "4.9.8"), doc="version of clients and broker")
offsets.constant("group", "known", choices=("known", "new"), doc="new: no offsets are stored for the group at first")
offsets.constant("from_where", "LAST_OFFSET", choices=FROM_WHERE, doc="ConsumeFromWhere, where no offset is stored")
offsets.constant("timestamp_offset", 0, doc="offset that CONSUME_FROM_TIMESTAMP finds")
offsets.constant("head_in_memory", 0, high=1, doc="1: the first message of a queue is still in memory (OF-21)")
offsets.constant("late_commits", 0, high=3, doc="how many commits may arrive late")
offsets.constant("failed_queries", 0, high=2, doc="how many offset queries may fail")


def _lowest(k: Constants) -> int:
    return NO_OFFSET if k.group == "new" else 0


def broadcasting(k: Constants) -> bool:
    """Whether every client consumes everything, and keeps its own offsets."""
    return bool(k.mode == "broadcasting")


def _restarts(k: Constants) -> bool:
    return bool(k.broker_restarts > 0 and not broadcasting(k))


offsets.variable(
    "committed", Int(_lowest, "messages"), Queue, when=lambda k: not broadcasting(k), doc="the broker's cell (OF-20)"
)
offsets.variable("late", Int(NO_OFFSET, "messages"), Queue, when=lambda k: k.late_commits > 0, doc="a commit under way")
offsets.variable("on_disk", Int(_lowest, "messages"), Queue, when=_restarts, doc="the cell as last flushed (OF-23)")


@offsets.definition
def stored_offset(s: State, c: IntLike, q: IntLike) -> IntLike:
    """READ_FROM_STORE (OF-3): the broker's cell, or the client's own file; -1 where there is none."""
    return read_entry(s, c, q) if broadcasting(s.constants) else s.committed[q]


@offsets.definition
def first_offset(s: State, q: IntLike) -> IntLike:
    """RB-40, RB-41: where a group starts in a queue without a stored offset.

    ``RebalancePushImpl#computePullFromWhereWithException``; the broker answers 0 by itself where the first message is
    still in memory (OF-21: ``ConsumerManageProcessor#queryConsumerOffset``).
    """
    retry = is_retry(s.constants, q)
    by_choice = {
        "LAST_OFFSET": 0 if retry else end(s, q),
        "FIRST_OFFSET": 0,
        "TIMESTAMP": end(s, q) if retry else s.timestamp_offset,
    }[s.from_where]
    if s.head_in_memory and not broadcasting(s.constants):
        return ite(start(s, q) == 0, 0, by_choice)
    return by_choice


@offsets.definition
def start_offset(s: State, c: IntLike, q: IntLike) -> IntLike:
    """RB-40: a new window starts at the stored offset, whatever ``ConsumeFromWhere`` says, if there is one."""
    stored = stored_offset(s, c, q)
    return stored if s.group == "known" else ite(stored != NO_OFFSET, stored, first_offset(s, q))


def write_offset(s: State, c: IntLike, q: IntLike, offset: IntLike, cause: Cause = Cause.OFFSET_WENT_BACK) -> None:
    """OF-20: a commit arrives and overwrites the cell, larger or smaller; what a smaller one uncovers comes again."""
    if broadcasting(s.constants):
        write_file(s, c, lambda p: p == q, lambda _: offset)
        return
    note_commit(s, lambda p: p == q, lambda _: offset)
    note_cause(s, cause, lambda p, m: all_of(p == q, offset <= m, m < s.committed[q]))
    s.committed[q] = offset


@offsets.definition
def to_commit(s: State, c: IntLike, q: IntLike) -> IntLike:
    """The value that a commit carries: the in-memory offset; -1 sends nothing (OF-5)."""
    return s.memory[c, q]


def may_commit(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """Whether a commit of ``c`` would say something new about ``q`` (OF-6)."""
    offset = to_commit(s, c, q)
    possible = may_write(s, c) if broadcasting(s.constants) else reaches_broker(s, c, q)
    return all_of(s.owns[c, q], offset != NO_OFFSET, offset != stored_offset(s, c, q), possible)


def late_slot_free(s: State, q: IntLike) -> BoolLike:
    """Whether no commit of ``q`` is held up; the machine follows one at a time."""
    return s.late[q] == NO_OFFSET


@offsets.action(fair=True, tells="{c} commits the offset of {q}", when=lambda k: not broadcasting(k))
def commit(s: State, c: Consumer, q: Queue) -> None:
    """OF-6: every 5 s the in-memory offsets are sent (``RemoteBrokerOffsetStore#persistAll``); this one arrives."""
    s.require(working(s, c), may_commit(s, c, q))
    write_offset(s, c, q, to_commit(s, c, q))


@offsets.action(budget="late_commits", tells="{c} commits the offset of {q}; the message is held up")
def commit_late(s: State, c: Consumer, q: Queue) -> None:
    """OF-5, OF-8: one-way, so it may be overtaken by later ones, of this client or of another."""
    s.require(working(s, c), may_commit(s, c, q), late_slot_free(s, q))
    s.late[q] = to_commit(s, c, q)


@offsets.action(tells="the held-up commit of {q} arrives", when=lambda k: k.late_commits > 0)
def late_commit_arrives(s: State, q: Queue) -> None:
    """OF-20: the broker asks neither who sent it nor when."""
    s.require(s.late[q] != NO_OFFSET)
    write_offset(s, 0, q, s.late[q])
    s.late[q] = NO_OFFSET


@offsets.action(fair=True, tells="the broker writes the offset of {q} to disk", when=_restarts)
def flush(s: State, q: Queue) -> None:
    """OF-23: every 5 s the table is written to ``consumerOffset.json`` (``ConfigManager#persist``)."""
    s.require(s.on_disk[q] != s.committed[q])
    s.on_disk[q] = s.committed[q]


def _one_broker(k: Constants) -> bool:
    """Whether brokers are not followed one by one; where they are, a restart takes their members as well."""
    return not broadcasting(k) and "brokers" not in k


@offsets.action(budget="broker_restarts", tells="the broker crashes and comes back", when=_one_broker)
def restart_offsets(s: State) -> None:
    """OF-23: what was committed after the last flush is gone; clients that live send it again within 5 s."""
    note_commit(s, lambda _: True, lambda q: s.on_disk[q])
    note_cause(s, Cause.BROKER_RESTART, lambda q, m: all_of(s.on_disk[q] <= m, m < s.committed[q]))
    s.committed = lambda q: s.on_disk[q]


@offsets.definition
def after_failed_query(s: State, c: IntLike, q: IntLike) -> None:
    """RB-40: an offset query that fails leaves the queue out of this pass; the next pass tries again."""


@offsets.action(budget="failed_queries", tells="{c} cannot read the offset of {q}", when=lambda k: not broadcasting(k))
def query_fails(s: State, c: Consumer, q: Queue) -> None:
    """QUERY_CONSUMER_OFFSET times out, or the broker answers an error (OF-3)."""
    s.require(working(s, c), not_(s.owns[c, q]), may_take(s, c, q))
    after_failed_query(s, c, q)
