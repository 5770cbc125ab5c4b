"""Late events on a queue, checked against the context: which of them are explained, and why others are in doubt.

The fold of :mod:`..tables.obligations` knows only one queue. Whether its owner had died, or its broker was down, is
checked here: few rows, plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...claims.obligations import Blocked, Obligation, Reason
from ...claims.settings import Settings
from ...encoding.names import Actor, Names
from ...engine.context import Context, actor_named
from ...engine.findings import Doubt, Note
from ...format.coverage import EVIDENCE_BIT
from ...format.kinds import CLIENT_ENDS, Kind
from ..standstills import SIGNS, Standstills, within

_LEAVES = (Kind.ASSIGN, Kind.REVOKE, Kind.CLIENT_STOP, Kind.CLIENT_CRASH)
"""Kinds that may show that the owner no longer has the queue."""

_MOVES = "every-queue-moves"


def late_rows(
    rows: Any, obligations: Sequence[Obligation], *, names: Names, settings: Settings, context: Context
) -> Any:
    """The suspects that are not explained, with their doubts.

    The ``value`` of a suspect is the position of its obligation among ``obligations``.
    """
    if not len(rows):
        return rows
    around = _Around(context, names, settings)
    kept = []
    for at, row in enumerate(rows):
        one = obligations[int(row["value"])]
        slot = names.slots[row["slot"]]
        since, until, limit = int(row["since"]), int(row["time"]), one.within(settings.of_group(slot.group))
        if one.claim == _MOVES and one.owned and row["actor"] >= 0:
            # ST-6: until its broker takes it for dead, nobody else gets the queues of an owner that stands still; in
            # broadcasting, nobody ever does.
            still = around.still(names.actors[row["actor"]], since, until)
            if still:
                limit = max(limit, settings.rounds + (still if slot.client else min(still, settings.silent_death)))
        down = around.down(slot.broker, since, until)
        died = one.owned and around.ended(int(row["actor"]), slot.group, since, min(until, since + limit + down))
        if not died and until - since - down > limit:
            kept.append(at)
            row["late"] = until - since - down - limit
            row["doubt"] = around.doubt(one, int(row["actor"]), since, limit)
            if (
                one.reason in (Reason.NO_PULLS, Reason.NOT_POLLED)
                and int(row["note"]) == Note.NONE
                and around.rests(int(row["actor"]), slot.group, since, until, seen=one.balances)
            ):
                row["doubt"] |= int(Doubt.EVIDENCE)
    rows = rows[kept]
    late = _causes_first(rows[rows["note"] == Note.NONE])
    late["value"] = [around.reason(obligations[int(row["value"])], row, names, settings) for row in late]
    return np.concatenate([late, rows[rows["note"] != Note.NONE]])


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
    """What the context says about owners and brokers."""

    def __init__(self, context: Context, names: Names, settings: Settings) -> None:
        self._ends = context.ends(names)
        self._missing = {kind for kind in _LEAVES if not context.evidence & EVIDENCE_BIT[kind]}
        self._signs: dict[int, int] = {}
        self._idle = settings.stuck
        self._names, self._events = names, context.events
        signs = context.events.spans("client", "incarnation", "broker", kinds=SIGNS)
        for (client, run, broker), (_, last) in signs.items():
            actor = names.actor(actor_named(client, run, broker))
            self._signs[actor] = max(self._signs.get(actor, last), last)
        self._still = context.events.once(Standstills.of, settings.rounds)

    def reason(self, one: Obligation, row: Any, names: Names, settings: Settings) -> Reason:
        """Why it was late: what its owner had to do, or that it stood still."""
        since, until = int(row["since"]), int(row["time"])
        if one.claim != _MOVES or not one.owned or row["actor"] < 0:
            return one.reason
        still = self.still(names.actors[row["actor"]], since, until)
        limit = one.within(settings.of_group(names.slots[row["slot"]].group))
        return Reason.OWNER_STOOD_STILL if until - since - still <= limit else one.reason

    def still(self, actor: Actor, since: int, until: int) -> int:
        """For how long in a period a process stood still, ms."""
        return within(self._still.of_client(actor), since, until)

    def ended(self, actor: int, group: str, since: int, until: int) -> bool:
        """Whether a process ended for a group within a period, or for good before it: others then act on its queues."""
        last = self._signs.get(actor, since)
        groups = [-1, self._ends.groups.words.index(group)] if group in self._ends.groups.words else [-1]
        of_actor = (self._ends.actor == actor) & np.isin(self._ends.group, groups)
        return bool(np.any(of_actor & (self._ends.time >= min(since, last)) & (self._ends.time <= until)))

    def down(self, broker: str, since: int, until: int) -> int:
        """How long a broker was down in a period, ms."""
        return within(((begin, end) for name, begin, end in self._still.away if name == broker), since, until)

    def rests(self, actor: int, group: str, since: int, until: int, *, seen: bool = False) -> bool:
        """Whether a consumer may have been suspended by its application: it then pulls nothing, and keeps its queues.

        A consumer that is not suspended makes rebalance passes, which drop queues that have not been pulled for long
        (RB-3, PQ-11). With ``seen`` these must have been recorded; without it, a client for which none was ever
        recorded counts as not suspended.
        """
        rows = self._events.rows("time", "group", kinds=(Kind.REBALANCE,), of=self._names.actors[actor])
        passes = [time for time, of in rows if of == group]
        begun, later = any(time <= since for time in passes), any(since + self._idle < time <= until for time in passes)
        return (begun or seen) and not later

    def doubt(self, one: Obligation, actor: int, since: int, within: int) -> int:
        """Why the obligation may have been met, or not have been due."""
        wanted = CLIENT_ENDS if one.blocked is Blocked.RUNNING else _LEAVES
        unseen = self._missing.intersection(wanted)
        # Beside others that gave signs of life, one that never did may have died at any time.
        silent = bool(self._signs) and self._signs.get(actor, since) < since + within
        if actor in self._signs and not silent:
            unseen = unseen.difference(CLIENT_ENDS)  # it was heard of later
        # Its owner may have died, or have given up the queue.
        return int(Doubt.EVIDENCE) if one.owned and (silent or unseen) else 0
