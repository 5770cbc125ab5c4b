"""Lost log: what a broker no longer has, at the beginning of a queue, at its end, or altogether.

Committed offsets are not adapted to it. They may point below the first message (retention), beyond the last one (an
unclean restart), or into the log of another life of the topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import end, is_retry, start
from .history import Cause, Had, Regression, note_commit
from .kernel import BoolLike, IntLike, Machine, State, all_of, constant, ite, not_
from .membership import Consumer
from .process_queue import NO_OFFSET, Orphan, Stage, in_table
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

lost_log = Machine("lost_log", doc="Retention, logs that lose their tail, topics that are created again.")


@lost_log.state
class LostLogState(State):
    """How often a log loses messages."""

    retention = constant(
        "any", choices=("any", "consumed"), doc="what is deleted: the oldest message, or only if committed"
    )


@lost_log.action(budget="retentions", tells="the oldest message of {q} is deleted")
def delete_oldest(s: GroupState, q: Queue) -> None:
    """Retention, or a full disk, takes the head of the log, consumed or not (G2-3)."""
    s.require(start(s, q) < end(s, q))
    if s.retention == "consumed":
        s.require(start(s, q) < s.committed[q])
    s.log_start[q] = s.log_start[q] + 1


def _nobody_has(s: GroupState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether no window has ``m``, including dead ones."""

    def has_not(c: IntLike) -> BoolLike:
        gone = s.orphan[c, q, m] == Orphan.NONE if s.orphans else True
        return all_of(s.stage[c, q, m] == Stage.ABSENT, gone)

    return s.forall(Consumer, has_not)


def _forget_messages(s: GroupState, q: IntLike, lost: object) -> None:
    """The next messages at these offsets are different ones."""
    s.handled[q] = lambda m: all_of(not_(lost(m)), s.handled[q, m])  # type: ignore[operator]
    if s.watch_clients:
        s.had = lambda c, p, m: ite(all_of(p == q, lost(m)), Had.NOTHING, s.had[c, p, m])  # type: ignore[operator]
    if s.causes:
        s.delivered[q] = lambda m: all_of(not_(lost(m)), s.delivered[q, m])  # type: ignore[operator]
        s.cause[q] = lambda m: ite(lost(m), Cause.NONE, s.cause[q, m])  # type: ignore[operator]


@lost_log.action(budget="truncations", tells="{q} loses its last message")
def lose_tail(s: GroupState, q: Queue) -> None:
    """An unclean restart with asynchronous flush, or a fail-over to a lagging replica, shortens the log (G2-4).

    Modelled only for a message that no window holds any more; a held one would be finished under the offset of another.
    """
    last = end(s, q) - 1
    s.require(start(s, q) < end(s, q), _nobody_has(s, q, last))
    s.log_end[q] = last
    _forget_messages(s, q, lambda m: m == last)


@lost_log.definition
def offset_after_deletion(s: GroupState, q: IntLike) -> IntLike:
    """What remains of the committed offset when the topic is deleted.

    [5.3.3] Nothing: ``AdminBrokerProcessor#deleteTopic`` calls ``ConsumerOffsetManager#cleanOffsetByTopic``. [4.9.8]
    The entry stays as it is.
    """
    return s.committed[q] if s.version == "4.9.8" else NO_OFFSET


@lost_log.action(
    budget="recreations", tells="the topic is deleted and created again, {q} is empty", when=lambda k: k.arriving > 0
)
def recreate(s: GroupState, q: Queue) -> None:
    """G2-5, B6: the log begins anew at 0; clients noticed the deletion and dropped the queue before."""
    s.require(not_(is_retry(s.constants, q)), s.forall(Consumer, lambda c: not_(in_table(s, c, q))))
    s.require(end(s, q) > 0)
    s.log_end[q] = 0
    if s.retentions:
        s.log_start[q] = 0
    _forget_messages(s, q, lambda m: True)
    if s.orphans:
        s.orphan = lambda c, p, m: ite(p == q, Orphan.NONE, s.orphan[c, p, m])
    note_commit(s, lambda p: p == q, lambda _: offset_after_deletion(s, q), because=lambda _: Regression.RECREATED)
    s.committed[q] = offset_after_deletion(s, q)


lost_log.constraint(
    "recreations",
    "retention",
    "mode",
    holds=lambda k: k.mode == "clustering" or not (k.recreations or k.retention == "consumed"),
    message="broadcasting has no committed offset to compare with, and its topics are not created again",
)


@lost_log.mutant(
    "B6",
    "recreated-topic-keeps-offsets",
    of=offset_after_deletion,
    killed_by="offset-never-past-unfinished",
    constants={
        "messages": 1,
        "arriving": 1,
        "consumers": 1,
        "moves": 1,
        "recreations": 1,
        "from_where": "FIRST_OFFSET",
    },
)
def offset_stays(s: GroupState, q: IntLike) -> IntLike:
    """Deleting a topic leaves its offsets: the first messages of its next life are below them, and nobody reads them.

    apache/rocketmq#4774, #551, #9172, #9703.
    """
    return s.committed[q]
