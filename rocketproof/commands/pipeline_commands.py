"""The commands below ``rocketproof pipeline``. Their implementations are imported on use, as for all commands."""

from __future__ import annotations

from typing import Annotated

import typer

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
    exit_codes,
    flag,
    option,
    show_help,
)

EXIT_CODES = exit_codes(
    "done; of report: nothing is violated",
    "of report: a claim is violated",
    "of report: something is unknown; or Ctrl-C",
    wrong_usage="wrong usage or input, or a table that cannot be read or written",
)

TableFolder = Annotated[str, argument("TABLE", "Folder of the trace table.")]
TableOfAny = Annotated[str, argument("TABLE", "Folder of the trace table; or a schema of a catalog, lake.rocketmq.")]
Work = Annotated[str, option("DIR", "Folder in which a table of a catalog is processed; it may be kept.")]
Conf = Annotated[list[str] | None, option("NAME=VALUE", "A setting of Spark; repeatable.", "--conf")]

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
def ingest(
    table: TableFolder,
    paths: Annotated[list[str], argument("PATH...", "Files and folders, also by addresses that Spark knows.")],
    cluster: Annotated[str, option("NAME", "Name of the cluster that was recorded.")] = "default",
    zone: Zone = "",
    import_: Importing = None,
    strict: Strict = False,
    batch: Annotated[str, option("SIZE", "Files of about this size are published together, such as 4GiB.")] = "4GiB",
    master: Master = "",
    conf: Conf = None,
    json: Json = "",
) -> None:
    """Ingest what was given."""
    from .check import importer_options
    from .pipeline_ingest import ingest as run
    from .sizes import read_size

    raise typer.Exit(
        run(
            table,
            paths,
            cluster=cluster,
            options=importer_options(zone, import_ or []),
            strict=strict,
            batch_bytes=read_size("--batch", batch),
            master=master,
            conf=conf or [],
            json_file=json,
        )
    )


@pipeline.command(
    short_help="Check every cluster of a trace table against all claims.",
    help=(
        "Check every cluster of a trace table against all claims, and publish what is found as tables of a run. "
        "Only clusters with something new are mined."
    )
    + EXIT_CODES,
    epilog="Example: rocketproof pipeline mine /lake/rocketmq --since 2026-11-22",
)
def mine(
    table: TableOfAny,
    work: Work = "",
    since: Annotated[str, option("DAY", "First day whose events count, such as 2026-11-22.")] = "",
    until: Annotated[str, option("DAY", "Last day whose events count.")] = "",
    lateness: Annotated[
        str, option("TIME", "Events that arrive this much later than others do not cause anything to be mined again.")
    ] = "10min",
    skew: Skew = "50ms",
    delays: Delays = "",
    config: Terms = "",
    master: Master = "",
    conf: Conf = None,
    json: Json = "",
) -> None:
    """Mine what was asked for."""
    from .pipeline_mine import mine as run
    from .sizes import read_time

    code = run(
        table,
        work=work,
        since=since,
        until=until,
        lateness=read_time("--lateness", lateness),
        skew=read_time("--skew", skew),
        delays=delays,
        config=config,
        master=master,
        conf=conf or [],
        json_file=json,
    )
    raise typer.Exit(code)


@pipeline.command(
    short_help="Report what a mining run has found.",
    help=("Report what a mining run has found: for one cluster as 'check' does, for several with one line each.")
    + EXIT_CODES,
    epilog="Example: rocketproof pipeline report /lake/rocketmq --cluster prod --report incident",
)
def report(
    table: TableOfAny,
    work: Work = "",
    cluster: Annotated[str, option("NAME", "Only this cluster.")] = "",
    run_: Annotated[str, option("NAME", "Only this run; by default the last one.", "--run")] = "",
    stories: Stories = 3,
    every: EveryClaim = False,
    report: Annotated[str, option("DIR", "Write an HTML report of one cluster to a folder.")] = "",
    master: Master = "",
    conf: Conf = None,
    json: Json = "",
) -> None:
    """Report what was asked for."""
    from .pipeline_report import report as run

    code = run(
        table,
        work=work,
        cluster=cluster,
        run=run_,
        stories=stories,
        every=every,
        folder=report,
        master=master,
        conf=conf or [],
        json_file=json,
    )
    raise typer.Exit(code)


