"""Files of other forms as sources of events: the output of an importer becomes batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from ..clocks.clocks import Clocks
from ..errors import named
from ..format.header import Stated
from ..format.problems import Problems, Repeatable
from .events import EXTRA, batches_of
from .importers import protocol


class ImportedTrace:
    """A file, or a series of files, of another form as a source of events; see :class:`~.source.Source`."""

    rows: int | None = None
    counted = False
    time_range: tuple[int, int] | None = None

    def __init__(self, importer: protocol.Importer, paths: Sequence[Path], problems: Problems) -> None:
        self.file = named([str(path) for path in paths])
        self.files: tuple[str, ...] = (self.file,)
        # how much of it is neither an event nor damage, by what it is; known after the first reading
        self.skipped: Counter[str] = Counter()
        self.clocks: Clocks | None = None
        self.importer = importer  # the importer that reads it
        self.paths = tuple(paths)  # the file, or all files of a series
        self._problems = Repeatable(problems)
        self._first_report = self._problems.begin()
        self._first: protocol.Imported | None = importer.read_series(self.paths, self._first_report)
        members = ("source", "evidence", "groups", "complete", "delays", "release")
        self.stated = Stated(header=self._first.header, members=frozenset(members), file=self.file)

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """The events in the order of the importer; see :class:`~.source.Source`."""
        # The header came with the first reading, whose events have not been consumed yet.
        report, imported, self._first = self._first_report, self._first, None
        if imported is None:
            report = self._problems.begin()
            imported = self.importer.read_series(self.paths, report)
        for batch in batches_of(imported.events, report, file=self.file, rows=rows):
            yield batch.append_column(EXTRA, pa.nulls(len(batch), pa.string())).select(list(columns))
        self.skipped = imported.skipped
