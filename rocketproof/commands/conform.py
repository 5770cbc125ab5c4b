"""``rocketproof conform``: is a recorded run a behaviour of the model, event by event?"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from ..errors import InputError
from ..output.console import SafeConsole, console_beside, interrupts
from ..output.files import write_json
from ..properties.verdict import Verdict
from ..traces.conformance import Conformance, Mismatch, conform
from ..traces.io import Trace, open_trace

CONFORMS, MISMATCH, UNKNOWN = range(3)

ENABLED_SHOWN = 12
"""Maximum number of enabled actions that the terminal names."""

_CODES = {Verdict.HOLDS: CONFORMS, Verdict.VIOLATED: MISMATCH}


def conform_traces(
    paths: Sequence[str],
    *,
    slack: int,
    on_spark: bool = False,
    master: str = "",
    jobs: int = 1,
    strict: bool = False,
    shown: int = 10,
    json_file: str = "",
) -> int:
    """Follow a trace through the model and print the result; returns the exit code.

    See the options of ``rocketproof conform``; ``slack`` is in ms.

    Raises:
        InputError: no trace is named, or the answer cannot be written.
        TraceError: the trace cannot be read.
    """
    if not paths:
        raise InputError("conform needs a trace: files or folders, such as a capture of the lab.")
    console = console_beside(json_file)
    trace = open_trace(paths, strict=strict)
    with interrupts():
        answer = _answer(trace, slack=slack, on_spark=on_spark, master=master, jobs=jobs)
    _print(console, trace, answer, shown)
    write_json(json_file, _as_json(trace, answer))
    return _CODES.get(answer.verdict, UNKNOWN)


def _answer(trace: Trace, *, slack: int, on_spark: bool, master: str, jobs: int) -> Conformance:
    if on_spark:
        from ..spark.conform import conform_with_spark

        return conform_with_spark(trace, slack=slack, master=master)
    try:
        return conform(trace, slack=slack, jobs=jobs)
    except BrokenProcessPool:
        raise InputError(
            "a process that followed queues was killed, perhaps for its memory: try fewer --jobs."
        ) from None


def _print(console: SafeConsole, trace: Trace, answer: Conformance, shown: int) -> None:
    for problem in trace.problems.kept:
        console.say(f"problem of reading: {problem}")
    for mismatch in answer.mismatches[:shown]:
        for text in _told(mismatch):
            console.say(text)
    if answer.mismatch_count > shown:
        console.say(f"… and {answer.mismatch_count - shown:,} more; --mismatches N shows more, --json all of them")
    console.say(
        f"{answer.verdict}: {answer.followed:,} of {answer.events:,} events followed, in {answer.queues:,} queues; "
        f"{answer.mismatch_count:,} model mismatches"
    )
    for reason, count in sorted(answer.passed_over.items(), key=lambda item: (-item[1], item[0])):
        console.say(f"  {count:>9,}  passed over, {reason}")
    if answer.verdict is Verdict.UNKNOWN and answer.gaps:
        console.say(f"events are missing of {answer.gaps:,} windows: what they would show is not known")
    if answer.verdict is Verdict.UNKNOWN and answer.doubtful:
        console.say(
            f"{answer.doubtful:,} events would be mismatches if everything were recorded; see above what is not"
        )
    if answer.verdict is Verdict.UNKNOWN and answer.holes:
        console.say(f"{len(answer.holes):,} times something was lost in reading, first {answer.holes[0]}")
    if answer.verdict is Verdict.NOT_OBSERVABLE:
        console.say(f"nothing to follow: {answer.why or 'no queue was ever assigned'}")


def _told(mismatch: Mismatch) -> list[str]:
    time = datetime.fromtimestamp(mismatch.time / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    lines = [f"MODEL MISMATCH  {time}  seq {mismatch.seq}  {mismatch.place}", f"  event    {mismatch.event}"]
    lines.append(f"  why      {mismatch.why}")
    if mismatch.state:
        lines.append(f"  state    {mismatch.state}")
    if mismatch.enabled:
        names = ", ".join(mismatch.enabled[:ENABLED_SHOWN])
        more = len(mismatch.enabled) - ENABLED_SHOWN
        lines.append(f"  enabled  {names}" + (f" and {more} more" if more > 0 else ""))
    return lines


def _as_json(trace: Trace, answer: Conformance) -> dict[str, Any]:
    return {
        "files": list(trace.files),
        "verdict": str(answer.verdict),
        "events": answer.events,
        "followed": answer.followed,
        "queues": answer.queues,
        "gaps": answer.gaps,
        "doubtful": answer.doubtful,
        "holes": list(answer.holes),
        "passed_over": dict(sorted(answer.passed_over.items())),
        "problems": trace.problems.count,
        "mismatch_count": answer.mismatch_count,
        "mismatches": [asdict(one) for one in answer.mismatches],
    }
