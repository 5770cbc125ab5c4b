"""What is stored about messages that failed: chains, attempts, their places and copies, with room for more.

See :mod:`.attempts` for the functions that use them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..format.schema import ABSENT
from ..machine_code.compiled import hot
from .message_table import MessageTable, grown, is_full, new_table
from .notes import NOBODY

CHAIN = np.dtype(
    [
        ("origin", np.int64),
        ("last", np.int64),  # time of the last event, by ``actor``
        ("offset", np.int64),  # of its first delivery, with slot and time, taken over from the table of messages
        ("time", np.int64),
        ("slot", np.int32),
        ("highest", np.int64),  # the attempt with the highest count
        ("scope", np.int64),  # its consumer
        ("base", np.int32),  # the count at which it first occurs in the trace
        ("maximum", np.int32),  # the largest maximum named by a send-back; ABSENT if none named one
        ("dead", np.int64),  # lowest count of a dead letter; ABSENT: there is none
        ("actor", np.int64),
        ("failures", np.int32),
        ("successes", np.int32),
        ("unproved", np.uint8),  # its first event was in mid-run, by a process that may have run before the trace began
        ("departed", np.int32),  # places that it has left, see departures.py
        ("siblings", np.int32),  # how many messages of one batch are known to share its key
        ("fallbacks", np.int32),  # how often a client sent it as a new message, which may restart the count (SB-8)
    ]
)
"""A message that failed, or came to a delay queue."""

ATTEMPT = np.dtype(
    [
        ("offset", np.int64),  # of its first place
        ("delivered", np.int64),  # time of the last delivery, by ``deliverer``; ``first_delivered``: of the first one
        ("first_delivered", np.int64),
        ("failed", np.int64),  # time of the first failure (a result, or the consume timeout), by ``failer``
        ("last_failed", np.int64),
        ("sent_at", np.int64),  # time of the last send-back
        ("stored_at", np.int64),  # time of the last delay_store, by ``broker``
        ("due", np.int64),  # earliest due time of its copies
        ("moved_at", np.int64),  # time of the last delay_deliver; ``first_moved``: of the first one
        ("first_moved", np.int64),
        ("moved_slot", np.int64),  # where the last delay_deliver put it; -1: in no known queue
        ("moved_offset", np.int64),
        ("dead_at", np.int64),
        ("allowed", np.int64),  # levels, as bits, at which send-backs of it may be stored
        ("levels", np.int64),  # levels, as bits, at which copies of it were stored
        ("next", np.int32),  # the attempt with the next lower count
        ("attempt", np.int64),  # the count
        ("slot", np.int64),  # of its first place
        ("places", np.int32),  # further places
        ("waiting", np.int32),  # copies in the schedule topic
        ("deliverer", np.int64),
        ("failer", np.int64),
        ("broker", np.int64),
        ("asked", np.int32),  # code of the broker's name that was asked to store it again; NOBODY, SEVERAL
        ("stored_in", np.int32),  # the broker that stored its copies; NOBODY, SEVERAL
        ("waits_for", np.int32),  # the topic for which its copies wait; NOBODY, SEVERAL
        ("deliveries", np.int64),
        ("failures", np.int32),
        ("successes", np.int32),
        ("unseen", np.int32),  # send-backs of copies that no listener had
        ("expired", np.int32),  # how often a call exceeded the consume timeout
        ("sent", np.int64),  # successful send-backs
        ("refused", np.int32),  # requests that seemed to fail
        ("given_up", np.int32),  # fallbacks that failed
        ("stored", np.int32),  # copies of this count in the schedule topic
        ("moved", np.int32),  # copies that left it
        ("repeated", np.int32),  # how many of them had left it before
        ("reached", np.int64),  # copies that reached a listener
        ("dead", np.int64),  # dead letters of this count
        ("copies", np.int32),  # copies that have been accounted for
        ("cause", np.uint8),  # why there is more than one copy
        ("heard", np.uint8),  # a send-back of it was recorded
        ("unsure", np.uint8),  # … but not the level that it requested
        ("may_live", np.uint8),  # a send-back of it may lead to a retry
        ("may_die", np.uint8),  # … to a dead letter
        ("fallback", np.uint8),  # it was sent back as a message of its own
        ("unsure_move", np.uint8),  # it left the schedule topic, but the broker took that for a failure (DL-6)
        ("together", np.uint8),  # delivered in one call with others, a success of which may leave some out (CC-10)
        ("assumed", np.uint8),  # its due time depends on levels that were not stated for these brokers
        ("delayed_dead", np.uint8),  # a dead letter of this count was stored with a delay
    ]
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


def _first(type_: Any, **values: int) -> Any:
    """One row in its first state: zeros but for these values."""
    row = np.zeros(1, type_)
    for name, value in values.items():
        row[name] = value
    return row


NEW_CHAIN = _first(CHAIN, last=ABSENT, highest=-1, maximum=ABSENT, dead=ABSENT, actor=-1, departed=-1, siblings=1)
"""A chain of which nothing is known yet."""

_UNTOLD = "offset delivered first_delivered failed last_failed sent_at stored_at due moved_at first_moved moved_offset"
_NONE = "moved_slot slot places waiting deliverer failer broker"

NEW_ATTEMPT = _first(
    ATTEMPT,
    **dict.fromkeys(_UNTOLD.split(), ABSENT),
    **dict.fromkeys(_NONE.split(), -1),
    **dict.fromkeys(("asked", "stored_in", "waits_for"), NOBODY),
    dead_at=ABSENT,
)
"""An attempt of which nothing is known yet."""

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
