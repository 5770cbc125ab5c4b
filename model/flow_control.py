"""Flow control: when a client does not pull although it could (PL-7, PL-9).

Flow control asks the counter of a window, not the window (PQ-8). With ``counters=1`` the counter is a variable of its
own, so that a path which changes one and not the other shows.
"""

from __future__ import annotations

from .consume_queue import Message
from .kernel import BoolLike, IntLike, Machine, State, all_of, any_of, not_
from .process_queue import held

flow_control = Machine("flow_control", doc="Thresholds before a pull.")
flow_control.constant(
    "threshold", 0, high=16, doc="pullThresholdForQueue: most messages cached before a pull; 0 is none"
)
flow_control.constant("span", 0, high=16, doc="consumeConcurrentlyMaxSpan before a pull; 0 is none")


@flow_control.definition
def cached(s: State, c: IntLike, q: IntLike) -> IntLike:
    """PL-7: the number of messages in the window, as its counter says (PQ-8)."""
    return s.counted[c, q] if s.counters else s.count(Message, lambda m: held(s, c, q, m))


def flow_allows(s: State, c: IntLike, q: IntLike) -> BoolLike:
    """PL-7, PL-9: neither too many messages cached, nor too large a span (``DefaultMQPushConsumerImpl``)."""
    few = cached(s, c, q) <= s.threshold if s.threshold else True
    near = _span(s, c, q) <= s.span if s.span and s.listener == "concurrently" else True
    return all_of(few, near)


def _span(s: State, c: IntLike, q: IntLike) -> IntLike:
    first = s.least(Message, lambda m: held(s, c, q, m), default=0)
    last = s.least(
        Message,
        lambda m: all_of(held(s, c, q, m), s.forall(Message, lambda o: any_of(o <= m, not_(held(s, c, q, o))))),
        default=0,
    )
    return last - first
