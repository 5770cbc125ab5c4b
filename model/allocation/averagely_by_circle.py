"""AVG_BY_CIRCLE: queues are dealt out one by one, as cards are (RB-22)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..kernel import BoolLike, IntLike, all_of, rule
from .message_queue import MessageQueue
from .strategy import index_of


@rule
def circle_owns(queue: IntLike, index: IntLike, queues: IntLike, consumers: IntLike) -> BoolLike:
    """Whether the consumer at ``index`` of ``consumers`` (1 or more) gets the queue at position ``queue``."""
    return all_of(index <= queue, queue < queues, queue % consumers == index)


@rule
def circle_owner(queue: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """Index of the consumer that gets the queue at position ``queue``."""
    return queue % consumers


@rule
def circle_count(index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """Number of queues in the share of the consumer at ``index``."""
    return (queues + consumers - 1 - index) // consumers


@dataclass(frozen=True)
class AveragelyByCircle:
    """``AllocateMessageQueueAveragelyByCircle``."""

    name: str = "AVG_BY_CIRCLE"

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """The share of ``own_id`` (RB-20, RB-22)."""
        index = index_of(own_id, queues, ids)
        if index is None:
            return []
        return [queue for place, queue in enumerate(queues) if circle_owns(place, index, len(queues), len(ids))]
