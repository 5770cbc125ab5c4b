"""What an allocation strategy is: a pure function that answers which of the given queues belong to one client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .message_queue import MessageQueue

JAVA_CLASSES = {
    "AllocateMessageQueueAveragely": "AVG",
    "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE",
    "AllocateMessageQueueByConfig": "CONFIG",
    "AllocateMessageQueueByMachineRoom": "MACHINE_ROOM",
    "AllocateMachineRoomNearby": "MACHINE_ROOM_NEARBY",
    "AllocateMessageQueueConsistentHash": "CONSISTENT_HASH",
}
"""What the strategies of RocketMQ's Java client are called: the class name, and the name that ``getName`` returns."""


class AllocationError(ValueError):
    """A strategy refuses its input: the rebalance pass of the topic fails, and the client keeps the queues it has.

    Cause: an empty own id, no queues, no ids, or a queue or client without a machine room. The message names it.
    """


class Strategy(Protocol):
    """An allocation strategy; every client of a group runs it for itself, without asking the others (RB-27).

    The answer must depend on nothing but the arguments; otherwise two clients may arrive at answers that do not fit
    together.
    """

    @property
    def name(self) -> str:
        """The name that RocketMQ's ``AllocateMessageQueueStrategy#getName`` returns."""
        ...

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """Queues for the client ``own_id``, given all queues of the topic and all client ids of the group, sorted.

        Raises:
            AllocationError: the input is refused.
        """
        ...


def index_of(own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> int | None:
    """Position of the first occurrence of ``own_id``; None if it is absent, and the share is then empty (RB-20).

    Raises:
        AllocationError: the own id, the queues or the ids are empty (``AbstractAllocateMessageQueueStrategy#check``).
    """
    for name, given in (("own client id", own_id), ("list of queues", queues), ("list of client ids", ids)):
        if not given:
            raise AllocationError(f"the {name} is empty; a client allocates only what it was given.")
    return ids.index(own_id) if own_id in ids else None
