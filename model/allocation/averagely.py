"""AVG, the default strategy: neighbouring queues in shares of almost equal size (RB-21)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..kernel import BoolLike, IntLike, all_of, ite, maximum, minimum, rule
from .message_queue import MessageQueue
from .strategy import index_of


@rule
def averagely_start(index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """First queue of the share of the consumer at ``index``; for an empty share it may lie behind the last queue
    (RB-21).
    """
    longer = queues % consumers
    size = _size(index, queues, consumers)
    return ite(index < longer, index * size, index * size + longer)


@rule
def averagely_count(index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """Number of queues in the share of the consumer at ``index``."""
    start = averagely_start(index, queues, consumers)
    return maximum(0, minimum(_size(index, queues, consumers), queues - start))


@rule
def averagely_owns(queue: IntLike, index: IntLike, queues: IntLike, consumers: IntLike) -> BoolLike:
    """Whether the consumer at ``index`` of ``consumers`` (1 or more) gets the queue at position ``queue``."""
    start = averagely_start(index, queues, consumers)
    return all_of(start <= queue, queue < start + averagely_count(index, queues, consumers))


@rule
def averagely_owner(queue: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """Index of the consumer that gets the queue at position ``queue``: RB-21 read backwards."""
    longer, size = queues % consumers, queues // consumers
    in_longer = longer * (size + 1)
    # With fewer queues than consumers, the plain share size is 0, and must not be used as a divisor.
    return ite(queue < in_longer, queue // (size + 1), longer + (queue - in_longer) // maximum(1, size))


def _size(index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    even = queues // consumers
    return ite(queues <= consumers, 1, ite(index < queues % consumers, even + 1, even))


@dataclass(frozen=True)
class Averagely:
    """``AllocateMessageQueueAveragely``."""

    name: str = "AVG"

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """The share of ``own_id`` (RB-20, RB-21)."""
        index = index_of(own_id, queues, ids)
        if index is None:
            return []
        start = int(averagely_start(index, len(queues), len(ids)))
        return [queues[start + number] for number in range(averagely_count(index, len(queues), len(ids)))]


@averagely_count.mutant("A14", "more-members-than-queues-underflow", killed_by="averagely-share-size")
def averagely_count_unsigned(index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """Unsigned arithmetic: behind the last queue, the number of queues left underflows to a huge number.

    A member that should get nothing reads beyond the list and dies. Source: rocketmq-rust #1101.
    """
    left = queues - averagely_start(index, queues, consumers)
    return minimum(_size(index, queues, consumers), ite(left < 0, left + 2**32, left))
