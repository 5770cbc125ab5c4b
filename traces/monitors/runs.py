"""Runs: statements that a process repeats without a change, such as the same rebalance every 20 s, as one item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..claims.settings import REBALANCE_PERIOD
from ..encoding.context_events import ContextEvents
from ..encoding.names import Actor
from ..engine.context import actor_named
from ..format.kinds import Kind

REPEATED = (Kind.HEARTBEAT, Kind.MEMBERS, Kind.ROUTE, Kind.REBALANCE)
"""Kinds that processes repeat periodically."""

_PASS = Kind.REBALANCE
ENDS = (Kind.CLIENT_START, Kind.CLIENT_STOP, Kind.CLIENT_CRASH, Kind.UNREGISTER)
"""Kinds with which a life, or a membership, begins or ends: the client's earlier statements no longer hold."""


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


def told_by(events: ContextEvents, pause: int = 2 * REBALANCE_PERIOD) -> Told:
    """The runs and steps of the events of a context, which are sorted by time.

    Args:
        events: events of the context.
        pause: how far apart rebalance passes may be and still be one run, ms. A process that makes none for longer may
            have seen something else meanwhile.
    """
    runs: list[Run] = []
    steps: list[Step] = []
    # By process, then by what the run is about: a process's statements end with it.
    open_runs: dict[Actor, dict[tuple[Any, ...], tuple[Run, tuple[Any, ...]]]] = {}
    columns = ("kind", "time", "client", "incarnation", "broker", "group", "topic", "members", "queues", "assigned")
    rows = events.rows(*columns, "subscriptions", "result", "detail", kinds=(*REPEATED, *ENDS))
    for kind, time, client, incarnation, broker, group, topic, members, queues, assigned, texts, how, detail in rows:
        actor, about = actor_named(client, incarnation, broker), (kind, group, topic)
        if kind in REPEATED:
            of_actor = open_runs.setdefault(actor, {})
            said = members, queues, assigned, texts, how or "", detail or ""
            run, before = of_actor.get(about, (None, None))
            if run is not None and said == before and (kind != _PASS or time - run.last <= pause):
                run.last = time
                run.count += 1
            else:
                run = Run(Kind(kind), actor, group or "", topic or "", *said, time, time)
                of_actor[about] = run, said
                runs.append(run)
        else:
            open_runs.pop(actor, None)
            steps.append(Step(Kind(kind), actor, group or "", time))
    by_group: dict[str, list[Run]] = {}
    for run in runs:
        by_group.setdefault(run.group, []).append(run)
    return Told(
        runs=tuple(runs), steps=tuple(steps), by_group={group: tuple(each) for group, each in sorted(by_group.items())}
    )
