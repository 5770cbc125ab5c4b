"""The command line. Heavy modules are imported where they are needed, so that ``--help`` answers at once."""

from __future__ import annotations

import enum
import errno
import io
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from .commands.lab_commands import lab
from .commands.options import Constants, Json, Junit, Master, Paths, Slack, Strict, Terms, exit_codes
from .commands.pipeline_commands import pipeline
from .output.progress import Interrupted
from .traces.format.printable import printable, printable_lines

AS_EXPECTED, VIOLATED, UNKNOWN, WRONG_USAGE, DEFECT = range(5)

EXIT_CODES = exit_codes(
    "everything as expected",
    "a property is violated, or an expected finding was not found",
    "something is unknown: a limit was hit, a solver gave up, or Ctrl-C",
)


class Annotations(enum.StrEnum):
    """Forms of annotations."""

    GITHUB = "github"


MUTANT_EXIT_CODES = exit_codes(
    "every mutant is killed, and nothing is violated without it",
    "a mutant survived, or its property is violated without it",
    "something is unknown: a limit was hit, a mutant is missing, or Ctrl-C",
)

CHECK_EXIT_CODES = exit_codes(
    "nothing is violated",
    "a claim is violated",
    "something is unknown: a part cannot be read, clocks are too far apart, nothing could be judged, or Ctrl-C",
)

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What goes wrong with standard output that is a file on a full disk."""

OWN_PROCESS = "own process"
"""What commands find in their context where nothing else runs in this process, so they may settle things."""

app = typer.Typer(
    name="rocketproof",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Check what RocketMQ consumption guarantees, and what it does not." + EXIT_CODES,
)

app.add_typer(lab)
app.add_typer(pipeline)


def _settle(context: typer.Context) -> bool:
    """Prepare the process for a trace, if it is the command's own; whether it is."""
    if context.obj is OWN_PROCESS:
        from .commands.preparing import pyarrow_without_pandas

        pyarrow_without_pandas()
    return context.obj is OWN_PROCESS


