"""Flow control: when a client does not pull although it could (PL-7, PL-8, PL-9).

Limits are checked before a pull, but not when an answer is put into the window: the number of messages and of whole MiB
in the window and, for concurrent listeners, the span between its lowest and highest offset. A limit for the topic is
not checked as such: whenever the table of a client changes, it is divided by the number of queues in the table
(including those of the retry topic), and replaces the limit of each queue. Messages cached under the old limit stay.

Flow control reads the counter of a window, not the window itself (PQ-8). With ``counters=1`` the counter is a variable
of its own, so that a code path that changes only one of the two is noticed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .consume_queue import Message
from .kernel import BoolLike, IntLike, Machine, State, all_of, any_of, constant, ite, maximum, not_, rule
from .process_queue import held, in_table
from .route import Queue

if TYPE_CHECKING:
    from .group import GroupState

flow_control = Machine("flow_control", doc="Thresholds before a pull.")


@flow_control.state
class FlowControlState(State):
    """Thresholds of flow control."""

    threshold = constant(0, high=16, doc="pullThresholdForQueue: most messages cached before a pull; 0 is none")
    span = constant(0, high=16, doc="consumeConcurrentlyMaxSpan before a pull; 0 is none")
    topic_threshold = constant(0, high=16, doc="pullThresholdForTopic, divided by the queues of a client; 0 is none")
    size_threshold = constant(0, high=16, doc="pullThresholdSizeForQueue: most MiB cached before a pull; 0 is none")
    topic_size_threshold = constant(
        0, high=16, doc="pullThresholdSizeForTopic, divided by the queues of a client; 0 is none"
    )
    per_mib = constant(1, low=1, high=8, doc="how many messages make one MiB")
    large = constant(0, high=16, doc="MiB of the first message of each queue; 0: like the others")


@rule
def divided_limit(limit: IntLike, queues: IntLike) -> IntLike:
    """The share of a topic's limit for each of the ``queues`` that a client has: at least 1.

    ``RebalancePushImpl#messageQueueChanged``, which counts all queues in the table, of all topics.
    """
    return maximum(1, limit // queues)


@rule
def whole_mib(large: IntLike, others: IntLike, per_mib: IntLike) -> IntLike:
    """PL-8: the size of ``large`` MiB plus ``others`` messages, ``per_mib`` to a MiB, in whole MiB, rounded down."""
    return (large * per_mib + others) // per_mib


@flow_control.definition
def cached(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """PL-7: the number of messages in the window, as its counter says (PQ-8)."""
    return s.counted[c, q] if s.counters else s.count(Message, lambda m: held(s, c, q, m))


def cached_mib(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    """PL-8: whole MiB in the window (``ProcessQueue#getMsgSize``)."""
    if not s.large:
        return whole_mib(0, cached(s, c, q), s.per_mib)
    first = held(s, c, q, 0)
    return whole_mib(ite(first, s.large, 0), cached(s, c, q) - ite(first, 1, 0), s.per_mib)


def _limit(s: GroupState, c: IntLike, of_queue: IntLike, of_topic: IntLike) -> IntLike:
    return divided_limit(of_topic, maximum(1, s.count(Queue, lambda p: in_table(s, c, p)))) if of_topic else of_queue


def message_limit(s: GroupState, c: IntLike) -> IntLike:
    """PL-7: maximum number of messages in a window of ``c`` before a pull; 0 means no limit."""
    return _limit(s, c, s.threshold, s.topic_threshold)


def size_limit(s: GroupState, c: IntLike) -> IntLike:
    """PL-8: maximum number of MiB in a window of ``c`` before a pull; 0 means no limit."""
    return _limit(s, c, s.size_threshold, s.topic_size_threshold)


def flow_allows(s: GroupState, c: IntLike, q: IntLike) -> BoolLike:
    """PL-7 to PL-9: not too many messages cached, not too many MiB, no large span (``DefaultMQPushConsumerImpl``)."""
    few = cached(s, c, q) <= message_limit(s, c) if s.threshold or s.topic_threshold else True
    small = cached_mib(s, c, q) <= size_limit(s, c) if s.size_threshold or s.topic_size_threshold else True
    near = _span(s, c, q) <= s.span if s.span and s.listener == "concurrently" else True
    return all_of(few, small, near)


def _span(s: GroupState, c: IntLike, q: IntLike) -> IntLike:
    first = s.least(Message, lambda m: held(s, c, q, m), default=0)
    last = s.least(
        Message,
        lambda m: all_of(held(s, c, q, m), s.forall(Message, lambda o: any_of(o <= m, not_(held(s, c, q, o))))),
        default=0,
    )
    return last - first
