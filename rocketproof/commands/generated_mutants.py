"""``rocketproof mutants --generated``: every small change of the model's texts, and which row of the suite notices."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment
from rich.text import Text

from ..checkers.catalogue import default_rows
from ..checkers.mutation.changes import Change, all_changes, parts, stratified
from ..checkers.mutation.further import ask_further
from ..checkers.mutation.ground import settings
from ..checkers.mutation.judge import Effort, Fate, Outcome, in_words, judge
from ..checkers.mutation.summary import Score, by_kind, by_part, idle, not_asked, notices, only_one, whole
from ..checkers.mutation.theorems import Theorems
from ..checkers.suite import Row
from ..errors import InputError
from ..machine_code.code_cache import user_cache
from ..model.kernel import nearest
from ..output.console import SafeConsole, console_beside
from ..output.files import write, write_json
from .mutants_options import Mutants
from .request import LimitTable, Request

USUAL_STATES = 1_000_000
"""Default number of distinct states of a configuration beyond which it is not judged."""

_STYLES = {Fate.KILLED: "green", Fate.SURVIVED: "bold red", Fate.UNKNOWN: "yellow"}


def generated(asked: Mutants) -> int:
    """Try generated mutants and print what became of them.

    Returns:
        0 if none survived, or as many were killed as required; 1 otherwise; 2 if something is unknown.

    Raises:
        InputError: an unknown part or id, an impossible sample or limit, or a file that cannot be written.
    """
    console = console_beside(asked.json, asked.report, asked.keep)
    changes = chosen(asked)
    if asked.list_only:
        for change in changes:
            console.say(f"{change.id}  {change.sort}: {change.told}")
        return 0
    limit = Request().with_texts(limits=asked.limit or ()).limit
    if other := limit.model_dump(exclude_none=True, exclude={"states"}):
        raise InputError(f"--limit {next(iter(other))} does not bound generated mutants; possible: states=N.")
    rows = default_rows()
    started = time.perf_counter()
    effort = Effort(states=limit.states or USUAL_STATES, far=USUAL_STATES, jobs=asked.jobs)
    with console.status("starting", spinner="dots") as status:
        judging: dict[str, Any] = {
            "journal": Path(asked.keep) if asked.keep else None,
            "cache": user_cache("mutants"),
            "progress": status.update,
        }
        suite, theorems = settings(rows), Theorems.of(rows)
        outcomes = judge(changes, suite, theorems, effort, **judging)
        if asked.matrix:
            outcomes = ask_further(outcomes, changes, suite, theorems, effort, **judging)
    seconds = time.perf_counter() - started
    _print(console, outcomes, rows, asked, limit, seconds)
    write_json(asked.json, as_object(outcomes, rows, asked))
    if asked.report:
        write(asked.report, page(outcomes, rows, asked))
    return exit_code(outcomes, asked.at_least)


def chosen(asked: Mutants) -> list[Change]:
    """The requested mutants.

    Raises:
        InputError: there is none with that name, or the sample is empty.
    """
    if asked.part and asked.part not in parts():
        raise InputError(f"there is no part {asked.part!r} of the model.{nearest(asked.part, parts())}")
    if asked.sample is not None and asked.sample < 1:
        raise InputError(f"--sample {asked.sample} is none; give at least 1.")
    changes = all_changes(asked.part)
    for name in asked.ids or ():
        if not any(_is_meant(change, name) for change in changes):
            texts = dict.fromkeys(f"{change.part}.{change.text}" for change in changes)
            raise InputError(f"there is no generated mutant {name!r}.{nearest(name, texts)} --list shows all.")
    if asked.ids:
        changes = [change for change in changes if any(_is_meant(change, name) for name in asked.ids)]
    return stratified(changes, asked.sample, asked.seed) if asked.sample is not None else changes


def exit_code(outcomes: Sequence[Outcome], at_least: float | None) -> int:
    """The exit code, as for :func:`generated`."""
    score = whole(outcomes)
    if at_least is not None:
        return 0 if score.share is None or 100 * score.share >= at_least else 1
    if score.fates[Fate.SURVIVED]:
        return 1
    return 2 if score.fates[Fate.UNKNOWN] else 0


def as_object(outcomes: Sequence[Outcome], rows: Sequence[Row], asked: Mutants) -> dict[str, Any]:
    """Everything for other programs."""
    found = notices(outcomes, rows)
    return {
        "part": asked.part,
        "sample": asked.sample,
        "seed": asked.seed,
        "all_rows_asked": asked.matrix,
        "score": _score(whole(outcomes)),
        "parts": [_score(item) for item in by_part(outcomes)],
        "kinds": [_score(item) for item in by_kind(outcomes)],
        "rows": {item.id: len(item.mutants) for item in found},
        "properties": [asdict(item) for item in found],
        "notice only one mutant": [item.id for item in only_one(found)],
        "notice none": [item.id for item in idle(found)],
        "not asked": [item.id for item in not_asked(found)],
        "mutants": [
            {
                "id": item.change.id,
                "part": item.change.part,
                "line": item.change.line,
                "kind": str(item.change.sort),
                "change": item.change.told,
                "fate": str(item.fate),
                "row": item.row,
                "how": item.how,
                "configuration": item.where,
                "rows": list(item.kills),
                "used_in": item.used,
                "differs_in": item.differs,
                "states_compared": item.compared,
                "reason": item.reason,
                "run": item.run,
                "seconds": round(item.seconds, 3),
            }
            for item in outcomes
        ],
    }


def page(outcomes: Sequence[Outcome], rows: Sequence[Row], asked: Mutants) -> str:
    """A self-contained page of HTML."""
    text = resources.files(__package__).joinpath("generated_mutants.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(text)
    found = notices(outcomes, rows)
    return template.render(
        title=_title(outcomes, asked),
        fates=list(Fate),
        tables=[("part", by_part(outcomes)), ("kind of change", by_kind(outcomes))],
        one=only_one(found),
        idle=idle(found),
        not_asked=not_asked(found),
        told={item.change.id: item.change.told for item in outcomes},
        whole=asked.matrix,
        outcomes=[(item, in_words(item)) for item in outcomes],
        percent=_percent,
    )


def _print(
    console: SafeConsole,
    outcomes: Sequence[Outcome],
    rows: Sequence[Row],
    asked: Mutants,
    limit: LimitTable,
    seconds: float,
) -> None:
    console.say(_title(outcomes, asked), "bold")
    for name, scores in (("part", by_part(outcomes)), ("kind of change", by_kind(outcomes))):
        _print_scores(console, name, scores)
    for item in outcomes:
        if item.fate in (Fate.SURVIVED, Fate.UNKNOWN) or asked.ids:
            console.print()
            fate = (str(item.fate), _STYLES.get(item.fate, "dim"))
            head = Text.assemble((item.change.id, "bold"), "  ", fate, f"  {in_words(item)}")
            console.say(head)
            console.say(f"  {item.change.sort}: {item.change.told}")
            for line in item.run.splitlines():
                console.say(f"    {line}")
    console.print()
    if asked.matrix:
        print_notices(console, outcomes, rows)
    score = whole(outcomes)
    counted = ", ".join(f"{score.fates[fate]} {fate}" for fate in Fate if score.fates[fate])
    states = limit.states or USUAL_STATES
    bound = f"configurations of up to {states:,} states"
    share = f"{_percent(score)} of those not equivalent killed; " if score.share is not None else ""
    console.say(f"{counted or 'nothing tried'}; {share}{bound}; {seconds:.1f} s")


def print_notices(console: SafeConsole, outcomes: Sequence[Outcome], rows: Sequence[Row]) -> None:
    """Print which properties notice only one mutant, and which none."""
    found = notices(outcomes, rows)
    one, none, unasked = only_one(found), idle(found), not_asked(found)
    width = max((len(item.id) for item in (*one, *none)), default=0)
    console.say(f"properties that notice only one mutant: {len(one)}", "bold")
    for item in one:
        console.say(f"  {item.id:{width}}  {item.mutants[0]}, of {item.asked}")
    head = f"properties that notice none of those that differ where they are claimed: {len(none)}"
    console.say(head, "bold")
    for item in none:
        console.say(f"  {item.id:{width}}  of {item.asked}")
    head = f"properties of which nothing is known, as none of these differs where they are claimed: {len(unasked)}"
    console.say(head, "bold")
    console.print()


def _print_scores(console: SafeConsole, name: str, scores: Sequence[Score]) -> None:
    width = max(map(len, [name, *(score.name for score in scores)]), default=0)
    console.print()
    heads = "".join(f"{fate!s:>12}" for fate in Fate)
    console.say(f"{name:{width}}{heads}{'share':>9}", "bold")
    for score in scores:
        counts = "".join(f"{score.fates[fate] or '':>12}" for fate in Fate)
        console.say(f"{score.name:{width}}{counts}{_percent(score):>9}")


def _title(outcomes: Sequence[Outcome], asked: Mutants) -> str:
    of = f" of {asked.part}" if asked.part else ""
    sample = f", a sample with seed {asked.seed}" if asked.sample is not None else ""
    return f"{len(outcomes)} generated mutants{of}{sample}"


def _percent(score: Score) -> str:
    return "" if score.share is None else f"{100 * score.share:.1f} %"


def _score(score: Score) -> dict[str, Any]:
    share = None if score.share is None else round(score.share, 4)
    return {"name": score.name, **{str(fate): score.fates[fate] for fate in Fate}, "share": share}


def _is_meant(change: Change, name: str) -> bool:
    return name in (change.id, f"{change.part}.{change.text}")
