"""``rocketproof mutants --generated``: every small change of the model's texts, and which row of the suite notices."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment
from rich.console import Console
from rich.text import Text

from ..checkers.catalogue import default_rows
from ..checkers.mutation.changes import Change, all_changes, parts, stratified
from ..checkers.mutation.ground import settings
from ..checkers.mutation.judge import Effort, Fate, Outcome, in_words, judge
from ..checkers.mutation.summary import Score, by_kind, by_part, idle, not_asked, notices, only_one, whole
from ..checkers.mutation.theorems import Theorems
from ..checkers.suite import Row
from ..errors import InputError
from ..model.kernel import nearest
from ..output.console import console_beside
from ..output.files import write, write_json
from ..traces.machine_code.code_cache import user_cache
from .request import LimitTable

USUAL_STATES = 1_000_000
"""Distinct states of a configuration beyond which it is not asked, where the user does not say."""

_STYLES = {Fate.KILLED: "green", Fate.SURVIVED: "bold red", Fate.UNKNOWN: "yellow"}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was asked for; see the options of ``rocketproof mutants``.

    Attributes:
        part: the part of the model; empty for all.
        sample, seed: how many mutants, chosen by part and kind; None for all.
        jobs: processes.
        matrix: ask all rows, not just until one changes.
        at_least: share of mutants in percent that must be killed; None for all.
        list_only: print the mutants and try none.
        json, html: files to write; empty for none.
        keep: file with what is known already, to which everything is added; empty for none.
        ids: only these, or those of a text: ``orderly_lock.take``.
    """

    part: str = ""
    sample: int | None = None
    seed: int = 0
    jobs: int = 1
    matrix: bool = False
    at_least: float | None = None
    list_only: bool = False
    json: str = ""
    html: str = ""
    keep: str = ""
    ids: tuple[str, ...] = ()


def generated(asked: Asked, limit: LimitTable) -> int:
    """Try generated mutants and print what became of them.

    Returns:
        0 when none survived, or as many were killed as asked for; 1 otherwise; 2 when something is unknown.

    Raises:
        InputError: an unknown part or id, an impossible sample, or a file that cannot be written.
    """
    console = console_beside(asked.json, asked.html, asked.keep)
    changes = chosen(asked)
    if asked.list_only:
        for change in changes:
            console.print(Text(f"{change.id}  {change.sort}: {change.told}"), soft_wrap=True)
        return 0
    rows = default_rows()
    started = time.perf_counter()
    with console.status("starting", spinner="dots") as status:
        outcomes = judge(
            changes,
            settings(rows),
            Theorems.of(rows),
            Effort(states=limit.states or USUAL_STATES, far=USUAL_STATES, jobs=asked.jobs, every_row=asked.matrix),
            journal=Path(asked.keep) if asked.keep else None,
            cache=user_cache("mutants"),
            progress=status.update,
        )
    seconds = time.perf_counter() - started
    _print(console, outcomes, rows, asked, limit, seconds)
    write_json(asked.json, as_object(outcomes, rows, asked))
    if asked.html:
        write(asked.html, page(outcomes, rows, asked))
    return exit_code(outcomes, asked.at_least)


def chosen(asked: Asked) -> list[Change]:
    """The mutants asked for.

    Raises:
        InputError: there is none of that name, or the sample is none.
    """
    if asked.part and asked.part not in parts():
        raise InputError(f"there is no part {asked.part!r} of the model.{nearest(asked.part, parts())}")
    if asked.sample is not None and asked.sample < 1:
        raise InputError(f"--sample {asked.sample} is none; give at least 1.")
    changes = all_changes(asked.part)
    for name in asked.ids:
        if not any(_is_meant(change, name) for change in changes):
            texts = dict.fromkeys(f"{change.part}.{change.text}" for change in changes)
            raise InputError(f"there is no generated mutant {name!r}.{nearest(name, texts)} --list shows all.")
    if asked.ids:
        changes = [change for change in changes if any(_is_meant(change, name) for name in asked.ids)]
    return stratified(changes, asked.sample, asked.seed) if asked.sample is not None else changes


def exit_code(outcomes: Sequence[Outcome], at_least: float | None) -> int:
    """As :func:`generated` returns it."""
    score = whole(outcomes)
    if at_least is not None:
        return 0 if score.share is None or 100 * score.share >= at_least else 1
    if score.fates[Fate.SURVIVED]:
        return 1
    return 2 if score.fates[Fate.UNKNOWN] else 0


def as_object(outcomes: Sequence[Outcome], rows: Sequence[Row], asked: Asked) -> dict[str, Any]:
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
        "notice one mutant only": [item.id for item in only_one(found)],
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


