"""The queues of a broker: messages at offsets 0, 1, 2 …, readable from the minimum offset up to the log end.

A message is identified by queue and offset. If ``copies`` is not 0 the last queue is the retry queue ``%RETRY%group``
(EN-11), which is empty at first: failed messages come to it through the delay topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel import Constants, Domain, Int, IntLike, Machine, State, constant, variable
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState


class Message(Domain, size="messages", label="m"):
    """Messages of one queue, by offset."""


consume_queue = Machine("consume_queue", doc="The messages of the queues at the broker.")


def is_retry(k: Constants, q: IntLike) -> bool:
    """Whether ``q`` is the retry queue of the group (EN-11)."""
    return bool(k.copies > 0 and q == k.queues - 1)


def _grows(k: Constants) -> bool:
    return not isinstance(k.messages, int) or k.arriving + k.copies + k.truncations + k.recreations > 0


def _end_at_start(k: Constants, q: int) -> int:
    if is_retry(k, q) or not isinstance(k.messages, int):
        return 0
    return int(k.messages - k.arriving - k.retry_room)


@consume_queue.state
class ConsumeQueueState(State):
    """Messages of the queues at the broker."""

    messages = constant(2, low=1, doc="messages that fit in a queue")
    arriving = constant(0, doc="how many messages of each queue are stored during the run, not before it")
    copies = constant(0, high=8, doc="retry copies there is room for; 0: no retry queue, see send_back")
    retry_room = constant(0, doc="how many of these offsets only the retry queue uses")
    retentions = constant(0, high=3, doc="how many old messages the broker may delete")
    truncations = constant(0, high=2, doc="how often the log may lose its last message (unclean restart)")
    recreations = constant(0, high=1, doc="how often the topic may be deleted and created again")
    recreations_left: IntLike
    log_end = variable(Int(0, "messages"), Queue, init=_end_at_start, when=_grows, doc="next free offset")
    log_start = variable(Int(0, "messages"), Queue, when=lambda k: k.retentions > 0, doc="minimum offset")


consume_queue.constraint(
    "arriving",
    "messages",
    "retry_room",
    holds=lambda k: k.arriving + k.retry_room <= k.messages,
    message="no more messages can arrive than fit in a queue",
)
consume_queue.constraint(
    "copies",
    "queues",
    holds=lambda k: not k.copies or k.queues >= 2,
    message="the retry queue is the last queue, so retry copies need two queues",
)


def end(s: GroupState, q: IntLike) -> IntLike:
    """The maximum offset of ``q``: the offset that the next message will get."""
    return s.log_end[q] if _grows(s.constants) else s.messages


def start(s: GroupState, q: IntLike) -> IntLike:
    """The minimum offset of ``q``: that of its oldest message."""
    return s.log_start[q] if s.retentions else 0


@consume_queue.action(
    tells="a message is stored in {q}", when=lambda k: not isinstance(k.messages, int) or k.arriving > 0
)
def produce(s: GroupState, q: Queue) -> None:
    """A producer's message is appended to a queue of the topic; no producer has to send any."""
    s.require(not is_retry(s.constants, q), end(s, q) < s.messages - s.retry_room)
    s.log_end[q] = s.log_end[q] + 1
