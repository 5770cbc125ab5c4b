"""Ingesting: files of recordings become batches of the trace table, each file once."""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...traces.errors import TraceError
from ...traces.format.problems import Problems, Trouble
from ...traces.format.schema import ARROW, is_text
from ...traces.io import EXTRA, Split, Trace, open_trace, read_split
from ...traces.io.addresses import is_address, local_path, store_of
from ...traces.io.imported import ImportedTrace
from ...traces.io.importers.protocol import SeriesImporter
from ...traces.io.lost import holes_of
from ...traces.io.open import NothingToReadError, files_of
from ...traces.io.parquet import beside_a_trace
from ...traces.io.source import Source as Opened
from ...traces.io.stored import PIECE, PLACE
from ...traces.recorders.captured import CapturedTrace
from ..session import failures
from .fetching import Stored, fetching
from .manifest import Batch, File, Piece, Source, batch_as_json
from .recording import Live, live_of
from .table import BATCH, Table, digest_of, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH_BYTES = 4 << 30
"""Files of about so many bytes are published together: what was published stays if the rest is interrupted."""

NO_GROUP = "__HIVE_DEFAULT_PARTITION__"
"""The folder of events that name no group, as Spark and others call it."""

MORE_GROUPS = "~more"
"""The folder of further groups, where a part of a recording has more than MOST_FOLDERS of days and groups."""

MOST_FOLDERS = 500
"""Folders of a day and group that a task writes to."""

MOST_DAYS = 4_000
"""Days that the events of a part may be of; more of them are no recording."""

INGESTED = pa.schema(
    [
        pa.field("cluster", pa.string()),
        pa.field("source", pa.string()),
        pa.field("path", pa.string()),
        pa.field("content", pa.string()),
        pa.field("bytes", pa.int64()),
        pa.field("events", pa.int64()),
        pa.field("problems", pa.int64()),
        pa.field("replaces", pa.list_(pa.string())),
    ]
)
"""Columns of the table ``ingested``: a row for each file."""

