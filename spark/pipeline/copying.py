"""Copying: what a trace table has published goes into tables of a catalog of Spark, in Iceberg or another format.

The folder stays what ingesting and mining work on. Each batch, run or alerts that is published there is a *part*: the
rows of a table of the catalog with the same ``part``. A commit replaces all rows of the parts that it brings, so a part
that is copied twice is there once. What was copied is noted after that, in the table ``copied``: whoever was killed
between the two copies the same part again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote

import pyarrow as pa

from ...traces.errors import TraceError
from ...traces.explain.report.tables import TABLES
from ...traces.io.stored import PIECE
from ..session import failures
from .alerts import ALERTS
from .ingest import BATCH_BYTES
from .recording import live_of
from .table import BATCH, RUN, VERSION, Table, digest_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COPY, COPIED, PART, TRACE, DAY = "copy", "copied", "part", "trace", "day"

MOST_PARTS = 100
"""Parts of a commit, unless rows move between them: Spark plans each for itself."""

OF_RUN = (*TABLES, "statuses", "clocks")
"""Tables of a run."""

_NOTE = "table string, part string, key string, version int"


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a batch, a run or alerts have for a table.

    Attributes:
        name: of the batch, run or alerts.
        key: of what counts of it now: recordings that were replaced do not.
        files: of Parquet, each with the cluster, and the day where rows of a file are of one.
    """

    name: str
    key: str
    files: Sequence[tuple[str, str, Path]]

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(path.stat().st_size for _, _, path in self.files)


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
            known, alone = dict(catalog.noted(name)), name in OF_RUN
            for chunk in _chunks(parts, known, commit_bytes):
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
    published = [(path, name) for path in table.folders(BATCH) for name in ("ingested", "skipped")]
    published += [(path, name) for path in table.folders(RUN)[-1:] for name in OF_RUN]
    published += [(path, name) for path in table.folders(ALERTS) for name in (ALERTS, "late")]
    for folder, name in published:
        found = [(_cluster(path), "", path) for path in sorted((folder / name).rglob("*.parquet"))]
        parts.setdefault(name, []).append(Part(name=folder.name, key="", files=found))
    return parts


def _cluster(path: Path) -> str:
    """The cluster whose folder a file is in; empty where rows tell."""
    name, _, value = path.parent.name.partition("=")
    return unquote(value) if name == "cluster" else ""


def _chunks(parts: Sequence[Part], known: Mapping[str, str], most: int) -> Iterator[Sequence[Part]]:
    """What is to be copied, in commits. Where rows move from part to part, as a file has grown, it is one commit."""
    new = [part for part in parts if known.get(part.name) != part.key]
    if any(part.name in known for part in new):
        yield new
        return
    chunk, size = list[Part](), 0
    for part in new:
        more = part.size
        if chunk and (size + more > most or len(chunk) == MOST_PARTS):
            yield chunk
            chunk, size = [], 0
        chunk.append(part)
        size += more
    if chunk:
        yield chunk


