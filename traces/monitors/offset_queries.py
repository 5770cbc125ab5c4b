"""Offset queries: what the last two clients that asked for a queue were told, until each takes it.

RB-40: a pass of rebalance asks for one queue after the other and takes all in the end, so another client may ask
meanwhile (``RebalanceImpl#updateProcessQueueTableInRebalance``).
"""

from __future__ import annotations

from typing import Any

from ..machine_code.compiled import part
from .queue_state import PASS_LIMIT, UNKNOWN


@part
def asks(s: Any, q: int, actor: int) -> None:
    """A client has an answer; that of another one before it is kept beside it."""
    slot = s.slots[q]
    if slot.query_actor not in (UNKNOWN, actor):
        _exchange(s, q)


@part
def is_about_to_take(s: Any, q: int, actor: int, time: int) -> bool:
    """Whether the client has asked for the queue and may still take it; what it was told is the queue's query then."""
    slot = s.slots[q]
    if slot.query_actor != actor and slot.other_query_actor == actor:
        _exchange(s, q)
    return bool(slot.query_actor == actor and time - slot.query_time <= PASS_LIMIT)


@part
def _exchange(s: Any, q: int) -> None:
    slot = s.slots[q]
    slot.query_actor, slot.other_query_actor = slot.other_query_actor, slot.query_actor
    slot.query_time, slot.other_query_time = slot.other_query_time, slot.query_time
    slot.query_stored, slot.other_query_stored = slot.other_query_stored, slot.query_stored
    slot.query_recent, slot.other_query_recent = slot.other_query_recent, slot.query_recent
    slot.query_as_of, slot.other_query_as_of = slot.other_query_as_of, slot.query_as_of
