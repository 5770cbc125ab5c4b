"""The output of ``rocketproof mutants``: the table, the stories, the kill matrix, JSON, the rows of other files."""

from __future__ import annotations

import itertools
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rich.text import Text

from ..checkers.kill_matrix import Cell, Outcome
from ..checkers.known_bugs import TOPICS
from ..checkers.mutants import Answer, Entry, MachineMutant, RuleMutant, Status, Surprise, slug_of
from ..checkers.result import Result
from ..checkers.run import counted
from ..checkers.suite import Row
from ..traces.format.printable import json_text
from .console import Cells, SafeConsole, print_columns
from .row import ReportRow, RowStatus

_STYLES = {
    Status.KILLED: "green",
    Status.EXPLAINED: "cyan",
    Status.LEFT_OUT: "dim",
    Status.SURVIVED: "bold red",
    Status.CANNOT_TELL: "bold red",
    Status.UNKNOWN: "yellow",
    Status.MISSING: "yellow",
}
_STATUSES = {
    Status.KILLED: RowStatus.PASSED,
    Status.EXPLAINED: RowStatus.PASSED,
    Status.LEFT_OUT: RowStatus.SKIPPED,
    Status.SURVIVED: RowStatus.FAILED,
    Status.CANNOT_TELL: RowStatus.FAILED,
    Status.UNKNOWN: RowStatus.UNKNOWN,
    Status.MISSING: RowStatus.UNKNOWN,
}
_LETTERS = {"explore": "e", "liveness": "l", "prove": "p", "simulate": "r", "strategies": "a"}
_NARROWEST = 40
_NAMES = {"e": "explore", "l": "liveness", "p": "prove", "r": "random runs", "a": "strategies asked"}


def print_table(console: SafeConsole, answers: Sequence[Answer]) -> None:
    """One line for each entry, under a title for each letter."""
    groups = itertools.groupby(answers, key=lambda answer: answer.entry.id[:1])
    print_columns(console, *((_topic(letter), [_line(answer) for answer in group]) for letter, group in groups))


def print_entries(console: SafeConsole, known: Sequence[Entry]) -> None:
    """One line for each entry: what it is, and what must notice it."""
    groups = itertools.groupby(known, key=lambda entry: entry.id[:1])
    print_columns(
        console,
        *((_topic(letter), [(entry.id, slug_of(entry), _kind(entry)) for entry in group]) for letter, group in groups),
    )


def _topic(letter: str) -> str:
    return f"{letter}: {TOPICS.get(letter, 'others')}"


def _line(answer: Answer) -> Cells:
    entry, status = answer.entry, Text(f"{answer.status:11}", style=_STYLES[answer.status])
    if answer.mutated is None:
        return entry.id, slug_of(entry), status, Text(answer.explanation, style="dim")
    found = f"{answer.mutated.engine:8}  {_length(answer.mutated):8}  {answer.seconds:5.2f} s"
    return entry.id, slug_of(entry), status, _property(entry), found


def print_story(console: SafeConsole, answer: Answer) -> None:
    """Print one entry: how the bug works, where it was tried, and the run or case that shows it."""
    entry = answer.entry
    console.print()
    console.say(Text.assemble((entry.id, "bold"), f"  {slug_of(entry)}"))
    status = (str(answer.status), _STYLES[answer.status])
    console.say(Text.assemble("  ", status, f"  {_verdict(answer)}".rstrip()))
    for line in textwrap.wrap(_doc(entry), max(_NARROWEST, console.width - 2)):
        console.say(f"  {line}", "italic")
    if isinstance(entry, MachineMutant | Surprise):
        console.say(f"  {entry.machine.name} {_constants(_shown_constants(entry))}".rstrip())
    for line in _told(answer).splitlines():
        console.say("    " + line)


