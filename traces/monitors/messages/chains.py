"""What is stored about messages that failed: chains, attempts, their places and copies, with room for more.

See :mod:`.attempts` for the functions that use them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import hot
from ...format.schema import ABSENT
from ..notes import NOBODY
from .message_table import MessageTable, grown, is_full, new_table


def _record(*fields: tuple[str, Any, int]) -> tuple[Any, Any]:
    """A type of records, and one in its first state: names, types and first values of its fields."""
    type_ = np.dtype([(name, of) for name, of, _ in fields])
    return type_, np.array([tuple(first for _, _, first in fields)], type_)


CHAIN, NEW_CHAIN = _record(
    ("origin", np.int64, 0),
    ("last", np.int64, ABSENT),  # time of the last event, by ``actor``
    ("offset", np.int64, 0),  # of its first delivery, with slot and time, taken over from the table of messages
    ("time", np.int64, 0),
    ("slot", np.int32, 0),
    ("highest", np.int64, -1),  # the attempt with the highest count
    ("scope", np.int64, 0),  # its consumer
    ("base", np.int32, 0),  # the count at which it first occurs in the trace
    ("maximum", np.int32, ABSENT),  # the largest maximum named by a send-back; ABSENT if none named one
    ("dead", np.int64, ABSENT),  # lowest count of a dead letter; ABSENT: there is none
    ("actor", np.int64, -1),
    ("failures", np.int32, 0),
    ("successes", np.int32, 0),
    ("unproved", np.uint8, 0),  # its first event was in mid-run, by a process that may have run before the trace began
    ("departed", np.int32, -1),  # places that it has left, see departures.py
    ("siblings", np.int32, 1),  # how many messages of one batch are known to share its key
    ("fallbacks", np.int32, 0),  # how often a client sent it as a new message, which may restart the count (SB-8)
)
"""A message that failed, or came to a delay queue."""

ATTEMPT, NEW_ATTEMPT = _record(
    ("offset", np.int64, ABSENT),  # of its first place
    (
        "delivered",
        np.int64,
        ABSENT,
    ),  # time of the last delivery, by ``deliverer``; ``first_delivered``: of the first
    ("first_delivered", np.int64, ABSENT),
    ("failed", np.int64, ABSENT),  # time of the first failure (a result, or the consume timeout), by ``failer``
    ("last_failed", np.int64, ABSENT),
    ("sent_at", np.int64, ABSENT),  # time of the last send-back
    ("stored_at", np.int64, ABSENT),  # time of the last delay_store, by ``broker``
    ("due", np.int64, ABSENT),  # earliest due time of its copies
    ("moved_at", np.int64, ABSENT),  # time of the last delay_deliver; ``first_moved``: of the first one
    ("first_moved", np.int64, ABSENT),
    ("moved_slot", np.int64, -1),  # where the last delay_deliver put it; -1: in no known queue
    ("moved_offset", np.int64, ABSENT),
    ("dead_at", np.int64, ABSENT),
    ("allowed", np.int64, 0),  # levels, as bits, at which send-backs of it may be stored
    ("levels", np.int64, 0),  # levels, as bits, at which copies of it were stored
    ("next", np.int32, 0),  # the attempt with the next lower count
    ("attempt", np.int64, 0),  # the count
    ("slot", np.int64, -1),  # of its first place
    ("places", np.int32, -1),  # further places
    ("waiting", np.int32, -1),  # copies in the schedule topic
    ("deliverer", np.int64, -1),
    ("failer", np.int64, -1),
    ("broker", np.int64, -1),
    ("asked", np.int32, NOBODY),  # code of the broker's name that was asked to store it again; NOBODY, SEVERAL
    ("stored_in", np.int32, NOBODY),  # the broker that stored its copies; NOBODY, SEVERAL
    ("waits_for", np.int32, NOBODY),  # the topic for which its copies wait; NOBODY, SEVERAL
    ("deliveries", np.int64, 0),
    ("failures", np.int32, 0),
    ("successes", np.int32, 0),
    ("unseen", np.int32, 0),  # send-backs of copies that no listener had
    ("expired", np.int32, 0),  # how often a call exceeded the consume timeout
    ("sent", np.int64, 0),  # successful send-backs
    ("refused", np.int32, 0),  # requests that seemed to fail
    ("given_up", np.int32, 0),  # fallbacks that failed
    ("stored", np.int32, 0),  # copies of this count in the schedule topic
    ("moved", np.int32, 0),  # copies that left it
    ("repeated", np.int32, 0),  # how many of them had left it before
    ("reached", np.int64, 0),  # copies that reached a listener
    ("dead", np.int64, 0),  # dead letters of this count
    ("copies", np.int32, 0),  # copies that have been accounted for
    ("cause", np.uint8, 0),  # why there is more than one copy
    ("heard", np.uint8, 0),  # a send-back of it was recorded
    ("unsure", np.uint8, 0),  # … but not the level that it requested
    ("may_live", np.uint8, 0),  # a send-back of it may lead to a retry
    ("may_die", np.uint8, 0),  # … to a dead letter
    ("fallback", np.uint8, 0),  # it was sent back as a message of its own
    ("unsure_move", np.uint8, 0),  # it left the schedule topic, but the broker took that for a failure (DL-6)
    ("together", np.uint8, 0),  # delivered in one call with others, a success of which may leave some out (CC-10)
    ("assumed", np.uint8, 0),  # its due time depends on levels that were not stated for these brokers
    ("delayed_dead", np.uint8, 0),  # a dead letter of this count was stored with a delay
)
"""One count of a message."""

LINK = np.dtype([("value", np.int64), ("slot", np.int32), ("next", np.int32)])
"""One of a list: a place (an offset in a slot) at which an attempt was delivered, or that a message has left; without
a slot, when a copy that waits in the schedule topic is due, ms.
"""

UNEXPLAINED = np.dtype(
    [
        ("time", np.int64),  # when it was seen; ``since``: when the one before it was, ms
        ("since", np.int64),
        ("offset", np.int64),
        ("slot", np.int64),
        ("actor", np.int64),
        ("chain", np.int64),
        ("attempt", np.int64),  # position of its attempt
        ("copies", np.int64),  # number of copies including it
        ("claim", np.int64),  # the claim that it violates
    ]
)
"""A copy for which no cause was seen so far."""

_START = 1 << 8
CHAINS, ATTEMPTS, LINKS, UNEXPLAINED_END, UNEXPLAINED_BEGIN = range(5)

NEEDED = (1, 4, 3, 1)
"""Maximum number of chains, attempts, links and unexplained copies that one event may add."""


class Known(NamedTuple):
    """Everything that is known about messages."""

    table: MessageTable  # all messages
    chains: Any  # CHAIN, of which ``used[0]`` are in use; likewise for the next three
    attempts: Any  # ATTEMPT
    links: Any  # LINK
    unexplained: Any  # UNEXPLAINED by time, of which the first ``used[4]`` have been judged
    used: Any  # five numbers


def nothing_known(messages: int = 0) -> Known:
    """The state before the first event, with room for that many messages; it grows if there are more."""
    return Known(
        table=new_table(messages),
        chains=np.empty(_START, CHAIN),
        attempts=np.empty(_START, ATTEMPT),
        links=np.empty(_START, LINK),
        unexplained=np.empty(_START, UNEXPLAINED),
        used=np.zeros(len(NEEDED) + 1, np.int64),
    )


def with_room(known: Known) -> Known:
    """The same, with room for what one event may add."""
    parts = {}
    for name, used, needed in zip(
        ("chains", "attempts", "links", "unexplained"), known.used.tolist(), NEEDED, strict=False
    ):
        parts[name] = rows = getattr(known, name)
        if len(rows) - used < needed:
            parts[name] = np.empty(2 * len(rows), rows.dtype)
            parts[name][:used] = rows[:used]
    return known._replace(table=grown(known.table), **parts)


@hot
def has_room(known: Any) -> Any:
    """Whether there is room for what one event may add."""
    return (
        not is_full(known.table)
        and len(known.chains) - known.used[CHAINS] >= NEEDED[CHAINS]
        and len(known.attempts) - known.used[ATTEMPTS] >= NEEDED[ATTEMPTS]
        and len(known.links) - known.used[LINKS] >= NEEDED[LINKS]
        and len(known.unexplained) - known.used[UNEXPLAINED_END] >= NEEDED[UNEXPLAINED_END]
    )
