"""``rocketproof verify``: choose the rows, run them, show the answers."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from ..checkers.catalogue import all_rows, default_rows, preset_rows
from ..checkers.engines import ENGINES, SPARK, STATEFUL
from ..checkers.exploration import Progress
from ..checkers.passing import passing
from ..checkers.reduction import Reduction
from ..checkers.run import Run
from ..checkers.suite import Options, Outcome, Row, engine_for, run_suite
from ..errors import InputError
from ..machine_code.code_cache import user_cache
from ..model.kernel import UNBOUNDED, ConfigurationError, nearest
from ..model.presets import PRESETS
from ..output.console import SafeConsole, interrupts, make_console
from ..output.files import write
from ..output.junit import as_junit
from ..output.overview import MANY, print_overview
from ..output.report import as_json, has_story, print_found, print_list, print_story, print_table, report_row, summary
from ..properties.claim import Claim
from ..properties.verdict import Verdict
from .meaning import Entry, find
from .outputs import Outputs
from .request import LimitTable, Request
from .user_strategy import check_user_strategy
from .user_suite import module_rows

MOST_FOUND = 10
"""Maximum number of properties that a search shows."""


def verify(request: Request, outputs: Outputs) -> int:
    """Perform the requested checks and print the results; returns the exit code.

    Raises:
        InputError: an unknown property, machine or engine, or a file that cannot be written.
    """
    outputs.check(of_deployment=request.deployment is not None)
    if request.deployment is not None:
        from ..deployment.verify import verify_deployment

        return verify_deployment(request.deployment, request, options(request), outputs)
    console = make_console(quiet=outputs.on_standard_output)
    stories = outputs.stories
    started = time.perf_counter()
    interrupted = False
    outcomes: list[Outcome] = []
    if request.strategy or request.strategy_command:
        outcomes = check_user_strategy(request)
        asked, few, stories = len(outcomes), False, True
    else:
        rows = select(request)
        asked, few = len(rows), len(rows) <= 3
        try:
            _run(rows, request, console, outcomes)
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.perf_counter() - started
    if asked > MANY and not outputs.verbose:
        print_overview(console, outcomes)
    else:
        print_table(console, outcomes)
    for outcome in outcomes:
        if few or (has_story(outcome) and (stories or not outcome.as_expected)):
            print_story(console, outcome, brief=outputs.brief, glossary=outputs.glossary)
    console.print()
    console.print(summary(outcomes, seconds), highlight=False)
    if interrupted:
        print(f"rocketproof: interrupted; not checked: {asked - len(outcomes)} of {asked}.", file=sys.stderr)
    if outputs.picture:
        write(outputs.picture, _picture(outcomes))
    if outputs.json:
        write(outputs.json, as_json(outcomes) + "\n")
    if outputs.junit:
        write(outputs.junit, as_junit("rocketproof", [report_row(outcome) for outcome in outcomes], seconds))
    if outputs.report:
        from ..output.findings_page import write_outcomes

        write_outcomes(outputs.report, outcomes, request.constants)
    return exit_code(outcomes, interrupted=interrupted)


def _picture(outcomes: Sequence[Outcome]) -> str:
    """The picture of the first run.

    Raises:
        InputError: there is none, or it was put into words by another process.
    """
    from ..explorer.run_svg import run_svg

    for outcome in outcomes:
        if isinstance(outcome.result.run, Run):
            return run_svg(outcome.result.run, title=outcome.row.statement) + "\n"
    raise InputError("--picture draws a run, but none was found here; choose one row with --where.")


def exit_code(outcomes: Sequence[Outcome], *, interrupted: bool = False) -> int:
    """0 if as expected, 1 if violated or an expected finding is missing, 2 if unknown."""
    wrong = [outcome for outcome in outcomes if not outcome.as_expected]
    if any(outcome.result.verdict is not Verdict.UNKNOWN for outcome in wrong):
        return 1
    return 2 if wrong or interrupted or not outcomes else 0


def select(request: Request) -> list[Row]:
    """The requested rows.

    Raises:
        InputError: an unknown property, machine or engine, or nothing is left to check.
    """
    rows = _rows(request)
    machines = dict.fromkeys(row.machine for row in rows)
    machine = request.machine.replace("-", "_")
    if machine and machine not in machines:
        raise InputError(f"there is no machine {request.machine!r}.{nearest(machine, machines)}")
    if request.engine and request.engine not in ENGINES:
        raise InputError(f"there is no engine {request.engine!r}.{nearest(request.engine, ENGINES)}")
    if machine:
        rows = [row for row in rows if row.machine == machine]
    elif not (request.properties or request.preset or request.module):
        of_presets = request.engine == STATEFUL
        rows = [row for item in PRESETS for row in preset_rows(item.name)] if of_presets else default_rows()
    names = dict.fromkeys(row.id for row in rows)
    for name in request.properties:
        if name not in names:
            where = f" of machine {request.machine}" if machine else ""
            raise InputError(f"there is no property {name!r}{where}.{_near(name, rows)} 'verify --list' shows all.")
    if request.properties:
        rows = [row for row in rows if row.id in request.properties]
    if request.where:
        rows = _configured(rows, request)
    if request.constants:
        rows = [row for row in rows if isinstance(row.subject, Claim)]
        if UNBOUNDED not in request.constants.values():  # a proof for every number cannot be configured further
            rows = [row for row in rows if UNBOUNDED not in {**row.constants, **request.constants}.values()]
    chosen = options(request)
    able = [row for row in rows if engine_for(row, chosen) is not None]
    if not able:
        possible = sorted({engine for row in rows for engine in row.engines})
        raise InputError(
            f"nothing of this can be checked by {request.engine!r}; possible: {', '.join(possible)}."
            if rows
            else "--set changes constants of machines, and no row of a machine was chosen."
        )
    able = _distinct(able, request)
    return _led(able, request) if request.through else able


def _configured(rows: Sequence[Row], request: Request) -> list[Row]:
    """The rows about configurations that have the constants of ``--where``, explicitly or by default.

    Raises:
        InputError: there is none.
    """

    def constants(row: Row) -> dict[str, int | str]:
        usual = row.subject.machine.constants if isinstance(row.subject, Claim) else {}
        return {**{name: constant.default for name, constant in usual.items()}, **row.constants}

    found = [row for row in rows if request.where.items() <= constants(row).items()]
    if not found:
        asked = " ".join(f"{name}={value}" for name, value in request.where.items())
        possible = dict.fromkeys(row.configuration for row in rows if row.configuration)
        raise InputError(f"no row has {asked}.{nearest(asked, possible)}")
    return found


def _distinct(rows: Sequence[Row], request: Request) -> list[Row]:
    """``rows`` without those that ``--set`` makes equal to others; the expected verdict is that of an unchanged row."""
    if not request.constants:
        return list(rows)
    asked: dict[object, Row] = {}
    for row in rows:
        constants = {**row.constants, **request.constants}
        same = (row.machine, row.id, tuple(sorted(constants.items())))
        if same not in asked or constants == row.constants:
            asked[same] = row
    return list(asked.values())


def _led(rows: Sequence[Row], request: Request) -> list[Row]:
    """The rows in which the requested steps can be taken, restricted to runs that pass through them.

    Raises:
        InputError: they are not about runs of a machine.
        ConfigurationError: none of them has these steps.
    """
    led: list[Row] = []
    missing: ConfigurationError | None = None
    for row in rows:
        if UNBOUNDED in row.constants.values():  # a row proven for every number has no runs
            continue
        if not isinstance(row.subject, Claim):
            raise InputError(f"--through leads runs of machines, and {row.id} is not about runs.")
        try:
            subject = passing(row.subject, request.through, {**row.constants, **request.constants})
        except ConfigurationError as error:
            missing = missing or error
            continue
        led.append(replace(row, subject=subject))
    if not led:
        raise missing or InputError(
            "--through selects runs, but this is proven for every number of steps, so there are none."
        )
    return led


def _near(name: str, rows: Sequence[Row]) -> str:
    """The end of a message: properties that are spelled like ``name``, otherwise those with a similar meaning."""
    near = get_close_matches(name, {row.id for row in rows}, n=3, cutoff=0.8)
    near = near or [entry.name for entry in find(name.replace("-", " "), _entries(rows))[:3]]
    return (
        f" Did you mean {' or '.join(map(repr, near))}?" if near else f" {len({row.id for row in rows})} are possible."
    )


def _entries(rows: Sequence[Row]) -> list[Entry]:
    """Each property, with everything that is said about it."""
    texts: dict[str, dict[str, None]] = {}
    for row in rows:
        texts.setdefault(row.id, {}).update(dict.fromkeys((row.statement, row.lesson)))
    return [Entry(name, " ".join(text)) for name, text in texts.items()]


def search_rows(words: str, request: Request) -> None:
    """Print the properties about ``words``, the best first, with the verdict that each must get.

    Raises:
        InputError: as for :func:`select`, or there are no words, or nothing is about them.
    """
    if not words.strip():
        raise InputError("--search has no words; give some, as in: verify --search crash. 'verify --list' shows all.")
    rows = select(request)
    found = find(words, _entries(rows))
    if not found:
        raise InputError(f"no property is about {words!r}; 'verify --list' shows all.")
    shown = [[row for row in rows if row.id == entry.name] for entry in found[:MOST_FOUND]]
    print_found(make_console(quiet=False), shown, left_out=len(found) - len(shown))


def _rows(request: Request) -> list[Row]:
    """All rows that can be selected: those of the user's module, of a preset, or of the kit."""
    if request.module and request.preset:
        raise InputError("--preset is a part of the kit and --module a suite of yours: check one after the other.")
    if request.module:
        return module_rows(request.module, folder=request.folder)
    return _preset_rows(request.preset) if request.preset else all_rows()


