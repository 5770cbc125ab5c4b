"""First starts: a queue for which nothing was stored, and a group that existed long before it (G1).

If nothing is stored for a queue, a group that consumes from the last offset starts at its end (RB-41). For a new group
this is intended; a group that has long stored offsets of other queues of the topic loses the messages that the queue
had before it was seen. Only all queues together show which of the two applies, so this is decided at the end.
"""

from __future__ import annotations

import numpy as np

from ..claims.settings import Settings
from ..encoding.names import Names
from ..engine.findings import Note, sort_rows
from .commits import Jump
from .fold import Outcome


def settle_first_starts(outcome: Outcome, names: Names, settings: Settings) -> Outcome:
    """The outcome, with first starts of known groups as violations of ``nothing-skipped`` instead of notes.

    A group is known if an offset of another queue of the topic was stored for it more than two rounds before. Each
    broadcasting client has offsets of its own, so what others have stored does not count.
    """
    rows = outcome.rows
    starts = np.flatnonzero((rows["note"] == Note.SKIPPED) & (rows["value"] == Jump.FIRST_START))
    if not len(starts):
        return outcome
    earliest: dict[tuple[str, str, str], int] = {}
    offsets = rows[rows["note"] == Note.OFFSET]
    first = np.full(len(names.slots), 2**63 - 1)
    np.minimum.at(first, offsets["slot"], offsets["time"])
    for slot, time in zip(names.slots, first.tolist(), strict=True):
        topic = slot.group, slot.topic, slot.client
        earliest[topic] = min(earliest.get(topic, time), time)
    rows = rows.copy()
    for at in starts.tolist():
        slot = names.slots[int(rows["slot"][at])]
        known = earliest[slot.group, slot.topic, slot.client]
        if known < int(rows["time"][at]) - settings.rounds:
            rows["note"][at] = Note.NONE
            rows["since"][at] = known
    return outcome.with_rows(sort_rows(rows))
