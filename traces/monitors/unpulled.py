"""Queues that an owner had and never pulled: whether messages waited in them is known only at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..claims.claims import CODE
from ..claims.obligations import Reason
from ..claims.settings import Settings
from ..encoding.names import Names, Slot
from ..encoding.store_counts import Stored
from ..engine.findings import Note, sort_rows
from ..format.message_status import MessageStatus
from .fold import Outcome
from .queue_ends import whole

_MOVES = CODE["every-queue-moves"]


def settle_unpulled(outcome: Outcome, names: Names, stores: Mapping[Slot, Stored], settings: Settings) -> Outcome:
    """The outcome, with unpulled queues as violations of ``every-queue-moves`` if messages waited in them for long.

    The others are left out. What waits at the end counts as waiting.
    """
    unpulled = np.flatnonzero(outcome.rows["note"] == Note.UNPULLED)
    if not len(unpulled):
        return outcome
    rows, statuses, judged = outcome.rows.copy(), outcome.statuses.copy(), outcome.judged.copy()
    keep = np.ones(len(rows), np.bool_)
    latest = {int(rows["slot"][at]): at for at in unpulled.tolist()}  # they are in the order of time
    for at in unpulled.tolist():
        row = rows[at]
        slot = names.slots[row["slot"]]
        stored = stores.get(whole(slot))
        start = max(int(row["offset"]), 0)
        if stored is None or stored.last < start:
            keep[at] = False
            continue
        if latest[int(row["slot"])] == at:
            statuses[row["slot"], MessageStatus.WAITING] += stored.last + 1 - max(start, stored.first)
        since = max(int(row["since"]), stored.since if stored.first >= start else stored.until)
        late = int(row["time"]) - since - settings.silent_death - settings.rounds
        if late <= 0:
            keep[at] = False
            continue
        row["late"] = min(row["late"], late)
        row["note"], row["value"], row["since"], row["until"] = Note.NONE, Reason.NO_PULLS, since, stored.last + 1
        judged[_MOVES] += 1
    return replace(outcome.with_rows(sort_rows(rows[keep])), judged=judged, statuses=statuses)
