"""Gathering: a trace is read once, and what monitors need is kept in compact form.

Monitors must know the context before the first event, but the context is spread over the whole trace. The events are
therefore kept, coded and packed, until everything was read. Parquet files are read in several threads, each of which
codes its part with names of its own. If events are found to be out of order, or anything is wrong, the careful way is
used: a first look for the context and the problems, then everything in the order of time.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from ..encoding.coding import COLUMNS, Coded, Coder, renaming
from ..encoding.columns import Column
from ..encoding.names import Actor, Names
from ..encoding.packing import Packed, Shelf, pack
from ..encoding.store_counts import StoreCounts, note_stores
from ..format.kinds import Kind, codes
from ..format.schema import ABSENT
from ..io import Split, Trace, read_split
from ..io.read_ahead import read_ahead
from ..io.time_order import TimeOrder
from ..recorders.repeated import REPEATED
from .first_look import FirstLook
from .scan import Scan, conclude, look, scan
from .scanning import SCAN_COLUMNS, Scanning

Progress = Callable[[str, int], None]
"""Called with what is being done, and for how many more events it has been done."""

_DELIVER = codes(Kind)[Kind.DELIVER]
_ROWS = 1 << 17
"""Number of events read and packed at a time: large enough to make the cost of a batch in Python negligible."""

_ROWS_FED = 1 << 16
"""Number of events fed to the folds at a time: small enough for a processor's cache."""

_READ = tuple(dict.fromkeys((*COLUMNS, *SCAN_COLUMNS, "seq")))


@dataclass(kw_only=True)
class Part:
    """A part of a trace that was read.

    Attributes:
        names: the names with which its events are coded.
        stores: how many messages were stored, and where.
        deliveries: number of deliveries, about the number of messages.
        kept: its events.
    """

    names: Names
    stores: StoreCounts = field(default_factory=StoreCounts)
    deliveries: int = 0
    kept: deque[Packed | int] = field(default_factory=deque)


@dataclass(kw_only=True)
class Events:
    """Events that were read.

    Attributes:
        parts: the parts, in the order of time.
        shelf: where the events of the parts are stored.
    """

    parts: Sequence[Part]
    shelf: Shelf

    def stores(self) -> StoreCounts:
        """How many messages were stored, and where."""
        stores = StoreCounts()
        for part in self.parts:
            stores.join(part.stores)
        return stores

    @property
    def deliveries(self) -> int:
        """Number of deliveries."""
        return sum(part.deliveries for part in self.parts)

    def brokers(self) -> Iterator[Actor]:
        """The brokers that have recorded some of them."""
        return (actor for part in self.parts for actor in part.names.actors if actor.incarnation < 0)

    def events(self, names: Names, *, last: bool) -> Iterator[Coded]:
        """All events in the order of time.

        Args:
            names: the names with which they are coded; unknown names are added to it before the first event.
            last: nobody will request them again, so those that were taken need not be kept.
        """
        coded_anew = [
            (part, renaming(map(names.slot, part.names.slots)), renaming(map(names.actor, part.names.actors)))
            for part in self.parts
        ]
        for part, slots, actors in coded_anew:
            for _ in range(len(part.kept)):
                packed = self.shelf.take(part.kept[0])
                part.kept.rotate(-1)
                if last:
                    part.kept.pop()
                for coded in packed.unpack(_ROWS_FED):
                    yield coded.renamed(slots, actors)


@dataclass(kw_only=True)
class Gathered(Events):
    """A trace that was read.

    Attributes:
        scan: its context, and its number of events.
    """

    scan: Scan


def gather(trace: Trace, *, memory: int, progress: Progress | None = None) -> Gathered:
    """Read a trace, with corrected times.

    Args:
        trace: what to read.
        memory: bytes of packed events that are kept in memory; the others are stored in a temporary file.
        progress: called with the progress.

    Raises:
        TraceError: there are no events.
    """
    shelf = Shelf(memory)
    read = _at_once(trace, shelf, progress)
    if read is not None:
        seen, parts = read
        scanned = conclude(seen, trace.header, files=trace.files, clocks=trace.clocks)
        if not scanned.is_to_correct(trace):
            return Gathered(scan=scanned, parts=parts, shelf=shelf)
    shelf.close()
    scanned = scan(trace, progress)
    if scanned.is_to_correct(trace):
        scanned = scan(trace, progress)
    shelf = Shelf(memory)
    part = _in_order(trace, shelf, progress)
    scanned = replace(scanned, events=scanned.events - trace.repeated[REPEATED])
    return Gathered(scan=scanned, parts=[part], shelf=shelf)


