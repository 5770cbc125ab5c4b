"""Following a group: which steps of the model correspond to what was recorded of its members, and of their shares.

The machine is ``assignment``, with the processes, the queues and the strategy of the recording, from the start of the
first of them. A pass shows which members and how many queues it saw, and which of the queues it took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...model.assignment import MOST_MEMBERS, MOST_QUEUES, roomy_assignment
from ...model.kernel.lowered import Instance
from ...model.kernel.plain import StateTuple
from ...model.membership import Life
from ..format.kinds import CLIENT_ENDS, FAILURES, Kind, Result
from ..monitors.groups.allocations import Unreadable, queues_of
from ..monitors.groups.subscriptions import parse_subscription
from .alongside import Following, Shows, possible
from .events import Actor, Event

MOST_EVENTS = 160
"""Maximum number of events; a run from the middle of a group's life would differ, so more are not followed at all."""

BY_COUNT = ("AVG", "AVG_BY_CIRCLE")
"""Strategies that work with positions in sorted lists; those of others depend on names, which the machine lacks."""

MOST_NAMED = 4
"""Maximum number of queues that are named one by one."""

_BY_BROKERS = frozenset({Kind.MEMBERS, Kind.BROKER_START})
_CHANGES = frozenset({"heartbeat", "expire_member", "channel_closed", "unregister"})
_QUIET = _CHANGES | {"refresh_route", "add_queue", "unsubscribe", "truncate"}


@dataclass(frozen=True, kw_only=True)
class Members:
    """What was recorded about a group on one topic.

    Attributes:
        group, topic: which.
        events: what its members and the brokers did, in order.
        subscribed: number of a heartbeat → its expression for the topic; None if it does not name the topic.
        actors: process → its number here, in the order of client ids (RB-6).
        queues: queues of the topic, sorted.
        brokers: brokers that recorded something about members or about themselves.
        strategies: names, by process.
    """

    group: str
    topic: str
    events: tuple[Event, ...]
    subscribed: Mapping[int, str | None]
    actors: Mapping[Actor, int]
    queues: tuple[str, ...]
    brokers: tuple[str, ...]
    strategies: Mapping[Actor, str]

    def constants(self) -> dict[str, int | str]:
        """The configuration of ``assignment`` for this group."""
        kinds = Counter(event.kind for event in self.events)
        counts = [len(event.queues) for event in self.events if event.queues]
        usual = Counter(self.strategies.values()).most_common(1)[0][0] if self.strategies else BY_COUNT[0]
        last = self.strategies.get(max(self.actors, key=lambda actor: self.actors[actor]), usual)
        constants: dict[str, int | str] = {
            "consumers": len(self.actors),
            "running": 0,
            "brokers": 2 if len(self.brokers) > 1 and len(self.actors) <= 3 else 1,
            "queues": len(self.queues),
            "strategy": usual,
            "last_strategy": "same" if last == usual else last,
            "route_changes": max(counts, default=0) - min(counts, default=0),
            "leaves": kinds[Kind.CLIENT_STOP],
            "crashes": kinds[Kind.CLIENT_CRASH],
            "unsubscribes": sum(each is None for each in self._told_last().values()),
            "broker_restarts": len(self.restarts()),
        }
        return possible(roomy_assignment, constants)

    def restarts(self) -> list[Event]:
        """The broker starts that came after members had already dealt with the broker."""
        first = next((event.number for event in self.events if event.actor is not None), 0)
        return [event for event in self.events if event.kind is Kind.BROKER_START and event.number > first]

    def _told_last(self) -> Mapping[Actor | None, str | None]:
        """What each process announced last about the topic."""
        told = [event for event in self.events if event.number in self.subscribed]
        return {event.actor: self.subscribed[event.number] for event in told}


def members(
    events: Sequence[Event], subscriptions: Mapping[int, Mapping[str, str]], *, group: str, topic: str, until: int
) -> Members | None:
    """What was recorded about a group on a topic; None if the machine is too small for it, or lacks its strategy.

    Args:
        events: events of the processes of the group, and of brokers, without those that say nothing new.
        subscriptions: number of a heartbeat → its subscriptions: topic → expression.
        group: the group.
        topic: the topic; if empty, the one that is divided most often.
        until: time of the finding, ms.
    """
    past = [event for event in events if event.time <= until and event.group in (None, "", group)]
    passes = [event for event in past if event.kind is Kind.REBALANCE]
    told = Counter(event.topic for event in passes if event.topic and not event.topic.startswith("%"))
    topic = topic or (told.most_common(1)[0][0] if told else "")
    kept = [event for event in past if event.topic in (None, "", topic) and _tells(event)]
    listed = {name for event in kept for name in event.members or ()}
    found = {event.actor for event in kept if event.actor is not None}
    actors = sorted(found | {(name, 0) for name in listed - {name for name, _ in found}})
    try:
        queues = queues_of(topic, {queue for event in kept for queue in event.queues or ()})
    except Unreadable:
        return None
    strategies = {event.actor: event.detail or BY_COUNT[0] for event in kept if event.kind is Kind.REBALANCE}
    if not actors or len(actors) > MOST_MEMBERS or len(queues) > MOST_QUEUES or len(kept) > MOST_EVENTS:
        return None
    if not set(strategies.values()) <= set(BY_COUNT):
        return None
    expressions = {
        event.number: subscriptions[event.number].get(topic)
        for event in kept
        if event.kind is Kind.HEARTBEAT and subscriptions.get(event.number)
    }
    return Members(
        group=group,
        topic=topic,
        events=tuple(kept),
        subscribed=expressions,
        actors={actor: number for number, actor in enumerate(actors)},
        queues=tuple(f"{queue.broker_name}:{queue.queue_id}" for queue in queues) or ("",),
        brokers=tuple(sorted({event.broker for event in kept if event.kind in _BY_BROKERS and event.broker})),
        strategies={actor: name for actor, name in strategies.items() if actor is not None},
    )


