"""``rocketproof pipeline copy``: copy what a trace table has into tables of a catalog."""

from __future__ import annotations

from collections.abc import Sequence

from ..output.console import console_beside, interrupts
from ..output.files import write_json
from .pipeline_ingest import session


def copy(table: str, schema: str, *, format: str, master: str, conf: Sequence[str], json_file: str) -> int:
    """Copy what is new and print which parts; returns exit code 0.

    Raises:
        InputError: an option is wrong, or Spark does not start.
        TraceError: there is no table, or the catalog cannot be written.
    """
    console = console_beside(json_file)
    from ..spark.pipeline import SparkCatalog, Table, copy_table

    folder = Table(table)
    folder.need()
    with interrupts():
        done = copy_table(folder, SparkCatalog(session(master, conf), schema, format=format))
    for name, parts in done.items():
        console.say(f"{schema}.{name}: {parts[0]}" + (f" and {len(parts) - 1:,} more" if len(parts) > 1 else ""))
    if not done:
        console.say("nothing new")
    write_json(json_file, done)
    return 0
