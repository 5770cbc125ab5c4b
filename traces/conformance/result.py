"""What following a trace through the model gives: how much was followed, and what the model does not allow."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...properties.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """An event that no behaviour of the model has.

    Attributes:
        seq: of the event.
        time: of the event, ms since 1970 UTC.
        place: group and queue, as ``group topic@broker:queue``; or the group and topic, or the message.
        event: the event in few words.
        why: what the model would have allowed instead.
        state: the state before it, in RocketMQ's words, offsets as in the trace.
        enabled: the actions that the model allows the process at hand there.
    """

    seq: int
    time: int
    place: str
    event: str
    why: str
    state: str = ""
    enabled: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Conformance:
    """The answer.

    Attributes:
        events: how many events the trace has.
        followed: how many of them are steps of the model, or agree with what it says of the state.
        passed_over: all others, by reason.
        mismatches: events that the model does not allow, in the order of the trace; of many in a queue the first ones.
        mismatch_count: how many there are.
        queues: how many queues were followed, each for each group.
        gaps: how many windows were in doubt because events are missing from the recording.
        doubtful: events that the model does not allow, unless something happened that is not recorded.
        holes: what was lost in reading, in words.
        why: why nothing, or not all, could be judged; empty else.
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
        """VIOLATED with any mismatch, NOT OBSERVABLE without queues to follow, UNKNOWN where events are missing."""
        if self.mismatches:
            return Verdict.VIOLATED
        if not self.queues:
            return Verdict.NOT_OBSERVABLE
        return Verdict.UNKNOWN if self.gaps or self.doubtful or self.holes else Verdict.HOLDS