def print_matrix(console: SafeConsole, answers: Sequence[Answer], rows: Mapping[str, Sequence[Cell]]) -> None:
    """A table for each machine, and one for the rules: which properties notice which mutant, found by which engine."""
    tried = [answer.entry for answer in answers if rows.get(answer.entry.id)]
    for where, group in itertools.groupby(sorted(tried, key=_where), key=_where):
        here = list(group)
        columns = list(dict.fromkeys(cell.property for entry in here for cell in rows[entry.id]))
        kills = Counter(
            name for entry in here for name in columns if "killed" in _outcomes(rows[entry.id], name).values()
        )
        marks = {entry.id: [_mark(rows[entry.id], name, _property(entry)) for name in columns] for entry in here}
        _print_grid(console, where, marks)
        width = max(map(len, columns))
        for number, name in enumerate(columns, start=1):
            kind = f"kills {kills[name]}" if kills[name] else "kills none"
            console.say(f"  {number:>2}  {name:{width}}  {kind}")
    used = {_LETTERS.get(cell.engine, cell.engine) for row in rows.values() for cell in row}
    named = ", ".join(f"{letter} {name}" for letter, name in _NAMES.items() if letter in used)
    console.print()
    console.say(f"Killed by: {named}. · survives, ? unknown, empty: not claimed there.")


def _print_grid(console: SafeConsole, where: str, marks: Mapping[str, Sequence[Text]]) -> None:
    """The rows, in as many grids as the width of the console requires; a row without marks is left out of a grid."""
    first = max(len(name) for name in (where, *marks))
    widths = [max(map(len, column)) for column in zip(*marks.values(), strict=True)]
    widths = [2 + max(len(str(number)), width) for number, width in enumerate(widths, start=1)]
    start = 0
    while start < len(widths):
        end = start + 1
        while end < len(widths) and first + sum(widths[start : end + 1]) <= console.width:
            end += 1
        here = range(start, end)
        console.print()
        numbers = "".join(f"{place + 1:>{widths[place]}}" for place in here)
        console.say(f"{where:{first}}{numbers}", "bold")
        for name, row in marks.items():
            if any(row[place] for place in here):
                line = Text(f"{name:{first}}")
                for place in here:
                    line.append(" " * (widths[place] - len(row[place])))
                    line.append_text(row[place])
                line.rstrip()
                console.say(line)
        start = end


def summary(answers: Sequence[Answer], seconds: float) -> str:
    """One line: number of entries with each status."""
    counts = Counter(answer.status for answer in answers)
    parts = [f"{counts[status]} {status}" for status in Status if counts[status]]
    return f"{', '.join(parts) or 'nothing tried'}; {seconds:.1f} s"


def print_changed(console: SafeConsole, name: str, changed: Sequence[tuple[Row, str]]) -> None:
    """The rows of the suite whose answers a mutant changes, and to what."""
    console.print()
    console.say(f"{name} changes {counted(len(changed), 'row')} of the suite", "bold")
    for row, answer in changed:
        console.say(f"  {row.id}  {answer}  {row.machine} {row.configuration}".rstrip())


def as_json(
    answers: Sequence[Answer],
    rows: Mapping[str, Sequence[Cell]] | None,
    changed: Mapping[str, Sequence[tuple[Row, str]]] = MappingProxyType({}),
) -> str:
    """All entries as a JSON list of objects; with ``rows``, each has its row of the kill matrix, and if it was asked
    of all rows, those that it has ``changed``.
    """
    objects = [_object(answer) for answer in answers]
    for item in objects:
        if item["id"] in changed:
            item["changed"] = [
                {"property": row.id, "machine": row.machine, "constants": dict(row.constants), "answer": str(answer)}
                for row, answer in changed[item["id"]]
            ]
    if rows is not None:
        for item in objects:
            item["matrix"] = [
                {"property": cell.property, "engine": cell.engine, "outcome": str(cell.outcome), "steps": cell.steps}
                for cell in rows.get(item["id"], ())
            ]
    return json_text(objects)


