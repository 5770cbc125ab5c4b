"""Standstills: when a process did nothing at all, for example because it was suspended, collected garbage, or its
machine hung; and when brokers were down.

A client that stands still neither balances nor sends heartbeats, and does both at once when it continues. A broker that
stands still answers nobody, so that clients close their connections; when it continues, it counts them as gone until
their next heartbeats, as after a restart (RB-20, ST-6).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..encoding.context_events import ContextEvents
from ..encoding.names import Actor
from ..encoding.plain import Plain, plain, restored
from ..engine.context import actor_named
from ..format.kinds import BROKER_RUNS, Kind

SIGNS = (Kind.HEARTBEAT, Kind.REBALANCE)
"""Kinds that a live client records again and again."""
_SEVERAL = 3
_TIMES_USUAL = 3
_BROKER_PAUSE = 10_000
"""ms. A broker writes its offsets every 5 s (``flushConsumerOffsetInterval``), or at the interval that was observed."""

_FOR_EVER = 1 << 62

Spans = list[tuple[int, int]]


@dataclass(slots=True)
class _Signs:
    """What was seen of a process since it began.

    Attributes:
        last: time of its latest sign, ms.
        count: number of its signs; ``beats``: number of those that show that it is completely recorded.
        lasted: total time between its signs, without the times in which it stood still, ms.
    """

    last: int
    count: int = 0
    beats: int = 0
    lasted: int = 0


@dataclass(slots=True)
class _Seen:
    """What was seen until a moment.

    Attributes:
        of_brokers: standstills of brokers, each from the last sign to the next one, ms; ``of_clients``: of clients.
        signs: the signs of processes that run.
        down: when brokers were down; ``ended``: those that have not started again, and when they ended.
    """

    of_brokers: list[tuple[str, int, int]] = field(default_factory=list)
    of_clients: dict[Actor, list[tuple[int, int]]] = field(default_factory=dict)
    signs: dict[Actor, _Signs] = field(default_factory=dict)
    down: list[tuple[str, int, int]] = field(default_factory=list)
    ended: dict[str, int] = field(default_factory=dict)


class Standstills:
    """The standstills of all processes of a trace: a fold over events by time.

    A running client may give no sign for ``pause``, ms.
    """

    def __init__(self, pause: int) -> None:
        self.name = f"standstills, {pause} ms"
        self._pause = pause
        self._seen = _Seen()

    @classmethod
    def of(cls, events: ContextEvents, pause: int) -> Standstills:
        """Those of a context."""
        return events.fed(cls(pause))

    def take(self, events: ContextEvents, span: tuple[int, int]) -> None:
        """Process events."""
        seen, kinds = self._seen, (*BROKER_RUNS, *SIGNS, Kind.FILE_PERSIST)
        rows = events.rows("kind", "time", "client", "incarnation", "broker", kinds=kinds, span=span)
        for kind, time, client, run, name in rows:
            broker, actor = name or "", actor_named(client, run, name)
            if kind in BROKER_RUNS:
                seen.signs.pop(actor, None)
                if kind in (Kind.BROKER_STOP, Kind.BROKER_CRASH):
                    seen.ended.setdefault(broker, time)
                elif kind == Kind.BROKER_START and broker in seen.ended:
                    seen.down.append((broker, seen.ended.pop(broker), time))
            elif kind in SIGNS and client:
                since = _still_since(seen.signs, actor, time, self._pause, beats=kind == Kind.HEARTBEAT)
                if since is not None:
                    seen.of_clients.setdefault(actor, []).append((since, time))
            elif kind == Kind.FILE_PERSIST and broker and not client:
                since = _still_since(seen.signs, actor, time, _BROKER_PAUSE, beats=True)
                if since is not None:
                    seen.of_brokers.append((broker, since, time))

    def carried(self) -> Plain:
        """The present state."""
        return plain(self._seen)

    def carry_on(self, _events: ContextEvents, known: Plain) -> bool:
        """Take over a state; it depends on nothing else."""
        self._seen = restored(_Seen, known)
        return True

    @property
    def of_brokers(self) -> Sequence[tuple[str, int, int]]:
        """Those of brokers, each from its last sign to the next one, ms."""
        return self._seen.of_brokers

    @property
    def away(self) -> Sequence[tuple[str, int, int]]:
        """Those of brokers, and when they were down: from the end of one, if that was seen, to its next start."""
        since_ends = [(broker, since, _FOR_EVER) for broker, since in self._seen.ended.items()]
        return [*self._seen.of_brokers, *self._seen.down, *since_ends]

    def of_client(self, actor: Actor) -> Spans:
        """When a client stood still, each time from its last sign to the next one, ms."""
        return self._seen.of_clients.get(actor, [])


def within(spans: Iterable[tuple[int, int]], since: int, until: int) -> int:
    """How much of a period is covered by spans that do not overlap, ms."""
    return sum(max(min(end, until) - max(begin, since), 0) for begin, end in spans)


def _still_since(seen: dict[Actor, _Signs], actor: Actor, time: int, pause: int, *, beats: bool) -> int | None:
    """A process gives a sign; returns since when it stood still, if it did."""
    signs = seen.get(actor)
    if signs is None:
        signs = seen[actor] = _Signs(time)
    since, passed, usual = signs.last, time - signs.last, signs.lasted // max(signs.count - 1, 1)
    is_still = signs.beats >= _SEVERAL and passed > max(pause, _TIMES_USUAL * usual)
    signs.last = time
    signs.count += 1
    signs.beats += beats
    signs.lasted += 0 if is_still else passed
    return since if is_still else None
