"""DataFrames in, DataFrames out: the monitors for users with jobs of their own."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..properties.verdict import Verdict
from ..traces.claims.settings import Settings
from ..traces.clocks.clocks import Clocks
from ..traces.clocks.correction import in_time
from ..traces.clocks.view import IDENTITY
from ..traces.encoding.coding import COLUMNS
from ..traces.engine.first_look import FirstLook
from ..traces.engine.result import ClaimVerdict
from ..traces.engine.scan import Scan, conclude
from ..traces.engine.scanning import SCAN_COLUMNS, Scanning
from ..traces.errors import TraceError
from ..traces.explain.report.tables import FINDINGS, named, verdicts
from ..traces.format.coverage import ALL_KINDS, EVIDENCE_BIT, Hole
from ..traces.format.kinds import Kind
from ..traces.format.message_status import MessageStatus
from ..traces.format.schema import ARROW, Header, plain
from ..traces.io import Problems, Split
from ..traces.io.events import ROWS, SPANS, WHO, WORDS
from ..traces.io.lost import UNREAD
from ..traces.io.parquet import rows_of
from ..traces.io.time_order import TimeOrder
from ..traces.recorders.repeated import REPEATED, Repeated
from ..traces.samples import settings_of
from .blocks import Chunk, Packer, Row
from .check import at_once
from .judging import Shuffled, Told, judged, parts_of
from .repeats import same
from .scans import splits_of_scan
from .session import event_batches, failures, together

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, kw_only=True)
class Mined:
    """What was found.

    Attributes:
        findings: violations, explained repetitions and notes, with the columns of
            ``traces.explain.report.tables.FINDINGS``.
        verdicts: one row for each claim, in their order.
        answers: the claims with their verdicts, as Python objects.
        events: number of events.
        messages: number of messages with each status.
        left_out: number of events and values that could not be used or judged, by what was wrong or missing.
    """

    findings: DataFrame
    verdicts: DataFrame
    answers: tuple[ClaimVerdict, ...]
    events: int
    messages: Counter[MessageStatus]
    left_out: Counter[str]

    def verdict(self, claim: str) -> Verdict:
        """The verdict about the claim with an id; KeyError if there is none."""
        return {answer.claim.id: answer.verdict for answer in self.answers}[claim]


def mine(events: DataFrame, header: Header | None = None, settings: Settings | None = None) -> Mined:
    """Check events against all claims, as :func:`.check.check_with_spark` does for files.

    Events are counted and then read once if they are in the order of time; otherwise, or if something is wrong with
    them, three times: a frame that is costly to compute should be cached. If the frame is a scan of Parquet files,
    tasks try to read them directly first. Sums, findings and the few events of the context come to the driver.

    Args:
        events: with columns of the schema, at least ``time`` (ms since 1970, or a timestamp) and ``kind``; others may
            be missing. Events with equal times are ordered by ``seq`` if it is there, otherwise by partition.
        header: what is known about the recording; without it nothing is, and kinds that occur count as recorded.
        settings: settings of the check; those of the header by default.

    Raises:
        TraceError: a column is missing or of another type, there are no events, or Spark fails.
    """
    started = time.perf_counter()
    header = header or Header()
    settings = settings or settings_of(header)
    spark = events.sparkSession
    with failures(), event_batches(spark):
        frame = Frame(header, _fitting(events), splits_of_scan(events))
        scanned, packed, repeated = frame.packed()
        result = judged(spark, frame, scanned, settings, packed, started=started)
        return Mined(
            findings=spark.createDataFrame(_in_micros(named(result.rows, result.names))),
            verdicts=spark.createDataFrame(verdicts(result)).coalesce(1),
            answers=result.verdicts,
            events=scanned.events,
            messages=result.messages,
            left_out=frame.left_out_of + Counter(result.passed_over) + Counter({REPEATED: repeated}),
        )


class Frame:
    """A frame as a recording that is being checked, see ``traces.engine.reading``.

    Attributes:
        events: events with columns of the schema; times are corrected and repetitions dropped once this was requested.
        repeated: how many events of these files were repeated.
        left_out_of: what of it cannot be used, in the columns that were read.

    Args:
        scan: the parts of the files of which it is a scan, see :mod:`.scans`; none if it is anything else.
    """

    def __init__(self, header: Header, events: DataFrame, scan: Sequence[Split]) -> None:
        self.header, self.events, self._scan = header, events, scan
        self.rows = sum(rows_of(Path(file)) for file in {split.paths[0] for split in scan})
        self.repeated: Counter[str] = Counter()
        self.files: tuple[str, ...] = ("the frame",)
        self.problems = Problems()
        self.left_out: tuple[str, ...] = ()
        self.clocks: Clocks | None = None
        self.left_out_of: Counter[str] = Counter()
        self._holes: list[Hole] = []

    @property
    def evidence(self) -> list[frozenset[Kind]]:
        """The kinds that its header states as recorded."""
        return [self.header.evidence]

    @property
    def skipped(self) -> Counter[str]:
        """Empty: what cannot be used is counted in :attr:`left_out_of`."""
        return Counter()

    def holes(self) -> list[Hole]:
        """Holes for events or values that could not be used."""
        return self._holes

    def splits(self) -> list[Split]:
        """The parts of the files of which it is a scan."""
        return [replace(split, clocks=self.clocks) for split in self._scan]

    def packed(self) -> tuple[Scan, Shuffled, int]:
        """The first look at the frame, its events packed by the same tasks, and how many of them were repeated."""
        found = at_once(self.events.sparkSession, self)
        return (*found, self.repeated[REPEATED]) if found else self._of_rows(self.events.count())

    def _of_rows(self, events: int) -> tuple[Scan, Shuffled, int]:
        """The same from rows that Spark hands over; they are read again if something is wrong or not in order.
        ``events``: their number.
        """
        shuffled = self._packed(events, sees=True)
        told: list[tuple[Looked, Lost]] = list(shuffled.told())
        looked = [one for one, _ in told if one.ends]
        seen, lost, order = Scanning(), Lost(), TimeOrder()
        for one, wrong in told:
            seen.join(one.seen)
            order.join(one.order)
            lost.join(wrong)
        if self.clocks is None:
            self._holes, self.left_out_of = lost.holes, lost.counts
        scanned = conclude(seen, self.header, files=self.files, clocks=self.clocks)
        if scanned.is_to_correct(self):
            return self._of_rows(events)
        repeat = any(one.repeats(before) for before, one in pairwise(looked))
        if order.by_time and not lost.counts and not repeat:
            repeated = sum(one.repeated for one in looked)
        else:
            repeated = self._drop_repeated()
            shuffled = self._packed(events, sees=False)
            list(shuffled.told())
        return replace(scanned, events=scanned.events - repeated), shuffled, repeated

    def _packed(self, events: int, *, sees: bool) -> Shuffled:
        """The events, packed; if this is the first look at them too, a ``Looked`` and what is lost are told about each
        partition.
        """
        groups, is_counted = dict(self.header.groups), "seq" in self.events.columns
        parts = parts_of(self.events.sparkSession, events)
        wanted = dict.fromkeys((*COLUMNS, *(SCAN_COLUMNS if sees else ()), "seq"))
        columns = [name for name in wanted if name in self.events.columns]
        # If the first look shows that ``seq`` matters, the events are packed again.
        kept = [name for name in columns if name in COLUMNS or (name == "seq" and not sees)]

        def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            running = TaskContext.get()
            place = running.partitionId() if running is not None else 0
            packer, looked, lost = Packer(place, parts=parts, groups=groups), Looked.of(events), Lost()
            read = _usable(batches, lost)
            if sees:
                read = looked.distinct(read, wanted, first=place << 33 if not is_counted else None)
            for row in packer.rows(Chunk(0, place, _with_seq(batch.select(kept))) for batch in read):
                yield _as_batch(row)
            looked.seen.put_in_order(0)
            yield _as_batch(Told.row(packer, (looked, lost)))

        rows = self.events.select(*columns).mapInArrow(packed, "row binary").rdd
        return Shuffled(rows.map(lambda given: pickle.loads(given.row)), parts=parts, groups=groups)

    def correct(self, clocks: Clocks) -> None:
        """From now on, return times corrected by these clocks."""
        from pyspark.sql.pandas.types import from_arrow_schema

        names = [name for name in ARROW.names if name in self.events.columns]

        def corrected(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in _usable(batches, Lost()):
                yield in_time(clocks, _with(batch, (*names, *IDENTITY))).select(names).cast(schema)

        schema = pa.schema([plain(ARROW).field(name) for name in names])
        corrected_events = self.events.select(*names).mapInArrow(corrected, from_arrow_schema(schema))
        self.clocks, self.events = clocks, corrected_events

    def _drop_repeated(self) -> int:
        """Drop repeated events, see ``traces.recorders.repeated``; returns their number."""
        from pyspark.sql import Window, functions

        events = self.events
        own = "seq" in events.columns
        stands = functions.monotonically_increasing_id()
        if not own:
            events = events.withColumn("seq", stands)
        at_a_place = functions.lit({"queue", "offset"} <= set(events.columns))
        for name in ("queue", "offset"):
            if name in events.columns:
                at_a_place &= functions.col(name).isNotNull()
        counted = functions.col("seq").isNotNull() & functions.lit(own)
        mark = functions.when(counted | ~at_a_place, functions.coalesce("seq", stands)).otherwise(0)
        events = events.withColumn(_SAME, same(mark, [name for name in COLUMNS if name in events.columns]))
        several = events.groupBy("time", _SAME).count().where("count > 1")
        repeated = int(several.agg(functions.sum(functions.col("count") - 1)).collect()[0][0] or 0)
        if repeated:
            nth = functions.row_number().over(Window.partitionBy("time", _SAME).orderBy("seq"))
            self.events = events.withColumn(_NTH, nth).where(functions.col(_NTH) == 1).drop(_NTH, _SAME)
        return repeated

    def events_of(
        self, processes: Collection[str], kinds: Collection[Kind], since: int, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """The events of some kinds of some clients or brokers from a time on (ms), in the order of time."""
        from pyspark.sql import functions

        events = self.events
        names = [name for name in columns if name in events.columns]
        chosen = events.where(
            functions.coalesce("client", "broker").isin(sorted(processes))
            & functions.col("kind").isin(sorted(map(str, kinds)))
            & (functions.col("time") >= since)
        )
        order = [name for name in ("time", "seq") if name in events.columns]
        yield from _usable(iter(chosen.orderBy(*order).select(*names).toArrow().to_batches()), Lost())


_SAME, _NTH = "its same", "its nth"
"""Temporary columns; no column of the schema has a space in its name."""

_MOST_HOLES = 1_000


@dataclass
class Lost:
    """What of a frame cannot be used.

    Attributes:
        counts: number of cases, by what is wrong.
        holes: the corresponding holes: the first ones individually.
    """

    counts: Counter[str] = field(default_factory=Counter)
    holes: list[Hole] = field(default_factory=list)

    def add(self, what: str, count: int, holes: Iterable[Hole]) -> None:
        """Count further losses of one kind, each with its place."""
        self.counts[what] += count
        self.holes += holes
        self._few(what)

    def join(self, other: Lost) -> None:
        """Add what was found elsewhere."""
        self.counts.update(other.counts)
        self.holes += other.holes
        self._few("losses")

    def _few(self, what: str) -> None:
        if len(self.holes) > _MOST_HOLES:
            self.holes = [*self.holes[: _MOST_HOLES - 1], Hole(why=f"{what}, and more of them")]


@dataclass(kw_only=True)
class Looked(FirstLook):
    """What the first look at a partition has shown."""

    def distinct(
        self, batches: Iterator[pa.RecordBatch], columns: Collection[str], *, first: int | None
    ) -> Iterator[pa.RecordBatch]:
        """The events, with all these columns, without repetitions. If they have no ``seq``, they are numbered from
        ``first`` on.
        """
        self.counted = first is None
        beside, number = Repeated(thorough=False), first or 0
        for batch in batches:
            batch = _with(batch, columns)
            if first is not None:
                seq = pa.array(np.arange(number, number + len(batch)))
                batch = batch.set_column(batch.schema.get_field_index("seq"), "seq", seq)
                number += len(batch)
            elif batch.column("seq").null_count:
                self.order.by_time = False  # nobody knows where these belong
            self.see(batch)
            yield beside.drop(batch, self.counted)
        self.repeated = beside.count


def _as_batch(row: Row) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(row)], pa.binary())], ["row"])


def _fitting(events: DataFrame) -> DataFrame:
    """The columns of the schema, with its types.

    Raises:
        TraceError: time or kind is missing, or a column has an unsupported type.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, IntegralType, StringType, TimestampNTZType, TimestampType

    missing = [name for name in ("time", "kind") if name not in events.columns]
    if missing:
        raise TraceError(
            f"the frame has no column {' and no column '.join(missing)}; there are {', '.join(events.columns)}."
        )
    chosen = []
    for known in ARROW:
        if known.name not in events.columns:
            continue
        given, column = events.schema[known.name].dataType, functions.col(f"`{known.name}`")
        if pa.types.is_integer(known.type):
            if isinstance(given, TimestampType | TimestampNTZType) and known.name in ("time", "due"):
                column = functions.unix_millis(column.cast("timestamp"))
            elif not isinstance(given, IntegralType):
                raise TraceError(f"column {known.name} is {given.simpleString()}; whole numbers are needed.")
            column = column.cast("long")
        elif pa.types.is_list(known.type):
            if not isinstance(given, ArrayType):
                raise TraceError(f"column {known.name} is {given.simpleString()}; a list of texts is needed.")
            column = column.cast("array<string>")
        elif not isinstance(given, StringType):
            raise TraceError(f"column {known.name} is {given.simpleString()}; texts are needed.")
        chosen.append(column.alias(known.name))
    return events.select(*chosen)


