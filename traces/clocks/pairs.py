"""Causal pairs: events of which one surely came before the other, whatever their clocks say.

Inside a recorder the order is certain. Between recorders it follows from causes: a message is stored before it is
delivered, an offset is in a client's table before the broker stores it. This is the table of what is taken to be
certain. What is only likely is not in it. A client stamps a commit when it was sent, which may be after the broker has
stored it, so commits are held against the client's own table. What a claim says, as that an offset is stored after the
messages below it are finished, is to be judged, not to be assumed. And copies of a message say nothing: one whose
send-back fails is tried again at its client and counts on, so that two copies may have one count (SB-5), and one whose
time is over is sent back while its listener runs (PQ-9).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..format.kinds import Kind, Path, Result

BY_CLIENT = frozenset({Path.FILE})
"""On these ways a commit that names a client is told by it: it is in the client's own file (OF-10). What is sent to a
broker that records anything is told by the broker."""


@dataclass(frozen=True)
class EventPattern:
    """Events of one kind, as one side of a pair.

    Attributes:
        kind: what happened.
        results: only events with one of these results; all events if empty.
    """

    kind: Kind
    results: frozenset[Result] = frozenset()


@dataclass(frozen=True)
class Pair:
    """The earliest event of ``before`` came before every event of ``after`` that has the same key and offset.

    It says so only where all events of ``before`` with that key and offset are of one recorder, or of processes of one
    client that ran one after another: else nobody knows which of them was the cause.

    Attributes:
        name: what it says, as it is told.
        before: the cause; with several patterns, any of them may have been it, and the first is the usual one.
        after: what it caused.
        key: fields that both have in common besides.
        rules: where RocketMQ does so.
        always: only where the usual cause is recorded, and nearly all of ``after`` have one: else the earliest that
            was recorded need not be the first there was.
    """

    name: str
    before: tuple[EventPattern, ...]
    after: tuple[EventPattern, ...]
    key: tuple[str, ...]
    rules: tuple[str, ...]
    always: bool = False


_OK = frozenset({Result.OK})

# What a broker answers is in the table of the client that has asked, even the 0 of where nothing is stored (OF-22).
_TOLD = EventPattern(Kind.OFFSET_QUERY, results=_OK)
QUEUE = ("topic", "broker", "queue")
"""Fields that tell one queue from others."""

PAIRS = (
    Pair(
        "stored before it is delivered",
        before=(EventPattern(Kind.STORE), EventPattern(Kind.DELAY_DELIVER)),
        after=(EventPattern(Kind.DELIVER),),
        key=QUEUE,
        rules=("PL-19", "DL-6"),
    ),
    Pair(
        "in the client's own table before the broker stores it",
        before=(EventPattern(Kind.COMMIT_MEMORY), EventPattern(Kind.CORRECT), _TOLD),
        after=(EventPattern(Kind.COMMIT),),
        key=("group", "client", *QUEUE),
        always=True,
        rules=("OF-1", "OF-5"),
    ),
)
"""All that is taken to be certain."""
