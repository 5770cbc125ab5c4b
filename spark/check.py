"""``rocketproof check --engine spark``: files are read and judged by the tasks of a cluster."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..traces.claims.settings import Settings
from ..traces.clocks.observed import Observed
from ..traces.encoding.coding import COLUMNS
from ..traces.engine.result import CheckResult
from ..traces.engine.scan import Scan, conclude
from ..traces.engine.scanning import SCAN_COLUMNS, Scanning
from ..traces.io import Problems, Split, Trace, read_split
from ..traces.io.splits import Told
from ..traces.io.time_order import TimeOrder
from ..traces.recorders.repeated import REPEATED
from .blocks import SCHEMA, Chunk, Packer
from .judging import Task, judged, told_as
from .repeats import are_scattered, repeated_in
from .session import failures, open_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
        splits = trace.splits()
        looked = look_at(spark, splits, rows=trace.rows or 0)
        scanned = scan_of(looked, splits, trace)
        if scanned.is_to_correct(trace):
            splits = trace.splits()
            looked = look_at(spark, splits, rows=trace.rows or 0, told=[one.told for one in looked])
            scanned = scan_of(looked, splits, trace)
        result, trace.repeated[REPEATED] = judged(
            spark, trace, scanned, settings, lambda task: pack_splits(spark, splits, looked, task), started=started
        )
    return result


@dataclass
class Looked:
    """What the first look at a split has shown.

    Attributes:
        seen: for the context.
        order: how far the events are in order.
        problems: problems with them, in the columns that were read.
        told: the problems reported so far, so that the next reading does not report them again.
        skipped: what of an imported file is neither event nor damage.
        counted: whether ``seq`` comes from its recorder.
    """

    seen: Scanning = field(default_factory=Scanning)
    order: TimeOrder = field(default_factory=TimeOrder)
    problems: Problems = field(default_factory=Problems)
    told: Told = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    counted: bool = True


def look_at(spark: SparkSession, splits: Sequence[Split], *, rows: int, told: Sequence[Told] = ()) -> list[Looked]:
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


def _look(work: tuple[Split, Told | None, int]) -> Looked:
    split, told, rows = work
    # Of a long trace, a sample shows how clocks are apart: what each task sends to the driver is part of it.
    looked, reader = Looked(seen=Scanning(sides=Observed(rows))), read_split(split, told=told)
    looked.seen.keeps_seq = True
    for batch in reader.batches((*SCAN_COLUMNS, "seq")):
        looked.seen.see(batch, split.file)
        looked.order.see(batch)
    looked.seen.put_in_order(0)
    looked.seen.look_again(split.file, reader)
    looked.told, looked.skipped, looked.counted = reader.told, reader.skipped, reader.counted
    looked.problems.join(reader.problems)
    return looked


def scan_of(looked: Sequence[Looked], splits: Sequence[Split], trace: Trace) -> Scan:
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


def pack_splits(spark: SparkSession, splits: Sequence[Split], looked: Sequence[Looked], task: Task) -> DataFrame:
    """The events of all splits as rows of ``blocks.SCHEMA``, each split by a task."""
    files = [TimeOrder() for _ in range(1 + max((split.file for split in splits), default=0))]
    for split, one in zip(splits, looked, strict=True):
        files[split.file].join(one.order)
    again = _again(spark, splits, looked)
    work = [
        (split, one.told, files[split.file].needs_seq, repeated)
        for split, one, repeated in zip(splits, looked, again, strict=True)
    ]
    groups, parts = dict(task.groups), task.parts

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from _packed(place, *work[place])

    def _packed(place: int, split: Split, told: Told, needs_seq: bool, again: Any) -> Iterator[pa.RecordBatch]:
        packer, reader = Packer(parts=parts, groups=groups), read_split(split, told=told)
        columns = [*COLUMNS, "seq"] if needs_seq else list(COLUMNS)
        read = reader.distinct(COLUMNS, again=again)
        yield from packer.rows(Chunk(split.file, place, batch.select(columns)) for batch in read)
        yield from packer.asides(place, told_as(reader.problems) | {"repeated": reader.repeated})

    return spark.range(0, len(work), 1, len(work)).mapInArrow(read, SCHEMA)


def _again(spark: SparkSession, splits: Sequence[Split], looked: Sequence[Looked]) -> Sequence[Any]:
    """For each split, the numbers of its repeated events; None if all repetitions are adjacent."""
    sound = not any(one.problems.count for one in looked)
    if not splits or not are_scattered(splits, [one.order for one in looked], sound=sound):
        return [None] * len(splits)
    counted = {split.file: True for split in splits}
    for split, one in zip(splits, looked, strict=True):
        counted[split.file] &= one.counted
    return repeated_in(spark, splits, [counted[split.file] for split in splits])
