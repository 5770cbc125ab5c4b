"""``rocketproof mutants``: put known bugs into the model, and see which property notices each of them."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from ..checkers.catalogue import all_rows, default_rows
from ..checkers.changed_rows import changed_rows
from ..checkers.exploration import Limits
from ..checkers.kill_matrix import Cell, Effort, cells
from ..checkers.known_bugs import KNOWN_BUGS, TOPICS, known_id
from ..checkers.mutants import USUAL_LIMITS, Answer, Entry, MachineMutant, Status, Trials, entries, slug_of
from ..checkers.run import Run
from ..checkers.suite import Row
from ..errors import InputError
from ..explorer.run_svg import run_svg
from ..machine_code.code_cache import user_cache
from ..model.kernel import nearest
from ..output.console import SafeConsole, console_beside, interrupts, make_console
from ..output.files import check_writable, write
from ..output.findings_page import write_answers
from ..output.junit import as_junit
from ..output.mutants_report import (
    as_json,
    print_changed,
    print_entries,
    print_matrix,
    print_story,
    print_table,
    report_row,
    summary,
)
from .mutants_options import Mutants
from .request import LimitTable, Request


def mutants(asked: Mutants) -> int:
    """Try the requested mutants, or list them, and print what became of them; returns the exit code.

    Raises:
        InputError: an unknown id, or a file that cannot be written.
    """
    names = asked.ids or ()
    if asked.list_only:
        print_entries(make_console(quiet=False), select(entries(all_rows()), names))
        return 0
    limit = Request().with_texts(limits=asked.limit or ()).limit
    if asked.picture:
        check_writable(asked.picture)
    console = console_beside(asked.json, asked.junit, asked.report)
    tried = select(entries(all_rows()), names)
    started = time.perf_counter()
    interrupted = False
    answers: list[Answer] = []
    rows: dict[str, list[Cell]] = {}
    changed: dict[str, list[tuple[Row, str]]] = {}
    try:
        _run(tried, limit, asked, console, answers, rows, changed)
    except KeyboardInterrupt:
        interrupted = True
    seconds = time.perf_counter() - started
    print_table(console, answers)
    for answer in answers:
        if (names and not asked.matrix) or (answer.mutated is not None and (asked.stories or not answer.as_expected)):
            print_story(console, answer)
    if asked.matrix:
        print_matrix(console, answers, rows)
    for name, found in changed.items():
        print_changed(console, name, found)
    console.print()
    console.print(summary(answers, seconds), soft_wrap=True)
    if interrupted:
        print(f"rocketproof: interrupted; not tried: {len(tried) - len(answers)} of {len(tried)}.", file=sys.stderr)
    if asked.json:
        write(asked.json, as_json(answers, rows if asked.matrix else None, changed) + "\n")
    if asked.junit:
        write(asked.junit, as_junit("rocketproof mutants", [report_row(answer) for answer in answers], seconds))
    if asked.report:
        write_answers(asked.report, answers)
    if asked.picture:
        write(asked.picture, _picture(answers))
    return exit_code(answers, interrupted=interrupted)


def _picture(answers: Sequence[Answer]) -> str:
    """The picture of the first counterexample.

    Raises:
        InputError: there is none.
    """
    for answer in answers:
        if answer.mutated is not None and isinstance(answer.mutated.run, Run):
            return run_svg(answer.mutated.run, title=f"{answer.entry.id} {slug_of(answer.entry)}") + "\n"
    raise InputError("--picture draws a counterexample, but none was found here.")


def exit_code(answers: Sequence[Answer], *, interrupted: bool = False) -> int:
    """0 if all is as expected, 1 if a mutant survived or its property fails without it, 2 if some is unknown."""
    wrong = {answer.status for answer in answers if not answer.as_expected}
    if wrong & {Status.SURVIVED, Status.CANNOT_TELL}:
        return 1
    return 2 if wrong or interrupted or not answers else 0


def select(known: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """The requested entries: by id, with the variants of a known bug, or all with a letter; without names, all.

    Raises:
        InputError: there is no such mutant.
    """
    if not names:
        return list(known)
    asked = [name[:1].upper() + name[1:] for name in names]
    for name in asked:
        if name not in TOPICS and not any(_is_meant(entry, name) for entry in known):
            ids = [entry.id for entry in known]
            close = [item for item in ids if item.startswith(known_id(name)[:1])]
            raise InputError(f"there is no mutant {name!r}.{nearest(name, close or ids)} 'mutants --list' shows all.")
    return [entry for entry in known if any(_is_meant(entry, name) for name in asked)]


def _is_meant(entry: Entry, name: str) -> bool:
    return name in (entry.id, known_id(entry.id), entry.id[:1] if known_id(entry.id) in KNOWN_BUGS else "")


def _run(
    tried: Sequence[Entry],
    limit: LimitTable,
    asked: Mutants,
    console: SafeConsole,
    answers: list[Answer],
    rows: dict[str, list[Cell]],
    changed: dict[str, list[tuple[Row, str]]],
) -> None:
    """Append to ``answers`` as they come, so that an interrupted run still has its results."""
    usual = Effort()
    trials = Trials(limits=_limits(limit), cache=user_cache())
    effort = Effort(
        runs=limit.runs or usual.runs,
        steps=limit.steps or usual.steps,
        seed=limit.seed or usual.seed,
        depth=limit.depth or usual.depth,
    )
    with interrupts() as stop_if_interrupted, console.status("starting", spinner="dots") as status:
        for number, entry in enumerate(tried, start=1):
            stop_if_interrupted()
            status.update(f"{number} of {len(tried)}: {entry.id} {slug_of(entry)}")
            answer = trials.answer(entry)
            if asked.matrix and answer.mutated is not None:
                rows[entry.id] = cells(entry, trials, effort)
            if asked.all_rows and isinstance(entry, MachineMutant):
                changed[entry.id] = list(changed_rows(entry, default_rows(), trials))
            answers.append(answer)


def _limits(limit: LimitTable) -> Limits:
    memory = None if limit.memory is None else limit.memory * 2**20
    return Limits(states=limit.states or USUAL_LIMITS.states, seconds=limit.seconds, bytes=memory)
