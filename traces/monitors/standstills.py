"""Standstills: when a process did nothing at all, for example because it was suspended, collected garbage, or its
machine hung; and when brokers were down.

A client that stands still neither balances nor sends heartbeats, and does both at once when it continues. A broker that
stands still answers nobody, so that clients close their connections; when it continues, it counts them as gone until
their next heartbeats, as after a restart (RB-20, ST-6).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..encoding.context_events import ContextEvents
from ..encoding.names import Actor
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


class Standstills:
    """The standstills of all processes of a trace.

    Attributes:
        of_brokers: those of brokers, each from its last sign to the next one, ms.
        away: these, and when brokers were down: from the end of one, if that was seen, to its next start.

    Events are by time. A running client may give no sign for ``pause``, ms.
    """

    def __init__(self, events: ContextEvents, pause: int) -> None:
        self.of_brokers: list[tuple[str, int, int]] = []
        self._of_clients: dict[Actor, Spans] = {}
        seen: dict[Actor, _Signs] = {}
        down: list[tuple[str, int, int]] = []
        ended: dict[str, int] = {}
        rows = events.rows(
            "kind", "time", "client", "incarnation", "broker", kinds=(*BROKER_RUNS, *SIGNS, Kind.FILE_PERSIST)
        )
        for kind, time, client, run, name in rows:
            broker, actor = name or "", actor_named(client, run, name)
            if kind in BROKER_RUNS:
                seen.pop(actor, None)
                if kind in (Kind.BROKER_STOP, Kind.BROKER_CRASH):
                    ended.setdefault(broker, time)
                elif kind == Kind.BROKER_START and broker in ended:
                    down.append((broker, ended.pop(broker), time))
            elif kind in SIGNS and client:
                since = _still_since(seen, actor, time, pause, beats=kind == Kind.HEARTBEAT)
                if since is not None:
                    self._of_clients.setdefault(actor, []).append((since, time))
            elif kind == Kind.FILE_PERSIST and broker and not client:
                since = _still_since(seen, actor, time, _BROKER_PAUSE, beats=True)
                if since is not None:
                    self.of_brokers.append((broker, since, time))
        down += [(broker, since, _FOR_EVER) for broker, since in ended.items()]
        self.away = [*self.of_brokers, *down]

    def of_client(self, actor: Actor) -> Spans:
        """When a client stood still, each time from its last sign to the next one, ms."""
        return self._of_clients.get(actor, [])


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
