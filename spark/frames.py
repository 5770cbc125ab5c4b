"""DataFrames in, DataFrames out: the monitors for users with jobs of their own."""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..properties.verdict import Verdict
from ..traces.claims.settings import Settings
from ..traces.encoding.coding import COLUMNS
from ..traces.encoding.names import Actor, Names, Slot
from ..traces.engine.doubts import doubted
from ..traces.engine.findings import Note
from ..traces.engine.recorded import coverage_of
from ..traces.engine.result import ClaimVerdict, merge, verdicts
from ..traces.engine.scan import CONTEXT_COLUMNS, Scanning, conclude
from ..traces.errors import TraceError
from ..traces.explain.report.tables import FINDINGS, named
from ..traces.format.coverage import Hole
from ..traces.format.message_status import MessageStatus
from ..traces.format.schema import ARROW, Header
from ..traces.io.events import ROWS, SPANS
from ..traces.monitors.first_starts import settle_first_starts
from ..traces.monitors.groups import GroupMonitor
from ..traces.monitors.unpulled import settle_unpulled
from .blocks import SCHEMA, Chunk, Packer
from .check import parts_for
from .judging import Task, gather, is_unsettled, judge, rows_of
from .session import failures, small_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

VERDICTS = pa.schema(
    [
        pa.field("claim", pa.string()),
        pa.field("verdict", pa.string()),
        pa.field("judged", pa.int64()),
        pa.field("violated", pa.int64()),
        pa.field("doubtful", pa.int64()),
        pa.field("why", pa.string()),
        pa.field("statement", pa.string()),
        pa.field("rules", pa.list_(pa.string())),
    ]
)
"""Columns of :attr:`Mined.verdicts`, the same as of the table ``verdicts`` of a report."""


@dataclass(frozen=True, kw_only=True)
class Mined:
    """What was found.

    Attributes:
        findings: violations, explained repetitions and notes, with the columns of ``traces.report.tables.FINDINGS``.
            They stay with the executors.
        verdicts: one row for each claim, in their order.
        answers: the claims with their verdicts, as Python objects.
        events: how many events there were.
        messages: how many messages had which fate.
        left_out: events and values that could not be used or judged, by what was wrong with them, or missing.
    """

    findings: DataFrame
    verdicts: DataFrame
    answers: tuple[ClaimVerdict, ...]
    events: int
    messages: Counter[MessageStatus]
    left_out: Counter[str]
    _kept: DataFrame

    def verdict(self, claim: str) -> Verdict:
        """The verdict about the claim of an id; KeyError without one."""
        return {answer.claim.id: answer.verdict for answer in self.answers}[claim]

    def release(self) -> None:
        """Give back the room that the answers take on the executors; ``findings`` is made anew if it is used again."""
        self._kept.unpersist()


