"""MACHINE_ROOM: only queues of brokers in given machine rooms, divided evenly (RB-24)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from ..kernel import BoolLike, IntLike, all_of, any_of, ite, rule
from .message_queue import MessageQueue
from .strategy import AllocationError, index_of


@rule
def machine_room_owns(place: IntLike, index: IntLike, eligible: IntLike, consumers: IntLike) -> BoolLike:
    """Whether the consumer at ``index`` of ``consumers`` (1 or more) gets the queue at a place among the eligible ones.

    Args:
        place: position of the queue in the list of eligible queues, not in the list of all.
        index: position of the consumer.
        eligible: number of eligible queues.
        consumers: number of consumers.
    """
    share = eligible // consumers
    block = all_of(index * share <= place, place < (index + 1) * share)
    left_over = all_of(index < eligible % consumers, place == consumers * share + index)
    return any_of(block, left_over)


@rule
def machine_room_takes(
    queue: IntLike, eligible: BoolLike, place: IntLike, index: IntLike, eligible_queues: IntLike, consumers: IntLike
) -> BoolLike:
    """Whether the consumer at ``index`` of ``consumers`` gets a queue, by its position in the list of all.

    Args:
        queue: position of the queue in the list of all queues.
        eligible: whether it is in one of the rooms.
        place: how many eligible queues come before it.
        index: position of the consumer.
        eligible_queues: number of eligible queues.
        consumers: number of consumers.
    """
    return all_of(eligible, machine_room_owns(place, index, eligible_queues, consumers))


@rule
def machine_room_owner(place: IntLike, eligible: IntLike, consumers: IntLike) -> IntLike:
    """Index of the consumer that gets the eligible queue at ``place``: RB-24 read backwards."""
    share = eligible // consumers
    return ite(place < consumers * share, place // ite(share > 0, share, 1), place - consumers * share)


@rule
def machine_room_count(index: IntLike, eligible: IntLike, consumers: IntLike) -> IntLike:
    """Number of queues in the share of the consumer at ``index``."""
    return eligible // consumers + ite(index < eligible % consumers, 1, 0)


def machine_room_of(broker_name: str) -> str | None:
    """The room in a broker name ``room@broker``, or None when the name has not exactly these two parts.

    As Java's ``String#split`` does, empty parts at the end do not count: ``room@broker@`` has two parts, ``room@`` one.
    """
    parts = broker_name.rstrip("@").split("@")
    return parts[0] if len(parts) == 2 else None


@dataclass(frozen=True)
class ByMachineRoom:
    """``AllocateMessageQueueByMachineRoom``.

    Attributes:
        rooms: the rooms whose queues are eligible (Java's ``consumeridcs``); None when it was never set.
    """

    rooms: frozenset[str] | None
    name: str = "MACHINE_ROOM"

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """The share of ``own_id`` in the eligible queues (RB-20, RB-24); the other queues go to nobody.

        Raises:
            AllocationError: also when ``rooms`` was never set and some broker name has a room.
        """
        index = index_of(own_id, queues, ids)
        if index is None:
            return []
        eligible = [self.eligible(queue) for queue in queues]
        places = itertools.accumulate(eligible, initial=0)
        return [
            queue
            for number, (queue, mine, place) in enumerate(zip(queues, eligible, places, strict=False))
            if machine_room_takes(number, mine, place, index, sum(eligible), len(ids))
        ]

    def eligible(self, queue: MessageQueue) -> bool:
        """Whether the queue's broker is in one of the rooms."""
        room = machine_room_of(queue.broker_name)
        if room is None:
            return False
        if self.rooms is None:
            raise AllocationError(f"the rooms of MACHINE_ROOM were never set, and {queue} is in room {room}; set them.")
        return room in self.rooms


@machine_room_takes.mutant("A6", "machine-room-indexes-wrong-list", killed_by="machine-room-partition")
def machine_room_takes_from_all(
    queue: IntLike, eligible: BoolLike, place: IntLike, index: IntLike, eligible_queues: IntLike, consumers: IntLike
) -> BoolLike:
    """Indexes are counted among the eligible queues, but then used to read the list of all queues.

    Members take queues of other rooms and leave queues of their own. Source: #2477, fixed in 4.8.0.
    """
    return machine_room_owns(queue, index, eligible_queues, consumers)
