"""``rocketproof check --engine spark``: files are read and judged by the tasks of a cluster."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, zip_longest
from typing import TYPE_CHECKING, Any

from ..traces.claims.settings import Settings
from ..traces.encoding.coding import COLUMNS
from ..traces.engine.first_look import FirstLook
from ..traces.engine.result import CheckResult
from ..traces.engine.scan import Scan, conclude
from ..traces.engine.scanning import SCAN_COLUMNS, Scanning
from ..traces.format.schema import Header
from ..traces.io import Problems, Split, Trace, read_split
from ..traces.io.splits import SplitReader
from ..traces.io.splits import Told as Reported
from ..traces.io.time_order import TimeOrder
from ..traces.recorders.repeated import REPEATED
from .blocks import Chunk, Packer, Row
from .judging import Shuffled, Told, judged, parts_of
from .repeats import are_scattered, repeated_in
from .session import failures, open_session

TOGETHER = 12
"""Maximum number of splits that a task reads: each task looks up all names anew."""

_READ = tuple(dict.fromkeys((*COLUMNS, *SCAN_COLUMNS)))

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .frames import Frame


def check_with_spark(
    trace: Trace, *, settings: Settings, master: str = "", session: SparkSession | None = None
) -> CheckResult:
    """Check a trace against all claims, on Spark.

    Its files are read by the tasks, so they must be reachable under the same names. Without a ``session``, one is
    opened with ``master``, or a local one if that is empty.

    Raises:
        TraceError: there are no events, Spark or Java cannot be started, or Spark fails.
    """
    started = time.perf_counter()
    spark = session or open_session(master)
    with failures():
        scanned, packed = at_once(spark, trace) or _in_two_steps(spark, trace)
        return judged(spark, trace, scanned, settings, packed, started=started)


def at_once(spark: SparkSession, trace: Trace | Frame) -> tuple[Scan, Shuffled] | None:
    """The first look, and the events packed by the same tasks; None if they have to be read again, because something is
    wrong or not in order.
    """
    splits = trace.splits()
    if not splits or any(split.groups is None for split in splits):
        return None
    packed = pack_splits(spark, trace.header, [Reading(split=split, sees=True) for split in splits], trace.rows or 0)
    looked = list(chain.from_iterable(packed.told()))
    if any(one.problems.count for one in looked) or _are_scattered(splits, looked, _orders(splits, looked)):
        return None
    scanned = scan_of(looked, splits, trace)
    if scanned.is_to_correct(trace):
        return at_once(spark, trace)
    trace.repeated[REPEATED] = sum(one.repeated for one in looked)
    return scanned, packed


def _in_two_steps(spark: SparkSession, trace: Trace) -> tuple[Scan, Shuffled]:
    """The first look, once more if clocks are corrected, and then the events packed as it has shown they must be."""
    splits = trace.splits()
    looked = look_at(spark, splits, rows=trace.rows or 0)
    scanned = scan_of(looked, splits, trace)
    if scanned.is_to_correct(trace):
        splits = trace.splits()
        looked = look_at(spark, splits, rows=trace.rows or 0, told=[one.told for one in looked])
        scanned = scan_of(looked, splits, trace)
    orders = _orders(splits, looked)
    again = _again(spark, splits, looked, orders)
    readings = [
        Reading(split=split, told=one.told, needs_seq=orders[split.file].needs_seq, again=repeated)
        for split, one, repeated in zip(splits, looked, again, strict=True)
    ]
    packed = pack_splits(spark, trace.header, readings, scanned.events)
    read = list(chain.from_iterable(packed.told()))
    for one in read:
        trace.problems.join(one.problems)
    trace.repeated[REPEATED] = sum(one.repeated for one in read)
    return replace(scanned, events=scanned.events - trace.repeated[REPEATED]), packed


def _orders(splits: Sequence[Split], looked: Sequence[Looked]) -> list[TimeOrder]:
    """How far each file is in order."""
    files = [TimeOrder() for _ in range(1 + max((split.file for split in splits), default=0))]
    for split, one in zip(splits, looked, strict=True):
        files[split.file].join(one.order)
    return files


@dataclass(kw_only=True)
class Looked(FirstLook):
    """What the first look at a split has shown.

    Attributes:
        problems: problems with its events, in the columns that were read.
        told: the problems reported so far, so that the next reading does not report them again.
        skipped: what of an imported file is neither event nor damage.
    """

    problems: Problems = field(default_factory=Problems)
    told: Reported = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def end(self, split: Split, reader: SplitReader) -> Looked:
        """The same when all events of the split were read."""
        self.seen.put_in_order(0)
        self.seen.look_again(split.file, reader)
        self.told, self.skipped, self.counted = reader.told, reader.skipped, reader.counted
        self.repeated = reader.repeated
        self.problems.join(reader.problems)
        return self


def look_at(spark: SparkSession, splits: Sequence[Split], *, rows: int, told: Sequence[Reported] = ()) -> list[Looked]:
    """The first look, at each split by a task.

    Args:
        spark: the session.
        splits: what to look at.
        rows: number of rows of all splits together; 0 if it is not known.
        told: for each split, the problems that were reported already.
    """
    if not splits:
        return []
    work = [(*each, rows) for each in zip_longest(splits, told)]
    return list(spark.sparkContext.parallelize(work, len(work)).map(_look).collect())


def _look(work: tuple[Split, Reported | None, int]) -> Looked:
    split, told, rows = work
    looked, reader = Looked.of(rows), read_split(split, told=told)
    for batch in reader.batches((*SCAN_COLUMNS, "seq")):
        looked.see(batch, split.file)
    return looked.end(split, reader)


def scan_of(looked: Sequence[Looked], splits: Sequence[Split], trace: Trace | Frame) -> Scan:
    """What was seen in all splits together; what cannot be read is added to the problems of the trace.

    Raises:
        TraceError: there are no events.
    """
    seen = Scanning()
    for split, one in zip(splits, looked, strict=True):
        seen.join(one.seen)
        one.seen = Scanning()  # it is held once
        trace.problems.join(one.problems)
        split.note_skipped(one.skipped)
    return conclude(seen, trace.header, files=trace.files, clocks=trace.clocks)


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a split is read and packed.

    Attributes:
        split: the split.
        sees: whether this is the first look at it too.
        told: the problems that were reported already.
        needs_seq: whether its events are ordered by ``seq``.
        again: numbers of its repeated events; None if all repetitions are adjacent.
    """

    split: Split
    sees: bool = False
    told: Reported | None = None
    needs_seq: bool = False
    again: Any = None


