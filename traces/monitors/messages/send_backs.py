"""Send-backs: only failed messages are sent back, and what becomes of them, which is stored again (SB-1 … SB-16)."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.claims import CODE
from ...encoding.names import ORDERLY
from ...engine.findings import Doubt
from ...format.kinds import Path, Result
from ...format.schema import ABSENT
from ..notes import NOBODY, NOTHING, judge, violate
from .attempts import SEVERAL, attempt_of, copies_of, counts_at, find_attempt, with_broker
from .dead_letters import AT_ONCE, gives_up, last_count, lowest_of, maximum_of
from .delays import bit_of, delay_of, lowest

_ONLY, _AGAIN = int64(CODE["only-failed-messages-are-sent-back"]), int64(CODE["sent-back-message-comes-again"])
_CONFIGURED = int64(CODE["maximum-as-configured"])

LEARNT = int64(60_000)
"""ms. How long a client may use outdated brokers: routes are polled, and heartbeats sent, every 30 s (ST-3)."""


@part
def send_back(
    known: Any,
    terms: Any,
    notes: Any,
    chain: int,
    count: int,
    path: Path,
    result: Result,
    asked: int,
    named: int,
    seen: Any,
) -> None:
    """A client sends back a message that it has at ``count``; ``result`` is the answer.

    ``path`` is request 36, a fallback, or a request because the listener takes too long, or on behalf of the
    application, which fails the message whatever its listener answers. ``asked`` is the requested level, ``named`` the
    maximum that the client names; each is ABSENT if it is not recorded.
    """
    at = attempt_of(known, chain, count)
    attempt = known.attempts[at]
    if path == Path.EXPIRED and attempt.expired == 0:
        failure(attempt, seen)
        attempt.expired += 1
    elif path == Path.APPLICATION or _tells_of_a_failure(terms, attempt):
        _has_failed(known, chain, attempt, seen)
    judge(notes, _ONLY)
    stored, _ = counts_at(known, chain, seen.slot, seen.offset)
    # A place that belongs to none of its deliveries, while some copy has not come to a listener.
    is_unseen = attempt.deliveries == 0 or (stored == ABSENT and copies_of(attempt) > attempt.reached)
    attempt.unseen += is_unseen
    if is_unseen or attempt.failures + attempt.expired == 0:
        _without_failure(known, terms, notes, chain, attempt, seen)
    if named != ABSENT:
        # SB-2 names what is configured, or 16 for -1; the recorded value may be either.
        named = terms.given[0].default if named == -1 else named
        known.chains[chain].maximum = max(known.chains[chain].maximum, named)
        _as_configured(known, terms, notes, chain, named, seen)
    # An application's call names a level unless the client produced the copy, its request having failed (SB-4).
    produced = path == Path.FALLBACK or (path == Path.APPLICATION and asked == ABSENT)
    # Request 36 counts from what the broker has stored, a fallback from the client's memory (SB-6).
    source = at if produced or stored == ABSENT else attempt_of(known, chain, stored)
    sent = known.attempts[source]
    sent.heard = 1
    sent.sent_at = seen.time
    if result == Result.OK:
        sent.sent += 1
    elif produced:
        sent.given_up += 1
    else:
        sent.refused += 1
    known.chains[chain].fallbacks += produced
    if produced or seen.slot < 0:
        sent.asked = SEVERAL  # SB-8: it is sent like any message, to any broker
    else:
        sent.asked = with_broker(int64(sent.asked), int64(terms.slots[seen.slot].name))
    maximum = maximum_of(known, terms, chain)
    if named != ABSENT and lowest_of(known, terms, chain) < maximum:
        maximum = int64(named)
    times = sent.attempt
    if maximum == ABSENT:
        sent.may_die = 1
        sent.may_live = 1
    elif produced:
        sent.fallback = 1
        dies = gives_up(terms, maximum, times + 1)
        sent.may_die |= dies
        sent.may_live |= not dies
    else:
        # PQ-9: for a listener that takes too long, the client requests a level of its own, and gives nothing up.
        dies = times >= last_count(terms, maximum) or (path != Path.EXPIRED and asked != ABSENT and asked < 0)
        sent.may_die |= dies
        sent.may_live |= not dies
    last = len(terms.request_level) - 1
    if path == Path.FALLBACK:
        sent.allowed |= bit_of(terms.levels[min(times, len(terms.levels) - 1)].fallback)
    elif path == Path.EXPIRED:
        sent.allowed |= bit_of(terms.given[0].expiry_level)
    elif asked == ABSENT:
        sent.unsure = 1
    elif asked >= 0:
        sent.allowed |= bit_of(terms.request_level[min(times, last), min(asked, last)])


@part
def _as_configured(known: Any, terms: Any, notes: Any, chain: int, named: int, seen: Any) -> None:
    """SB-2: a request names what its group is configured with; the broker uses the value that it names."""
    scope = known.chains[chain].scope
    if terms.lowest[scope] != ABSENT:
        judge(notes, _CONFIGURED)
        if named < terms.lowest[scope] or named > terms.maximum[scope]:
            violate(notes, _CONFIGURED, seen, seen.time, NOBODY, named, int64(terms.maximum[scope]), NOTHING)


@part
def _tells_of_a_failure(terms: Any, attempt: Any) -> Any:
    """Whether this send-back is the first sign of the message's failure.

    CC-10: of a call with several messages that succeeded, the tail may be sent back. And if no results are recorded,
    each delivery may have failed once.
    """
    if not terms.given[0].result:
        return attempt.failures + attempt.expired < attempt.deliveries
    return attempt.together != 0 and attempt.failures + attempt.expired == 0


@part
def _has_failed(known: Any, chain: int, attempt: Any, seen: Any) -> None:
    """Record the failure of an attempt that was sent back."""
    failure(attempt, seen)
    attempt.failures += 1
    known.chains[chain].failures += 1
    known.chains[chain].successes -= attempt.successes
    attempt.successes = 0


@part
def _without_failure(known: Any, terms: Any, notes: Any, chain: int, attempt: Any, seen: Any) -> None:
    doubt = NOTHING
    since = seen.time
    if attempt.deliveries == 0:
        # A message delivered before the trace began may be sent back in it.
        if known.chains[chain].unproved != 0 and attempt.stored == 0:
            doubt = Doubt.EVIDENCE
        since = terms.given[0].begin
    else:
        since = attempt.delivered
        if not terms.given[0].result or not terms.given[0].expire:
            doubt = Doubt.EVIDENCE
    violate(notes, _ONLY, seen, since, attempt.deliverer, attempt.attempt, attempt.deliveries, doubt)


@part
def expire(known: Any, chain: int, count: int, seen: Any) -> None:
    """A client finds that the listener has had a message for longer than the consume timeout (PQ-9)."""
    attempt = known.attempts[attempt_of(known, chain, count)]
    failure(attempt, seen)
    attempt.expired += 1


@part
def failure(attempt: Any, seen: Any) -> None:
    """Record when an attempt failed."""
    if attempt.failed == ABSENT:
        attempt.failed = seen.time
        attempt.failer = seen.actor
    attempt.last_failed = seen.time


@part
def _was_away(terms: Any, broker: int, time: int) -> Any:
    """Whether a broker was down, or clients may not have learnt yet that it is back."""
    for i in range(len(terms.down)):
        down = terms.down[i]
        if down.broker == broker and down.since - LEARNT <= time <= down.until + LEARNT:
            return True
    return False


@part
def _by_whom_it_was_asked(known: Any, terms: Any, notes: Any, attempt: Any, copy: Any, seen: Any) -> None:
    """SB-2: request 36 goes to the broker of the message, which stores the copy, unless another one acts for it."""
    if attempt.asked >= 0 and copy.stored_in >= 0 and copy.stored_in != attempt.asked:
        was_away = attempt.slot < 0 or _was_away(terms, int64(terms.slots[attempt.slot].broker), int64(attempt.sent_at))
        doubt = Doubt.EVIDENCE if was_away else NOTHING
        violate(notes, _AGAIN, seen, attempt.sent_at, NOBODY, copies_of(copy), attempt.sent, doubt)


@part
def stored_again(known: Any, terms: Any, notes: Any, chain: int, at: int, seen: Any) -> Any:
    """At the end: whether there are as many copies as successful send-backs; false if some are lost.

    ``seen`` stands for the end of the trace. Requests that may still be under way are not judged.
    """
    attempt = known.attempts[at]
    if attempt.sent == 0:
        return True
    after = find_attempt(known, chain, attempt.attempt + 1)
    copies = copies_of(known.attempts[after]) if after >= 0 else int64(0)
    anew = find_attempt(known, chain, NOTHING)
    if anew >= 0:
        copies += known.attempts[anew].stored + known.attempts[anew].dead  # SB-8: a fallback that restarts the count
    dies = attempt.may_die != 0 and attempt.may_live == 0
    if attempt.slot >= 0 and terms.slots[attempt.slot].flags & ORDERLY != 0:
        copies += attempt.stored  # OR-8: an orderly client of 4.x sends the count that failed itself
    # SB-9, SB-14: a request is answered after its copy was stored; a dead letter of a fallback may wait first (SB-15).
    lives = attempt.may_die == 0 or terms.given[0].dead_letter
    recorded = terms.given[0].dead_letter if dies else terms.given[0].delay_store and lives
    at_once = recorded and attempt.fallback == 0
    deadline = attempt.sent_at + (AT_ONCE if at_once else int64(terms.given[0].late))
    if not at_once and not terms.given[0].delay_store:
        level = lowest(attempt.allowed) if attempt.allowed != 0 else int64(len(terms.levels) - 1)
        deadline += delay_of(terms, level)
    if copies >= attempt.sent:
        judge(notes, _AGAIN)
        if after >= 0:
            _by_whom_it_was_asked(known, terms, notes, attempt, known.attempts[after], seen)
        return True
    if terms.given[0].end <= deadline:
        return True
    judge(notes, _AGAIN)
    doubt = NOTHING
    lacks = not terms.given[0].delay_store and not at_once
    if lacks or (attempt.may_die != 0 and not terms.given[0].dead_letter):
        doubt = Doubt.EVIDENCE
    row = violate(notes, _AGAIN, seen, attempt.sent_at, NOBODY, copies, attempt.sent, doubt)
    notes.rows[row].late = terms.given[0].end - deadline
    return doubt != 0
