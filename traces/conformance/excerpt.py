"""Excerpts: the part of a queue's recording that a finding is about, reduced to a small configuration of the model.

A recorded queue has thousands of messages, a configuration that can be stepped through only a few. A few messages are
therefore chosen, with the processes that handled them, and every other offset is mapped to its position between the
chosen ones: this preserves their order, and with it low-water marks, commits and where windows begin.
"""

from __future__ import annotations

import bisect
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from ...model.consumption import consumption
from ..format.kinds import CLIENT_ENDS, SUCCESSES, Kind, Path
from ..io import Trace
from .alongside import possible
from .events import Actor, Event
from .machine import batches_of
from .sorting_out import sort_out, streams_in
from .streams import Place, Stream

MOST_MESSAGES = 3
MOST_PROCESSES = 3
MOST_EVENTS = 80
"""Maximum number of events in an excerpt; if there are more, the last ones are used."""

MOST_RECORDED = 200_000
"""Maximum number of events of a queue from which an excerpt is made."""

_OF_MESSAGES = frozenset({Kind.DELIVER, Kind.RESULT, Kind.REMOVED, Kind.SEND_BACK, Kind.EXPIRE, Kind.DISCARDED})
_OF_WINDOWS = frozenset({Kind.ASSIGN, Kind.REVOKE, Kind.PULL_RESULT, Kind.COMMIT, Kind.LOCK, Kind.UNLOCK})


@dataclass(frozen=True, kw_only=True)
class Excerpt:
    """A part of the recording of a queue."""

    stream: Stream  # the whole recording of the queue
    messages: tuple[int, ...]  # the chosen offsets, in their order
    actors: Mapping[Actor, int]  # process → its number here
    events: tuple[Event, ...]  # the events about them, in their order

    def place(self, offset: int) -> int:
        """Number of chosen messages before an offset."""
        return bisect.bisect_left(self.messages, offset)

    def constants(self) -> dict[str, int | str]:
        """The configuration of ``consumption`` for the excerpt: mode, listener, release and processes of the
        recording.

        Faults that happened in the excerpt may happen as often in the configuration.
        """
        stream, group = self.stream, self.stream.group
        clustering, orderly = group.mode == "clustering", group.listener == "orderly"
        old = stream.header.release.startswith("4.")
        kinds = [event.kind for event in self.events]
        stopping = {event.actor for event in self.events if stops(event)}
        revoked = sum(event.kind is Kind.REVOKE and not stops(event) for event in self.events)
        failed = sum(event.kind is Kind.RESULT and event.result not in SUCCESSES for event in self.events)
        sizes = batches_of(stream)
        constants: dict[str, int | str] = {
            "consumers": len(self.actors),
            "messages": len(self.messages),
            "mode": group.mode,
            "listener": group.listener,
            "version": "4.9.8" if old else "5.3.3",
            "batch": min(max(sizes.values(), default=1), len(self.messages)),
            "moves": revoked,
            "crashes": kinds.count(Kind.CLIENT_CRASH),
            "leaves": len(stopping),
            "failures": failed,
            "orphans": 1,
        }
        if clustering:
            constants |= {
                "causes": 1,
                "watch_offsets": 1,
                "lost_commits": min(revoked, 1),
                "late_commits": int(not orderly),
            }
        else:
            constants |= {"watch_clients": 1}
        if clustering and orderly:
            constants |= {"client_window": 1, "broker_window": 2, "call": 1, "unlock_delay": 1}
            constants |= {"forced_unlock": int(not old), "reallocations": int(revoked > 0), "lock_losses": 1}
        return possible(consumption, constants)


def recorded(trace: Trace, positions: Collection[Place]) -> Mapping[Place, Stream]:
    """The recordings of some queues of groups. Reads the trace once.

    Raises:
        TraceError: there are no events.
    """
    queues = frozenset((place.topic, place.broker, place.queue) for place in positions)
    with ExitStack() as cleanup:
        streams = streams_in(sort_out(trace, cleanup, only=queues), trace.header, most=MOST_RECORDED)
        return {stream.place: stream for stream in streams if stream.place in positions}


