"""Events in the order of time, whatever their number: files in order are merged, others are first sorted piece by
piece.

The order is (time, file, seq, position in the file). A *run* is a stream in that order; sorting makes runs that fit
into memory, and merging holds one batch of each.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..recorders.repeated import REPEATED, Repeated
from .source import Source, cut
from .temporary import in_temporary_folder
from .time_order import TimeOrder

MEMORY = 1 << 30
"""Default number of bytes that sorting may use."""

_FILE = "\0file"
_PIECE = 32_768  # events of each run in memory while runs are merged
_MOST_OPEN = 64  # files that are merged without being sorted first
_MOST_HELD = 1 << 30  # texts of one array are at most 2 GiB


class Ordered:
    """A source together with what is known about its order."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def order(self) -> TimeOrder:
        """How far its events are in order, and its earliest and latest time. Reads their times once."""
        order = TimeOrder()
        for batch in self.source.batches(("time", "seq"), rows=1 << 20):
            order.see(batch)
        return order


@dataclass(frozen=True, kw_only=True)
class _Run:
    start: int
    batches: Callable[[], Iterator[pa.RecordBatch]]


def in_order(
    sources: Sequence[Ordered], columns: Sequence[str], *, rows: int, memory_bytes: int, repeated: Counter[str]
) -> Iterator[pa.RecordBatch]:
    """The events of all sources in the order that the module describes; repeated events are counted."""
    read = (*columns, *(name for name in ("time", "seq") if name not in columns))
    if len(sources) == 1 and sources[0].source.rows is not None and sources[0].order.by_time:
        beside = Repeated(thorough=False)
        for batch in sources[0].source.batches(read, rows=rows):
            yield beside.drop(batch, sources[0].source.counted).select(list(columns))
        repeated[REPEATED] = beside.count
        return
    everywhere = Repeated(thorough=True)
    with ExitStack() as cleanup:
        sorter = _Sorter(max(1, min(memory_bytes // 3, _MOST_HELD)), cleanup)
        merged: list[_Run] = []
        direct = _mergeable(sources)
        for file, one in enumerate(sources):
            if file in direct:
                if one.order.first is not None:
                    merged.append(_Run(start=one.order.begin, batches=partial(_stream, one.source, file, read)))
                continue
            for batch in _stream(one.source, file, read):
                sorter.add(batch)
        for batch in _merge([*merged, *sorter.runs()]):
            counted = np.array([one.source.counted for one in sources], bool)[_numbers(batch, _FILE)]
            yield from cut(everywhere.drop(batch, counted).select(list(columns)), rows)
    repeated[REPEATED] = everywhere.count


def _mergeable(sources: Sequence[Ordered]) -> set[int]:
    """Files in order that can be merged as they are read: those whose order is cheap to find out, as for Parquet."""
    found = {file: one.order for file, one in enumerate(sources) if one.source.rows is not None and one.order.by_time}
    changes = sorted(
        change
        for each in found.values()
        if each.first is not None
        for change in ((each.begin, 0, 1), (each.end, 1, -1))
    )
    open_files = most = 0
    for _, _, change in changes:
        open_files += change
        most = max(most, open_files)
    return set(found) if most <= _MOST_OPEN else set()


def _stream(source: Source, file: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    for batch in source.batches(columns, rows=_PIECE):
        yield batch.append_column(_FILE, pa.repeat(pa.scalar(file, pa.int32()), len(batch)))


def _numbers(batch: pa.RecordBatch | pa.Table, name: str) -> Any:
    column = batch.column(name)
    return column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)


def _ascends(*keys: Any) -> bool:
    """Whether rows are sorted by the keys, the most significant first."""
    equal = np.ones(max(len(keys[0]) - 1, 0), bool)
    for key in keys:
        if np.any(equal & (key[1:] < key[:-1])):
            return False
        equal &= key[1:] == key[:-1]
    return True


def _sorted(batches: Sequence[pa.RecordBatch]) -> pa.Table:
    """The events of several batches, sorted; events that are equal in all keys keep their order."""
    table = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    time, file, seq = (_numbers(table, name) for name in ("time", _FILE, "seq"))
    if _ascends(time, file, seq):
        return table
    return table.take(np.lexsort((seq, file, time)))


class _Sorter:
    """Makes sorted runs of events in any order; runs that do not fit into memory are stored in files."""

    def __init__(self, room: int, cleanup: ExitStack) -> None:
        self._room = room
        self._cleanup = cleanup
        self._folder: Path | None = None
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self._runs: list[_Run] = []

    def add(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._size += batch.nbytes
        if self._size > self._room:
            self._spill()

    def runs(self) -> list[_Run]:
        """All runs, in the order in which their events came."""
        if self._held:
            table = _sorted(self._held)
            self._held = []
            self._runs.append(_Run(start=_start(table), batches=lambda: iter(table.to_batches(_PIECE))))
        return self._runs

    def _spill(self) -> None:
        table = _sorted(self._held)
        self._held, self._size = [], 0
        with in_temporary_folder():
            if self._folder is None:
                self._folder = Path(self._cleanup.enter_context(tempfile.TemporaryDirectory(prefix="rocketproof-")))
            path = self._folder / f"{len(self._runs)}.arrow"
            options = pa.ipc.IpcWriteOptions(compression="lz4")
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema, options=options) as writer:
                writer.write_table(table, max_chunksize=_PIECE)
        self._runs.append(_Run(start=_start(table), batches=lambda: _spilled(path)))


def _start(table: pa.Table) -> int:
    return int(table.column("time")[0].as_py())


def _spilled(path: Path) -> Iterator[pa.RecordBatch]:
    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as reader:
        yield from reader


class _Head:
    """The next events of a run that is being merged."""

    def __init__(self, place: int, run: _Run) -> None:
        self.place = place
        self._batches = run.batches()
        self.batch: pa.RecordBatch | None = None
        self.advance()

    def advance(self) -> None:
        """Load the next batch; ``batch`` is None if there is no more."""
        self._show(next((batch for batch in self._batches if len(batch)), None))

    def _show(self, batch: pa.RecordBatch | None) -> None:
        self.batch = batch
        if batch is not None:
            self._keys = tuple(_numbers(batch, name) for name in ("time", _FILE, "seq"))
            self.last = tuple(int(key[-1]) for key in self._keys)

    def take(self, bound: tuple[int, ...], *, with_equal: bool) -> pa.RecordBatch:
        """Remove and return the events before ``bound``, or up to and including it."""
        assert self.batch is not None
        count = self._before(bound, with_equal=with_equal)
        taken = self.batch.slice(0, count)
        if count == len(self.batch):
            self.advance()
        elif count:
            self._show(self.batch.slice(count))
        return taken

    def _before(self, bound: tuple[int, ...], *, with_equal: bool) -> int:
        low, high = 0, len(self._keys[0])
        for key, value in zip(self._keys, bound, strict=True):
            # Among events that are equal in the keys so far, the later keys are sorted too.
            left = low + int(np.searchsorted(key[low:high], value, side="left"))
            right = low + int(np.searchsorted(key[low:high], value, side="right"))
            low, high = left, right
        return high if with_equal else low


def _merge(runs: Sequence[_Run]) -> Iterator[pa.RecordBatch]:
    """The events of all runs in order. A run is opened when its first event is due."""
    waiting = sorted(range(len(runs)), key=lambda place: (runs[place].start, place), reverse=True)
    heads: list[_Head] = []
    while waiting or heads:
        while waiting and (not heads or runs[waiting[-1]].start <= min(head.last for head in heads)[0]):
            place = waiting.pop()
            heads.append(_Head(place, runs[place]))
            heads = sorted((head for head in heads if head.batch is not None), key=lambda head: head.place)
        if not heads:
            continue
        # Nothing before this can come any more: the run that ends first is read on next.
        bound = min(head.last for head in heads)
        ending = next(head.place for head in heads if head.last == bound)
        taken = [head.take(bound, with_equal=head.place <= ending) for head in heads]
        heads = [head for head in heads if head.batch is not None]
        pieces = [batch for batch in taken if len(batch)]
        if len(pieces) == 1:
            yield pieces[0]
        else:
            yield from _sorted(pieces).to_batches()
