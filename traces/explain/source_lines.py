"""Places: where in its file an event is, so that a finding can name its source lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ..format.header import MARK
from ..format.schema import ARROW
from ..io import ROWS, Problems, Trace, Trouble
from ..io.compressed import lines_of
from ..io.jsonl import JsonLines
from ..io.parquet import ParquetTrace
from ..io.source import Source
from ..recorders.captured import CapturedTrace

_LEFT_OUT = (Trouble.DAMAGED, Trouble.NO_TIME, Trouble.STRAY_TIME)


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where an event is."""

    file: str  # the file, as the trace names it
    number: int  # its number in the file, from 1; 0 for events that were concluded from others
    unit: str  # what is counted: ``line``, ``row``, or ``event`` for files of another form

    def __str__(self) -> str:
        return self.within("")

    def within(self, folder: str) -> str:
        """The same in words, with the path of the file, or of each that was read with it, relative to a folder."""
        prefix = f"{folder}/" if folder else ""
        file = ", ".join(name.removeprefix(prefix) for name in self.file.split(", "))
        if not self.number:
            return CONCLUDED
        return f"{file}:{self.number}" if self.unit == "line" else f"{file} {self.unit} {self.number:,}"


CONCLUDED = "concluded from other events"
"""The place of an event that is in no file, such as the death of a process."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some consecutive events of one file."""

    file: int  # number of the file in the trace
    first: int  # number of events of the file before these
    batch: pa.RecordBatch  # the events, with all columns


def pieces(trace: Trace, *, rows: int = ROWS) -> Iterator[Piece]:
    """The events of a trace in the order of its files, with what :func:`places` needs to find them again."""
    for file, source in enumerate(trace.readers):
        first = 0
        for batch in source.batches(ARROW.names, rows=rows):
            yield Piece(file, first, batch)
            first += len(batch)


def locations(trace: Trace, wanted: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Place]:
    """The places of events, each given by the number of its file and the number of events of that file before it."""
    by_file: dict[int, set[int]] = {}
    for file, before in wanted:
        by_file.setdefault(file, set()).add(before)
    found: dict[tuple[int, int], Place] = {}
    for file, events in sorted(by_file.items()):
        ordered = sorted(events)
        source = trace.sources[file]
        if isinstance(source, CapturedTrace):
            found |= {(file, event): place for event, place in _captured(trace, source, ordered)}
            continue
        name = source.file
        numbers, unit = _numbers(trace, source, trace.places(file, ordered))
        found |= {(file, event): Place(name, number, unit) for event, number in zip(ordered, numbers, strict=True)}
    return found


def _captured(trace: Trace, source: CapturedTrace, events: list[int]) -> Iterator[tuple[int, Place]]:
    """The lines of events in the files in which they were recorded."""
    by_file: dict[Path, dict[int, int]] = {}
    for event in events:
        recorded = source.recorded_at(event)
        if recorded is None:
            yield event, Place(source.files[0], 0, "event")
        else:
            by_file.setdefault(recorded[0], {})[recorded[1]] = event
    for path, own in sorted(by_file.items()):
        problems = [problem for problem in trace.problems.kept if problem.file == str(path)]
        lost = {problem.line for problem in problems if problem.kind in _LEFT_OUT}
        rows = sorted(own)
        for row, line in zip(rows, _lines(path, rows, lost), strict=True):
            yield own[row], Place(str(path), line, "line")


def _numbers(trace: Trace, source: Source, events: list[int]) -> tuple[list[int], str]:
    problems = [problem for problem in trace.problems.kept if problem.file == source.file]
    lost = sorted(problem.line for problem in problems if problem.kind in _LEFT_OUT)
    all_known = trace.problems.count == len(trace.problems.kept)
    if isinstance(source, JsonLines) and all_known:
        return _lines(source.path, events, set(lost)), "line"
    if isinstance(source, ParquetTrace) and all_known and not any(p.kind is Trouble.UNREADABLE for p in problems):
        return _rows(events, lost), "row"
    return [event + 1 for event in events], "event"


def _lines(path: Path, events: list[int], lost: set[int]) -> list[int]:
    """Lines of the n-th events, not counting blank lines, the header, and lines that were left out."""
    numbers: list[int] = []
    wanted = iter(events)
    next_event = next(wanted, None)
    seen = 0
    for number, line in lines_of(path, Problems()):
        if next_event is None:
            break
        if number in lost or not line.strip() or (number == 1 and MARK in line):
            continue
        if seen == next_event:
            numbers.append(number)
            next_event = next(wanted, None)
        seen += 1
    return numbers + [0] * (len(events) - len(numbers))


def _rows(events: list[int], lost: list[int]) -> list[int]:
    """Rows of the n-th events, if some rows were left out."""
    rows: Any = np.array(events, np.int64) + 1
    for row in lost:
        rows = np.where(rows >= row, rows + 1, rows)
    return [int(row) for row in rows]
