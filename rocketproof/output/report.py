"""The output of a run: the table, the stories, JSON, and the rows of other files."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from ..checkers.run import glossary_lines
from ..checkers.strategies import Law
from ..properties.claim import Claim
from ..properties.verdict import Verdict
from ..traces.format.printable import json_text
from .console import VERDICT_STYLES, Cells, SafeConsole, print_columns
from .row import ReportRow, RowStatus

if TYPE_CHECKING:
    from ..checkers.suite import Outcome, Row


def print_table(console: SafeConsole, outcomes: Sequence[Outcome]) -> None:
    """One line for each row of the suite, under a title for each machine and configuration."""
    for _, on_machine in itertools.groupby(outcomes, key=lambda outcome: outcome.row.machine):
        groups = itertools.groupby(on_machine, key=_title)
        print_columns(console, *((title, [_line(outcome) for outcome in group]) for title, group in groups))


def _line(outcome: Outcome) -> Cells:
    result = outcome.result
    return outcome.row.id, verdict_text(outcome), result.engine, f"{result.seconds:>5.2f} s", result.bounds


def print_list(console: SafeConsole, rows: Sequence[Row]) -> None:
    """One line for each property and for each constant of its machine."""
    for machine, on_machine in itertools.groupby(rows, key=lambda row: row.machine):
        here = list(on_machine)
        lines = {row.id: row.statement for row in here}
        subjects = [row.subject.machine for row in here if isinstance(row.subject, Claim)]
        constants = subjects[0].constants.values() if subjects else ()
        lines |= {f"--set {item.name}=…": f"{item.allowed()}, usually {item.default}; {item.doc}" for item in constants}
        print_columns(console, (machine, lines.items()))


def print_found(console: SafeConsole, found: Sequence[Sequence[Row]], *, left_out: int) -> None:
    """One line for each property that was found, given as its rows: id, verdicts, statement."""
    verdicts = [" or ".join(dict.fromkeys(str(row.expected) for row in rows)) for rows in found]
    lines = [(rows[0].id, verdict, rows[0].statement) for rows, verdict in zip(found, verdicts, strict=True)]
    print_columns(console, ("", lines), indent="")
    if left_out:
        console.print(Text(f"and {left_out} more that have less to do with it", style="dim"))


def _title(outcome: Outcome) -> str:
    return " ".join(filter(None, [outcome.row.machine, outcome.row.configuration]))


def verdict_text(outcome: Outcome) -> Text:
    """The verdict, marked if it is an expected finding, or not the expected verdict."""
    verdict = outcome.result.verdict
    if isinstance(outcome.row.subject, Law) and outcome.as_expected:  # nothing is expected of a law for information
        return Text(str(verdict), style=VERDICT_STYLES[verdict])
    if outcome.as_expected and verdict is Verdict.VIOLATED:
        return Text(f"{verdict} (expected)", style="cyan")
    if outcome.as_expected:
        return Text(str(verdict), style=VERDICT_STYLES[verdict])
    if verdict is Verdict.UNKNOWN:
        return Text(str(verdict), style=VERDICT_STYLES[verdict])
    return Text(f"{verdict} (expected {outcome.row.expected})", style="bold red")


def summary(outcomes: Sequence[Outcome], seconds: float) -> str:
    """One line: number of rows with each result."""
    fine = [outcome for outcome in outcomes if outcome.as_expected]
    findings = sum(
        outcome.result.verdict is Verdict.VIOLATED and not isinstance(outcome.row.subject, Law) for outcome in fine
    )
    unknown = sum(outcome.result.verdict is Verdict.UNKNOWN for outcome in outcomes if not outcome.as_expected)
    parts = [f"{len(fine)} of {len(outcomes)} as expected"]
    if findings:
        parts.append(f"among them {findings} expected finding{'s' * (findings != 1)}")
    if len(outcomes) - len(fine) - unknown:
        parts.append(f"{len(outcomes) - len(fine) - unknown} not as expected")
    if unknown:
        parts.append(f"{unknown} unknown")
    return f"{', '.join(parts)}; {seconds:.1f} s"


def has_story(outcome: Outcome) -> bool:
    """Whether there is more to print than the row of the table: a run, a failing case, the reason of an UNKNOWN."""
    return outcome.result.run is not None or bool(outcome.result.explanation)


def print_story(console: SafeConsole, outcome: Outcome, *, brief: bool = False, glossary: bool = False) -> None:
    """Print what was found about one row: statement, run or failing case, lesson, rules, and the words used."""
    row = outcome.row
    console.print()
    console.say(Text.assemble((row.id, "bold"), f"  {row.statement}"))
    console.say(Text.assemble("  ", verdict_text(outcome), f"  {row.configuration}".rstrip()))
    text = outcome.result.story(brief=brief)
    for line in text.splitlines():
        console.say("    " + line)
    if row.lesson:
        console.say(f"  {row.lesson}", "italic")
    if row.rules:
        console.say(f"  rules: {', '.join(row.rules)}", "dim")
    if glossary and outcome.result.run is not None:
        for line in glossary_lines(outcome.result.run):
            console.say("  " + line, "dim")


def as_json(outcomes: Sequence[Outcome]) -> str:
    """All rows as a JSON list of objects."""
    return json_text([_object(outcome) for outcome in outcomes])


def report_row(outcome: Outcome) -> ReportRow:
    """The row of an outcome, for files: an unexpected verdict has failed, an unexpected UNKNOWN is unknown."""
    row, result = outcome.row, outcome.result
    fine = outcome.as_expected
    unknown = result.verdict is Verdict.UNKNOWN
    return ReportRow(
        id=row.id,
        suite=f"rocketproof.{row.machine}",
        configuration=row.configuration,
        statement=row.statement,
        rules=row.rules,
        status=RowStatus.PASSED if fine else RowStatus.UNKNOWN if unknown else RowStatus.FAILED,
        message="" if fine else f"{result.verdict}, expected {row.expected}: {result.bounds}",
        text="" if fine else result.story(),
        seconds=result.seconds,
    )


def _object(outcome: Outcome) -> dict[str, Any]:
    row, result = outcome.row, outcome.result
    return {
        "property": row.id,
        "verdict": str(result.verdict),
        "expected": str(row.expected),
        "as_expected": outcome.as_expected,
        "engine": result.engine,
        "bounds": result.bounds,
        "seconds": round(result.seconds, 3),
        "machine": row.machine,
        "configuration": dict(row.constants),
        "statement": row.statement,
        "lesson": row.lesson,
        "rules": list(row.rules),
        "steps": None if result.run is None else len(result.run),
        "story": result.story(),
    }
