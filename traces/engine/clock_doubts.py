"""Clock doubts: findings that rest on the order of recorders of which nobody knows how far their clocks are apart.

Folds take an order for certain that is further apart than the allowed skew. Where the causal pairs of a recording leave
a clock more room than that, no such order is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..claims.claim import Monitor
from ..claims.claims import CLAIMS
from ..clocks.clocks import Clocks
from ..clocks.order import Order
from ..encoding.names import Actor, Names
from ..format.coverage import Hole
from ..monitors.fold import Outcome
from .findings import Doubt, Note

_BY_ORDER = np.array([*(claim.monitor is not Monitor.GROUPS for claim in CLAIMS), False])


def order_doubted(outcome: Outcome, names: Names, clocks: Clocks, skew: int) -> Outcome:
    """The outcome of folds with findings in doubt that name a recorder whose clock is not bounded.

    Args:
        outcome: of folds.
        names: of queues and processes.
        clocks: of the recorders.
        skew: what is asked for, ms: a clock that is known to be no further off needs no doubt.
    """
    order = Order(clocks, skew)
    loose = {actor for actor in clocks.clocks if order.is_loose(actor)}
    if not loose:
        return outcome
    rows = outcome.rows.copy()
    violated, doubtful = outcome.violated.copy(), outcome.doubtful.copy()
    actors = np.array([*(actor in loose for actor in names.actors), False])
    slots = np.array([*(Actor(slot.broker, -1) in loose for slot in names.slots), False])
    nobody = (rows["actor"] < 0) & (rows["other"] < 0)
    about = actors[rows["actor"]] | actors[rows["other"]] | slots[rows["slot"]] | nobody
    about &= (rows["note"] == Note.NONE) & (rows["cause"] == 0) & _BY_ORDER[rows["claim"]]
    for claim in np.unique(rows["claim"][about]).tolist():
        certain = (rows["claim"] == claim) & (rows["note"] == Note.NONE) & (rows["cause"] == 0) & (rows["doubt"] == 0)
        more = int(np.count_nonzero(certain & about))
        if more == np.count_nonzero(certain):  # those beyond the ones that are kept are taken to be as these are
            more = int(violated[claim])
        violated[claim] -= more
        doubtful[claim] += more
    rows["doubt"][about] |= int(Doubt.SKEW)
    return replace(outcome, rows=rows, violated=violated, doubtful=doubtful)


def steps_as_holes(clocks: Clocks) -> Sequence[Hole]:
    """The times in which a clock was set: what happened then has no order between recorders."""
    return [
        Hole(since=step.since // 1000, until=-(-step.until // 1000), why=str(step), recorder=_only(step.recorders))
        for step in clocks.steps
    ]


def _only(recorders: Sequence[Any]) -> str:
    return recorders[0].name if len(recorders) == 1 else ""