@app.callback(invoke_without_command=True)
def _door(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from . import __version__

        typer.echo(f"rocketproof {__version__}")
        raise typer.Exit(AS_EXPECTED)


@app.command(
    short_help="Check properties of the model.",
    help="Check properties of the model, all of the default suite or those named." + EXIT_CODES,
    epilog="Example: rocketproof verify one-queue-one-consumer --set strategy=CONSISTENT_HASH",
)
def verify(
    properties: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROPERTY", show_default=False, help="Ids of properties, as --list shows them."),
    ] = None,
    machine: Annotated[str, typer.Option(metavar="NAME", help="Only properties of this machine.")] = "",
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What is claimed of a preset: assignment, delivery, orderly, retry, broadcast, everything-small.",
        ),
    ] = "",
    module: Annotated[
        str,
        typer.Option(metavar="MODULE", help="Check the CLAIMS of a module of your own, about machines of your own."),
    ] = "",
    set_: Constants = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Only rows whose configuration has this constant; repeatable."),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Use this engine: explore, prove, simulate, stateful (of all presets, where nothing else is asked "
            "for), liveness, groups, refine.",
        ),
    ] = "",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Give up (UNKNOWN) beyond: states=N or N, seconds=N or Ns, memory=N or NMiB, depth=N, work=N "
            "(prove), runs=N, steps=N, seed=N (simulate, stateful); repeatable.",
        ),
    ] = None,
    reduce: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Let searches leave out states that change no verdict: symmetry, partial-order; repeatable.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", min=0, help="Searches at a time, each in a process; 0 is one for each core.")
    ] = 0,
    on_disk: Annotated[
        str,
        typer.Option(
            metavar="FOLDER",
            help="Keep the states of searches there instead of in memory; a search that was interrupted goes on.",
        ),
    ] = "",
    config: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Check the deployment that a TOML file describes, with its [verify] options."
        ),
    ] = "",
    fail_on: Annotated[
        str, typer.Option(metavar="LEVEL", help="With a deployment: fail on error (usual), warning or note, and above.")
    ] = "",
    json: Json = "",
    junit: Junit = "",
    report: Annotated[
        str, typer.Option(metavar="FILE.html", help="Write a page in which each finding opens as a run.")
    ] = "",
    sarif: Annotated[
        str, typer.Option("--sarif", metavar="FILE", help="With a deployment: write the findings as SARIF 2.1.0.")
    ] = "",
    annotations: Annotated[
        Annotations | None,
        typer.Option(metavar="github", help="With a deployment: print the findings as GitHub annotations."),
    ] = None,
    through: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STEP", help="Only runs with this step in it, such as 'c0 dies'; repeatable, in this order."
        ),
    ] = None,
    stories: Annotated[bool, typer.Option("--stories", help="Tell the story of every row that has one.")] = False,
    brief: Annotated[bool, typer.Option("--brief", help="Tell stories without what each step changes.")] = False,
    picture: Annotated[str, typer.Option(metavar="FILE", help="Draw the run of the first story, as SVG.")] = "",
    glossary: Annotated[
        bool, typer.Option("--glossary", help="Explain the names and the rules that the stories are about.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print every row, also of many; usually each guarantee once.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List properties and constants instead of checking.")] = False,
    search: Annotated[
        str, typer.Option(metavar="WORDS", help="Find properties by words, in English or Chinese, instead of checking.")
    ] = "",
    strategy: Annotated[
        str, typer.Option(metavar="MODULE:FUNCTION", help="Check an allocation strategy of your own, in Python.")
    ] = "",
    strategy_command: Annotated[
        str,
        typer.Option(metavar="COMMAND", help="Check a strategy that a program of your own answers, a JSON line each."),
    ] = "",
) -> None:
    """Check what was asked for, and leave with its exit code."""
    from .commands import verify as run
    from .commands.request import Outputs, Request

    request = Request.of(
        properties=properties or [],
        machine=machine,
        constants=set_ or [],
        engine=engine,
        limits=limit or [],
        config=Path(config) if config else None,
        strategy=strategy,
        strategy_command=strategy_command,
        preset=preset,
        module=module,
        fail_on=fail_on,
        jobs=jobs,
        on_disk=on_disk,
        reduce=reduce or [],
        through=through or [],
        where=where or [],
    )
    if list_:
        run.list_rows(request)
        raise typer.Exit(AS_EXPECTED)
    if search:
        run.search_rows(search, request)
        raise typer.Exit(AS_EXPECTED)
    outputs = Outputs(
        json=json,
        junit=junit,
        sarif=sarif,
        annotations=annotations is not None,
        stories=stories,
        brief=brief,
        picture=picture,
        glossary=glossary,
        verbose=verbose,
        report=report,
    )
    raise typer.Exit(run.verify(request, outputs))


