"""Pages: what is known about every single message of every queue, found by (slot, offset).

Offsets of a queue are dense, but may begin anywhere, and jump. They are therefore kept in pages of 256, and a hash
table finds the page for (slot, page number). The page found last is remembered with the slot.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from ....machine_code.compiled import hot, int64, part
from ....machine_code.pair_table import enter, value_of


class Flag(enum.IntFlag):
    """What is known about a message."""

    DELIVERED = 1  # a listener was called
    RUNNING = 2  # and is not known to have returned
    OK = 4  # a listener has succeeded, now or at an earlier delivery
    FAILED = 8  # the last delivery failed
    SENT_BACK = 16  # a retry copy is stored
    REFUSED = 32  # it could not be sent back
    EXPIRED = 64  # the client cleaned it while its listener ran
    SUSPENDED = 128  # an orderly listener puts it off
    DROPPED = 256  # it failed in a group that never retries (G5)
    RETURNED = 512  # the listener returned, but its result was ignored
    ELSEWHERE = 1024  # its fate is reported by the monitor by message
    DONE = 2048  # the offset may pass it: a listener succeeded, a retry is stored, or it is dropped
    SHARED = 4096  # more than one process was given it


LASTING = int(Flag.DELIVERED | Flag.OK | Flag.SENT_BACK | Flag.DROPPED | Flag.ELSEWHERE | Flag.DONE | Flag.SHARED)
"""Flags that another delivery does not remove."""

CELL = np.dtype([("flags", np.int32), ("actor", np.int32), ("time", np.int64)])
"""What is known about one message: flags (:class:`Flag`), its last owner, and when, ms."""

BITS = 8
SIZE = 1 << BITS
"""Number of offsets in a page."""

_MASK = SIZE - 1
_NEAR = 256
"""Number of missing pages up to which they are looked up one by one."""


def new_pages(count: int) -> Any:
    """Room for that many pages, all empty."""
    return np.zeros(count * SIZE, CELL)


@hot
def find(s: Any, q: int, offset: int) -> Any:
    """The position of a message's cell; -1 if its page does not exist."""
    page = offset >> BITS
    slot = s.slots[q]
    if slot.page != page or slot.page_at < 0:
        at = value_of(s.places, q, page)
        if at < 0:
            return at
        slot.page = page
        slot.page_at = at
    return slot.page_at * SIZE + (offset & _MASK)


@hot
def take(s: Any, q: int, offset: int) -> Any:
    """The position of a message's cell, whose page is made if it does not exist."""
    at = find(s, q, offset)
    if at >= 0:
        return at
    enter(s.places, q, offset >> BITS, s.rooms[0].pages)
    s.rooms[0].pages += 1
    return find(s, q, offset)


@part
def skip_missing(s: Any, q: int, offset: int, end: int) -> Any:
    """The first offset at or after ``offset`` in an existing page, or ``end`` if that comes first."""
    if find(s, q, offset) >= 0:
        return offset
    page, last = (offset >> BITS) + 1, end >> BITS
    for near in range(page, min(last, page + _NEAR) + 1):
        if value_of(s.places, q, near) >= 0:
            return min(near << BITS, end)
    if last > page + _NEAR:
        # One pass over all pages: an offset may be as far away as a number can be.
        for entry in range(len(s.places)):
            place = s.places[entry]
            if place.one == q and page <= place.other < last:
                last = int64(place.other)
        return min(last << BITS, end)
    return end
