"""Context: the few events that concern more than one queue or message, known to every monitor from the beginning.

A monitor of one queue must know that a client died, although the event does not belong to its queue. These events are
therefore read first, and monitors look them up by time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from ..clocks.clocks import Clocks
from ..encoding.names import Actor, Names
from ..format.kinds import BROKER_RUNS, Kind
from ..format.schema import master_of
from ..machine_code.compiled import part

STOPPED, CRASHED, RESTARTED, FAILED_OVER, REOPENED = 1, 2, 3, 4, 5
"""How a process ended: an orderly stop, a death, a broker that restarted, one that changed its role, one that was
stopped in an orderly way and started again.
"""

_ENDS: Mapping[Kind, int] = {
    Kind.CLIENT_STOP: STOPPED,
    Kind.CLIENT_CRASH: CRASHED,
    Kind.BROKER_START: RESTARTED,
    Kind.ROLE_CHANGE: FAILED_OVER,
}


@dataclass(frozen=True, kw_only=True)
class Context:
    """What is known besides the events of a queue or message.

    Attributes:
        begin: time of the first event of the trace, ms; ``end``: of the last one.
        evidence: mask of the kinds whose absence means something, see ``coverage.evidence_mask``.
        events: those of kinds.CONTEXT and kinds.OWNERSHIP, and refused locks, as dictionaries with the fields of the
            schema, by time.
        complete: whether the trace begins with the first event of its groups.
        clocks: how far those of the recorders are apart.
    """

    begin: int
    end: int
    evidence: int
    events: tuple[Mapping[str, Any], ...]
    complete: bool = False
    clocks: Clocks = field(default_factory=Clocks)

    def ends(self, names: Names) -> Ends:
        """The ends of all processes, by actor code of ``names``.

        Clients may have taken a slave for the master if it was elected, or learnt that it was not.
        """
        rows = []
        stopped: set[str] = set()
        for event in self.events:
            how, broker = _ENDS.get(event["kind"]), event.get("broker")
            if event["kind"] == Kind.BROKER_START and broker in stopped:
                how = REOPENED
            if broker and event["kind"] == Kind.BROKER_STOP:
                stopped.add(broker)
            elif event["kind"] in BROKER_RUNS:
                stopped.discard(broker)
            if how is not None:
                rows.append((names.actor(actor_of(event)), int(event["time"]), how))
                master = master_of(event.get("broker") or "")
                if how == FAILED_OVER and master != event.get("broker"):
                    rows.append((names.actor(Actor(master, -1)), int(event["time"]), how))
        rows.sort()
        table = np.array(rows, np.int64).reshape(-1, 3)
        return Ends(actor=table[:, 0].copy(), time=table[:, 1].copy(), how=table[:, 2].copy())

    @classmethod
    def of(
        cls,
        events: Iterable[Mapping[str, Any]],
        *,
        begin: int,
        end: int,
        evidence: int,
        complete: bool = False,
        clocks: Clocks | None = None,
    ) -> Context:
        """The context made from events."""
        by_time = sorted(events, key=lambda event: (event["time"], event.get("seq") or 0))
        once = [event for _, of_a_time in groupby(by_time, itemgetter("time")) for event in _once(list(of_a_time))]
        return cls(
            begin=begin,
            end=end,
            evidence=evidence,
            events=tuple(once),
            complete=complete,
            clocks=clocks or Clocks(),
        )


def _about(event: Mapping[str, Any]) -> tuple[Any, ...]:
    return event["kind"], *map(event.get, ("client", "broker", "group", "topic", "queue"))


def _once(events: Sequence[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    """Repeated events are reported once: nothing happens to a process twice in one ms."""
    if len(events) == 1 or len(set(map(_about, events))) == len(events):
        return events
    return {str(sorted(event.items())): event for event in events}.values()


def actor_of(event: Mapping[str, Any]) -> Actor:
    """The process that acts in an event."""
    client = event.get("client")
    return _actor(client, event.get("incarnation") or 0) if client else _actor(event.get("broker") or "", -1)


@lru_cache(maxsize=1 << 12)
def _actor(name: str, incarnation: int) -> Actor:
    return Actor(name, incarnation)


def brokers_of(queues: Iterable[str]) -> frozenset[str]:
    """The brokers of queues as they are written in lists, ``broker:number``."""
    return _brokers_of(tuple(queues))


@lru_cache(maxsize=1 << 12)
def _brokers_of(queues: tuple[str, ...]) -> frozenset[str]:
    return frozenset(queue.rpartition(":")[0] for queue in queues)


@dataclass(frozen=True, kw_only=True)
class Ends:
    """When processes ended, sorted by actor, then time: three columns of equal length, int64."""

    actor: Any
    time: Any
    how: Any


@part
def ended_between(actors: Any, times: Any, hows: Any, actor: int, since: int, until: int) -> int:
    """How the process ``actor`` last ended in ``since`` … ``until`` (both included); 0 if it did not."""
    low, high = 0, len(actors)
    while low < high:
        middle = (low + high) // 2
        if actors[middle] < actor or (actors[middle] == actor and times[middle] <= until):
            low = middle + 1
        else:
            high = middle
    at = low - 1
    if at >= 0 and actors[at] == actor and times[at] >= since:
        return int(hows[at])
    return 0