def mine(events: DataFrame, header: Header | None = None, settings: Settings | None = None) -> Mined:
    """Hold events against all claims.

    Events are gone through twice, first for those that concern more than one queue or message: a frame that is costly
    to make should be cached. Only sums come to the driver, and the few events of the context.

    Args:
        events: with columns of the schema, at least ``time`` (ms since 1970, or a timestamp) and ``kind``; others may
            be missing. Events of equal time are ordered by ``seq`` if it is there, else by partition.
        header: what is known of the recording; without it nothing is: kinds that occur count as recorded.
        settings: the terms; the usual ones by default.

    Raises:
        TraceError: a column is missing or of another type, there are no events, or Spark fails.
    """
    header = header or Header()
    settings = settings or Settings().with_timers(header.timers)
    spark = events.sparkSession
    with failures(), small_batches(spark):
        fitting = _fitting(events)
        seen, left_out = _look(fitting)
        scanned = conclude(seen, header, files=("the frame",))
        context = scanned.context
        holes = [Hole(why=f"{count:,} {what}") for what, count in sorted(left_out.items()) if count]
        slots = [Slot(group, "", "", -1) for _, group in scanned.kinds_of]
        coverage = coverage_of(scanned, header, slots=slots, evidence=[header.evidence], holes=holes)
        task = Task(
            groups=dict(header.groups),
            release=header.release,
            settings=settings,
            context=context,
            coverage=coverage,
            parts=parts_for(spark, scanned.events),
        )
        kept = judge(pack_frame(fitting, task), task).persist()
        sums = kept.select("part", "piece", "summary").toArrow()
        found = gather(sums, header.groups)
        groups = GroupMonitor(names=found.names, settings=settings, context=context)
        groups.stores(found.stores)
        slots = found.names.slots
        of_groups = doubted(groups.finish(), slots, coverage, settings)
        of_tasks = merge(found.outcomes, len(found.names.slots))
        about_starts = is_unsettled(of_tasks.rows) | (of_tasks.rows["note"] == Note.OFFSET)
        settled = settle_first_starts(replace(of_tasks, rows=of_tasks.rows[about_starts]), found.names, settings)
        settled = settle_unpulled(settled, found.names, found.stores, settings)
        settled = doubted(settled, slots, coverage, settings)
        starts = settled.rows[settled.rows["note"] != Note.OFFSET]
        rest = replace(settled, rows=np.concatenate([of_tasks.rows[~about_starts], starts]))
        outcome = merge([rest, of_groups], len(found.names.slots))
        answers = verdicts(outcome, slots, coverage, settings)
        statuses = outcome.statuses.sum(axis=0)
        # The tasks' findings come without first starts, which are settled here.
        of_driver = named(np.concatenate([of_groups.rows, starts]), found.names)
        form = _spark_form(FINDINGS)
        findings = kept.mapInArrow(_named, form).unionAll(spark.createDataFrame(_plain(of_driver), form))
        return Mined(
            findings=findings,
            verdicts=spark.createDataFrame(_table(answers), _spark_form(VERDICTS)).coalesce(1),
            answers=answers,
            events=scanned.events,
            messages=Counter({fate: int(statuses[fate]) for fate in MessageStatus if statuses[fate]}),
            left_out=left_out + Counter(outcome.passed_over),
            _kept=kept,
        )


def pack_frame(events: DataFrame, task: Task) -> DataFrame:
    """Events of a frame as rows of ``blocks.SCHEMA``."""
    groups, parts = dict(task.groups), task.parts
    columns = [name for name in (*COLUMNS, "seq") if name in events.columns]

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        running = TaskContext.get()
        place = running.partitionId() if running is not None else 0
        packer = Packer(parts=parts, groups=groups)
        yield from packer.rows(Chunk(0, place, batch) for batch in _usable(batches, Counter()))
        yield from packer.asides(place, {})

    return events.select(*columns).mapInArrow(packed, SCHEMA)


def _fitting(events: DataFrame) -> DataFrame:
    """The columns of the schema, with its types.

    Raises:
        TraceError: time or kind is missing, or a column has a type that cannot be taken.
    """
    from pyspark.sql import functions
    from pyspark.sql.types import ArrayType, IntegralType, StringType, TimestampNTZType, TimestampType

    missing = [name for name in ("time", "kind") if name not in events.columns]
    if missing:
        raise TraceError(
            f"the frame has no column {' and no column '.join(missing)}; there are {', '.join(events.columns)}."
        )
    chosen = []
    for field in ARROW:
        if field.name not in events.columns:
            continue
        given, column = events.schema[field.name].dataType, functions.col(f"`{field.name}`")
        if pa.types.is_integer(field.type):
            if isinstance(given, TimestampType | TimestampNTZType) and field.name in ("time", "due"):
                column = functions.unix_millis(column.cast("timestamp"))
            elif not isinstance(given, IntegralType):
                raise TraceError(f"column {field.name} is {given.simpleString()}; whole numbers are needed.")
            column = column.cast("long")
        elif pa.types.is_list(field.type):
            if not isinstance(given, ArrayType):
                raise TraceError(f"column {field.name} is {given.simpleString()}; a list of texts is needed.")
            column = column.cast("array<string>")
        elif not isinstance(given, StringType):
            raise TraceError(f"column {field.name} is {given.simpleString()}; texts are needed.")
        chosen.append(column.alias(field.name))
    return events.select(*chosen)