@app.command(
    short_help="Put known bugs into the model: which property notices?",
    help="Put known bugs of RocketMQ into the model, all of them or those named, and see which property notices each."
    + MUTANT_EXIT_CODES,
    epilog="Example: rocketproof mutants A9",
)
def mutants(
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", show_default=False, help="Ids of known bugs, as --list shows them, or a letter."),
    ] = None,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Ask all other properties and engines too: the kill matrix.")
    ] = False,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="As for verify; usually states=30000000 for each search."),
    ] = None,
    json: Json = "",
    junit: Junit = "",
    report: Annotated[
        str, typer.Option(metavar="FILE.html", help="Write a page in which each bug opens as its counterexample.")
    ] = "",
    picture: Annotated[str, typer.Option(metavar="FILE", help="Draw the first counterexample, as SVG.")] = "",
    stories: Annotated[bool, typer.Option("--stories", help="Tell the story of every counterexample.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the mutants instead of trying them.")] = False,
    generated: Annotated[
        bool, typer.Option("--generated", help="Try every small change of the model's texts, not the known bugs.")
    ] = False,
    part: Annotated[
        str, typer.Option(metavar="PART", help="With --generated: of one part, such as orderly_lock.")
    ] = "",
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="With --generated: processes.")] = 1,
    sample: Annotated[
        int | None, typer.Option(metavar="N", help="With --generated: so many, chosen by part and kind.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", help="With --sample: which ones.")] = 0,
    at_least: Annotated[
        float | None, typer.Option(metavar="PERCENT", help="With --generated: exit code 0 if so many are killed.")
    ] = None,
    html: Annotated[str, typer.Option(metavar="FILE|-", help="With --generated: write the report as a page.")] = "",
    keep: Annotated[
        str, typer.Option(metavar="FILE", help="With --generated: keep what is known in FILE, and go on from it.")
    ] = "",
) -> None:
    """Try what was asked for, and leave with its exit code."""
    from .commands import mutants as run
    from .commands.request import Request
    from .errors import InputError

    only = {"--part": part, "--jobs": jobs != 1, "--sample": sample, "--seed": seed, "--at-least": at_least}
    misplaced = [name for name, value in {**only, "--html": html, "--keep": keep}.items() if value]
    if misplaced and not generated:
        raise InputError(f"{misplaced[0]} is about generated mutants; add --generated.")
    if generated and (picture or junit):
        option = "--picture" if picture else "--junit"
        raise InputError(f"{option} is about known bugs; leave --generated out.")
    if list_ and not generated:
        run.list_mutants(ids or [])
        raise typer.Exit(AS_EXPECTED)
    request = Request.of(limits=limit or [])
    if generated:
        from .commands import generated_mutants

        asked = generated_mutants.Asked(
            part=part,
            sample=sample,
            seed=seed,
            jobs=jobs,
            matrix=matrix,
            at_least=at_least,
            list_only=list_,
            json=json,
            html=html,
            keep=keep,
            ids=tuple(ids or ()),
        )
        raise typer.Exit(generated_mutants.generated(asked, request.limit))
    outputs = run.Outputs(matrix=matrix, stories=stories, json=json, junit=junit, report=report, picture=picture)
    raise typer.Exit(run.mutants(ids or [], request.limit, outputs))


@app.command(
    short_help="Write a machine as Promela, for SPIN.",
    help="Write a configuration of a machine as Promela, for the model checker SPIN.",
    epilog="Example: rocketproof export assignment --set consumers=3 --output group.pml",
)
def export(
    machine: Annotated[str, typer.Argument(metavar="MACHINE", help="Name of the machine, such as assignment.")],
    set_: Constants = None,
    invariant: Annotated[
        list[str] | None,
        typer.Option(metavar="PROPERTY", help="Assert this property of kind 'always' after each step; repeatable."),
    ] = None,
    output: Annotated[str, typer.Option(metavar="FILE|-", help="Where to write; - for standard output.")] = "-",
) -> None:
    """Write what was asked for, and leave with its exit code."""
    from .commands import export as run
    from .commands.request import read_constants

    raise typer.Exit(run.export(machine, read_constants(set_ or []), invariants=invariant or [], to=output))


@app.command(
    short_help="Step through the model in a browser.",
    help="Make a page in which the model itself runs: step, undo, search the shortest run to something. The page "
    "is one file and needs no network.",
    epilog="Example: rocketproof explore delivery --set messages=3 --out delivery.html",
)
def explore(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", show_default=False, help="A machine, preset, property, known bug or recorded trace."
        ),
    ],
    set_: Constants = None,
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE…", help="A further configuration in the page, as in 'messages=1 crashes=2'."),
    ] = None,
    out: Annotated[str, typer.Option(metavar="FILE|-", help="Where to write; usually NAME.html.")] = "",
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve the page on this machine instead, also for other constants.")
    ] = False,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="Where to serve; 0 is any free port.")] = 0,
) -> None:
    """Make or serve what was asked for, and leave with its exit code."""
    from .commands import explore as run
    from .commands.request import read_constants

    request = run.ExploreRequest(
        name=name,
        constants=read_constants(set_ or []),
        also=[read_constants(each.split()) for each in also or []],
        out=out,
        port=port if serve else None,
    )
    raise typer.Exit(run.explore(request))