SKIPPED = pa.schema(
    [
        pa.field("cluster", pa.string()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("kind", pa.string()),
        pa.field("what", pa.string()),
        pa.field("count", pa.int64()),
    ]
)
"""Columns of the table ``skipped``: what could not be used, or was passed over, and where."""

_DAY = 86_400_000
_LONGEST = 200
_PACKING = {"compression": "zstd", "compression_level": 1, "write_page_checksum": True}


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """What has come of ingesting.

    Attributes:
        batches: names of those that were published, empty if there was nothing new.
        files: how many files were read; ``known``: how many were there already.
        events: how many were added.
        problems: what was wrong.
        left_out: files that are no recordings, each with why.
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
    """Add recordings to a table: files that are there already add nothing, whatever they are called now.

    A file that has grown since replaces what was there of it. Files that are read together, such as those of agents or
    a log and its earlier parts, are read together again when one is new.

    Args:
        spark: whose tasks read and write; files and table must be there under the same names on all machines.
        paths: files and folders, by their paths or as ``file:///…``, or by addresses of stores that Spark is set up
            for.
        table: where to.
        cluster: a name for the cluster that was recorded; each is a recording of its own.
        options: of importers.
        strict: make the first problem an error.
        batch_bytes: files of about so many bytes are published together.

    Raises:
        TraceError: nothing can be read, the table cannot be written, or somebody else writes to it.
    """
    if not cluster or not is_text(cluster) or len(quote(cluster, safe="")) > _LONGEST:
        raise TraceError(f"a cluster is called {ascii(cluster)[:60]}; a name of 1 to {_LONGEST} letters is needed.")
    stored = [str(path) for path in paths if is_address(path)]
    own = [_absolute(path) for path in paths if not is_address(path)]
    files_of(own)
    with table.alone(BATCH), ExitStack() as stack:
        live = live_of(table).get(cluster, Live(cluster=cluster))
        seen = _Seen(live)
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


class _Seen:
    """The files that a table has."""

    def __init__(self, live: Live) -> None:
        self.live = live
        self._by_path: dict[str, list[File]] = {}
        self._contents: dict[str, str] = {}
        files = [file for source in live.sources for file in source.files] + list(live.passed)
        for file in files:
            self._by_path.setdefault(file.path, []).append(file)
            self._contents.setdefault(file.content, file.path)

    def look(self, path: Path) -> File | None:
        """A file as it is now; None if it cannot be read. One of the same size and date is not read again."""
        try:
            stat = path.stat()
            for known in self._by_path.get(str(path), ()):
                if (known.size, known.changed) == (stat.st_size, stat.st_mtime_ns):
                    return known
            content = content_of(path)
        except OSError:
            return None
        return File(path=str(path), size=stat.st_size, changed=stat.st_mtime_ns, content=content)

    def knows(self, stored: Stored) -> bool:
        """Whether a file of a store is there as it is now, and is not read together with others."""
        together = {file.path for source in self.live.sources if source.joined for file in source.files}
        same = any(
            (file.size, file.changed) == (stored.size, stored.changed)
            for file in self._by_path.get(str(stored.path), ())
        )
        return same and str(stored.path) not in together

    def has(self, file: File) -> bool:
        """Whether its content is in the table, under whatever name."""
        return file.content in self._contents and (file.size > 0 or file.path in self._by_path)

    def passed_over(self, found: Mapping[Path, File]) -> set[Path]:
        """Files that need not be looked at: those that are there, unless they may be read together with new ones."""
        together = {file.path for source in self.live.sources if source.joined for file in source.files}
        return {path for path, file in found.items() if self.has(file) and str(path) not in together}

    def tells_more(self, problems: Problems) -> bool:
        """Whether there are problems of files that the table does not know."""
        known = {(one.file, one.what) for one in self.live.problems.kept}
        return any((one.file, one.what) not in known for one in problems.kept)

    def replaced_by(self, source: Sequence[File]) -> list[Source]:
        """The recordings of which all files are among these now, or the beginnings of these.

        Raises:
            TraceError: one that was read together with some of these has files that are not given.
        """
        now = {file.path: file for file in source}
        found = []
        for one in self.live.sources:
            kept = [file for file in one.files if file.path in now and begins(now[file.path], file)]
            if len(kept) == len(one.files):
                found.append(one)
            elif kept and one.joined:
                missing = next(file for file in one.files if file not in kept)
                raise TraceError(
                    f"{missing.path} was read together with {kept[0].path}, and is not given, or is another file now: "
                    "give it too, or give another --cluster, so that nothing is counted twice."
                )
        return found


def content_of(path: Path, size: int | None = None) -> str:
    """SHA-256 of a file, or of its first ``size`` bytes.

    Raises:
        OSError: it cannot be read.
    """
    digest, left = hashlib.sha256(), size
    with path.open("rb") as file:
        while block := file.read(1 << 20 if left is None else min(left, 1 << 20)):
            digest.update(block)
            left = None if left is None else left - len(block)
    return digest.hexdigest()


def begins(now: File, before: File) -> bool:
    """Whether a file is what it was before, or begins with it."""
    if now.size <= before.size:
        return now.content == before.content
    return content_of(Path(now.path), before.size) == before.content


class _Ingesting:
    """New files on their way into the table."""

    def __init__(
        self,
        spark: SparkSession,
        table: Table,
        cluster: str,
        seen: _Seen,
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
        others = _some(self._trace.problems, lambda file: file not in own_names)
        kept = Counter(one.kind for one in self._trace.problems.kept)
        for kind, count in (self._trace.problems.by_kind - kept).items():  # those without a place
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
                _write_tables(folder, batch)
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
        """New sources in batches, and whether it is the last one; one batch without any if only problems are new."""
        chunk: list[tuple[int, list[File]]] = []
        size = 0
        for number, files in self._new:
            more = sum(file.size for file in files)
            if chunk and size + more > self._batch_bytes:
                yield False, chunk
                chunk, size = [], 0
            chunk.append((number, files))
            size += more
        yield True, chunk

    def _store(self, chunk: Sequence[tuple[int, list[File]]], folder: Path) -> list[Source]:
        """Have tasks write the pieces of some sources."""
        wanted = {number for number, _ in chunk}
        splits = [split for split in self._trace.splits() if split.file in wanted]
        work = [_Work(split=split, name=f"{at:05}", folder=folder, cluster=self._cluster)
                for at, split in enumerate(splits)]  # fmt: skip
        written: list[_Written] = []
        if work:
            with failures():
                written = list(self._spark.sparkContext.parallelize(work, len(work)).map(_store).collect())
        _only(folder, {piece.path for one in written for piece in one.pieces})
        stored = []
        for number, files in chunk:
            own = [one for split, one in zip(splits, written, strict=True) if split.file == number]
            stored.append(self._stored(self._trace.sources[number], files, own))
        return stored

    def _stored(self, source: Opened, files: Sequence[File], written: Sequence[_Written]) -> Source:
        names = _names(source)
        problems = _some(self._trace.problems, lambda file: file in names)
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
            or (isinstance(source, ImportedTrace) and isinstance(source.importer, SeriesImporter)),
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


def _some(problems: Problems, wanted: Any) -> Problems:
    """Problems of some files; where headers disagree is found anew in each reading of the table."""
    found = Problems()
    for one in problems.kept:
        if one.kind is not Trouble.DISAGREE and wanted(one.file):
            found.add(one.file, one.line, one.what, kind=one.kind)
    return found


@dataclass(frozen=True, kw_only=True)
class _Work:
    split: Split
    name: str
    folder: Path
    cluster: str


@dataclass(kw_only=True)
class _Written:
    pieces: list[Piece]
    problems: Problems
    skipped: Counter[str]
    counted: bool


def _store(work: _Work) -> _Written:
    """Read a part of a recording and write its pieces. A task that is tried again writes to files of its own."""
    reader = read_split(work.split)
    with _Pieces(work) as pieces:
        for batch in reader.batches((*ARROW.names, EXTRA)):
            pieces.write(batch)
    problems = Problems()
    problems.join(reader.problems)
    return _Written(pieces=pieces.done, problems=problems, skipped=reader.skipped, counted=reader.counted)


class _Pieces:
    """The pieces of a part, one for each day and group.

    Attributes:
        done: the pieces, when they are complete.
    """

    def __init__(self, work: _Work) -> None:
        self._work, self._place = work, 0
        self._name = f"{work.name}-{uuid4().hex[:8]}.parquet"
        self._writers: dict[tuple[int, str | None], _Writer] = {}
        self.done: list[Piece] = []

    def __enter__(self) -> _Pieces:
        return self

    def __exit__(self, kind: Any, error: Any, where: Any) -> None:
        for writer in self._writers.values():
            writer.close()
        if kind is None:
            self.done = [writer.piece() for _, writer in sorted(self._writers.items(), key=lambda item: item[1].path)]

    def write(self, batch: pa.RecordBatch) -> None:
        """Add the next events."""
        places = pa.arange(self._place, self._place + len(batch))
        self._place += len(batch)
        batch = batch.append_column(PLACE, places).cast(PIECE)
        group = batch.column("group")
        words = [*group.dictionary.to_pylist(), None]
        codes = group.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        days = batch.column("time").to_numpy(zero_copy_only=False) // _DAY
        keys = days * len(words) + codes
        for key in np.unique(keys).tolist():
            chosen = keys == key
            own = batch if chosen.all() else batch.filter(pa.array(chosen))
            self._writer(key // len(words), words[key % len(words)]).write(own)

    def _writer(self, day: int, group: str | None) -> _Writer:
        if (day, group) not in self._writers and len(self._writers) >= MOST_FOLDERS:
            group = MORE_GROUPS
            if len(self._writers) >= MOST_FOLDERS + MOST_DAYS:
                raise TraceError(f"{self._work.split.paths[0]}: events of more than {MOST_DAYS:,} days; is it damaged?")
        if (day, group) not in self._writers:
            name = str(np.datetime64(day, "D"))
            inside = f"trace/day={name}/cluster={quote(self._work.cluster, safe='')}/group={_folder(group)}"
            self._writers[day, group] = _Writer(self._work.folder, f"{inside}/{self._name}", name)
        return self._writers[day, group]


def _folder(group: str | None) -> str:
    """The name of a group as that of a folder. Names come from recordings: nothing in them leads elsewhere."""
    if not group:
        return NO_GROUP
    name = group if group == MORE_GROUPS else quote(group, safe="").replace(".", "%2E")
    return name if len(name) <= _LONGEST else f"{name[:100].rpartition('%')[0] or name[:100]}~{digest_of(group)}"


class _Writer:
    def __init__(self, folder: Path, path: str, day: str) -> None:
        self.path, self._day = path, day
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(folder / path, PIECE, **_PACKING)
        self._rows, self._begin, self._end = 0, 2**63 - 1, -(2**63)

    def write(self, batch: pa.RecordBatch) -> None:
        times = batch.column("time").to_numpy(zero_copy_only=False)
        self._begin, self._end = min(self._begin, int(times.min())), max(self._end, int(times.max()))
        self._rows += len(batch)
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()

    def piece(self) -> Piece:
        return Piece(path=self.path, day=self._day, rows=self._rows, begin=self._begin, end=self._end)


def _only(folder: Path, pieces: set[str]) -> None:
    """Take away what tasks that were ended, or were tried twice, have left."""
    for path in (folder / "trace").rglob("*.parquet"):
        if str(path.relative_to(folder)) not in pieces:
            os.unlink(path)


def _write_tables(folder: Path, batch: Batch) -> None:
    ingested = [
        (batch.cluster, source.id, file.path, file.content, file.size, source.rows, source.problems.count,
         list(source.replaces))
        for source in batch.sources for file in source.files
    ]  # fmt: skip
    skipped: list[tuple[Any, ...]] = [(batch.cluster, None, None, "left out", why, 1) for why in batch.left_out]
    for problems in (*(source.problems for source in batch.sources), batch.problems):
        skipped += [(batch.cluster, one.file, one.line or None, str(one.kind), one.what, 1) for one in problems.kept]
        kept = Counter(one.kind for one in problems.kept)
        skipped += [
            (batch.cluster, None, None, str(kind), "further ones", count - kept[kind])
            for kind, count in problems.by_kind.items() if count > kept[kind]
        ]  # fmt: skip
    for source in batch.sources:
        skipped += [(batch.cluster, source.file, None, "passed over", w, n) for w, n in source.skipped.items()]
    for name, schema, rows in (("ingested", INGESTED, ingested), ("skipped", SKIPPED, skipped)):
        made = table_of(rows, schema)
        (folder / name).mkdir()
        pq.write_table(beside_a_trace(made), folder / name / f"{name}.parquet", **_PACKING)
