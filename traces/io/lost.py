"""What was lost in reading, as holes of the coverage: when and what it may have been, if this is known."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ..format.coverage import ALL_KINDS, EVER, EVIDENCE_BIT, NEVER, SETTINGS, Hole
from ..format.kinds import Kind
from ..format.problems import Problem, Problems, Trouble
from ..format.schema import LATEST
from .compressed import blocks_of
from .imported import ImportedTrace
from .jsonl import value_of
from .parquet import FAILURES, ParquetTrace, times_of
from .source import Source

LOSES = frozenset(Trouble) - {Trouble.VERSION, Trouble.DISAGREE, Trouble.NEAR_NAME}
"""Problems that take evidence away. Of a later version, everything known is read, and unknown parts are reported
separately; if headers disagree, one of them counts; a name near a field's may be another program's.
"""

_OF_AN_EVENT = (Trouble.IMPOSSIBLE, Trouble.UNKNOWN_WORD)
_OF_ALL = (
    Trouble.HEADER,
    Trouble.NO_HEADER,
    Trouble.UNREADABLE,
    Trouble.EMPTY,
    Trouble.UNKNOWN_FORMAT,
    Trouble.OTHER_NAME,
)
UNREAD = ("seq", "msg_id", "epoch", "detail", "key")
"""Fields on which no claim rests. A message without its key has its origin, or none, which is counted elsewhere."""

_TIME = re.compile(rb'"time"\s*:\s*(\d{1,15})\b')
_COLUMNS = ("time", "kind", "group", "topic")
_BLOCK = 1 << 20


def holes_of(problems: Problems, sources: Sequence[Source]) -> list[Hole]:
    """The holes that reading problems leave.

    A line that cannot be read lies between its neighbours in time, as does an event whose own time they contradict. If
    a value is impossible, its event is known; if a word is unknown, its time is known. Anything without such a place
    may have been at any time.
    """
    holes = []
    by_file: dict[str, list[Problem]] = {}
    for problem in problems.kept:
        if problem.kind in LOSES and not (problem.kind in _OF_AN_EVENT and problem.what.startswith(UNREAD)):
            by_file.setdefault(problem.file, []).append(problem)
    readers = {file: source for source in sources for file in source.files}
    for file, found in by_file.items():
        source = readers.get(file)
        events: Mapping[int, Mapping[str, Any]] = {}
        lines = sorted({problem.line for problem in found if problem.kind not in _OF_ALL})
        if isinstance(source, ParquetTrace) and file == str(source.path):
            events = _events_of_rows(source.path, lines)
        elif lines and source is not None and not isinstance(source, ImportedTrace):
            events = _events_of_lines(Path(file), lines)
        holes += [_hole(problem, events.get(problem.line, {})) for problem in found]
    kept = Counter(problem.kind for problem in problems.kept)
    for kind, count in sorted(problems.by_kind.items()):
        if kind in LOSES and count > kept[kind]:
            holes.append(Hole(why=f"{kind}, {count - kept[kind]:,} more of them"))
    return holes


def _hole(problem: Problem, event: Mapping[str, Any]) -> Hole:
    hole = Hole(why=f"{problem.kind}: {problem.what}", file=problem.file, line=problem.line)
    if problem.kind in (Trouble.HEADER, Trouble.NO_HEADER):
        return replace(hole, kinds=ALL_KINDS | SETTINGS)
    if problem.kind in _OF_ALL:
        return hole
    is_stray = problem.kind is Trouble.STRAY_TIME
    between = replace(hole, since=event.get("before", EVER), until=event.get("after", NEVER))
    if not is_stray and (problem.kind not in _OF_AN_EVENT or not _is_time(event.get("time"))):
        return between
    kind = event.get("kind")
    is_known = isinstance(kind, str) and kind in set(map(str, Kind)) and not problem.what.startswith("kind")
    return replace(
        hole,
        since=between.since if is_stray else event["time"],
        until=between.until if is_stray else event["time"],
        kinds=EVIDENCE_BIT[Kind(str(kind))] if is_known else hole.kinds,
        group=_text(event.get("group"), problem, "group"),
        topic=_text(event.get("topic"), problem, "topic"),
    )


def _text(value: object, problem: Problem, field: str) -> str:
    """A name; empty if it is none, or if it is the invalid value itself."""
    return value if isinstance(value, str) and not problem.what.startswith(field) else ""


def _is_time(value: object) -> bool:
    return type(value) is int and 0 <= value <= LATEST


def _events_of_lines(path: Path, lines: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What is known about lines: their members and, as ``before`` and ``after``, the times of their neighbours.

    Line 0 stands for the missing end of a file that breaks off: it would come after all others.
    """
    found: dict[int, dict[str, Any]] = {}
    wanted, waiting = set(lines), list[dict[str, Any]]()
    before: int | None = None
    for line, text in _numbered(path):
        time = None
        if line in wanted:
            value = value_of(text)
            event = found[line] = dict(value) if isinstance(value, dict) else {}
            if before is not None:
                event["before"] = before
            waiting.append(event)
        elif match := _TIME.search(text):
            time = int(match[1])
        if time is not None and _is_time(time):
            before = time
            for event in waiting:
                event["after"] = time
            waiting.clear()
        if not waiting and len(found) == len(wanted):
            break
    if before is not None:
        found.setdefault(0, {"before": before})
    return found


def _numbered(path: Path) -> Iterator[tuple[int, bytes]]:
    for first, block in blocks_of(path, Problems(), size=_BLOCK):
        yield from enumerate(block.split(b"\n")[:-1], first)


def _events_of_rows(path: Path, rows: Sequence[int]) -> dict[int, dict[str, Any]]:
    """For rows of a Parquet file, numbered from 1, the columns that say where an event belongs.

    The times of their neighbours are ``before`` and ``after``, as for lines.
    """
    found: dict[int, dict[str, Any]] = {}
    waiting: list[dict[str, Any]] = []
    before: int | None = None
    try:
        with pq.ParquetFile(path) as opened:
            columns = [name for name in _COLUMNS if name in opened.schema_arrow.names]
            first = 1
            for group in range(opened.num_row_groups):
                count = opened.metadata.row_group(group).num_rows
                inside = [row for row in rows if first <= row < first + count]
                times, known = times_of(opened.read_row_group(group, columns=["time"]))
                others = ~np.isin(known + first, inside)
                times, known = times[others], known[others] + first
                if len(times):
                    for event in waiting:
                        event["after"] = int(times[0])
                    waiting.clear()
                if inside:
                    table = opened.read_row_group(group, columns=columns)
                    found.update(zip(inside, table.take(np.array(inside) - first).to_pylist(), strict=True))
                for row, at in zip(inside, np.searchsorted(known, inside).tolist(), strict=True):
                    if at or before is not None:
                        found[row]["before"] = int(times[at - 1]) if at else before
                    if at < len(times):
                        found[row]["after"] = int(times[at])
                    else:
                        waiting.append(found[row])
                before = int(times[-1]) if len(times) else before
                first += count
                if not waiting and len(found) == len(rows):
                    break
    except FAILURES:
        pass
    return found
