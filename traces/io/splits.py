"""Splits: the parts of a trace that can be read independently of each other, for example by the tasks of a cluster."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..clocks.clocks import Clocks
from ..clocks.correction import corrected
from ..format.problems import KEPT, Problems, Trouble
from ..recorders.beside import Beside, ByOthers
from ..recorders.repeated import Repeated
from . import importers
from .events import ROWS
from .imported import ImportedTrace
from .jsonl import JsonLines
from .parquet import ParquetTrace
from .source import Source
from .stored import Stored

PARQUET, JSONL, STORED = "parquet", "jsonl", "stored"
"""Forms besides those of importers."""

Options = tuple[tuple[str, str], ...]

_COUNTED, _BETWEEN = "counted", "between"

SPLIT_ROWS = 1 << 20
"""Approximate number of events up to which row groups of a Parquet file are combined."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """A part of a trace.

    Attributes:
        format: ``parquet``, ``jsonl``, ``stored``, or the name of an importer.
        paths: files; several for an importer that reads a series as one, or for a recording in a table.
        file: its position among the files of the trace, by which events with equal times are ordered.
        groups: row groups of a Parquet file, or undamaged pieces of a recording in a table: the first one, and the one
            after the last; None for the whole file.
        options: options of the importer, as names and values; for a recording in a table, whether ``seq`` was counted,
            and the times between which it is read.
        clocks: the clocks by which its times are corrected as they are read; None: they stay as they are.
        others: sources whose events are left out here, as they report them too; None: nothing is left out.
        source: the opened source, which is not sent along with the split to other processes.
    """

    format: str
    paths: tuple[str, ...]
    file: int
    groups: tuple[int, int] | None = None
    options: Options = ()
    clocks: Clocks | None = None
    others: ByOthers | None = None
    source: Source | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None}

    def note_skipped(self, skipped: Counter[str]) -> None:
        """Add to the trace what a reading elsewhere found to be neither an event nor damage in an imported file."""
        if self.format == PARQUET and self.source is not None:
            self.source.skipped = self.source.skipped + skipped
        elif self.source is not None:
            self.source.skipped = skipped


def splits_of(sources: Sequence[Source], clocks: Clocks | None = None) -> list[Split]:
    """The parts of a trace in the order of reading: row groups of Parquet files, and other files as a whole.

    ``clocks``: the clocks by which times are corrected as they are read.
    """
    found: list[Split] = []
    for file, reader in enumerate(sources):
        source, others = (reader.source, reader.others) if isinstance(reader, Beside) else (reader, None)
        first = len(found)
        if isinstance(source, ParquetTrace):
            path = (str(source.path),)
            found += [Split(format=PARQUET, paths=path, file=file, groups=groups) for groups in _shares(source)]
        elif isinstance(source, Stored):
            for part in source.parts:
                groups = (0, len(part)) if source.sound else None
                options: Options = ((_COUNTED, ""),) if source.counted else ()
                options += ((_BETWEEN, json.dumps(source.between)),) if source.between != (None, None) else ()
                found.append(Split(format=STORED, paths=tuple(part), file=file, groups=groups, options=options))
        elif isinstance(source, JsonLines):
            found.append(Split(format=JSONL, paths=(str(source.path),), file=file))
        elif isinstance(source, ImportedTrace):
            format, paths = source.importer.name, tuple(map(str, source.paths))
            given = tuple(item for item in sorted(source.importer.options.items()) if item[1] is not None)
            found.append(Split(format=format, paths=paths, file=file, options=given, source=source))
        if others is not None:
            found[first:] = [replace(split, others=others, source=reader) for split in found[first:]]
    return [replace(split, clocks=clocks) for split in found]


def _shares(source: ParquetTrace) -> Iterator[tuple[int, int]]:
    """Consecutive row groups, together about SPLIT_ROWS events."""
    metadata = pq.read_metadata(source.path)
    first, rows = source.groups.start, 0
    for group in source.groups:
        more = metadata.row_group(group).num_rows
        if rows and rows + more > SPLIT_ROWS:
            yield first, group
            first, rows = group, 0
        rows += more
    if first < source.groups.stop:
        yield first, source.groups.stop


Told = Counter[tuple[int, str, Trouble]]
"""Problems that were reported: line, description and kind of each, and how often."""


class SplitReader:
    """Reads a split.

    Attributes:
        problems: problems with the events; problems with a file as a whole were reported when it was opened.
        told: what this reader has reported of a Parquet file.
        skipped: how much of an imported file is neither an event nor damage; known after a reading.
        repeated: number of events that :meth:`distinct` has dropped; known after a reading.
        counted: whether ``seq`` comes from its recorder; known after a reading.
    """

    def __init__(self, split: Split, *, told: Told | None) -> None:
        self.problems = _Fresh(told, by_columns=split.format == PARQUET)
        self.told = self.problems.seen
        self.skipped: Counter[str] = Counter()
        self.repeated = 0
        self.counted = True
        self._split = split

    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """The events of the split, as :meth:`~.trace.Trace.batches` returns them."""
        opened = self._open()
        source = opened if self._split.others is None else Beside(opened, self._split.others)
        self.problems.listening = True
        read, clocks = partial(source.batches, rows=rows), self._split.clocks
        for batch in read(columns) if clocks is None else corrected(clocks, read, columns):
            self.counted = source.counted
            yield batch
        if isinstance(opened, ImportedTrace) or source is not opened:
            self.skipped = source.skipped

    def distinct(
        self, columns: Sequence[str], *, rows: int = ROWS, again: Any | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The same without repeated events, with the given columns and ``seq``.

        Args:
            columns: columns of the schema, including ``time``.
            rows: maximum number of events in a batch.
            again: numbers of the repeated events, from 0, sorted; None: adjacent repetitions are dropped.
        """
        beside, read = Repeated(thorough=False), 0
        for batch in self.batches(tuple(dict.fromkeys((*columns, "seq"))), rows=rows):
            if again is None:
                yield beside.drop(batch, self.counted)
                self.repeated = beside.count
                continue
            first, after = np.searchsorted(again, (read, read + len(batch)))
            kept = np.ones(len(batch), np.bool_)
            kept[again[first:after] - read] = False
            read += len(batch)
            self.repeated += int(after - first)
            yield batch.filter(pa.array(kept)) if first < after else batch

    def _open(self) -> Source:
        if self._split.format == STORED:
            said = dict(self._split.options)
            since, until = json.loads(said.get(_BETWEEN, "[null, null]"))
            return Stored(parts=[self._split.paths], counted=_COUNTED in said, between=(since, until))
        paths = [Path(path) for path in self._split.paths]
        if self._split.groups is not None:
            return ParquetTrace(paths[0], self.problems, groups=range(*self._split.groups))
        if self._split.format == JSONL:
            return JsonLines(paths[0], self.problems)
        return ImportedTrace(importers.importer(self._split.format, **dict(self._split.options)), paths, self.problems)


