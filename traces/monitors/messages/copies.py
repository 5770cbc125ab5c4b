"""Copies of a message with the same count, and why there is more than one of them.

A failure is answered with one copy of the next count. A further one needs a cause: a request that stored its copy and
seemed to fail (SB-7), a call that outlasted the consume timeout (PQ-9), a message that came again from its queue and
failed again (G3), a position of the schedule topic that went back (DL-7), an original that was sent twice (G3-12).
Copies that originate from duplicated ones share their cause.

Brokers store copies, clients report failures: events of two recorders, whose order is not certain within the skew of
their clocks. A copy that nothing explains yet is judged once its cause can no longer come.
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ....model.history import Cause
from ...claims.claims import CODE
from ...encoding.names import ORDERLY, RETRY_TOPIC
from ...engine.context import CRASHED, STOPPED, ended_between
from ...engine.findings import Doubt
from ...format.schema import ABSENT
from ..notes import NOBODY, NOTHING, Seen, explain, judge, violate
from .attempts import copies_of, find_attempt
from .chains import UNEXPLAINED_BEGIN, UNEXPLAINED_END

STORED, MOVED, REPEATED, REACHED = int64(0), int64(1), int64(2), int64(3)
"""Where a copy is noticed: in the schedule topic or the dead-letter topic, when it leaves the schedule topic, when it
leaves that a second time, or at a listener.
"""

_COPY, _AFTER = int64(CODE["every-copy-has-a-cause"]), int64(CODE["nothing-after-the-dead-letter"])
BATCH = int64(4096)
"""Maximum number of messages sent at once: a batch is limited to 4 MB."""

_TOLD = int64(255)
"""Both copies come from failures of copies that had no cause themselves, which is reported for those."""


@part
def account(known: Any, terms: Any, notes: Any, chain: int, at: int, seen: Any, stage: int, since: int) -> None:
    """Account for a copy of an attempt that was just counted; ``since`` is when the previous one was noticed.

    One copy is noticed up to three times on its way; it counts when the number of copies grows.
    """
    attempt = known.attempts[at]
    count = copies_of(attempt)
    if count <= attempt.copies:
        return
    attempt.copies = count
    judge(notes, _COPY)
    before = find_attempt(known, chain, attempt.attempt - 1)
    if count == 1:
        # Users ask about the only copy of a message that did not fail: its listener was too slow.
        if before >= 0 and known.attempts[before].failures == 0 and known.attempts[before].expired > 0:
            attempt.cause = Cause.TIMEOUT
            since = known.attempts[before].delivered
            explain(notes, _COPY, Cause.TIMEOUT, seen, since, NOBODY, attempt.attempt, NOTHING)
        return
    if count <= known.chains[chain].siblings:
        return  # each message of a batch has a copy of its own
    cause = Cause.NONE
    if stage != REPEATED and before >= 0:
        cause = _cause(known, terms, at, before, count)
    # A copy whose move was not recorded may have been moved as soon as it was sent back.
    moved = min(attempt.first_delivered, known.attempts[before].failed) if before >= 0 else attempt.first_delivered
    if cause == Cause.NONE and _is_replayed(terms, attempt, stage, seen, moved):
        cause = Cause.SCHEDULE_REPLAY
    claim = _AFTER if attempt.dead > 0 and stage == REACHED else _COPY
    last = known.used[UNEXPLAINED_END]
    copy = known.unexplained[last]
    copy.time, copy.since, copy.offset, copy.slot, copy.actor = seen.time, since, seen.offset, seen.slot, seen.actor
    copy.chain, copy.attempt, copy.copies, copy.claim = chain, at, count, claim
    if cause != Cause.NONE or stage == REPEATED:
        _tell(known, terms, notes, copy, before, cause)
    else:
        known.used[UNEXPLAINED_END] += 1


@part
def settle(known: Any, terms: Any, notes: Any, now: int, room: int) -> Any:
    """Judge the unexplained copies whose cause can no longer be seen from ``now`` on.

    Returns whether all of them are judged; it stops if fewer than ``room`` rows are left.
    """
    while known.used[UNEXPLAINED_BEGIN] < known.used[UNEXPLAINED_END]:
        copy = known.unexplained[known.used[UNEXPLAINED_BEGIN]]
        if copy.time + terms.given[0].widest >= now:
            return True
        if len(notes.rows) - notes.used[0] < room:
            return False
        known.used[UNEXPLAINED_BEGIN] += 1
        at, chain = int64(copy.attempt), int64(copy.chain)
        before = find_attempt(known, chain, known.attempts[at].attempt - 1)
        cause = _cause(known, terms, at, before, copy.copies) if before >= 0 else Cause.NONE
        _tell(known, terms, notes, copy, before, cause)
    known.used[UNEXPLAINED_BEGIN] = 0
    known.used[UNEXPLAINED_END] = 0
    return True


@part
def _tell(known: Any, terms: Any, notes: Any, copy: Any, before: int, cause: int) -> None:
    """Report why there is a further copy of an attempt, or that nothing explains it."""
    attempt, since = known.attempts[copy.attempt], copy.since
    seen = Seen(copy.time, copy.slot, copy.offset, copy.actor, known.chains[copy.chain].origin)
    if cause == _TOLD:
        return
    if cause != Cause.NONE:
        attempt.cause = cause
        explain(notes, _COPY, cause, seen, since, NOBODY, attempt.attempt, copy.copies - 1)
        return
    doubt = NOTHING
    if (
        (before < 0 and attempt.attempt > 0)
        or not terms.given[0].send_back
        or not terms.given[0].expire
        or not terms.given[0].restarts
        or (attempt.moved < attempt.reached and _is_about_to_stop(terms, int64(attempt.broker), copy.time))
    ):
        doubt = Doubt.EVIDENCE
    if before >= 0 and known.attempts[before].deliveries > 0:
        # What answered the failure twice may have happened at any time after it.
        since = known.attempts[before].delivered
    violate(notes, int64(copy.claim), seen, since, NOBODY, attempt.attempt, copy.copies - 1, doubt)


@part
def account_original(
    known: Any, terms: Any, notes: Any, chain: int, at: int, producers: int, seen: Any, since: int
) -> None:
    """Account for a second place of a message with count 0: it was stored twice, by its producer or a fallback
    (SB-8).

    Without a fallback, a message that request 36 puts into the retry topic has a count (SB-6).

    ``producers``: the chain of messages that producers delay, -1 without. If the schedule topic delivered it twice,
    this is reported about the broker. Messages with one key that are near each other in one queue are different
    messages that were sent as one batch.
    """
    attempt = known.attempts[at]
    if seen.slot == attempt.slot and abs(seen.offset - attempt.offset) < BATCH:
        known.chains[chain].siblings += 1
        return
    if producers >= 0:
        delayed = find_attempt(known, producers, NOTHING)
        if delayed >= 0 and known.attempts[delayed].copies > 1:
            attempt.cause = known.attempts[delayed].cause
            return
    judge(notes, _COPY)
    is_retry = seen.slot >= 0 and terms.slots[seen.slot].flags & (RETRY_TOPIC | ORDERLY) == RETRY_TOPIC
    if is_retry and attempt.sent > 0 and known.chains[chain].fallbacks == 0:
        violate(notes, _COPY, seen, since, NOBODY, NOTHING, attempt.reached - 1, NOTHING)
        return
    attempt.cause = Cause.SENT_TWICE
    explain(notes, _COPY, Cause.SENT_TWICE, seen, since, NOBODY, NOTHING, attempt.reached - 1)


@part
def _cause(known: Any, terms: Any, at: int, before: int, copies: int) -> Any:
    """Why the failure of attempt ``before`` was answered with that many copies."""
    failed = known.attempts[before]
    copies -= int64(known.attempts[at].repeated)  # what the schedule topic has delivered twice is judged there
    # PQ-13: one call leads to one copy, though it may be cleaned first and fail later (F3).
    if failed.expired > 0 and copies <= failed.deliveries:
        return Cause.TIMEOUT
    if failed.refused > 0:
        return Cause.STORED_BUT_REFUSED
    if failed.given_up > 0:
        return Cause.FAILED_SEND_BACK
    if failed.cause != Cause.NONE:
        return int64(failed.cause)
    if failed.failures >= copies:
        if copies_of(failed) > 1:
            return _TOLD
        how = ended_between(
            terms.ends_actor, terms.ends_time, terms.ends_how, failed.failer, failed.failed, failed.delivered
        )
        if how == CRASHED:
            return Cause.CRASH
        return Cause.SHUTDOWN if how == STOPPED else Cause.REBALANCE
    return Cause.NONE


@part
def _is_replayed(terms: Any, attempt: Any, stage: int, seen: Any, moved: int) -> Any:
    """Whether the schedule topic may have delivered the copy twice, first at ``moved`` if that was not seen."""
    has_moved = stage in (MOVED, REPEATED)
    if has_moved and attempt.unsure_move != 0:
        return True
    if has_moved or (stage == REACHED and not terms.given[0].delay_deliver):
        broker = attempt.broker if attempt.broker >= 0 else (terms.slots[seen.slot].broker if seen.slot >= 0 else -1)
        # Which of several copies comes again cannot be determined: the first one may come again just before it.
        since = attempt.first_moved if attempt.first_moved != ABSENT else moved
        for i in range(len(terms.down)):
            down = terms.down[i]
            # DL-4, DL-7: from the positions in its file, which are the latest ones only after an orderly stop.
            if down.broker == broker and not down.saved and down.since <= seen.time and down.until >= since:
                return True
    is_elsewhere = has_moved and seen.actor != attempt.broker
    if is_elsewhere or (stage == REACHED and terms.given[0].delay_deliver and attempt.moved < attempt.reached):
        # A slave that acts as master moves it to another broker (EscapeBridge#putMessage): from positions that it took
        # over from its master some time ago, of which its master knows nothing when it is back.
        for i in range(len(terms.down)):
            down = terms.down[i]
            is_one = down.broker == attempt.broker or (is_elsewhere and down.broker == seen.actor)
            early = terms.given[0].late if is_elsewhere or down.has_slave else 0
            if is_one and down.since - early <= seen.time <= down.until + terms.given[0].late:
                return True
    return False


@part
def _is_about_to_stop(terms: Any, broker: int, time: int) -> bool:
    """Whether a slave may act as master already: it begins while its master is still stopping, or died before the
    recording says so.
    """
    for i in range(len(terms.down)):
        down = terms.down[i]
        if down.broker == broker and down.since - terms.given[0].late <= time < down.since:
            return True
    return False
