"""A changed recording, and what changes have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from rocketproof.traces.format.kinds import Kind

from .recordings import Recording, by_time, recorder_of


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A changed recording."""

    change: str  # the kind of change
    how: str  # what was changed, to be told
    files: Mapping[str, str]  # names of files with their text; all of them together are the trace
    may_hold: bool = False  # a violation may be gone, since what showed it is not in the recording any more
    is_less: bool = False  # events are gone


def one_file(recording: Recording) -> Mapping[str, str]:
    """A recording as the only file of a trace."""
    return {"trace.jsonl": recording.text()}


def retimed(recording: Recording, time: Callable[[str, int], int]) -> Recording:
    """A recording with other times, by recorder and time, joined by them."""
    events = []
    for event in recording.events:
        who = recorder_of(event)
        times = {"time": time(who, int(event["time"]))}
        if event.get("due"):
            # A gap tells when it began, by the clock of then; otherwise it is so long after the event.
            then = int(event["due"])
            times["due"] = time(who, then) if event["kind"] == Kind.GAP else times["time"] + then - int(event["time"])
        events.append({**event, **times})
    return replace(recording, events=by_time(events))
