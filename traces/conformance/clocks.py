"""Clocks: times are made consistent with causes, and mismatches of events without a certain order are ignored."""

from __future__ import annotations

from dataclasses import dataclass

from ..clocks.clocks import UNBOUNDED, clocks_of
from ..clocks.observed import COLUMNS, Observed
from ..clocks.order import Order
from ..clocks.pairs import BY_CLIENT
from ..encoding.names import Actor
from ..format.kinds import BROKER_RUNS, OF_BROKERS, Kind
from ..io import Trace
from .events import Event
from .streams import Stream

_OF_OTHERS = frozenset({Kind.COMMIT, Kind.RESET, Kind.LOCK, Kind.UNLOCK, Kind.STORE, Kind.DELAY_DELIVER, *BROKER_RUNS})
"""Kinds that change what other processes see."""


@dataclass(frozen=True, kw_only=True)
class Recorders:
    """By whose clock the time of an event is, and how far that clock may be from others."""

    order: Order  # the order of events of the recorders
    brokers: frozenset[str]  # brokers that record, by name
    senders: frozenset[str]  # ids of clients that stamp their commits themselves

    def of(self, event: Event) -> Actor | None:
        """The recorder of an event; None if it is not known."""
        is_stored = event.kind is Kind.COMMIT and event.path not in BY_CLIENT and event.broker in self.brokers
        if event.actor is None or event.kind in OF_BROKERS or (is_stored and event.actor[0] not in self.senders):
            return Actor(event.broker, -1) if event.broker else None
        return Actor(*event.actor)

    def unsure(self, event: Event, stream: Stream, slack: int) -> str:
        """A recorder with an event whose order relative to this one is not certain and may matter; empty if there is
        none.

        Certain distances between recorders, and ``slack``, ms, are no doubt: they are allowed for.
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
    """Make a trace return causally consistent times, and determine what remains open.

    Reads the trace once, unless its clocks are known. ``slack`` is the assumed distance of clocks without bounds, ms.
    """
    clocks = trace.clocks
    if clocks is None:
        seen = Observed(trace.rows or 0)
        for batch in trace.batches(COLUMNS):
            seen.see(batch)
        clocks = clocks_of(seen, trace.header.broadcasting)
        if clocks.corrects:
            trace.correct(clocks)
    brokers = frozenset(one.name for one in clocks.clocks if one.incarnation < 0)
    return Recorders(order=Order(clocks, slack), brokers=brokers, senders=clocks.senders)