def _look(events: DataFrame) -> tuple[Scanning, Counter[str]]:
    """The first look at a frame, and what of it cannot be used."""
    shown = events.select(*(name for name in ARROW.names if name in events.columns))

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        seen, left_out = Scanning(), Counter[str]()
        for batch in _usable(batches, left_out):
            seen.see(_with_all(batch))
        yield pa.RecordBatch.from_pydict({"seen": [pickle.dumps((seen, left_out))]})

    seen, left_out = Scanning(), Counter[str]()
    for (pickled,) in shown.mapInArrow(look, "seen binary").collect():
        part, wrong = pickle.loads(pickled)
        seen.join(part)
        left_out.update(wrong)
    return seen, left_out


def _with_all(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The columns of the context, null where the frame has none."""
    there = set(batch.schema.names)
    return pa.RecordBatch.from_pydict(
        {
            name: batch.column(name) if name in there else pa.nulls(len(batch), ARROW.field(name).type)
            for name in CONTEXT_COLUMNS
        }
    )


def _usable(batches: Iterator[pa.RecordBatch], left_out: Counter[str]) -> Iterator[pa.RecordBatch]:
    """Batches with possible values only, as readers of files give them; what is wrong is counted."""
    for batch in _larger(batches):
        columns = {name: batch.column(name) for name in batch.schema.names}
        for name in SPANS.keys() & columns.keys():
            low, high = SPANS[name]
            outside = pc.or_(pc.less(columns[name], low), pc.greater(columns[name], high)).fill_null(False)
            wrong = pc.sum(outside).as_py()
            if wrong:
                left_out[f"values of {name} that are not from {low} to {high}"] += wrong
                columns[name] = pc.if_else(outside, pa.scalar(None, columns[name].type), columns[name])
            columns[name] = columns[name].cast(ARROW.field(name).type)
        usable = pc.and_(pc.is_valid(columns["time"]), pc.is_valid(columns["kind"]))
        lost = len(batch) - (pc.sum(usable).as_py() or 0)
        if lost:
            left_out["events without time or kind"] += lost
            columns = {name: column.filter(usable) for name, column in columns.items()}
        if "seq" in columns and columns["seq"].null_count:
            columns["seq"] = columns["seq"].fill_null(0)
        if len(columns["time"]):
            yield pa.RecordBatch.from_pydict(columns)


def _larger(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows in batches of about ROWS: Spark hands them over in smaller ones, of which each costs time."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if count >= ROWS:
            yield pa.concat_batches(waiting)
            waiting, count = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def _named(answers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Findings of answers with names instead of codes, without first starts."""
    for batch in answers:
        for answer in batch.to_pylist():
            summary = json.loads(answer["summary"])
            names = Names()
            for slot in summary["slots"]:
                names.slot(Slot(*slot))
            for actor in summary["actors"]:
                names.actor(Actor(*actor))
            rows = rows_of(answer["rows"])
            yield from _plain(named(rows[~is_unsettled(rows)], names)).combine_chunks().to_batches()


def _plain(table: pa.Table) -> pa.Table:
    """The table with times as Spark has them, in microseconds."""
    times = {field.name for field in FINDINGS if pa.types.is_timestamp(field.type)}
    micros = pa.timestamp("us", tz="UTC")
    return table.cast(pa.schema([field.with_type(micros) if field.name in times else field for field in table.schema]))


def _spark_form(schema: pa.Schema) -> StructType:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)


def _table(answers: tuple[ClaimVerdict, ...]) -> pa.Table:
    rows = [
        (a.claim.id, str(a.verdict), a.judged, a.violated, a.doubtful, a.why or None, a.claim.statement, a.claim.rules)
        for a in answers
    ]
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), VERDICTS, strict=True)],
        schema=VERDICTS,
    )
