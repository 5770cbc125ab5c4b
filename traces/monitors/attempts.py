"""What is known of a message that failed: a chain of attempts, and what was seen of each.

A message that is delivered once and succeeds has none of this. A *chain* is the history of a message for one consumer
group; an *attempt* is one count (``reconsumeTimes``) of it, of which there may be several copies at several *places*.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..format.schema import ABSENT
from ..machine_code.compiled import hot, int64, part
from .message_table import TOGETHER, WENT_WELL, MessageTable, grown, is_full, new_table

CHAIN = np.dtype(
    [
        ("origin", np.int64),
        ("last", np.int64),  # time of the last event, by ``actor``
        ("message", np.int32),  # its number in the table of messages
        ("highest", np.int64),  # the attempt with the highest count
        ("scope", np.int64),  # who consumes it
        ("base", np.int32),  # the count at which the trace meets it first
        ("maximum", np.int32),  # the largest one that a send-back named, ABSENT: none did
        ("dead", np.int64),  # lowest count of a dead letter, ABSENT: there is none
        ("actor", np.int64),
        ("failures", np.int32),
        ("successes", np.int32),
        ("unproved", np.uint8),  # it was met in the middle, by a process that may have run before the trace began
        ("departed", np.int32),  # places that it has left, see departures.py
        ("siblings", np.int32),  # how many messages of one batch share its key, as far as seen
    ]
)
"""A message that failed, or came to a delay queue."""

ATTEMPT = np.dtype(
    [
        ("offset", np.int64),  # of its first place
        ("delivered", np.int64),  # time of the last delivery, by ``deliverer``
        ("failed", np.int64),  # time of the first failure, be it a result or the consume timeout, by ``failer``
        ("last_failed", np.int64),
        ("sent_at", np.int64),  # time of the last send-back
        ("stored_at", np.int64),  # time of the last delay_store, by ``broker``
        ("due", np.int64),  # earliest due time of its copies
        ("moved_at", np.int64),  # time of the last delay_deliver; ``first_moved`` of the first one
        ("first_moved", np.int64),
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
        ("deliveries", np.int64),
        ("failures", np.int32),
        ("successes", np.int32),
        ("unseen", np.int32),  # send-backs of copies that no listener had
        ("expired", np.int32),  # how often a call outlasted the consume timeout
        ("sent", np.int64),  # send-backs that were answered well
        ("refused", np.int32),  # requests that seemed to fail
        ("given_up", np.int32),  # fallbacks that failed
        ("stored", np.int32),  # copies of this count in the schedule topic
        ("moved", np.int32),  # copies that left it
        ("repeated", np.int32),  # how many of them had left it before
        ("reached", np.int64),  # copies that reached a listener
        ("dead", np.int64),  # dead letters of this count
        ("copies", np.int32),  # copies that are accounted for
        ("cause", np.uint8),  # why there is more than one copy
        ("heard", np.uint8),  # a send-back of it was recorded
        ("unsure", np.uint8),  # … but not the level that it asked for
        ("may_live", np.uint8),  # a send-back of it may lead to a retry
        ("may_die", np.uint8),  # … to a dead letter
        ("fallback", np.uint8),  # it was sent back as a message of its own
        ("unsure_move", np.uint8),  # it left the schedule topic, and the broker took that for failed (DL-6)
        ("together", np.uint8),  # delivered in one call with others, of which a success may leave some out (CC-10)
        ("delayed_dead", np.uint8),  # a dead letter of this count was stored with a delay
    ]
)
"""One count of a message."""

PLACE = np.dtype([("offset", np.int64), ("slot", np.int32), ("next", np.int32)])
"""A further place at which an attempt was delivered, or one that a message has left."""

WAITING = np.dtype([("due", np.int64), ("next", np.int64)])
"""A copy that waits in the schedule topic."""

UNEXPLAINED = np.dtype(
    [
        ("time", np.int64),  # when it was seen, ``since`` when the one before it was, ms
        ("since", np.int64),
        ("offset", np.int64),
        ("slot", np.int64),
        ("actor", np.int64),
        ("chain", np.int64),
        ("attempt", np.int64),  # where it is noted
        ("copies", np.int64),  # how many there were with it
        ("claim", np.int64),  # the one that it violates
    ]
)
"""A copy for which no cause was seen so far."""

_START = 1 << 8
_CHAINS, _ATTEMPTS, _PLACES, _WAITING = 0, 1, 2, 3
_FIRST = int64(0)
UNEXPLAINED_END, UNEXPLAINED_BEGIN = 4, 5

NEEDED = (1, 4, 2, 1, 1)
"""How many chains, attempts, places, waiting and unexplained copies one event may add."""


class Known(NamedTuple):
    """Everything that is known of messages.

    Attributes:
        table: all messages.
        chains: CHAIN, of which ``used[0]`` are in use; so are the next four.
        attempts: ATTEMPT.
        places: PLACE.
        waiting: WAITING.
        unexplained: UNEXPLAINED by time, of which the first ``used[5]`` are judged.
        used: six numbers.
    """

    table: MessageTable
    chains: Any
    attempts: Any
    places: Any
    waiting: Any
    unexplained: Any
    used: Any


def nothing_known(messages: int = 0) -> Known:
    """The state before the first event, with room for so many messages; it grows where there are more."""
    return Known(
        table=new_table(messages),
        chains=np.empty(_START, CHAIN),
        attempts=np.empty(_START, ATTEMPT),
        places=np.empty(_START, PLACE),
        waiting=np.empty(_START, WAITING),
        unexplained=np.empty(_START, UNEXPLAINED),
        used=np.zeros(len(NEEDED) + 1, np.int64),
    )


def with_room(known: Known) -> Known:
    """The same with room for what one event may add."""
    parts = [known.chains, known.attempts, known.places, known.waiting, known.unexplained]
    for at, needed in enumerate(NEEDED):
        used = int(known.used[at])
        if len(parts[at]) - used < needed:
            longer = np.empty(2 * len(parts[at]), parts[at].dtype)
            longer[:used] = parts[at][:used]
            parts[at] = longer
    names = ("chains", "attempts", "places", "waiting", "unexplained")
    return known._replace(table=grown(known.table), **dict(zip(names, parts, strict=True)))


@hot
def has_room(known: Any) -> Any:
    """Whether there is room for what one event may add."""
    return (
        not is_full(known.table)
        and len(known.chains) - known.used[_CHAINS] >= 1
        and len(known.attempts) - known.used[_ATTEMPTS] >= 4
        and len(known.places) - known.used[_PLACES] >= 2
        and len(known.waiting) - known.used[_WAITING] >= 1
        and len(known.unexplained) - known.used[UNEXPLAINED_END] >= 1
    )


@part
def add_chain(known: Any, message: int, origin: int, scope: int, base: int) -> Any:
    """Begin to note more of a message."""
    number = known.used[_CHAINS]
    known.used[_CHAINS] += 1
    chain = known.chains[number]
    chain.origin = origin
    chain.last = ABSENT
    chain.message = message
    chain.highest = -1
    chain.scope = scope
    chain.base = base
    chain.maximum = ABSENT
    chain.dead = ABSENT
    chain.actor = -1
    chain.failures = 0
    chain.successes = 0
    chain.unproved = 0
    chain.departed = -1
    chain.siblings = 1
    known.table.entries[message].chain = number
    return number


@part
def chain_of(known: Any, message: int, origin: int, scope: int) -> Any:
    """The chain of a message that was delivered once, at count 0, and of which nothing else was noted so far."""
    entry = known.table.entries[message]
    if entry.chain >= 0:
        return int64(entry.chain)
    went_well, together = entry.chain == WENT_WELL, entry.chain == TOGETHER
    number = add_chain(known, message, origin, scope, _FIRST)
    at = add_attempt(known, number, _FIRST)
    first = known.attempts[at]
    first.slot = entry.slot
    first.offset = entry.offset
    first.delivered = entry.time
    first.deliveries = 1
    first.reached = 1
    first.together = together
    if went_well:
        first.successes = 1
        known.chains[number].successes = 1
    return number


@part
def find_attempt(known: Any, chain: int, count: int) -> Any:
    """Where an attempt of a chain is noted; -1 if it is not."""
    at = int64(known.chains[chain].highest)
    while at >= 0 and known.attempts[at].attempt > count:
        at = int64(known.attempts[at].next)
    return at if at >= 0 and known.attempts[at].attempt == count else int64(-1)


@part
def add_attempt(known: Any, chain: int, count: int) -> Any:
    """Begin to note an attempt."""
    at = known.used[_ATTEMPTS]
    known.used[_ATTEMPTS] += 1
    new = known.attempts[at]
    above, below = int64(-1), int64(known.chains[chain].highest)
    while below >= 0 and known.attempts[below].attempt > count:
        above, below = below, int64(known.attempts[below].next)
    if above < 0:
        known.chains[chain].highest = at
    else:
        known.attempts[above].next = at
    new.next = below
    new.offset = ABSENT
    new.delivered = ABSENT
    new.failed = ABSENT
    new.last_failed = ABSENT
    new.sent_at = ABSENT
    new.stored_at = ABSENT
    new.due = ABSENT
    new.moved_at = ABSENT
    new.first_moved = ABSENT
    new.dead_at = ABSENT
    new.allowed = 0
    new.levels = 0
    new.attempt = count
    new.slot = -1
    new.places = -1
    new.waiting = -1
    new.deliverer = -1
    new.failer = -1
    new.broker = -1
    new.deliveries = 0
    new.failures = 0
    new.successes = 0
    new.unseen = 0
    new.expired = 0
    new.sent = 0
    new.refused = 0
    new.given_up = 0
    new.stored = 0
    new.moved = 0
    new.repeated = 0
    new.reached = 0
    new.dead = 0
    new.copies = 0
    new.cause = 0
    new.heard = 0
    new.unsure = 0
    new.may_live = 0
    new.may_die = 0
    new.fallback = 0
    new.unsure_move = 0
    new.together = 0
    new.delayed_dead = 0
    return at


@part
def attempt_of(known: Any, chain: int, count: int) -> Any:
    """Where an attempt is noted, from now on if it was not before."""
    at = find_attempt(known, chain, count)
    return at if at >= 0 else add_attempt(known, chain, count)


@part
def copies_of(attempt: Any) -> Any:
    """How many copies of an attempt there are, as far as seen; each is seen up to three times on its way."""
    return int64(max(max(attempt.stored + attempt.repeated, attempt.moved), attempt.reached) + attempt.dead)


@part
def first_seen(attempt: Any) -> Any:
    """When copies of an attempt were seen, as early as is noted."""
    if attempt.stored_at != ABSENT:
        return attempt.stored_at
    if attempt.dead_at != ABSENT:
        return attempt.dead_at
    return attempt.first_moved if attempt.first_moved != ABSENT else attempt.delivered


@part
def has_place(known: Any, at: int, slot: int, offset: int) -> Any:
    """Whether an attempt was delivered at a place; never at one that is not known."""
    if slot < 0 or offset == ABSENT:
        return False
    attempt = known.attempts[at]
    if attempt.deliveries == 0:
        return False
    if attempt.slot == slot and attempt.offset == offset:
        return True
    place = attempt.places
    while place >= 0:
        if known.places[place].slot == slot and known.places[place].offset == offset:
            return True
        place = known.places[place].next
    return False


@part
def add_place(known: Any, at: int, slot: int, offset: int) -> None:
    """Note a place at which an attempt is delivered for the first time; call it before the delivery is counted."""
    attempt = known.attempts[at]
    if attempt.deliveries == 0:
        attempt.slot = slot
        attempt.offset = offset
        return
    number = known.used[_PLACES]
    known.used[_PLACES] += 1
    known.places[number].slot = slot
    known.places[number].offset = offset
    known.places[number].next = attempt.places
    attempt.places = number


@part
def depart(known: Any, chain: int, slot: int, offset: int) -> None:
    """Note that the message has left a place."""
    place = known.chains[chain].departed
    while place >= 0:
        if known.places[place].slot == slot and known.places[place].offset == offset:
            return
        place = known.places[place].next
    number = known.used[_PLACES]
    known.used[_PLACES] += 1
    known.places[number].slot = slot
    known.places[number].offset = offset
    known.places[number].next = known.chains[chain].departed
    known.chains[chain].departed = number


@part
def come_back(known: Any, chain: int, slot: int, offset: int) -> None:
    """Note that the message is at a place again that it seemed to have left."""
    before = int64(-1)
    place = int64(known.chains[chain].departed)
    while place >= 0 and (known.places[place].slot != slot or known.places[place].offset != offset):
        before = place
        place = int64(known.places[place].next)
    if place < 0:
        return
    if before < 0:
        known.chains[chain].departed = known.places[place].next
    else:
        known.places[before].next = known.places[place].next


@part
def wait(known: Any, at: int, due: int) -> None:
    """Note a copy that waits, until ``due`` (ms)."""
    number = known.used[_WAITING]
    known.used[_WAITING] += 1
    known.waiting[number].due = due
    known.waiting[number].next = known.attempts[at].waiting
    known.attempts[at].waiting = number


@part
def leave(known: Any, at: int, due: int) -> None:
    """Note that a copy with this due time waits no longer."""
    attempt = known.attempts[at]
    before = int64(-1)
    item = int64(attempt.waiting)
    while item >= 0 and known.waiting[item].due != due:
        before = item
        item = int64(known.waiting[item].next)
    if item < 0:
        return
    if before < 0:
        attempt.waiting = known.waiting[item].next
    else:
        known.waiting[before].next = known.waiting[item].next


@part
def earliest(known: Any, at: int) -> Any:
    """The earliest due time of the copies that wait, ABSENT if none does."""
    due = int64(ABSENT)
    item = known.attempts[at].waiting
    while item >= 0:
        other = known.waiting[item].due
        due = other if due == ABSENT else min(due, other)
        item = known.waiting[item].next
    return due


@part
def counts_at(known: Any, chain: int, slot: int, offset: int) -> Any:
    """Lowest and highest count with which a message was delivered at a place; ABSENT twice if it was not.

    The lowest is what it is stored with: local retries count on in the memory of the client only (SB-6).
    """
    low, high = int64(ABSENT), int64(ABSENT)
    at = int64(known.chains[chain].highest)
    while at >= 0:
        if has_place(known, at, slot, offset):
            count = int64(known.attempts[at].attempt)
            low = count if low == ABSENT else min(low, count)
            high = max(high, count)
        at = int64(known.attempts[at].next)
    return low, high
