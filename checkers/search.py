"""The search loop: breadth-first over packed states, compiled by numba and kept on disk.

States are in one table in the order in which they were found; ``parents`` gives for each the position of the state from
which it was found, and ``slots`` is an open-addressed hash index over the table. Successors of a block of states are
made first and looked up afterwards in three passes (hash, fetch the slot, compare), so that memory latencies overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kept_code import kept
from .native_calls import NOT_FOUND, call_properties, call_successors, prefetch
from .reduction.partial_order import keep
from .reduction.symmetry import represent

BLOCK = 32
"""Number of source states whose successors are looked up together."""

FRONT, COUNT, LEVEL_END, DEPTH, TRANSITIONS, DEADLOCK, WRONG_STATE, WRONG_INSTANCE, UNDECIDED = range(9)
"""Positions in the ``control`` array."""

DONE, PAUSED, TABLE_FULL, SLOTS_FULL, WROTE_OUTSIDE, DECIDED = range(6)
"""Why :func:`advance` returned."""


REGIONS = 64
"""Number of parts of the index that share no entry, so that as many threads can write to it."""

MOST_ROWS = 2**32 - 2
"""Maximum number of states in a table: the index stores their numbers in 32 bits, and 0 means none."""


@kept(inline="always")
def filled(slots: int) -> int:
    """Number of states that an index with that many slots may hold."""
    return slots * 7 // 10


@kept(inline="always")
def region_mask(slots: Any) -> Any:
    """Mask of the bits that distinguish a place from others in its region."""
    return np.uint64(len(slots) // REGIONS - 1)


@kept(inline="always")
def is_of(thread: int, threads: int, place: Any, slots: Any) -> Any:
    """Whether a place is in a region of the given thread."""
    return np.intp(place) // (len(slots) // REGIONS) * threads // REGIONS == thread


@kept(inline="always")
def following(place: Any, region: Any) -> Any:
    """The place to check after this one: the last of a region is followed by its first."""
    return (place & ~region) | ((place + np.uint64(1)) & region)


@kept(inline="always")
def same(words: Any, row: Any, others: Any, other: Any, width: int) -> bool:
    """Whether two packed states are equal."""
    for column in range(width):  # noqa: SIM110 (compiled, and numba has no all())
        if words[row, column] != others[other, column]:
            return False
    return True


@kept(inline="always")
def hash_of(words: Any, row: int, width: int) -> Any:
    """A 64-bit hash of a packed state."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for column in range(width):
        value = (value ^ words[row, column]) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@kept(nogil=True)
def index(table: Any, count: int, slots: Any, thread: int = 0, threads: int = 1) -> None:
    """Enter the first ``count`` states of ``table`` into empty ``slots``; of several threads, each fills its own
    regions.
    """
    mask, region = np.uint64(len(slots) - 1), region_mask(slots)
    width = table.shape[1]
    for row in range(count):
        place = hash_of(table, row, width) & mask
        if threads > 1 and not is_of(thread, threads, place, slots):
            continue
        while slots[np.intp(place)] != 0:
            place = following(place, region)
        slots[np.intp(place)] = row + 1


@kept()
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
    """Expand up to ``pause_after`` more states.

    ``watched`` has a bit for each predicate whose first occurrence is wanted: of a state where it is true, or, for bits
    of ``inverted``, false; ``found`` gets the position. ``terminal`` is the bit of the predicate that excuses states
    without successors (0: none is excused). ``reductions`` has the tables of partial order and symmetry; with None this
    is compiled as if there were no reductions.
    """
    width = table.shape[1]
    capacity = len(table)
    limit = np.int64(filled(len(slots)))
    mask, region = np.uint64(len(slots) - 1), region_mask(slots)
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
            value = hash_of(out, item, width)
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
                if same(table, known - 1, out, item, width):
                    break
                place = following(place, region)
        control[TRANSITIONS] += made
        control[FRONT] = end
        expanded += end - front
        if stop_when_decided and control[UNDECIDED] == 0:
            return DECIDED


@kept()
def watch_first(properties: int, watched: int, inverted: int, table: Any, control: Any, found: Any) -> None:
    """Judge the initial state."""
    _watch(call_properties(properties, table.ctypes.data), watched, inverted, 0, control, found)


@kept(inline="always")
def _watch(holds: int, watched: int, inverted: int, row: int, control: Any, found: Any) -> None:
    hits = (holds ^ inverted) & watched
    if hits != 0:
        for bit in range(len(found)):
            if (hits >> bit) & 1 and found[bit] == NOT_FOUND:
                found[bit] = row
                control[UNDECIDED] -= 1
