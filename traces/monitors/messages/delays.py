"""Delayed messages: at which level a copy waits, when it is due, and when the broker delivers it (DL-2 … DL-7)."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.claims import CODE
from ...clocks.order import apart
from ...engine.findings import Doubt
from ...format.schema import ABSENT
from ..notes import NOBODY, NOTHING, Seen, judge, violate
from .attempts import attempt_of, earliest, find_attempt, leave, wait, with_broker
from .copies import MOVED, REPEATED, STORED, account
from .retry_terms import HIGHEST_LEVEL, PRODUCERS

_LEVEL = int64(CODE["level-as-the-count-says"])
_BEFORE, _WHEN = int64(CODE["never-before-it-is-due"]), int64(CODE["delivered-when-due"])

_PRODUCERS = int64(PRODUCERS)

_STORED_WITHIN = int64(5_000)
"""ms. The delay counts from the time stamp that a message gets before it is appended (``CommitLog#asyncPutMessage``).
The event comes after the append, which may take this long on a busy machine: it waits for a new file
(``AllocateMappedFileService#waitTimeOut``).
"""


@part
def bit_of(level: int) -> Any:
    """A set with one level."""
    return int64(1) << min(max(level, 0), HIGHEST_LEVEL)


@part
def delay_of(terms: Any, level: int) -> Any:
    """How long a message of a level waits, ms; for a level that the table does not have, the last one (DL-2)."""
    return terms.levels[min(max(level, 0), len(terms.levels) - 1)].delay


@part
def level_of(terms: Any, count: int) -> Any:
    """The level at which request 36 stores a copy of a message that failed with a count (SB-14)."""
    return int64(terms.request_level[min(count, len(terms.request_level) - 1), 0])


@part
def untold(terms: Any) -> Any:
    """The doubt about anything that depends on the delay levels, or on their number."""
    return NOTHING if terms.given[0].levels_told else Doubt.LEVELS


@part
def delay_store(
    known: Any, terms: Any, notes: Any, chain: int, count: int, is_retry: bool, level: int, due: int, seen: Any
) -> None:
    """A message with a count is put into the schedule topic, at ``level`` until ``due`` (ABSENT: not recorded)."""
    at = attempt_of(known, chain, count)
    attempt = known.attempts[at]
    since = attempt.stored_at
    attempt.stored += 1
    attempt.stored_at = seen.time
    attempt.broker = seen.actor
    attempt.stored_in = with_broker(int64(attempt.stored_in), int64(terms.brokers[seen.actor]))
    if seen.slot >= 0:
        attempt.waits_for = with_broker(int64(attempt.waits_for), int64(terms.slots[seen.slot].topic))
    levels = int64(len(terms.levels) - 1)
    if level != ABSENT:
        attempt.levels |= bit_of(level)
        delay = delay_of(terms, level)
        counted = seen.time + delay
        rounding, bend = terms.given[0].skew, terms.given[0].bend
        # Less than from any of RocketMQ's levels to the one below, so that a message that waits at the wrong level is
        # reported.
        below = delay_of(terms, level - 1) if level > 1 else int64(0)
        early = max(rounding, min(_STORED_WITHIN, max(delay * 2 // 5, (delay - below) * 9 // 10)))
        is_off = due != ABSENT and (due > counted + rounding or due < counted - early)
        if not is_retry or is_off:
            judge(notes, _LEVEL)
        if not is_retry and level > levels:
            violate(notes, _LEVEL, seen, seen.time, NOBODY, level, levels, untold(terms))
        elif is_off:
            bent = due <= counted + rounding + bend and due >= counted - early - bend
            violate(
                notes, _LEVEL, seen, seen.time, NOBODY, due, counted, untold(terms) | (Doubt.SKEW if bent else NOTHING)
            )
        if due == ABSENT:
            due = counted
            attempt.assumed |= terms.given[0].levels_told == 0
    if due != ABSENT:
        attempt.due = due if attempt.due == ABSENT else min(attempt.due, due)
        wait(known, at, due)
    if is_retry and count > 0:
        account(known, terms, notes, chain, at, seen, STORED, since)


@part
def delay_deliver(
    known: Any,
    terms: Any,
    notes: Any,
    chain: int,
    count: int,
    is_retry: bool,
    level: int,
    due: int,
    is_sure: bool,
    seen: Any,
) -> None:
    """A message leaves the schedule topic for its own topic.

    ``level`` and ``due`` are the event's values, or ABSENT. A broker that is not sure counts the move as failed (DL-6).
    """
    at = attempt_of(known, chain, count)
    attempt = known.attempts[at]
    since = attempt.moved_at
    is_original = known.chains[chain].scope == _PRODUCERS and seen.slot >= 0
    if is_original and attempt.waits_for >= 0 and attempt.waits_for != terms.slots[seen.slot].topic:
        return  # DL-6: it comes to its own topic, and this is another one
    attempt.moved += 1
    if attempt.stored == 0:
        _tell_if_never_put(known, terms, notes, chain, at, is_retry, seen)
    # DL-2: it stays in the queue of its level until it is due; a repeated move is from there too.
    if level != ABSENT and attempt.levels != 0 and attempt.levels & bit_of(level) == 0:
        judge(notes, _LEVEL)
        doubt = NOTHING if attempt.moved <= attempt.stored else Doubt.EVIDENCE
        violate(notes, _LEVEL, seen, attempt.stored_at, NOBODY, level, lowest(attempt.levels), doubt)
    stage = MOVED
    if due == ABSENT:
        due = earliest(known, at)
        # Copies leave in the order in which they are due. One that seems to come early, after another one left, is that
        # one again.
        if attempt.stored > 0 and (due == ABSENT or (attempt.moved > 1 and seen.time < due)):
            attempt.repeated += 1
            stage = REPEATED
    elif attempt.stored > 0 and attempt.moved - attempt.repeated > attempt.stored:
        attempt.repeated += 1
        stage = REPEATED
    if due != ABSENT and stage == MOVED:
        leave(known, at, due)
        judge(notes, _BEFORE)
        if seen.time < due:
            _too_early(terms, notes, attempt, level, due, seen)
        judge(notes, _WHEN)
        deadline = ready(terms, seen.actor, due) + terms.given[0].late
        if seen.time > deadline:
            doubt = NOTHING if terms.given[0].restarts else Doubt.EVIDENCE
            doubt |= Doubt.LEVELS if attempt.assumed else NOTHING
            row = violate(notes, _WHEN, seen, attempt.stored_at, attempt.broker, seen.time, due, doubt)
            notes.rows[row].late = seen.time - deadline
    if count > 0 or known.chains[chain].scope == _PRODUCERS or stage == REPEATED:
        # SB-8: otherwise a fallback restarted the count, which is reported when a listener gets it.
        account(known, terms, notes, chain, at, seen, stage, since)
    attempt.moved_at = seen.time
    attempt.moved_slot, attempt.moved_offset = seen.slot, seen.offset
    if attempt.first_moved == ABSENT:
        attempt.first_moved = seen.time
    attempt.unsure_move = not is_sure
    attempt.broker = seen.actor


@part
def _tell_if_never_put(known: Any, terms: Any, notes: Any, chain: int, at: int, is_retry: bool, seen: Any) -> None:
    """SB-14: what leaves the schedule topic for a retry topic was put there after a failure, for that topic."""
    attempt = known.attempts[at]
    before = find_attempt(known, chain, attempt.attempt - 1)
    if not is_retry or attempt.moved > 1 or not terms.given[0].delay_store or before < 0:
        return
    if known.attempts[before].failed == ABSENT:
        return
    judge(notes, _LEVEL)
    expected = level_of(terms, attempt.attempt - 1)
    # Otherwise it may be of an earlier failure, before the recording.
    doubt = NOTHING if terms.given[0].complete else Doubt.EVIDENCE
    violate(notes, _LEVEL, seen, terms.given[0].begin, NOBODY, NOTHING, expected, doubt)


@part
def _too_early(terms: Any, notes: Any, attempt: Any, level: int, due: int, seen: Any) -> None:
    # DL-5: a message stored later than now, by a clock that has since stepped back, is delivered at once
    # (ScheduleMessageService.DeliverDelayedMessageTimerTask#correctDeliverTimestamp).
    if attempt.stored_at != ABSENT and seen.time < attempt.stored_at:
        return
    if 0 < level < len(terms.levels) and seen.time + terms.levels[level].delay < due:
        return
    open_ = apart(terms.order, seen.actor, attempt.broker)
    doubt = Doubt.SKEW if attempt.broker != seen.actor and due - seen.time <= open_ else NOTHING
    doubt |= Doubt.LEVELS if attempt.assumed else NOTHING
    violate(notes, _BEFORE, seen, attempt.stored_at, attempt.broker, seen.time, due, doubt)


@part
def ready(terms: Any, broker: int, due: int) -> Any:
    """When a broker could at the earliest deliver a message that is ``due``: it may be down at that time."""
    when = due
    for i in range(len(terms.down)):
        if (
            terms.down[i].broker == broker
            and terms.down[i].since <= when + terms.given[0].late
            and terms.down[i].until > when
        ):
            when = terms.down[i].until
    return when


@part
def never_delivered(known: Any, terms: Any, notes: Any, at: int, seen: Any) -> None:
    """At the end: messages that wait although long due (H1). ``seen`` stands for the end of the trace."""
    attempt = known.attempts[at]
    due = earliest(known, at)
    if due == ABSENT or max(attempt.moved - attempt.repeated, attempt.reached) >= attempt.stored:
        return
    deadline = ready(terms, attempt.broker, due) + terms.given[0].late
    if terms.given[0].end <= deadline:
        return
    judge(notes, _WHEN)
    if attempt.deliveries > 0:
        seen = Seen(seen.time, seen.slot, ABSENT, seen.actor, seen.origin)  # the place is that of another copy
    doubt = NOTHING if terms.given[0].restarts and terms.given[0].delay_deliver else Doubt.EVIDENCE
    doubt |= Doubt.LEVELS if attempt.assumed else NOTHING
    row = violate(notes, _WHEN, seen, attempt.stored_at, attempt.broker, NOTHING, due, doubt)
    notes.rows[row].late = terms.given[0].end - deadline


@part
def levels_as_asked(known: Any, terms: Any, notes: Any, at: int, before: int, seen: Any) -> None:
    """At the end: whether copies were stored at levels that the send-backs of attempt ``before`` account for.

    A copy is stored before its send-back is answered, so this is known only at the end. ``before`` is -1 if the attempt
    that failed is not in the trace; in this case, and if send-backs are not recorded, a level requested by the listener
    would be an explanation.
    """
    attempt = known.attempts[at]
    if attempt.levels == 0 or attempt.attempt == 0:
        return
    judge(notes, _LEVEL)
    allowed = bit_of(level_of(terms, attempt.attempt - 1))
    heard = unsure = False
    since = attempt.stored_at
    if before >= 0:
        failed = known.attempts[before]
        if failed.failed != ABSENT:
            since = failed.failed
        unsure = failed.unsure != 0
        heard = failed.heard != 0 and not unsure
        if heard:
            if failed.may_live == 0:
                return  # it should have been a dead letter, which another claim reports
            allowed = failed.allowed
        elif failed.expired > 0:
            allowed |= bit_of(terms.given[0].expiry_level)
    wrong = attempt.levels & ~allowed
    if wrong == 0:
        return
    told = heard or (terms.given[0].send_back and before >= 0 and not unsure)
    doubt = NOTHING if told else Doubt.EVIDENCE
    if (wrong | allowed) >= bit_of(len(terms.levels) - 1):
        doubt |= untold(terms)  # the last level stands for those beyond the table
    violate(notes, _LEVEL, seen, since, NOBODY, lowest(wrong), lowest(allowed), doubt)


@part
def lowest(levels: Any) -> Any:
    """The lowest level of a set that is not empty."""
    level = int64(0)
    while (levels >> level) & 1 == 0:
        level += 1
    return level
