"""A recording that is stored in a table, as a source of events: its pieces put together in the order of its file.

Ingested events are stored by day and group. A piece holds some events of a part of a file, in their order, each with
its position in that part, so that putting the pieces together restores the file: anything found in the table is also
true of the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..clocks.clocks import Clocks
from ..errors import TraceError
from ..format.header import Stated
from ..format.schema import ARROW, Header
from .events import EXTRA
from .parquet import FAILURES
from .source import cut, schema_of

Between = tuple[int | None, int | None]
"""From the first time on, and before the second, ms; None: no bound."""

_TIME = "time"

PLACE = "place"
"""Column of a piece: number of events of the part that come before, from 0."""

PIECE = pa.schema([*ARROW, pa.field(EXTRA, pa.string()), pa.field(PLACE, pa.int64())])
"""Columns of a piece."""

_HELD = 1 << 16
"""Number of events of each piece that are held in memory while pieces are put together."""


@dataclass(kw_only=True)
class Stored:
    """A file, or a series that was read as one, in a table; see :class:`~.source.Source`.

    Attributes:
        parts: the pieces of each part that was read separately, in the order of the file; a part has pieces for all its
            days and groups.
        sound: whether its events were free of problems when they were ingested.
        between: only events from the first of these times on, and before the second, ms; None: no bound.
    """

    parts: Sequence[Sequence[str]]
    file: str = ""
    files: tuple[str, ...] = ()
    stated: Stated = field(default_factory=lambda: Stated(header=Header()))
    rows: int | None = None
    time_range: tuple[int, int] | None = None
    counted: bool = True
    clocks: Clocks | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    sound: bool = True
    between: Between = (None, None)

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """The events in the order of the file.

        Raises:
            TraceError: a piece cannot be read: it was published complete, so it was damaged later.
        """
        for part in self.parts:
            for batch in _together([_Piece(path, columns, self.between) for path in part], columns):
                yield from cut(batch, rows)


class _Piece:
    """A piece while it is read: the events in memory, and the position of the last of them."""

    def __init__(self, path: str, columns: Sequence[str], between: Between) -> None:
        self._path, self._columns, self._between = path, [*dict.fromkeys((*columns, PLACE))], between
        self._batches = self._read()
        self.held: pa.RecordBatch | None = None
        self.take_next()

    def take_next(self) -> None:
        """Load the next events; none at the end."""
        self.held = next(self._batches, None)

    @property
    def last(self) -> int:
        """Position of the last event in memory."""
        assert self.held is not None
        return int(self.held.column(PLACE)[-1].as_py())

    def until(self, place: int) -> pa.RecordBatch:
        """Remove and return the events in memory up to a position."""
        assert self.held is not None
        places = self.held.column(PLACE).to_numpy()
        stop = int(np.searchsorted(places, place, side="right"))
        given, self.held = self.held.slice(0, stop), self.held.slice(stop)
        if not len(self.held):
            self.take_next()
        return given

    def _read(self) -> Iterator[pa.RecordBatch]:
        try:
            with pq.ParquetFile(Path(self._path), page_checksum_verification=True) as opened:
                groups, columns = None, self._columns
                if self._between != (None, None):
                    groups, columns = list(_groups(opened.metadata, self._between)), [*dict.fromkeys((*columns, _TIME))]
                for batch in opened.iter_batches(_HELD, row_groups=groups, columns=columns, use_threads=False):
                    if groups is not None:
                        batch = batch.filter(_within(batch.column(_TIME), self._between))
                    if len(batch):
                        yield batch.select(self._columns)
        except FAILURES as error:
            raise TraceError(
                f"{self._path}: a published piece of the table cannot be read: {error}. Restore it, or take its batch "
                "away and ingest the files again."
            ) from None


def _groups(metadata: pq.FileMetaData, between: Between) -> Iterator[int]:
    """The row groups of a piece that have events between two times."""
    since, until = between
    at = metadata.schema.names.index(_TIME)
    for group in range(metadata.num_row_groups):
        told = metadata.row_group(group).column(at).statistics
        known = told is not None and told.has_min_max
        if not known or ((since is None or told.max >= since) and (until is None or told.min < until)):
            yield group


def _within(times: pa.Array, between: Between) -> pa.Array:
    since, until = between
    later = pc.greater_equal(times, -(2**63) if since is None else since)
    return later if until is None else pc.and_(later, pc.less(times, until))


def _together(pieces: Sequence[_Piece], columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    form = schema_of(columns)
    open_ = [piece for piece in pieces if piece.held is not None]
    while open_:
        place = min(piece.last for piece in open_)
        given = [batch for piece in open_ if len(batch := piece.until(place))]
        table = pa.Table.from_batches(given).unify_dictionaries().combine_chunks()
        if len(given) > 1:
            table = table.take(pc.sort_indices(table.column(PLACE)))
        for batch in table.select(list(columns)).cast(form).combine_chunks().to_batches():
            yield batch
        open_ = [piece for piece in open_ if piece.held is not None]
