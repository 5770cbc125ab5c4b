"""Dead letters: whether a message was given up exactly when it should have been, and without delay (SB-14, DQ-1)."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.claims import CODE
from ...encoding.names import ORDERLY
from ...engine.findings import Doubt
from ...format.schema import ABSENT
from ..notes import NOBODY, NOTHING, judge, violate
from .attempts import attempt_of, find_attempt, with_broker
from .copies import STORED, account
from .delays import delay_of, level_of
from .retry_terms import COUNTS, LOWEST_MAXIMUM

AT_ONCE = 8_000
"""SB-2, SB-4: request 36 is given up after 5 s, a fallback after 3 s; a dead letter that comes later has waited."""

_EXACTLY, _AFTER = int64(CODE["dead-letter-exactly-at-the-maximum"]), int64(CODE["nothing-after-the-dead-letter"])


@part
def maximum_of(known: Any, terms: Any, chain: int) -> Any:
    """The maximum against which a chain is checked; ABSENT if it is unknown.

    If the header states the configured maximum, requests do not change it; otherwise the largest one that was named
    counts.
    """
    scope, named = known.chains[chain].scope, known.chains[chain].maximum
    return int64(terms.maximum[scope]) if terms.lowest[scope] != ABSENT or named == ABSENT else int64(named)


@part
def lowest_of(known: Any, terms: Any, chain: int) -> Any:
    """The lowest maximum that a member may have given the chain: that of the chain, unless members differ."""
    lowest = terms.lowest[known.chains[chain].scope]
    return int64(lowest) if lowest != ABSENT else maximum_of(known, terms, chain)


@part
def last_count(terms: Any, maximum: int) -> Any:
    """The count at which a failure makes a dead letter, by request 36."""
    return terms.maxima[min(max(maximum, -LOWEST_MAXIMUM), COUNTS) + LOWEST_MAXIMUM].request


@part
def gives_up(terms: Any, maximum: int, sent: int) -> Any:
    """Whether a fallback that is sent with a count becomes a dead letter."""
    return sent >= terms.maxima[min(max(maximum, -LOWEST_MAXIMUM), COUNTS) + LOWEST_MAXIMUM].fallback


@part
def dead_letter(known: Any, terms: Any, notes: Any, chain: int, count: int, seen: Any) -> None:
    """A dead letter with count ``count`` is stored: one more than the count that failed."""
    count = _as_of_others(known, terms, chain, count, seen)
    at = attempt_of(known, chain, count)
    attempt = known.attempts[at]
    since = attempt.dead_at if attempt.dead_at != ABSENT else attempt.stored_at
    attempt.dead += 1
    attempt.dead_at = seen.time
    if seen.slot >= 0:
        attempt.stored_in = with_broker(int64(attempt.stored_in), int64(terms.slots[seen.slot].name))
    judge(notes, _AFTER)
    if known.chains[chain].dead == ABSENT or count < known.chains[chain].dead:
        known.chains[chain].dead = count
    if count > 0:  # otherwise it was not sent back at this count
        account(known, terms, notes, chain, at, seen, STORED, since)
    before = find_attempt(known, chain, count - 1)
    if before < 0:
        return
    failed = known.attempts[before]
    limit = max(delay_of(terms, level_of(terms, count - 1)), AT_ONCE)
    waited = failed.last_failed != ABSENT and seen.time - failed.last_failed >= limit
    # If a send-back failed altogether, it is tried again every 5 s (CC-12).
    if (
        waited
        and attempt.delayed_dead == 0
        and failed.given_up == 0
        and not (terms.given[0].delayed_dead and failed.refused)
    ):
        attempt.delayed_dead = 1
        judge(notes, _EXACTLY)
        since = failed.last_failed
        violate(notes, _EXACTLY, seen, since, failed.failer, seen.time, since, _unheard(terms))


@part
def delayed_dead_letter(known: Any, terms: Any, notes: Any, chain: int, count: int, seen: Any) -> None:
    """A dead letter is put into the schedule topic, not its own; 4.x does so if a fallback made it (SB-15)."""
    count = _as_of_others(known, terms, chain, count, seen)
    at = attempt_of(known, chain, count)
    known.attempts[at].delayed_dead = 1
    if terms.given[0].delayed_dead:
        return
    before = find_attempt(known, chain, count - 1)
    since = known.attempts[before].failed if before >= 0 else int64(ABSENT)
    judge(notes, _EXACTLY)
    shown = since if since != ABSENT else seen.time
    violate(notes, _EXACTLY, seen, shown, NOBODY, seen.time, shown, NOTHING)


@part
def _as_of_others(known: Any, terms: Any, chain: int, count: int, seen: Any) -> Any:
    """The count of a dead letter by the usual convention: an orderly client of 4.x sends the count that failed
    itself.

    OR-8: ``ConsumeMessageOrderlyService#sendMessageBack`` adds one since 5.0.
    """
    if count == 0 and maximum_of(known, terms, chain) > 0:
        return int64(count)  # SB-8: a second attempt of its fallback has no count
    at = find_attempt(known, chain, count)
    is_orderly = seen.slot >= 0 and terms.slots[seen.slot].flags & ORDERLY != 0
    return count + 1 if is_orderly and at >= 0 and known.attempts[at].deliveries > 0 else int64(count)


@part
def _unheard(terms: Any) -> Any:
    # A send-back long after the failure would explain a late dead letter.
    return NOTHING if terms.given[0].send_back else Doubt.EVIDENCE
