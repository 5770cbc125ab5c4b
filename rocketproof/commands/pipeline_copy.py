"""``rocketproof pipeline copy``: copy what a trace table has into tables of a catalog."""

from __future__ import annotations

from collections.abc import Sequence

from ..output.console import interrupts, make_console
from ..output.files import STANDARD_OUTPUT, check_writable, write
from ..traces.format.printable import json_text
from .pipeline_ingest import session


def copy(table: str, schema: str, *, format: str, master: str, conf: Sequence[str], json_file: str) -> int:
    """Copy what is new and tell which parts; returns exit code 0.

    Raises:
        InputError: an option is wrong, or Spark does not start.
        TraceError: there is no table, or the catalog cannot be written.
    """
    if json_file:
        check_writable(json_file)
    from ..spark.pipeline import SparkCatalog, Table, copy_table

    console = make_console(quiet=json_file == STANDARD_OUTPUT)
    folder = Table(table)
    folder.need()
    with interrupts():
        done = copy_table(folder, SparkCatalog(session(master, conf), schema, format=format))
    for name, parts in done.items():
        console.say(f"{schema}.{name}: {parts[0]}" + (f" and {len(parts) - 1:,} more" if len(parts) > 1 else ""))
    if not done:
        console.say("nothing new")
    if json_file:
        write(json_file, json_text({name: list(parts) for name, parts in done.items()}) + "\n")
    return 0
