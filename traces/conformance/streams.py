"""Streams: the events of a trace, sorted out by group and queue, each with the events of its processes and broker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ..format.kinds import Kind, Path, Result
from ..format.schema import Group, Header
from ..io import Trace

Actor: TypeAlias = tuple[str, int]
"""A process: client id and incarnation."""

FOLLOWED = "followed"

OF_PROCESSES = frozenset({Kind.CLIENT_START, Kind.CLIENT_STOP, Kind.CLIENT_CRASH, Kind.UNREGISTER})
OF_BROKERS = frozenset({Kind.BROKER_START, Kind.BROKER_STOP, Kind.BROKER_CRASH, Kind.ROLE_CHANGE})
OF_LOGS = frozenset({Kind.STORE, Kind.DELAY_DELIVER})


_WITHOUT_QUEUES = "of processes without a queue"


@dataclass(slots=True, eq=False)
class Event:
    """One event.

    Attributes:
        number: its place among all events, in the order of the trace.
        kind, result, path: its words; NONE where they are not told, or not known to this version.
        values: all other columns that are told.
        fate: what became of it: ``followed``, or why it was passed over.
    """

    number: int
    kind: Kind
    result: Result
    path: Path
    values: Mapping[str, Any]
    fate: str = ""

    def __getattr__(self, name: str) -> Any:
        return self.values.get(name)

    @property
    def time(self) -> int:
        """Ms since 1970 UTC."""
        return int(self.values["time"])

    @property
    def actor(self) -> Actor | None:
        """The process that acts; None where a broker does."""
        client = self.values.get("client")
        return None if client is None else (client, self.values.get("incarnation") or 0)

    def follow(self) -> None:
        """It was followed, in some stream at least."""
        self.fate = FOLLOWED

    def pass_over(self, why: str) -> None:
        """It was not followed here; where it was followed elsewhere that counts."""
        self.fate = self.fate or why

    def __str__(self) -> str:
        client = self.values.get("client") or self.values.get("broker") or ""
        words = [str(self.kind), client]
        if self.values.get("incarnation"):
            words[-1] += f"#{self.values['incarnation']}"
        words += [f"{name}={value}" for name, value in (("result", self.result), ("path", self.path)) if value]
        for name in ("offset", "next", "min", "max", "count", "attempt", "level", "epoch", "key"):
            if self.values.get(name) is not None:
                words.append(f"{name}={self.values[name]}")
        return " ".join(words)


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
    """The events of one queue and group, in their order.

    Attributes:
        place: which queue, of which group.
        group: what the header says of the group.
        events: those of the queue, of the processes that have it at some time, and of its broker.
        actors: the processes, each with the number of its place, by first appearance.
    """

    place: Place
    group: Group
    header: Header
    events: list[Event] = field(default_factory=list)
    actors: dict[Actor, int] = field(default_factory=dict)

    def appears(self, actor: Actor, ended: set[Actor]) -> None:
        """Note a process. In broadcasting one with the client id of an earlier one takes its place, and its file."""
        if actor not in self.actors:
            followed = len(set(self.actors.values()))
            if self.group.mode == "broadcasting":
                before = [one for one in self.actors if one[0] == actor[0]]
                if before and ended.issuperset(before):
                    followed = self.actors[before[-1]]
            self.actors[actor] = followed

    @property
    def processes(self) -> int:
        """How many places of processes there are."""
        return len(set(self.actors.values()))

    def kinds(self) -> set[Kind]:
        """The kinds that occur."""
        return {event.kind for event in self.events}


@dataclass
class Streams:
    """A trace sorted out.

    Attributes:
        header: of the trace.
        events: all of them.
        queues: the streams by queue and group.
    """

    header: Header
    events: list[Event]
    queues: dict[Place, Stream]


def streams_of(trace: Trace) -> Streams:
    """Read a trace into memory, about 1 kB an event.

    Raises:
        TraceError: there are no events.
    """
    events = list(_events(trace))
    header = trace.header
    queues: dict[Place, Stream] = {}
    groups_of: dict[tuple[str, str, int], list[Place]] = defaultdict(list)
    ended: set[Actor] = set()
    for event in events:
        place = _place(event)
        if event.kind in (Kind.CLIENT_STOP, Kind.CLIENT_CRASH) and event.actor is not None:
            ended.add(event.actor)
        if place is not None and place not in queues:
            queues[place] = Stream(place, header.groups.get(place.group, Group()), header)
            groups_of[place.topic, place.broker, place.queue].append(place)
        if place is not None and event.actor is not None:
            queues[place].appears(event.actor, ended)
    of_actor: dict[tuple[str, Actor], list[Stream]] = defaultdict(list)
    of_broker: dict[str, list[Stream]] = defaultdict(list)
    for stream in queues.values():
        of_broker[stream.place.broker].append(stream)
        for process in stream.actors:
            of_actor[stream.place.group, process].append(stream)
    for event in events:
        place, actor = _place(event), event.actor
        if event.kind in OF_PROCESSES:
            event.fate = _WITHOUT_QUEUES
        if event.kind in OF_LOGS:
            for of_group in groups_of[event.topic, event.broker, event.queue]:
                queues[of_group].events.append(event)
        elif place is not None:
            queues[place].events.append(event)
        elif event.kind in OF_BROKERS:
            for stream in of_broker[event.broker]:
                stream.events.append(event)
        elif event.kind is Kind.GAP or event.kind in OF_PROCESSES:
            for stream in _concerned(event, actor, of_actor, of_broker, queues):
                stream.events.append(event)
    for stream in queues.values():
        if any(event.kind is Kind.GAP for event in stream.events):
            stream.events.sort(key=_from_when)
    return Streams(header, events, queues)


def _from_when(event: Event) -> tuple[int, int, int]:
    """A gap is told when it is over, but events are missing since it began."""
    if event.kind is Kind.GAP:
        return (event.time if event.due is None else event.due), 0, event.number
    return event.time, 1, event.number


def _concerned(
    event: Event,
    actor: Actor | None,
    of_actor: Mapping[tuple[str, Actor], list[Stream]],
    of_broker: Mapping[str, list[Stream]],
    queues: Mapping[Place, Stream],
) -> Iterable[Stream]:
    if actor is not None and event.group is not None:
        return of_actor.get((event.group, actor), [])
    if actor is not None:
        return [stream for (_, one), streams in of_actor.items() if one == actor for stream in streams]
    return of_broker.get(event.broker, []) if event.broker is not None else list(queues.values())


def _place(event: Event) -> Place | None:
    values = event.values
    if values.get("group") is None or values.get("queue") is None or event.kind in OF_LOGS:
        return None
    if event.kind in (Kind.DELAY_STORE, Kind.DEAD_LETTER) or values.get("topic") is None:
        return None
    return Place(group=values["group"], topic=values["topic"], broker=values.get("broker") or "", queue=values["queue"])


def _events(trace: Trace) -> Iterable[Event]:
    kinds, results, paths = (
        {str(word): word for word in Kind},
        {str(word): word for word in Result},
        {str(word): word for word in Path},
    )
    number = 0
    for batch in trace.sorted_batches():
        for row in batch.to_pylist():
            kind = kinds.get(row["kind"])
            if kind is None:
                continue
            result = results.get(row.pop("result") or "", Result.NONE)
            path = paths.get(row.pop("path") or "", Path.NONE)
            values = {name: value for name, value in row.items() if value is not None}
            yield Event(number, kind, result, path, values)
            number += 1
