"""Order: events of a partition by time, however many there are, from blocks that are sorted by their first time.

The order is that of the embedded engine: time, then file, then ``seq``, then position. Most files are in this order
already. Events before the first event of the next block can be passed on, so only blocks that overlap in time are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from ..traces.encoding.coding import Coded
from ..traces.encoding.packing import Shelf
from .blocks import Block, Row, joined, taken

ENOUGH = 1 << 17
"""Number of events to wait for before any are passed on: few large pieces cost less than many small ones."""

LARGE = 1 << 15
"""Number of events from which on a block is passed on as it is."""

ROW_BYTES = 1 << 28
"""Bytes of rows that are held in memory while they are sorted; the others are stored in a temporary file."""


def by_key(rows: Iterable[Row], *, memory: int = ROW_BYTES) -> Iterator[Row]:
    """The rows of a partition by time.

    Raises:
        TraceError: the file cannot be written.
    """
    shelf = Shelf(memory)
    kept = sorted(((key, shelf.put(seal, len(seal))) for key, seal in rows), key=itemgetter(0), reverse=True)
    while kept:
        key, seal = kept.pop()
        yield key, shelf.take(seal)
    shelf.close()


class InOrder:
    """The events of blocks in order.

    Attributes:
        most_held: maximum number of events held at a time.
    """

    def __init__(self, blocks: Iterable[tuple[int, Block]]) -> None:
        self.most_held = 0
        self._blocks = blocks

    def __iter__(self) -> Iterator[Coded]:
        waiting: list[_Open] = []
        held = 0
        for first, block in self._blocks:
            if held >= ENOUGH:
                yield from _together(_until(waiting, first))
                held = sum(open_.left for open_ in waiting)
            if len(block.coded):
                waiting.append(_Open(block))
            held += len(block.coded)
            self.most_held = max(self.most_held, held)
        yield from _together(_until(waiting, None))


class _Open:
    """A block with events that were not passed on yet."""

    def __init__(self, block: Block) -> None:
        self.place, self.file, self.coded, self.seq = block.place, block.file, block.coded, block.seq
        self.at = 0

    @property
    def left(self) -> int:
        return len(self.coded) - self.at

    def before(self, time: int) -> int:
        """The position of the first event that is not before ``time``."""
        return int(np.searchsorted(self.coded.time, time))

    def is_before(self, others: Iterable[_Open], end: int) -> bool:
        """Whether its events up to ``end`` are before those of other blocks, so that nothing has to be merged."""
        last, rest = self.coded.time[end - 1], min(other.coded.time[other.at] for other in others)
        in_place = self.seq is None and all(other.seq is None and self.place < other.place for other in others)
        return bool(last < rest or (last == rest and in_place))


def _until(waiting: list[_Open], time: int | None) -> Iterator[Coded]:
    """The events before ``time``, from all waiting blocks."""
    ready = [(open_, open_.before(time) if time is not None else len(open_.coded)) for open_ in waiting]
    ready = [(open_, end) for open_, end in ready if end > open_.at]
    while len(ready) > 1 and ready[0][0].is_before([open_ for open_, _ in ready[1:]], ready[0][1]):
        yield _taken(*ready.pop(0))
    if len(ready) > 1:
        # After the last event of the second-to-last block, only the last block is left.
        alone = sorted(int(open_.coded.time[end - 1]) for open_, end in ready)[-2] + 1
        yield _merged([(open_, min(end, open_.before(alone))) for open_, end in ready])
        ready = [(open_, end) for open_, end in ready if end > open_.at]
    for open_, end in ready:
        yield _taken(open_, end)
    waiting[:] = [open_ for open_ in waiting if open_.left]


def _taken(open_: _Open, end: int) -> Coded:
    start, open_.at = open_.at, end
    return open_.coded if end - start == len(open_.coded) else taken(open_.coded, slice(start, end))


def _merged(parts: list[tuple[_Open, int]]) -> Coded:
    parts = sorted((part for part in parts if part[1] > part[0].at), key=lambda part: part[0].place)
    order: list[Any] = []
    if any(open_.seq is not None for open_, _ in parts):
        # A file without ``seq`` is ordered by position.
        order.append(
            [np.zeros(end - o.at, np.int64) if o.seq is None else o.seq[o.at : end] for o, end in parts],
        )
        order.append([np.full(end - o.at, o.file, np.int64) for o, end in parts])
    coded = joined([_taken(open_, end) for open_, end in parts])
    return taken(coded, np.lexsort((*map(np.concatenate, order), coded.time)))


def _together(pieces: Iterable[Coded]) -> Iterator[Coded]:
    """The events in pieces that are worth a call of the folds; copying larger ones costs more than calls."""
    for are_large, some in groupby(pieces, lambda piece: len(piece) >= LARGE):
        parts = list(some)
        yield from parts if are_large else [joined(parts)]
