"""Splits: the parts of a trace that can be read independently of each other, for example by the tasks of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..clocks.clocks import Clocks
from ..clocks.correction import corrected
from ..format.problems import KEPT, Problems, Trouble
from ..recorders.beside import Beside, ByOthers
from ..recorders.repeated import Repeated
from .events import ROWS
from .imported import ImportedTrace
from .jsonl import JsonLines
from .parquet import ParquetTrace
from .source import Source
from .stored import Between, Stored

SPLIT_ROWS = 1 << 20
"""Approximate number of events up to which row groups of a Parquet file are combined."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """A part of a trace.

    Attributes:
        opens: opens it, in any process; problems with the file as a whole are added to the given ones.
        paths: files; several for an importer that reads a series as one, or for a recording in a table.
        file: its position among the files of the trace, by which events with equal times are ordered.
        groups: row groups of a Parquet file, or undamaged pieces of a recording in a table: the first one, and the one
            after the last; None for the whole file.
        by_columns: whether a reading of it checks only the columns that are asked for.
        clocks: the clocks by which its times are corrected as they are read; None: they stay as they are.
        source: the opened source, which is not sent along with the split to other processes.
    """

    opens: Callable[[Problems], Source] = field(compare=False, repr=False)
    paths: tuple[str, ...]
    file: int
    groups: tuple[int, int] | None = None
    by_columns: bool = False
    clocks: Clocks | None = None
    source: Source | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "source": None}

    def note_skipped(self, skipped: Counter[str]) -> None:
        """Add to the trace what a reading elsewhere found to be neither an event nor damage in an imported file."""
        if self.source is not None:
            self.source.skipped = self.source.skipped + skipped if self.by_columns else skipped


def splits_of(sources: Sequence[Source], clocks: Clocks | None = None) -> list[Split]:
    """The parts of a trace in the order of reading: row groups of Parquet files, and other files as a whole.

    ``clocks``: the clocks by which times are corrected as they are read.
    """
    found: list[Split] = []
    for file, reader in enumerate(sources):
        source, others = (reader.source, reader.others) if isinstance(reader, Beside) else (reader, None)
        first = len(found)
        if isinstance(source, ParquetTrace):
            for groups in _shares(source):
                opens = partial(ParquetTrace, source.path, groups=range(*groups))
                found.append(Split(opens=opens, paths=(source.file,), file=file, groups=groups, by_columns=True))
        elif isinstance(source, Stored):
            for part in source.parts:
                groups_ = (0, len(part)) if source.sound else None
                opens_ = partial(_stored, tuple(part), source.counted, source.between)
                found.append(Split(opens=opens_, paths=tuple(part), file=file, groups=groups_))
        elif isinstance(source, JsonLines):
            found.append(Split(opens=partial(JsonLines, source.path), paths=(source.file,), file=file))
        elif isinstance(source, ImportedTrace):
            of_series = partial(ImportedTrace, source.importer, source.paths)
            found.append(Split(opens=of_series, paths=tuple(map(str, source.paths)), file=file, source=source))
        if others is not None:
            found[first:] = [
                replace(split, opens=partial(_beside, split.opens, others), source=reader) for split in found[first:]
            ]
    return [replace(split, clocks=clocks) for split in found]


def _stored(part: Sequence[str], counted: bool, between: Between, problems: Problems) -> Stored:
    return Stored(parts=[part], counted=counted, between=between)


def _beside(opens: Callable[[Problems], Source], others: ByOthers, problems: Problems) -> Beside:
    return Beside(opens(problems), others)


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
    """Reads a split."""

    def __init__(self, split: Split, *, told: Told | None) -> None:
        # problems with the events; problems with a file as a whole were reported when it was opened
        self.problems = _Fresh(told, by_columns=split.by_columns)
        self.told = self.problems.seen  # what this reader has reported of a Parquet file
        # how much of an imported file is neither an event nor damage; known after a reading
        self.skipped: Counter[str] = Counter()
        self.repeated = 0  # number of events that distinct has dropped; known after a reading
        self.counted = True  # whether ``seq`` comes from its recorder; known after a reading
        self._split = split

    def batches(self, columns: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """The events of the split, as :meth:`~.trace.Trace.batches` returns them."""
        source = self._split.opens(self.problems)
        self.problems.listening = True
        read, clocks = partial(source.batches, rows=rows), self._split.clocks
        for batch in read(columns) if clocks is None else corrected(clocks, read, columns):
            self.counted = source.counted
            yield batch
        if isinstance(source, ImportedTrace | Beside):
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
