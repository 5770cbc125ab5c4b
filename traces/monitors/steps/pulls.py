"""A process sends pulls to the broker, and the broker answers, one pull after the other (PL-1)."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import hot, int64, part
from ...claims.steps import Misstep
from ...encoding.names import BROADCASTING, ORDERLY
from ...format.kinds import Result
from ..terms import NEVER
from .limits import UNCOUNTED, brought, tell_if_full, tell_if_pulled_unlocked
from .polls import hold, waited
from .state import AT_END, MARKS, SHOWN, SILENCE, UNKNOWN, note_misstep

SOON = 900
"""A failed pull is not repeated sooner, ms: ``pullTimeDelayMillsWhenException`` is 1 s and more (PL-22)."""

HELD = 25_000
"""A pull is held for 15 s and checked every 5 s (PL-13, PL-22): one unanswered for longer was not held, ms."""

LONGEST_PAUSE = 80_000
"""ST-2: ``pullInterval`` is at most 65.535 s; ms."""

PAUSED = 1
"""In ``expected`` for a queue that was not pulled further: it was pulled after all, after a long time."""

COMPACTED = 60_000
"""Brokers compact topics every 15 min, except the file being written: messages younger than this exist, ms."""

POLL = 35_000
"""A pull is answered or given up within this time: ``consumerTimeoutMillisWhenSuspend`` is 30 s (PL-22); ms."""

AGAIN = 120_000
"""Two pulls given up this close together have the same obstacle, ms."""

RENEWED = 23_000
"""A client renews its locks every 20 s (OR-11: ``REBALANCE_LOCK_INTERVAL``); ms."""


@hot
def is_answered(result: Result) -> bool:
    """Whether a request was answered."""
    return result not in (Result.ERROR, Result.FAILED, Result.TIMEOUT)


@part
def pull(t: Any, n: int, offset: int) -> None:
    """The window asks for messages from its position on."""
    line = t.lines[n]
    now = line.last
    line.pulled = 1
    tell_if_full(t, n, offset)
    tell_if_pulled_unlocked(t, n, offset)
    if line.has == 0 and now - line.left_at > SILENCE:
        # PL-1: a thread that stood still has looked before whether the queue was given up, but only once.
        if line.astray or now - line.resumed > SILENCE:
            note_misstep(t, n, Misstep.PULLED_LEFT, line.left_at, offset, UNKNOWN)
        line.astray = 1
    _tell_if_paused(t, n, offset)
    if offset >= 0:
        if line.asked >= 0 and now - line.asked_at < SOON and line.asked == offset:
            note_misstep(t, n, Misstep.ASKED_TWICE, line.asked_at, offset, line.asked)
        begins_later = line.start == AT_END and offset > line.position
        if line.position >= 0 and offset not in (line.position, line.start, line.mended) and not begins_later:
            note_misstep(t, n, Misstep.ELSEWHERE, line.asked_at if line.asked >= 0 else now, offset, line.position)
        line.position, line.start, line.mended = offset, UNKNOWN, UNKNOWN
    else:
        # RB-42: 4.9 asks from -1 if it could not learn where to begin; the answer tells from where it goes on.
        line.late += 1
    line.asked, line.asked_at, line.idle_since = offset, now, NEVER


@part
def _tell_if_paused(t: Any, n: int, offset: int) -> None:
    """Check whether a window with nothing in its cache was not pulled for longer than any ``pullInterval``."""
    line = t.lines[n]
    if line.has != 1 or line.idle_since == NEVER or line.taken < line.found or t.flags[line.slot] & ORDERLY:
        return
    since = line.idle_since
    if line.marks > 0:
        since = max(since, line.mark_at[(line.marks - 1) % MARKS])
    if line.last - since > LONGEST_PAUSE:
        note_misstep(t, n, Misstep.NOT_PULLED_ON, since, offset, int64(PAUSED))


@part
def refuse(t: Any, n: int, offset: int, is_served: bool) -> None:
    """PL-16, PL-23: pulls that are repeatedly refused, whoever sends them, learn of no messages, though some may
    come.
    """
    line = t.lines[n]
    now, queue = line.last, t.refused[line.slot]
    if is_served:
        line.vain_at = queue.since = NEVER
        return
    if line.vain_at == NEVER or now - line.vain > POLL:
        line.vain_at = now
    if queue.since == NEVER or now - queue.last > POLL:
        queue.since = now
    line.vain = queue.last = now
    if now - queue.since > SHOWN:
        line.heard, line.vain_from = now, max(line.vain_from, offset)


@part
def answer(t: Any, n: int, result: Result, offset: int, after: int, low: int, high: int, count: int) -> None:
    """The broker answers: ``count`` messages, the next offset ``after`` them, and that it holds ``low`` to ``high``."""
    line = t.lines[n]
    now = line.last
    if result != Result.FOUND and is_answered(result):
        line.brought = after  # PL-24: even an answer for a window that has ended may set the in-memory offset
        line.unmarked |= after < 0
    if result == Result.OFFSET_ILLEGAL:
        line.illegal = max(after, int64(0))
        is_known = line.end >= 0 or t.terms[0].complete
        if is_known and 0 <= low <= offset <= high and t.flags[line.slot] & BROADCASTING == 0:
            note_misstep(t, n, Misstep.LEGAL, now, offset, high)
    is_other = 0 <= offset != line.asked
    if line.late > 0 and (line.asked < 0 or is_other):
        line.late -= 1
        line.position = UNKNOWN
        # The answer for the previous window may have been taken for this one's, as both have pulled from the same
        # offset (RB-30).
        if line.asked < 0 and result == Result.FOUND:
            line.found += count if count >= 0 else UNCOUNTED
        return
    if line.asked < 0:
        if line.pulled and is_answered(result):
            # An answer whose handling fails is also recorded as an error.
            note_misstep(t, n, Misstep.NOT_ASKED, now, offset, UNKNOWN)
    elif is_other:
        note_misstep(t, n, Misstep.OTHER_ANSWER, line.asked_at, offset, line.asked)
    if line.asked >= 0 and not is_answered(result) and now - line.asked_at > HELD:
        if line.unanswered_at != NEVER and now - line.unanswered_at < AGAIN:
            note_misstep(t, n, Misstep.NOT_ANSWERED, line.unanswered_at, offset, line.asked_at)
        line.unanswered_at = line.asked_at
    began, line.asked = (line.asked_at if line.asked >= 0 else now), UNKNOWN
    served = result in (Result.FOUND, Result.NO_NEW_MESSAGE, Result.NO_MATCHED_MESSAGE)
    # PL-23: a pull that failed is repeated soon; one that is illegal ends the window.
    line.idle_since = now if result != Result.OFFSET_ILLEGAL and line.late == 0 else NEVER
    refuse(t, n, offset, served or result == Result.OFFSET_ILLEGAL)
    if served:
        if line.overdue_at == NEVER and line.renewed_at != NEVER and now - line.renewed_at > RENEWED:
            line.overdue_at = now
        if low < 0:  # not recorded: it is where it was
            low = max(int64(line.beginning), int64(0))
        known = high >= 0 and after >= 0 and offset >= 0
        wrong = known and (low > high or after < offset)
        if result == Result.FOUND:
            # While the broker reads, more may be stored than there was when it looked up the end (PL-19).
            wrong = wrong or (known and (offset >= high or offset < low or count > after - offset))
            line.whole = after - count if known and offset == line.low and count > after - offset else line.whole
        elif count > 0 or (result == Result.NO_NEW_MESSAGE and known and offset > high):
            wrong = True  # an offset beyond the end is illegal
        # PL-19: this is also the answer for a range that is being removed, with the offset to continue at after it.
        is_denied = result == Result.NO_NEW_MESSAGE and known and 0 < offset < high and after == offset
        if not is_denied:
            line.denied_at = NEVER
        elif line.denied_at == NEVER:
            line.denied_at = now
        elif now - line.denied_at > SILENCE:
            note_misstep(t, n, Misstep.DENIED, line.denied_at, offset, high)
        if wrong:
            note_misstep(t, n, Misstep.IMPOSSIBLE, now, offset, after)
        elif known and 0 <= max(count, int64(0)) < after - offset:
            # PL-19: files are just being deleted if the beginning has moved, and more may be gone than it says.
            is_new = offset >= line.end >= 0 and 0 < now - line.told_at < COMPACTED and low == line.beginning
            found = t.missteps[n, Misstep.LEFT_OUT]
            if is_new and found.since == found.time:
                found.time = NEVER
            # If it brings none, older ones may just be removed (PL-19).
            if (result == Result.FOUND and count > 0) or (result == Result.NO_MATCHED_MESSAGE and is_new):
                missing = after - offset - max(count, int64(0))
                note_misstep(t, n, Misstep.LEFT_OUT, line.told_at if is_new else now, offset, missing)
        if known and line.late == 0:
            if high < line.end:
                note_misstep(t, n, Misstep.END_BACK, line.end_at, high, line.end)
            elif low < line.beginning:
                note_misstep(t, n, Misstep.END_BACK, line.end_at, low, line.beginning)
            if high > line.end or low > line.beginning:
                line.end_at = now
            line.end, line.beginning, line.told_at = max(line.end, high), max(line.beginning, low), now
            line.heard = now
        if line.late == 0 and line.has != 0 and (result == Result.FOUND or high <= offset):
            waited(line, began, offset)
        hold(t, n, offset if result == Result.NO_NEW_MESSAGE else UNKNOWN)
        if result == Result.FOUND:
            line.found += count if count >= 0 else UNCOUNTED
            brought(t, n, offset, after, count)
            if line.watched < 0 and known and count > 0 and line.has == 1 and line.late == 0 and not line.cleaned:
                line.watched, line.watched_end, line.awaited, line.overtaken = offset, after, count, NEVER
                line.split, line.split_by = UNKNOWN, 0
        line.led = after if known and after > high else UNKNOWN
        line.position = after if line.has == 1 else UNKNOWN
    elif is_answered(result):
        # More may be stored while the broker reads than there was when it looked up the end, but not less after that.
        if line.late == 0 and offset == line.led and 0 <= high < offset:
            note_misstep(t, n, Misstep.LED_BEYOND, line.told_at, offset, high)
        line.position = UNKNOWN
        line.led = UNKNOWN
        # Whether the broker still has the offset of a pull that it found illegal is not known.
        line.late += 1
