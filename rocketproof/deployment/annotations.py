"""GitHub annotations: workflow commands that put a message beside a line of the file in a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..traces.format.printable import printable_document
from .judge import Answer, Level
from .report import first_text

_COMMANDS = {Level.NOTE: "notice", Level.WARNING: "warning", Level.ERROR: "error", Level.UNKNOWN: "error"}


def workflow_commands(answers: Sequence[Answer], file: str) -> Iterator[str]:
    """One workflow command for each finding, and for each property that does not hold or is unknown."""
    for answer in answers:
        if answer.level is Level.OK or answer.accepted:
            continue
        title = f"{answer.check.subject}: {answer.check.id}"
        if answer.check.is_property or answer.level is Level.UNKNOWN:
            yield _command(answer.level, file, answer.line, title, first_text(answer))
            continue
        for reason in answer.reasons:
            yield _command(Level(reason.severity), file, reason.line, title, f"{reason.text}\nfix: {reason.fix}")


def _command(level: Level, file: str, line: int, title: str, message: str) -> str:
    values = {"file": file, "line": str(line), "title": title}
    properties = ",".join(f"{key}={_property(value)}" for key, value in values.items())
    return f"::{_COMMANDS[level]} {properties}::{_data(message)}"


def _data(text: str) -> str:
    return printable_document(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
