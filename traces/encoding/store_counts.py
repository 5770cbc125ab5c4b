"""Stores: how many messages were stored in each queue (at once, or when their delay was over), and when.

No monitor needs them individually.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...machine_code.compiled import entry
from ..format.kinds import Kind
from .names import Names, Slot


class Stored(NamedTuple):
    """What was stored in one queue."""

    messages: int  # number of messages
    last: int  # the highest offset
    until: int  # when the message at the highest offset was stored, ms
    first: int  # the lowest offset
    since: int  # when the message at the lowest offset was stored, ms


class StoreCounts(dict[Slot, Stored]):
    """What was stored in each queue of a topic."""

    def add(self, slot: Slot, more: Stored) -> None:
        """Further messages of a queue."""
        known = self.get(slot)
        if known is not None:
            last, until = max((known.last, known.until), (more.last, more.until))
            first, since = min((known.first, known.since), (more.first, more.since))
            more = Stored(known.messages + more.messages, last, until, first, since)
        self[slot] = more

    def join(self, more: Mapping[Slot, Stored]) -> None:
        """Add what was counted elsewhere."""
        for slot, stored in more.items():
            self.add(slot, stored)


def note_stores(kind: Any, slot: Any, offset: Any, time: Any, *, names: Names, stores: StoreCounts) -> None:
    """Count the messages that are stored by events with these columns of :class:`~.coding.Coded`."""
    found = np.zeros((len(names.slots), len(Stored._fields)), np.int64)
    _note(kind, slot, offset, time, found)
    for code in np.flatnonzero(found[:, 0]).tolist():
        if names.slots[code].queue >= 0:
            stores.add(names.slots[code], Stored(*found[code].tolist()))


@entry
def _note(kind: Any, slot: Any, offset: Any, time: Any, found: Any) -> None:
    for i in range(len(kind)):
        at = slot[i]
        if (kind[i] == Kind.STORE or kind[i] == Kind.DELAY_DELIVER) and at >= 0:
            if found[at, 0] == 0 or offset[i] > found[at, 1]:
                found[at, 1], found[at, 2] = offset[i], time[i]
            if found[at, 0] == 0 or offset[i] < found[at, 3]:
                found[at, 3], found[at, 4] = offset[i], time[i]
            found[at, 0] += 1
