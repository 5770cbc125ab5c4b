"""Listeners are given messages, and return; then the messages leave the window, or their results are discarded."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.settings import REBALANCE_PERIOD
from ...claims.steps import Misstep
from ...encoding.names import DEAD_LETTER_TOPIC, ORDERLY, RETRY_TOPIC
from ...format.kinds import Path, Result
from ...format.schema import ABSENT
from ..terms import NEVER
from .limits import sent_to_broker, split
from .offsets import tell_if_forgotten
from .state import APART, LATE, MARKS, SECOND, SHORTEST_PAUSE, SILENCE, UNKNOWN, add, drop, find, note_misstep

_FARTHEST = 4_096
_COPIES = RETRY_TOPIC | DEAD_LETTER_TOPIC

EXPIRED_LEVEL = 3
"""PQ-9: the delay level of a message that took too long, whatever its count (``ProcessQueue#cleanExpiredMsg``)."""

RESUBMITTED = 4_900
"""CC-12: what could not be sent back comes after 5 s (``submitConsumeRequestLater``), by coarse clocks; ms."""


@part
def _came_whole(t: Any, n: int) -> None:
    """PL-26: the first answer to a window had a batch from its beginning, and offsets for less of it."""
    answer = t.missteps[n, Misstep.IMPOSSIBLE]
    if answer.offset == t.lines[n].low:
        answer.time = NEVER


@part
def deliver(t: Any, n: int, offset: int, after: int, count: int, origin: int, attempt: int) -> None:
    """A listener is called with ``count`` messages, including this one, up to the one before ``after``."""
    line = t.lines[n]
    now = line.last
    if count == 1 and after >= 0 and after != offset + 1:
        note_misstep(t, n, Misstep.OTHER_NEXT, now, offset, after)
    if line.locked != NEVER and t.flags[line.slot] & ORDERLY:
        # OR-9: a refusal alone does not affect the window, which continues until the round for all locks, or its end.
        is_lost = max(line.lost_at, line.given_back) > line.locked and line.has == 1
        # OR-5: for a client, a lock is over after half of the time for which the broker keeps it.
        is_asked = line.renewed_at - line.locked > APART or (line.renews > 1 and now - line.resumed > SILENCE)
        is_over = is_asked and now - line.locked > t.terms[0].lock_life // 2 + SILENCE
        if is_lost and now - line.unlocked > SILENCE and now - line.resumed > SILENCE:
            note_misstep(t, n, Misstep.LOCK_OVER, line.unlocked, offset, UNKNOWN)
        elif is_over:
            note_misstep(t, n, Misstep.LOCK_OVER, line.locked, offset, UNKNOWN)
    if count > 1:
        line.batched = 1
        known = after < 0
        for place in range(MARKS):
            known = known or line.batch[place] == after
        if not known:
            if offset > after - count:
                note_misstep(t, n, Misstep.OTHER_BATCH, now, offset, after)
            line.batch[line.batches % MARKS] = after
            line.batches += 1
    if not t.judged[Misstep.RETURNED_TWICE]:
        return
    is_alone = count == 1 or (count > 1 and after != line.call)
    if is_alone and line.calls > 0 and line.has == 1 and t.flags[line.slot] & ORDERLY:
        note_misstep(t, n, Misstep.TWO_AT_ONCE, now, offset, line.called)
    if count > 1 and after >= 0:
        # The messages of one call are given in the order of their offsets.
        goes_on = after == line.call and offset > line.called
        if goes_on and (count != line.call_size or line.call_given >= count):
            note_misstep(t, n, Misstep.OTHER_BATCH, now, offset, after)
        line.call_size, line.call_given = count, line.call_given + 1 if goes_on else 1
    line.calls, line.call, line.called = line.calls + 1, after, offset
    if offset == line.unsent and line.has == 1:
        if 0 <= now - line.unsent_at < RESUBMITTED:
            note_misstep(t, n, Misstep.AGAIN_AT_ONCE, line.unsent_at, offset, UNKNOWN)
        if attempt >= 0 and line.unsent_count >= 0 and attempt != line.unsent_count + 1:
            note_misstep(t, n, Misstep.AGAIN_UNCOUNTED, line.unsent_at, offset, attempt)
        line.unsent = UNKNOWN
    at = find(t, n, offset)
    is_new = at < 0
    if is_new:
        is_first = t.terms[0].leaving and line.fresh and line.has == 1 and offset >= line.low
        if is_first and attempt > 0 and t.flags[line.slot] & _COPIES == 0:
            note_misstep(t, n, Misstep.GIVEN_COUNT, now, offset, attempt)
        is_below = 0 <= offset < line.low and line.has == 1 and line.fresh and line.mended < 0 and not line.cleaned
        if is_below and 0 <= line.whole <= offset:
            _came_whole(t, n)
        elif is_below and line.marks > 0 and now - line.mark_at[(line.marks - 1) % MARKS] > APART:
            note_misstep(t, n, Misstep.BELOW_WINDOW, now, offset, line.low)
        at = add(t, n, offset)
        item = t.items[at]
        item.running = item.earlier = item.expired = item.left = item.sent = 0
        item.passed = item.put_off = NEVER
        item.counted = UNKNOWN
        line.given += 1
        if line.given > line.found > 0 and line.fresh and t.terms[0].leaving:
            note_misstep(t, n, Misstep.NOT_BROUGHT, now, offset, line.found)
    item = t.items[at]
    if is_new or item.window != line.window:
        item.given = now
        split(t, n, offset, after, count)
        handed(t, n, offset)
    if item.window != line.window:
        item.earlier = item.running
    elif item.put_off != NEVER:
        # Of a recorder of whole seconds, nobody knows how long a pause within one was.
        if 0 <= now - item.put_off < SHORTEST_PAUSE and now % SECOND:
            note_misstep(t, n, Misstep.TOO_SOON, item.put_off, offset, UNKNOWN)
        if 0 <= attempt <= item.counted and not line.manual:
            note_misstep(t, n, Misstep.PUT_OFF_UNCOUNTED, item.put_off, offset, attempt)
    item.put_off, item.counted, item.wanted, item.alone = NEVER, UNKNOWN, ABSENT, count == 1
    item.running += 1
    item.call = after if count > 1 else UNKNOWN
    item.returned = item.left = item.well = 0
    item.origin, item.attempt, item.window, item.ended = origin, attempt, line.window, NEVER


@part
def handed(t: Any, n: int, offset: int) -> None:
    """A message of this window is given for the first time: one thread queues all, pull by pull."""
    line = t.lines[n]
    if line.watched < 0:
        return
    if line.watched <= offset < line.watched_end:
        line.awaited -= 1
        if line.awaited <= 0:
            line.watched = UNKNOWN
    elif offset >= line.watched_end and line.overtaken == NEVER:
        line.overtaken = line.last
    tell_if_not_handed(t, n)


@part
def tell_if_not_handed(t: Any, n: int) -> None:
    """Check whether messages of a pull are kept from the listeners while those of later ones are given."""
    line = t.lines[n]
    is_late = line.watched >= 0 and line.overtaken != NEVER and line.last - max(line.overtaken, line.resumed) > LATE
    if is_late and line.has == 1 and not line.cleaned and t.flags[line.slot] & ORDERLY == 0:
        note_misstep(t, n, Misstep.NOT_HANDED, line.overtaken, line.watched, line.awaited)
        line.watched = UNKNOWN


@part
def name_it(t: Any, n: int, item: Any, origin: int, attempt: int) -> None:
    """A result, the discarding of one, or a send-back names the message that a listener was given, with its count."""
    if origin != 0 and item.origin != 0 and origin != item.origin:
        note_misstep(t, n, Misstep.OTHER_MESSAGE, t.lines[n].last, item.offset, UNKNOWN)
    if attempt >= 0 and item.attempt >= 0 and attempt != item.attempt:
        note_misstep(t, n, Misstep.OTHER_COUNT, t.lines[n].last, item.offset, item.attempt)


@part
def result(t: Any, n: int, offset: int, status: Result, origin: int, attempt: int, level: int) -> None:
    """A listener returns and, if it failed, requests a delay ``level``; ABSENT if it is not recorded."""
    line = t.lines[n]
    now = line.last
    by_hand = status in (Result.COMMIT, Result.ROLLBACK)
    at = find(t, n, offset)
    if at < 0:
        # A listener that commits manually reports the status of messages that it was given before.
        if line.fresh and not by_hand:
            note_misstep(t, n, Misstep.RETURNED_TWICE, now, offset, UNKNOWN)
        return
    item = t.items[at]
    line.manual = line.manual or by_hand
    if item.running <= 0 and by_hand:
        if status == Result.ROLLBACK and item.returned:
            item.ended = NEVER  # OR-7: with its batch, everything that was not committed before is rolled back
        return
    if item.running <= 0:
        note_misstep(t, n, Misstep.RETURNED_TWICE, now, offset, UNKNOWN)
        return
    item.running -= 1
    item.returned, item.well = 1, status == Result.OK
    if item.call >= 0:
        # Some recorders report what the call returned for each of its messages.
        line.each_told |= line.told_call == item.call and line.told_well != item.well
        line.told_call, line.told_well = item.call, item.well
    if item.window == line.window and line.calls > 0:
        line.calls -= 1
        if line.kept != NEVER:
            line.kept = now + REBALANCE_PERIOD  # OR-9: the next pass unlocks it
    name_it(t, n, item, origin, attempt)
    if item.running > 0:
        return
    is_put_off = status in (Result.SUSPEND, Result.EXCEPTION, Result.NULL, Result.ROLLBACK)
    if is_put_off and t.flags[line.slot] & ORDERLY:
        item.put_off = now
        # OR-8: of several messages, those that were dead-lettered meanwhile come again unchanged.
        item.counted = item.attempt if item.alone and status != Result.ROLLBACK else UNKNOWN
    item.wanted = level
    if not t.terms[0].leaving or (item.left and item.earlier == 0):
        line.strays += 1
        drop(t, at)
        return
    is_late = item.window != line.window or (line.has == 0 and now - line.left_at > APART)
    if is_late or (status == Result.OK and line.has == 1 and not item.expired):
        item.ended = now


@part
def removed(t: Any, n: int, offset: int, after: int) -> None:
    """A message leaves the window, whose low-water mark is then ``after``."""
    line = t.lines[n]
    now = line.last
    line.taken += 1
    at = find(t, n, offset)
    if at < 0:
        if line.fresh:
            note_misstep(t, n, Misstep.NOT_RETURNED, now, offset, UNKNOWN)
    else:
        item = t.items[at]
        if item.window == line.window and line.held > 0:
            line.held -= 1
        if not item.returned and not (item.expired and (item.sent or not t.terms[0].send_back)):
            note_misstep(t, n, Misstep.NOT_RETURNED, now, offset, UNKNOWN)
        if item.passed != NEVER and now - item.passed > APART and now - line.resumed > APART:
            note_misstep(t, n, Misstep.NOT_LEFT, item.passed, offset, line.low)
        is_over = line.left_at != NEVER and (line.has == 0 or line.window != item.window)
        if is_over and item.ended - line.left_at > APART and t.flags[line.slot] & ORDERLY == 0:
            note_misstep(t, n, Misstep.NOT_DISCARDED, item.ended, offset, UNKNOWN)
        if item.running > 0:
            item.left, item.passed, item.ended = 1, NEVER, NEVER
        else:
            drop(t, at)
    if after < 0:
        line.unmarked = 1
        return
    if after == offset:
        note_misstep(t, n, Misstep.MARK_LEFT, now, offset, after)
    if line.owed == line.idle:  # nothing is certainly owed: a manual commit takes several messages
        line.owed_at = now
    tell_if_forgotten(t, n, offset)
    line.owed += 1
    if after <= line.low:
        line.idle += 1
    if line.low >= 0 and after > line.low:
        for passed in range(line.low, min(after, line.low + _FARTHEST)):
            other = find(t, n, passed)
            if other >= 0 and not t.items[other].left and t.items[other].window == line.window:
                t.items[other].passed = now
                if not t.items[other].returned and not t.items[other].expired:
                    note_misstep(t, n, Misstep.NOT_RETURNED, now, passed, UNKNOWN)
    line.low = max(line.low, after)
    # ``ProcessQueue#commit``: after the last of its messages, even if filtered ones lie between it and the next (OR-7).
    if t.flags[line.slot] & ORDERLY:
        if line.marks > 1 and line.mark[(line.marks - 1) % MARKS] == after:
            line.marks -= 2
        line.mark[line.marks % MARKS], line.mark_at[line.marks % MARKS] = offset + 1, now
        line.marks += 1
    # A thread may set the in-memory offset after its window has ended, so marks outlive it.
    line.mark[line.marks % MARKS], line.mark_at[line.marks % MARKS] = after, now
    line.marks += 1


@part
def discarded(t: Any, n: int, offset: int, origin: int, attempt: int) -> None:
    """A listener's result is ignored, as the window has ended."""
    line = t.lines[n]
    at = find(t, n, offset)
    excused = line.has != 1 or t.flags[line.slot] & ORDERLY or line.cleaned or not t.terms[0].leaving
    known = at >= 0 and (t.items[at].returned or t.items[at].running <= 0)
    if not known and line.strays > 0:
        line.strays -= 1
    elif not known and line.fresh and t.flags[line.slot] & ORDERLY == 0:
        note_misstep(t, n, Misstep.NEVER_RETURNED, line.last, offset, UNKNOWN)
    if at >= 0:
        item = t.items[at]
        name_it(t, n, item, origin, attempt)
        excused = excused or item.expired or item.left or item.earlier > 0 or item.window != line.window
        # CC-9: what an earlier window ignores does not take the message out of this one, where it has also returned.
        stays = item.earlier > 0 and item.window == line.window and line.has == 1 and not item.left
        item.earlier = max(item.earlier - 1, int64(0))
        if item.running <= 0 and not stays:
            drop(t, at)
    if not excused:
        note_misstep(t, n, Misstep.KEPT, line.last, offset, UNKNOWN)


@part
def send_back(t: Any, n: int, offset: int, status: Result, path: Path, attempt: int, level: int) -> None:
    """A message goes back to the broker with a requested delay ``level``, or this fails."""
    line = t.lines[n]
    at = find(t, n, offset)
    if at >= 0 and t.items[at].earlier == 0:
        name_it(t, n, t.items[at], int64(0), attempt)
    if at >= 0 and path in (Path.REQUEST, Path.EXPIRED) and t.items[at].earlier == 0:
        wanted = t.items[at].wanted if path == Path.REQUEST else EXPIRED_LEVEL
        if ABSENT not in (level, wanted) and level != wanted:
            note_misstep(t, n, Misstep.OTHER_LEVEL, line.last, offset, wanted)
        is_judged = path == Path.REQUEST and line.each_told and t.items[at].running <= 0
        if is_judged and t.items[at].well and t.items[at].call >= 0:
            note_misstep(t, n, Misstep.SENT_FINISHED, line.last, offset, UNKNOWN)
    if path != Path.EXPIRED:
        sent_to_broker(t, n, offset)
    if status != Result.OK:
        line.unmarked = 1
        if path == Path.FALLBACK and t.flags[line.slot] & ORDERLY == 0:
            line.unsent, line.unsent_at, line.unsent_count = offset, line.last, attempt
    elif at >= 0:
        item = t.items[at]
        item.sent = 1
        if path == Path.EXPIRED and item.expired and item.running > 0 and not item.left and item.window == line.window:
            item.passed = line.last  # PQ-9: it leaves the window now, and not when its listener returns
    if status == Result.OK and offset == line.unsent:
        line.unsent = UNKNOWN


@part
def expire(t: Any, n: int, offset: int) -> None:
    """A message is removed from the window, because its listener runs for too long (PQ-9)."""
    line = t.lines[n]
    if t.flags[line.slot] & ORDERLY:
        note_misstep(t, n, Misstep.CLEANED_ORDERLY, line.last, offset, UNKNOWN)
    first = find(t, n, line.low)
    if offset > line.low and first >= 0 and line.has == 1 and line.marks > 0:
        one = t.items[first]
        if one.window == line.window and not one.left and not one.expired:
            note_misstep(t, n, Misstep.CLEANED_BEHIND, one.given, offset, line.low)
    line.cleaned = 1
    at = find(t, n, offset)
    if at >= 0:
        item = t.items[at]
        if item.window == t.lines[n].window and t.lines[n].last - item.given < t.terms[0].timeout - APART:
            note_misstep(t, n, Misstep.EXPIRED_EARLY, item.given, offset, UNKNOWN)
        item.expired = 1


@part
def waits_for_commit(t: Any, line: Any) -> Any:
    """OR-6: whether a listener may be one that commits manually: it was seen to, or nothing has left so far."""
    return t.flags[line.slot] & ORDERLY != 0 and (line.manual or line.marks == 0)
