"""Pages: what is known of every single message of every queue, found by (slot, offset).

Offsets of a queue lie close together, but may begin anywhere, and jump. So they are kept in pages of 256, and a hash
table finds the page of (slot, page number). A page once found is remembered with the slot.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..machine_code.compiled import hot, int64, part
from ..machine_code.pair_table import enter, value_of

DELIVERED = 1  # a listener was called
RUNNING = 2  # and has not returned, as far as is known
OK = 4  # a listener has succeeded, now or at an earlier delivery
FAILED = 8  # the last delivery failed
SENT_BACK = 16  # a retry copy is stored
REFUSED = 32  # it could not be sent back
EXPIRED = 64  # the client cleaned it while its listener ran
SUSPENDED = 128  # an orderly listener puts it off
DROPPED = 256  # it failed where nothing is tried again (G5)
RETURNED = 512  # the listener came back, but nothing was made of what it said
ELSEWHERE = 1024  # what became of it is told by the monitor of messages
DONE = 2048  # the offset may pass it: a listener succeeded, a retry is stored, or it is dropped
SHARED = 4096  # more than one process was given it
"""DELIVERED … SHARED: flags of a cell."""

LASTING = DELIVERED | OK | SENT_BACK | DROPPED | ELSEWHERE | DONE | SHARED
"""Flags that another delivery does not take away."""

CELL = np.dtype([("flags", np.int32), ("actor", np.int32), ("time", np.int64)])
"""What is known of one message: flags, who had it last, and when, ms."""

BITS = 8
SIZE = 1 << BITS
"""Offsets in a page."""

_MASK = SIZE - 1
_NEAR = 256
"""So many missing pages are looked for one by one."""


def new_pages(count: int) -> Any:
    """Room for so many pages, all empty."""
    return np.zeros(count * SIZE, CELL)


@hot
def find(s: Any, q: int, offset: int) -> Any:
    """Where the cell of a message is, -1 if its page is not there."""
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
    """Where the cell of a message is; its page is made if it is not there."""
    at = find(s, q, offset)
    if at >= 0:
        return at
    enter(s.places, q, offset >> BITS, s.terms[0].pages)
    s.terms[0].pages += 1
    return find(s, q, offset)


@part
def skip_missing(s: Any, q: int, offset: int, end: int) -> Any:
    """The first offset at or after ``offset`` that is in a page that is there, or ``end`` if that comes before it."""
    if find(s, q, offset) >= 0:
        return offset
    page, last = (offset >> BITS) + 1, end >> BITS
    for near in range(page, min(last, page + _NEAR) + 1):
        if value_of(s.places, q, near) >= 0:
            return min(near << BITS, end)
    if last > page + _NEAR:
        # One look at all pages: an offset may be as far away as a number can be.
        for entry in range(len(s.places)):
            place = s.places[entry]
            if place.one == q and page <= place.other < last:
                last = int64(place.other)
        return min(last << BITS, end)
    return end
