"""GitHub annotations: workflow commands that place a remark beside its line in a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..traces.format.printable import printable_document
from .row import Remark, ReportRow, Severity

_COMMANDS = {Severity.NOTE: "notice", Severity.WARNING: "warning", Severity.ERROR: "error", None: "error"}


def workflow_commands(rows: Sequence[ReportRow]) -> Iterator[str]:
    """One workflow command for each remark that is not accepted."""
    for row in rows:
        if not row.accepted:
            for remark in row.remarks:
                yield _command(row, remark)


def _command(row: ReportRow, remark: Remark) -> str:
    values = {"file": remark.place.file, "line": str(remark.place.line), "title": f"{remark.subject}: {row.id}"}
    properties = ",".join(
        f"{key}={_data(value).replace(':', '%3A').replace(',', '%2C')}" for key, value in values.items()
    )
    return f"::{_COMMANDS[remark.severity]} {properties}::{_data(remark.brief or remark.text)}"


def _data(text: str) -> str:
    return printable_document(text).replace("%", "%25").replace("\n", "%0A")
