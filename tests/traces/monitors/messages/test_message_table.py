"""A carried table of messages: most places of messages stay as they were, and all messages are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rocketproof.machine_code.compiled import entry, heavy
from rocketproof.traces.monitors.messages.message_table import (
    MessageTable,
    find,
    find_or_add,
    grown,
    is_full,
    new_table,
    settled,
)


def _add(table: Any, begin: int, end: int) -> Any:
    """Add messages of these keys, of which some may be there; the key before which the table must grow."""
    for key in range(begin, end):
        if is_full(table):
            return key
        find_or_add(table, key, 0, 10 * key, 0)
    return end


def _find(table: Any, numbers: Any) -> None:
    for key in range(len(numbers)):
        numbers[key] = find(table, key)


class _Known:
    """A table, and the loops that use it."""

    def __init__(self, how: Any) -> None:
        self._add, self._find = how(_add), how(_find)
        self.table = new_table()

    def add(self, begin: int, end: int) -> MessageTable:
        """The table to be stored once these messages have come."""
        while (begin := int(self._add(self.table, begin, end))) < end:
            self.table = grown(self.table)
        self.table = settled(self.table)
        return self.table

    def found(self, keys: int) -> list[int]:
        """Offsets of the messages with keys below this one; -1 for those that are not in the table."""
        numbers = np.zeros(keys, np.int64)
        self._find(self.table, numbers)
        return [int(self.table.entries["offset"][number]) if number >= 0 else -1 for number in numbers]


@pytest.mark.parametrize("how", [entry, heavy], ids=["interpreted", "compiled"])
def test_places_of_older_messages_stay_until_many_more_have_come(how: Any) -> None:
    known = _Known(how)
    first = known.add(1, 2_001)
    assert (first.used[[0, 2]].tolist(), np.count_nonzero(first.older)) == ([2_000, 2_000], 2_000)
    assert np.count_nonzero(first.places) == 0
    stored = first.older.copy()
    second = known.add(1_901, 2_501)
    assert (second.used[[0, 2]].tolist(), np.count_nonzero(second.places)) == ([2_500, 2_000], 500)
    assert (second.older == stored).all()
    assert known.found(2_600) == [-1, *range(10, 25_001, 10), *[-1] * 99]
    third = known.add(2_501, 2_502)
    assert (third.used[[0, 2]].tolist(), np.count_nonzero(third.places)) == ([2_501, 2_501], 0)
    assert third.older is second.older  # it has room for twice as many
    assert known.found(2_503) == [-1, *range(10, 25_011, 10), -1]
    last = known.add(2_502, 6_001)
    assert (len(last.older) > len(third.older), np.count_nonzero(last.older)) == (True, 6_000)
    assert known.found(6_002) == [-1, *range(10, 60_001, 10), -1]
