"""The page of ``--report``: each finding opens as a run of the model."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..checkers.mutants import Answer
from ..checkers.suite import Outcome
from ..explorer.findings import Findings
from ..explorer.page import page, pages
from ..traces.explain.report.rules import rule_texts
from ..traces.format.printable import printable
from .files import STANDARD_OUTPUT, write


def write_outcomes(file: str, outcomes: Iterable[Outcome], changes: Mapping[str, int | str] | None = None) -> None:
    """Write what a suite has found; ``changes`` are constants that override those of every row."""
    findings = Findings(rules=rule_texts())
    findings.add_outcomes(outcomes, changes)
    _write(file, findings)


def write_answers(file: str, answers: Iterable[Answer]) -> None:
    """Write what became of known bugs."""
    findings = Findings(rules=rule_texts())
    findings.add_answers(answers)
    _write(file, findings)


def _write(file: str, findings: Findings) -> None:
    if findings.left_out:
        names = ", ".join(findings.left_out)
        print(
            f"rocketproof: without a run that begins at the start, so not in {printable(file)}: {printable(names)}",
            file=sys.stderr,
        )
    if not findings.entries:
        print(f"rocketproof: nothing that was found has a run, so {printable(file)} is not written.", file=sys.stderr)
        return
    title = "What rocketproof has found"
    if file == STANDARD_OUTPUT:
        write(file, page(findings.entries, title=title))
        return
    written = pages(findings.entries, title=title, name=Path(file).name)
    for name, text in written.items():
        write(str(Path(file).with_name(name)), text)
    if len(written) > 1:
        _, *further = map(printable, written)
        beside = ", ".join(further)
        print(f"rocketproof: {printable(file)} leads to {beside} beside it; keep them together.", file=sys.stderr)
