"""Context: the few events that concern more than one queue or message, known to every monitor from the beginning.

A monitor of one queue must know that a client died, although the event does not belong to its queue. These events are
therefore read first, and monitors look them up by time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

from ...machine_code.compiled import part
from ..clocks.clocks import Clocks
from ..encoding.context_events import ContextEvents
from ..encoding.names import Actor, Names, Words
from ..format.kinds import BROKER_RUNS, Kind
from ..format.schema import master_of

T = TypeVar("T")

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
        events: those of kinds.CONTEXT and kinds.OWNERSHIP, and refused locks, by time.
        complete: whether the trace begins with the first event of its groups.
        clocks: how far those of the recorders are apart.
    """

    begin: int
    end: int
    evidence: int
    events: ContextEvents
    complete: bool = False
    clocks: Clocks = field(default_factory=Clocks)
    _known: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def once(self, learn: Callable[..., T], *given: Any) -> T:
        """``learn(self, *given)``, which is worked out when it is asked for the first time."""
        key = learn, given
        if key not in self._known:
            self._known[key] = learn(self, *given)
        return self._known[key]  # type: ignore[no-any-return]

    def ends(self, names: Names) -> Ends:
        """The ends of all processes, by actor code of ``names``.

        ST-8: a consumer that stops ends in its own group only; others of its process may go on. Clients may have taken
        a slave for the master if it was elected, or learnt that it was not.
        """
        rows = []
        groups = Words()
        stopped: set[str] = set()
        for event in self.events.of_kinds(*_ENDS, *BROKER_RUNS):
            how, broker = _ENDS.get(event["kind"]), event.get("broker")
            if event["kind"] == Kind.BROKER_START and broker in stopped:
                how = REOPENED
            if broker and event["kind"] == Kind.BROKER_STOP:
                stopped.add(broker)
            elif event["kind"] in BROKER_RUNS:
                stopped.discard(broker)
            if how is not None:
                of = groups.code(event["group"]) if how == STOPPED and event.get("group") else -1
                rows.append((names.actor(actor_of(event)), int(event["time"]), how, of))
                master = master_of(event.get("broker") or "")
                if how == FAILED_OVER and master != event.get("broker"):
                    rows.append((names.actor(Actor(master, -1)), int(event["time"]), how, -1))
        rows.sort()
        columns = np.array(rows, np.int64).reshape(-1, 4).T.copy()
        return Ends(actor=columns[0], time=columns[1], how=columns[2], group=columns[3], groups=groups)

    @classmethod
    def of(
        cls,
        events: ContextEvents,
        *,
        begin: int,
        end: int,
        evidence: int,
        complete: bool = False,
        clocks: Clocks | None = None,
    ) -> Context:
        """The context made from events."""
        return cls(
            begin=begin,
            end=end,
            evidence=evidence,
            events=events.by_time(),
            complete=complete,
            clocks=clocks or Clocks(),
        )


def actor_of(event: Mapping[str, Any]) -> Actor:
    """The process that acts in an event."""
    return actor_named(event.get("client"), event.get("incarnation"), event.get("broker"))


def actor_named(client: str | None, incarnation: int | None, broker: str | None) -> Actor:
    """The process that acts in an event with these fields."""
    return _actor(client, incarnation or 0) if client else _actor(broker or "", -1)


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
    """When processes ended, sorted by actor, then time, and in which of ``groups``; -1: in all. Equal length, int64."""

    actor: Any
    time: Any
    how: Any
    group: Any
    groups: Words


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