def _with(batch: pa.RecordBatch, names: Iterable[str]) -> pa.RecordBatch:
    """Some columns of a batch, null if it has none."""
    there = set(batch.schema.names)
    return pa.RecordBatch.from_pydict(
        {
            name: batch.column(name) if name in there else pa.nulls(len(batch), ARROW.field(name).type)
            for name in dict.fromkeys(names)
        }
    )


def _with_seq(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with 0 for a missing ``seq``, if it has that column."""
    at = batch.schema.get_field_index("seq")
    return batch if at < 0 else batch.set_column(at, "seq", batch.column(at).fill_null(0))


def _usable(batches: Iterator[pa.RecordBatch], lost: Lost) -> Iterator[pa.RecordBatch]:
    """Batches with possible values only, as readers of files return them; problems are counted."""
    for batch in map(pa.concat_batches, together(batches, ROWS)):
        columns = {name: batch.column(name) for name in batch.schema.names}
        kept = pa.array(np.ones(len(batch), bool))
        for name in SPANS.keys() & columns.keys():
            low, high = SPANS[name]
            outside = pc.or_(pc.less(columns[name], low), pc.greater(columns[name], high)).fill_null(False)
            wrong = pc.sum(outside).as_py()
            if wrong:
                what = f"values of {name} that are not from {low} to {high}"
                if name in WHO:
                    what, kept = f"events whose {name} is not from {low} to {high}", pc.and_not(kept, outside)
                lost.add(what, wrong, () if name in UNREAD else _holes(batch, outside, what, name))
                columns[name] = pc.if_else(outside, pa.scalar(None, columns[name].type), columns[name])
            columns[name] = columns[name].cast(ARROW.field(name).type)
        for name in columns:
            if pa.types.is_dictionary(ARROW.field(name).type):
                columns[name] = columns[name].dictionary_encode()
        for name in WORDS.keys() & columns.keys():
            others = [word for word in columns[name].dictionary.to_pylist() if word not in WORDS[name]]
            if others:
                unknown = pc.is_in(batch.column(name), value_set=pa.array(others, pa.string()))
                wrong = pc.sum(unknown).as_py()
                what = f"words in {name} that this version does not know"
                lost.add(what, wrong, _holes(batch, unknown, what, name))
        usable = pc.and_(pc.is_valid(columns["time"]), pc.is_valid(columns["kind"]))
        without = len(batch) - (pc.sum(usable).as_py() or 0)
        if without:
            lost.add("events without time or kind", without, [Hole(why=f"{without:,} events without time or kind")])
            kept = pc.and_(kept, usable)
        if not pc.all(kept).as_py():
            columns = {name: column.filter(kept) for name, column in columns.items()}
        if len(columns["time"]):
            yield pa.RecordBatch.from_pydict(columns)


def _holes(batch: pa.RecordBatch, wrong: pa.Array, why: str, name: str) -> list[Hole]:
    """A hole for each event with a wrong value of ``name``: everything else about it is known."""
    positions = pc.indices_nonzero(wrong).slice(0, _MOST_HOLES)
    told = [each for each in ("time", "kind", "group", "topic") if each in batch.schema.names]
    found = []
    for event in batch.select(told).take(positions).to_pylist():
        known = event["time"] is not None and SPANS["time"][0] <= event["time"] <= SPANS["time"][1]
        time_ = {"since": event["time"], "until": event["time"]} if known else {}
        kinds = EVIDENCE_BIT.get(event["kind"], ALL_KINDS) if name != "kind" and known else ALL_KINDS
        found.append(
            Hole(why=why, kinds=kinds, group=event.get("group") or "", topic=event.get("topic") or "", **time_)
        )
    return found


def _in_micros(table: pa.Table) -> pa.Table:
    """The table with times in Spark's unit, microseconds."""
    times = {field.name for field in FINDINGS if pa.types.is_timestamp(field.type)}
    micros = pa.timestamp("us", tz="UTC")
    return table.cast(pa.schema([field.with_type(micros) if field.name in times else field for field in table.schema]))
