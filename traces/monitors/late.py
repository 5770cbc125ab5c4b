"""What came late on a queue, held against the context: which of it is explained, and by what it is in doubt.

The fold of :mod:`.obligations` knows one queue. Whether its owner had died, or its broker was down, is asked here: few
rows, plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..claims.claims import CODE
from ..claims.obligations import OBLIGATIONS, Blocked, Obligation, Reason
from ..claims.settings import Settings
from ..encoding.names import Names
from ..engine.context import Context, actor_of
from ..engine.findings import Doubt, Note
from ..format.coverage import EVIDENCE_BIT
from ..format.kinds import CLIENT_ENDS, Kind
from .standstills import SIGNS, Standstills, within

_LEAVES = (Kind.ASSIGN, Kind.REVOKE, Kind.CLIENT_STOP, Kind.CLIENT_CRASH)
"""Kinds that may tell that the owner has the queue no more."""

_MOVES = "every-queue-moves"
_OF_ITSELF = (Reason.NO_PULLS, Reason.NOT_POLLED, Reason.NOT_DELIVERED)
"""Reasons that rest on what the owner itself did since it was due, whatever others did meanwhile."""


def late_rows(
    rows: Any, obligations: Sequence[Obligation], *, names: Names, settings: Settings, context: Context
) -> Any:
    """The suspects that are not explained, with their doubts.

    Args:
        rows: suspects; ``value`` is the place of their obligation.
        obligations: those of the fold.
        names: of the check.
        settings: the terms.
        context: what is known besides.
    """
    if not len(rows):
        return rows
    around = _Around(context, names, settings)
    kept = []
    for at, row in enumerate(rows):
        one = obligations[int(row["value"])]
        slot = names.slots[row["slot"]]
        since, until, limit = int(row["since"]), int(row["time"]), one.within(settings.of_group(slot.group))
        down = around.down(slot.broker, since, until)
        died = one.owned and around.ended(int(row["actor"]), since, min(until, since + limit + down))
        if not died and until - since - down > limit:
            kept.append(at)
            row["doubt"] = around.doubt(one, int(row["actor"]), since, limit)
            if (
                one.reason in (Reason.NO_PULLS, Reason.NOT_POLLED)
                and int(row["note"]) == Note.NONE
                and around.rests(int(row["actor"]), since, until, seen=one.balances)
            ):
                row["doubt"] |= int(Doubt.EVIDENCE)
    rows = rows[kept]
    late = _causes_first(rows[rows["note"] == Note.NONE])
    late["value"] = [around.reason(obligations[int(row["value"])], row, names, settings) for row in late]
    return np.concatenate([late, rows[rows["note"] != Note.NONE]])


def beyond(rows: Any, margin: int, *, names: Names, settings: Settings, context: Context) -> Any:
    """Which rows of :func:`late_rows` came later than an owner may be of itself by more than ``margin``, ms.

    Args:
        rows: findings, of other claims too.
        margin: by which no clock is off.
        names: of the check.
        settings: the terms.
        context: what is known besides.
    """
    found = (rows["claim"] == CODE[_MOVES]) & np.isin(rows["value"], _OF_ITSELF)
    away = Standstills(context.events, pause=settings.rounds).away if found.any() else ()
    for at in np.flatnonzero(found).tolist():
        slot, since, until = names.slots[rows["slot"][at]], int(rows["since"][at]), int(rows["time"][at])
        terms = settings.of_group(slot.group)
        limit = max(one.within(terms) for one in OBLIGATIONS if one.reason == rows["value"][at])
        down = within(((begin, end) for name, begin, end in away if name == slot.broker), since, until)
        found[at] = until - since - down > limit + margin
    return found


def _causes_first(rows: Any) -> Any:
    """The rows without those that follow from another one of the same claim on the same queue at the same time."""
    rows = rows[np.lexsort([rows["since"], rows["value"], rows["claim"], rows["slot"]])]
    kept: list[int] = []
    for at, row in enumerate(rows):
        follows = False
        for before in reversed(kept):
            if (rows[before]["slot"], rows[before]["claim"]) != (row["slot"], row["claim"]):
                break
            follows |= rows[before]["since"] <= row["time"] and row["since"] <= rows[before]["time"]
        if not follows:
            kept.append(at)
    return rows[kept]


class _Around:
    """What the context tells of owners and brokers."""

    def __init__(self, context: Context, names: Names, settings: Settings) -> None:
        self._ends = context.ends(names)
        self._missing = {kind for kind in _LEAVES if not context.evidence & EVIDENCE_BIT[kind]}
        self._signs: dict[int, int] = {}
        self._passes: dict[int, list[int]] = {}
        self._idle = settings.stuck
        for event in context.events:
            kind, time = event["kind"], int(event["time"])
            if kind in SIGNS:
                self._signs[names.actor(actor_of(event))] = time
                if kind == Kind.REBALANCE:
                    self._passes.setdefault(names.actor(actor_of(event)), []).append(time)
        self._still = Standstills(context.events, pause=settings.rounds)

    def reason(self, one: Obligation, row: Any, names: Names, settings: Settings) -> Reason:
        """Why it came late: what its owner was to do, or that it stood still."""
        since, until = int(row["since"]), int(row["time"])
        if one.claim != _MOVES or not one.owned or row["actor"] < 0:
            return one.reason
        still = within(self._still.of_client(names.actors[row["actor"]]), since, until)
        limit = one.within(settings.of_group(names.slots[row["slot"]].group))
        return Reason.OWNER_STOOD_STILL if until - since - still <= limit else one.reason

    def ended(self, actor: int, since: int, until: int) -> bool:
        """Whether a process ended in a period, or before it for good: what is done on its queues is done by others."""
        last = self._signs.get(actor, since)
        of_actor = self._ends.actor == actor
        return bool(np.any(of_actor & (self._ends.time >= min(since, last)) & (self._ends.time <= until)))

    def down(self, broker: str, since: int, until: int) -> int:
        """How long a broker was down in a period, ms."""
        return within(((begin, end) for name, begin, end in self._still.away if name == broker), since, until)

    def rests(self, actor: int, since: int, until: int, *, seen: bool = False) -> bool:
        """Whether a client may have been suspended by its application: then it pulls nothing, and keeps its queues.

        One that is not makes passes of rebalance, which drop what has not been pulled for long (RB-3, PQ-11). With
        ``seen`` these must have been seen; without, one that never was seen to make any counts as not suspended.
        """
        passes = self._passes.get(actor, ())
        begun, later = any(time <= since for time in passes), any(since + self._idle < time <= until for time in passes)
        return (begun or seen) and not later

    def doubt(self, one: Obligation, actor: int, since: int, within: int) -> int:
        """Why it may have been met, or not have been due."""
        wanted = CLIENT_ENDS if one.blocked is Blocked.RUNNING else _LEAVES
        unseen = self._missing.intersection(wanted)
        silent = actor in self._signs and self._signs[actor] < since + within
        if actor in self._signs and not silent:
            unseen = unseen.difference(CLIENT_ENDS)  # it was heard of later
        # Its owner may have died, or have given the queue up.
        return int(Doubt.EVIDENCE) if one.owned and (silent or unseen) else 0
