"""Subscriptions: which clients consume the topic. A member that does not is counted as a member all the same (EN-2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .kernel import BoolLike, Constants, IntLike, Machine, State, constant, variable
from .membership import Consumer, Life

if TYPE_CHECKING:
    from .group import GroupState

subscription = Machine("subscription", doc="Which members of the group subscribe the topic.")


def subscribed_at_start(k: Constants, c: IntLike) -> bool:
    """Whether ``c`` subscribes to the topic in the initial state."""
    return not (k.unsubscribed and c == k.consumers - 1)


@subscription.state
class SubscriptionState(State):
    """Which members subscribe the topic."""

    unsubscribed = constant(0, high=1, doc="1 when the last consumer does not subscribe the topic")
    unsubscribes = constant(0, high=2, doc="how many running consumers may unsubscribe the topic")
    subscribed = variable(
        bool, Consumer, init=subscribed_at_start, when=lambda k: k.unsubscribes > 0, doc="the client consumes the topic"
    )


def subscribes(s: GroupState, c: IntLike) -> BoolLike:
    """Whether ``c`` consumes the topic."""
    subscribed: BoolLike = s.subscribed[c] if s.unsubscribes else subscribed_at_start(s.constants, c)
    return subscribed


@subscription.action(budget="unsubscribes", tells="{c} unsubscribes the topic")
def unsubscribe(s: GroupState, c: Consumer) -> None:
    """The topic leaves the client's own table; the broker still counts the member.

    ``DefaultMQPushConsumerImpl#unsubscribe``.
    """
    s.require(s.life[c] == Life.UP, s.subscribed[c])
    s.subscribed[c] = False


subscription.misconfiguration(
    "A2",
    "group-subscribes-different-topics",
    killed_by="no-orphan-once-agreed",
    constants={"consumers": 2, "running": 1},
    sets={"unsubscribed": 1},
    doc="Members are counted for a group, not for a topic: the share of a member that does not subscribe the topic has "
    "no reader. Give consumers with different topics different groups. Source: #1873, #5473, #7717.",
)
subscription.misconfiguration(
    "A7",
    "unsubscribe-leaves-orphan-queues",
    killed_by="no-orphan-once-agreed",
    constants={"consumers": 2, "running": 2},
    sets={"unsubscribes": 1},
    doc="A consumer that unsubscribes a topic stays a member of the group, so its share of the topic has no reader. "
    "Unsubscribe in all members, or stop the one that is not to consume. Source: #2737, #7556.",
)
