"""Ends of queues: that clients are told of no messages that no broker has stored, which is known in the end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..encoding.names import Names, Slot
from ..engine.findings import Note, sort_rows
from .fold import Outcome


def settle_ends(outcome: Outcome, names: Names) -> Outcome:
    """The outcome with ends that clients were told as violations where the broker has stored nothing so far.

    The others are left out, and so is what brokers have stored. Of a queue the first client is told that was told most.
    """
    is_end = outcome.rows["note"] == Note.END
    if not is_end.any():
        return outcome
    stored: dict[Slot, int] = {}
    told: dict[Slot, int] = {}
    for at in np.flatnonzero(is_end).tolist():
        row, slot = outcome.rows[at], names.slots[outcome.rows["slot"][at]]
        if not slot.group:
            stored[slot] = max(int(row["offset"]), stored.get(slot, 0))
        elif slot not in told or outcome.rows["offset"][told[slot]] < row["offset"]:
            told[slot] = at
    rows, violated, keep = outcome.rows.copy(), outcome.violated.copy(), ~is_end
    for slot, at in told.items():
        end = stored.get(replace(slot, group="", client=""))
        if end is not None and rows["offset"][at] > end:
            rows["note"][at], rows["expected"][at], keep[at] = Note.NONE, end, True
            violated[rows["claim"][at]] += 1
    return replace(outcome, rows=sort_rows(rows[keep]), violated=violated)