@app.command(
    short_help="Check recorded traces.",
    help="Hold recorded traces against what RocketMQ promises: logs, message traces, or the kit's own format."
    + CHECK_EXIT_CODES,
    epilog="Example: rocketproof check trace.jsonl --message 7F0000010A3E18B4AAC2464BCE59001F",
)
def check(
    context: typer.Context,
    paths: Paths = None,
    engine: Annotated[str, typer.Option(metavar="NAME", help="auto, local (this process), or spark.")] = "auto",
    master: Master = "",
    property_: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="ID", help="Only this claim counts, see --list; repeatable."),
    ] = None,
    message: Annotated[
        str, typer.Option(metavar="KEY", help="What happened to this message? Its unique key or message id.")
    ] = "",
    queue: Annotated[
        str, typer.Option(metavar="NAME", help="Only findings of queues called so: topic@broker:id, or a part of it.")
    ] = "",
    skew: Annotated[
        str, typer.Option(metavar="TIME", help="How far clocks of different machines may be apart, such as 50ms or 2s.")
    ] = "50ms",
    delays: Annotated[
        str, typer.Option(metavar="LEVELS", help="messageDelayLevel of the brokers, where the trace does not say it.")
    ] = "",
    config: Terms = "",
    format_: Annotated[
        str, typer.Option("--format", metavar="NAME", help="Form of the files; auto looks at what is in them.")
    ] = "auto",
    zone: Annotated[
        str, typer.Option(metavar="ZONE", help="Of times in logs, such as UTC, +08:00 or Europe/Berlin.")
    ] = "",
    import_: Annotated[
        list[str] | None,
        typer.Option("--import", metavar="NAME=VALUE", help="What logs do not say: group, client, broker; repeatable."),
    ] = None,
    died: Annotated[
        list[str] | None,
        typer.Option("--died", metavar="CLIENT@TIME", help="A process that was killed then; repeatable."),
    ] = None,
    strict: Strict = False,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Room for packed events and what monitors keep, such as 4GiB.")
    ] = "4GiB",
    stories: Annotated[int, typer.Option(metavar="N", min=0, help="Violations of each claim that are told.")] = 3,
    every: Annotated[bool, typer.Option("--all", help="Print a line for each claim.")] = False,
    report: Annotated[
        str, typer.Option(metavar="DIR", help="Write a report to look at, and tables of all findings, to a folder.")
    ] = "",
    json: Json = "",
    junit: Junit = "",
    sarif: Annotated[str, typer.Option("--sarif", metavar="FILE", help="Write the violations as SARIF 2.1.0.")] = "",
    annotations: Annotated[
        Annotations | None,
        typer.Option(metavar="github", help="Print what is violated as GitHub annotations."),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the claims instead of checking.")] = False,
) -> None:
    """Check what was asked for, and leave with its exit code."""
    if _settle(context):
        from .commands.preparing import keep_freed_memory

        keep_freed_memory()
    from .commands import check as run
    from .commands.sizes import read_death, read_size, read_time

    if list_:
        run.list_all()
        raise typer.Exit(AS_EXPECTED)
    request = run.CheckRequest(
        paths=paths or [],
        engine=run.engine_of(engine),
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
    outputs = run.CheckOutputs(report=report, json=json, junit=junit, sarif=sarif, annotations=annotations is not None)
    raise typer.Exit(run.check(request, outputs))


@app.command(
    short_help="Make a trace of a simulated cluster.",
    help="Make a trace of any size of a simulated cluster, correct or with a known bug, and the truth about it.",
    epilog="Example: rocketproof simulate --messages 1e6 --consumers 8 --mutant B1 --out run",
)
def simulate(
    out: Annotated[str, typer.Option(metavar="DIR", help="A new folder for trace and truth.")] = "",
    messages: Annotated[
        str | None, typer.Option(metavar="N", help="Messages produced, such as 1e6; usually 100,000.")
    ] = None,
    consumers: Annotated[int | None, typer.Option(metavar="N", help="Clients of the group; usually 4.")] = None,
    queues: Annotated[int | None, typer.Option(metavar="N", help="Queues of each topic; usually 16.")] = None,
    topics: Annotated[int | None, typer.Option(metavar="N", help="Topics of the group; usually 1.")] = None,
    brokers: Annotated[int | None, typer.Option(metavar="N", help="Brokers; usually 2.")] = None,
    group_kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="concurrently (usual), orderly or broadcasting.")
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How queues are shared: AVG (usual), AVG_BY_CIRCLE, CONSISTENT_HASH."),
    ] = None,
    rate: Annotated[str | None, typer.Option(metavar="N", help="Messages a second at most; usually 5,000.")] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long messages are produced, such as 2h, at whatever rate.")
    ] = None,
    failure_rate: Annotated[
        float | None, typer.Option(metavar="SHARE", help="First deliveries that fail; usually 0.01.")
    ] = None,
    retry_failure_rate: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Later deliveries that fail; usually 0.4.")
    ] = None,
    refusal_rate: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Send-backs that the broker refuses; usually 0.05.")
    ] = None,
    filtered_rate: Annotated[
        float | None, typer.Option(metavar="SHARE", help="Messages nobody asks for; usually none.")
    ] = None,
    max_attempts: Annotated[
        int | None, typer.Option(metavar="N", help="maxReconsumeTimes; -1 is RocketMQ's default. Usually 3.")
    ] = None,
    churn: Annotated[int | None, typer.Option(metavar="N", help="How often a client leaves, dies or comes.")] = None,
    broker_restarts: Annotated[int | None, typer.Option(metavar="N", help="How often a broker dies.")] = None,
    resets: Annotated[int | None, typer.Option(metavar="N", help="How often an operator resets an offset.")] = None,
    corrections: Annotated[
        int | None, typer.Option(metavar="N", help="How often a replica that lags behind makes a client go back.")
    ] = None,
    timeouts: Annotated[int | None, typer.Option(metavar="N", help="Listener calls that take too long.")] = None,
    consume_timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="How long is too long; usually 60s.")
    ] = None,
    mutant: Annotated[str | None, typer.Option(metavar="ID", help="A known bug of the cluster, see --list.")] = None,
    mutant_places: Annotated[
        int | None, typer.Option(metavar="N", help="At how many places it strikes; usually 3.")
    ] = None,
    delays: Annotated[
        str | None, typer.Option(metavar="LEVELS", help="messageDelayLevel of the brokers, such as '1s 5s 10s'.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="What all chances follow from.")] = None,
    format_: Annotated[str | None, typer.Option("--format", metavar="NAME", help="parquet (usual) or jsonl.")] = None,
    keys: Annotated[bool, typer.Option("--keys", help="Write the unique keys of messages as text too.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the known bugs a simulated cluster can have.")] = False,
) -> None:
    """Simulate what was asked for."""
    from .commands import simulate as run
    from .commands.sizes import read_count, read_time

    if list_:
        run.list_mutants()
        raise typer.Exit(AS_EXPECTED)
    options = {
        "messages": None if messages is None else read_count("--messages", messages),
        "consumers": consumers,
        "queues": queues,
        "topics": topics,
        "brokers": brokers,
        "group_kind": group_kind,
        "strategy": strategy,
        "rate": None if rate is None else read_count("--rate", rate),
        "duration": None if duration is None else read_time("--duration", duration),
        "failure_rate": failure_rate,
        "retry_failure_rate": retry_failure_rate,
        "refusal_rate": refusal_rate,
        "filtered_rate": filtered_rate,
        "max_attempts": max_attempts,
        "churn": churn,
        "broker_restarts": broker_restarts,
        "resets": resets,
        "corrections": corrections,
        "timeouts": timeouts,
        "consume_timeout": None if consume_timeout is None else read_time("--consume-timeout", consume_timeout),
        "mutant": mutant,
        "mutant_places": mutant_places,
        "delays": delays,
        "seed": seed,
        "format": format_,
        "keys": keys or None,
    }
    raise typer.Exit(run.simulate_cluster(out, options))


@app.command(
    short_help="Record a run of the model as a trace.",
    help="Record a run of the model, random or the counterexample of a known bug, as a trace to check.",
    epilog="Example: rocketproof record --mutant B7 --out run",
)
def record(
    out: Annotated[str, typer.Option(metavar="DIR", help="A new folder for trace and truth.")] = "",
    machine: Annotated[
        str, typer.Option(metavar="NAME", help="Of a random run: consumption, everything or assignment.")
    ] = "consumption",
    set_: Constants = None,
    steps: Annotated[int, typer.Option(metavar="N", min=1, help="Length of a random run.")] = 100,
    seed: Annotated[int, typer.Option(metavar="N", help="What its chances follow from.")] = 0,
    mutant: Annotated[
        str, typer.Option(metavar="ID", help="Record the shortest counterexample of this known bug instead.")
    ] = "",
    picture: Annotated[str, typer.Option(metavar="FILE", help="Draw the recorded run, as SVG.")] = "",
    list_: Annotated[
        bool, typer.Option("--list", help="List the known bugs whose counterexamples can be recorded.")
    ] = False,
) -> None:
    """Record what was asked for."""
    from .commands import record as run
    from .commands.request import read_constants

    if list_:
        run.list_mutants()
        raise typer.Exit(AS_EXPECTED)
    request = run.RecordRequest(
        machine=machine, constants=read_constants(set_ or []), steps=steps, seed=seed, mutant=mutant
    )
    raise typer.Exit(run.record(request, out, picture=picture))


@app.command(
    short_help="Check the traces of real runs that come with the kit.",
    help="Check the traces of real runs of RocketMQ that come with the kit, and compare with what is expected."
    + EXIT_CODES,
    epilog="Example: rocketproof samples kill-9-mid-batch",
)
def samples(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", show_default=False, help="Scenarios, or samples as scenario-release."),
    ] = None,
    json: Json = "",
    add: Annotated[
        bool, typer.Option("--add", help="NAMEs are folders that 'lab run --out' has left: make these runs samples.")
    ] = False,
) -> None:
    """Check what was asked for, and leave with its exit code."""
    from .commands import samples as run

    raise typer.Exit(run.add(names or []) if add else run.check_samples(names or [], to_json=json))


