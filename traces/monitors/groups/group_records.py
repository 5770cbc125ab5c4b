"""What the monitor of groups' steps stores about processes and brokers: their last statements and actions, and their
missteps: for each process and group, the first one of each kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ...claims.group_steps import GroupMisstep
from ...encoding.names import Actor, Slot
from ...engine.context import Context
from ...engine.findings import Doubt
from ...format.coverage import EVER, evidence_mask
from ..notebook import Notebook, whole

WITHIN = 5_000
"""A request is answered within this time, or given up: ``mqClientApiTimeout`` is 3 s; ms."""

Event = Mapping[str, Any]


@dataclass(slots=True)
class QueueHeld:
    """A queue, as one process has it."""

    has: bool | None = None  # whether it has it; None if neither was recorded
    lost_at: int | None = None  # when a pass took it away while it had it; None if none did
    left_at: int = EVER  # when it was given up, ms
    kept: int | None = None  # the stop at which the process had it, ms; another thread may just be giving it up


@dataclass(frozen=True, slots=True)
class Route:
    """The queues of a topic, as a process last learnt them."""

    time: int
    queues: frozenset[str]
    before: frozenset[str] | None  # what it knew before that; None if it was not recorded

    def may_be_divided(self, queues: frozenset[str], time: int) -> bool:
        """Whether a pass that is recorded at a time may have divided these queues.

        It reads them first, and then asks a broker for the members: the route may be updated in between.
        """
        is_late = time - self.time <= WITHIN and self.before in (None, queues)
        return queues == self.queues or is_late


@dataclass(slots=True)
class Pass:
    """The last pass over a topic."""

    time: int
    assigned: frozenset[str] | None
    strategy: str
    beside: frozenset[str] | None = None  # what the previous pass gave, if it was made at about the same time


@dataclass(slots=True)
class Member:
    """A process in a group."""

    actor: Actor
    group: str
    known: bool = False  # whether its start is in the recording
    started: int | None = None  # when it last started, ms; None if that was not recorded, or if it has died since
    stopped: int | None = None  # when it last stopped, if it has not started again
    unregistered: int | None = None  # when it last left the group, since its start
    leaving: int | None = None  # when it first gave up queues for a shutdown, since its start
    read: bool = False  # whether it has read its file of offsets since it stopped
    beats: int = 0  # number of its heartbeats since it started
    reached: dict[str, int] = field(default_factory=dict)  # its last heartbeat to each broker that is named, ms
    silent_since: int | None = None  # when it sent the last of them, or made its first pass after a standstill, ms
    first: int | None = None  # its first event other than a start, ms
    last: int = EVER  # its last event
    told: dict[str, int] | None = None  # its last heartbeat: the versions of its topics
    told_at: int = EVER  # when that was
    before: dict[str, int] = field(default_factory=dict)  # the highest version that it ever announced for each topic
    taken: dict[str, tuple[int, int]] = field(default_factory=dict)  # topics not announced anew: first and last take
    dropped: dict[str, int] = field(default_factory=dict)  # topics whose queues it gave up as no longer consumed: when
    routes: dict[str, Route] = field(default_factory=dict)
    passes: dict[str, Pass] = field(default_factory=dict)
    queues: dict[tuple[str, str], QueueHeld] = field(default_factory=dict)
    awaited: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # not taken: when each pass gave it
    after: set[tuple[str, str]] = field(default_factory=set)  # what it has done once after it left its group
    unlisted: dict[str, tuple[int, int]] = field(default_factory=dict)  # divided without it: since when, and beats
    expressions: dict[str, tuple[int, str]] = field(default_factory=dict)  # by topic, with their version
    untold: dict[str, int] = field(default_factory=dict)  # topics that it no longer announces: since when
    ahead: dict[str, int] = field(default_factory=dict)  # topics that it divided before it announced them: since when
    repeats: bool = False  # whether it announced the same twice: all its heartbeats are recorded, not only changes


@dataclass(slots=True)
class Broker:
    """A broker.

    Attributes:
        runs: whether it runs; None if this was not recorded.
        loaded: whether its tables were loaded since it last started; ``read``: those that were.
        lists: for each group, its lists of members, with the time of each.
        ends: when it stopped or died; a slave of it, which may be unrecorded, answers until it is back.
        starts: when it was started.
        written: for each table, when it was last written, the longest time between two writes, and their number.
        heard: when it was last heard of.
        elections: when one of its processes started as a slave, or became the master, or ceased to be.
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
        """Whether it is gone, or clients, which learn of its return ``learnt`` ms later, may believe so."""
        if any(election <= time + WITHIN and time <= election + learnt for election in self.elections):
            return True
        ends = [end for end in self.ends if end <= time + WITHIN]
        back = [start for start in self.starts if ends and start >= ends[-1]]
        return bool(ends) and (not back or time <= back[0] + learnt)


