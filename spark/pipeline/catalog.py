"""A catalog of Spark: its tables receive parts, in Iceberg, Delta, or as plain files managed by Spark.

A commit replaces all rows of the parts that it brings. Formats with transactions do this atomically. For tables that
are only files in folders, such as those of Spark's own catalog, partitions are replaced one after the other: concurrent
readers may see some of each, and after a kill all of them are replaced again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pyarrow as pa

from ...traces.errors import TraceError
from ...traces.format.schema import plain
from ...traces.io.stored import PIECE
from ..session import failures, setting
from .table import VERSION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

COPIED, PART, TRACE, DAY, PIECE_OF = "copied", "part", "trace", "day", "piece"

BATCHES, RUNS = "batches", "runs"
"""Tables of files: everything in a batch besides its trace; everything in the last run besides carried state."""

_FILES = frozenset({"parquet", "orc", "avro", "json", "csv", "hive"})
"""Providers whose tables are plain files, without commits that overwrite by a condition."""

_NOTE = "table string, part string, key string, version int"
_KEPT = pa.schema([("path", pa.string()), ("content", pa.binary()), (PART, pa.string())])


@dataclass(frozen=True, kw_only=True)
class Part:
    """The content of a batch, a run or alerts for a table.

    Attributes:
        name: name of the batch, run or alerts.
        key: identifies the part of it that counts now: replaced recordings do not.
        files: Parquet files, each with its cluster, and its day if all rows of a file are of one; for a table of files,
            any files.
    """

    name: str
    key: str
    files: Sequence[tuple[str, str, Path]]

    @property
    def size(self) -> int:
        """Number of bytes of its files."""
        return sum(path.stat().st_size for _, _, path in self.files)


class SparkCatalog:
    """Tables of a catalog for which Spark is configured, written through Spark's generic interface.

    Args:
        spark: the session that knows the catalog.
        schema: name of the schema, such as ``lake.rocketmq``; it is created at the first write.
        format: format of new tables, such as ``iceberg``; empty: the catalog's default.

    Raises:
        TraceError: the name is invalid.
    """

    def __init__(self, spark: SparkSession, schema: str, *, format: str = "") -> None:
        names = schema.split(".")
        if not all(name and "`" not in name and name.isprintable() for name in names):
            raise TraceError(f"{ascii(schema)[:100]} is no schema of a catalog, such as lake.rocketmq.")
        self._spark, self._format = spark, format
        self.schema = schema
        self._schema = ".".join(f"`{name}`" for name in names)

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

    def rows(self, name: str) -> DataFrame:
        """All rows of an existing table."""
        return self._spark.table(self._name(name))

    def put(self, name: str, parts: Sequence[Part], *, alone: bool) -> None:
        """See :class:`Catalog`."""
        with failures(), adaptive(self._spark):
            rows = frame_of(self._spark, name, parts)
            if rows is None and not self._spark.catalog.tableExists(self._name(name)):
                return
            by = (DAY, PART) if name == TRACE else (PART,)
            self._write(name, rows, by, PART, None if alone else [part.name for part in parts])

    def note(self, name: str, parts: Mapping[str, str]) -> None:
        """See :class:`Catalog`."""
        with failures(), adaptive(self._spark):
            rows = [(name, part, key, VERSION) for part, key in sorted(parts.items())]
            noted = self._spark.createDataFrame(rows, _NOTE).coalesce(1)
            self._write(COPIED, noted, ("table",), "table", [name])

    def _write(
        self, name: str, rows: DataFrame | None, by: Sequence[str], column: str, values: Sequence[str] | None
    ) -> None:
        """Replace the rows of a table in which a column has one of some values, or all rows; create it if it is
        missing.

        Args:
            name: name of the table.
            rows: the new rows; None: none.
            by: columns by which it is partitioned, including ``column``.
            column: the column that selects the rows to replace.
            values: its values; None: all.
        """
        from pyspark.sql import functions

        whole = self._name(name)
        if rows is not None and not self._spark.catalog.tableExists(whole):
            self._spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self._schema}")
            new = rows.limit(0).writeTo(whole)
            new = new.using(self._format) if self._format else new
            new.partitionedBy(*map(functions.col, by)).create()
        there = self._spark.table(whole)
        if rows is not None and set(there.columns) != set(rows.columns):
            differ = ", ".join(sorted(set(there.columns) ^ set(rows.columns)))
            raise TraceError(
                f"{whole}: has other columns than this kit writes ({differ}): another version of the kit has made it; "
                "drop it, and copy again, or name another schema."
            )
        chosen = None if rows is None else rows.select(*there.columns)
        if self._is_files(whole):
            self._replace_partitions(whole, chosen, by, column, values)
        else:
            which = functions.lit(True) if values is None else functions.col(column).isin(*values)
            (there.limit(0) if chosen is None else chosen).writeTo(whole).overwrite(which)

    def _is_files(self, whole: str) -> bool:
        described = self._spark.sql(f"DESCRIBE TABLE EXTENDED {whole}").collect()
        return any(row["col_name"] == "Provider" and row["data_type"].lower() in _FILES for row in described)

    def _replace_partitions(
        self, whole: str, rows: DataFrame | None, by: Sequence[str], column: str, values: Sequence[str] | None
    ) -> None:
        """Replace the partitions for some values of a column, or all; partitions that have no rows any more are removed
        last.
        """
        written = set[tuple[str, ...]]()
        if rows is not None:
            written = {tuple(map(str, row)) for row in rows.select(*by).distinct().collect()}
            with setting(self._spark, "spark.sql.sources.partitionOverwriteMode", "dynamic"):
                rows.write.insertInto(whole, overwrite=True)
        for row in self._spark.sql(f"SHOW PARTITIONS {whole}").collect():
            at = dict(word.split("=", 1) for word in row["partition"].split("/"))
            at = {name: unquote(value) for name, value in at.items()}
            if (values is None or at[column] in values) and tuple(at[name] for name in by) not in written:
                words = ", ".join(f"`{name}` = {_quoted(at[name])}" for name in by)
                self._spark.sql(f"ALTER TABLE {whole} DROP IF EXISTS PARTITION ({words})")

    def _name(self, name: str) -> str:
        return f"{self._schema}.`{name}`"


def frame_of(spark: SparkSession, name: str, parts: Sequence[Part]) -> DataFrame | None:
    """The rows of parts of a table, with the columns that identify the part; None if no part has files."""
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema

    if name in (BATCHES, RUNS):
        files = [(part.name, path) for part in parts for _, _, path in part.files]
        within = [str(path).rpartition(f"/{part_name}/")[2] for part_name, path in files]
        columns = [within, [path.read_bytes() for _, path in files], [part_name for part_name, _ in files]]
        return spark.createDataFrame(pa.table(columns, _KEPT)).coalesce(1) if files else None
    read: Callable[..., DataFrame] = spark.read.parquet
    if name == TRACE:
        read = spark.read.schema(from_arrow_schema(plain(PIECE))).parquet
    together: dict[tuple[str, str, str], list[str]] = {}
    for part in parts:
        for cluster, day, path in part.files:
            together.setdefault((part.name, cluster, day), []).append(str(path))
    frames = []
    for (part_name, cluster, day), paths in together.items():
        rows = read(*paths).withColumn(PART, functions.lit(part_name))
        if name == TRACE:
            rows = rows.withColumn(PIECE_OF, functions.regexp_extract("_metadata.file_path", "/(trace/day=.*)$", 1))
        if cluster and "cluster" not in rows.columns:
            rows = rows.withColumn("cluster", functions.lit(cluster))
        frames.append(rows.withColumn(DAY, functions.lit(day).cast("date")) if day else rows)
    return reduce(lambda one, other: one.unionByName(other), frames) if frames else None


def piece_of(path: str) -> str:
    """The value of column ``piece`` for the path of a piece within its batch: Spark reports paths as addresses."""
    return path.replace("%", "%25")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def adaptive(spark: SparkSession) -> AbstractContextManager[None]:
    """Let Spark choose how many tasks write, as it does by default, but not for the kit's own jobs."""
    return setting(spark, "spark.sql.adaptive.enabled", "true")