LEARN_EXIT_CODES = exit_codes(
    "shown, or the answer is right",
    "the answer is not right yet",
    "the answer could not be judged: a limit was hit, or Ctrl-C",
)


@app.command(
    short_help="Lessons about consumption, with exercises.",
    help="List the lessons; open one; verify the answer to its exercise, a Python file: learn check LESSON FILE."
    + LEARN_EXIT_CODES,
    epilog="Example: rocketproof learn push-is-pull",
)
def learn(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LESSON] | check LESSON FILE", show_default=False, help="A lesson by its number or name."
        ),
    ] = None,
    language: Annotated[str, typer.Option(metavar="CODE", help="en, or zh-CN for Chinese.")] = "en",
    notebook: Annotated[
        str, typer.Option(metavar="FILE|-", help="Write the lesson as a Jupyter notebook instead of showing it.")
    ] = "",
) -> None:
    """List, open, write or verify what was asked for."""
    from .commands import learn as run

    raise typer.Exit(run.learn(words or [], language=language, notebook=notebook))


CONFORM_EXIT_CODES = exit_codes(
    "every event that concerns a queue is a behaviour of the model",
    "there is a model mismatch",
    "something is unknown: events are missing, there is nothing to follow, or Ctrl-C",
)


@app.command(
    short_help="Follow recorded traces through the model.",
    help="Follow recorded traces through the model: each event must be something that the model can do."
    + CONFORM_EXIT_CODES,
    epilog="Example: rocketproof conform capture.jsonl",
)
def conform(
    context: typer.Context,
    paths: Paths = None,
    engine: Annotated[str, typer.Option(metavar="NAME", help="auto, local (this machine), or spark.")] = "auto",
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="Processes that follow queues side by side.")] = 1,
    master: Master = "",
    slack: Slack = "50ms",
    mismatches: Annotated[int, typer.Option(metavar="N", min=0, help="Mismatches that are printed, at most.")] = 10,
    strict: Strict = False,
    json: Json = "",
) -> None:
    """Follow what was given, and leave with its exit code."""
    from .commands.check import Engine, engine_of

    on_spark = engine_of(engine) is Engine.SPARK
    if not on_spark:
        _settle(context)
    from .commands import conform as run
    from .commands.sizes import read_time

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


