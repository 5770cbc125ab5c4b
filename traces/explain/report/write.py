"""The folder of a report: the page, and the tables beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from ...engine.result import CheckResult
from ...errors import TraceError
from ...io import Trace
from ...io.parquet import beside_a_trace
from ...io.whole_file import whole_file
from ..story import Story, stories
from .chain import chains
from .html import page
from .tables import TABLES

PAGE = "index.html"
"""File name of the page in the folder of a report."""


RUNS = "runs.html"
"""File name of the page that shows findings as runs of the model."""


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Findings as runs of the model."""

    text: str  # content of a page that opens them
    opened: Mapping[str, str]  # claim → the part of a link after ``#`` that opens its first finding in that page


def write_report(
    folder: Path, result: CheckResult, trace: Trace, *, told: Sequence[Story] | None = None, runs: Runs | None = None
) -> list[Path]:
    """Write the page and the tables into a folder, which is made if need be; returns the files, the page first. Files
    of an earlier report are replaced, others are left alone. The attempts of messages, and stories unless they are told
    already, are read from the trace.

    Raises:
        TraceError: something cannot be written.
    """
    if told is None:
        told = stories(trace, result.rows, result.names)
    links = {claim: f"{RUNS}#{opened}" for claim, opened in (runs.opened if runs else {}).items()}
    text = page(result, stories=told, chains=chains(result, trace), runs=links)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as together:  # all of it, or nothing
            together.enter_context(whole_file(folder / PAGE)).write_text(text, encoding="utf-8")
            files = [folder / f"{name}.parquet" for name in TABLES]
            for file, table in zip(files, TABLES.values(), strict=True):
                made = beside_a_trace(table(result))
                pq.write_table(made, together.enter_context(whole_file(file)), compression="zstd")
            if runs:
                together.enter_context(whole_file(folder / RUNS)).write_text(runs.text, encoding="utf-8")
        return [folder / PAGE, *files, *([folder / RUNS] if runs else [])]
    except OSError as error:
        raise TraceError(f"cannot write the report to {folder}: {error.strerror or error}.") from None
