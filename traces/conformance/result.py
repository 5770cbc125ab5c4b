"""The result of following a trace through the model: how much was followed, and what the model does not allow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...properties.verdict import Verdict
from .events import Event


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """An event that no behaviour of the model has.

    Attributes:
        seq: ``seq`` of the event.
        time: time of the event, ms since 1970 UTC.
        place: group and queue, as ``group topic@broker:queue``; or the group and topic, or the message.
        event: the event in a few words.
        why: what the model would have allowed instead.
        state: the state before it, in RocketMQ's words, with offsets as in the trace.
        enabled: the actions that the model allows the acting process in that state.
    """

    seq: int
    time: int
    place: str
    event: str
    why: str
    state: str = ""
    enabled: tuple[str, ...] = ()

    @classmethod
    def of(cls, event: Event, place: object, why: object, state: str, enabled: tuple[str, ...] = ()) -> Mismatch:
        """That an event of the recording does not follow."""
        seq = event.seq if event.seq is not None else event.number
        told = str(place), str(event), str(why)
        return cls(seq=seq, time=event.time, place=told[0], event=told[1], why=told[2], state=state, enabled=enabled)


@dataclass(frozen=True, kw_only=True)
class Conformance:
    """The answer.

    Attributes:
        events: number of events in the trace.
        followed: number of those that are steps of the model, or agree with its state.
        passed_over: number of all others, by reason.
        mismatches: events that the model does not allow, in the order of the trace; if there are many in a queue, the
            first ones.
        mismatch_count: their number.
        queues: number of queues that were followed, counted for each group.
        gaps: number of windows in doubt because events are missing from the recording.
        doubtful: number of events that the model does not allow unless something unrecorded happened.
        holes: what was lost in reading, in words.
        why: why nothing, or not everything, could be judged; otherwise empty.
    """

    events: int
    followed: int
    passed_over: Counter[str]
    mismatches: tuple[Mismatch, ...]
    mismatch_count: int
    queues: int
    gaps: int = 0
    doubtful: int = 0
    holes: tuple[str, ...] = ()
    why: str = ""

    @property
    def verdict(self) -> Verdict:
        """VIOLATED with any mismatch, NOT OBSERVABLE without queues to follow, UNKNOWN if events are missing."""
        if self.mismatches:
            return Verdict.VIOLATED
        if not self.queues:
            return Verdict.NOT_OBSERVABLE
        return Verdict.UNKNOWN if self.gaps or self.doubtful or self.holes else Verdict.HOLDS
