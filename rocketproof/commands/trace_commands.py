"""The commands about recorded traces. Their implementations are imported on use, as for all commands."""

from __future__ import annotations

from typing import Annotated

import typer

from .collect_options import Collect, Security
from .options import (
    EXIT_CODES,
    OWN_PROCESS,
    Delays,
    EveryClaim,
    Importing,
    Json,
    Master,
    Paths,
    Skew,
    Slack,
    Stories,
    Strict,
    Terms,
    Zone,
    argument,
    exit_codes,
    flag,
    option,
    spread,
)
from .outputs import CheckOutputs

CHECK_EXIT_CODES = exit_codes(
    "nothing is violated",
    "a claim is violated",
    "something is unknown: a part cannot be read, clocks are too far apart, nothing could be judged, or Ctrl-C",
)

CONFORM_EXIT_CODES = exit_codes(
    "every event that concerns a queue is a behaviour of the model",
    "there is a model mismatch",
    "something is unknown: events are missing, there is nothing to follow, or Ctrl-C",
)

DIAGNOSE_EXIT_CODES = exit_codes(
    "nothing is wrong: no claim is violated, and the model allows every event",
    "something is wrong; known bugs that explain it are named, if there are any",
    "undecided: too little was recorded, or Ctrl-C",
)

REPRODUCE_EXIT_CODES = exit_codes(
    "the run and what reproduces it were written",
    "",
    "Ctrl-C",
    wrong_usage="wrong usage or input, nothing to reproduce, or no run of the model shows it",
)

COLLECT_EXIT_CODES = exit_codes(
    "all that was asked for is in the folder",
    "",
    "there is more: a limit was reached, a broker did not answer, or Ctrl-C; run the same command again",
    wrong_usage="wrong usage, or the cluster does not answer or refuses",
)

traces = typer.Typer(rich_markup_mode=None)


def _settle(context: typer.Context) -> bool:
    """Prepare the process for a trace, if the command owns it; returns whether it does."""
    if context.obj is OWN_PROCESS:
        from .preparing import pyarrow_without_pandas

        pyarrow_without_pandas()
    return context.obj is OWN_PROCESS


@traces.command(
    short_help="Check recorded traces.",
    help="Check recorded traces against what RocketMQ promises: logs, message traces, or the kit's own format."
    + CHECK_EXIT_CODES,
    epilog="Example: rocketproof check trace.jsonl --message 7F0000010A3E18B4AAC2464BCE59001F",
)
@spread
def check(
    context: typer.Context,
    paths: Paths = None,
    engine: Annotated[str, option("NAME", "auto, local (this process), or spark.")] = "auto",
    master: Master = "",
    property_: Annotated[
        list[str] | None, option("ID", "Count only this claim (see --list); repeatable.", "--property")
    ] = None,
    message: Annotated[str, option("KEY", "What happened to this message? Its unique key or message id.")] = "",
    queue: Annotated[
        str, option("NAME", "Show only findings of queues with this name: topic@broker:id, or a part of it.")
    ] = "",
    skew: Skew = "50ms",
    delays: Delays = "",
    config: Terms = "",
    format_: Annotated[
        str, option("NAME", "Format of the files; auto detects it from their content.", "--format")
    ] = "auto",
    zone: Zone = "",
    import_: Importing = None,
    died: Annotated[
        list[str] | None, option("CLIENT@TIME", "A process that was killed at that time; repeatable.", "--died")
    ] = None,
    strict: Strict = False,
    memory: Annotated[str, option("SIZE", "Memory for packed events and monitors, such as 4GiB.")] = "4GiB",
    stories: Stories = 3,
    every: EveryClaim = False,
    *,
    outputs: CheckOutputs,
    list_: Annotated[bool, flag("--list", "List the claims instead of checking.")] = False,
) -> None:
    """Check what was asked for, and leave with its exit code."""
    if _settle(context):
        from ..traces.engine.kept_memory import keep_freed_memory

        keep_freed_memory()
    from . import check as run
    from .engine import engine_of
    from .sizes import read_death, read_size, read_time

    if list_:
        run.list_all()
        raise typer.Exit
    request = run.CheckRequest(
        paths=paths or [],
        engine=engine_of(engine),
        master=master,
        claims=property_ or [],
        message=message,
        queue=queue,
        skew=read_time("--skew", skew),
        strict=strict,
        deaths=[read_death(text) for text in died or []],
        format=format_,
        options=run.importer_options(zone, import_ or []),
        delays=delays,
        config=config,
        memory=read_size("--memory", memory),
        stories=stories,
        every=every,
    )
    raise typer.Exit(run.check(request, outputs))


