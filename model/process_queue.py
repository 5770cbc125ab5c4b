"""ProcessQueue: a client's window of one queue, from the pull position down to the lowest unfinished message.

What the client stores about an owned queue (section 5 of the rules, ``ProcessQueue``): the pull position, the messages
it holds, and the in-memory offset. The offset follows the *low-water mark*, the smallest offset not yet finished
(PQ-2), never the position of the last finished message: messages finished above the mark come again in the next window.
A window ends when its queue is dropped; listeners that are still running go on, in a window that is dead.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING

from .consume_queue import Message, is_retry
from .kernel import (
    BoolLike,
    Constants,
    Int,
    IntLike,
    Lifetime,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    ite,
    maximum,
    not_,
    variable,
)
from .lock import uses_locks
from .membership import PROCESS, Consumer, Life
from .route import Chosen, Queue
from .tags import filtered, tags

if TYPE_CHECKING:
    from .group import GroupState


class Stage(IntEnum):
    """How far a message has got in a window."""

    ABSENT = 0
    WAITING = 1
    RUNNING = 2
    FAILED = 3


class Orphan(IntEnum):
    """What still happens to a message in a dropped window."""

    NONE = 0
    RUNNING = 1
    FAILED = 2


NO_OFFSET = -1
"""There is no entry in the in-memory offset table."""

WINDOW = Lifetime("window", (Consumer, Queue))
"""A client's window of a queue; what lives in it is gone once the queue leaves the client's table (PQ-12)."""

process_queue = Machine("process_queue", doc="Windows of the clients over the queues they own.").include(tags)


def counts_send_backs(k: Constants) -> bool:
    """Whether failed send-backs are counted in the client's memory (SB-6): only if retry copies are followed."""
    return isinstance(k.copies, int) and bool(k.copies and k.refusals)


def drops_in_steps(k: Constants) -> bool:
    """Whether a dropped queue stays in the table until its lock is given back: with orderly listeners (RB-33)."""
    return bool(uses_locks(k) and k.get("moves", 1))


@process_queue.state
class ProcessQueueState(State):
    """Windows of the clients over the queues they own."""

    orphans = constant(0, high=1, doc="1 to follow listeners that run on after their window was dropped")
    counters = constant(0, high=1, doc="1 to keep the counter of a window apart from its messages (PQ-8)")
    counted = variable(Int(0, "messages"), Consumer, Queue, when=lambda k: k.counters == 1, lives_in=WINDOW, doc="PQ-8")
    next_offset = variable(Int(0, "messages"), Consumer, Queue, doc="where the next pull starts (PL-1)")
    memory = variable(Int(NO_OFFSET, "messages"), Consumer, Queue, doc="in-memory offset (OF-1); -1: none")
    stage = variable(Stage, Consumer, Queue, Message, lives_in=WINDOW)
    put_end = variable(
        Int(0, "messages"), Consumer, Queue, when=filtered, doc="queueOffsetMax + 1, where the pull skips some"
    )
    orphan = variable(Orphan, Consumer, Queue, Message, when=lambda k: k.orphans == 1, lives_in=PROCESS)
    failed_send_backs = variable(
        Int(0, "refusals"),
        Consumer,
        Queue,
        Message,
        when=counts_send_backs,
        lives_in=WINDOW,
        doc="added to reconsumeTimes in memory (CC-12)",
    )
    dropped = variable(
        bool, Consumer, Queue, when=drops_in_steps, lives_in=WINDOW, doc="dropped, and still in the table"
    )