class SparkCatalog:
    """Tables of a catalog that Spark is set up for, by its own way of writing to any of them.

    Args:
        spark: knows the catalog.
        schema: name of the schema, such as ``lake.rocketmq``; it is made where it is missing.
        format: of new tables, such as ``iceberg``; empty: what the catalog takes.

    Raises:
        TraceError: there is no such catalog, or it cannot make the schema.
    """

    def __init__(self, spark: SparkSession, schema: str, *, format: str = "") -> None:
        names = schema.split(".")
        if not all(name and "`" not in name and name.isprintable() for name in names):
            raise TraceError(f"{ascii(schema)[:100]} is no schema of a catalog, such as lake.rocketmq.")
        self._spark, self._format = spark, format
        self._schema = ".".join(f"`{name}`" for name in names)
        with failures():
            spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self._schema}")

    def noted(self, name: str) -> Mapping[str, str]:
        """See :class:`Catalog`."""
        with failures():
            if not all(self._spark.catalog.tableExists(self._name(one)) for one in (COPIED, name)):
                return {}
            noted = self._spark.table(self._name(COPIED))
            rows = noted.where(noted["table"] == name).collect()
        later = max((row["version"] for row in rows), default=0)
        if later > VERSION:
            raise TraceError(
                f"{self._name(name)}: written in version {later} of the table, and this kit knows {VERSION}: update "
                "rocketproof."
            )
        return {row["part"]: row["key"] for row in rows}

    def put(self, name: str, parts: Sequence[Part], *, alone: bool) -> None:
        """See :class:`Catalog`."""
        from pyspark.sql import functions

        with failures(), _adaptive(self._spark):
            rows, whole = frame_of(self._spark, name, parts), self._name(name)
            if rows is None and not self._spark.catalog.tableExists(whole):
                return
            if rows is None:  # what was there of these parts goes
                rows = self._spark.table(whole).limit(0)
            by = (DAY, PART) if name == TRACE else (PART,)
            which = functions.col(PART).isin([part.name for part in parts])
            self._write(name, rows, by, functions.lit(True) if alone else which)

    def note(self, name: str, parts: Mapping[str, str]) -> None:
        """See :class:`Catalog`."""
        from pyspark.sql import functions

        with failures(), _adaptive(self._spark):
            rows = [(name, part, key, VERSION) for part, key in sorted(parts.items())]
            noted = self._spark.createDataFrame(rows, _NOTE).coalesce(1)
            self._write(COPIED, noted, ("table",), functions.col("table") == name)

    def _write(self, name: str, rows: DataFrame, by: Sequence[str], which: Any) -> None:
        """Replace the rows of a table for which something is true; make the table where it is missing."""
        from pyspark.sql import functions

        whole = self._name(name)
        if not self._spark.catalog.tableExists(whole):
            new = rows.limit(0).writeTo(whole)
            new = new.using(self._format) if self._format else new
            new.partitionedBy(*map(functions.col, by)).create()
        there = self._spark.table(whole).columns
        if set(there) != set(rows.columns):
            differ = ", ".join(sorted(set(there) ^ set(rows.columns)))
            raise TraceError(
                f"{whole}: has other columns than this kit writes ({differ}): another version of the kit has made it; "
                "drop it, and copy again, or name another schema."
            )
        rows.select(*there).writeTo(whole).overwrite(which)

    def _name(self, name: str) -> str:
        return f"{self._schema}.`{name}`"


def frame_of(spark: SparkSession, name: str, parts: Sequence[Part]) -> DataFrame | None:
    """The rows of parts of a table, with the columns that tell of the part; None if no part has files."""
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema

    read: Callable[..., DataFrame] = spark.read.parquet
    if name == TRACE:
        plain = [one.with_type(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in PIECE]
        read = spark.read.schema(from_arrow_schema(pa.schema(plain))).parquet
    together: dict[tuple[str, str, str], list[str]] = {}
    for part in parts:
        for cluster, day, path in part.files:
            together.setdefault((part.name, cluster, day), []).append(str(path))
    frames = []
    for (part_name, cluster, day), paths in together.items():
        rows = read(*paths).withColumn(PART, functions.lit(part_name))
        if cluster and "cluster" not in rows.columns:
            rows = rows.withColumn("cluster", functions.lit(cluster))
        frames.append(rows.withColumn(DAY, functions.lit(day).cast("date")) if day else rows)
    return reduce(lambda one, other: one.unionByName(other), frames) if frames else None


@contextmanager
def _adaptive(spark: SparkSession) -> Iterator[None]:
    """Let Spark choose how many tasks write, as it does unless the kit's own jobs are asked for."""
    name = "spark.sql.adaptive.enabled"
    before = spark.conf.get(name)
    spark.conf.set(name, "true")
    try:
        yield
    finally:
        spark.conf.set(name, str(before))
