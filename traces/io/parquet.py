"""Parquet: one row for each event, with the header in the metadata of the file.

Values are checked a column at a time. A row group that cannot be decoded is reported and skipped. Columns of other
types are accepted if their values are the same: whole numbers of any width, time stamps, texts with or without a
dictionary. Files from other programs, such as Spark, can therefore be read too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..clocks.as_json import clocks_told
from ..clocks.clocks import Clocks
from ..encoding.columns import Column
from ..format.header import Stated, read_header
from ..format.other_names import near_names, other_names, told, told_near
from ..format.problems import KEPT, Pass, Problems, Repeatable, Trouble
from ..format.schema import BY_NAME, HEADER_KEY, Field, Header
from .events import EXTRA, SPANS, WHO, WORDS, done_about, is_whole
from .json_text import read_json
from .source import numbered, schema_of
from .stray_times import FAR, WHOSE, contradicted, far_off, words_of
from .stray_times import told as told_stray

MAGIC = b"PAR1"

TIMES_KEY = "rocketproof.times"
"""Metadata key for the times of a file's earliest and latest event in ms, with a space between them."""

FAILURES = (pa.ArrowException, OSError, ValueError, KeyError)
"""Exceptions that reading damaged Parquet can raise: for names that are no text, for example, or missing columns."""

_NEEDED = ("time", "kind")
_NOWHERE = np.zeros(0, np.int64)


def lacks(path: Path) -> str:
    """Which of the columns that every trace has are missing, in words; empty if none is.

    Raises:
        one of :data:`FAILURES`: the file cannot be read, for example because it breaks off.
    """
    with _opened(path) as opened:
        schema = opened.schema_arrow
    there = [name for name in schema.names if name in BY_NAME and _fits(schema.field(name).type, BY_NAME[name])]
    missing = [name for name in _NEEDED if name not in there]
    return f"no column {' and no column '.join(missing)}" if missing else ""


_BESIDE = b"rocketproof_beside"
_TRUTH = ["what", "mutant", "claim", "cause"]
"""The first columns of the truth about a simulated trace, which the first version did not mark."""


def beside_a_trace(table: pa.Table) -> pa.Table:
    """A table of the kit's own, such as findings, that is stored beside traces and is none; readers skip it."""
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _BESIDE: b"1"})


def is_beside_a_trace(path: Path) -> bool:
    """Whether a Parquet file was made by :func:`beside_a_trace`, or is the truth that a simulation once wrote."""
    with pq.ParquetFile(path) as opened:
        schema = opened.schema_arrow
    return _BESIDE in (schema.metadata or {}) or schema.names[: len(_TRUTH)] == _TRUTH


def rows_of(path: Path) -> int:
    """Number of rows in a Parquet file."""
    return int(pq.read_metadata(path).num_rows)


