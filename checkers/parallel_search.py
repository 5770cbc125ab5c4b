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
from typing import Any

import numpy as np

from . import search
from .kept_code import kept
from .native_calls import NOT_FOUND, call_properties, call_successors, prefetch

PART = 1 << 14
"""Maximum number of source states of a chunk for each thread: enough to make the waiting for each other negligible."""

_MOST_CANDIDATES = 1 << 22
"""Maximum number of successors of a part of a chunk."""

NARROW = 1 << 12
"""If no more states than this are left of a level, one thread expands them."""

_MADE, _KEPT, _FRESH, _DEADLOCK, _WRONG_STATE, _WRONG_INSTANCE = range(6)
"""Positions in what a thread reports about its part."""


class Team:
    """Threads that continue a search, as :func:`.search.advance` does without reductions.

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
        self._candidates = np.empty((threads * room, words), np.uint64)
        self._hashes = np.empty(threads * room, np.uint64)
        self._sources = np.empty(threads * room, np.uint32)
        self._fresh = np.empty(threads * room, np.bool_)
        self._out = np.empty((threads, search.BLOCK * fan, words), np.uint64)
        self._tags = np.empty((threads, search.BLOCK * fan), np.int64)
        self._told = np.zeros((threads, 6), np.int64)
        self._taken = np.zeros((threads, fan), np.int64)
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="search")

    def close(self) -> None:
        """Let the threads end."""
        self._pool.shutdown()

    def index(self, table: Any, count: int, slots: Any) -> None:
        """See :func:`.search.index`."""
        self._each(lambda thread: search.index(table, count, slots, thread, self._threads))

    def advance(
        self,
        successors: int,
        properties: int,
        watched: int,
        inverted: int,
        terminal: int,
        table: Any,
        parents: Any,
        slots: Any,
        control: Any,
        taken: Any,
        found: Any,
    ) -> int:
        """Expand a chunk of the present level; its arguments are those of :func:`.search.advance`.

        Returns:
            Why, as :func:`.search.advance`: PAUSED; WROTE_OUTSIDE; SLOTS_FULL or TABLE_FULL, with nothing changed.
        """
        front, count = int(control[search.FRONT]), int(control[search.COUNT])
        sources = min(int(control[search.LEVEL_END]) - front, self._threads * self._part)
        part = -(-sources // (self._threads * search.BLOCK)) * search.BLOCK
        room = len(self._hashes) // self._threads
        self._told[:] = NOT_FOUND
        self._taken[:] = 0

        def expand(thread: int) -> None:
            begin = min(front + thread * part, front + sources)
            _expand(
                successors,
                properties,
                terminal,
                control[search.DEADLOCK] == NOT_FOUND,
                table,
                slots,
                begin,
                min(begin + part, front + sources),
                self._out[thread],
                self._tags[thread],
                self._candidates[thread * room : (thread + 1) * room],
                self._hashes[thread * room : (thread + 1) * room],
                self._sources[thread * room : (thread + 1) * room],
                self._taken[thread],
                self._told[thread],
            )

        self._each(expand)
        wrong = self._told[:, _WRONG_STATE]
        if (wrong != NOT_FOUND).any():
            first = int(np.flatnonzero(wrong != NOT_FOUND)[0])
            control[search.WRONG_STATE] = wrong[first]
            control[search.WRONG_INSTANCE] = self._told[first, _WRONG_INSTANCE]
            return search.WROTE_OUTSIDE
        kept = self._told[:, _KEPT].copy()
        most = count + int(kept.sum())
        if most + search.BLOCK * self._fan > len(table) or count + len(self._hashes) > search.MOST_ROWS:
            return search.TABLE_FULL
        if most > search.filled(len(slots)):
            return search.SLOTS_FULL
        places = np.empty(self._threads * int(kept.max()), np.int64)

        def claim(thread: int) -> None:
            _claim(
                thread,
                self._threads,
                table,
                slots,
                count,
                self._candidates,
                self._hashes,
                self._fresh,
                room,
                kept,
                places,
            )

        self._each(claim)
        fresh = [
            int(np.count_nonzero(self._fresh[thread * room : thread * room + kept[thread]]))
            for thread in range(self._threads)
        ]
        firsts = np.cumsum([count, *fresh])
        hits = np.full((self._threads, len(found)), NOT_FOUND, np.int64)

        def settle(thread: int) -> None:
            begin, width = thread * room, len(places) // self._threads
            _settle(
                properties,
                watched,
                inverted,
                table,
                parents,
                slots,
                int(firsts[thread]),
                self._candidates[begin : begin + kept[thread]],
                self._sources[begin : begin + kept[thread]],
                self._fresh[begin : begin + kept[thread]],
                places[thread * width : (thread + 1) * width],
                hits[thread],
            )

        self._each(settle)
        self._add_up(control, taken, found, hits, int(firsts[-1]), front + sources)
        return search.PAUSED

    def _each(self, phase: Callable[[int], None]) -> None:
        others = [self._pool.submit(phase, thread) for thread in range(1, self._threads)]
        phase(0)
        for other in others:
            other.result()

    def _add_up(self, control: Any, taken: Any, found: Any, hits: Any, count: int, front: int) -> None:
        for thread in range(self._threads):
            if control[search.DEADLOCK] == NOT_FOUND:
                control[search.DEADLOCK] = self._told[thread, _DEADLOCK]
            for bit in np.flatnonzero(hits[thread] != NOT_FOUND).tolist():
                if found[bit] == NOT_FOUND:
                    found[bit] = hits[thread, bit]
                    control[search.UNDECIDED] -= 1
        taken += self._taken.sum(axis=0)
        control[search.TRANSITIONS] += int(self._told[:, _MADE].sum())
        control[search.COUNT] = count
        control[search.FRONT] = front


@kept(nogil=True)
def _expand(
    successors: int,
    properties: int,
    terminal: int,
    deadlocks: bool,
    table: Any,
    slots: Any,
    begin: int,
    end: int,
    out: Any,
    tags: Any,
    candidates: Any,
    hashes: Any,
    sources: Any,
    taken: Any,
    told: Any,
) -> None:
    """Make the successors of the states from ``begin`` to ``end``, and keep those that are not in the table."""
    width = table.shape[1]
    row_bytes = width * 8
    mask, region = np.uint64(len(slots) - 1), search.region_mask(slots)
    values = np.empty(len(tags), np.uint64)
    of = np.empty(len(tags), np.uint32)
    all_made = kept = 0
    for front in range(begin, end, search.BLOCK):
        made = 0
        for row in range(front, min(front + search.BLOCK, end)):
            number = call_successors(
                successors,
                table.ctypes.data + row * row_bytes,
                out.ctypes.data + made * row_bytes,
                tags.ctypes.data + made * 8,
            )
            if number < 0:
                told[_WRONG_STATE] = row
                told[_WRONG_INSTANCE] = -1 - number
                return
            if number == 0 and deadlocks and told[_DEADLOCK] == NOT_FOUND:
                excused = call_properties(properties, table.ctypes.data + row * row_bytes) & terminal
                if excused == 0:
                    told[_DEADLOCK] = row
            for item in range(made, made + number):
                of[item] = row
                taken[tags[item]] += 1
            made += number
        for item in range(made):
            values[item] = search.hash_of(out, item, width)
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
                        candidates[kept, column] = out[item, column]
                    hashes[kept] = values[item]
                    sources[kept] = of[item]
                    kept += 1
                    break
                if search.same(table, known - 1, out, item, width):
                    break
                place = search.following(place, region)
        all_made += made
    told[_MADE] = all_made
    told[_KEPT] = kept


@kept(nogil=True)
def _claim(
    thread: int,
    threads: int,
    table: Any,
    slots: Any,
    count: int,
    candidates: Any,
    hashes: Any,
    fresh: Any,
    room: int,
    kept: Any,
    places: Any,
) -> None:
    """Mark those candidates in a thread's regions that equal no earlier candidate, and record their places.

    Until it has a number, the candidate at ``i`` is in the index as if its number were ``count + i``.
    """
    width = table.shape[1]
    mask, region = np.uint64(len(slots) - 1), search.region_mask(slots)
    most = len(places) // threads
    ahead = np.empty(search.BLOCK, np.int64)
    for part in range(threads):
        at, last = part * room, part * room + kept[part]
        while at < last:
            chosen = 0
            while at < last and chosen < search.BLOCK:
                if search.is_of(thread, threads, hashes[at] & mask, slots):
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
                    if known > count and search.same(candidates, known - 1 - count, candidates, item, width):
                        break
                    place = search.following(place, region)


@kept(nogil=True)
def _settle(
    properties: int,
    watched: int,
    inverted: int,
    table: Any,
    parents: Any,
    slots: Any,
    row: int,
    candidates: Any,
    sources: Any,
    fresh: Any,
    places: Any,
    found: Any,
) -> None:
    """Make states from the marked candidates of a part, numbered from ``row`` on."""
    width = table.shape[1]
    for item in range(len(fresh)):
        if not fresh[item]:
            continue
        for column in range(width):
            table[row, column] = candidates[item, column]
        parents[row] = sources[item]
        slots[places[item]] = row + 1
        if watched != 0:
            hits = (call_properties(properties, table.ctypes.data + row * width * 8) ^ inverted) & watched
            if hits != 0:
                for bit in range(len(found)):
                    if (hits >> bit) & 1 and found[bit] == NOT_FOUND:
                        found[bit] = row
        row += 1
