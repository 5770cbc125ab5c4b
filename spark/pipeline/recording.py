"""A cluster of the table as a trace: its published recordings, as if their files were opened together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...traces.clocks.clocks import Clocks
from ...traces.errors import TraceError
from ...traces.format.coverage import Hole
from ...traces.format.problems import Problems
from ...traces.format.schema import plain
from ...traces.io import Trace
from ...traces.io.stored import PIECE, Between, Stored
from .manifest import File, Piece, Source, batch_of
from .table import BATCH, Table, digest_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(kw_only=True)
class Live:
    """What counts for a cluster: recordings that are published, and not replaced since.

    Attributes:
        cluster: its name.
        sources: the recordings, in the order of their files.
        folders: for each recording, the folder of its batch.
        problems: problems of files that are no part of a recording; ``holes``: the evidence that these take away.
        left_out: files that are not recordings, each with the reason.
        passed: those files.
    """

    cluster: str
    sources: list[Source] = field(default_factory=list)
    folders: dict[str, Path] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    holes: list[Hole] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    passed: list[File] = field(default_factory=list)

    @property
    def paths(self) -> Collection[str]:
        """Paths of all files of its recordings."""
        return {file.path for source in self.sources for file in source.files}

    @property
    def version(self) -> str:
        """A digest of everything that counts: equal for the same recordings and the same problems."""
        told = [f"{one.file}:{one.line}:{one.kind}:{one.what}" for one in self.problems.kept]
        return digest_of([source.id for source in self.sources], told, self.left_out)


def live_of(table: Table, *, until: str = "") -> dict[str, Live]:
    """What counts for each cluster of a table; ``until``: the name of the last batch to consider."""
    found: dict[str, Live] = {}
    for folder, said in table.published(BATCH):
        if until and folder.name > until:
            break
        batch = batch_of(said)
        live = found.setdefault(batch.cluster, Live(cluster=batch.cluster))
        replaced = {id_ for source in batch.sources for id_ in source.replaces}
        live.sources = [source for source in live.sources if source.id not in replaced] + list(batch.sources)
        live.folders |= {source.id: folder for source in batch.sources}
        known = {(one.file, one.line, one.what) for one in live.problems.kept}
        for one in batch.problems.kept:
            if (one.file, one.line, one.what) not in known:
                live.problems.add(one.file, one.line, one.what, kind=one.kind)
        live.holes += [hole for hole in batch.holes if hole not in live.holes]
        live.left_out = list(dict.fromkeys((*live.left_out, *batch.left_out)))
        live.passed += batch.passed
    for live in found.values():
        # A file that could not be read once, and was ingested since, is no problem any more.
        paths = set(live.paths)
        live.problems = live.problems.where(lambda one: one.file not in paths)  # noqa: B023
        live.holes = [hole for hole in live.holes if hole.file not in live.paths]
        live.sources.sort(key=lambda source: (min(file.path for file in source.files), source.id))
    return found


class Recorded(Trace):
    """What counts for a cluster, as a trace; ``left_out``, ``problems`` and holes are those of ingesting.

    Attributes:
        live: the recordings.
        days: the first and the last day whose events count; empty: no bound.
    """

    def __init__(self, live: Live, days: tuple[str, str] = ("", "")) -> None:
        """Put the trace together.

        Args:
            live: the recordings.
            days: the first and the last day whose events count, as 2026-11-23; empty: no bound. Earlier events are then
                unknown, as in a recording that begins later.

        Raises:
            TraceError: there are no events in these days.
        """
        problems = Problems()
        for source in live.sources:
            problems.join(source.problems)
        problems.join(live.problems)
        self.live, self.days = live, days
        opened = [(source, _stored(source, live.folders[source.id], days)) for source in live.sources]
        # A file of which no event could be read counts too: because of its header, and as an incomplete file.
        counting = [(source, one) for source, one in opened if one.rows or not source.rows]
        self._counting = [source for source, _ in counting]
        super().__init__([one for _, one in counting], problems, left_out=live.left_out)
        if not self.rows:
            raise TraceError(f"there are no events of the cluster {live.cluster}{_of_days(days)}.")
        spans = [one.time_range for _, one in counting if one.time_range is not None]
        self.time_range = min(begin for begin, _ in spans), max(end for _, end in spans)
        self._lost = [*(hole for source in live.sources for hole in source.holes), *live.holes]
        self.clocks = _clocks(live.sources)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of its recordings, in the order of files."""
        return tuple(source.id for source in self._counting)

    def begins(self) -> dict[str, int]:
        """Time of the earliest event of each of its recordings, ms; recordings without events are not listed."""
        begins = {source.id: [piece.begin for piece in pieces_of(source, self.days)] for source in self._counting}
        return {id_: min(times) for id_, times in begins.items() if times}

    def between(self, since: int | None, until: int | None) -> Trace:
        """Its events from one time on, and before another, ms; None: no bound. It has all its files, in their order.

        Its problems are reported by the whole.
        """
        sources = [
            _stored(source, self.live.folders[source.id], self.days, (since, until)) for source in self._counting
        ]
        return Trace(sources, Problems())

    def holes(self) -> list[Hole]:
        """What was lost when the files were ingested."""
        return list(self._lost)


