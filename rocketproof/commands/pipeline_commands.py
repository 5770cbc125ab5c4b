"""The commands below ``rocketproof pipeline``. Their implementations are imported on use, as for all commands."""

from __future__ import annotations

import typer

from .options import exit_codes, show_help, spread
from .pipeline_options import Copy, Ingest, Mine, Report, Watch

EXIT_CODES = exit_codes(
    "done; of report: nothing is violated",
    "of report: a claim is violated",
    "of report: something is unknown; or Ctrl-C",
    wrong_usage="wrong usage or input, or a table that cannot be read or written",
)

pipeline = typer.Typer(
    name="pipeline",
    rich_markup_mode=None,
    short_help="Ingest recordings into a trace table, mine it and report.",
    help="Ingest recordings into a trace table with Spark, hour by hour or as they arrive, mine the table, and "
    "report what was found." + EXIT_CODES,
)


pipeline.callback(invoke_without_command=True)(show_help)


@pipeline.command(
    short_help="Add recordings to a trace table.",
    help="Add recordings, in every form that 'check' reads, to a trace table. What is already there adds nothing."
    + EXIT_CODES,
    epilog="Example: rocketproof pipeline ingest /lake/rocketmq /captures --cluster prod",
)
@spread
def ingest(asked: Ingest) -> None:
    """Ingest what was given."""
    from .pipeline_ingest import ingest as run

    raise typer.Exit(run(asked))


@pipeline.command(
    short_help="Check every cluster of a trace table against all claims.",
    help="Check every cluster of a trace table against all claims, and publish what is found as tables of a run. "
    "Only clusters with something new are mined." + EXIT_CODES,
    epilog="Example: rocketproof pipeline mine /lake/rocketmq --since 2026-11-22",
)
@spread
def mine(asked: Mine) -> None:
    """Mine what was asked for."""
    from .pipeline_mine import mine as run

    raise typer.Exit(run(asked))


@pipeline.command(
    short_help="Report what a mining run has found.",
    help="Report what a mining run has found: for one cluster as 'check' does, for several with one line each."
    + EXIT_CODES,
    epilog="Example: rocketproof pipeline report /lake/rocketmq --cluster prod --report incident",
)
@spread
def report(asked: Report) -> None:
    """Report what was asked for."""
    from .pipeline_report import report as run

    raise typer.Exit(run(asked))


@pipeline.command(
    short_help="Copy the contents of a trace table into tables of a catalog.",
    help="Copy a trace table, and what its last run has found, into tables of a Spark catalog, in Iceberg, Delta "
    "or another format. What is already there is not copied again." + EXIT_CODES,
    epilog="Example: rocketproof pipeline copy /lake/rocketmq lake.rocketmq --format iceberg",
)
@spread
def copy(asked: Copy) -> None:
    """Copy what is new."""
    from .pipeline_copy import copy as run

    raise typer.Exit(run(asked))


@pipeline.command(
    short_help="Ingest, mine and report what arrives, as a stream.",
    help="Watch folders in which recordings arrive, or a Spark source such as Kafka. What arrives is ingested "
    "and mined, and each finding is reported once, and again when it changes. Ctrl-C and SIGTERM end it; "
    "the next run continues where it was." + EXIT_CODES,
    epilog="Example: rocketproof pipeline watch /lake/rocketmq /captures --cluster prod --json alerts.jsonl",
)
@spread
def watch(asked: Watch) -> None:
    """Watch what was asked for."""
    from .pipeline_watch import watch as run

    raise typer.Exit(run(asked))
