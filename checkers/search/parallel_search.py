"""One search on several cores: threads over one table, which find the same states in the same order as a single one.

A level is expanded in chunks. Every thread takes an equal part of each, in three phases that all threads end before the
next begins:

1. *expand*: successors are made and looked up; the table does not change. Those not in it are candidates.
2. *claim*: the index is divided into regions, each of which belongs to one thread. It goes through all candidates of
   its regions, in their order, and marks the first of equal ones.
3. *settle*: marked candidates become states, numbered in their order, which is that of the sources.

Numbers, parents and the first state with a property therefore do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ...machine_code.compiled import heavy
from . import loop as search
from .loop import BLOCK, DEADLOCK, following, hash_of, is_of, region_mask, same, watch
from .native_calls import NOT_FOUND, call_properties, call_successors, prefetch

PART = 1 << 14
"""Maximum number of source states of a chunk for each thread: enough to make the waiting for each other negligible."""

_MOST_CANDIDATES = 1 << 22
"""Maximum number of successors of a part of a chunk."""

NARROW = 1 << 12
"""If no more states than this are left of a level, one thread expands them."""

_MADE, _KEPT, _FRESH, _DEADLOCK, _WRONG_STATE, _WRONG_INSTANCE = range(6)
"""Positions in what a thread reports about its part."""


class _Candidates(NamedTuple):
    """Successors that are not in the table: packed, with their hashes and sources, and whether each is a new state."""

    words: Any
    hashes: Any
    sources: Any
    fresh: Any

    def part(self, begin: int, end: int) -> _Candidates:
        """Those at some positions."""
        return _Candidates(*(array[begin:end] for array in self))


class Team:
    """Threads that continue a search, as :func:`.loop.advance` does without reductions.

    Args:
        threads: number of threads.
        fan: maximum number of successors of a state.
        words: number of words of a packed state.
    """

    def __init__(self, threads: int, *, fan: int, words: int) -> None:
        self._threads = threads
        self._fan = fan
        self._part = max(1, min(PART, _MOST_CANDIDATES // fan) // search.BLOCK) * search.BLOCK
        room = self._part * fan
        # Reserved, not used: memory pages are allocated when a candidate is first written to them.
        self._candidates = _Candidates(
            words=np.empty((threads * room, words), np.uint64),
            hashes=np.empty(threads * room, np.uint64),
            sources=np.empty(threads * room, np.uint32),
            fresh=np.empty(threads * room, np.bool_),
        )
        self._rooms = [search.room_of(fan, words) for _ in range(threads)]
        self._told = np.zeros((threads, 6), np.int64)
        self._taken = np.zeros((threads, fan), np.int64)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search")

    def close(self) -> None:
        """Let the threads end."""
        self._pool.shutdown()

    def index(self, table: Any, count: int, slots: Any) -> None:
        """See :func:`.loop.index`."""
        self._each(lambda thread: search.index(table, count, slots, thread, self._threads))

    def advance(self, asked: search.Asked, space: search.Space) -> int:
        """Expand a chunk of the present level; its arguments are those of :func:`.loop.advance`.

        Returns:
            Why, as :func:`.loop.advance`: PAUSED; WROTE_OUTSIDE; SLOTS_FULL or TABLE_FULL, with nothing changed.
        """
        control, candidates = space.control, self._candidates
        front, count = int(control[search.FRONT]), int(control[search.COUNT])
        sources = min(int(control[search.LEVEL_END]) - front, self._threads * self._part)
        part = -(-sources // (self._threads * search.BLOCK)) * search.BLOCK
        room = len(candidates.hashes) // self._threads
        self._told[:] = NOT_FOUND
        self._taken[:] = 0

        def expand(thread: int) -> None:
            begin = min(front + thread * part, front + sources)
            end = min(begin + part, front + sources)
            own = candidates.part(thread * room, (thread + 1) * room)
            _expand(asked, space, begin, end, self._rooms[thread], own, self._taken[thread], self._told[thread])

        self._each(expand)
        wrong = self._told[:, _WRONG_STATE]
        if (wrong != NOT_FOUND).any():
            first = int(np.flatnonzero(wrong != NOT_FOUND)[0])
            control[search.WRONG_STATE] = wrong[first]
            control[search.WRONG_INSTANCE] = self._told[first, _WRONG_INSTANCE]
            return search.WROTE_OUTSIDE
        kept = self._told[:, _KEPT].copy()
        most = count + int(kept.sum())
        if most + search.BLOCK * self._fan > len(space.table) or count + len(candidates.hashes) > search.MOST_ROWS:
            return search.TABLE_FULL
        if most > len(space.slots) * search.TENTHS_FILLED // 10:
            return search.SLOTS_FULL
        places = np.empty(self._threads * int(kept.max()), np.int64)
        self._each(
            lambda thread: _claim(
                thread, self._threads, space, count, candidates, room, kept, places, self._rooms[thread].ends
            )
        )
        own = [candidates.part(thread * room, thread * room + kept[thread]) for thread in range(self._threads)]
        firsts = np.cumsum([count, *(int(np.count_nonzero(part.fresh)) for part in own)])
        hits = np.full((self._threads, len(space.found)), NOT_FOUND, np.int64)

        def settle(thread: int) -> None:
            width = len(places) // self._threads
            # What the thread finds is added up afterwards.
            apart = space._replace(found=hits[thread], control=control.copy())
            _settle(asked, apart, int(firsts[thread]), own[thread], places[thread * width : (thread + 1) * width])

        self._each(settle)
        self._add_up(space, hits, int(firsts[-1]), front + sources)
        return search.PAUSED

    def _each(self, phase: Callable[[int], None]) -> None:
        others = [self._pool.submit(phase, thread) for thread in range(1, self._threads)]
        phase(0)
        for other in others:
            other.result()

    def _add_up(self, space: search.Space, hits: Any, count: int, front: int) -> None:
        control, found = space.control, space.found
        for thread in range(self._threads):
            if control[search.DEADLOCK] == NOT_FOUND:
                control[search.DEADLOCK] = self._told[thread, _DEADLOCK]
            for bit in np.flatnonzero(hits[thread] != NOT_FOUND).tolist():
                if found[bit] == NOT_FOUND:
                    found[bit] = hits[thread, bit]
                    control[search.UNDECIDED] -= 1
        space.taken[:] += self._taken.sum(axis=0)
        control[search.TRANSITIONS] += int(self._told[:, _MADE].sum())
        control[search.COUNT] = count
        control[search.FRONT] = front


@heavy
def _expand(asked: Any, space: Any, begin: int, end: int, room: Any, candidates: Any, taken: Any, told: Any) -> None:
    """Make the successors of the states from ``begin`` to ``end``, and keep those that are not in the table."""
    table, slots, deadlocks = space.table, space.slots, space.control[DEADLOCK] == NOT_FOUND
    width = table.shape[1]
    row_bytes = width * 8
    mask, region = np.uint64(len(slots) - 1), region_mask(slots)
    out, tags, values, of = room.out, room.tags, room.hashes, room.sources
    all_made = kept = 0
    for front in range(begin, end, BLOCK):
        made = 0
        for row in range(front, min(front + BLOCK, end)):
            number = call_successors(
                asked.successors,
                table.ctypes.data + row * row_bytes,
                out.ctypes.data + made * row_bytes,
                tags.ctypes.data + made * 8,
            )
            if number < 0:
                told[_WRONG_STATE] = row
                told[_WRONG_INSTANCE] = -1 - number
                return
            if number == 0 and deadlocks and told[_DEADLOCK] == NOT_FOUND:
                excused = call_properties(asked.properties, table.ctypes.data + row * row_bytes) & asked.terminal
                if excused == 0:
                    told[_DEADLOCK] = row
            for item in range(made, made + number):
                of[item] = row
                taken[tags[item]] += 1
            made += number
        for item in range(made):
            values[item] = hash_of(out, item, width)
            prefetch(slots.ctypes.data + np.intp(values[item] & mask) * 4)
        for item in range(made):
            known = slots[np.intp(values[item] & mask)]
            if known != 0:
                prefetch(table.ctypes.data + (np.intp(known) - 1) * row_bytes)
        for item in range(made):
            place = values[item] & mask
            while True:
                known = np.intp(slots[np.intp(place)])
                if known == 0:
                    for column in range(width):
                        candidates.words[kept, column] = out[item, column]
                    candidates.hashes[kept] = values[item]
                    candidates.sources[kept] = of[item]
                    kept += 1
                    break
                if same(table, known - 1, out, item, width):
                    break
                place = following(place, region)
        all_made += made
    told[_MADE] = all_made
    told[_KEPT] = kept


@heavy
def _claim(
    thread: int, threads: int, space: Any, count: int, candidates: Any, room: int, kept: Any, places: Any, ahead: Any
) -> None:
    """Mark those candidates in a thread's regions that equal no earlier candidate, and record their places.

    ``ahead`` has room for the candidates of a block.

    Until it has a number, the candidate at ``i`` is in the index as if its number were ``count + i``.
    """
    slots, words, hashes, fresh = space.slots, candidates.words, candidates.hashes, candidates.fresh
    width = words.shape[1]
    mask, region = np.uint64(len(slots) - 1), region_mask(slots)
    most = len(places) // threads
    for part in range(threads):
        at, last = part * room, part * room + kept[part]
        while at < last:
            chosen = 0
            while at < last and chosen < BLOCK:
                if is_of(thread, threads, hashes[at] & mask, slots):
                    prefetch(slots.ctypes.data + np.intp(hashes[at] & mask) * 4)
                    ahead[chosen] = at
                    chosen += 1
                at += 1
            for number in range(chosen):
                item = ahead[number]
                place = hashes[item] & mask
                fresh[item] = False
                while True:
                    known = np.intp(slots[np.intp(place)])
                    if known == 0:
                        fresh[item] = True
                        slots[np.intp(place)] = count + item + 1
                        places[part * most + item - part * room] = np.int64(place)
                        break
                    # States in the table were compared in the phase before.
                    if known > count and same(words, known - 1 - count, words, item, width):
                        break
                    place = following(place, region)


@heavy
def _settle(asked: Any, space: Any, row: int, candidates: Any, places: Any) -> None:
    """Make states from the marked candidates of a part, numbered from ``row`` on."""
    for item in range(len(candidates.fresh)):
        if not candidates.fresh[item]:
            continue
        for column in range(space.table.shape[1]):
            space.table[row, column] = candidates.words[item, column]
        space.parents[row] = candidates.sources[item]
        space.slots[places[item]] = row + 1
        watch(asked, space, row)
        row += 1
