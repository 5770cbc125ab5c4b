"""The search loop: breadth-first over packed states, compiled and kept on disk.

States are in one table in the order in which they were found; ``parents`` gives for each the position of the state from
which it was found, and ``slots`` is an open-addressed hash index over the table. Successors of a block of states are
made first and looked up afterwards in three passes (hash, fetch the slot, compare), so that memory latencies overlap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy, hot
from ..reduction.partial_order import keep
from ..reduction.symmetry import represent
from .native_calls import NOT_FOUND, call_properties, call_successors, prefetch

BLOCK = 32
"""Number of source states whose successors are looked up together."""

FRONT, COUNT, LEVEL_END, DEPTH, TRANSITIONS, DEADLOCK, WRONG_STATE, WRONG_INSTANCE, UNDECIDED = range(9)
"""Positions in the ``control`` array."""

DONE, PAUSED, TABLE_FULL, SLOTS_FULL, WROTE_OUTSIDE, DECIDED = range(6)
"""Why :func:`advance` returned."""


REGIONS = 64
"""Number of parts of the index that share no entry, so that as many threads can write to it."""

TENTHS_FILLED = 7
"""How many of ten slots of an index may be taken."""

MOST_ROWS = 2**32 - 2
"""Maximum number of states in a table: the index stores their numbers in 32 bits, and 0 means none."""


class Asked(NamedTuple):
    """What a search asks of a machine.

    Attributes:
        successors, properties: addresses of its functions.
        watched: a bit for each predicate whose first occurrence is wanted: of a state where it is true, or, for bits of
            ``inverted``, false.
        inverted: see there.
        terminal: the bit of the predicate that excuses states without successors; 0 if none is excused.
    """

    successors: int
    properties: int
    watched: int
    inverted: int
    terminal: int


class Space(NamedTuple):
    """What a search has found."""

    table: NDArray[np.uint64]  # packed states, in the order in which they were found
    parents: NDArray[np.uint32]  # for each, the position of the state from which it was found
    slots: NDArray[np.uint32]  # the index over the table
    control: NDArray[np.int64]  # numbers, at the positions above
    taken: NDArray[np.int64]  # number of transitions of each instance
    found: NDArray[np.int64]  # for each predicate, the position of its first occurrence


def space_of(begin: Any, *, rows: int, fan: int, predicates: int) -> Space:
    """The space of a search that begins in some packed states, with room for that many.

    Memory is reserved, not used: pages are allocated when a state is first written to them.
    """
    first, words = begin.shape
    control = np.zeros(9, np.int64)
    control[[DEADLOCK, WRONG_STATE, WRONG_INSTANCE]] = NOT_FOUND
    control[COUNT] = control[LEVEL_END] = first
    control[UNDECIDED] = predicates
    space = Space(
        table=np.empty((rows, words), np.uint64),
        parents=np.empty(rows, np.uint32),
        slots=np.zeros(1 << 16, np.uint32),
        control=control,
        taken=np.zeros(fan, np.int64),
        found=np.full(predicates, NOT_FOUND, np.int64),
    )
    space.table[:first] = begin
    space.parents[:first] = 0
    index(space.table, first, space.slots, 0, 1)
    return space


class Room(NamedTuple):
    """Room for the successors of a block of states."""

    out: NDArray[np.uint64]  # the successors, packed
    tags: NDArray[np.int64]  # the instances that lead to them
    sources: NDArray[np.uint32]  # the positions of the states they come from
    hashes: NDArray[np.uint64]  # their hashes
    ends: NDArray[np.int64]  # for each state of the block, where its successors end


def room_of(fan: int, words: int) -> Room:
    """Room for the successors of a block of states of that many words."""
    room = fan * BLOCK
    return Room(
        out=np.empty((room, words), np.uint64),
        tags=np.empty(room, np.int64),
        sources=np.empty(room, np.uint32),
        hashes=np.empty(room, np.uint64),
        ends=np.empty(BLOCK, np.int64),
    )


@hot
def region_mask(slots: Any) -> Any:
    """Mask of the bits that distinguish a place from others in its region."""
    return np.uint64(len(slots) // REGIONS - 1)


@hot
def is_of(thread: int, threads: int, place: Any, slots: Any) -> Any:
    """Whether a place is in a region of the given thread."""
    return np.intp(place) // (len(slots) // REGIONS) * threads // REGIONS == thread


@hot
def following(place: Any, region: Any) -> Any:
    """The place to check after this one: the last of a region is followed by its first."""
    return (place & ~region) | ((place + np.uint64(1)) & region)


@hot
def same(words: Any, row: Any, others: Any, other: Any, width: int) -> bool:
    """Whether two packed states are equal."""
    for column in range(width):  # noqa: SIM110 (compiled, and numba has no all())
        if words[row, column] != others[other, column]:
            return False
    return True


@hot
def hash_of(words: Any, row: int, width: int) -> Any:
    """A 64-bit hash of a packed state."""
    value = np.uint64(0x9E3779B97F4A7C15)
    for column in range(width):
        value = (value ^ words[row, column]) * np.uint64(0xFF51AFD7ED558CCD)
        value ^= value >> np.uint64(32)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(29))


@heavy
def index(table: Any, count: int, slots: Any, thread: int, threads: int) -> None:
    """Enter the first ``count`` states of ``table`` into empty ``slots``; each thread fills its own regions."""
    mask, region = np.uint64(len(slots) - 1), region_mask(slots)
    width = table.shape[1]
    for row in range(count):
        place = hash_of(table, row, width) & mask
        if threads > 1 and not is_of(thread, threads, place, slots):
            continue
        while slots[np.intp(place)] != 0:
            place = following(place, region)
        slots[np.intp(place)] = row + 1


@heavy
def advance(asked: Asked, space: Space, room: Room, pause_after: int, stop_when_decided: bool, reductions: Any) -> int:
    """Expand up to ``pause_after`` more states.

    ``reductions`` has the tables of partial order and symmetry; with None this is compiled as if there were no
    reductions.
    """
    table, slots, control, taken = space.table, space.slots, space.control, space.taken
    width = table.shape[1]
    capacity = len(table)
    out, tags, sources, hashes, ends = room.out, room.tags, room.sources, room.hashes, room.ends
    limit = np.int64(len(slots) * TENTHS_FILLED // 10)
    mask, region = np.uint64(len(slots) - 1), region_mask(slots)
    fan = len(tags) // BLOCK
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
                asked.successors,
                table.ctypes.data + row * row_bytes,
                out.ctypes.data + made * row_bytes,
                tags.ctypes.data + made * 8,
            )
            if number < 0:
                control[WRONG_STATE] = row
                control[WRONG_INSTANCE] = -1 - number
                return WROTE_OUTSIDE
            if number == 0 and control[DEADLOCK] == NOT_FOUND:
                excused = call_properties(asked.properties, table.ctypes.data + row * row_bytes) & asked.terminal
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
                space.found,
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
                    space.parents[row] = sources[item]
                    control[COUNT] = row + 1
                    watch(asked, space, row)
                    break
                if same(table, known - 1, out, item, width):
                    break
                place = following(place, region)
        control[TRANSITIONS] += made
        control[FRONT] = end
        expanded += end - front
        if stop_when_decided and control[UNDECIDED] == 0:
            return DECIDED


@hot
def watch(asked: Asked, space: Space, row: int) -> None:
    """Record which of the predicates occur first in a state."""
    if asked.watched != 0:
        address = space.table.ctypes.data + row * space.table.shape[1] * 8
        hits = (call_properties(asked.properties, address) ^ asked.inverted) & asked.watched
        if hits != 0:
            for bit in range(len(space.found)):
                if (hits >> bit) & 1 and space.found[bit] == NOT_FOUND:
                    space.found[bit] = row
                    space.control[UNDECIDED] -= 1


@heavy
def watch_first(asked: Asked, space: Space) -> None:
    """Judge the states in which a search begins."""
    for row in range(space.control[COUNT]):
        watch(asked, space, row)
