"""The interface of a file of a trace, whatever its form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ..clocks.clocks import Clocks
from ..format.header import Stated
from ..format.schema import ARROW
from .events import EXTRA


class Source(Protocol):
    """One file, or a series of files that an importer reads as one."""

    file: str  # its name, as given
    files: tuple[str, ...]  # names of the files of which it is made
    stated: Stated  # its header
    rows: int | None  # number of events; None if it is known only after reading
    time_range: tuple[int, int] | None  # time of its earliest and latest event in ms; None if known only after reading
    skipped: Counter[str]  # how much of it is neither an event nor damage, by what it is; complete after one reading
    clocks: Clocks | None  # the clocks by which its times are already corrected; None if they are as recorded
    counted: bool  # whether ``seq`` comes from its recorder, and is not the position in the file; known after a reading

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """The events in the order of the file, with ``seq`` filled in. Columns are of the schema, or :data:`EXTRA`."""


def schema_of(columns: Sequence[str]) -> pa.Schema:
    """The columns with their types, as in batches."""
    return pa.schema([pa.field(EXTRA, pa.string()) if name == EXTRA else ARROW.field(name) for name in columns])


def numbered(seq: pa.Array | None, first: int, rows: int) -> pa.Array:
    """The column ``seq``, with the position of the event in the file if it is null or missing."""
    if seq is not None and not seq.null_count:
        return seq
    places = pa.arange(first, first + rows)
    return places if seq is None or seq.null_count == len(seq) else pc.coalesce(seq, places)


def cut(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """The batch in pieces of at most ``rows`` events."""
    for start in range(0, len(batch), rows):
        yield batch.slice(start, rows)