def excerpt(stream: Stream, row: Mapping[str, int], named: Collection[Actor]) -> Excerpt | None:
    """What was recorded about a finding; None if it concerns no message or no process of the queue.

    ``row`` is the finding, by the columns of ``findings.ROW``; ``named`` are the processes that it names.
    """
    past = [event for event in stream.events if event.time <= row["time"]]
    messages = _messages(past, row, named)
    actors = _processes(past, messages, row, named)
    if not messages or not actors:
        return None
    begins = [begin for actor in actors if (begin := _window_of(actor, past, messages, row)) is not None]
    first = min(begins, default=past[0].number)
    numbers = {actor: number for number, actor in enumerate(actors)}
    found = Excerpt(stream=stream, messages=messages, actors=numbers, events=())
    kept = [event for event in past if event.number >= first and _concerns(event, messages, actors)]
    return replace(found, events=tuple(_relevant(found, kept, row["time"])[-MOST_EVENTS:]))


def _relevant(found: Excerpt, events: Sequence[Event], shown: int) -> list[Event]:
    """The events without pulls that bring none of the messages, and without commits of what is stored already."""
    kept = []
    stored: dict[Actor | None, int] = {}
    for event in events:
        if event.offset is None:
            kept.append(event)
            continue
        if event.kind is Kind.PULL_RESULT and found.place(event.next or 0) <= found.place(event.offset):
            continue
        if event.kind is Kind.COMMIT:
            # In clustering there is one stored offset, in broadcasting one for each process.
            of = None if found.stream.group.mode == "clustering" else event.actor
            if stored.get(of, 0) == found.place(event.offset) and event.time != shown:
                continue
            stored[of] = found.place(event.offset)
        kept.append(event)
    return kept


def _messages(past: Sequence[Event], row: Mapping[str, int], named: Collection[Actor]) -> tuple[int, ...]:
    """The messages that a finding is about; for a finding about a queue, those that were delivered in its time."""
    if row["offset"] >= 0:
        found = [row["offset"], max(row["until"] - 1, row["offset"])]
    else:
        delivered = [event for event in past if event.kind is Kind.DELIVER and event.time >= row["since"]]
        found = [event.offset for event in delivered if event.actor in named and event.offset is not None]
        begins = [event.offset for event in past if event.kind is Kind.ASSIGN and event.offset is not None]
        found = found[:2] or begins[-1:]
    return tuple(sorted(dict.fromkeys(found[:MOST_MESSAGES])))


def _processes(
    past: Sequence[Event], messages: Collection[int], row: Mapping[str, int], named: Collection[Actor]
) -> list[Actor]:
    """The processes involved, by first appearance; if there are many, those that were named, and the last ones."""
    had = [event for event in past if event.kind in _OF_MESSAGES and event.offset in messages]
    had += [event for event in past if event.kind is Kind.COMMIT and event.time == row["time"]]
    found = dict.fromkeys([*named, *(event.actor for event in reversed(had) if event.actor is not None)])
    there = {event.actor for event in past}
    chosen = [actor for actor in found if actor in there][:MOST_PROCESSES]
    return [actor for actor in dict.fromkeys(event.actor for event in past) if actor in chosen and actor is not None]


def _window_of(actor: Actor, past: Sequence[Event], messages: Collection[int], row: Mapping[str, int]) -> int | None:
    """Where the window begins in which a process first handles the messages, as the number of an event."""
    own = [event for event in past if event.actor == actor]
    about = [event for event in own if event.kind in _OF_MESSAGES and event.offset in messages]
    until = about[0].number if about else next((e.number for e in own if e.time >= row["since"]), own[-1].number)
    begins = [event.number for event in own if event.kind is Kind.ASSIGN and event.number <= until]
    return begins[-1] if begins else None


def _concerns(event: Event, messages: Collection[int], actors: Collection[Actor]) -> bool:
    if event.actor is None or event.actor not in actors:
        return event.kind is Kind.COMMIT and event.actor is None
    if event.kind in _OF_MESSAGES:
        return event.offset in messages
    return event.kind in _OF_WINDOWS or event.kind in CLIENT_ENDS


def stops(event: Event) -> bool:
    """Whether the event is part of an orderly shutdown."""
    return event.kind is Kind.CLIENT_STOP or event.path is Path.SHUTDOWN
