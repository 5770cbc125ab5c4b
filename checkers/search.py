"""The search loop: breadth-first over packed states, compiled by numba and kept on disk.

States stand in one table in the order they were found; ``parents`` gives for each the position it was found from, and
``slots`` is an open-addressed hash index over the table. Successors of a block of states are made first and looked up
afterwards in three passes (hash, fetch the slot, compare), so that memory latencies overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .native_calls import NOT_FOUND, call_properties, call_successors, prefetch
from .reduction.partial_order import keep
from .reduction.symmetry import represent

BLOCK = 32
"""Source states whose successors are looked up together."""

FRONT, COUNT, LEVEL_END, DEPTH, TRANSITIONS, DEADLOCK, WRONG_STATE, WRONG_INSTANCE, UNDECIDED = range(9)
"""Positions in the ``control`` array."""

DONE, PAUSED, TABLE_FULL, SLOTS_FULL, WROTE_OUTSIDE, DECIDED = range(6)
"""Why :func:`advance` returned."""


@njit(cache=True, inline="always")
def _hash(words: Any, row: int, width: int) -> Any:
    value = np.uint64(0x9E3779B97F4A7C15)
    for column in range(width):
        value = (value ^ words[row, column]) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@njit(cache=True)
def index(table: Any, count: int, slots: Any) -> None:
    """Fill empty ``slots`` with the first ``count`` states of ``table``."""
    mask = np.uint64(len(slots) - 1)
    width = table.shape[1]
    for row in range(count):
        place = _hash(table, row, width) & mask
        while slots[np.intp(place)] != 0:
            place = (place + np.uint64(1)) & mask
        slots[np.intp(place)] = row + 1


@njit(cache=True)
def advance(
    successors: int,
    properties: int,
    watched: int,
    inverted: int,
    terminal: int,
    stop_when_decided: bool,
    table: Any,
    parents: Any,
    slots: Any,
    out: Any,
    tags: Any,
    control: Any,
    taken: Any,
    found: Any,
    pause_after: int,
    reductions: Any,
) -> int:
    """Expand up to ``pause_after`` states more.

    ``watched`` has a bit for each predicate whose first occurrence is wanted: of a state where it is true, or, for
    bits of ``inverted``, false; ``found`` gets the position. ``terminal`` is the bit of the predicate that excuses
    states without successors (0: none is excused). ``reductions`` has the tables of partial order
    and symmetry; with None this is compiled as if there were no reductions.
    """
    width = table.shape[1]
    capacity = len(table)
    limit = np.int64(len(slots) * 7 // 10)
    mask = np.uint64(len(slots) - 1)
    room = len(tags)
    fan = room // BLOCK
    sources = np.empty(room, np.uint32)
    hashes = np.empty(room, np.uint64)
    ends = np.empty(BLOCK, np.int64)
    row_bytes = width * 8
    expanded = 0
    while True:
        if control[FRONT] == control[COUNT]:
            return DONE
        if expanded >= pause_after:
            return PAUSED
        if control[FRONT] == control[LEVEL_END]:
            control[DEPTH] += 1
            control[LEVEL_END] = control[COUNT]
        front = control[FRONT]
        end = min(front + BLOCK, control[LEVEL_END])
        if control[COUNT] + (end - front) * fan > capacity:
            end = front + (capacity - control[COUNT]) // fan
            if end <= front:
                return TABLE_FULL
        if control[COUNT] + (end - front) * fan > limit:
            return SLOTS_FULL
        made = 0
        for row in range(front, end):
            number = call_successors(
                successors,
                table.ctypes.data + row * row_bytes,
                out.ctypes.data + made * row_bytes,
                tags.ctypes.data + made * 8,
            )
            if number < 0:
                control[WRONG_STATE] = row
                control[WRONG_INSTANCE] = -1 - number
                return WROTE_OUTSIDE
            if number == 0 and control[DEADLOCK] == NOT_FOUND:
                excused = call_properties(properties, table.ctypes.data + row * row_bytes) & terminal
                if excused == 0:
                    control[DEADLOCK] = row
            for item in range(made, made + number):
                sources[item] = row
                if reductions is None:
                    taken[tags[item]] += 1
            made += number
            if reductions is not None:
                ends[row - front] = made
        if reductions is not None:
            made = keep(
                reductions[0],
                found,
                control[DEADLOCK] != NOT_FOUND,
                table.ctypes.data + front * row_bytes,
                ends[: end - front],
                out,
                tags,
                sources,
            )
            for item in range(made):
                taken[tags[item]] += 1
            represent(reductions[1], reductions[2], out, made)
        for item in range(made):
            value = _hash(out, item, width)
            hashes[item] = value
            prefetch(slots.ctypes.data + np.intp(value & mask) * 4)
        for item in range(made):
            known = slots[np.intp(hashes[item] & mask)]
            if known != 0:
                prefetch(table.ctypes.data + (np.intp(known) - 1) * row_bytes)
        for item in range(made):
            place = hashes[item] & mask
            while True:
                known = np.intp(slots[np.intp(place)])
                if known == 0:
                    row = control[COUNT]
                    slots[np.intp(place)] = row + 1
                    for column in range(width):
                        table[row, column] = out[item, column]
                    parents[row] = sources[item]
                    control[COUNT] = row + 1
                    if watched != 0:
                        _watch(
                            call_properties(properties, table.ctypes.data + row * row_bytes),
                            watched,
                            inverted,
                            row,
                            control,
                            found,
                        )
                    break
                same = True
                for column in range(width):
                    if table[known - 1, column] != out[item, column]:
                        same = False
                        break
                if same:
                    break
                place = (place + np.uint64(1)) & mask
        control[TRANSITIONS] += made
        control[FRONT] = end
        expanded += end - front
        if stop_when_decided and control[UNDECIDED] == 0:
            return DECIDED


@njit(cache=True)
def watch_first(properties: int, watched: int, inverted: int, table: Any, control: Any, found: Any) -> None:
    """Judge the initial state."""
    _watch(call_properties(properties, table.ctypes.data), watched, inverted, 0, control, found)


@njit(cache=True, inline="always")
def _watch(holds: int, watched: int, inverted: int, row: int, control: Any, found: Any) -> None:
    hits = (holds ^ inverted) & watched
    if hits != 0:
        for bit in range(len(found)):
            if (hits >> bit) & 1 and found[bit] == NOT_FOUND:
                found[bit] = row
                control[UNDECIDED] -= 1