def page(outcomes: Sequence[Outcome], rows: Sequence[Row], asked: Asked) -> str:
    """A page of HTML that stands by itself."""
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(_PAGE)
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
    console: Console, outcomes: Sequence[Outcome], rows: Sequence[Row], asked: Asked, limit: LimitTable, seconds: float
) -> None:
    console.print(Text(_title(outcomes, asked), style="bold"), soft_wrap=True)
    for name, scores in (("part", by_part(outcomes)), ("kind of change", by_kind(outcomes))):
        _print_scores(console, name, scores)
    for item in outcomes:
        if item.fate in (Fate.SURVIVED, Fate.UNKNOWN) or asked.ids:
            console.print()
            fate = (str(item.fate), _STYLES.get(item.fate, "dim"))
            head = Text.assemble((item.change.id, "bold"), "  ", fate, f"  {in_words(item)}")
            console.print(head, soft_wrap=True)
            console.print(Text(f"  {item.change.sort}: {item.change.told}"), soft_wrap=True)
            for line in item.run.splitlines():
                console.print(Text(f"    {line}"), soft_wrap=True)
    console.print()
    if asked.matrix:
        print_notices(console, outcomes, rows)
    score = whole(outcomes)
    counted = ", ".join(f"{score.fates[fate]} {fate}" for fate in Fate if score.fates[fate])
    states = limit.states or USUAL_STATES
    bound = f"configurations of up to {states:,} states"
    share = f"{_percent(score)} of those not equivalent killed; " if score.share is not None else ""
    console.print(Text(f"{counted or 'nothing tried'}; {share}{bound}; {seconds:.1f} s"), soft_wrap=True)


def print_notices(console: Console, outcomes: Sequence[Outcome], rows: Sequence[Row]) -> None:
    """Print which properties notice one mutant only, and which none; known where every row was asked."""
    found = notices(outcomes, rows)
    one, none, unasked = only_one(found), idle(found), not_asked(found)
    width = max((len(item.id) for item in (*one, *none)), default=0)
    console.print(Text(f"{len(one)} properties notice one mutant only", style="bold"), soft_wrap=True)
    for item in one:
        console.print(Text(f"  {item.id:{width}}  {item.mutants[0]}, of {item.asked}"), soft_wrap=True)
    head = f"{len(none)} properties notice none of those that differ where they are claimed"
    console.print(Text(head, style="bold"), soft_wrap=True)
    for item in none:
        console.print(Text(f"  {item.id:{width}}  of {item.asked}"), soft_wrap=True)
    head = f"{len(unasked)} properties are claimed only where none of these differs"
    console.print(Text(head, style="bold"), soft_wrap=True)
    console.print()


def _print_scores(console: Console, name: str, scores: Sequence[Score]) -> None:
    width = max(map(len, [name, *(score.name for score in scores)]), default=0)
    console.print()
    heads = "".join(f"{fate!s:>12}" for fate in Fate)
    console.print(Text(f"{name:{width}}{heads}{'share':>9}", style="bold"), soft_wrap=True)
    for score in scores:
        counts = "".join(f"{score.fates[fate] or '':>12}" for fate in Fate)
        console.print(Text(f"{score.name:{width}}{counts}{_percent(score):>9}"), soft_wrap=True)


def _title(outcomes: Sequence[Outcome], asked: Asked) -> str:
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


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; } td, th { padding: .1rem .7rem; text-align: right; }
td:first-child, th:first-child { text-align: left; } tr:nth-child(even) { background: #8881; }
.survived { color: #b00; font-weight: bold; } .unknown { color: #a60; } .killed { color: #070; }
pre { background: #8881; padding: .5rem; overflow-x: auto; }
</style></head><body>
<h1>{{ title }}</h1>
{% for name, scores in tables %}
<table><tr><th>{{ name }}</th>{% for fate in fates %}<th>{{ fate }}</th>{% endfor %}<th>share</th></tr>
{% for score in scores %}
<tr><td>{{ score.name }}</td>{% for fate in fates %}<td>{{ score.fates[fate] }}</td>{% endfor %}
<td>{{ percent(score) }}</td></tr>
{% endfor %}</table>
{% endfor %}
{% if not whole %}
<p>A mutant is asked until one row changes, so what a property notices is counted from below.</p>
{% endif %}
<details><summary>{{ one|length }} properties notice one mutant only</summary>
<table><tr><th>property</th><th>what it says</th><th>mutant</th><th>what it changes</th><th>of</th></tr>
{% for item in one %}
<tr><td>{{ item.id }}</td><td>{{ item.statement }}</td>
<td>{{ item.mutants[0] }}</td><td>{{ told[item.mutants[0]] }}</td><td>{{ item.asked }}</td></tr>
{% endfor %}</table></details>
<details><summary>{{ idle|length }} properties notice none of those that differ where they are claimed</summary>
<table><tr><th>property</th><th>what it says</th><th>machine</th><th>of</th></tr>
{% for item in idle %}
<tr><td>{{ item.id }}</td><td>{{ item.statement }}</td><td>{{ item.machine }}</td><td>{{ item.asked }}</td></tr>
{% endfor %}</table></details>
<details><summary>{{ not_asked|length }} properties are claimed where none of these mutants differs</summary>
<p>{{ not_asked|map(attribute="id")|join(", ") }}</p></details>
<h2>Mutants</h2>
{% for item, words in outcomes %}
<p><b>{{ item.change.id }}</b> <span class="{{ item.fate }}">{{ item.fate }}</span> {{ item.change.sort }}:
{{ item.change.told }}<br>{{ words }}</p>
{% if item.run %}<pre>{{ item.run }}</pre>{% endif %}
{% endfor %}
</body></html>
"""
