"""What can be asked of the commands below ``rocketproof pipeline``: their arguments and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from .options import (
    Delays,
    EveryClaim,
    Importing,
    Json,
    Master,
    Skew,
    Stories,
    Strict,
    Terms,
    Zone,
    argument,
    flag,
    option,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TableFolder = Annotated[str, argument("TABLE", "Folder of the trace table.")]
TableOfAny = Annotated[str, argument("TABLE", "Folder of the trace table; or a schema of a catalog, lake.rocketmq.")]
Work = Annotated[str, option("DIR", "Folder in which a table of a catalog is processed; it may be kept.")]
Conf = Annotated[list[str] | None, option("NAME=VALUE", "A setting of Spark; repeatable.", "--conf")]
Cluster = Annotated[str, option("NAME", "Name of the cluster that was recorded.")]


@dataclass(frozen=True, kw_only=True)
class OnSpark:
    """What all of them have."""

    master: Master = ""
    conf: Conf = None
    json: Json = ""

    def session(self) -> SparkSession:
        """A session of Spark with the settings of the user.

        Raises:
            InputError: a setting is not NAME=VALUE, or Spark does not start.
            TraceError: PySpark or Java is missing.
        """
        from .engine import spark_session
        from .pairs import read_pairs

        settings = read_pairs("--conf", self.conf or (), example="spark.executor.memory=4g", may_be_empty=True)
        return spark_session(self.master, conf=settings)


@dataclass(frozen=True, kw_only=True)
class Ingest(OnSpark):
    """Of ``pipeline ingest``."""

    table: TableFolder
    paths: Annotated[list[str], argument("PATH...", "Files and folders, also by addresses that Spark knows.")]
    cluster: Cluster = "default"
    zone: Zone = ""
    import_: Importing = None
    strict: Strict = False
    batch: Annotated[str, option("SIZE", "Files of about this size are published together, such as 4GiB.")] = "4GiB"


@dataclass(frozen=True, kw_only=True)
class Mine(OnSpark):
    """Of ``pipeline mine``."""

    table: TableOfAny
    work: Work = ""
    since: Annotated[str, option("DAY", "First day whose events count, such as 2026-11-22.")] = ""
    until: Annotated[str, option("DAY", "Last day whose events count.")] = ""
    lateness: Annotated[
        str, option("TIME", "Events that arrive this much later than others do not cause anything to be mined again.")
    ] = "10min"
    skew: Skew = "50ms"
    delays: Delays = ""
    config: Terms = ""


@dataclass(frozen=True, kw_only=True)
class Report(OnSpark):
    """Of ``pipeline report``."""

    table: TableOfAny
    work: Work = ""
    cluster: Annotated[str, option("NAME", "Only this cluster.")] = ""
    run: Annotated[str, option("NAME", "Only this run; by default the last one.")] = ""
    stories: Stories = 3
    every: EveryClaim = False
    report: Annotated[str, option("DIR", "Write an HTML report of one cluster to a folder.")] = ""


@dataclass(frozen=True, kw_only=True)
class Copy(OnSpark):
    """Of ``pipeline copy``."""

    table: TableFolder
    schema: Annotated[str, argument("SCHEMA", "Schema of a catalog, such as lake.rocketmq.")]
    format: Annotated[str, option("NAME", "Format of new tables, such as iceberg; by default that of the catalog.")] = (
        ""
    )


@dataclass(frozen=True, kw_only=True)
class Watch(OnSpark):
    """Of ``pipeline watch``."""

    table: TableFolder
    paths: Annotated[list[str] | None, argument("[PATH...]", "Folders, also by addresses that Spark knows.")] = None
    cluster: Cluster = "default"
    every: Annotated[str, option("TIME", "How often to look for what has arrived.")] = "1min"
    once: Annotated[bool, flag("--once", "Process what has arrived, and end; for cron.", "--available-now")] = False
    watermark: Annotated[
        str, option("TIME", "How late events may arrive: findings are reported once this time has passed.")
    ] = "10min"
    doubtful: Annotated[bool, flag("--doubtful", "Report findings that are in doubt, too.")] = False
    from_: Annotated[str, option("FORMAT", "A source of lines, such as kafka.", "--from")] = ""
    option: Annotated[list[str] | None, option("NAME=VALUE", "Option of that source; repeatable.", "--option")] = None
    header: Annotated[str, option("FILE", "A trace whose first line is the header of these lines.")] = ""
    to: Annotated[str, option("FORMAT", "A Spark sink that also gets the alerts.")] = ""
    to_option: Annotated[list[str] | None, option("NAME=VALUE", "Option of that sink; repeatable.", "--to-option")] = (
        None
    )
    checkpoint: Annotated[str, option("DIR", "Folder for the state of the stream; by default in the table.")] = ""
    keep_runs: Annotated[int, option("N", "Older runs are removed.", min=6)] = 100
    zone: Zone = ""
    import_: Importing = None
    skew: Skew = "50ms"
    delays: Delays = ""
    config: Terms = ""
    json: Annotated[str, option("FILE|-", "Add alerts as lines of JSON; - for standard output.", "--json")] = ""