def _preset_rows(name: str) -> list[Row]:
    names = [preset.name for preset in PRESETS]
    if name not in names:
        raise InputError(f"there is no preset {name!r}.{nearest(name, names)}")
    return preset_rows(name)


def list_rows(request: Request) -> None:
    """Print the requested properties, and the constants of their machines.

    Raises:
        InputError: as for :func:`select`.
    """
    if request.deployment is not None:
        from ..deployment.verify import list_checks

        list_checks(request.deployment, request)
        return
    print_list(make_console(quiet=False), select(request))


def _run(rows: Sequence[Row], request: Request, console: SafeConsole, outcomes: list[Outcome]) -> None:
    """Append to ``outcomes`` as they come, so that an interrupted run still has its results."""
    status = console.status("starting", spinner="dots")
    with interrupts() as stop_if_interrupted, contextlib.ExitStack() as screen:
        on_screen = False

        def show(title: str, progress: Progress | None) -> None:
            nonlocal on_screen
            stop_if_interrupted()
            if not on_screen:  # not before workers are forked: the spinner is a thread
                screen.enter_context(status)
                on_screen = True
            text = title
            if progress is not None:
                text += (
                    f"  {progress.states:,} states, {progress.transitions:,} transitions, depth {progress.depth}, "
                    f"{progress.waiting:,} waiting, {progress.states / max(progress.seconds, 1e-9):,.0f} states/s"
                )
            status.update(text)

        chosen = options(request)
        if request.engine == SPARK:
            from ..spark.session import failures
            from .engine import spark_session

            chosen = replace(
                chosen, session=spark_session(request.master, remedy=("Use --engine explore, or repair it."))
            )
            screen.enter_context(failures())
        for outcome in run_suite(rows, chosen, progress=show):
            stop_if_interrupted()
            outcomes.append(outcome)


def options(request: Request) -> Options:
    """How to run the requested suite."""
    return replace(
        options_of(request.limit),
        engine=request.engine or None,
        constants=request.constants,
        reduce=_reduction(request.reduce),
        folder=request.on_disk or None,
        jobs=1 if request.engine == SPARK else request.jobs or len(os.sched_getaffinity(0)),
    )


def _reduction(names: Sequence[str]) -> Reduction:
    possible = {"symmetry": Reduction.SYMMETRY, "partial-order": Reduction.PARTIAL_ORDER}
    chosen = Reduction.NONE
    for name in names:
        if name not in possible:
            raise InputError(f"there is no reduction {name!r}.{nearest(name, possible)}")
        chosen |= possible[name]
    return chosen


def options_of(limit: LimitTable) -> Options:
    """How to run a suite within limits, with the user's cache of compiled code."""
    usual = Options()
    return Options(
        states=limit.states,
        seconds=limit.seconds,
        bytes=None if limit.memory is None else limit.memory * 2**20,
        work=limit.work or usual.work,
        depth=limit.depth or usual.depth,
        runs=limit.runs or usual.runs,
        steps=limit.steps or usual.steps,
        seed=limit.seed or 0,
        cache=user_cache(),
    )