@traces.command(
    short_help="Check the traces of real runs that come with the kit.",
    help="Check the traces of real runs of RocketMQ that come with the kit, and compare them with what is expected."
    + EXIT_CODES,
    epilog="Example: rocketproof samples kill-9-mid-batch",
)
def samples(
    names: Annotated[list[str] | None, argument("NAME", "Scenarios, or samples as scenario-release.")] = None,
    json: Json = "",
    add: Annotated[
        bool, flag("--add", "NAMEs are folders that 'lab run --out' has left: make these runs samples.")
    ] = False,
) -> None:
    """Check what was asked for, and leave with its exit code."""
    from . import samples as run

    raise typer.Exit(run.add(names or []) if add else run.check_samples(names or [], to_json=json))


@traces.command(
    short_help="Follow recorded traces through the model.",
    help="Follow recorded traces through the model: each event must be a step that the model can take."
    + CONFORM_EXIT_CODES,
    epilog="Example: rocketproof conform capture.jsonl",
)
def conform(
    context: typer.Context,
    paths: Paths = None,
    engine: Annotated[str, option("NAME", "auto, local (this machine), or spark.")] = "auto",
    jobs: Annotated[int, option("N", "Number of processes that follow queues in parallel.", min=1)] = 1,
    master: Master = "",
    slack: Slack = "50ms",
    mismatches: Annotated[int, option("N", "How many mismatches to print at most.", min=0)] = 10,
    strict: Strict = False,
    json: Json = "",
) -> None:
    """Follow what was given, and leave with its exit code."""
    from .engine import Engine, engine_of

    on_spark = engine_of(engine) is Engine.SPARK
    if not on_spark:
        _settle(context)
    from . import conform as run
    from .sizes import read_time

    raise typer.Exit(
        run.conform_traces(
            paths or [],
            on_spark=on_spark,
            master=master,
            jobs=jobs,
            slack=read_time("--slack", slack),
            strict=strict,
            shown=mismatches,
            json_file=json,
        )
    )


@traces.command(
    short_help="Name the known bugs that explain a recorded trace.",
    help="Check a recorded trace, follow it through the model and through the model with each known bug, and name the "
    "bugs that explain what is wrong." + DIAGNOSE_EXIT_CODES,
    epilog="Example: rocketproof diagnose /var/tmp/traces --report page.html",
)
def diagnose(
    context: typer.Context,
    paths: Paths = None,
    config: Terms = "",
    slack: Slack = "50ms",
    strict: Strict = False,
    json: Json = "",
    report: Annotated[str, option("FILE.html", "Write the answer as an HTML page.")] = "",
) -> None:
    """Diagnose what was given, and leave with its exit code."""
    _settle(context)
    from . import diagnose as run
    from .sizes import read_time

    code = run.diagnose(
        paths or [], config=config, slack=read_time("--slack", slack), strict=strict, json=json, report=report
    )
    raise typer.Exit(code)


@traces.command(
    short_help="Write the shortest run of the model that reproduces a finding, as a test.",
    help="Find the shortest run of the model that shows what a recorded trace shows, in a configuration like that of "
    "the recorded group. Write it as a pytest file, as a lab scenario if real clients can be made to do it, and as an "
    "explorer page, with what the trace says about the deployment." + REPRODUCE_EXIT_CODES,
    epilog="Example: rocketproof reproduce trace.jsonl nothing-skipped --out incident",
)
def reproduce(
    context: typer.Context,
    path: Annotated[str, argument("TRACE", "A file or folder that is a trace.")],
    finding: Annotated[str, argument("[FINDING]", "A violated claim, or a known bug.")] = "",
    out: Annotated[str, option("DIR", "The folder, new or empty.")] = "incident",
    config: Terms = "",
    slack: Slack = "50ms",
    strict: Strict = False,
) -> None:
    """Reproduce what was given, and leave with its exit code."""
    _settle(context)
    from . import reproduce as run
    from .sizes import read_time

    slack_ms = read_time("--slack", slack)
    raise typer.Exit(run.reproduce([path], finding, out, config=config, slack=slack_ms, strict=strict))


@traces.command(
    short_help="Read a running cluster, without changing it, into a folder to check.",
    help="Read the message trace, stored offsets, members and routes of a running cluster into a folder that check "
    "reads. Nothing is changed in the cluster. Run it again to add what is new." + COLLECT_EXIT_CODES,
    epilog="Example: rocketproof collect --namesrv 10.0.0.1:9876 --group orders --since 2h --out incident",
)
@spread
def collect(asked: Collect, security: Security) -> None:
    """Collect what was asked for, and leave with its exit code."""
    from .collect import collect as run

    raise typer.Exit(run(asked, security))
