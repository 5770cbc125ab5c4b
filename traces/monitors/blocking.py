"""Blocking: what prevents the lowest unfinished message of a queue from being finished."""

from __future__ import annotations

from typing import Any

from ..claims.obligations import Blocked
from ..machine_code.compiled import hot
from .pages import DELIVERED, DONE, EXPIRED, FAILED, REFUSED, RUNNING, SUSPENDED, find
from .queue_state import UNKNOWN
from .ranges import UNCOUNTED


@hot
def blocked_by(s: Any, q: int) -> Any:
    """The reason, as a code of :class:`Blocked`."""
    slot = s.slots[q]
    if slot.low < 0:
        return Blocked.NOTHING
    at = find(s, q, slot.low)
    flags = s.cells[at].flags if at >= 0 else 0
    if flags & (DONE | EXPIRED):
        return Blocked.NOTHING
    if flags & DELIVERED == 0:
        # If the beginning was not seen, or the filtered offsets are not known, the message may not be expected to come.
        first = slot.ranges
        unknown = first >= 0 and s.ranges[first].begin <= slot.low and s.ranges[first].left == UNCOUNTED
        return Blocked.NOTHING if unknown or not slot.sure else Blocked.WAITING
    if flags & RUNNING:
        return Blocked.RUNNING
    if flags & (FAILED | REFUSED):
        return Blocked.FAILED
    return Blocked.SUSPENDED if flags & SUSPENDED else Blocked.RETURNED


@hot
def keeper_of(s: Any, q: int) -> Any:
    """The actor that was last given the lowest unfinished message; UNKNOWN without one."""
    slot = s.slots[q]
    at = find(s, q, slot.low) if slot.low >= 0 else UNKNOWN
    if at < 0 or s.cells[at].flags & DELIVERED == 0:
        return UNKNOWN
    return s.cells[at].actor
