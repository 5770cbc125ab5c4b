"""``rocketproof pipeline copy``: copy what a trace table has into tables of a catalog."""

from __future__ import annotations

from ..output.console import console_beside, interrupts
from ..output.files import write_json
from .pipeline_options import Copy


def copy(asked: Copy) -> int:
    """Copy what is new and print which parts; returns exit code 0.

    Raises:
        InputError: an option is wrong, or Spark does not start.
        TraceError: there is no table, or the catalog cannot be written.
    """
    console = console_beside(asked.json)
    from ..spark.pipeline import SparkCatalog, Table, copy_table

    folder = Table(asked.table)
    folder.need()
    with interrupts():
        catalog = SparkCatalog(asked.session(), asked.schema, format=asked.format)
        done = copy_table(folder, catalog)
    for name, parts in done.items():
        console.say(f"{asked.schema}.{name}: {parts[0]}" + (f" and {len(parts) - 1:,} more" if len(parts) > 1 else ""))
    if not done:
        console.say("nothing new")
    write_json(asked.json, done)
    return 0
