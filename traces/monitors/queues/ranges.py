"""Ranges of offsets: what the broker filtered out, and how far everything is finished.

A pull answer with fewer messages than the broker scanned shows that the others were filtered, though not which ones;
once all received messages were delivered, the rest is known. The *low* offset of a queue thus moves over finished
messages and over filtered ones (PQ-2, FI-3), up to the first message that something keeps from being finished.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine_code.compiled import constant, hot, part
from ...claims.obligations import Blocked
from ...format.message_status import MessageStatus
from .pages import Flag, find, skip_missing
from .queue_state import UNKNOWN

UNCOUNTED = constant(-2)
"""Instead of the number of messages of a range that are still to come: their number is not known."""

RANGE = np.dtype(
    [
        ("begin", np.int64),
        ("end", np.int64),  # excluded
        ("count", np.int64),  # number of its messages that are for the client
        ("left", np.int64),  # number of those that are not delivered yet
        ("next", np.int64),  # position of the next range of the queue; UNKNOWN without
    ]
)
"""A range that the broker scanned, with fewer messages than offsets. Ranges of a queue do not overlap."""

PASSED = np.dtype([("slot", np.int64), ("status", np.int64), ("begin", np.int64), ("end", np.int64)])
"""A range that the low offset passed; its undelivered messages have this status."""


@part
def add_range(s: Any, q: int, begin: int, end: int, count: int) -> None:
    """Record that only ``count`` messages of ``begin`` … ``end`` (excluded) came; UNCOUNTED if that is not known."""
    slot = s.slots[q]
    if end <= slot.low:
        return
    tail = slot.last_range
    if tail >= 0 and s.ranges[tail].end > begin:
        _make_room(s, q, begin, end)
        tail = slot.last_range
    if tail >= 0 and count == 0 and s.ranges[tail].count == 0 and s.ranges[tail].end == begin:
        s.ranges[tail].end = end
        return
    left = count
    if count > 0:
        left = max(count - (end - begin - undelivered(s, q, begin, end)), 0)
    new = _new_range(s)
    item = s.ranges[new]
    item.begin, item.end, item.count, item.left, item.next = begin, end, count, left, UNKNOWN
    before, after = UNKNOWN, slot.ranges
    if tail >= 0 and s.ranges[tail].end <= begin:
        before, after = tail, UNKNOWN
    while after >= 0 and s.ranges[after].begin < begin:
        before, after = after, s.ranges[after].next
    item.next = after
    if before < 0:
        slot.ranges = new
    else:
        s.ranges[before].next = new
    if after < 0:
        slot.last_range = new


@part
def _new_range(s: Any) -> Any:
    free = s.rooms[0].free_range
    if free >= 0:
        s.rooms[0].free_range = s.ranges[free].next
        return free
    s.rooms[0].ranges += 1
    return s.rooms[0].ranges - 1


@part
def _make_room(s: Any, q: int, begin: int, end: int) -> None:
    """Remove what is known about ``begin`` … ``end`` from older ranges: the queue was pulled from there again."""
    slot = s.slots[q]
    before, at = UNKNOWN, slot.ranges
    while at >= 0:
        item = s.ranges[at]
        after = item.next
        if item.begin < begin < item.end:
            item.end = begin
            if item.count != 0:
                item.left = UNCOUNTED
        elif begin <= item.begin < end < item.end:
            item.begin = end
            if item.count != 0:
                item.left = UNCOUNTED
        if begin <= item.begin and item.end <= end:
            if before < 0:
                slot.ranges = after
            else:
                s.ranges[before].next = after
            if after < 0:
                slot.last_range = before
            item.next = s.rooms[0].free_range
            s.rooms[0].free_range = at
        else:
            before = at
        at = after


@hot
def has_come(s: Any, q: int, offset: int) -> bool:
    """Record that a message was first delivered; returns whether this shows what was filtered around it."""
    at = s.slots[q].ranges
    while at >= 0 and s.ranges[at].begin <= offset:
        item = s.ranges[at]
        if offset < item.end:
            if item.left > 0:
                item.left -= 1
                if item.left == 0 and item.begin <= s.slots[q].high:
                    s.slots[q].high = max(s.slots[q].high, item.end)
                    return True
            return False
        at = item.next
    return False


@hot
def advance(s: Any, q: int, time: int) -> None:
    """Move the low offset of a queue over everything that is finished or filtered."""
    slot = s.slots[q]
    offset = slot.low
    while True:
        at = slot.ranges
        rest = False
        if at >= 0 and s.ranges[at].begin <= offset:
            item = s.ranges[at]
            if item.count == 0 or item.end <= offset:
                offset = max(offset, item.end)
                drop_first(s, q, MessageStatus.FILTERED)
                continue
            rest = item.left == 0
        at = find(s, q, offset)
        flags = s.cells[at].flags if at >= 0 else 0
        if flags & Flag.DONE == 0 and (flags & Flag.DELIVERED or not rest):
            break
        offset = offset + 1 if at >= 0 else skip_missing(s, q, offset, s.ranges[slot.ranges].end)
    set_low(slot, offset, time)


@hot
def set_low(slot: Any, offset: int, time: int) -> None:
    """Set the low offset."""
    slot.low = offset
    slot.high = max(slot.high, offset)


@part
def drop_first(s: Any, q: int, status: int) -> None:
    """The first range of a queue is passed."""
    slot = s.slots[q]
    at = slot.ranges
    item = s.ranges[at]
    pass_range(s, q, item.begin, item.end, status)
    slot.ranges = item.next
    if item.next < 0:
        slot.last_range = UNKNOWN
    item.next = s.rooms[0].free_range
    s.rooms[0].free_range = at


@part
def pass_range(s: Any, q: int, begin: int, end: int, status: int) -> None:
    """Record the status of the messages of a range that are never delivered."""
    slot = s.slots[q]
    if slot.past >= 0:
        last = s.past[slot.past]
        if last.status == status and last.end == begin:
            last.end = end
            return
    at = s.rooms[0].past
    s.rooms[0].past += 1
    slot.past = at
    item = s.past[at]
    item.slot, item.status, item.begin, item.end = q, status, begin, end


@part
def undelivered(s: Any, q: int, begin: int, end: int) -> Any:
    """How many offsets of a range were never delivered."""
    count = end - begin
    offset = begin
    while offset < end:
        there = skip_missing(s, q, offset, end)
        if there == offset:
            if s.cells[find(s, q, offset)].flags & Flag.DELIVERED:
                count -= 1
            offset += 1
        else:
            offset = there
    return count


@hot
def blocked_by(s: Any, q: int) -> Any:
    """What keeps the lowest unfinished message of a queue from being finished, see :class:`Blocked`."""
    slot = s.slots[q]
    if slot.low < 0:
        return Blocked.NOTHING
    at = find(s, q, slot.low)
    flags = s.cells[at].flags if at >= 0 else 0
    if flags & (Flag.DONE | Flag.EXPIRED):
        return Blocked.NOTHING
    if flags & Flag.DELIVERED == 0:
        # If the beginning was not seen, or the filtered offsets are not known, the message may not be expected to come.
        first = slot.ranges
        unknown = first >= 0 and s.ranges[first].begin <= slot.low and s.ranges[first].left == UNCOUNTED
        return Blocked.NOTHING if unknown or not slot.sure else Blocked.WAITING
    if flags & Flag.RUNNING:
        return Blocked.RUNNING
    if flags & (Flag.FAILED | Flag.REFUSED):
        return Blocked.FAILED
    return Blocked.SUSPENDED if flags & Flag.SUSPENDED else Blocked.RETURNED


@hot
def keeper_of(s: Any, q: int) -> Any:
    """The actor that was last given the lowest unfinished message; UNKNOWN without one."""
    slot = s.slots[q]
    at = find(s, q, slot.low) if slot.low >= 0 else UNKNOWN
    if at < 0 or s.cells[at].flags & Flag.DELIVERED == 0:
        return UNKNOWN
    return s.cells[at].actor
