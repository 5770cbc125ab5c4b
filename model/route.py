"""Routes: how many queues of the topic a client knows of.

The name server announces how many queues can be read and how many written; consumers use the readable ones (EN-5:
``MQClientInstance#topicRouteData2TopicSubscribeInfo``). Each client has a copy, replaced every 30 s (ST-3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .kernel import BoolLike, Constants, Domain, Int, IntLike, Machine, State, constant, variable
from .membership import Consumer, Life

if TYPE_CHECKING:
    from .group import GroupState


class Queue(Domain, size="queues", label="q"):
    """Queues of the topic, in sorted order; those below the number of readable queues are readable (EN-5)."""


Chosen = Callable[[IntLike], BoolLike]
"""Selects queues: whether a queue is one of those meant."""


def nothing(_: IntLike) -> BoolLike:
    """A set of no queues."""
    return False


route = Machine("route", doc="How many queues of the topic there are, and how many each client knows of.")


def _readable_at_last(k: Constants) -> IntLike:
    queues: IntLike = k.queues
    return queues - k.unread_queues if k.unread_queues else queues


def readable_at_start(k: Constants) -> IntLike:
    """Number of readable queues in the initial state."""
    return _readable_at_last(k) - k.route_changes if k.route_changes else _readable_at_last(k)


@route.state
class RouteState(State):
    """Queues of the topic, and what clients know about them."""

    queues = constant(4, low=1, high=8, doc="queues of the topic, once all route changes are made")
    unread_queues = constant(0, high=7, doc="how many of them are written but not read: read below write count")
    route_changes = constant(0, high=2, doc="how many queues are added while running")
    readable = variable(
        Int(1, "queues"),
        init=readable_at_start,
        when=lambda k: k.route_changes > 0,
        doc="how many queues of the topic are readable",
    )
    route = variable(
        Int(1, "queues"),
        Consumer,
        init=lambda k, c: readable_at_start(k),
        when=lambda k: k.route_changes > 0,
        doc="how many the client knows of, from its last look at the route",
    )
    view_route = variable(
        Int(1, "queues"),
        Consumer,
        init=lambda k, c: readable_at_start(k),
        when=lambda k: k.route_changes > 0,
        doc="how many it knew of in its last pass",
    )


route.constraint(
    "route_changes",
    "unread_queues",
    "queues",
    holds=lambda k: k.route_changes + k.unread_queues < k.queues,
    message="a topic has a readable queue before others are added",
)


def readable_queues(s: GroupState) -> IntLike:
    """Number of readable queues the name server announces."""
    readable: IntLike = s.readable if s.route_changes else _readable_at_last(s.constants)
    return readable


def written_queues(s: GroupState) -> IntLike:
    """Number of queues that producers write to: the write count, which consumers ignore."""
    return readable_queues(s) + s.unread_queues if s.unread_queues else readable_queues(s)


def queues_in_route(s: GroupState, c: IntLike) -> IntLike:
    """Number of readable queues in the route that ``c`` has, in its ``topicSubscribeInfoTable``."""
    known: IntLike = s.route[c] if s.route_changes else _readable_at_last(s.constants)
    return known


def queues_in_view(s: GroupState, c: IntLike) -> IntLike:
    """Number of queues that ``c`` divided in its last pass: the size of its ``mqAll``."""
    divided: IntLike = s.view_route[c] if s.route_changes else _readable_at_last(s.constants)
    return divided


def note_route(s: GroupState, c: IntLike) -> None:
    """A pass of ``c`` begins, and divides the queues that its route has now."""
    if s.route_changes:
        s.view_route[c] = s.route[c]


@route.action(budget="route_changes", tells="a queue is added to the topic")
def add_queue(s: GroupState) -> None:
    """The route at the name server gets one more readable queue."""
    s.require(s.readable < _readable_at_last(s.constants))
    s.readable = s.readable + 1


@route.action(fair=True, tells="{c} refreshes its route", when=lambda k: k.route_changes > 0)
def refresh_route(s: GroupState, c: Consumer) -> None:
    """ST-3: every 30 s the cached route is replaced (``MQClientInstance#startScheduledTask``)."""
    s.require(s.life[c] == Life.UP, s.route[c] != s.readable)
    s.route[c] = s.readable


@route.mutant(
    "A12",
    "route-change-not-applied",
    of=refresh_route,
    killed_by="disagreement-ends",
    constants={"consumers": 2, "running": 2, "queues": 5, "route_changes": 1},
    tells="{c} refreshes its route and keeps the queues it knows",
)
def keep_known_route(s: GroupState, c: Consumer) -> None:
    """A new route does not reach the consumer: an entry exists already, or another reader consumed the notice.

    Source: rocketmq-client-go #418, #1056; in Java #9830 (open).
    """
    s.require(s.life[c] == Life.UP, s.route[c] != s.readable)


route.misconfiguration(
    "A13",
    "read-queues-fewer-than-write-queues",
    killed_by="written-queues-owned",
    constants={"consumers": 1, "running": 0},
    sets={"unread_queues": 1},
    doc="Producers use the write count of a topic, consumers its read count: what is written above it is read by "
    "nobody. To shrink a topic lower the write count, let consumers empty the queues, then lower the read count. "
    "Source: #1465.",
)
