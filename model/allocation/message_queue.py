"""Message queues, and the order in which RocketMQ clients sort queues and client ids."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass


def java_order(text: str) -> bytes:
    """Sort key of a string as Java's ``String#compareTo`` sorts it: by UTF-16 code units, not by code points.

    The two differ only beyond U+FFFF: U+1F600 (an emoji) sorts before U+FF21 (a full-width A) in Java, not in Python.
    """
    return text.encode("utf-16-be", "surrogatepass")


@functools.total_ordering
@dataclass(frozen=True, slots=True)
class MessageQueue:
    """One queue of a topic; equality is on all three parts, order is by topic, broker name, queue id.

    EN-3: ``MessageQueue#equals``, ``MessageQueue#compareTo``.
    """

    topic: str  # name of the topic
    broker_name: str  # name of the broker group that stores the queue
    queue_id: int  # number of the queue on that broker, from 0

    def __str__(self) -> str:
        """The text that is hashed onto the ring of CONSISTENT_HASH, so the spelling matters.

        EN-4: ``MessageQueue#toString``.
        """
        return f"MessageQueue [topic={self.topic}, brokerName={self.broker_name}, queueId={self.queue_id}]"

    def __lt__(self, other: MessageQueue) -> bool:
        return self._key() < other._key()

    def _key(self) -> tuple[bytes, bytes, int]:
        return java_order(self.topic), java_order(self.broker_name), self.queue_id


def sorted_ids(ids: Iterable[str]) -> list[str]:
    """Client ids in the order in which every client sorts them before it allocates.

    RB-6: ``RebalanceImpl#rebalanceByTopic``.
    """
    return sorted(ids, key=java_order)