def _opened(path: Path) -> pq.ParquetFile:
    metadata = pq.read_metadata(path)
    leaves = (metadata.schema.column(at) for at in range(metadata.num_columns))
    texts = {leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"}
    words = [name for name in BY_NAME if name in texts and pa.types.is_dictionary(BY_NAME[name].type)]
    return pq.ParquetFile(path, metadata=metadata, read_dictionary=words, page_checksum_verification=True)


class ParquetTrace:
    """A Parquet file as a source of events; see :class:`~.source.Source`.

    Attributes:
        schema: its columns, as Arrow reads them.
        groups: numbers of the row groups that are read, usually all. If only some are read, one thread reads them, as
            others are then read in parallel elsewhere.
    """

    def __init__(self, path: Path, problems: Problems, *, groups: range | None = None) -> None:
        self.path = path
        self.file = str(path)
        self.files: tuple[str, ...] = (self.file,)
        self._problems = Repeatable(problems)
        self.skipped: Counter[str] = Counter()
        self.counted = True
        with _opened(path) as opened:
            schema, metadata = opened.schema_arrow, opened.metadata
        self.schema = schema
        self.rows: int | None = metadata.num_rows
        self._threads = groups is None
        self.groups = range(metadata.num_row_groups) if groups is None else groups
        self.time_range = _time_range(metadata.metadata or {})
        self.stated = self._header(metadata.metadata or {}, problems)
        self.clocks: Clocks | None = clocks_told(self.stated, 0, problems)
        self._usable: list[str] = []
        self._others = [name for name in schema.names if name not in BY_NAME]
        if others := other_names(schema.names):
            problems.add(self.file, 0, told(others), kind=Trouble.OTHER_NAME)
        if near := near_names(schema.names):
            problems.add(self.file, 0, told_near(near), kind=Trouble.NEAR_NAME)
        for name in schema.names:
            if name not in BY_NAME:
                continue
            if _fits(schema.field(name).type, BY_NAME[name]):
                self._usable.append(name)
            else:
                what = f"column {name} is {schema.field(name).type}, {BY_NAME[name].type} is needed; not known then"
                problems.add(self.file, 0, what, kind=Trouble.IMPOSSIBLE)

    def _header(self, metadata: Mapping[bytes, bytes], problems: Problems) -> Stated:
        text = metadata.get(HEADER_KEY.encode())
        try:
            if text is not None:
                return read_header(read_json(text.decode()), file=self.file, line=0, problems=problems)
            what, kind = f"the metadata has no {HEADER_KEY}", Trouble.NO_HEADER
        except ValueError as error:
            what, kind = f"not a header: {error}", Trouble.HEADER
        problems.add(self.file, 0, f"{what}; defaults are taken", kind=kind)
        return Stated(header=Header(), file=self.file)

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """The events in the order of the file; see :class:`~.source.Source`."""
        report = self._problems.begin()
        # Which events are left out must not depend on the columns.
        wanted = [name for name in self._usable if name in {*columns, *_NEEDED, *WHO}]
        if EXTRA in columns:
            wanted += self._others
        with _opened(self.path) as opened:
            first = 1
            for group in range(opened.num_row_groups):
                count = opened.metadata.row_group(group).num_rows
                if group not in self.groups:
                    first += count
                    continue
                row, strays = first, _NOWHERE
                try:
                    for batch in opened.iter_batches(
                        rows, row_groups=[group], columns=wanted, use_threads=self._threads
                    ):
                        if not len(strays) and _leaps(batch):
                            strays = self._strays(group) + first
                        checked = self._checked(batch, row, columns, report, strays)
                        row += len(batch)
                        if len(checked):
                            yield checked
                except FAILURES as error:
                    what = f"rows {row} to {first + count - 1} cannot be decoded: {error}"
                    report.add(self.file, row, what, kind=Trouble.UNREADABLE)
                first += count

    def reading(self) -> Pass:
        """The receiver for problems of another reader of the events; what that reported is not reported here again."""
        return self._problems.begin()

    def _strays(self, group: int) -> Any:
        """Positions, in a row group, of events whose times their neighbours contradict, whichever columns are
        requested.
        """
        try:
            with _opened(self.path) as opened:
                times, known = times_of(opened.read_row_group(group, columns=["time"], use_threads=self._threads))
                found = far_off(times)
                if not found:
                    return _NOWHERE
                there = [name for name in WHOSE if name in self._usable]
                table = opened.read_row_group(group, columns=there, use_threads=self._threads)
            whose = [words_of(table[name])[known] if name in there else np.full(len(times), "") for name in WHOSE]
            return known[contradicted(times, whose, found)]
        except FAILURES:
            return _NOWHERE  # decoding problems are reported when the column is read

    def _checked(
        self, batch: pa.RecordBatch, row: int, columns: Sequence[str], report: Pass, strays: Any
    ) -> pa.RecordBatch:
        """The requested columns with possible values, without events that lack time or kind, say wrongly who did it, or
        have stray times.
        """
        read: dict[str, pa.Array] = {}
        is_left_out = np.zeros(len(batch), bool)
        for name in batch.schema.names:
            if name in BY_NAME:
                given = batch.column(name)
                read[name] = self._column(given, BY_NAME[name], row, report)
                if name in WHO and read[name].null_count != given.null_count:
                    is_left_out |= pc.and_(read[name].is_null(), given.is_valid()).to_numpy(zero_copy_only=False)
        if "seq" in columns:
            self.counted &= "seq" in read and not read["seq"].null_count
        read["seq"] = numbered(read.get("seq"), row, len(batch))
        if EXTRA in columns:
            read[EXTRA] = _extra(batch, self._others)
        schema = schema_of(columns)
        arrays = [read[field.name] if field.name in read else pa.nulls(len(batch), field.type) for field in schema]
        checked = pa.RecordBatch.from_arrays(arrays, schema=schema)
        own = strays[(strays >= row) & (strays < row + len(batch))] - row
        if not len(own) and not is_left_out.any() and not any(read[name].null_count for name in _NEEDED):
            return checked
        usable = pc.and_(*(pc.is_valid(read[name]) for name in _NEEDED)).to_numpy(zero_copy_only=False)
        lost = np.flatnonzero(~usable)
        self._tell(lost + row, Trouble.NO_TIME, "no time or no kind; the event is left out", "event", report)
        for at in own[usable[own]].tolist():
            report.add(
                self.file, row + at, told_stray(read["time"][at].as_py()), kind=Trouble.STRAY_TIME, part="stray time"
            )
        kept = usable & ~is_left_out
        kept[own] = False
        return checked.filter(pa.array(kept))

    def _column(self, given: pa.Array, field: Field, row: int, report: Pass) -> pa.Array:
        if given.null_count == len(given):
            return given if given.type == field.type else pa.nulls(len(given), field.type)
        try:
            column = _converted(given, field)
            if not is_whole(field) and not _is_sound(column):
                column.validate(full=True)  # texts may be invalid UTF-8
        except FAILURES as error:
            what = f"{field.name} of rows {row} to {row + len(given) - 1}: {error}; {done_about(field.name)}"
            report.add(self.file, row, what, kind=Trouble.IMPOSSIBLE, part=field.name)
            return pa.nulls(len(given), field.type)
        if is_whole(field):
            return self._whole(column, field, row, report)
        if field.name in WORDS:
            self._words(column, field, row, report)
        elif pa.types.is_list(field.type) and column.values.null_count and column.flatten().null_count:
            holes = pc.list_parent_indices(column).filter(pc.is_null(column.flatten())).unique().sort()
            places = holes.to_numpy(zero_copy_only=False)
            what = f"{field.name} has a null in it; it counts as not known"
            self._tell(places + row, Trouble.IMPOSSIBLE, what, field.name, report)
            return _without(column, places)
        return column

    def _whole(self, column: pa.Array, field: Field, row: int, report: Pass) -> pa.Array:
        low, high = SPANS[field.name]
        least, most = Column.of(column).span()
        if least < low or most > high:
            outside = pc.or_(pc.less(column, low), pc.greater(column, high)).fill_null(False)
            places = np.flatnonzero(outside.to_numpy(zero_copy_only=False))
            if len(places):
                what = f"{field.name} is not from {low} to {high}; {done_about(field.name)}"
                self._tell(places + row, Trouble.IMPOSSIBLE, what, field.name, report)
                column = _without(column, places)
        return column if column.type == field.type else column.cast(field.type)

    def _words(self, column: pa.DictionaryArray, field: Field, row: int, report: Pass) -> None:
        words = column.dictionary.to_pylist()
        for code, word in enumerate(words):
            if word is not None and word not in WORDS[field.name]:
                places = np.flatnonzero(pc.equal(column.indices, code).fill_null(False).to_numpy(zero_copy_only=False))
                what = f"{field.name} is {ascii(word)[:60]}, which this version does not know"
                self._tell(places + row, Trouble.UNKNOWN_WORD, what, field.name, report)

    def _tell(self, rows: Any, kind: Trouble, what: str, part: str, report: Pass) -> None:
        """One problem for each row; beyond the number that is kept, they are only counted."""
        for row in rows[:KEPT].tolist():
            report.add(self.file, row, what, kind=kind, part=part)
        if len(rows) > KEPT:
            report.add(self.file, int(rows[KEPT]), what, kind=kind, part=part, times=len(rows) - KEPT)


def _leaps(batch: pa.RecordBatch) -> bool:
    """Whether neighbours in a batch may be far apart: it has strays only then, and most row groups need not be
    looked through.
    """
    given = batch.column("time") if len(batch) > 1 and "time" in batch.schema.names else None
    if given is None or given.null_count or given.type != BY_NAME["time"].type:
        return True
    steps = np.diff(Column.of(given).values)
    return bool(steps.min() < -FAR or steps.max() > FAR)


def times_of(table: pa.Table) -> tuple[Any, Any]:
    """The times of rows, ms, and the rows that have one, numbered from 0.

    Raises:
        one of :data:`FAILURES`: the column has no times.
    """
    column = _converted(table.column("time").combine_chunks(), BY_NAME["time"])
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks)
    low, high = SPANS["time"]
    times = Column.of(column).filled(low - 1, np.int64)
    known = np.flatnonzero((times >= low) & (times <= high))
    return times[known], known


