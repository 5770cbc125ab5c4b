"""Stores: how many messages were stored in each queue, which no monitor needs one by one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..format.kinds import Kind, codes
from ..format.schema import ABSENT
from ..machine_code.compiled import constant, entry
from .names import Names, Slot

_STORE = constant(codes(Kind)[Kind.STORE])


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


def note_stores(kind: Any, slot: Any, offset: Any, *, names: Names, stores: StoreCounts) -> None:
    """Count the messages that are stored by events with these columns of :class:`~.coding.Coded`."""
    counts, last = np.zeros(len(names.slots), np.int64), np.full(len(names.slots), ABSENT, np.int64)
    _note(kind, slot, offset, counts, last)
    for code in np.flatnonzero(counts).tolist():
        if names.slots[code].queue >= 0:
            stores.add(names.slots[code], int(counts[code]), int(last[code]))


@entry
def _note(kind: Any, slot: Any, offset: Any, counts: Any, last: Any) -> None:
    for i in range(len(kind)):
        at = slot[i]
        if kind[i] == _STORE and at >= 0:
            counts[at] += 1
            last[at] = max(last[at], offset[i])
