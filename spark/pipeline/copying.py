"""Copying: what a trace table has published is copied into tables of a catalog of Spark, in Iceberg or another
format.

Ingesting and mining continue to work on the folder. Each batch, run or set of alerts that is published there is a
*part*: the rows of a table of the catalog with the same ``part``. A commit replaces all rows of the parts that it
brings, so a part that is copied twice exists once. Copied parts are noted afterwards, in the table ``copied``: if a
process is killed between the two, the same part is copied again.

The manifest of a batch or a run is copied along, as files, and each row of the trace names its piece, so that
``restoring`` can make the folder again.
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
"""Maximum number of parts in a commit, unless rows move between them: Spark plans each separately."""

MOST_KEPT = 256 << 20
"""Maximum number of bytes of files that are committed together unchanged: they go through the driver's memory."""

OF_RUN = (*TABLES, "statuses", "clocks")
"""Tables of a run."""


class Catalog(Protocol):
    """Tables that receive parts."""

    def noted(self, name: str) -> Mapping[str, str]:
        """The parts that a table has, each with its key; empty if there is no such table."""
        ...

    def put(self, name: str, parts: Sequence[Part], *, alone: bool) -> None:
        """Replace the rows of parts in one commit; ``alone``: also remove all others."""
        ...

    def note(self, name: str, parts: Mapping[str, str]) -> None:
        """Record which parts a table has, each with its key."""
        ...


def copy_table(table: Table, catalog: Catalog, *, commit_bytes: int = BATCH_BYTES) -> Mapping[str, Sequence[str]]:
    """Copy what is published and not copied yet.

    Args:
        table: the table to copy: whatever counts of all batches, the tables of the last run, and all alerts.
        catalog: the target.
        commit_bytes: approximate number of bytes of files that are committed together.

    Returns:
        The parts that were copied, by table.

    Raises:
        TraceError: the table cannot be read, the catalog cannot be written, or another process is copying.
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
    """The parts that each table should have."""
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
    """What is to be copied, divided into commits. If rows move from part to part, because a file has grown, there is
    only one commit.
    """
    new = [part for part in parts if known.get(part.name) != part.key]
    if any(part.name in known for part in new):
        yield new
        return
    yield from by_size(new, lambda part: part.size, most=most, count=MOST_PARTS)