COLLECT_EXIT_CODES = exit_codes(
    "all that was asked for is in the folder",
    "",
    "there is more: a limit was reached, a broker gave nothing, or Ctrl-C; run the same again",
    wrong_usage="wrong usage, or the cluster does not answer or refuses",
)


@app.command(
    short_help="Read a running cluster, changing nothing, into a folder to check.",
    help="Read the message trace, stored offsets, members and routes of a running cluster into a folder that check "
    "reads. Nothing is changed in the cluster. Run it again, and it adds what is new." + COLLECT_EXIT_CODES,
    epilog="Example: rocketproof collect --namesrv 10.0.0.1:9876 --group orders --since 2h --out incident",
)
def collect(
    namesrv: Annotated[str, typer.Option(metavar="HOST:PORT", help="Name servers, with ; between several.")],
    out: Annotated[str, typer.Option(metavar="FOLDER", help="New or empty, or one that was collected before.")],
    group: Annotated[list[str] | None, typer.Option(metavar="NAME", help="A consumer group; repeatable.")] = None,
    topic: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A topic, besides those that the groups consume; repeatable."),
    ] = None,
    since: Annotated[
        str, typer.Option(metavar="TIME", help="From when on: how long ago, such as 2h, or ISO 8601.")
    ] = "1h",
    until: Annotated[str, typer.Option(metavar="TIME", help="Until when; usually now.")] = "",
    messages: Annotated[
        bool,
        typer.Option(
            "--messages", help="Also which messages the topics, retry and dead-letter topics hold, without bodies."
        ),
    ] = False,
    trace_topic: Annotated[
        str, typer.Option(metavar="NAME", help="Where clients send their message trace; '' leaves it out.")
    ] = "RMQ_SYS_TRACE_TOPIC",
    watch: Annotated[str, typer.Option(metavar="TIME", help="Go on for so long, such as 30m.")] = "",
    every: Annotated[str, typer.Option(metavar="TIME", help="With --watch: from one sample to the next.")] = "10s",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Stop beyond: messages=N (1e6), bytes=SIZE (1GiB), seconds=N (600, besides --watch); repeatable.",
        ),
    ] = None,
    credentials: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Access control: a file with accessKey and secretKey; else ROCKETPROOF_ACCESS_KEY and "
            "ROCKETPROOF_SECRET_KEY are taken.",
        ),
    ] = "",
    tls: Annotated[bool, typer.Option("--tls", help="Encrypt connections.")] = False,
    ca: Annotated[str, typer.Option(metavar="FILE", help="With --tls: certificates to trust, PEM.")] = "",
    cert: Annotated[str, typer.Option(metavar="FILE", help="With --tls: certificate of this client, PEM.")] = "",
    key: Annotated[str, typer.Option(metavar="FILE", help="With --cert: its key, PEM.")] = "",
    tls_unverified: Annotated[
        bool, typer.Option("--tls-unverified", help="With --tls: take any certificate, as RocketMQ's clients do.")
    ] = False,
) -> None:
    """Collect what was asked for, and leave with its exit code."""
    from .commands import collect as run
    from .traces.cluster.collect import Asked

    asked = Asked(groups=tuple(group or ()), topics=tuple(topic or ()), trace_topic=trace_topic, messages=messages)
    security = run.Security(credentials=credentials, tls=tls, ca=ca, cert=cert, key=key, unverified=tls_unverified)
    code = run.collect(
        asked,
        security,
        namesrv=namesrv,
        out=out,
        since=since,
        until=until,
        watch=watch,
        every=every,
        limits=limit or [],
    )
    raise typer.Exit(code)


