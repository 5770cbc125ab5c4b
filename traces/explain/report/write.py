"""The folder of a report: the page, and tables beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...engine.result import CheckResult
from ...errors import TraceError
from ...io import Trace
from ..story import Story, stories
from .chain import chains
from .html import page
from .tables import write_tables

PAGE = "index.html"
"""Name of the page in the folder of a report."""


def write_report(folder: Path, result: CheckResult, trace: Trace, *, told: Sequence[Story] | None = None) -> list[Path]:
    """Write the page and the tables into a folder, which is made if need be; returns the files, the page first.

    Args:
        folder: where to; files of an earlier report are replaced, others are left alone.
        result: what to report.
        trace: what was checked: the attempts of messages, and stories, are read from it.
        told: stories of violations, if they are there already.

    Raises:
        TraceError: something cannot be written.
    """
    if told is None:
        told = stories(trace, result.rows, result.names)
    text = page(result, stories=told, chains=chains(result, trace))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PAGE).write_text(text, encoding="utf-8")
        return [folder / PAGE, *write_tables(result, folder)]
    except OSError as error:
        raise TraceError(f"cannot write the report to {folder}: {error.strerror or error}.") from None
