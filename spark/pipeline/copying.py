"""Copying: what a trace table has published goes into tables of a catalog of Spark, in Iceberg or another format.

The folder stays what ingesting and mining work on. Each batch, run or alerts that is published there is a *part*: the
rows of a table of the catalog with the same ``part``. A commit replaces all rows of the parts that it brings, so a part
that is copied twice is there once. What was copied is noted after that, in the table ``copied``: whoever was killed
between the two copies the same part again.

What a batch or a run says of itself goes along, as files, and each row of the trace tells its piece: so ``restoring``
makes the folder again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from ...traces.explain.report.tables import TABLES
from .alerts import ALERTS
from .catalog import BATCHES, RUNS, TRACE, Part
from .ingest import BATCH_BYTES
from .mining import ANSWER
from .recording import live_of
from .table import BATCH, MANIFEST, RUN, Table, by_size, cluster_of, digest_of

COPY = "copy"

MOST_PARTS = 100
"""Parts of a commit, unless rows move between them: Spark plans each for itself."""

MOST_KEPT = 256 << 20
"""Bytes of files that are committed together as they are: they go through the driver's memory."""

OF_RUN = (*TABLES, "statuses", "clocks")
"""Tables of a run."""


class Catalog(Protocol):
    """Tables that take parts."""

    def noted(self, name: str) -> Mapping[str, str]:
        """The parts that a table has, each with its key; none where there is no such table."""
        ...

    def put(self, name: str, parts: Sequence[Part], *, alone: bool) -> None:
        """Replace the rows of parts in one commit; ``alone``: take away all others, too."""
        ...

    def note(self, name: str, parts: Mapping[str, str]) -> None:
        """Note which parts a table has, each with its key."""
        ...


def copy_table(table: Table, catalog: Catalog, *, commit_bytes: int = BATCH_BYTES) -> Mapping[str, Sequence[str]]:
    """Copy what is published and not copied yet.

    Args:
        table: what to copy: what counts of all batches, the tables of the last run, and all alerts.
        catalog: where to.
        commit_bytes: files of about so many bytes are committed together.

    Returns:
        The parts that were copied, by table.

    Raises:
        TraceError: the table cannot be read, the catalog cannot be written, or somebody else copies.
    """
    table.need()
    done: dict[str, Sequence[str]] = {}
    with table.alone(COPY):
        for name, parts in wanted(table).items():
            known, alone = dict(catalog.noted(name)), name in (*OF_RUN, RUNS)
            most = min(commit_bytes, MOST_KEPT) if name in (BATCHES, RUNS) else commit_bytes
            for chunk in _chunks(parts, known, most):
                catalog.put(name, chunk, alone=alone)
                known = {**({} if alone else known), **{part.name: part.key for part in chunk}}
                catalog.note(name, known)
                done[name] = [*done.get(name, ()), *(part.name for part in chunk)]
    return done


def wanted(table: Table) -> Mapping[str, Sequence[Part]]:
    """The parts that each table is to have."""
    sources: dict[str, list[tuple[str, Any]]] = {folder.name: [] for folder in table.folders(BATCH)}
    for cluster, live in live_of(table).items():
        for source in live.sources:
            sources[live.folders[source.id].name].append((cluster, source))
    parts: dict[str, list[Part]] = {TRACE: []}
    for batch, own in sources.items():
        files = [
            (cluster, piece.day, table.folder / batch / piece.path)
            for cluster, source in own for part in source.parts for piece in part
        ]  # fmt: skip
        parts[TRACE].append(Part(name=batch, key=digest_of(sorted(one.id for _, one in own)), files=files))
    published = [(path, name, "") for path in table.folders(BATCH) for name in ("ingested", "skipped")]
    published += [(path, name, "") for path in table.folders(ALERTS) for name in (ALERTS, "late")]
    for path, said in itertools.islice(table.latest(RUN), 1):
        published += [(path, name, said["key"]) for name in OF_RUN]
        kept = [path / MANIFEST, *(file for name in (*OF_RUN, ANSWER) for file in _files(path / name))]
        parts[RUNS] = [Part(name=path.name, key=said["key"], files=[("", "", file) for file in kept])]
    for folder, name, key in published:
        found = [(cluster_of(path.parent), "", path) for path in _files(folder / name)]
        parts.setdefault(name, []).append(Part(name=folder.name, key=key, files=found))
    parts[BATCHES] = [
        Part(name=path.name, key=digest_of(said), files=[("", "", file) for file in _beside_the_trace(path)])
        for path, said in table.published(BATCH)
    ]
    return parts


def _beside_the_trace(batch: Path) -> list[Path]:
    return [batch / MANIFEST, *(file for name in ("ingested", "skipped") for file in _files(batch / name))]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _chunks(parts: Sequence[Part], known: Mapping[str, str], most: int) -> Iterator[Sequence[Part]]:
    """What is to be copied, in commits. Where rows move from part to part, as a file has grown, it is one commit."""
    new = [part for part in parts if known.get(part.name) != part.key]
    if any(part.name in known for part in new):
        yield new
        return
    yield from by_size(new, lambda part: part.size, most=most, count=MOST_PARTS)