@pipeline.command(
    short_help="Copy the contents of a trace table into tables of a catalog.",
    help=(
        "Copy a trace table, and what its last run has found, into tables of a Spark catalog, in Iceberg, Delta "
        "or another format. What is already there is not copied again."
    )
    + EXIT_CODES,
    epilog="Example: rocketproof pipeline copy /lake/rocketmq lake.rocketmq --format iceberg",
)
def copy(
    table: TableFolder,
    schema: Annotated[str, argument("SCHEMA", "Schema of a catalog, such as lake.rocketmq.")],
    format: Annotated[
        str, option("NAME", "Format of new tables, such as iceberg; by default that of the catalog.")
    ] = "",
    master: Master = "",
    conf: Conf = None,
    json: Json = "",
) -> None:
    """Copy what is new."""
    from .pipeline_copy import copy as run

    raise typer.Exit(run(table, schema, format=format, master=master, conf=conf or [], json_file=json))


@pipeline.command(
    short_help="Ingest, mine and report what arrives, as a stream.",
    help=(
        "Watch folders in which recordings arrive, or a Spark source such as Kafka. What arrives is ingested "
        "and mined, and each finding is reported once, and again when it changes. Ctrl-C and SIGTERM end it; "
        "the next run continues where it was."
    )
    + EXIT_CODES,
    epilog="Example: rocketproof pipeline watch /lake/rocketmq /captures --cluster prod --json alerts.jsonl",
)
def watch(
    table: TableFolder,
    paths: Annotated[list[str] | None, argument("[PATH...]", "Folders, also by addresses that Spark knows.")] = None,
    cluster: Annotated[str, option("NAME", "Name of the cluster that was recorded.")] = "default",
    every: Annotated[str, option("TIME", "How often to look for what has arrived.")] = "1min",
    once: Annotated[bool, flag("--once", "Process what has arrived, and end; for cron.", "--available-now")] = False,
    watermark: Annotated[
        str, option("TIME", "How late events may arrive: findings are reported once this time has passed.")
    ] = "10min",
    doubtful: Annotated[bool, flag("--doubtful", "Report findings that are in doubt, too.")] = False,
    from_: Annotated[str, option("FORMAT", "A source of lines, such as kafka.", "--from")] = "",
    option: Annotated[list[str] | None, option("NAME=VALUE", "Option of that source; repeatable.", "--option")] = None,
    header: Annotated[str, option("FILE", "A trace whose first line is the header of these lines.")] = "",
    to: Annotated[str, option("FORMAT", "A Spark sink that also gets the alerts.")] = "",
    to_option: Annotated[
        list[str] | None, option("NAME=VALUE", "Option of that sink; repeatable.", "--to-option")
    ] = None,
    checkpoint: Annotated[str, option("DIR", "Folder for the state of the stream; by default in the table.")] = "",
    keep_runs: Annotated[int, option("N", "Older runs are removed.", min=6)] = 100,
    zone: Zone = "",
    import_: Importing = None,
    skew: Skew = "50ms",
    delays: Delays = "",
    config: Terms = "",
    master: Master = "",
    conf: Conf = None,
    json: Annotated[str, option("FILE|-", "Add alerts as lines of JSON; - for standard output.", "--json")] = "",
) -> None:
    """Watch what was asked for."""
    from .check import importer_options
    from .pipeline_watch import Source
    from .pipeline_watch import watch as run
    from .sizes import read_time

    code = run(
        table,
        Source(paths=paths or [], format=from_, options=option or [], header=header),
        cluster=cluster,
        options=importer_options(zone, import_ or []),
        every=read_time("--every", every),
        once=once,
        watermark=read_time("--watermark", watermark),
        doubtful=doubtful,
        checkpoint=checkpoint,
        kept_runs=keep_runs,
        skew=read_time("--skew", skew),
        delays=delays,
        config=config,
        to=to,
        to_options=to_option or [],
        master=master,
        conf=conf or [],
        json_file=json,
    )
    raise typer.Exit(code)