def gather_some(trace: Trace, *, memory: int) -> tuple[Scanning, Events]:
    """Read a trace that is a part of another one and may have no events; times are not corrected.

    Args:
        trace: what to read.
        memory: as for :func:`gather`.
    """
    shelf = Shelf(memory)
    read = _at_once(trace, shelf, None)
    if read is not None:
        return read[0], Events(parts=read[1], shelf=shelf)
    shelf.close()
    seen, shelf = look(trace), Shelf(memory)
    parts = [_in_order(trace, shelf, None)] if seen.events else []
    seen.events -= trace.repeated[REPEATED]
    return seen, Events(parts=parts, shelf=shelf)


def _at_once(trace: Trace, shelf: Shelf, progress: Progress | None) -> tuple[Scanning, list[Part]] | None:
    """The trace, read by splits side by side; None if this is impossible, because something is wrong or not in
    order.
    """
    splits = trace.splits()
    if not splits or any(split.groups is None for split in splits):
        return None
    spans = [source.time_range for source in trace.sources]
    if None not in spans:  # files that follow each other in time may have names in another order
        splits = sorted(splits, key=lambda split: spans[split.file] or (0, 0))
    seen, order, parts = Scanning(), TimeOrder(), list[Part]()
    file, last, latest, repeated = splits[0].file, splits[0].file, seen.end, 0
    before = FirstLook()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for split, read in zip(splits, pool.map(partial(_read, trace, shelf), splits), strict=True):
            if split.file != file:
                # Of events with equal times, those of the first file come first.
                file, latest, order = split.file, seen.end + (split.file < last), TimeOrder()
                last = max(last, file)
            order.join(read.order)
            if read.problems or not order.by_time or read.seen.begin < latest or read.repeats(before):
                if progress is not None:
                    progress("read", -seen.events)
                return None
            seen.join(read.seen)
            parts.append(read.part)
            repeated, before = repeated + read.repeated, read if read.ends else before
            if progress is not None:
                progress("read", read.seen.events)
    if not seen.events:
        return None
    trace.repeated[REPEATED] = repeated
    return seen, parts


@dataclass(kw_only=True)
class _Read(FirstLook):
    """What was found in a split."""

    part: Part
    problems: int = 0


def _read(trace: Trace, shelf: Shelf, split: Split) -> _Read:
    part = Part(names=Names(trace.header.groups))
    read, reader = _Read(part=part, seen=Scanning.of(trace)), read_split(split)
    coder = Coder(read.part.names)
    for batch in reader.distinct(_READ, rows=_ROWS):
        read.see(batch, split.file)
        _keep(coder.columns(batch), part, shelf)
    read.problems, read.repeated, read.counted = reader.problems.count, reader.repeated, reader.counted
    return read


def _in_order(trace: Trace, shelf: Shelf, progress: Progress | None) -> Part:
    """A trace after the first look, read once more in the order of time."""
    part = Part(names=Names(trace.header.groups))
    coder = Coder(part.names)
    for batch in read_ahead(trace.sorted_batches(COLUMNS)):
        _keep(coder.columns(batch), part, shelf)
        if progress is not None:
            progress("put in order", len(batch))
    return part


def _keep(columns: Mapping[str, Column], part: Part, shelf: Shelf) -> None:
    kind, slot = columns["kind"].values, columns["slot"].values
    offset, time = columns["offset"].filled(ABSENT, np.int64), columns["time"].filled(ABSENT, np.int64)
    note_stores(kind, slot, offset, time, names=part.names, stores=part.stores)
    part.deliveries += int(np.count_nonzero(kind == _DELIVER))
    packed = pack(columns)
    part.kept.append(shelf.put(packed, packed.nbytes))