def read_split(split: Split, *, told: Told | None = None) -> SplitReader:
    """A reader of a split; ``told`` is what an earlier reader has reported."""
    return SplitReader(split, told=told)


@dataclass(kw_only=True)
class _Part:
    """A problem of a part of a file, such as a column, that occurs ``times`` times, first at ``line``."""

    file: str
    line: int
    what: str
    kind: Trouble
    part: str
    times: int


class _Fresh(Problems):
    """Collects problems reported after the opening, except those that an earlier reading has reported: of other
    columns, or of everything if every reading reads everything.

    Attributes:
        parts: the reported problems, for :meth:`again`; for each part and kind the first KEPT, the last of which stands
            for all others.
    """

    def __init__(self, told: Told | None, *, by_columns: bool) -> None:
        super().__init__()
        self.listening = False
        self.told, self.seen = told, Told()
        self.parts: list[_Part] = []
        self._by_columns = by_columns
        self._latest: dict[tuple[str, Trouble], list[_Part]] = {}

    def add(
        self, file: str, line: int, what: str, *, kind: Trouble = Trouble.DAMAGED, part: str = "", times: int = 1
    ) -> None:
        if not self.listening:
            return
        fresh = times if self.told is None else 0
        if self._by_columns:
            # A row group that cannot be decoded may break off elsewhere when other columns are read.
            key = (0, "", kind) if kind is Trouble.UNREADABLE else (line, what, kind)
            self.seen[key] += times
            fresh = min(self.seen[key] - (self.told or Told())[key], times)
        if fresh > 0:
            super().add(file, line, what, kind=kind, times=fresh)
            self._keep(_Part(file=file, line=line, what=what, kind=kind, part=part, times=fresh))

    def again(self, report: Problems) -> None:
        """Report all of it again.

        Raises:
            TraceError: there is a problem, and ``report`` is strict.
        """
        for one in self.parts:
            report.add(one.file, one.line, one.what, kind=one.kind, part=one.part, times=one.times)

    def _keep(self, one: _Part) -> None:
        known = self._latest.setdefault((one.part, one.kind), [])
        if len(known) < KEPT:
            known.append(one)
            self.parts.append(one)
        else:
            known[-1].times += one.times
