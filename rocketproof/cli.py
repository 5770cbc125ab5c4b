"""The command line. Heavy modules are imported where they are needed, so that ``--help`` answers at once."""

from __future__ import annotations

import enum
import io
import os
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from . import __version__

AS_EXPECTED, VIOLATED, UNKNOWN, WRONG_USAGE, DEFECT = range(5)

EXIT_CODES = """

\b
Exit codes:
  0  everything as expected
  1  a property is violated, or an expected finding was not found
  2  something is unknown: a limit was hit, a solver gave up, or Ctrl-C
  3  wrong usage or input
  4  a defect of rocketproof itself, told by a traceback
"""


class Annotations(enum.StrEnum):
    """Forms of annotations."""

    GITHUB = "github"


MUTANT_EXIT_CODES = """

\b
Exit codes:
  0  every mutant is killed, and nothing is violated without it
  1  a mutant survived, or its property is violated without it
  2  something is unknown: a limit was hit, a mutant is missing, or Ctrl-C
  3  wrong usage or input
  4  a defect of rocketproof itself, told by a traceback
"""

app = typer.Typer(
    name="rocketproof",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Check what RocketMQ consumption guarantees, and what it does not." + EXIT_CODES,
)


@app.callback(invoke_without_command=True)
def _door(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
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
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a constant of the configurations; repeatable."),
    ] = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Use this engine: explore, prove, simulate, liveness, groups.")
    ] = "",
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Give up (UNKNOWN) beyond: states=N or N, seconds=N or Ns, memory=N or NMiB, depth=N (prove), "
            "runs=N, steps=N, seed=N (simulate); repeatable.",
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
    config: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Check the deployment that a TOML file describes, with its [verify] options."
        ),
    ] = "",
    fail_on: Annotated[
        str, typer.Option(metavar="LEVEL", help="With a deployment: fail on error (usual), warning or note, and above.")
    ] = "",
    json: Annotated[
        str, typer.Option("--json", metavar="FILE|-", help="Write the rows as JSON; - for standard output.")
    ] = "",
    junit: Annotated[str, typer.Option("--junit", metavar="FILE", help="Write the rows as JUnit XML.")] = "",
    sarif: Annotated[
        str, typer.Option("--sarif", metavar="FILE", help="With a deployment: write the findings as SARIF 2.1.0.")
    ] = "",
    annotations: Annotated[
        Annotations | None,
        typer.Option(metavar="github", help="With a deployment: print the findings as GitHub annotations."),
    ] = None,
    stories: Annotated[bool, typer.Option("--stories", help="Tell the story of every row that has one.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List properties and constants instead of checking.")] = False,
    strategy: Annotated[
        str, typer.Option(metavar="MODULE:FUNCTION", help="Check an allocation strategy of your own, in Python.")
    ] = "",
    strategy_command: Annotated[
        str,
        typer.Option(metavar="COMMAND", help="Check a strategy that a program of your own answers, a JSON line each."),
    ] = "",
) -> None:
    """Check what was asked for, and leave with its exit code."""
    from . import verify as run
    from .request import Outputs, Request

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
        fail_on=fail_on,
        jobs=jobs,
        reduce=reduce or [],
    )
    if list_:
        run.list_rows(request)
        raise typer.Exit(AS_EXPECTED)
    outputs = Outputs(json=json, junit=junit, sarif=sarif, annotations=annotations is not None, stories=stories)
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
        typer.Option(metavar="NAME=VALUE", help="As for verify; usually seconds=60 for each search."),
    ] = None,
    json: Annotated[str, typer.Option("--json", metavar="FILE|-", help="Write the table as JSON.")] = "",
    stories: Annotated[bool, typer.Option("--stories", help="Tell the story of every counterexample.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the known bugs instead of trying them.")] = False,
) -> None:
    """Try what was asked for, and leave with its exit code."""
    from . import mutants as run
    from .request import Request

    if list_:
        run.list_mutants(ids or [])
        raise typer.Exit(AS_EXPECTED)
    request = Request.of(
        properties=[],
        machine="",
        constants=[],
        engine="",
        limits=limit or [],
        config=None,
        strategy="",
        strategy_command="",
    )
    outputs = run.Outputs(matrix=matrix, stories=stories, json=json)
    raise typer.Exit(run.mutants(ids or [], request.limit, outputs))


@app.command(
    short_help="Write a machine as Promela, for SPIN.",
    help="Write a configuration of a machine as Promela, for the model checker SPIN.",
    epilog="Example: rocketproof export assignment --set consumers=3 --output group.pml",
)
def export(
    machine: Annotated[str, typer.Argument(metavar="MACHINE", help="Name of the machine, such as assignment.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a constant from its default; repeatable."),
    ] = None,
    invariant: Annotated[
        list[str] | None,
        typer.Option(metavar="PROPERTY", help="Assert this property of kind 'always' after each step; repeatable."),
    ] = None,
    output: Annotated[str, typer.Option(metavar="FILE|-", help="Where to write; - for standard output.")] = "-",
) -> None:
    """Write what was asked for, and leave with its exit code."""
    from . import export as run
    from .request import read_constants

    raise typer.Exit(run.export(machine, read_constants(set_ or []), invariants=invariant or [], to=output))


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; a user's mistake gives one line and exit code 3."""
    sys.exit(_run(sys.argv[1:] if arguments is None else arguments))


def _run(arguments: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without arrows shows a ? for them
    try:
        return int(app(arguments or ["--help"], prog_name="rocketproof", standalone_mode=False) or AS_EXPECTED)
    except TyperException as error:
        return _complain(error.format_message())
    except (typer.Abort, KeyboardInterrupt):
        return _complain("interrupted", code=UNKNOWN)
    except BrokenPipeError:
        # Whoever read the output went away; what was not written yet has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNKNOWN
    except MemoryError as error:
        return _complain(f"out of memory ({error}); --limit memory=N (MiB) stops a search before.", code=UNKNOWN)
    except Exception as error:
        if isinstance(error, _mistakes()):
            return max(_complain(line) for line in getattr(error, "problems", [str(error)]))
        traceback.print_exc()
        return _complain("the error above is a defect of rocketproof, please report it.", code=DEFECT)


def _mistakes() -> tuple[type[Exception], ...]:
    """Errors whose message is for the user; anything else is a defect of ours and shows its traceback."""
    from .checkers.user_strategies import StrategyError
    from .errors import InputError
    from .model.kernel import ConfigurationError, ModelError

    return InputError, ConfigurationError, ModelError, StrategyError


def _complain(message: str, *, code: int = WRONG_USAGE) -> int:
    print(f"rocketproof: {' '.join(message.split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
