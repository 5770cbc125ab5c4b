"""Ingesting: files of recordings become batches of the trace table, each file once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ...traces.errors import TraceError
from ...traces.format.problems import Problem, Problems, Trouble
from ...traces.format.schema import is_text
from ...traces.io import Trace, open_trace
from ...traces.io.addresses import is_address, local_path, store_of
from ...traces.io.imported import ImportedTrace
from ...traces.io.lost import holes_of
from ...traces.io.open import NothingToReadError, files_of
from ...traces.io.source import Source as Opened
from ...traces.recorders.captured import CapturedTrace
from ..session import failures
from .batch_tables import write_tables
from .fetching import fetching
from .manifest import Batch, File, Source, batch_as_json
from .pieces import Work, Written, only_pieces, store_pieces
from .recording import Live, live_of
from .seen import Seen
from .table import BATCH, LONGEST, Table, by_size, digest_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_BYTES = 4 << 30
"""Approximate number of bytes of files that are published together: published batches stay if the rest is
interrupted.
"""


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """The result of ingesting.

    Attributes:
        batches: names of the published batches; empty if there was nothing new.
        files: number of files read; ``known``: number of those that were there already.
        events: number of events added.
        problems: problems with the files.
        left_out: files that are not recordings, each with the reason.
        skipped: what was neither event nor damage.
        replaced: files that had grown.
    """

    batches: tuple[str, ...] = ()
    files: int = 0
    known: int = 0
    events: int = 0
    problems: Problems = field(default_factory=Problems)
    left_out: tuple[str, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    replaced: tuple[str, ...] = ()


def ingest(
    spark: SparkSession,
    paths: Sequence[Path | str],
    table: Table,
    *,
    cluster: str = "default",
    options: Mapping[str, str] | None = None,
    strict: bool = False,
    batch_bytes: int = BATCH_BYTES,
) -> Ingested:
    """Add recordings to a table: files that are there already add nothing, whatever their present names are.

    A file that has grown since replaces its earlier content. Files that are read together, such as those of agents or a
    log and its earlier parts, are read together again if one of them is new.

    Args:
        spark: the session whose tasks read and write; files and table must have the same names on all machines.
        paths: files and folders, by their paths or as ``file:///…``, or by addresses of stores for which Spark is
            configured.
        table: the target.
        cluster: a name for the recorded cluster; each cluster is a recording of its own.
        options: options of importers.
        strict: make the first problem an error.
        batch_bytes: approximate number of bytes of files that are published together.

    Raises:
        TraceError: nothing can be read, the table cannot be written, or another process is writing to it.
    """
    if not cluster or not is_text(cluster) or len(quote(cluster, safe="")) > LONGEST:
        raise TraceError(f"a cluster is called {ascii(cluster)[:60]}; a name of 1 to {LONGEST} letters is needed.")
    stored = [str(path) for path in paths if is_address(path)]
    own = [_absolute(path) for path in paths if not is_address(path)]
    files_of(own)
    with table.alone(BATCH), ExitStack() as stack:
        live = live_of(table).get(cluster, Live(cluster=cluster))
        seen = Seen(live)
        copies, unchanged = list[Path](), 0
        if stored:
            copies, unchanged = stack.enter_context(fetching(spark, stored, table.folder, seen.knows))
        named = [*own, *copies]
        if not named:
            return Ingested(known=unchanged)
        given = files_of(named)
        found = {path: file for path in given if (file := seen.look(path)) is not None}
        fresh = [path for path in given if path not in found or not seen.has(found[path])]
        if not fresh:
            return Ingested(known=len(given) + unchanged)
        passed_over = seen.passed_over(found)
        try:
            trace = open_trace(named, strict=strict, options=options, passed_over=passed_over)
        except NothingToReadError as error:
            if not live.sources:
                raise
            trace = Trace([], error.wrong, left_out=error.left_out)
        return _Ingesting(spark, table, cluster, seen, found, trace, batch_bytes).run(
            known=len(given) - len(fresh) + unchanged
        )


def _absolute(path: Path | str) -> Path | str:
    return local_path(path).absolute() if str(path) and not store_of(path) else path


class _Ingesting:
    """New files on their way into the table."""

    def __init__(
        self,
        spark: SparkSession,
        table: Table,
        cluster: str,
        seen: Seen,
        found: Mapping[Path, File],
        trace: Trace,
        batch_bytes: int,
    ) -> None:
        self._spark, self._table, self._cluster, self._seen = spark, table, cluster, seen
        self._found, self._trace, self._batch_bytes = found, trace, batch_bytes
        own = [self._files(source) for source in trace.sources]
        self._new = [
            (number, files)
            for number, files in enumerate(own)
            if not all(seen.has(file) and file.path in seen.live.paths for file in files)
        ]
        self._read = {file.path for _, files in self._new for file in files}

    def run(self, *, known: int) -> Ingested:
        """Read and publish, batch after batch."""
        told, sources, batches = Problems(), list[Source](), list[str]()
        own_names = {name for source in self._trace.sources for name in _names(source)}
        others = self._trace.problems.where(lambda one: _of_files(one) and one.file not in own_names)
        kept = Counter(one.kind for one in self._trace.problems.kept)
        for kind, count in (self._trace.problems.by_kind - kept).items():  # problems without a place
            others.by_kind[kind] += count
            others.count += count
        passed = [
            file for path, file in self._found.items() if file.path not in self._read and not self._seen.has(file)
        ]
        if not (self._new or passed or self._seen.tells_more(others)):
            return Ingested(known=known, problems=others, left_out=self._trace.left_out)
        for last, chunk in self._chunks():
            name = self._table.next_name(BATCH)
            with self._table.publishing(name) as folder:
                stored = self._store(chunk, folder)
                batch = Batch(
                    cluster=self._cluster,
                    sources=stored,
                    problems=others if last else Problems(),
                    holes=holes_of(others, []) if last else (),
                    left_out=self._trace.left_out if last else (),
                    passed=passed if last else (),
                )
                self._table.write_manifest(folder, batch_as_json(batch))
                write_tables(folder, batch)
            sources += stored
            batches.append(name)
        for source in sources:
            told.join(source.problems)
        told.join(others)
        skipped: Counter[str] = Counter()
        for source in sources:
            skipped.update(source.skipped)
        return Ingested(
            batches=tuple(batches),
            files=sum(len(source.files) for source in sources),
            known=known,
            events=sum(source.rows for source in sources),
            problems=told,
            left_out=self._trace.left_out,
            skipped=skipped,
            replaced=tuple(source.file for source in sources if source.replaces),
        )

    def _files(self, source: Opened) -> list[File]:
        return [self._found[path] for path in _paths(source) if path in self._found]

    def _chunks(self) -> Iterator[tuple[bool, list[tuple[int, list[File]]]]]:
        """New sources in batches, and whether it is the last one; one batch without sources if only problems are
        new.
        """
        chunks = list(by_size(self._new, lambda new: sum(f.size for f in new[1]), most=self._batch_bytes)) or [[]]
        return ((number == len(chunks), chunk) for number, chunk in enumerate(chunks, 1))

    def _store(self, chunk: Sequence[tuple[int, list[File]]], folder: Path) -> list[Source]:
        """Let tasks write the pieces of some sources."""
        wanted = {number for number, _ in chunk}
        splits = [split for split in self._trace.splits() if split.file in wanted]
        work = [Work(split=split, name=f"{at:05}", folder=folder, cluster=self._cluster)
                for at, split in enumerate(splits)]  # fmt: skip
        written: list[Written] = []
        if work:
            with failures():
                written = list(self._spark.sparkContext.parallelize(work, len(work)).map(store_pieces).collect())
        only_pieces(folder, {piece.path for one in written for piece in one.pieces})
        stored = []
        for number, files in chunk:
            own = [one for split, one in zip(splits, written, strict=True) if split.file == number]
            stored.append(self._stored(self._trace.sources[number], files, own))
        return stored

    def _stored(self, source: Opened, files: Sequence[File], written: Sequence[Written]) -> Source:
        names = _names(source)
        problems = self._trace.problems.where(lambda one: _of_files(one) and one.file in names)
        problems.strict = self._trace.problems.strict
        skipped = Counter(source.skipped)
        for one in written:
            problems.join(one.problems)
            skipped = one.skipped or skipped
        return Source(
            id=digest_of(*(part for file in files for part in (file.path, file.content))),
            file=source.file,
            files=files,
            joined=isinstance(source, CapturedTrace)
            or (isinstance(source, ImportedTrace) and source.importer.reads_series),
            stated=replace(source.stated, file=source.file),
            parts=[one.pieces for one in written],
            counted=all(one.counted for one in written),
            skipped=skipped,
            clocks=source.clocks,
            problems=problems,
            holes=holes_of(problems, [source]),
            replaces=[one.id for one in self._seen.replaced_by(files)],
            at=time.time_ns() // 1_000_000,
        )


def _paths(source: Opened) -> list[Path]:
    if isinstance(source, ImportedTrace):
        return list(source.paths)
    return [Path(file) for file in source.files]


def _names(source: Opened) -> set[str]:
    return {source.file, *source.files, *map(str, _paths(source))}


def _of_files(problem: Problem) -> bool:
    """Whether it is a problem of a file; disagreements of headers are found anew in each reading of the table."""
    return problem.kind is not Trouble.DISAGREE
