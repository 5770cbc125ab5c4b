"""A trace that has been opened: one file or many, read as one stream of events, as often as needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

import pyarrow as pa

from ..clocks.clocks import Clocks
from ..clocks.correction import corrected
from ..errors import TraceError, named
from ..format.coverage import Hole
from ..format.header import merge
from ..format.kinds import Kind
from ..format.problems import Problems
from ..format.schema import BY_NAME
from ..recorders.beside import Beside
from .events import EXTRA, ROWS
from .lost import holes_of
from .parquet import ParquetTrace
from .sorting import MEMORY, Ordered, in_order
from .source import Source
from .splits import Split, SplitReader, splits_of


class Trace:
    """An opened trace.

    Attributes:
        header: the merged header of all files.
        problems: the problems found so far; complete after one reading to the end. Reading again adds nothing twice.
        files: the files that are read, in their order.
        repeated: number of events dropped as repetitions, see :mod:`..recorders.repeated`; complete after one reading
            in the order of time.
        left_out: files of the given folders that are not traces, such as notes beside them.
        rows: number of events; None if it is known only after reading.
        time_range: time of the earliest and the latest event in ms; None if this is known only after reading.
        clocks: the clocks by which times are corrected as they are read; None if they are as recorded.
        sources: the opened files, in the order of ``files``.
        readers: the same with corrected times, and without events that better sources also report.
    """

    def __init__(self, sources: Sequence[Source], problems: Problems, *, left_out: Sequence[str] = ()) -> None:
        self._apart = tuple(sources)
        self.sources: tuple[Source, ...] = tuple(one.source if isinstance(one, Beside) else one for one in sources)
        in_time = [source.clocks for source in self.sources if source.clocks is not None and source.clocks.corrects]
        self.clocks: Clocks | None = in_time[0] if in_time else None
        self.readers: tuple[Source, ...] = self._apart
        self._ordered = [Ordered(source) for source in sources]
        self.header = merge([source.stated for source in sources], problems)
        self.problems = problems
        self.repeated: Counter[str] = Counter()
        self.files = tuple(file for source in sources for file in source.files)
        self.left_out = tuple(left_out)
        counts = [source.rows for source in sources]
        self.rows: int | None = None if None in counts else sum(count or 0 for count in counts)
        spans = [source.time_range for source in sources]
        known = [span for span in spans if span is not None]
        is_known = bool(known) and len(known) == len(spans)
        self.time_range = (min(first for first, _ in known), max(last for _, last in known)) if is_known else None

    def correct(self, clocks: Clocks) -> None:
        """From now on, return times corrected by these clocks."""
        self.clocks = clocks
        self.readers = tuple(_InTime(source, clocks) for source in self._apart)
        self._ordered = [Ordered(reader) for reader in self.readers]

    def places(self, file: int, events: Sequence[int]) -> list[int]:
        """Positions of events in a file, from 0, given their positions in the reading, from 0 and ascending."""
        source = self._apart[file]
        return source.places(events) if isinstance(source, Beside) else list(events)

    @property
    def evidence(self) -> list[frozenset[Kind]]:
        """What each file states that it records; empty if it does not state it."""
        return [source.stated.header.evidence for source in self.sources]

    @property
    def skipped(self) -> Counter[str]:
        """How much of the files is neither an event nor damage, by what it is; complete after one reading."""
        skipped: Counter[str] = Counter()
        for source in self._apart:
            skipped.update(source.skipped)
        return skipped + self.repeated

    def holes(self) -> list[Hole]:
        """What was lost in reading; complete after one reading to the end."""
        return holes_of(self.problems, self.sources)

    def splits(self) -> list[Split]:
        """The parts that :func:`~.splits.read_split` can read independently of each other, in the order of reading."""
        return splits_of(self._apart, self.clocks if self.readers is not self._apart else None)

    def read_elsewhere(self, readers: Iterable[tuple[Split, SplitReader]]) -> None:
        """Take over the problems that readers of Parquet splits have found, in their order, as if they were found
        here.

        Raises:
            TraceError: with ``strict``, if there are any.
        """
        reports: dict[int, Problems] = {}
        for split, reader in readers:
            source = self.sources[split.file]
            if isinstance(source, ParquetTrace):
                reader.problems.again(reports.setdefault(split.file, source.reading()))

    def batches(self, columns: Sequence[str] | None = None, *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """The events file by file, each in the order of its recorder.

        Args:
            columns: columns of the schema, in the desired order; all of them by default. :data:`~.events.EXTRA` is a
                further one, with the members that the schema does not know.
            rows: maximum number of events in a batch.

        Raises:
            TraceError: there is no such column, or there are no events at all, or with ``strict`` any problem.
        """
        chosen = _columns(columns)
        return self._some(batch for source in self.readers for batch in source.batches(chosen, rows=rows))

    def sorted_batches(
        self, columns: Sequence[str] | None = None, *, rows: int = ROWS, memory_bytes: int = MEMORY
    ) -> Iterator[pa.RecordBatch]:
        """The events in the order of time; for equal times by the order of files, then by ``seq``, then by position.

        Files that are in order are merged as they are read. Others are sorted in memory, or in pieces that are stored
        in a temporary folder.

        The arguments are those of :meth:`batches`; ``memory_bytes`` is what sorting may use.

        Raises:
            TraceError: as for :meth:`batches`.
        """
        chosen = _columns(columns)
        return self._some(in_order(self._ordered, chosen, rows=rows, memory_bytes=memory_bytes, repeated=self.repeated))

    def _some(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        empty = True
        for batch in batches:
            empty = False
            yield batch
        if empty:
            raise self.without_events()

    def events_of(
        self, processes: Collection[str], kinds: Collection[Kind], since: int, columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """A superset of the events of some kinds of some clients or brokers from a time on (ms), in the order of time:
        here all events.
        """
        return self.sorted_batches(columns)

    def without_events(self) -> TraceError:
        """The error to raise if there is nothing to check."""
        given = named(self.files)
        count = self.problems.count
        told = "One problem" if count == 1 else f"{count} problems, the first"
        detail = f" {told}: {self.problems.kept[0]}." if count else ""
        return TraceError(f"{given}: there are no events to check.{detail} Give a trace with at least one event.")


class _InTime:
    """A source whose times are corrected as they are read."""

    def __init__(self, source: Source, clocks: Clocks) -> None:
        self.file, self.files, self.stated = source.file, source.files, source.stated
        self.rows, self.skipped = source.rows, source.skipped
        self.clocks: Clocks | None = clocks
        self.time_range: tuple[int, int] | None = None
        self.counted = source.counted
        self._source, self._clocks = source, clocks

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """As for the source."""
        for batch in corrected(self._clocks, partial(self._source.batches, rows=rows), columns):
            self.counted = self._source.counted
            yield batch


def _columns(columns: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(BY_NAME) if columns is None else tuple(columns)
    for name in chosen:
        if name not in BY_NAME and name != EXTRA:
            raise TraceError(f"no column {name}; there are {', '.join(BY_NAME)} and {EXTRA}.")
    return chosen
