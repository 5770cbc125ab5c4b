"""What became of a message that failed, as far as the trace shows."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import entry, int64, part
from ...claims.claims import CODE
from ...encoding.names import BROADCASTING, DEAD_LETTER_TOPIC, NO_QUEUE, OF_A_TOPIC, RETRY_TOPIC
from ...engine.findings import Doubt
from ...format.message_status import MessageStatus
from ...format.schema import ABSENT
from ..notes import NOBODY, NOTHING, Seen, judge, tell_chain, violate
from .attempts import copies_of, find_attempt, first_seen
from .copies import settle
from .dead_letters import gives_up, last_count, lowest_of, maximum_of
from .delays import delay_of, level_of, levels_as_asked, lowest, never_delivered
from .listener_calls import follows
from .message_table import ONCE, UNPLACED, WENT_WELL
from .retry_terms import PRODUCERS
from .send_backs import stored_again

ROWS_OF_AN_ATTEMPT = 6
"""Rows that the end of the trace may add for an attempt, besides one for its chain."""

_EXACTLY = int64(CODE["dead-letter-exactly-at-the-maximum"])
_BROADCASTING, _NOT_OF_QUEUES = BROADCASTING, RETRY_TOPIC | DEAD_LETTER_TOPIC | OF_A_TOPIC | NO_QUEUE
_UNTOLD = int64(-1)
_AT_LAST = int64(1 << 62)


@entry
def conclude(known: Any, terms: Any, notes: Any, first: int, room: int, statuses: Any) -> Any:
    """Judge what the end of the trace decides, for chains from number ``first`` on; returns the number before which it
    stopped.

    ``room``: it stops if fewer rows are left. ``statuses``: slots × statuses, incremented.
    """
    if not settle(known, terms, notes, _AT_LAST, room):
        return first
    for chain in range(first, known.used[0]):
        if len(notes.rows) - notes.used[0] < room + ROWS_OF_AN_ATTEMPT * _attempts(known, chain):
            return chain
        is_lost = False
        at = int64(known.chains[chain].highest)
        while at >= 0:
            attempt = known.attempts[at]
            # If it was not delivered itself, it is reported at the place of its message.
            slot = int64(attempt.slot)
            slot = slot if slot >= 0 else int64(known.chains[chain].slot)
            seen = Seen(terms.given[0].end, slot, attempt.offset, NOBODY, known.chains[chain].origin)
            before = find_attempt(known, chain, attempt.attempt - 1)
            never_delivered(known, terms, notes, at, seen)
            levels_as_asked(known, terms, notes, at, before, _when(seen, attempt.stored_at, attempt.broker))
            _exactly_dead(known, terms, notes, chain, at, before, seen)
            if attempt.attempt > 0 and copies_of(attempt) + attempt.deliveries > 0:
                actor = attempt.broker if attempt.broker >= 0 else attempt.deliverer
                follows(known, terms, notes, chain, at, before, _when(seen, first_seen(attempt), actor))
            if not _is_broadcasting(known, terms, chain):
                is_lost |= not stored_again(known, terms, notes, chain, at, seen)
            at = int64(attempt.next)
        _tell_status(known, terms, notes, chain, is_lost, statuses)
    return known.used[0]


@part
def _is_broadcasting(known: Any, terms: Any, chain: int) -> Any:
    """CC-11: a broadcasting group never retries; nobody reads what its clients send back by PQ-9."""
    slot = known.chains[chain].slot
    return slot >= 0 and terms.slots[slot].flags & _BROADCASTING != 0


@part
def _attempts(known: Any, chain: int) -> Any:
    count = 0
    at = known.chains[chain].highest
    while at >= 0:
        count += 1
        at = known.attempts[at].next
    return count


@part
def _when(seen: Any, time: int, actor: int) -> Any:
    return Seen(time, seen.slot, seen.offset, actor, seen.origin)


@part
def _exactly_dead(known: Any, terms: Any, notes: Any, chain: int, at: int, before: int, seen: Any) -> None:
    """Whether the result of attempt ``before``, a retry or a dead letter, is what its send-backs require."""
    attempt = known.attempts[at]
    if attempt.attempt == 0 or attempt.dead + attempt.stored == 0:
        return
    count = attempt.attempt - 1
    maximum, lowest = maximum_of(known, terms, chain), lowest_of(known, terms, chain)
    heard = before >= 0 and known.attempts[before].heard != 0
    if maximum == ABSENT and not heard:
        if attempt.dead == 0 or count >= last_count(terms, terms.given[0].default):
            return
        maximum = lowest = int64(terms.given[0].default)
    if heard:
        may_die = known.attempts[before].may_die != 0
        may_live = known.attempts[before].may_live != 0
    else:
        may_live = count < last_count(terms, maximum)
        may_die = count >= last_count(terms, lowest) or gives_up(terms, lowest, attempt.attempt)
    judge(notes, _EXACTLY)
    since = known.attempts[before].failed if before >= 0 else int64(ABSENT)
    if since == ABSENT:
        since = terms.given[0].begin
    doubt = NOTHING if heard or (terms.given[0].send_back and before >= 0) else Doubt.EVIDENCE
    limit = last_count(terms, maximum) if maximum != ABSENT else int64(ABSENT)
    if attempt.dead > 0 and not may_die:
        violate(notes, _EXACTLY, _when(seen, attempt.dead_at, NOBODY), since, NOBODY, count, limit, doubt)
    if attempt.stored > 0 and not may_live:
        violate(notes, _EXACTLY, _when(seen, attempt.stored_at, NOBODY), since, NOBODY, count, limit, doubt)


@part
def _tell_status(known: Any, terms: Any, notes: Any, chain: int, is_lost: bool, statuses: Any) -> None:
    """A row for a message that failed, and its place in the statistics if no other monitor reports its status."""
    record = known.chains[chain]
    if record.scope == PRODUCERS:
        return
    attempt = known.attempts[record.highest]
    status, due = _status(known, terms, chain, is_lost)
    if status == _UNTOLD:
        return
    well = dead = int64(0)
    if record.siblings > 1:
        # To which message of a batch a copy belongs is not known, but how many copies ended how is.
        well, dead = _ends_of_copies(known, chain)
        if well + dead < _departed(known, chain):
            status = MessageStatus.LOST if is_lost else MessageStatus.PENDING_RETRY
    seen = Seen(record.last, record.slot, record.offset, record.actor, record.origin)
    since = record.time if record.time != ABSENT else record.last
    tell_chain(notes, seen, since, due, status, attempt.attempt)
    # The monitor by queue reports messages that have not left their place; a producer may store a message at several.
    place = record.departed
    while place >= 0:
        ended = status
        if well > 0:
            ended, well = MessageStatus.ACKNOWLEDGED, well - 1
        elif dead > 0:
            ended, dead = MessageStatus.DEAD_LETTERED, dead - 1
        statuses[known.links[place].slot, ended] += 1
        place = known.links[place].next
    if record.departed < 0 and _has_no_place(terms, record):
        statuses[record.slot, status] += 1
    elif (
        record.departed < 0
        and status == MessageStatus.DEAD_LETTERED
        and (record.successes > 0 or _came_again(known, chain))
    ):
        # It was consumed at its place, which the monitor by queue counts: SB-7, the send-back was refused but stored.
        statuses[record.slot, MessageStatus.ACKNOWLEDGED] -= 1
        statuses[record.slot, MessageStatus.DEAD_LETTERED] += 1


@part
def _came_again(known: Any, chain: int) -> Any:
    """Whether it was delivered at its place after it failed there; of first calls only failures are recorded."""
    at = find_attempt(known, chain, int64(0))
    return (
        at >= 0 and known.attempts[at].deliveries > 0 and known.attempts[at].last_failed < known.attempts[at].delivered
    )


@part
def _ends_of_copies(known: Any, chain: int) -> Any:
    """How many copies were consumed, and how many became dead letters."""
    well, dead = int64(0), int64(0)
    at = int64(known.chains[chain].highest)
    while at >= 0:
        attempt = known.attempts[at]
        if attempt.attempt > 0:
            well += min(attempt.successes, attempt.reached)
            dead += attempt.dead
        at = int64(attempt.next)
    return well, dead


@part
def _departed(known: Any, chain: int) -> Any:
    """Number of places that messages with this key have left."""
    count, place = int64(0), int64(known.chains[chain].departed)
    while place >= 0:
        count, place = count + 1, int64(known.links[place].next)
    return count


@part
def _has_no_place(terms: Any, seen: Any) -> Any:
    """Whether a message occurred only where the monitor by queue does not count it."""
    return seen.slot >= 0 and (seen.offset == ABSENT or terms.slots[seen.slot].flags & _NOT_OF_QUEUES != 0)


@part
def note_unplaced(known: Any, terms: Any, number: int, seen: Any) -> None:
    """Record a message without a chain, if it came in no known queue."""
    if _has_no_place(terms, seen):
        known.table.used[UNPLACED] = min(known.table.used[UNPLACED], number)


@entry
def tell_unplaced(known: Any, terms: Any, statuses: Any) -> None:
    """Count the messages in no known queue that were delivered once, and never failed."""
    for number in range(known.table.used[UNPLACED], known.table.used[0]):
        entry = known.table.entries[number]
        if entry.chain >= 0 or entry.chain <= ONCE or not _has_no_place(terms, entry):
            continue
        if entry.chain == WENT_WELL:
            statuses[entry.slot, MessageStatus.ACKNOWLEDGED] += 1
        elif terms.given[0].result:
            statuses[entry.slot, MessageStatus.IN_LISTENER] += 1
        else:
            statuses[entry.slot, MessageStatus.NOT_OBSERVABLE] += 1


@part
def _status(known: Any, terms: Any, chain: int, is_lost: bool) -> Any:
    """The status, and when a retry is due or 0; no status if the message did not fail after it came from its queue."""
    record = known.chains[chain]
    attempt = known.attempts[record.highest]
    runs = attempt.deliveries > 0 and (attempt.last_failed == ABSENT or attempt.last_failed < attempt.delivered)
    if record.dead != ABSENT and not _is_broadcasting(known, terms, chain):
        # A dead letter needs attention, even if another copy of it was consumed.
        return MessageStatus.DEAD_LETTERED, NOTHING
    if record.successes > 0:
        return MessageStatus.ACKNOWLEDGED, NOTHING
    if _is_broadcasting(known, terms, chain):
        return _UNTOLD if runs else MessageStatus.DROPPED, NOTHING
    if attempt.attempt == 0 and runs and attempt.sent == 0 and record.departed < 0 and not _has_no_place(terms, record):
        return _UNTOLD, NOTHING
    if is_lost:
        return MessageStatus.LOST, NOTHING
    if attempt.deliveries == 0:
        return MessageStatus.PENDING_RETRY, attempt.due if attempt.due != ABSENT else NOTHING
    if runs:
        return MessageStatus.IN_LISTENER, NOTHING
    maximum = maximum_of(known, terms, chain)
    if maximum == ABSENT:
        maximum = int64(terms.given[0].default)
    if attempt.attempt >= last_count(terms, maximum) and not terms.given[0].dead_letter:
        return MessageStatus.NOT_OBSERVABLE, NOTHING
    if attempt.allowed != 0:
        level = lowest(attempt.allowed)
    elif attempt.expired > 0:
        level = int64(terms.given[0].expiry_level)
    else:
        level = level_of(terms, attempt.attempt)
    return MessageStatus.PENDING_RETRY, attempt.last_failed + delay_of(terms, level)
