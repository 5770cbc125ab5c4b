"""Shares: the groups of a recording, divided among several monitors that judge them apart.

A process may start or end in all of its groups at once, so groups with a common client are in one share. What brokers
do is part of every share, and the first one judges it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...encoding.context_events import ContextEvents
from ...format.kinds import BROKER_RUNS, Kind
from .runs import ENDS, Told, told_by

_OF_ALL = -1
_TOLD_TO_ALL = (*BROKER_RUNS, Kind.FILE_LOAD, Kind.FILE_PERSIST, Kind.ROUTE)
"""Kinds by which a broker, or the name server, says something that matters to all groups."""


@dataclass(frozen=True)
class GroupShare:
    """One of ``count`` shares, counted from 0; all groups, if there is only one."""

    number: int = 0
    count: int = 1

    @property
    def has_brokers(self) -> bool:
        """Whether this is the share in which brokers are judged."""
        return self.number == 0

    def of(self, events: ContextEvents) -> ContextEvents:
        """The events of the share, of those of a whole recording."""
        if self.count == 1:
            return events
        shares = events.once(_shares, self.count)
        chosen = (shares == self.number) | (shares == _OF_ALL)
        if self.has_brokers:
            chosen[_of_nobody(events, Kind.MEMBERS)] = True  # they show which brokers run
        return events.taken(np.flatnonzero(chosen))

    def common(self, events: ContextEvents, pause: int) -> Told:
        """Routes of a whole recording, and passes that name no group; ``pause`` as for :func:`~.runs.told_by`."""
        return events.once(told_by if self.count == 1 else _common, pause)


ALL_GROUPS = GroupShare()


def _common(events: ContextEvents, pause: int) -> Told:
    places = [at for _, at in events.places("kind", kinds=(Kind.ROUTE, *ENDS)).items()]
    places += [at for (group,), at in events.places("group", kinds=(Kind.REBALANCE,)).items() if not group]
    return told_by(events.taken(np.sort(np.concatenate([np.empty(0, np.int64), *places]))), pause)


def _shares(events: ContextEvents, count: int) -> Any:
    """The share of each event, or ``_OF_ALL``: the largest set of groups goes first, each to the smallest share."""
    places = events.places("client", "group", kinds=events.kinds())
    first: dict[tuple[str, Any], tuple[str, Any]] = {}

    def first_of(name: tuple[str, Any]) -> tuple[str, Any]:
        while (before := first.setdefault(name, name)) != name:
            name = before
        return name

    for client, group in places:
        if client and group:
            first[first_of(("group", group))] = first_of(("client", client))
    together = {
        (client, group): first_of(("client", client) if client else ("group", group)) for client, group in places
    }
    sizes = Counter[tuple[str, Any]]()
    for named, at in places.items():
        sizes[together[named]] += len(at)
    loads, number = [0] * count, dict[tuple[str, Any], int]()
    for name, size in sorted(sizes.items(), key=lambda item: (-item[1], str(item[0]))):
        number[name] = loads.index(min(loads))
        loads[number[name]] += size
    shares = np.zeros(len(events), np.int32)
    for named, at in places.items():
        shares[at] = number[together[named]] if any(named) else 0
    shares[_of_nobody(events, *_TOLD_TO_ALL)] = _OF_ALL
    return shares


def _of_nobody(events: ContextEvents, *kinds: Kind) -> Any:
    """The places of events of some kinds that name no client, and except for lists of members, no group."""
    found = [
        at
        for (kind, client, group), at in events.places("kind", "client", "group", kinds=kinds).items()
        if not client and (not group or kind == Kind.MEMBERS)
    ]
    return np.concatenate([np.empty(0, np.int64), *found])