@dataclass(slots=True)
class Noted:
    """A misstep that was found; fields as in a finding."""

    slot: Slot
    since: int
    time: int
    doubt: Doubt


@dataclass(slots=True)
class Acted:
    """What was done until a moment.

    Attributes:
        members: each process in each of its groups, by client id, incarnation and group.
        everywhere: processes that have started without naming a group, and when; None: they have died since.
        routes: the queues of each topic that name servers had.
        brokers: by name; ``loads``: whether any of them has recorded that it read a table.
        missteps: the first of each kind, by process and group.
    """

    members: dict[tuple[str | None, int, str], Member] = field(default_factory=dict)
    everywhere: dict[tuple[str | None, int], int | None] = field(default_factory=dict)
    routes: dict[str, set[frozenset[str]]] = field(default_factory=dict)
    brokers: dict[str, Broker] = field(default_factory=dict)
    loads: bool = False
    missteps: dict[tuple[GroupMisstep, Actor, str], Noted] = field(default_factory=dict)


def queue_of(event: Event) -> str:
    """The queue of an event, as written in lists of queues."""
    return f"{event.get('broker') or ''}:{-1 if event.get('queue') is None else event['queue']}"


@lru_cache(maxsize=1 << 12)
def set_of(queues: tuple[str, ...]) -> frozenset[str]:
    """The queues of a list; most passes have the same ones as the pass before."""
    return frozenset(queues)


def broker_of(queue: str) -> str:
    """The broker of a queue in this notation."""
    return queue.rpartition(":")[0]


class GroupMissteps:
    """The missteps whose evidence was recorded.

    Args of the constructor: ``noted``: those found so far, which grow; ``judged``: the missteps that count;
    ``of_brokers``: whether those of brokers do.
    """

    def __init__(
        self, noted: dict[tuple[GroupMisstep, Actor, str], Noted], judged: Collection[GroupMisstep], *, of_brokers: bool
    ) -> None:
        self._noted, self._judged, self._of_brokers = noted, judged, of_brokers

    def write(self, notebook: Notebook, members: int) -> None:
        """Record what was found, and for each claim that is judged, the number of members for which it was judged."""
        for claim in {one.step.claim for one in self._judged}:
            notebook.judge(claim, members)
        for (misstep, actor, _), one in self._noted.items():
            notebook.violation(
                misstep.step.claim,
                slot=one.slot,
                since=one.since,
                time=one.time,
                actor=actor,
                value=int(misstep),
                doubt=one.doubt,
            )

    def note(
        self,
        misstep: GroupMisstep,
        who: Member | Broker,
        event: Event,
        *,
        since: int | None = None,
        topic: str = "",
        queue: str = "",
        doubt: Doubt = Doubt.NONE,
    ) -> None:
        """Record a misstep at an event; ``since``: when it began, ms, if this was not at the event."""
        group = who.group if isinstance(who, Member) else event.get("group") or ""
        key = misstep, who.actor, group
        if misstep not in self._judged or key in self._noted or (isinstance(who, Broker) and not self._of_brokers):
            return
        broker, _, number = queue.rpartition(":")
        self._noted[key] = Noted(
            slot=Slot(group, topic, broker, int(number)) if queue else whole(group, topic),
            since=event["time"] if since is None or since == EVER else since,
            time=event["time"],
            doubt=doubt,
        )


def judged_in(context: Context) -> list[GroupMisstep]:
    """The missteps whose evidence was recorded."""
    occurring = context.events.kinds()
    return [
        one
        for one in GroupMisstep
        if context.evidence & (needs := evidence_mask(one.step.needs)) == needs
        and (context.complete or not one.step.complete)
        and occurring.issuperset(one.step.beside)
    ]
