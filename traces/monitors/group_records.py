"""What the monitor of groups' steps keeps of processes and brokers: what each said and did last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..encoding.names import Actor
from ..format.coverage import EVER

WITHIN = 5_000
"""A request is answered within so long, or given up: ``mqClientApiTimeout`` is 3 s; ms."""

Event = Mapping[str, Any]


@dataclass(slots=True)
class QueueHeld:
    """A queue as one process has it."""

    has: bool | None = None  # whether it has it; None where neither was recorded
    lost_at: int | None = None  # when a pass took it away that it had; None where none did
    left_at: int = EVER  # when it was given up, ms


@dataclass(frozen=True, slots=True)
class Route:
    """The queues of a topic, as a process learnt them last."""

    time: int
    queues: frozenset[str]
    before: frozenset[str] | None  # what it knew before that; None where that was not recorded

    def may_be_divided(self, queues: frozenset[str], time: int) -> bool:
        """Whether a pass that is told at a time may divide these queues.

        It looks at them first, and asks a broker for the members then: the route may be learnt in between.
        """
        is_late = time - self.time <= WITHIN and self.before in (None, queues)
        return queues == self.queues or is_late


@dataclass(slots=True)
class Pass:
    """The last pass over a topic."""

    time: int
    assigned: frozenset[str] | None
    strategy: str
    beside: frozenset[str] | None = None  # what the pass before gave, where that was made at about the same time


@dataclass(slots=True)
class Member:
    """A process in a group."""

    actor: Actor
    group: str
    known: bool = False  # whether it ever started in the recording
    started: int | None = None  # when it started last, ms; None where that was not recorded, or it has died since
    stopped: int | None = None  # when it stopped last, while it did not start again
    unregistered: int | None = None  # when it left the group last, since its start
    leaving: int | None = None  # when it gave queues up for a shutdown first, since its start
    read: bool = False  # whether it has read its file of offsets since it stopped
    beats: int = 0  # its heartbeats since it started
    silent_since: int | None = None  # its first pass since the last of them, ms
    first: int | None = None  # its first event but a start, ms
    last: int = EVER  # its last event
    told: dict[str, int] | None = None  # its last heartbeat: the versions of its topics
    told_at: int = EVER  # when that was
    before: dict[str, int] = field(default_factory=dict)  # the highest version of each topic that it ever told
    taken: dict[str, tuple[int, int]] = field(default_factory=dict)  # topics not told anew since: first and last take
    dropped: dict[str, int] = field(default_factory=dict)  # topics whose queues it gave up as consumed no more: when
    routes: dict[str, Route] = field(default_factory=dict)
    passes: dict[str, Pass] = field(default_factory=dict)
    queues: dict[tuple[str, str], QueueHeld] = field(default_factory=dict)
    awaited: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # given, not taken: when each pass gave it
    unlisted: dict[str, tuple[int, int]] = field(default_factory=dict)  # divided without it: since when, and beats then
    untold: dict[str, int] = field(default_factory=dict)  # topics that it tells no more: since when
    repeats: bool = False  # whether it told the same twice: all its heartbeats are recorded, not only what changes


@dataclass(slots=True)
class Broker:
    """A broker.

    Attributes:
        runs: whether it runs; None where that was not recorded.
        loaded: whether its tables were loaded since it ran last; ``read``: those that were.
        lists: of each group the lists of members that it had, with the time of each.
        ends: when it stopped or died; a slave of it, which nobody may have recorded, answers until it is back.
        starts: when it was started.
        written: of each table when it was written last, the longest time between two of these, and how often it was.
        heard: when it was heard of last.
        elections: when one of its processes started as a slave, or was told to be the master, or not to be it.
    """

    actor: Actor
    runs: bool | None = None
    loaded: bool | None = None
    read: set[str] = field(default_factory=set)
    since: int = EVER
    lists: dict[str, list[tuple[int, tuple[str, ...]]]] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    written: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    heard: int = EVER
    elections: list[int] = field(default_factory=list)

    def is_away(self, time: int, learnt: int) -> bool:
        """Whether it is gone, or clients may take it for gone, who learn of its return ``learnt`` ms later."""
        if any(election <= time + WITHIN and time <= election + learnt for election in self.elections):
            return True
        ends = [end for end in self.ends if end <= time + WITHIN]
        back = [start for start in self.starts if ends and start >= ends[-1]]
        return bool(ends) and (not back or time <= back[0] + learnt)


def queue_of(event: Event) -> str:
    """The queue of an event, as lists of queues spell it."""
    return f"{event.get('broker') or ''}:{-1 if event.get('queue') is None else event['queue']}"


def broker_of(queue: str) -> str:
    """The broker of a queue that is spelled so."""
    return queue.rpartition(":")[0]


def version_of(text: str) -> tuple[str, int]:
    """The topic and version of ``topic=expression@version``; EVER without a version."""
    topic, _, rest = text.partition("=")
    version = rest.rpartition("@")[2]
    return topic, int(version) if version.isdecimal() and len(version) < 19 else EVER
