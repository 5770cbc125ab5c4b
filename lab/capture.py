"""Capture: the files that the agents in consumers and brokers have written become one trace."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..traces.format.kinds import Kind
from ..traces.format.schema import BY_NAME, Header
from ..traces.io import EXTRA, ROWS, Problem, Problems, Trace, Trouble, batches_of, open_trace
from ..traces.io.source import Source
from ..traces.io.writing import ParquetWriter, write_jsonl
from .confirming import confirmed
from .joining import Death, Event, Processes, Recording, deaths_recorded, merged, unrecorded

CUT_OFF = "last lines that were not written to their end"
KILLED_UNSEEN = "deaths of processes that had recorded nothing"

_MICROS = "micros"
_LOSES = (Trouble.DAMAGED, Trouble.TRUNCATED, Trouble.UNREADABLE, Trouble.NO_TIME, Trouble.IMPOSSIBLE)


@dataclass(frozen=True, kw_only=True)
class Joined:
    """What came of joining.

    Attributes:
        events: how many were written.
        left_out: what was not, or could not be told, in words, and how often.
        unrecorded: members of recorded groups that no file is about, by group.
        problems: what was wrong in the files; where something was lost the trace has a gap.
    """

    events: int
    left_out: Counter[str]
    unrecorded: Mapping[str, Sequence[str]]
    problems: tuple[Problem, ...]


def join(
    files: Sequence[Path | str],
    *,
    out: Path | str,
    deaths: Sequence[Death] | None = None,
    complete: bool = False,
) -> Joined:
    """Write the recordings of all processes as one trace, in one order, with one event for each commit.

    Args:
        files: of the agents, or folders of them.
        out: the trace: Parquet if the name ends in ``.parquet``, else JSONL, packed if it ends in ``.zst`` or ``.gz``.
        deaths: processes that were killed; None if nobody watched, then a silent end is nothing that is known.
        complete: whether the recording begins with the first event of its groups, and nothing is under way at its end.

    Raises:
        TraceError: there are no events, or a file cannot be read or written.
    """
    trace = open_trace(files)
    recordings = [recording for source in trace.sources if (recording := _read(source)).events]
    left_out: Counter[str] = Counter()
    problems = _without_last_lines(trace, left_out)
    release = _release(trace)
    if release:
        problems = [one for one in problems if not (one.kind is Trouble.DISAGREE and one.what.startswith("release "))]
    killed, unseen = deaths_recorded(recordings, deaths or ())
    if unseen:
        left_out[KILLED_UNSEEN] = len(unseen)
    processes = Processes(recordings)
    processes.number([*recordings, *killed])
    kept, counts = confirmed(merged([*recordings, *killed]), recordings, processes)
    left_out.update(counts)
    missing = unrecorded(recordings)
    events = [_timed(stamp, event) for stamp, event in kept]
    events += _gaps(events, recordings, problems, missing)
    for seq, event in enumerate(events):
        event["seq"] = seq
    header = _header(trace, release=release, watched=deaths is not None, complete=complete)
    _write(Path(out), header, events)
    return Joined(
        events=len(events),
        left_out=left_out,
        unrecorded=missing,
        problems=tuple(problems),
    )


def _read(source: Source) -> Recording:
    recording = Recording.of_file(source.file)
    for batch in source.batches((*BY_NAME, EXTRA), rows=ROWS):
        for row in batch.to_pylist():
            extra = json.loads(row.pop(EXTRA) or "{}")
            micros = extra.get(_MICROS)
            event = {name: value for name, value in row.items() if value is not None}
            recording.add(event, micros if type(micros) is int and 0 <= micros < 1000 else 0)
    return recording


def _without_last_lines(trace: Trace, left_out: Counter[str]) -> list[Problem]:
    """The problems of the files. A last line without its end is none: its process was killed, or writes on."""
    found = []
    for problem in trace.problems.kept:
        if problem.kind is Trouble.DAMAGED and problem.line > _whole_lines(problem.file):
            left_out[CUT_OFF] += 1
        else:
            found.append(problem)
    return found


def _whole_lines(file: str) -> int:
    with Path(file).open("rb") as stream:
        return sum(piece.count(b"\n") for piece in iter(lambda: stream.read(1 << 20), b""))


def _timed(stamp: int, event: Event) -> Event:
    """The event with the time at which it counts."""
    event["time"] = stamp // 1000
    return event


def _gaps(
    events: Sequence[Event],
    recordings: Sequence[Recording],
    problems: Sequence[Problem],
    missing: Mapping[str, Sequence[str]],
) -> list[Event]:
    """Gaps for what was recorded and cannot be read, and for members that were not recorded; all end with the trace."""
    end = events[-1]["time"]
    whole = {"time": end, "kind": str(Kind.GAP), "due": min(event["time"] for event in events)}
    found = [{**whole, "group": group, "detail": f"not recorded: {', '.join(who)}"} for group, who in missing.items()]
    damaged = Counter(problem.file for problem in problems if problem.kind in _LOSES)
    began = {recording.file: recording.stamps[0] // 1000 for recording in recordings}
    for file, count in sorted(damaged.items()):
        since = began.get(file, whole["due"])
        found.append({**whole, "due": since, "count": count, "detail": f"not readable in {Path(file).name}"})
    return found


def _release(trace: Trace) -> str:
    """The release of the clients, if it is one: brokers may be older or newer, and the rules that differ are theirs."""
    found = {one.stated.header.release for one in trace.sources if not Recording.of_file(one.file).of_broker}
    return found.pop() if len(found) == 1 else ""


def _header(trace: Trace, *, release: str, watched: bool, complete: bool) -> Header:
    """One header: what any of the agents would have recorded, and the deaths that somebody watched for."""
    evidence = trace.header.evidence
    if watched and evidence:
        evidence |= {Kind.CLIENT_CRASH, Kind.BROKER_CRASH}
    release = release or trace.header.release
    return replace(trace.header, evidence=evidence, release=release, complete=complete, extra={})


def _write(out: Path, header: Header, events: Sequence[Mapping[str, Any]]) -> None:
    if out.suffix != ".parquet":
        write_jsonl(out, header, events)
        return
    with ParquetWriter(out, header) as writer:
        for batch in batches_of(events, Problems(strict=True)):
            writer.write(batch)
