"""``rocketproof pipeline ingest``: add recordings to a trace table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..output.console import PROBLEMS_SHOWN, console_beside, interrupts
from ..output.files import write_json
from ..traces.explain.report.words import counted
from .engine import spark_session
from .pairs import read_pairs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ingest(
    table: str,
    paths: Sequence[str],
    *,
    cluster: str,
    options: Mapping[str, str],
    strict: bool,
    batch_bytes: int,
    master: str,
    conf: Sequence[str],
    json_file: str,
) -> int:
    """Ingest the given recordings and print the result; returns exit code 0.

    Raises:
        InputError: an option is wrong, or Spark does not start.
        TraceError: nothing can be read, or the table cannot be written.
    """
    console = console_beside(json_file)
    from ..spark.pipeline import Table
    from ..spark.pipeline import ingest as add

    with interrupts():
        done = add(
            session(master, conf),
            paths,
            Table(table),
            cluster=cluster,
            options=options,
            strict=strict,
            batch_bytes=batch_bytes,
        )
    files = f"{counted(done.files, 'file')}, {counted(done.events, 'event')}"
    known = f"; {counted(done.known, 'file')} known already" if done.known else ""
    console.say(f"{', '.join(done.batches)}: {files}{known}" if done.batches else f"nothing new{known}")
    for file in done.replaced:
        console.say(f"has grown, and replaces what was there: {file}")
    for what, count in sorted((+done.skipped).items()):
        console.say(f"passed over: {count:,} × {what}")
    shown = [*(f"left out: {why}" for why in done.left_out), *map(str, done.problems.kept)]
    for line in shown[:PROBLEMS_SHOWN]:
        console.say(line)
    more = len(done.left_out) + done.problems.count - min(len(shown), PROBLEMS_SHOWN)
    if more > 0:
        console.say(f"and {more:,} more, which the table 'skipped' locates")
    said = {
        "batches": list(done.batches),
        "files": done.files,
        "known": done.known,
        "events": done.events,
        "replaced": list(done.replaced),
        "left_out": list(done.left_out),
        "skipped": dict(done.skipped),
        "problems": {"count": done.problems.count, "first": [str(one) for one in done.problems.kept[:100]]},
    }
    write_json(json_file, said)
    return 0


def session(master: str, conf: Sequence[str]) -> SparkSession:
    """A session of Spark with settings of the user.

    Raises:
        InputError: a setting is not NAME=VALUE, or Spark does not start.
        TraceError: PySpark or Java is missing.
    """
    settings = read_pairs("--conf", conf, example="spark.executor.memory=4g", may_be_empty=True)
    return spark_session(master, conf=settings)
