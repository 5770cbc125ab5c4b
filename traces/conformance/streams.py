"""Streams: the events of one queue as one group consumes it, with those of its processes, its broker, and gaps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from operator import attrgetter

from ..format.coverage import EVIDENCE_BIT, unrecorded
from ..format.kinds import BROKER_RUNS, CLIENT_ENDS, Kind
from ..format.schema import Group, Header, slave_of
from .events import Actor, Event

OF_PROCESSES = frozenset({Kind.CLIENT_START, Kind.UNREGISTER, *CLIENT_ENDS})
OF_LOGS = frozenset({Kind.STORE, Kind.DELAY_DELIVER})
"""Kinds that concern every group that consumes the queue."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A queue as one group consumes it."""

    group: str
    topic: str
    broker: str
    queue: int

    def __str__(self) -> str:
        return f"{self.group} {self.topic}@{self.broker}:{self.queue}"


@dataclass
class Stream:
    """The events of one queue and group, in their order."""

    place: Place  # which queue, of which group
    group: Group  # what the header states about the group
    header: Header  # header of the trace
    events: list[Event] = field(default_factory=list)  # of the queue, of all processes that ever have it, of its broker
    around: list[Event] = field(default_factory=list)  # those of them that concern other queues as well
    actors: dict[Actor, int] = field(default_factory=dict)  # process → the number of its place, by first appearance
    replicated: bool = False  # whether its broker has a slave, which may answer pulls
    found: set[int] = field(default_factory=set)  # places of processes that may have found the file of several others
    shares_id: bool = False  # whether two of its processes had one client id at a time
    _of_actors: dict[Actor, int] = field(default_factory=dict)

    def appears(self, actor: Actor, ended: Iterable[Actor]) -> None:
        """Record a process. In broadcasting, one with the client id of an earlier one takes its place, and its file.

        If several ran at the same time, in folders of their own or in one, nobody knows whose file it finds.
        """
        followed = len(set(self.actors.values()))
        before = [one for one in self.actors if one[0] == actor[0]]
        alone = set(ended).issuperset(before)
        self.shares_id = self.shares_id or not alone
        if self.group.mode == "broadcasting":
            if len({self.actors[one] for one in before}) > 1:
                self.found.add(followed)
            elif before and alone:
                followed = self.actors[before[-1]]
        self.actors[actor] = followed

    @property
    def processes(self) -> int:
        """Number of places for processes."""
        return len(set(self.actors.values()))

    def kinds(self) -> set[Kind]:
        """The kinds that occur."""
        return {event.kind for event in self.events}

    def unrecorded(self, actor: Actor) -> Set[Kind]:
        """The kinds that a process must have done with the queue, and that were not recorded."""
        if not self._of_actors:
            for event in self.events:
                if event.actor is not None:
                    seen = self._of_actors.get(event.actor, 0)
                    self._of_actors[event.actor] = seen | EVIDENCE_BIT[event.kind]
        mask = unrecorded(self._of_actors.get(actor, 0))
        return {kind for kind in Kind if EVIDENCE_BIT[kind] & mask}

    def told(self) -> Set[Kind]:
        """The kinds that are recorded, whether or not they occur; those that occur if the header does not say."""
        return self.header.evidence or self.kinds()


class Surroundings:
    """Events that concern several queues: starts and ends of processes and brokers, and gaps. They are few."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = list(events)
        self._of_actor: dict[Actor, list[Event]] = defaultdict(list)
        self._of_broker: dict[str, list[Event]] = defaultdict(list)
        self._of_all: list[Event] = []
        self._starts_and_ends = [event for event in self.events if event.kind in (Kind.CLIENT_START, *CLIENT_ENDS)]
        for event in self.events:
            if event.kind in BROKER_RUNS:
                self._of_broker[event.broker or ""].append(event)
            elif event.actor is not None:
                self._of_actor[event.actor].append(event)
            elif event.broker is not None:
                self._of_broker[event.broker].append(event)
            else:
                self._of_all.append(event)

    def ended_before(self, number: int) -> Iterator[Actor]:
        """The clients that have ended before an event, and have not started again in their process."""
        last = {event.actor: event.kind for event in self._starts_and_ends if event.number < number}
        return (actor for actor, kind in last.items() if actor is not None and kind in CLIENT_ENDS)

    def has_slave(self, broker: str) -> bool:
        """Whether a slave of a broker was recorded as well."""
        return slave_of(broker) in self._of_broker

    def of(self, stream: Stream) -> list[Event]:
        """What concerns a stream."""
        place = stream.place
        found = [*self._of_all, *self._of_broker.get(place.broker, ())]
        for actor in stream.actors:
            found += [event for event in self._of_actor.get(actor, ()) if event.group in (None, place.group)]
        return found


def place_of(event: Event) -> Place | None:
    """The queue and group of an event about one queue; None for others."""
    if event.group is None or event.queue is None or event.topic is None or event.kind in OF_LOGS:
        return None
    return Place(group=event.group, topic=event.topic, broker=event.broker or "", queue=event.queue)


def streams_of(events: Iterable[Event], surroundings: Surroundings, header: Header) -> list[Stream]:
    """The streams of one queue, one for each group, by first appearance.

    Events are in the order of the trace.
    """
    streams: dict[str, Stream] = {}
    logs: list[Event] = []
    for event in events:
        if event.kind in OF_LOGS:
            logs.append(event)
            continue
        stream = streams.get(event.group or "")
        if stream is None:
            place = place_of(event)
            if place is None:
                continue
            stream = streams[place.group] = Stream(place, header.groups.get(place.group, Group()), header)
        stream.events.append(event)
        if event.actor is not None and event.actor not in stream.actors:
            stream.appears(event.actor, surroundings.ended_before(event.number))
    for stream in streams.values():
        stream.events += logs
        stream.around = surroundings.of(stream)
        stream.replicated = surroundings.has_slave(stream.place.broker)
        stream.events += stream.around
        has_gaps = any(event.kind is Kind.GAP for event in stream.events)
        stream.events.sort(key=_from_when if has_gaps else attrgetter("number"))
    return list(streams.values())


def _from_when(event: Event) -> tuple[int, int, int]:
    """A gap is reported at its end, but events are missing from its beginning on."""
    if event.kind is Kind.GAP:
        return (event.time if event.due is None else event.due), 0, event.number
    return event.time, 1, event.number