def pack_splits(spark: SparkSession, header: Header, readings: Sequence[Reading], events: int) -> Shuffled:
    """The events of all splits, packed; a ``Looked`` is told about each. ``events``: their number."""
    groups, parts = dict(header.groups), parts_of(spark, events)
    together = max(1, min(TOGETHER, len(readings) // (4 * spark.sparkContext.defaultParallelism)))

    def packed(work: Iterable[Sequence[tuple[int, Reading]]]) -> Iterator[Row]:
        for some in work:
            packer, seen = Packer(some[0][0] // together, parts=parts, groups=groups), list[Looked]()
            for place, reading in some:
                looked, reader = Looked.of(events), read_split(reading.split, told=reading.told)
                yield from packer.rows(_chunks(place, reading, reader, looked))
                seen.append(looked.end(reading.split, reader))
            yield Told.row(packer, seen)

    numbered = list(enumerate(readings))
    work = [numbered[first : first + together] for first in range(0, len(numbered), together)]
    return Shuffled(
        spark.sparkContext.parallelize(work, max(1, len(work))).mapPartitions(packed), parts=parts, groups=groups
    )


def _chunks(place: int, reading: Reading, reader: SplitReader, looked: Looked) -> Iterator[Chunk]:
    file, columns = reading.split.file, [*COLUMNS, "seq"] if reading.needs_seq else list(COLUMNS)
    for batch in reader.distinct(_READ if reading.sees else COLUMNS, again=reading.again):
        if reading.sees:
            looked.see(batch, file)
        yield Chunk(file, place, batch.select(columns))


def _are_scattered(splits: Sequence[Split], looked: Sequence[Looked], orders: Sequence[TimeOrder]) -> bool:
    """Whether an event may be repeated elsewhere than next to itself in its split."""
    sound = not any(one.problems.count for one in looked)
    at_a_seam = any(one.repeats(before) for before, one in pairwise(each for each in looked if each.ends))
    return bool(splits) and (at_a_seam or are_scattered(splits, orders, sound=sound))


def _again(
    spark: SparkSession, splits: Sequence[Split], looked: Sequence[Looked], orders: Sequence[TimeOrder]
) -> Sequence[Any]:
    """For each split, the numbers of its repeated events; None if all repetitions are adjacent."""
    if not _are_scattered(splits, looked, orders):
        return [None] * len(splits)
    counted = {split.file: True for split in splits}
    for split, one in zip(splits, looked, strict=True):
        counted[split.file] &= one.counted
    return repeated_in(spark, splits, [counted[split.file] for split in splits])
