"""Offset queries: the answers to the last two clients that asked for a queue, until each takes it.

RB-40: a rebalance pass queries one queue after the other and takes all at the end, so another client may query
meanwhile (``RebalanceImpl#updateProcessQueueTableInRebalance``).
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import part
from .queue_state import PASS_LIMIT, UNKNOWN


@part
def asks(s: Any, q: int, actor: int) -> None:
    """A client has an answer; the previous answer of another client is kept beside it."""
    slot = s.slots[q]
    if slot.query_actor not in (UNKNOWN, actor):
        _exchange(s, q)


@part
def is_about_to_take(s: Any, q: int, actor: int, time: int) -> bool:
    """Whether the client has queried the queue and may still take it; its answer is then the queue's current query."""
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
