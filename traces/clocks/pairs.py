"""Causal pairs: events of which one certainly came before the other, whatever their clocks say.

Within a recorder, the order is certain. Between recorders it follows from causes: a message is stored before it is
delivered, an offset is in a client's table before the broker stores it. This table contains only what is considered
certain, not what is merely likely. A client stamps a commit when it was sent, which may be after the broker has stored
it, so commits are compared with the client's own table. Statements of claims, such as that an offset is stored only
after the messages below it are finished, are to be judged, not assumed. And copies of a message imply nothing: if a
send-back fails, the client tries the message again and counts on, so two copies may have the same count (SB-5); and a
message that exceeds its time is sent back while its listener runs (PQ-9).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..format.kinds import Kind, Path, Result

BY_CLIENT = frozenset({Path.FILE})
"""On these paths, a commit that names a client was recorded by the client: it is in its own file (OF-10). A commit that
is sent to a broker which records anything was recorded by the broker.
"""


@dataclass(frozen=True)
class EventPattern:
    """Events of one kind, as one side of a pair."""

    kind: Kind  # what happened
    results: frozenset[Result] = frozenset()  # only events with one of these results; all events if empty
    has_offset: bool = True  # only events with an offset; one without is no cause of any, but begins its queue


@dataclass(frozen=True)
class Pair:
    """The earliest event of ``before`` came before every event of ``after`` that has the same key and offset.

    This holds only if all events of ``before`` with that key and offset are of one recorder, or of processes of one
    client that ran one after another: otherwise nobody knows which of them was the cause.

    Attributes:
        name: its statement, in words.
        before: the cause; with several patterns, any of them may have been it, and the first is the usual one.
        after: the effect.
        key: further fields that both have in common.
        rules: where RocketMQ does so.
        always: use the pair only if the usual cause is recorded, and nearly all events of ``after`` have one: otherwise
            the earliest recorded cause need not be the first that there was.
    """

    name: str
    before: tuple[EventPattern, ...]
    after: tuple[EventPattern, ...]
    key: tuple[str, ...]
    rules: tuple[str, ...]
    always: bool = False


_OK = frozenset({Result.OK})

# A broker's answer to a query is in the table of the client that sent it, even the 0 if nothing is stored (OF-22).
_TOLD = EventPattern(Kind.OFFSET_QUERY, results=_OK)
# Nothing is stored yet: whatever the client's table has of this queue came after its question.
_MISSING = EventPattern(Kind.OFFSET_QUERY, results=frozenset({Result.MISSING}), has_offset=False)
QUEUE = ("topic", "broker", "queue")
"""Fields that identify a queue."""

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
        before=(EventPattern(Kind.COMMIT_MEMORY), EventPattern(Kind.CORRECT), _TOLD, _MISSING),
        after=(EventPattern(Kind.COMMIT),),
        key=("group", "client", *QUEUE),
        always=True,
        rules=("OF-1", "OF-5"),
    ),
)
"""All pairs that are considered certain."""
