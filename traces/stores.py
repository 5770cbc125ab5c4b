"""Stores: how many messages were stored in each queue, which no monitor needs one by one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .coding import Coded
from .kinds import Kind, codes
from .names import Names, Slot
from .schema import ABSENT

_STORE = codes(Kind)[Kind.STORE]


class StoreCounts(dict[Slot, tuple[int, int]]):
    """For each queue of a topic how many messages were stored in it, and the offset of the last one."""

    def add(self, slot: Slot, count: int, last: int) -> None:
        """``count`` more messages, the last of them at offset ``last``."""
        before, highest = self.get(slot, (0, ABSENT))
        self[slot] = (before + count, max(highest, last))

    def join(self, more: Mapping[Slot, tuple[int, int]]) -> None:
        """Add what was counted elsewhere."""
        for slot, (count, last) in more.items():
            self.add(slot, count, last)


def note_stores(coded: Coded, names: Names, stores: StoreCounts) -> None:
    """Count the messages that are stored by these events."""
    at = (coded.kind == _STORE) & (coded.slot >= 0)
    if not at.any():
        return
    slots, offsets = coded.slot[at], coded.offset[at]
    counts = np.bincount(slots)
    last = np.full(len(counts), ABSENT, np.int64)
    np.maximum.at(last, slots, offsets)
    for slot in np.nonzero(counts)[0].tolist():
        if names.slots[slot].queue >= 0:
            stores.add(names.slots[slot], int(counts[slot]), int(last[slot]))
