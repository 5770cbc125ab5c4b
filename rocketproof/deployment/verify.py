"""``rocketproof verify --config FILE`` for a file that describes a deployment: check it, show it, write it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from ..checkers.suite import Options
from ..commands.outputs import Outputs
from ..commands.request import Request
from ..errors import InputError
from ..model.kernel import nearest
from ..output.annotations import workflow_commands
from ..output.console import interrupts, make_console, print_columns
from ..output.files import write
from ..output.findings_page import write_outcomes
from ..output.junit import as_junit
from ..output.row import Severity
from ..output.sarif import as_sarif
from .judge import Answer, Check, Judge, Level
from .reading import DeploymentFile
from .report import as_json, print_answers, report_row, summary


def verify_deployment(file: DeploymentFile, request: Request, options: Options, outputs: Outputs) -> int:
    """Check a deployment and print the findings; returns the exit code.

    Raises:
        InputError: an unknown check, or a file that cannot be written.
    """
    judge = Judge(file, options)
    checks = select(judge.checks, request.properties)
    fail_on = Severity[request.fail_on.upper()]
    console = make_console(quiet=outputs.on_standard_output)
    started = time.perf_counter()
    answers: list[Answer] = []
    interrupted = False
    with interrupts() as stop_if_interrupted, console.status("starting", spinner="dots") as status:
        try:
            for check in checks:
                stop_if_interrupted()
                status.update(f"{check.subject}: {check.id}")
                answers.append(judge.answer(check))
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.perf_counter() - started
    console.print(f"{file.name}: {_contents(file)}", highlight=False, soft_wrap=True)
    print_answers(console, judge, answers, stories=outputs.stories)
    console.print()
    console.print(summary(answers, seconds), highlight=False)
    if interrupted:
        print(f"rocketproof: interrupted; not checked: {len(checks) - len(answers)} of {len(checks)}.", file=sys.stderr)
    rows = [report_row(answer, file.name, fail_on=fail_on) for answer in answers]
    if outputs.annotations:
        for line in workflow_commands(rows):
            print(line)
    if outputs.json:
        write(outputs.json, as_json(answers, file.name) + "\n")
    if outputs.junit:
        write(outputs.junit, as_junit(file.name, rows, seconds))
    if outputs.sarif:
        write(outputs.sarif, as_sarif(rows, [file.name]))
    if outputs.report:
        write_outcomes(outputs.report, [answer.outcome for answer in answers if answer.outcome is not None])
    return exit_code(answers, fail_on, interrupted=interrupted)


def exit_code(answers: Sequence[Answer], fail_on: Severity, *, interrupted: bool = False) -> int:
    """0 if fine, 1 if something fails, 2 if nothing fails but something is unknown."""
    failed = [answer for answer in answers if answer.fails(fail_on)]
    if any(answer.level is not Level.UNKNOWN for answer in failed):
        return 1
    return 2 if failed or interrupted or not answers else 0


def select(checks: Sequence[Check], names: Sequence[str]) -> list[Check]:
    """The checks that are named: by id, by the short id of a mistake, by group, or as ``group::id``; all if none is
    named.

    Raises:
        InputError: an unknown name.
    """
    if not names:
        return list(checks)
    called = [
        (check, {check.subject, *(f"{prefix}{name}" for prefix in ("", f"{check.subject}::") for name in check.names)})
        for check in checks
    ]
    possible = {name for _, some in called for name in some}
    for name in names:
        if name not in possible:
            raise InputError(f"there is no check {name!r}.{nearest(name, possible)} 'verify --list' shows all.")
    return [check for check, some in called if some & set(names)]


def list_checks(file: DeploymentFile, request: Request) -> None:
    """Print the checks of a deployment.

    Raises:
        InputError: as for :func:`select`.
    """
    checks = select(Judge(file).checks, request.properties)
    lines = [(f"{check.subject}::{check.id}", check.statement) for check in checks]
    print_columns(make_console(quiet=False), ("", lines), indent="")


def _contents(file: DeploymentFile) -> str:
    description = file.description
    parts = [
        f"{len(items)} {name if len(items) == 1 else name + 's'}"
        for name, items in (
            ("broker", description.brokers),
            ("topic", description.topics),
            ("group", description.groups),
        )
    ]
    return ", ".join(parts)