DIAGNOSE_EXIT_CODES = exit_codes(
    "nothing is wrong: no claim is violated, and the model allows every event",
    "something is wrong; known bugs that explain it are named, if there are any",
    "it cannot be told: too little was recorded, or Ctrl-C",
)


@app.command(
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
    report: Annotated[str, typer.Option(metavar="FILE.html", help="Write the answer as a page.")] = "",
) -> None:
    """Diagnose what was given, and leave with its exit code."""
    _settle(context)
    from .commands import diagnose as run
    from .commands.sizes import read_time

    code = run.diagnose(
        paths or [], config=config, slack=read_time("--slack", slack), strict=strict, json=json, report=report
    )
    raise typer.Exit(code)


REPRODUCE_EXIT_CODES = exit_codes(
    "the run, and what reproduces it, is written",
    "",
    "Ctrl-C",
    wrong_usage="wrong usage or input, nothing to reproduce, or no run of the model shows it",
)


@app.command(
    short_help="Write the shortest run of the model that shows what a trace shows, as a test.",
    help="Find the shortest run of the model that shows what a recorded trace shows, in a configuration like the "
    "recorded group, and write it as a pytest file, as a scenario of the lab where real clients can be made to do it, "
    "as a page of the explorer, and what the trace tells of the deployment." + REPRODUCE_EXIT_CODES,
    epilog="Example: rocketproof reproduce trace.jsonl nothing-skipped --out incident",
)
def reproduce(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="TRACE", show_default=False, help="A file or folder that is a trace.")],
    finding: Annotated[
        str, typer.Argument(metavar="[FINDING]", show_default=False, help="A violated claim, or a known bug.")
    ] = "",
    out: Annotated[str, typer.Option(metavar="DIR", help="The folder, new or empty.")] = "incident",
    config: Terms = "",
    slack: Slack = "50ms",
    strict: Strict = False,
) -> None:
    """Reproduce what was given, and leave with its exit code."""
    _settle(context)
    from .commands import reproduce as run
    from .commands.sizes import read_time

    slack_ms = read_time("--slack", slack)
    raise typer.Exit(run.reproduce([path], finding, out, config=config, slack=slack_ms, strict=strict))


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; a user's mistake gives one line and exit code 3."""
    if arguments is not None:
        sys.exit(_run(arguments))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: what is half done is tidied up
    sys.exit(_run(sys.argv[1:], OWN_PROCESS))


