"""Writing traces: JSONL for people, Parquet for scale. A file gets its name only when it is complete."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..clocks.as_json import MEMBER, clocks_as_json
from ..errors import TraceError
from ..format.header import header_json
from ..format.schema import ARROW, FIELDS, HEADER_KEY, Header
from .events import EXTRA
from .json_text import read_json
from .parquet import TIMES_KEY
from .trace import Trace
from .whole_file import partial_name

ROW_GROUP = 1 << 19
"""Number of events in a row group of a Parquet file."""

ROWS_OF_A_PAGE = 1 << 20
"""Maximum number of rows in a page, which is limited in bytes anyway: what a reader does anew for each page of a column
takes a seventh to a quarter of its time if pages have the usual 20,000.
"""

_WORDS = [field.name for field in FIELDS if pa.types.is_dictionary(field.type)]
_WHOLE = [field.name for field in FIELDS if pa.types.is_integer(field.type)]
# Differences of neighbours take a fifth of the space of the numbers, and are read faster. Origins, being hashes, are
# stored as they are. The rest is compressed with LZ4: zstd would save a fifth of the space, but take longer to read.
_ENCODING = {name: "PLAIN" if name == "origin" else "DELTA_BINARY_PACKED" for name in _WHOLE}
_PACKING = {".gz": "gzip", ".zst": "zstd"}


class TraceWriter(ABC):
    """Writes events to a file, batch after batch; any number of them in bounded memory.

    Used as a context manager, it removes the file if an exception ends the block.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)  # path of the file, which exists once it is complete
        self.rows = 0  # number of events written
        self._partial = _partial(self.path)

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Add events. Columns that a batch does not have are null."""

    def close(self, *, complete: bool = True) -> None:
        """Complete the file, which exists after this; or give up, and remove it."""
        try:
            try:
                if complete:
                    self._finish()
            finally:
                self._release()
        except BaseException:
            complete = False
            raise
        finally:
            if complete:
                os.replace(self._partial, self.path)
            else:
                self._partial.unlink(missing_ok=True)

    def _finish(self) -> None:  # noqa: B027 -- nothing, unless a form needs it
        """Write what is still to be written."""

    @abstractmethod
    def _release(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close(complete=kind is None)


class ParquetWriter(TraceWriter):
    """Writes events to a Parquet file."""

    def __init__(
        self, path: Path | str, header: Header, *, extra: bool = False, rows_in_group: int = ROW_GROUP
    ) -> None:
        """Begin the file.

        Args:
            path: path of the file; its folder is made if necessary.
            header: header of the trace.
            extra: whether batches have the column ``extra``, to be kept.
            rows_in_group: events in a row group. Smaller groups need less memory, but more space on disk.

        Raises:
            TraceError: the file cannot be written.
        """
        super().__init__(path)
        self._rows_in_group = rows_in_group
        self._held: list[pa.RecordBatch] = []
        self._held_rows = 0
        self._times: list[int] = []
        fields = [*ARROW, pa.field(EXTRA, pa.string())] if extra else list(ARROW)
        self._schema = pa.schema(fields, metadata={HEADER_KEY: json.dumps(header_json(header))})
        self._writer = pq.ParquetWriter(
            self._partial,
            self._schema,
            compression="lz4",
            use_dictionary=_WORDS,
            column_encoding=_ENCODING,
            write_page_checksum=True,
            max_rows_per_page=ROWS_OF_A_PAGE,
        )

    def write(self, batch: pa.RecordBatch) -> None:
        """Add events. Columns that the batch lacks are null; columns that the schema lacks are left out."""
        batch = conformed(batch, self._schema)
        while len(batch):
            room = self._rows_in_group - self._held_rows
            self._held.append(batch.slice(0, room))
            self._held_rows += len(self._held[-1])
            batch = batch.slice(room)
            if self._held_rows == self._rows_in_group:
                self._flush()

    def _finish(self) -> None:
        self._flush()
        if self._times:
            self._writer.add_key_value_metadata({TIMES_KEY: f"{min(self._times)} {max(self._times)}"})

    def _release(self) -> None:
        self._writer.close()

    def _flush(self) -> None:
        if not self._held:
            return
        # Batches with dictionaries of their own would make the group fall back to plain texts.
        table = pa.Table.from_batches(self._held, schema=self._schema).unify_dictionaries()
        self._held, self._held_rows = [], 0
        ends = pc.min_max(table.column("time")).as_py()
        self._times += [end for end in ends.values() if end is not None]
        self._writer.write_table(table, row_group_size=self._rows_in_group)
        self.rows += len(table)


class JsonlWriter(TraceWriter):
    """Writes events as JSONL, compressed if the name ends in ``.gz`` or ``.zst``."""

    def __init__(self, path: Path | str, header: Header) -> None:
        """Begin the file.

        Raises:
            TraceError: the file cannot be written.
        """
        super().__init__(path)
        self._out = pa.output_stream(str(self._partial), compression=_PACKING.get(self.path.suffix))
        self._out.write(_line(header_json(header)))

    def write(self, some: pa.RecordBatch | Mapping[str, Any]) -> None:
        """Add a batch or a single event; null values are left out, and a column ``extra`` becomes its members."""
        if isinstance(some, pa.RecordBatch):
            self._out.write(_lines(some))
            self.rows += len(some)
        else:
            self._out.write(_line({name: value for name, value in some.items() if value is not None}))
            self.rows += 1

    def _release(self) -> None:
        self._out.close()


def write_jsonl(path: Path | str, header: Header, events: Iterable[pa.RecordBatch | Mapping[str, Any]]) -> int:
    """Write a trace as JSONL, see :class:`JsonlWriter`.

    Returns:
        How many events were written.

    Raises:
        TraceError: the file cannot be written.
    """
    with JsonlWriter(path, header) as writer:
        for some in events:
            writer.write(some)
    return writer.rows


def convert(trace: Trace, path: Path | str) -> int:
    """Write an opened trace as Parquet if the name ends in ``.parquet``, otherwise as JSONL.

    Members that the schema does not know are kept: in Parquet in the column ``extra``, as the text of a JSON object.
    Events without ``seq`` get it from their position. The header states by which clocks times were corrected.

    Returns:
        How many events were written.

    Raises:
        TraceError: there are no events, or the file cannot be written.
    """
    is_parquet = Path(path).suffix == ".parquet"
    header = trace.header
    if trace.clocks is not None:
        header = replace(header, extra={**header.extra, MEMBER: clocks_as_json(trace.clocks)})
    with ParquetWriter(path, header, extra=True) if is_parquet else JsonlWriter(path, header) as writer:
        for batch in trace.batches((*ARROW.names, EXTRA)):
            writer.write(batch)
    return writer.rows


def conformed(batch: pa.RecordBatch, schema: pa.Schema = ARROW) -> pa.RecordBatch:
    """The batch with the columns and types of a schema; missing columns are null.

    Raises:
        TraceError: a column has values that do not fit the schema.
    """
    columns = []
    for field in schema:
        if field.name not in batch.schema.names:
            columns.append(pa.nulls(len(batch), field.type))
            continue
        given = batch.column(field.name)
        try:
            columns.append(given if given.type == field.type else _cast(given, field.type))
        except pa.ArrowException as error:
            raise TraceError(f"column {field.name} is {given.type}, {field.type} is needed: {error}") from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: pa.Array, type_: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(type_) and not pa.types.is_dictionary(column.type):
        return column.cast(type_.value_type).dictionary_encode()
    return column.cast(type_)


def _lines(batch: pa.RecordBatch) -> bytes:
    """The events of a batch as lines of JSON, without null values."""
    members = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.null_count == len(column):
            continue
        texts = _json(column) if name != EXTRA else _inside(column)
        prefix = f"{json.dumps(name)}:" if name != EXTRA else ""
        members.append(pc.binary_join_element_wise(prefix, texts, ""))
    if not members:
        return b"{}\n" * len(batch)
    event = pc.binary_join_element_wise(*members, ",", null_handling="skip")
    return "".join(pc.binary_join_element_wise("{", event, "}\n", "").to_pylist()).encode()


def _json(column: pa.Array) -> pa.Array:
    """Each value as JSON."""
    if pa.types.is_integer(column.type):
        return column.cast(pa.string())
    if pa.types.is_dictionary(column.type):
        words = pa.array([_text(word) for word in column.dictionary.to_pylist()], pa.string())
        return words.take(column.indices)
    return pa.array([None if value is None else _text(value) for value in column.to_pylist()], pa.string())


def _inside(column: pa.Array) -> pa.Array:
    """JSON objects without their braces, with null for an object without members; other texts as a member ``extra``."""
    return pa.array([None if value is None else _members(value) for value in column.to_pylist()], pa.string())


def _members(text: str) -> str | None:
    try:
        value = read_json(text)
    except ValueError:
        value = text
    if not isinstance(value, dict):
        value = {EXTRA: text}
    return _text(value)[1:-1] or None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _line(value: Mapping[str, Any]) -> bytes:
    return _text(value).encode() + b"\n"


def _partial(path: Path) -> Path:
    """The temporary file that is written until it is complete, with its folder."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_name(path)
        partial.touch()
    except OSError as error:
        raise TraceError(f"{path}: cannot be written: {error.strerror or error}") from error
    return partial
