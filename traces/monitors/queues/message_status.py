"""Statuses: what has become of every message of a queue when the trace ends.

Messages of ordinary topics are counted: copies in retry and dead-letter topics are followed by the monitor by message,
as is everything that has left its place, see :mod:`..messages.departures`.
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, entry, int64, part
from ...encoding.names import BROADCASTING, DEAD_LETTER_TOPIC, OF_A_TOPIC, RETRY_TOPIC
from ...engine.findings import Note
from ...format.message_status import MessageStatus
from ..notes import NO_CLAIM, note
from .commits import ROOM
from .ownership import ended, window_of
from .pages import BITS, SIZE, Flag, find, skip_missing
from .queue_state import UNKNOWN

_TOLD_ELSEWHERE = constant(-1)
_COPIES = RETRY_TOPIC | DEAD_LETTER_TOPIC | OF_A_TOPIC


@part
def _row(s: Any, q: int, status: int, offset: int, until: int, actor: int, since: int, time: int) -> None:
    row = s.rows[note(s, NO_CLAIM, Note.CHAIN, q, time)]
    row.offset, row.until, row.value, row.actor, row.since = offset, until, status, actor, since


@entry
def of_pages(s: Any, slots: Any, pages: Any, places: Any, start: int, statuses: Any) -> Any:
    """Statuses of delivered messages, page by page; returns the page at which rows ran out, or the end."""
    for n in range(start, len(slots)):
        if s.used[0] + ROOM + SIZE > len(s.rows):
            return n
        q = slots[n]
        if s.slots[q].flags & _COPIES:
            continue
        run, begin, actor, since, time = _TOLD_ELSEWHERE, 0, UNKNOWN, 0, 0
        well = 0
        for at in range(SIZE):
            offset = (pages[n] << BITS) + at
            cell = s.cells[places[n] * SIZE + at]
            flags = int64(cell.flags)
            if run < 0 and flags & (Flag.OK | Flag.ELSEWHERE) == Flag.OK:
                # Most messages are like this. All others are worth a call.
                well += 1
                continue
            status = _status(s, q, flags, int64(cell.actor), cell.time, offset)
            if status >= 0:
                statuses[q, status] += 1
            # A message that waits for its retry has a row of the monitor by message.
            telling = (
                status
                if status > MessageStatus.PENDING_RETRY and status != MessageStatus.NOT_OBSERVABLE
                else _TOLD_ELSEWHERE
            )
            if run >= 0 and (telling != run or cell.actor != actor):
                _row(s, q, run, begin, offset, actor, since, time)
                run = _TOLD_ELSEWHERE
            if telling >= 0:
                if run < 0:
                    run, begin, actor, since = telling, offset, int64(cell.actor), cell.time
                time = cell.time
        statuses[q, MessageStatus.ACKNOWLEDGED] += well
        if run >= 0:
            _row(s, q, run, begin, (pages[n] + 1) << BITS, actor, since, time)
    return len(slots)


@part
def _status(s: Any, q: int, flags: int, actor: int, time: int, offset: int) -> Any:
    """The status of one message; -1 if it is reported elsewhere, or nothing is known about it."""
    slot, terms = s.slots[q], s.terms[0]
    if flags & Flag.ELSEWHERE or flags == 0:
        return _TOLD_ELSEWHERE
    if flags & Flag.OK:
        return MessageStatus.ACKNOWLEDGED
    if flags & Flag.DROPPED:
        return MessageStatus.DROPPED
    if flags & Flag.DELIVERED == 0 or flags & Flag.SENT_BACK or not terms.result:
        return MessageStatus.NOT_OBSERVABLE
    if flags & Flag.EXPIRED and (not terms.send_back or slot.flags & BROADCASTING):
        return MessageStatus.NOT_OBSERVABLE
    if slot.stored > offset:
        return MessageStatus.LOST
    if flags & Flag.RUNNING and not ended(s, q, actor, time, terms.end):
        w = window_of(s, q, actor)
        if w < 0 or not terms.assign or s.windows[q, w].until >= terms.end:
            return MessageStatus.IN_LISTENER
    return MessageStatus.PENDING_RETRY if flags & Flag.FAILED and flags & Flag.RETURNED == 0 else MessageStatus.WAITING


@entry
def of_passed(s: Any, start: int, count: int, statuses: Any) -> Any:
    """What became of messages passed undelivered, from range ``start``; returns the same as :func:`of_pages`."""
    for n in range(start, count):
        item = s.past[n]
        q = item.slot
        if s.slots[q].flags & _COPIES:
            continue
        if not _undelivered_runs(s, q, item, item.status, statuses):
            return n
    return count


@part
def _undelivered_runs(s: Any, q: int, item: Any, status: int, statuses: Any) -> bool:
    """Report the undelivered offsets of a range, which is shortened accordingly; returns False if rows run out."""
    slot, terms = s.slots[q], s.terms[0]
    while item.begin < item.end:
        if s.used[0] + ROOM > len(s.rows):
            return False
        end = item.begin
        what = status
        if status == MessageStatus.LOST and item.begin >= slot.stored:
            what = MessageStatus.WAITING
        while end < item.end and not (what == MessageStatus.LOST and end >= slot.stored):
            there = skip_missing(s, q, end, item.end)
            if there != end:
                end = min(there, item.end)
                if what == MessageStatus.LOST:
                    end = min(end, slot.stored)
            elif s.cells[find(s, q, end)].flags == 0:
                end += 1
            else:
                break
        if end > item.begin:
            statuses[q, what] += end - item.begin
            _row(s, q, what, item.begin, end, UNKNOWN, terms.begin, terms.end)
            item.begin = end
        else:
            item.begin += 1
    return True


@entry
def of_waiting(s: Any, start: int, count: int, statuses: Any) -> Any:
    """Statuses of messages that the low offsets have not reached, from slot ``start``; returns the same as
    :func:`of_pages`.

    For a partly filtered range it is known how many messages wait, not which ones.
    """
    for q in range(start, count):
        slot = s.slots[q]
        if slot.low < 0 or s.slots[q].flags & _COPIES:
            continue
        begin = slot.low
        offset = slot.low
        while offset < slot.log_end:
            if s.used[0] + ROOM > len(s.rows):
                _waits(s, q, begin, offset, statuses)
                slot.low = offset
                return q
            at = slot.ranges
            if at >= 0 and s.ranges[at].begin <= offset:
                _waits(s, q, begin, offset, statuses)
                offset = max(offset, _of_range(s, q, at, offset, statuses))
                begin = offset
                slot.ranges = s.ranges[at].next
                slot.low = offset
                continue
            there = skip_missing(s, q, offset, slot.log_end)
            if there != offset:
                offset = min(there, slot.log_end)
                if at >= 0:
                    offset = min(offset, s.ranges[at].begin)
            elif s.cells[find(s, q, offset)].flags == 0:
                offset += 1
            else:
                _waits(s, q, begin, offset, statuses)
                offset += 1
                begin = offset
        _waits(s, q, begin, offset, statuses)
        slot.low = max(slot.low, offset)
    return count


@part
def _waits(s: Any, q: int, begin: int, end: int, statuses: Any) -> None:
    if end > begin:
        statuses[q, MessageStatus.WAITING] += end - begin
        _row(s, q, MessageStatus.WAITING, begin, end, UNKNOWN, s.slots[q].pulled, s.terms[0].end)


@part
def _of_range(s: Any, q: int, at: int, offset: int, statuses: Any) -> Any:
    item = s.ranges[at]
    missing = 0
    each = offset
    while each < item.end:
        there = skip_missing(s, q, each, item.end)
        missing += there - each
        each = there
        if each < item.end:
            missing += s.cells[find(s, q, each)].flags == 0
            each += 1
    if item.left < 0:
        statuses[q, MessageStatus.NOT_OBSERVABLE] += missing
    else:
        waiting = min(missing, item.left)
        statuses[q, MessageStatus.WAITING] += waiting
        statuses[q, MessageStatus.FILTERED] += missing - waiting
    return item.end