def _time_range(metadata: Mapping[bytes, bytes]) -> tuple[int, int] | None:
    """Earliest and latest time, if the writer of the file has stored them.

    The statistics of Parquet are not used: reading damaged ones crashes the process.
    """
    try:
        first, last = map(int, metadata[TIMES_KEY.encode()].split())
    except (KeyError, ValueError):
        return None
    return first, last


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        return _is_text(type_.value_type)
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def _fits(type_: pa.DataType, field: Field) -> bool:
    """Whether values of a type are acceptable for the field."""
    if is_whole(field):
        stamp = field.name in ("time", "due") and pa.types.is_timestamp(type_)
        return bool(stamp or pa.types.is_integer(type_) or (pa.types.is_null(type_) and field.name != "time"))
    if pa.types.is_null(type_):
        return field.name != "kind"
    if pa.types.is_list(field.type):
        lists = pa.types.is_list(type_) or pa.types.is_large_list(type_)
        return bool(lists and _is_text(type_.value_type))
    return _is_text(type_)


def _converted(column: pa.Array, field: Field) -> pa.Array:
    """The column with the type of the field; whole numbers of other types as 64-bit integers, to be checked."""
    if column.type == field.type:
        return column
    if is_whole(field):
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False)
        return column.cast(pa.int64())
    if pa.types.is_dictionary(field.type):
        if pa.types.is_dictionary(column.type):
            return column.cast(field.type)
        return column.cast(pa.string()).dictionary_encode()
    return column.cast(field.type)


