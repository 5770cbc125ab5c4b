"""The commands about the model. Their implementations are imported on use, as for all commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .mutants_options import Mutants
from .options import (
    EXIT_CODES,
    Constants,
    Master,
    argument,
    exit_codes,
    flag,
    option,
    spread,
)
from .outputs import Outputs

MUTANT_EXIT_CODES = exit_codes(
    "every mutant is killed, and nothing is violated without it",
    "a mutant survived, or its property is violated without it",
    "something is unknown: a limit was hit, a mutant is missing, or Ctrl-C",
)

LEARN_EXIT_CODES = exit_codes(
    "shown, or the answer is right",
    "the answer is not right yet",
    "the answer could not be judged: a limit was hit, or Ctrl-C",
)

model = typer.Typer(rich_markup_mode=None)


@model.command(
    short_help="Check properties of the model.",
    help="Check properties of the model, all of the default suite or those named." + EXIT_CODES,
    epilog="Example: rocketproof verify one-queue-one-consumer --set strategy=CONSISTENT_HASH",
)
@spread
def verify(
    properties: Annotated[list[str] | None, argument("PROPERTY", "Ids of properties, as --list shows them.")] = None,
    machine: Annotated[str, option("NAME", "Only properties of this machine.")] = "",
    preset: Annotated[
        str,
        option(
            "NAME",
            "Only what is claimed about a preset: assignment, delivery, orderly, retry, broadcast, everything-small.",
        ),
    ] = "",
    module: Annotated[str, option("MODULE", "Check the CLAIMS of your own module, about your own machines.")] = "",
    set_: Constants = None,
    where: Annotated[
        list[str] | None, option("NAME=VALUE", "Only rows whose configuration has this constant; repeatable.")
    ] = None,
    through: Annotated[
        list[str] | None,
        option("STEP", "Only runs with this step in it, such as 'c0 dies'; repeatable, in this order."),
    ] = None,
    engine: Annotated[
        str,
        option(
            "NAME",
            "Use this engine: explore, prove, simulate, stateful (of all presets, where nothing else is asked for), "
            "liveness, groups, refine, spark (explore on a cluster).",
        ),
    ] = "",
    limit: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "Give up (UNKNOWN) beyond: states=N or N, seconds=N or Ns, memory=N or NMiB, depth=N, work=N (prove), "
            "runs=N, steps=N, seed=N (simulate, stateful); repeatable.",
        ),
    ] = None,
    reduce: Annotated[
        list[str] | None,
        option("NAME", "Let searches leave out states that change no verdict: symmetry, partial-order; repeatable."),
    ] = None,
    jobs: Annotated[
        int, option("N", "How many searches run at a time, each in its own process; 0 for one per core.", min=0)
    ] = 0,
    on_disk: Annotated[
        str,
        option(
            "FOLDER",
            "Keep the states of searches in this folder instead of in memory; an interrupted search continues.",
        ),
    ] = "",
    master: Master = "",
    config: Annotated[
        str, option("FILE", "Check the deployment that a TOML file describes, with its [verify] options.")
    ] = "",
    fail_on: Annotated[
        str, option("LEVEL", "With a deployment: fail on this level and above: error (default), warning or note.")
    ] = "",
    *,
    outputs: Outputs,
    list_: Annotated[bool, flag("--list", "List properties and constants instead of checking.")] = False,
    search: Annotated[
        str | None, option("WORDS", "Find properties by words, in English or Chinese, instead of checking.")
    ] = None,
    strategy: Annotated[str, option("MODULE:FUNCTION", "Check your own allocation strategy, a Python function.")] = "",
    strategy_command: Annotated[
        str, option("COMMAND", "Check your own strategy, a program that answers JSON lines.")
    ] = "",
) -> None:
    """Check what was asked for, and leave with its exit code."""
    from . import verify as run
    from .request import Request

    request = Request(
        properties=properties or [],
        machine=machine,
        engine=engine,
        strategy=strategy,
        strategy_command=strategy_command,
        preset=preset,
        module=module,
        fail_on=fail_on,
        jobs=jobs,
        on_disk=on_disk,
        master=master,
        reduce=reduce or [],
        through=through or [],
    ).with_texts(constants=set_ or [], limits=limit or [], where=where or [], config=Path(config) if config else None)
    if list_:
        run.list_rows(request)
        raise typer.Exit
    if search is not None:
        run.search_rows(search, request)
        raise typer.Exit
    raise typer.Exit(run.verify(request, outputs))


@model.command(
    short_help="Put known bugs into the model and see which property catches each.",
    help="Put known bugs of RocketMQ into the model, all or those named, and see which property catches each."
    + MUTANT_EXIT_CODES,
    epilog="Example: rocketproof mutants A9",
)
@spread
def mutants(asked: Mutants) -> None:
    """Try what was asked for, and leave with its exit code."""
    from ..errors import InputError

    of_generated = {
        "--part": asked.part,
        "--jobs": asked.jobs != 1,
        "--sample": asked.sample,
        "--seed": asked.seed,
        "--at-least": asked.at_least,
        "--keep": asked.keep,
    }
    of_known = {
        "--picture": asked.picture,
        "--junit": asked.junit,
        "--all-rows": asked.all_rows,
        "--stories": asked.stories,
    }
    misplaced = next((name for name, value in (of_known if asked.generated else of_generated).items() if value), "")
    if misplaced and asked.generated:
        raise InputError(f"{misplaced} is about known bugs; leave --generated out.")
    if misplaced:
        raise InputError(f"{misplaced} is about generated mutants; add --generated.")
    if asked.seed and asked.sample is None:
        raise InputError("--seed chooses a sample; add --sample N.")
    if asked.generated:
        from .generated_mutants import generated as run
    else:
        from .mutants import mutants as run
    raise typer.Exit(run(asked))


@model.command(
    short_help="Write a machine as Promela, for SPIN.",
    help="Write a configuration of a machine as Promela, for the model checker SPIN.",
    epilog="Example: rocketproof export assignment --set consumers=3 --output group.pml",
)
def export(
    machine: Annotated[str, argument("MACHINE", "Name of the machine, such as assignment.")],
    set_: Constants = None,
    invariant: Annotated[
        list[str] | None, option("PROPERTY", "Assert this property of kind 'always' after each step; repeatable.")
    ] = None,
    output: Annotated[str, option("FILE|-", "Where to write; - for standard output.")] = "-",
) -> None:
    """Write what was asked for, and leave with its exit code."""
    from . import export as run
    from .request import read_constants

    raise typer.Exit(run.export(machine, read_constants(set_ or []), invariants=invariant or [], to=output))


@model.command(
    short_help="Step through the model in a browser.",
    help="Make a page in which the model itself runs: step, undo, search the shortest run to something. The page "
    "is one file and needs no network.",
    epilog="Example: rocketproof explore delivery --set messages=3 --out delivery.html",
)
def explore(
    name: Annotated[str, argument("NAME", "A machine, preset, property, known bug or recorded trace.")],
    set_: Constants = None,
    also: Annotated[
        list[str] | None, option("NAME=VALUE…", "A further configuration in the page, as in 'messages=1 crashes=2'.")
    ] = None,
    out: Annotated[str, option("FILE|-", "Where to write; NAME.html by default.")] = "",
    serve: Annotated[
        bool, flag("--serve", "Serve the page on this machine instead; other constants can be chosen there.")
    ] = False,
    port: Annotated[int, option("N", "Where to serve; 0 is any free port.", min=0, max=65535)] = 0,
) -> None:
    """Make or serve what was asked for, and leave with its exit code."""
    from . import explore as run
    from .request import read_constants

    request = run.ExploreRequest(
        name=name,
        constants=read_constants(set_ or []),
        also=[read_constants(each.split()) for each in also or []],
        out=out,
        port=port if serve else None,
    )
    raise typer.Exit(run.explore(request))


@model.command(
    short_help="Lessons about consumption, with exercises.",
    help="List the lessons; open one; verify the answer to its exercise, a Python file: learn check LESSON FILE."
    + LEARN_EXIT_CODES,
    epilog="Example: rocketproof learn push-is-pull",
)
def learn(
    words: Annotated[
        list[str] | None, argument("[LESSON] | check LESSON FILE", "A lesson by its number or name.")
    ] = None,
    language: Annotated[str, option("CODE", "en, or zh-CN for Chinese.")] = "en",
    notebook: Annotated[str, option("FILE|-", "Write the lesson as a Jupyter notebook instead of showing it.")] = "",
) -> None:
    """List, open, write or verify what was asked for."""
    from . import learn as run

    raise typer.Exit(run.learn(words or [], language=language, notebook=notebook))