def report_row(answer: Answer) -> ReportRow:
    """The row of an entry, for files: failed if the mutant survived, or the property is violated without the bug."""
    entry, status = answer.entry, _STATUSES[answer.status]
    return ReportRow(
        id=entry.id,
        suite=f"rocketproof.mutants.{_where(entry) or 'others'}",
        configuration=slug_of(entry),
        statement=_doc(entry),
        status=status,
        message="" if status is RowStatus.PASSED else f"{answer.status}: {_verdict(answer)}".removesuffix(": "),
        text="" if status is RowStatus.PASSED else "\n".join(filter(None, [_doc(entry), _told(answer)])),
        seconds=answer.seconds,
    )


def _object(answer: Answer) -> dict[str, Any]:
    entry, mutated, original = answer.entry, answer.mutated, answer.original
    return {
        "id": entry.id,
        "slug": slug_of(entry),
        "status": str(answer.status),
        "as_expected": answer.as_expected,
        "property": _property(entry),
        "engine": mutated.engine if mutated is not None else "",
        "verdict": str(mutated.verdict) if mutated is not None else "",
        "verdict_without": str(original.verdict) if original is not None else "",
        "steps": len(mutated.run) if mutated is not None and mutated.run is not None else None,
        "seconds": round(answer.seconds, 3),
        "machine": _where(entry),
        "configuration": dict(_shown_constants(entry)),
        "explanation": _doc(entry),
        "reason": answer.explanation,
        "story": _told(answer),
    }


def _where(entry: Entry) -> str:
    match entry:
        case MachineMutant() | Surprise():
            return entry.machine.name
        case RuleMutant():
            return "rules"
        case _:
            return ""


def _property(entry: Entry) -> str:
    match entry:
        case MachineMutant():
            return entry.killer.id
        case RuleMutant():
            return entry.theorem.id
        case Surprise():
            return entry.naive.id
        case _:
            return ""


def _kind(entry: Entry) -> str:
    match entry:
        case MachineMutant() if entry.mutant.sets:
            return f"{entry.machine.name} with {_constants(entry.mutant.sets)}, killed by {entry.killer.id}"
        case MachineMutant():
            what = f"another {entry.mutant.replaces}" if entry.mutant.replaces else "one more action"
            return f"{entry.machine.name} with {what}, killed by {entry.killer.id}"
        case RuleMutant():
            return f"another rule {entry.rule.name}, killed by {entry.theorem.id}"
        case Surprise():
            return f"{entry.machine.name}: not {entry.naive.id}, but {entry.exact.id}"
        case _:
            return f"{entry.status}: {entry.reason}"


def _shown_constants(entry: Entry) -> Mapping[str, int | str]:
    match entry:
        case MachineMutant():
            return entry.mutant.wrong_constants
        case Surprise():
            return entry.explanation.constants
        case _:
            return {}


def _constants(values: Mapping[str, int | str]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _doc(entry: Entry) -> str:
    match entry:
        case MachineMutant() | RuleMutant():
            return " ".join(entry.mutant.doc.split())
        case Surprise():
            return entry.explanation.doc
        case _:
            return ""


def _verdict(answer: Answer) -> str:
    if answer.mutated is None or answer.original is None:
        return answer.explanation
    if isinstance(answer.entry, Surprise):
        exact = answer.entry.exact.id
        return f"{answer.mutated.property} {answer.mutated.verdict}, {exact} {answer.original.verdict}"
    return f"{answer.mutated.property} {answer.mutated.verdict}, without the bug {answer.original.verdict}"


def _told(answer: Answer) -> str:
    return "" if answer.mutated is None else answer.mutated.story()


def _length(result: Result) -> str:
    return counted(len(result.run), "step") if result.run is not None else ""


def _outcomes(row: Sequence[Cell], name: str) -> dict[str, Outcome]:
    return {cell.engine: cell.outcome for cell in row if cell.property == name}


def _mark(row: Sequence[Cell], name: str, killer: str) -> Text:
    outcomes = _outcomes(row, name)
    killing = "".join(_LETTERS.get(engine, engine) for engine, item in outcomes.items() if item is Outcome.KILLED)
    if killing:
        return Text(killing, style="bold green" if name == killer else "green")
    if Outcome.SURVIVED in outcomes.values():
        return Text("·", style="dim")
    return Text("?" if outcomes else "", style="yellow")
