"""Restoring: the folder of a trace table is made again from tables of a catalog, piece by piece as it was.

A copy in a catalog has everything that the folder has, except the state carried between runs: the rows of ``trace``
name their piece and their position in it, and the tables ``batches`` and ``runs`` contain everything else as files.
Mining and reports therefore give the same results as for the original folder. Batches that the folder already has stay.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...traces.errors import TraceError
from ...traces.io.stored import PIECE, PLACE
from ..session import failures, together
from .catalog import BATCHES, PART, PIECE_OF, RUNS, TRACE, SparkCatalog, adaptive, piece_of
from .manifest import Batch, batch_of
from .table import BATCH, MANIFEST, PACKING, RUN, Table, digest_of, read_manifest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_HELD = 1 << 16
"""Number of events that are written together."""


def restore_table(spark: SparkSession, catalog: SparkCatalog, table: Table) -> Sequence[str]:
    """Restore to the folder what a catalog has and the folder lacks: batches, and the last run.

    Tasks write, so the folder must have the same name for them.

    Returns:
        The names of the restored batches and of the run.

    Raises:
        TraceError: the catalog has no trace table, or is being copied to; or the folder is that of another table, or
            cannot be written.
    """
    with table.alone(BATCH), table.alone(RUN), failures(), adaptive(spark):
        noted, traced = catalog.noted(BATCHES), catalog.noted(TRACE)
        if not noted:
            raise TraceError(
                f"{catalog.schema}: there is no trace table in this schema; 'rocketproof pipeline copy' makes one."
            )
        for name in (*noted, *catalog.noted(RUNS)):
            if "/" in name or name.startswith("."):
                raise TraceError(f"{catalog.schema}: {ascii(name)[:100]} is no name of a batch or a run.")
        there = {path.name: digest_of(said) for path, said in table.published(BATCH)}
        foreign = [name for name, key in there.items() if noted.get(name) != key]
        if foreign:
            raise TraceError(
                f"{table.folder}: has {foreign[0]}, which is not that of {catalog.schema}: name another folder."
            )
        new = [name for name in sorted(noted) if name not in there]
        done = list[str]()
        if new:
            files = catalog.rows(BATCHES)
            manifests = files.where(files["path"] == MANIFEST).select(PART, "content").collect()
            batches = {row[PART]: batch_of(read_manifest(bytes(row["content"]), row[PART])) for row in manifests}
            _need_all(catalog, batches, new, traced)
            for name in new:
                with table.publishing(name) as folder:
                    _write_files(files.where(files[PART] == name), folder)
                    _write_pieces(catalog.rows(TRACE), name, batches[name], folder)
                done.append(name)
        return [*done, *_restore_run(catalog, table)]


def _need_all(catalog: SparkCatalog, batches: dict[str, Batch], new: Sequence[str], traced: Any) -> None:
    """Raise TraceError unless the trace has all rows of the recordings that count: a copy may be in progress."""
    replaced = {id_ for batch in batches.values() for source in batch.sources for id_ in source.replaces}
    counted = catalog.rows(TRACE).groupBy(PART, PIECE_OF).count().collect()
    rows = {(row[PART], row[PIECE_OF]): row["count"] for row in counted}
    for name in new:
        for source in batches[name].sources if name in batches else ():
            for part in source.parts if source.id not in replaced else ():
                if any(rows.get((name, piece_of(piece.path))) != piece.rows for piece in part):
                    raise TraceError(
                        f"{catalog.schema}: the table {TRACE} has not all of {name}: if 'rocketproof pipeline copy' is "
                        "at work, run again when it is done; else copy again."
                    )
    missing = [name for name in new if name not in batches or name not in traced]
    if missing:
        raise TraceError(f"{catalog.schema}: not all of {missing[0]} was copied yet: run again when it is.")


def _restore_run(catalog: SparkCatalog, table: Table) -> list[str]:
    """Restore the last run, unless the folder has one with the same input, or lacks batches on which it depends."""
    for name, key in catalog.noted(RUNS).items():
        if any(said["key"] == key for _, said in table.published(RUN)):
            continue
        own = name if name not in {path.name for path in table.folders(RUN)} else table.next_name(RUN)
        with table.publishing(own) as folder:
            files = catalog.rows(RUNS)
            _write_files(files.where(files[PART] == name), folder)
        return [own]
    return []


def _write_files(files: DataFrame, folder: Path) -> None:
    """Write files into a folder. Their names come from a catalog, and cannot lead elsewhere."""
    for row in files.select("path", "content").toLocalIterator():
        path = folder / row["path"]
        if ".." in path.parts or not path.is_relative_to(folder):
            raise TraceError(f"{ascii(row['path'])[:100]}: is no name of a file of the table.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(row["content"])


def _write_pieces(trace: DataFrame, name: str, batch: Batch, folder: Path) -> None:
    """Write the pieces of a batch, by tasks: each piece by one task, in the order of positions."""
    paths = {piece_of(piece.path): piece.path for source in batch.sources for part in source.parts for piece in part}
    rows = trace.where(trace[PART] == name).select(*PIECE.names, PIECE_OF)
    ordered = rows.repartition(PIECE_OF).sortWithinPartitions(PIECE_OF, PLACE)
    ordered.mapInArrow(_writing(folder, paths), "rows long").collect()


def _writing(folder: Path, paths: dict[str, str]) -> Callable[[Any], Iterator[pa.RecordBatch]]:
    """What a task does: it receives all rows of some pieces, one piece after the other."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = 0
        for piece, own in itertools.groupby(_apart(batches), key=lambda one: one[0]):
            path = folder / paths[piece]
            path.parent.mkdir(parents=True, exist_ok=True)
            begun = path.with_name(f".{path.name}-{uuid4().hex[:8]}")  # a task that is retried has its own
            with pq.ParquetWriter(begun, PIECE, **PACKING) as writer:
                for held in together((batch for _, batch in own), _HELD):
                    table = pa.Table.from_batches(held).select(PIECE.names).cast(PIECE)
                    rows += len(table)
                    writer.write_table(table)
            os.replace(begun, path)
        yield pa.record_batch([[rows]], ["rows"])

    return write


def _apart(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
    for batch in batches:
        pieces = batch.column(PIECE_OF)
        for piece in pc.unique(pieces).to_pylist():
            yield piece, batch.filter(pc.equal(pieces, piece))
