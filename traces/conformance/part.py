"""Parts: queues, or messages, of a trace that are followed independently of others; their answers are joined."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from ...model.kernel import ConfigurationError
from ..format.kinds import Kind
from ..format.schema import STATIC, Header
from . import listeners, offsets, ownership, processes, pulls, rules
from .events import FOLLOWED, Event, events_of
from .follow import Follower, Handler
from .machine import Machines, offsets_of
from .result import Mismatch
from .sorting_out import nothing_to_say, queues_in
from .streams import OF_PROCESSES, Stream, Surroundings, streams_of
from .unseen import Unseen

HANDLERS: Mapping[Kind, Handler] = {
    kind: handler
    for part in (processes, ownership, pulls, listeners, offsets)
    for kind, handler in part.HANDLERS.items()
}
"""Kind → the function that follows it."""

NEEDED = (Kind.ASSIGN, Kind.PULL_RESULT, Kind.DELIVER, Kind.RESULT, Kind.REMOVED)
"""Without these kinds, nobody can tell what a window does."""

WITHOUT_QUEUES = "of processes without a queue"


@dataclass
class Answer:
    """The result for one part."""

    followed: int = 0  # number of events that were followed
    passed_over: Counter[str] = field(default_factory=Counter)  # number of those that were not, by reason
    mismatches: list[Mismatch] = field(default_factory=list)  # events that the model does not allow
    mismatch_count: int = 0  # their number; if there are many in one queue, only the first ones are kept
    doubtful: int = 0  # number of events that the model does not allow unless something unrecorded happened
    queues: int = 0  # number of queues that were followed, counted for each group
    gaps: int = 0  # number of windows in doubt because events are missing from the recording
    # why queues were not followed, each with the number of its first event
    why: list[tuple[int, str]] = field(default_factory=list)
    # for events that concern several queues, what became of them: by number, FOLLOWED if any queue followed it,
    # otherwise the reason of the queue that begins first
    around: dict[int, tuple[bool, int, str]] = field(default_factory=dict)

    def join(self, other: Answer) -> None:
        """Add the answer of another part."""
        self.followed += other.followed
        self.passed_over.update(other.passed_over)
        self.mismatches += other.mismatches
        self.mismatch_count += other.mismatch_count
        self.doubtful += other.doubtful
        self.queues += other.queues
        self.gaps += other.gaps
        self.why = sorted([*self.why, *other.why])[:1]
        for number, outcome in other.around.items():
            self.around[number] = min(outcome, self.around.get(number, outcome))

    def count(self, events: Iterable[Event]) -> None:
        """Count what became of events."""
        for event in events:
            if event.outcome == FOLLOWED:
                self.followed += 1
            else:
                self.passed_over[event.outcome or nothing_to_say(event.kind)] += 1


def follow_queues(table: pa.Table, around: Surroundings, unseen: Unseen, header: Header, *, slack: int) -> Answer:
    """Follow the queues of a bucket, one after the other, each for all groups."""
    answer, machines = Answer(), Machines()
    for of_queue in queues_in(table):
        events = events_of(of_queue)
        for stream in streams_of(events, around, header):
            _follow(stream, answer, unseen, machines, slack)
        answer.count(events)
    return answer


def follow_messages(table: pa.Table, header: Header, unseen: Unseen) -> Answer:
    """Check what the broker stores about the messages of a bucket against the rules."""
    events = events_of(table)
    found = rules.retries(events, header, missing=unseen.calls)
    answer = Answer(mismatches=found, mismatch_count=len(found))
    answer.count(event for event in events if event.kind is not Kind.SEND_BACK)
    return answer


def _follow(stream: Stream, answer: Answer, unseen: Unseen, machines: Machines, slack: int) -> None:
    first = min(event.number for event in stream.events)
    for event in stream.around:
        event.outcome = WITHOUT_QUEUES if event.kind in OF_PROCESSES else ""
    follower, reason = follower_of(stream, unseen, machines, slack=slack)
    if follower is None:
        answer.why = sorted([*answer.why, (first, f"{stream.place}: {reason}")])[:1]
        for event in stream.events:
            event.pass_over(f"of queues that were not followed: {reason}")
    else:
        follower.follow(HANDLERS)
        answer.queues += 1
        answer.gaps += follower.gaps
        answer.doubtful += follower.doubtful
        answer.mismatches += follower.mismatches
        answer.mismatch_count += follower.mismatch_count
    for event in stream.around:
        if event.outcome:
            outcome = (event.outcome != FOLLOWED, first, event.outcome)
            answer.around[event.number] = min(outcome, answer.around.get(event.number, outcome))


def followed_again(stream: Stream, unseen: Unseen, machines: Machines, *, slack: int) -> tuple[Follower | None, str]:
    """The follower of a queue at its end, whether or not the queue was followed before; or None, and why."""
    for event in stream.events:
        event.outcome = ""
    follower, reason = follower_of(stream, unseen, machines, slack=slack)
    if follower is not None:
        follower.follow(HANDLERS)
    return follower, reason


def follower_of(stream: Stream, unseen: Unseen, machines: Machines, *, slack: int) -> tuple[Follower | None, str]:
    """The follower of a queue; or None, and why it cannot be followed."""
    if stream.group.differs:
        return None, stream.group.differs
    if stream.place.broker.startswith(STATIC):
        return None, "its topic is static, and brokers call its queues otherwise"
    if stream.shares_id and stream.group.listener == "orderly":
        return None, "two processes had one client id, to which brokers grant locks"
    told = stream.told()
    missing = [str(kind) for kind in NEEDED if kind not in told]
    if missing:
        return None, f"no {', '.join(missing)} events are recorded"
    if Kind.ASSIGN not in stream.kinds():
        return None, "it was never assigned"
    try:
        return Follower(stream, offsets_of(stream), unseen, machines, slack=slack), ""
    except ConfigurationError as error:
        return None, str(error)
