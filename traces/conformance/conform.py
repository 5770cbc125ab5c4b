"""Conformance: is what was recorded a behaviour of the model? Queue by queue, and rule by rule across queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ...model.kernel import ConfigurationError
from ..format.kinds import Kind
from ..io import Trace
from . import listeners, offsets, ownership, processes, pulls, rules
from .follow import Follower, Handler
from .machine import MOST_OFFSETS, offsets_of
from .result import Conformance, Mismatch
from .streams import FOLLOWED, Stream, streams_of

SLACK = 50
"""How far records of different threads and processes may be apart from what they tell, ms."""

HANDLERS: Mapping[Kind, Handler] = {
    kind: handler
    for part in (processes, ownership, pulls, listeners, offsets)
    for kind, handler in part.HANDLERS.items()
}
"""Kind → who follows it."""

NEEDED = (Kind.ASSIGN, Kind.PULL_RESULT, Kind.DELIVER, Kind.RESULT, Kind.REMOVED)
"""Without these nobody can tell what a window does."""


def conform(trace: Trace, *, slack: int = SLACK) -> Conformance:
    """Follow every queue of a trace through the model, and hold what concerns several queues against its rules.

    Args:
        trace: what was recorded; it is read into memory.
        slack: how far records of different threads and processes may be apart from what they tell, ms.

    Raises:
        TraceError: there are no events.
    """
    streams = streams_of(trace)
    mismatches: list[Mismatch] = []
    queues = gaps = found = 0
    why = ""
    for stream in streams.queues.values():
        follower, reason = _follower(stream, slack)
        if follower is None:
            why = why or f"{stream.place}: {reason}"
            for event in stream.events:
                event.pass_over(f"of queues that were not followed: {reason}")
            continue
        follower.follow(HANDLERS)
        queues += 1
        gaps += follower.gaps
        found += follower.mismatch_count
        mismatches += follower.mismatches
    mismatches += rules.judged(streams)
    passed_over: Counter[str] = Counter()
    for event in streams.events:
        if event.fate != FOLLOWED:
            passed_over[event.fate or f"{event.kind}: the model of one queue has nothing to say of it"] += 1
    return Conformance(
        events=len(streams.events),
        followed=sum(event.fate == FOLLOWED for event in streams.events),
        passed_over=passed_over,
        mismatches=tuple(sorted(mismatches, key=lambda one: (one.time, one.seq))),
        queues=queues,
        gaps=gaps,
        why=why,
    )


def _follower(stream: Stream, slack: int) -> tuple[Follower | None, str]:
    """Who follows a queue; or None, and why it cannot be followed."""
    told = stream.header.evidence or stream.kinds()
    missing = [str(kind) for kind in NEEDED if kind not in told]
    if missing:
        return None, f"no {', '.join(missing)} events are recorded"
    if Kind.ASSIGN not in stream.kinds():
        return None, "it was never assigned"
    span = offsets_of(stream)
    if not span.followed:
        return None, f"it spans {span.count:,} offsets, more than {MOST_OFFSETS:,}"
    try:
        return Follower(stream, span, slack=slack), ""
    except ConfigurationError as error:
        return None, str(error)
