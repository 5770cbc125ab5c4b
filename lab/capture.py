"""Capture: the files written by the agents in consumers and brokers are stored as one trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..traces.io import Problem, open_trace
from ..traces.io.writing import convert
from ..traces.recorders.captured import CapturedTrace
from ..traces.recorders.processes import Death


@dataclass(frozen=True, kw_only=True)
class Capture:
    """What was stored."""

    events: int  # number of events written
    left_out: Counter[str]  # what was left out, or could not be recognised, in words, and how often
    unrecorded: Mapping[str, Sequence[str]]  # members of recorded groups that no file covers, by group
    problems: tuple[Problem, ...]  # problems in the files; where something was lost, the trace has a gap


def keep_capture(
    files: Sequence[Path | str],
    *,
    out: Path | str,
    deaths: Sequence[Death] = (),
    complete: bool = False,
) -> Capture:
    """Write the recordings of all processes as one trace.

    Args:
        files: files of the agents, or folders of them.
        out: the trace: Parquet if the name ends in ``.parquet``, otherwise JSONL, compressed if it ends in ``.zst`` or
            ``.gz``.
        deaths: processes that were killed.
        complete: whether the recording begins with the first event of its groups, and nothing is under way at its end.

    Raises:
        TraceError: there are no events, or a file cannot be read or written.
    """
    trace = open_trace(files, deaths=deaths)
    trace.header = replace(trace.header, complete=complete)
    events = convert(trace, out)
    missing = {
        group: who
        for source in trace.sources
        if isinstance(source, CapturedTrace)
        for group, who in source.unrecorded.items()
    }
    return Capture(events=events, left_out=trace.skipped, unrecorded=missing, problems=tuple(trace.problems.kept))
