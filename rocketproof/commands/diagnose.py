"""``rocketproof diagnose``: which known bug explains what is wrong in a recorded run."""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnosis.diagnosis import Answer, diagnosed
from ..diagnosis.look import looked_at
from ..errors import InputError
from ..output.console import console_beside, interrupts
from ..output.diagnosis_report import diagnosis_as_json, diagnosis_as_page, print_diagnosis
from ..output.files import STANDARD_OUTPUT, write
from .preparing import preparing

EXIT_CODES = {Answer.NOTHING_WRONG: 0, Answer.NAMED: 1, Answer.ALIKE: 1, Answer.NOT_KNOWN: 1, Answer.NOT_TOLD: 2}


def diagnose(
    paths: Sequence[str], *, config: str = "", slack: int = 50, strict: bool = False, json: str = "", report: str = ""
) -> int:
    """Diagnose a recording and print the result; returns the exit code.

    See the options of ``rocketproof diagnose``; ``slack`` is in ms.

    Raises:
        InputError: no trace is named, or the answer cannot be written.
        TraceError: the trace cannot be read.
    """
    if not paths:
        raise InputError("diagnose needs a trace: files or folders, such as what the capture agent has written.")
    if json == report == STANDARD_OUTPUT:
        raise InputError("only one of --json and --report can go to standard output.")
    console = console_beside(json, report)
    with interrupts(), preparing("the monitors", "half a minute"):
        found = diagnosed(looked_at(paths, config=config, slack=slack, strict=strict), slack=slack)
    print_diagnosis(console, found)
    if json:
        write(json, diagnosis_as_json(found) + "\n")
    if report:
        write(report, diagnosis_as_page(found))
    return EXIT_CODES[found.answer]
