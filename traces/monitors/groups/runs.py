"""Runs: statements that a process repeats without a change, such as the same rebalance every 20 s, as one item."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...claims.settings import REBALANCE_PERIOD
from ...encoding.context_events import ContextEvents
from ...encoding.names import Actor
from ...encoding.plain import Plain
from ...engine.context import actor_named
from ...format.kinds import Kind

REPEATED = (Kind.HEARTBEAT, Kind.MEMBERS, Kind.ROUTE, Kind.REBALANCE)
"""Kinds that processes repeat periodically."""

_PASS = Kind.REBALANCE
ENDS = (Kind.CLIENT_START, Kind.CLIENT_STOP, Kind.CLIENT_CRASH, Kind.UNREGISTER)
"""Kinds with which a life, or a membership, begins or ends: the client's earlier statements no longer hold."""

_WHO, _ABOUT = ("client", "incarnation", "broker"), ("kind", "group", "topic")
_COLUMNS = ("place", "time", *_WHO, *_ABOUT, "members", "queues", "assigned", "subscriptions", "result", "detail")

_About = tuple[str, str | None, str | None]
_Said = tuple[Any, ...]


@dataclass(slots=True)
class Run:
    """Equal events of one process about one group and topic, one after another.

    Attributes:
        kind: their kind.
        actor: the process.
        group: and ``topic``: what they are about; empty if they do not say.
        members: their content, as in the event: None is not known, an empty list is known to be empty. The same for
            ``queues``, ``assigned`` and ``subscriptions``.
        result: and ``detail``: as in the events.
        first: time of the first of them, ms; ``last``: of the last.
        count: their number.
    """

    kind: Kind
    actor: Actor
    group: str
    topic: str
    members: list[str] | None
    queues: list[str] | None
    assigned: list[str] | None
    subscriptions: list[str] | None
    result: str
    detail: str
    first: int
    last: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """A start or an end of a process, or of its membership in a group (empty: in all its groups)."""

    kind: Kind  # client_start, client_stop, client_crash or unregister
    actor: Actor  # the process
    group: str  # the group
    time: int  # ms


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a context says about groups.

    Attributes:
        runs: in the order of their first events.
        steps: starts and ends, in the order of time.
        by_group: the runs about each group.
    """

    runs: tuple[Run, ...]
    steps: tuple[Step, ...]
    by_group: Mapping[str, tuple[Run, ...]]

    def of(self, group: str, *kinds: Kind) -> list[Run]:
        """The runs of some kinds about a group."""
        return [run for run in self.by_group.get(group, ()) if run.kind in kinds]

    def about(self, group: str, kind: Kind, topic: str) -> Sequence[Run]:
        """The runs of one kind about a group and a topic."""
        return self._about.get((group, kind, topic), ())

    @cached_property
    def _about(self) -> Mapping[tuple[str, Kind, str], Sequence[Run]]:
        found: dict[tuple[str, Kind, str], list[Run]] = {}
        for run in self.runs:
            found.setdefault((run.group, run.kind, run.topic), []).append(run)
        return found

    @cached_property
    def heartbeats(self) -> Mapping[str, Mapping[Actor, Sequence[tuple[Run, frozenset[str]]]]]:
        """By group and process, the heartbeats that tell its subscriptions, with the topics of these."""
        found: dict[str, dict[Actor, list[tuple[Run, frozenset[str]]]]] = {}
        for run in self.runs:
            if run.kind == Kind.HEARTBEAT and run.subscriptions is not None:
                topics = frozenset(text.partition("=")[0] for text in run.subscriptions)
                found.setdefault(run.group, {}).setdefault(run.actor, []).append((run, topics))
        return found


def told_by(events: ContextEvents, pause: int = 2 * REBALANCE_PERIOD) -> Told:
    """The runs and steps of the events of a context, which are sorted by time.

    Args:
        events: events of the context.
        pause: how far apart rebalance passes may be and still be one run, ms. A process that makes none for longer may
            have seen something else meanwhile.
    """
    return events.fed(Telling(pause)).told()


class Telling:
    """The fold by which runs and steps are made, see :func:`told_by`."""

    def __init__(self, pause: int) -> None:
        self.name = f"told, {pause} ms"
        self._pause = pause
        self._runs: list[Run] = []
        self._steps: list[Step] = []
        self._places: tuple[list[int], list[int]] = [], []  # where the first event of each run is, and each step
        # By process, then by what the run is about, its number and what it says: a process's statements end with it.
        self._open: dict[Actor, dict[_About, tuple[int, _Said]]] = {}

    def take(self, events: ContextEvents, span: tuple[int, int]) -> None:
        """Process events."""
        for place, time, actor, about, said in _read(events.rows(*_COLUMNS, kinds=(*REPEATED, *ENDS), span=span)):
            if about[0] in REPEATED:
                of_actor = self._open.setdefault(actor, {})
                number, before = of_actor.get(about, (-1, None))
                run = self._runs[number] if said == before else None
                if run is not None and (about[0] != _PASS or time - run.last <= self._pause):
                    run.last = time
                    run.count += 1
                else:
                    of_actor[about] = len(self._runs), said
                    self._add_run(place, actor, about, said, time, time, 1)
            else:
                self._open.pop(actor, None)
                self._add_step(place, actor, about, time)

    def carried(self) -> Plain:
        """The present state: runs and steps by the places of their events, and the numbers of runs that may go on."""
        places, steps = self._places
        return {
            "runs": [[place, run.last, run.count] for place, run in zip(places, self._runs, strict=True)],
            "open": [number for of_actor in self._open.values() for number, _ in of_actor.values()],
            "steps": list(steps),
        }

    def carry_on(self, events: ContextEvents, known: Plain) -> bool:
        """Take over a state; it depends on nothing else."""
        runs, steps = (np.array(known[name], np.int64) for name in ("runs", "steps"))
        runs = runs.reshape(-1, 3)
        read = list(_read(events.rows_at(runs[:, 0], *_COLUMNS)))
        for (place, time, actor, about, said), (last, count) in zip(read, runs[:, 1:].tolist(), strict=True):
            self._add_run(place, actor, about, said, time, last, count)
        for number in known["open"]:
            _, _, actor, about, said = read[number]
            self._open.setdefault(actor, {})[about] = number, said
        for place, time, actor, about, _ in _read(events.rows_at(steps, *_COLUMNS)):
            self._add_step(place, actor, about, time)
        return True

    def told(self) -> Told:
        """What was told, after the last event."""
        by_group: dict[str, list[Run]] = {}
        for run in self._runs:
            by_group.setdefault(run.group, []).append(run)
        return Told(
            runs=tuple(self._runs),
            steps=tuple(self._steps),
            by_group={group: tuple(each) for group, each in sorted(by_group.items())},
        )

    def _add_run(self, place: int, actor: Actor, about: _About, said: _Said, *spans: int) -> None:
        kind, group, topic = about
        self._places[0].append(place)
        self._runs.append(Run(Kind(kind), actor, group or "", topic or "", *said, *spans))

    def _add_step(self, place: int, actor: Actor, about: _About, time: int) -> None:
        kind, group, _ = about
        self._places[1].append(place)
        self._steps.append(Step(Kind(kind), actor, group or "", time))


def _read(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[int, int, Actor, _About, _Said]]:
    """The place and time of events, who acted, what about, and what is said."""
    for place, time, client, incarnation, broker, kind, group, topic, *lists, how, detail in rows:
        said = *lists, how or "", detail or ""
        yield place, time, actor_named(client, incarnation, broker), (kind, group, topic), said