def _run(arguments: list[str], obj: object = None) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without arrows shows a ? for them
    try:
        code = int(app(arguments or ["--help"], prog_name="rocketproof", standalone_mode=False, obj=obj) or AS_EXPECTED)
        sys.stdout.flush()
        # Typer makes an exit code of Ctrl-C.
        return _complain("interrupted", code=UNKNOWN) if code == 128 + signal.SIGINT else code
    except TyperException as error:
        return _complain(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", code=UNKNOWN)
    except Interrupted as stop:
        return _complain(str(stop), code=UNKNOWN)
    except BrokenPipeError:
        # Whoever read the output went away.
        _drop_output()
        return UNKNOWN
    except OSError as error:
        if error.errno not in NO_ROOM:
            return _defect()
        _drop_output()
        return _complain(f"the output cannot be written: {error.strerror}.")
    except MemoryError as error:
        return _complain(f"out of memory ({error}); --limit memory=N (MiB) stops a search before.", code=UNKNOWN)
    except Exception as error:
        from .lab.errors import LabError

        if isinstance(error, LabError):
            return _complain(str(error), whole=True)
        if isinstance(error, _mistakes()):
            return max(_complain(line) for line in getattr(error, "problems", [str(error)]))
        return _defect()


def _defect() -> int:
    print(printable_lines(traceback.format_exc()), end="", file=sys.stderr)
    return _complain("the error above is a defect of rocketproof, please report it.", code=DEFECT)


def _drop_output() -> None:
    """Let what was not written yet go nowhere, or Python would try again, and complain, when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _mistakes() -> tuple[type[Exception], ...]:
    """Errors whose message is for the user; anything else is a defect of ours and shows its traceback."""
    from .checkers.user_strategies import StrategyError
    from .errors import InputError
    from .model.kernel import ConfigurationError, ModelError
    from .traces.errors import TraceError

    return InputError, ConfigurationError, ModelError, StrategyError, TraceError


def _complain(message: str, *, code: int = WRONG_USAGE, whole: bool = False) -> int:
    """Tell what went wrong in one line, or ``whole``, with the lines of a log that is in it; returns ``code``."""
    shown = printable_lines(message) if whole else printable(" ".join(message.split()))
    print(f"rocketproof: {shown}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
