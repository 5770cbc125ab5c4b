"""Sorted runs of packed states, in memory or in mapped files.

States are ordered by the upper bits of their hash, and by their words if those are equal. Hashes are evenly
distributed, so a state is found near the place that its hash suggests.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy, hot
from .loop import hash_of, same
from .native_calls import NOT_FOUND, call_properties, call_successors

INDEX_BITS = 22
"""Number of lower bits of a hash that are replaced by the place of a state while states are sorted."""

MOST = 1 << INDEX_BITS
"""Maximum number of states that are sorted at a time."""

WRITTEN, MADE, DEADLOCK, WRONG_STATE, WRONG_INSTANCE = range(5)
"""Positions in the report of an expansion; the last three are -1 if there is none."""


def new_report() -> NDArray[np.int64]:
    """The report of an expansion that has not begun."""
    told = np.full(5, NOT_FOUND, np.int64)
    told[[WRITTEN, MADE]] = 0
    return told


@hot
def _key(words: Any, row: Any) -> Any:
    return hash_of(words, row, words.shape[1]) >> np.uint64(INDEX_BITS)


@hot
def _compared(words: Any, row: Any, others: Any, other: Any) -> int:
    """-1, 0 or 1, as the words of one state are less than, equal to or more than those of the other."""
    for column in range(words.shape[1]):
        if words[row, column] < others[other, column]:
            return -1
        if words[row, column] > others[other, column]:
            return 1
    return 0


@heavy
def expand(
    successors: int,
    properties: int,
    terminal: int,
    table: Any,
    begin: int,
    end: int,
    made: Any,
    tags: Any,
    recent: Any,
    taken: Any,
    told: Any,
) -> int:
    """Write successors of the states from ``begin`` on to ``made``, except some that occurred before; how many is
    ``told[WRITTEN]``.

    ``recent`` is a cache of known states, which is updated; its size is a power of two, and not zero.

    Returns:
        The first state that was not expanded.
    """
    width = table.shape[1]
    mask = np.uint64(len(recent) - 1)
    count = 0
    for row in range(begin, end):
        told[WRITTEN] = count
        if count + len(tags) > len(made):
            return row
        address = table.ctypes.data + row * width * 8
        number = call_successors(successors, address, made.ctypes.data + count * width * 8, tags.ctypes.data)
        if number < 0:
            told[WRONG_STATE] = row
            told[WRONG_INSTANCE] = -1 - number
            return row
        if number == 0 and told[DEADLOCK] < 0 and call_properties(properties, address) & terminal == 0:
            told[DEADLOCK] = row
        told[MADE] += number
        first = count
        for item in range(number):
            taken[tags[item]] += 1
            of = first + item
            place = np.intp(hash_of(made, of, width) & mask)
            if not same(recent, place, made, of, width):
                for column in range(width):
                    recent[place, column] = made[of, column]
                    made[count, column] = made[of, column]
                count += 1
    told[WRITTEN] = count
    return end


@heavy
def keys(words: Any, out: Any) -> None:
    """The keys of states, each with the place of the state in its lower bits: sorted keys order the states."""
    for row in range(len(words)):
        out[row] = (_key(words, row) << np.uint64(INDEX_BITS)) | np.uint64(row)


@heavy
def unique(words: Any, ordered: Any, out: Any) -> int:
    """Write states in the order of their sorted keys, equal ones once; returns their number."""
    count = first = 0
    latest = np.uint64(0)
    for at in range(len(ordered)):
        key = ordered[at] >> np.uint64(INDEX_BITS)
        row = np.intp(ordered[at] & np.uint64(MOST - 1))
        if key != latest:
            latest, first = key, count
        place = count
        known = False
        while place > first:
            compared = _compared(words, row, out, place - 1)
            if compared >= 0:
                known = compared == 0
                break
            place -= 1
        if known:
            continue
        for moved in range(count, place, -1):
            for column in range(words.shape[1]):
                out[moved, column] = out[moved - 1, column]
        for column in range(words.shape[1]):
            out[place, column] = words[row, column]
        count += 1
    return count


@heavy
def subtract(words: Any, run: Any) -> int:
    """Remove the states of a sorted run from sorted ones; returns how many are left, at the beginning."""
    count = at = 0
    for row in range(len(words)):
        at = _first_not_less(words, row, run, at)
        if at == len(run) or _compared(words, row, run, at) != 0:
            if count != row:
                for column in range(words.shape[1]):
                    words[count, column] = words[row, column]
            count += 1
    return count


@hot
def _first_not_less(words: Any, row: Any, run: Any, at: int) -> int:
    """The first place of a run, from ``at`` on, that is not before a state: by doubling steps, then by bisection."""
    key = _key(words, row)
    step = 1
    low, high = at, at
    while high < len(run) and _is_before(run, high, words, row, key):
        low = high + 1
        high += step
        step *= 2
    high = min(high, len(run))
    while low < high:
        middle = (low + high) // 2
        if _is_before(run, middle, words, row, key):
            low = middle + 1
        else:
            high = middle
    return low


@hot
def _is_before(run: Any, at: Any, words: Any, row: Any, key: Any) -> bool:
    its = _key(run, at)
    return bool(its < key or (its == key and _compared(run, at, words, row) < 0))


@heavy
def merge(one: Any, other: Any, out: Any) -> int:
    """Merge two sorted runs that are not empty, with states of both only once; returns the number of states."""
    i = j = count = 0
    first, second = _key(one, 0), _key(other, 0)
    while i < len(one) or j < len(other):
        if j == len(other):
            order = -1
        elif i == len(one):
            order = 1
        elif first != second:
            order = -1 if first < second else 1
        else:
            order = _compared(one, i, other, j)
        if order <= 0:
            for column in range(one.shape[1]):
                out[count, column] = one[i, column]
            i += 1
            if i < len(one):
                first = _key(one, i)
        else:
            for column in range(one.shape[1]):
                out[count, column] = other[j, column]
        if order >= 0:
            j += 1
            if j < len(other):
                second = _key(other, j)
        count += 1
    return count


@heavy
def judge(properties: int, wanted: int, inverted: int, words: Any, found: Any) -> None:
    """Record, for each bit of ``wanted``, the first state in which the property is true, or false if inverted."""
    for row in range(len(words)):
        hits = (call_properties(properties, words.ctypes.data + row * words.shape[1] * 8) ^ inverted) & wanted
        if hits != 0:
            for bit in range(len(found)):
                if (hits >> bit) & 1 and found[bit] < 0:
                    found[bit] = row


@heavy
def predecessor(successors: int, table: Any, wanted: Any, out: Any, tags: Any) -> int:
    """The first state of a table that has ``wanted`` among its successors; -1 if none has."""
    width = table.shape[1]
    for row in range(len(table)):
        number = call_successors(successors, table.ctypes.data + row * width * 8, out.ctypes.data, tags.ctypes.data)
        for item in range(number):
            if same(out, item, wanted, 0, width):
                return row
    return -1