def _is_sound(column: pa.Array) -> bool:
    """Whether a column of words is valid, by a quick test; False if only a closer check can decide."""
    if not pa.types.is_dictionary(column.type):
        return False
    column.dictionary.validate(full=True)
    least, most = Column.of(column.indices).span()
    return least >= 0 and most < len(column.dictionary)


def _without(column: pa.Array, places: Any) -> pa.Array:
    """The column with nulls at some positions."""
    mask = np.zeros(len(column), bool)
    mask[places] = True
    return pc.if_else(pa.array(mask), pa.scalar(None, column.type), column)


def _extra(batch: pa.RecordBatch, names: Sequence[str]) -> pa.Array:
    """The content of other columns, as the text of a JSON object; a column of such texts is used as it is."""
    if list(names) == [EXTRA] and _is_text(batch.schema.field(EXTRA).type):
        return batch.column(EXTRA).cast(pa.string())
    if not names:
        return pa.nulls(len(batch), pa.string())
    texts: list[str | None] = []
    for row in batch.select(list(names)).to_pylist():
        members = {name: value for name, value in row.items() if value is not None}
        inner = members.pop(EXTRA, None)
        try:
            inside = read_json(inner) if isinstance(inner, str) else None
        except ValueError:
            inside = None
        if isinstance(inside, dict):
            members = {**inside, **members}
        elif inner is not None:
            members[EXTRA] = inner
        texts.append(json.dumps(members, default=str, separators=(",", ":")) if members else None)
    return pa.array(texts, pa.string())
