"""Deliveries to listeners and their results: attempts must follow each other, be in time, and not be too many."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.claims import CODE
from ...clocks.order import apart
from ...encoding.names import DEAD_LETTER_TOPIC, ORDERLY, RETRY_TOPIC
from ...engine.findings import Doubt
from ...format.schema import ABSENT
from ..notes import NOBODY, NOTHING, judge, violate
from .attempts import add_attempt, add_place, attempt_of, find_attempt, has_place
from .copies import REACHED, account, account_original
from .dead_letters import last_count, maximum_of
from .delays import bit_of, delay_of, level_of
from .send_backs import failure
from .stored_elsewhere import tell_if_not_there, tell_if_nowhere

ROUNDING = 1
"""Times are whole ms, each rounded down, so the difference of two may be too small by one."""

_FOLLOW, _WITHIN = int64(CODE["attempts-follow-each-other"]), int64(CODE["attempts-within-the-maximum"])
_WAITS, _AFTER = int64(CODE["retry-waits-as-its-level-says"]), int64(CODE["nothing-after-the-dead-letter"])
_COPY = int64(CODE["every-copy-has-a-cause"])


@part
def deliver(
    known: Any, terms: Any, notes: Any, chain: int, count: int, together: bool, producers: int, seen: Any
) -> None:
    """A listener is called with a message with count ``count``, with others in the same call if ``together``.

    For ``producers`` see :func:`.copies.account_original`.
    """
    _tell_if_less(known, notes, chain, count, seen)
    at = find_attempt(known, chain, count)
    before = find_attempt(known, chain, count - 1) if count > 0 else int64(-1)
    if at >= 0 and has_place(known, at, seen.slot, seen.offset):
        _note_delivery(known, chain, at, seen)  # again from its queue
        known.attempts[at].together = together
        return
    if at < 0:
        at = add_attempt(known, chain, count)
    known.attempts[at].together = together
    first = known.attempts[at].deliveries == 0
    since = known.attempts[at].delivered
    if not first and (seen.slot < 0 or seen.offset == ABSENT):
        # TR-7: without a place, a second copy cannot be distinguished from one that comes again from its queue.
        attempt = known.attempts[at]
        judge(notes, _COPY)
        violate(notes, _COPY, seen, since, attempt.deliverer, count, attempt.reached, Doubt.EVIDENCE)
        _note_delivery(known, chain, at, seen)
        return
    # A failed send-back is retried in the client, and so are messages of an orderly listener: the same place, and a
    # count that is higher by one only in the client's memory (CC-12, OR-8).
    is_local = before >= 0 and has_place(known, before, seen.slot, seen.offset)
    add_place(known, at, seen.slot, seen.offset)
    _note_delivery(known, chain, at, seen)
    if not is_local:
        known.attempts[at].reached += 1
    if count > 0 and not is_local and is_of_another(terms, seen.slot):
        # A dead letter of another group begins here, with the count with which it died.
        known.chains[chain].siblings += 0 if first else 1
        return
    if count > 0:
        _within_maximum(known, terms, notes, chain, count, is_local, seen)
    if not is_local and _is_dead(known, chain, count):
        dead = known.chains[chain].dead
        violate(notes, _AFTER, seen, _died_at(known, chain), NOBODY, count, dead, NOTHING)
        return
    if is_local:
        return
    if count > 0:
        attempt = known.attempts[at]
        moved, offset = int64(attempt.moved_slot), int64(attempt.moved_offset)
        # DL-7: a slave that acts as master may have delivered it to another broker.
        is_near = moved >= 0 and seen.slot >= 0 and terms.slots[moved].name == terms.slots[seen.slot].name
        if attempt.moved == 1 and is_near and offset >= 0 and seen.offset >= 0:
            tell_if_not_there(terms, notes, moved, offset, int64(attempt.moved_at), seen)
        elif attempt.moved == 0 and seen.slot >= 0 and terms.slots[seen.slot].flags & RETRY_TOPIC:
            tell_if_nowhere(terms, notes, seen)
        account(known, terms, notes, chain, at, seen, REACHED, since)
        _waited(known, terms, notes, at, before, seen)
    elif known.attempts[at].reached > 1:
        account_original(known, terms, notes, chain, at, producers, seen, since)


@part
def _tell_if_less(known: Any, notes: Any, chain: int, count: int, seen: Any) -> None:
    """SB-6: whether a copy comes with a lower count than the stored one; in the client the count only grows."""
    at = int64(known.chains[chain].highest)
    while at >= 0 and known.attempts[at].attempt > count:
        attempt = known.attempts[at]
        if seen.slot >= 0 and attempt.moved_slot == seen.slot and attempt.moved_offset == seen.offset != ABSENT:
            judge(notes, _FOLLOW)
            violate(notes, _FOLLOW, seen, attempt.moved_at, NOBODY, count, int64(attempt.attempt), NOTHING)
            return
        at = int64(attempt.next)


@part
def is_of_another(terms: Any, slot: int) -> Any:
    """Whether a message delivered from a queue is a dead letter: its failures so far were in another group."""
    return slot >= 0 and terms.slots[slot].flags & DEAD_LETTER_TOPIC != 0


@part
def result(known: Any, chain: int, count: int, succeeded: bool, seen: Any) -> None:
    """A listener call has ended. Such a call was made, recorded or not."""
    at = attempt_of(known, chain, count)
    attempt = known.attempts[at]
    if attempt.deliveries == 0:
        add_place(known, at, seen.slot, seen.offset)
        _note_delivery(known, chain, at, seen)
        attempt.reached += 1
    if succeeded:
        attempt.successes += 1
        known.chains[chain].successes += 1
        return
    attempt.failures += 1
    known.chains[chain].failures += 1
    failure(attempt, seen)


@part
def _note_delivery(known: Any, chain: int, at: int, seen: Any) -> None:
    attempt = known.attempts[at]
    attempt.deliveries += 1
    attempt.delivered = seen.time
    if attempt.first_delivered == ABSENT:
        attempt.first_delivered = seen.time
    attempt.deliverer = seen.actor
    record = known.chains[chain]
    if record.time == ABSENT:
        record.time = seen.time


@part
def _is_dead(known: Any, chain: int, count: int) -> Any:
    """Whether a copy with this count can only come from a dead letter: no other copy has come so far."""
    dead = known.chains[chain].dead
    if dead == ABSENT or count <= dead:
        return False
    at = find_attempt(known, chain, dead)
    return at >= 0 and known.attempts[at].deliveries == 0


@part
def _died_at(known: Any, chain: int) -> Any:
    return known.attempts[find_attempt(known, chain, int64(known.chains[chain].dead))].dead_at


@part
def follows(known: Any, terms: Any, notes: Any, chain: int, at: int, before: int, seen: Any) -> None:
    """At the end: whether the previous attempt ``before`` was delivered, and failed; -1: nothing is known about it.

    The clocks of the client that failed and of the broker that stored the retry do not matter then.
    """
    count = int64(known.attempts[at].attempt)
    base = int64(known.chains[chain].base)
    if count <= base or is_of_another(terms, int64(known.attempts[at].slot)):
        return  # the trace begins in the middle
    judge(notes, _FOLLOW)
    if before >= 0 and known.attempts[before].unseen > 0 and known.attempts[before].deliveries > 0:
        failed = known.attempts[before]
        violate(notes, _FOLLOW, seen, failed.delivered, failed.deliverer, count, count - 1, NOTHING)
        return
    if before >= 0 and known.attempts[before].deliveries > 0:
        failed = known.attempts[before]
        if failed.failures + failed.expired > 0 or failed.together != 0 or not terms.given[0].result:
            return
        doubt = NOTHING if terms.given[0].expire else Doubt.EVIDENCE
        violate(notes, _FOLLOW, seen, failed.delivered, failed.deliverer, count, count - 1, doubt)
        return
    unseen = count - 1 == base and known.chains[chain].unproved != 0
    doubt = Doubt.EVIDENCE if unseen or not terms.given[0].deliver else NOTHING
    since = terms.given[0].begin
    highest = int64(-1)
    other = int64(known.chains[chain].highest)
    while other >= 0:
        earlier = known.attempts[other]
        if highest < earlier.attempt < count and earlier.deliveries > 0:
            highest = int64(earlier.attempt)
            since = earlier.delivered
        other = int64(earlier.next)
    violate(notes, _FOLLOW, seen, since, NOBODY, count, highest + 1, doubt)


@part
def _within_maximum(known: Any, terms: Any, notes: Any, chain: int, count: int, is_local: bool, seen: Any) -> None:
    is_orderly = seen.slot >= 0 and terms.slots[seen.slot].flags & ORDERLY != 0
    if is_local and not is_orderly:
        return  # CC-12: not counted
    maximum = maximum_of(known, terms, chain)
    doubt = NOTHING
    if maximum == ABSENT:
        if count <= last_count(terms, terms.given[0].default):
            return
        maximum = int64(terms.given[0].default)
        doubt = Doubt.EVIDENCE
    limit = last_count(terms, maximum)
    judge(notes, _WITHIN)
    if count <= limit:
        return
    if is_local:
        # OR-8: if the send-back fails, an orderly listener continues with the next count.
        at = find_attempt(known, chain, count - 1)
        if at >= 0 and known.attempts[at].given_up > 0:
            return
        if not terms.given[0].send_back:
            doubt = Doubt.EVIDENCE
    violate(notes, _WITHIN, seen, seen.time, NOBODY, count, limit, doubt)


@part
def _waited(known: Any, terms: Any, notes: Any, at: int, before: int, seen: Any) -> None:
    """Check that a copy comes to its listener no sooner than its delay after the failure (G6)."""
    attempt = known.attempts[at]
    level_is_known, is_assumed = True, terms.given[0].levels_told == 0
    if attempt.stored > 0 and attempt.due != ABSENT:
        # Which of several copies it is cannot be determined.
        due, is_assumed = attempt.due, attempt.assumed != 0
        since, other = attempt.stored_at, attempt.broker
    else:
        if before < 0 or known.attempts[before].failed == ABSENT:
            return
        failed = known.attempts[before]
        level_is_known = failed.heard != 0 and failed.unsure == 0 and failed.allowed != 0
        levels = failed.allowed
        if not level_is_known:
            levels = bit_of(level_of(terms, failed.attempt))
            if failed.expired > 0:
                levels |= bit_of(terms.given[0].expiry_level)
        since, other = failed.failed, failed.failer
        due = since + _shortest(terms, levels)
    judge(notes, _WAITS)
    # Two clocks measure the time between them, each with rounded times.
    tolerance = ROUNDING if other == seen.actor and other >= 0 else max(apart(terms.order, seen.actor, other), ROUNDING)
    if seen.time >= due - tolerance:
        return
    doubt = NOTHING if level_is_known or terms.given[0].send_back else Doubt.EVIDENCE
    if is_assumed:
        doubt |= Doubt.LEVELS
    violate(notes, _WAITS, seen, since, other, seen.time, due, doubt)


@part
def _shortest(terms: Any, levels: Any) -> Any:
    shortest = delay_of(terms, len(terms.levels) - 1)
    for level in range(len(terms.levels)):
        if levels & bit_of(level) != 0:
            shortest = min(shortest, delay_of(terms, level))
    return shortest
