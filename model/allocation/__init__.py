"""Allocation of queues to the clients of a group: the six strategies, and their index arithmetic as rules.

Reading order: ``message_queue`` (what is divided, and its order), ``strategy`` (what a strategy is), then one file for
each strategy.
"""

from .averagely import Averagely, averagely_count, averagely_owner, averagely_owns, averagely_start
from .averagely_by_circle import AveragelyByCircle, circle_count, circle_owner, circle_owns
from .by_config import ByConfig, config_takes
from .by_machine_room import (
    ByMachineRoom,
    machine_room_count,
    machine_room_of,
    machine_room_owner,
    machine_room_owns,
    machine_room_takes,
)
from .consistent_hash import ConsistentHash, ring, ring_hash, ring_precedes, ring_slot
from .machine_room_nearby import MachineRoomNearby, MachineRooms, Sharing, nearby_sharing
from .message_queue import MessageQueue, java_order, sorted_ids
from .strategy import JAVA_CLASSES, AllocationError, Strategy, index_of

__all__ = [
    "JAVA_CLASSES",
    "AllocationError",
    "Averagely",
    "AveragelyByCircle",
    "ByConfig",
    "ByMachineRoom",
    "ConsistentHash",
    "MachineRoomNearby",
    "MachineRooms",
    "MessageQueue",
    "Sharing",
    "Strategy",
    "averagely_count",
    "averagely_owner",
    "averagely_owns",
    "averagely_start",
    "circle_count",
    "circle_owner",
    "circle_owns",
    "config_takes",
    "index_of",
    "java_order",
    "machine_room_count",
    "machine_room_of",
    "machine_room_owner",
    "machine_room_owns",
    "machine_room_takes",
    "nearby_sharing",
    "ring",
    "ring_hash",
    "ring_precedes",
    "ring_slot",
    "sorted_ids",
]
