"""Arriving data: files in folders, or lines from any source that Spark can stream, such as Kafka."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from ...traces.errors import TraceError
from ...traces.io.addresses import is_address, local_path
from .table import Table, failed, folder_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ARRIVED = "_arrived"
"""The folder of the table in which lines become files before they are ingested; it is emptied afterwards."""

_ALWAYS = "36500d"
_FILES = "path string, modificationTime timestamp, length long, content binary"
_OFFSETS = ("topic", "partition", "offset")


class Arriving(Protocol):
    """A source of recordings that continues to grow."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The streaming frame whose batches signal that something has arrived."""
        ...

    def files(self, batch: DataFrame, number: int, table: Table, cluster: str) -> Any:
        """A context with the paths to be ingested for a batch; the same batch always gives the same paths."""
        ...


@dataclass(frozen=True, kw_only=True)
class Folders:
    """Folders into which recordings are moved when they are complete, by their paths or addresses.

    Attributes:
        paths: paths of the folders, including subfolders.
    """

    paths: Sequence[str]

    def stream(self, spark: SparkSession) -> DataFrame:
        """The names of files as they arrive; this does not read their content.

        Raises:
            TraceError: there is no such folder.
        """
        for path in self.paths:
            if not is_address(path) and not local_path(path).is_dir():
                raise TraceError(f"{path}: there is no such folder; name folders into which recordings come.")
        streams = [
            # Every file counts, however old: Spark would otherwise skip those a week older than the latest one.
            spark.readStream.format("binaryFile")
            .schema(_FILES)
            .options(recursiveFileLookup="true", maxFileAge=_ALWAYS)
            .load(path if is_address(path) else local_path(path).absolute().as_uri())
            .select("path")
            for path in self.paths
        ]
        whole = streams[0]
        for other in streams[1:]:
            whole = whole.union(other)
        return whole

    @contextmanager
    def files(self, batch: DataFrame, number: int, table: Table, cluster: str) -> Iterator[Sequence[str]]:
        """All folders: known files add nothing, and files that are read together with new ones are available."""
        yield self.paths


@dataclass(frozen=True, kw_only=True)
class Lines:
    """Events as lines of JSON, from any source that Spark can stream: its column ``value`` has a line in each row.

    Lines of Kafka are kept in the order of their partition, those of other sources as they come.

    Attributes:
        format: format of the source, such as ``kafka``.
        options: options of the source.
        header: the first line of a trace, which states what is recorded; empty for none.
    """

    format: str
    options: Mapping[str, str] = field(default_factory=dict)
    header: str = ""

    def stream(self, spark: SparkSession) -> DataFrame:
        """The lines with their positions in the source."""
        read = spark.readStream.format(self.format).options(**self.options).load()
        positions = _OFFSETS if set(_OFFSETS) <= set(read.columns) else ()
        return read.selectExpr(*positions, "CAST(value AS STRING) AS value")

    @contextmanager
    def files(self, batch: DataFrame, number: int, table: Table, cluster: str) -> Iterator[Sequence[str]]:
        """A file for each partition of Kafka, or for the batch; named by its first position, for references."""
        folder = table.folder / ARRIVED / folder_of(cluster)
        shutil.rmtree(folder, ignore_errors=True)  # left by a killed process
        try:
            try:
                yield self._written(batch, number, folder)
            except OSError as error:
                raise TraceError(failed(folder, error)) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _written(self, batch: DataFrame, number: int, folder: Path) -> Sequence[str]:
        folder.mkdir(parents=True)
        ordered = batch.orderBy(*_OFFSETS) if set(_OFFSETS) <= set(batch.columns) else batch
        opened: dict[tuple[Any, ...], IO[str]] = {}
        with ExitStack() as stack:
            for row in ordered.toLocalIterator():
                if row["value"] is None:
                    continue
                place = (row["topic"], row["partition"]) if ordered is not batch else ()
                if place not in opened:
                    name = f"{quote(place[0], safe='')}-{place[1]}-{row['offset']}" if place else f"{number:08}"
                    opened[place] = stack.enter_context((folder / f"{name}.jsonl").open("w", encoding="utf-8"))
                    opened[place].write(self.header + "\n" if self.header else "")
                opened[place].write(row["value"].rstrip("\r\n") + "\n")
        return [str(folder)] if opened else []
