"""``rocketproof pipeline ingest``: add recordings to a trace table."""

from __future__ import annotations

from ..output.console import PROBLEMS_SHOWN, console_beside, interrupts
from ..output.files import write_json
from ..traces.explain.report.words import counted
from .check import importer_options
from .pipeline_options import Ingest
from .sizes import read_size


def ingest(asked: Ingest) -> int:
    """Ingest the given recordings and print the result; returns exit code 0.

    Raises:
        InputError: an option is wrong, or Spark does not start.
        TraceError: nothing can be read, or the table cannot be written.
    """
    options, batch_bytes = importer_options(asked.zone, asked.import_ or ()), read_size("--batch", asked.batch)
    console = console_beside(asked.json)
    from ..spark.pipeline import Table
    from ..spark.pipeline import ingest as add

    with interrupts():
        done = add(
            asked.session(),
            asked.paths,
            Table(asked.table),
            cluster=asked.cluster,
            options=options,
            strict=asked.strict,
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
    write_json(asked.json, said)
    return 0
