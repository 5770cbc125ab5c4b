"""Clocks: a trace is followed by times that causes do not contradict, and what has no sure order is no mismatch."""

from __future__ import annotations

from dataclasses import dataclass

from ..clocks.clocks import UNBOUNDED, Clocks, clocks_of
from ..clocks.observed import COLUMNS, Observed
from ..clocks.order import Order
from ..clocks.pairs import BY_CLIENT
from ..encoding.names import Actor
from ..format.kinds import BROKER_RUNS, OF_BROKERS, Kind
from ..io import ROWS, Trace
from .events import Event
from .streams import Stream

_OF_OTHERS = frozenset({Kind.COMMIT, Kind.RESET, Kind.LOCK, Kind.UNLOCK, Kind.STORE, Kind.DELAY_DELIVER, *BROKER_RUNS})
"""Kinds that change what other processes see."""


@dataclass(frozen=True, kw_only=True)
class Recorders:
    """Whose clock the time of an event is, and how far it may be from others.

    Attributes:
        order: of the recorders.
        brokers: those that record, by name.
    """

    order: Order
    brokers: frozenset[str]

    def of(self, event: Event) -> Actor | None:
        """Who recorded an event; None where that is not known."""
        by_broker = event.actor is None or event.kind in OF_BROKERS
        by_broker |= event.kind is Kind.COMMIT and event.path not in BY_CLIENT and event.broker in self.brokers
        if by_broker:
            return Actor(event.broker, -1) if event.broker else None
        return Actor(*event.actor) if event.actor is not None else None

    def unsure(self, event: Event, stream: Stream, slack: int) -> str:
        """A recorder with an event whose order with this one cannot be told and may matter; empty if there is none.

        What recorders are apart for sure, and ``slack``, ms, is no doubt: it is allowed for.
        """
        own = self.of(event)
        if own is None:
            return ""
        reach: dict[Actor, int] = {}
        for other in stream.events:
            if other.kind not in _OF_OTHERS and event.kind not in _OF_OTHERS:
                continue
            whose = self.of(other)
            if whose is None or whose == own:
                continue
            if whose not in reach:
                loose = self.order.is_unsure(own, whose)
                apart = max(self.order.apart(own, whose), self.order.apart(whose, own))
                reach[whose] = UNBOUNDED if loose else apart
            if slack < reach[whose] and abs(other.time - event.time) <= reach[whose]:
                return str(whose)
        return ""


def in_time(trace: Trace, *, slack: int) -> Recorders:
    """Have a trace give times as causes ask for them, and tell what is left open.

    Args:
        trace: which is read once for it, unless its clocks are known.
        slack: how far clocks are taken to be apart that nothing bounds, ms.
    """
    if trace.clocks is None:
        clocks = _measured(trace)
        if clocks.corrects:
            trace.correct(clocks)
    else:
        clocks = trace.clocks
    brokers = frozenset(one.name for one in clocks.clocks if one.incarnation < 0)
    return Recorders(order=Order(clocks, slack), brokers=brokers)


def _measured(trace: Trace) -> Clocks:
    seen = Observed(trace.rows or 0)
    for source in trace.readers:
        for batch in source.batches(COLUMNS, rows=ROWS):
            seen.see(batch)
    return clocks_of(seen, trace.header.broadcasting)