def pieces_of(source: Source, days: tuple[str, str] = ("", "")) -> Iterator[Piece]:
    """The pieces of some days."""
    first, last = days
    for part in source.parts:
        yield from (p for p in part if (not first or p.day >= first) and (not last or p.day <= last))


def _stored(source: Source, folder: Path, days: tuple[str, str], between: Between = (None, None)) -> Stored:
    wanted = {piece.path for piece in pieces_of(source, days)}
    since, until = between
    parts = [
        [
            piece
            for piece in part
            if piece.path in wanted and (since is None or piece.end >= since) and (until is None or piece.begin < until)
        ]
        for part in source.parts
    ]
    kept = [piece for part in parts for piece in part]
    rows = sum(piece.rows for piece in kept)
    stated = source.stated
    if rows < source.rows and between == (None, None):
        stated = replace(stated, header=replace(stated.header, complete=False))
    return Stored(
        parts=[[str(folder / piece.path) for piece in part] for part in parts if part],
        file=source.file,
        files=tuple(file.path for file in source.files),
        stated=stated,
        rows=rows,
        time_range=(min(p.begin for p in kept), max(p.end for p in kept)) if kept else None,
        counted=source.counted,
        clocks=source.clocks,
        skipped=source.skipped,
        sound=not source.problems.count,
        between=between,
    )


def _clocks(sources: Sequence[Source]) -> Clocks | None:
    """The clocks by which times were corrected when the recordings were joined."""
    corrected = [source.clocks for source in sources if source.clocks is not None and source.clocks.corrects]
    if len(corrected) < 2:
        return corrected[0] if corrected else None
    return Clocks(
        clocks={actor: clock for clocks in reversed(corrected) for actor, clock in clocks.clocks.items()},
        steps=tuple(step for clocks in corrected for step in clocks.steps),
        held_up=max(clocks.held_up for clocks in corrected),
    )


def _of_days(days: tuple[str, str]) -> str:
    first, last = days
    return f" from {first or 'the beginning'} to {last or 'the end'}" if first or last else ""


def read_events(spark: SparkSession, table: Table, *, cluster: str = "") -> DataFrame:
    """The events that count, as a DataFrame with the columns of a piece; for one cluster, or for all.

    Raises:
        TraceError: there is no such cluster.
    """
    from pyspark.sql.pandas.types import from_arrow_schema

    found = live_of(table)
    if cluster and cluster not in found:
        raise TraceError(f"there is no cluster {cluster} in {table.folder}; there are {', '.join(sorted(found))}.")
    pieces = [
        str(live.folders[source.id] / piece.path)
        for name, live in sorted(found.items())
        if cluster in ("", name)
        for source in live.sources
        for part in source.parts
        for piece in part
    ]
    return spark.read.schema(from_arrow_schema(plain(PIECE))).parquet(*pieces)