def expressions(subscriptions: Sequence[str] | None) -> dict[str, str]:
    """Topic → expression, from the subscriptions of a heartbeat."""
    return {topic: expression for topic, expression, _ in map(parse_subscription, subscriptions or ())}


def _tells(event: Event) -> bool:
    if event.kind in _BY_BROKERS:
        return True
    return event.kind in AlongGroup.KINDS and (event.actor is not None or event.kind is Kind.ROUTE)


class AlongGroup(Following):
    """Follows the members of a group through ``assignment``."""

    KINDS = frozenset(
        {Kind.CLIENT_START, Kind.HEARTBEAT, Kind.UNREGISTER, Kind.REBALANCE, Kind.ROUTE, *CLIENT_ENDS, *_BY_BROKERS}
    )

    def __init__(self, found: Members) -> None:
        super().__init__(found.events, found.actors, roomy_assignment, found.constants())
        self._found = found
        self._brokers = [f"b{number}" for number in range(int(self.constants["brokers"]))]
        self._clients = {f"c{number}": name for (name, _), number in found.actors.items()}
        self._started = {event.actor for event in found.events if event.kind is Kind.CLIENT_START}

    def names(self) -> list[str]:
        """See :class:`Following`."""
        names = [name for name in self._found.queues if name]
        queues = [f"q{number} is {name}" for number, name in enumerate(names)]
        if len(names) > MOST_NAMED:
            queues = [f"q0 to q{len(names) - 1} are {names[0]} to {names[-1]} in their order"]
        return [*self.processes(), *queues]

    def unrecorded(self, event: Event) -> frozenset[str]:
        """See :class:`Following`."""
        names = _QUIET if len(self._started) == len(self._found.actors) else _QUIET | {"start"}
        return names | {"stop"} if event.kind in (Kind.UNREGISTER, Kind.CLIENT_STOP) else names

    def may_come_later(self, event: Event) -> bool:
        """A heartbeat is recorded when it is sent, and takes effect when a broker receives it."""
        return event.kind is Kind.HEARTBEAT and not self._differs(event)

    def goals(self, event: Event, c: int | None) -> Iterator[tuple[list[Instance], Shows]]:
        """See :class:`Following`."""
        kind, me = event.kind, f"c{c}"
        if kind is Kind.CLIENT_START:
            yield self.own({"start"}, c=c), lambda s, p: p is not None and self.get(s, "life", me) == Life.UP
        elif kind is Kind.HEARTBEAT and c is not None:
            own = [] if self._differs(event) else self.own({"heartbeat"}, c=c)
            yield own, lambda s, p: bool(own) and self._is_member(s, me)
            if int(self.constants["unsubscribes"]) and self._found.subscribed.get(event.number, "") is None:
                yield self.own({"unsubscribe"}, c=c), lambda s, p: not self.get(s, "subscribed", me)
        elif kind is Kind.UNREGISTER and c is not None:
            yield self.own({"unregister"}, c=c), lambda s, p: not self._is_member(s, me)
        elif kind in CLIENT_ENDS and c is not None:
            names = {"end_stop"} if kind is Kind.CLIENT_STOP else {"die"}
            yield self.own(names, c=c), lambda s, p: self.get(s, "life", me) == Life.GONE
        elif kind is Kind.MEMBERS and event.members is not None:
            listed = frozenset(event.members)
            yield self.own(_CHANGES), lambda s, p: any(self._listed(s, "members", b) == listed for b in self._brokers)
        elif event in self._found.restarts():
            yield self.own({"restart_broker"}), lambda s, p: p is not None
        elif kind is Kind.REBALANCE and c is not None and self._answered(event):
            yield self.own({"rebalance_pass"}, c=c), lambda s, p: p is not None and self._divided(s, me, event)

    def _answered(self, event: Event) -> bool:
        """Whether everything that the pass saw and took is recorded."""
        told = event.members is not None and event.queues is not None and event.assigned is not None
        return told and event.result not in FAILURES | {Result.ERROR}

    def _divided(self, s: StateTuple, c: str, event: Event) -> bool:
        """RB-4, RB-6, RB-30: whether a client saw these members and queues, and took the queues that it gave itself."""
        queues, taken = self._found.queues, set(event.assigned or ())
        seen = self.get(s, "view_route", c) or len(queues)
        return (
            self._listed(s, "view", c) == frozenset(event.members or ())
            and seen == len(event.queues or ())
            and all(bool(self.get(s, "owns", c, f"q{q}")) == (name in taken) for q, name in enumerate(queues))
        )

    def _listed(self, s: StateTuple, name: str, of: str) -> frozenset[str]:
        """The client ids in a member table, or in the view of a client."""
        return frozenset(client for c, client in self._clients.items() if self.get(s, name, of, c))

    def _is_member(self, s: StateTuple, c: str) -> bool:
        return any(self.get(s, "members", b, c) for b in self._brokers)

    def _differs(self, event: Event) -> bool:
        """EN-2: whether a heartbeat has another expression than one of another process: the machine has only one."""
        told = self._found.subscribed.get(event.number)
        if told is None:
            return False
        before = [one for one in self.events if one.number < event.number and one.actor != event.actor]
        others = [self._found.subscribed.get(one.number) for one in before]
        return any(other is not None and other != told for other in others)