def held(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the window of ``c`` over ``q`` holds message ``m``, finished or not."""
    return s.stage[c, q, m] != Stage.ABSENT


@process_queue.definition
def window_empty(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether the window holds no message, in either of its trees (PQ-8: taking a message does not lower the
    counter).
    """
    return s.forall(Message, lambda m: not_(held(s, c, q, m)))


@process_queue.definition
def low_water_mark(s: GroupState, c: IntLike, q: IntLike, finished: Callable[[IntLike], BoolLike]) -> IntLike:
    """PQ-2: the smallest offset left once ``finished`` are removed, or the one after the last message that was put.

    ``ProcessQueue#removeMessage``.
    """
    return s.least(Message, lambda m: all_of(held(s, c, q, m), not_(finished(m))), default=put_end(s, c, q))


def put_end(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """``queueOffsetMax + 1``: the offset after the last message that was put into the window (PQ-1)."""
    return s.put_end[c, q] if filtered(s.constants) else s.next_offset[c, q]


def finish(s: GroupState, c: IntLike, q: IntLike, finished: Callable[[IntLike], BoolLike]) -> None:
    """CC-13: remove the finished messages, and let the in-memory offset follow the mark; it never decreases.

    ``ConsumeMessageConcurrentlyService#processConsumeResult``.
    """
    take_out(s, c, q, finished)
    if counts_send_backs(s.constants):
        s.failed_send_backs[c, q] = lambda m: ite(finished(m), 0, s.failed_send_backs[c, q, m])
    s.memory[c, q] = maximum(s.memory[c, q], low_water_mark(s, c, q, finished))


def take_out(s: GroupState, c: IntLike, q: IntLike, finished: Callable[[IntLike], BoolLike]) -> None:
    """PQ-2: the messages ``finished`` leave the window, and the in-memory offset stays."""
    s.stage[c, q] = lambda m: ite(finished(m), Stage.ABSENT, s.stage[c, q, m])
    count_out(s, c, q, finished)


def count_out(s: GroupState, c: IntLike, q: IntLike, finished: Callable[[IntLike], BoolLike]) -> None:
    """PQ-8: the counter of the window follows, if it is modelled."""
    if s.counters:
        s.counted[c, q] = s.counted[c, q] - counted_out(s, c, q, finished)


@process_queue.definition
def counted_out(s: GroupState, c: IntLike, q: IntLike, finished: Callable[[IntLike], BoolLike]) -> IntLike:
    """PQ-8: the counter decreases by what really leaves the window; flow control reads the counter (PL-7)."""
    return s.count(Message, lambda m: all_of(held(s, c, q, m), finished(m)))


def owned_or_leaving(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether there is a window of ``c`` over ``q``: in use, or dropped and waiting for its lock to be given back."""
    return any_of(s.owns[c, q], s.dropped[c, q]) if drops_in_steps(s.constants) else s.owns[c, q]


@process_queue.definition
def in_table(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether ``c`` has ``q`` in its table, dropped or not."""
    return any_of(owned_or_leaving(s, c, q), under_repair(s, c, q))


@process_queue.definition
def under_repair(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether ``q`` is dropped, but stays in the table of ``c`` until its offset is corrected or reset."""
    return False


@process_queue.definition
def listener_runs(s: GroupState, c: IntLike, q: IntLike, m: IntLike) -> BoolLike:
    """Whether a listener of ``c`` is busy with ``m``; an orderly one may have returned without its result being
    processed.
    """
    return s.stage[c, q, m] == Stage.RUNNING


@process_queue.definition
def lock_follows(s: GroupState, c: IntLike, lost: Chosen, won: Chosen) -> None:
    """RB-30, RB-33: what else begins and ends together with the windows of an orderly client."""


@process_queue.definition
def process_forgets(s: GroupState, c: IntLike) -> None:
    """What else is lost together with the process of ``c``."""


def working(s: GroupState, c: IntLike) -> BoolLike:
    """Whether ``c`` runs, and is neither shutting down nor standing still."""
    return all_of(s.life[c] == Life.UP, not_(s.paused[c]) if s.pauses else True)


@process_queue.definition
def reaches_broker(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Whether requests of ``c`` about ``q`` reach its broker; cuts are followed if brokers are."""
    return True


@process_queue.definition
def may_take(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """What else is required to add a queue; an orderly client needs the broker's lock (RB-30.3)."""
    return True


@process_queue.definition
def windows_change(s: GroupState, c: IntLike) -> None:
    """RB-37: what else follows when windows of ``c`` begin or end (``RebalancePushImpl#messageQueueChanged``)."""


@process_queue.definition
def may_pull(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """What else a pull requires; an orderly client pulls only with the lock (PL-10)."""
    return True


@process_queue.mutant(
    "B7",
    "commit-ignores-in-flight-batch",
    of=window_empty,
    killed_by="offset-never-past-unfinished",
    constants={"listener": "orderly", "pulls": "fine", "messages": 1, "consumers": 1},
)
def nothing_waits(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """Messages that an orderly worker has taken sit in a second tree, and an empty answer moves the offset past them.

    Source: rocketmq-client-cpp #322.
    """
    return s.forall(Message, lambda m: s.stage[c, q, m] != Stage.WAITING)


@process_queue.mutant(
    "F1",
    "cache-counters-drift",
    of=counted_out,
    killed_by="every-message-is-handled",
    constants={"messages": 3, "consumers": 1, "counters": 1, "threshold": 1, "failures": 2},
)
def without_sent_back(s: GroupState, c: IntLike, q: IntLike, finished: Callable[[IntLike], BoolLike]) -> IntLike:
    """A path that takes messages out of the window forgets the counter: pulling stops with an empty window.

    ROCKETMQ-314, fixed in 4.2.0 (clean-up forgot the size); here messages that were sent back are not counted out.
    """
    return s.count(Message, lambda m: all_of(s.stage[c, q, m] == Stage.RUNNING, finished(m)))


@process_queue.mutant(
    "D8",
    "retry-queue-never-pulled",
    of=may_take,
    killed_by="failed-message-settles",
    constants={
        "consumers": 1,
        "queues": 2,
        "messages": 2,
        "retry_room": 1,
        "copies": 1,
        "failures": 1,
        "watch_retries": 1,
    },
)
def retry_queue_has_no_start(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """The start of the retry queue is put into the wrong variable and stays -1, which a pass takes for a failed query.

    The queue is never added, and retries pile up in it (apache/rocketmq-client-go#530, fixed in 2.1.0).
    """
    return not_(is_retry(s.constants, q))
