"""MACHINE_ROOM_NEARBY: queues go to consumers in their own room as long as there is one there (RB-25)."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..kernel import IntLike, ite, rule
from .message_queue import MessageQueue, java_order
from .strategy import AllocationError, Strategy, index_of


class Sharing(enum.IntEnum):
    """Among whom the queues of one room are divided, as seen by one consumer.

    NOT_MINE: among the consumers of that room, which is another room than the consumer's own. ROOM: among the consumers
        of the consumer's own room. EVERYONE: among all consumers, because none is in that room.
    """

    NOT_MINE = 0
    ROOM = 1
    EVERYONE = 2


@rule
def nearby_sharing(own_room: IntLike, room: IntLike, consumers_in_room: IntLike) -> IntLike:
    """How a consumer in ``own_room`` shares in the queues of ``room`` (a :class:`Sharing`)."""
    return ite(room == own_room, Sharing.ROOM, ite(consumers_in_room == 0, Sharing.EVERYONE, Sharing.NOT_MINE))


@dataclass(frozen=True)
class MachineRooms:
    """Where brokers and clients are: what a user supplies as ``MachineRoomResolver``."""

    of_queue: Callable[[MessageQueue], str | None]  # room of the broker that has the queue; None or "" when unknown
    of_client: Callable[[str], str | None]  # room of a client id; None or "" when unknown


@dataclass(frozen=True)
class MachineRoomNearby:
    """``AllocateMachineRoomNearby``."""

    inner: Strategy  # the strategy that divides the queues of one room
    rooms: MachineRooms  # where brokers and clients are

    @property
    def name(self) -> str:
        """``MACHINE_ROOM_NEARBY-`` and the name of the inner strategy."""
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def allocate(self, own_id: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> list[MessageQueue]:
        """The share of ``own_id`` (RB-20, RB-25): first the queues of its own room, then those of rooms without a
        consumer.

        Raises:
            AllocationError: also when the room of a queue or of a client is unknown.
        """
        if index_of(own_id, queues, ids) is None:
            return []
        queues_in: dict[str, list[MessageQueue]] = {}
        for queue in queues:
            queues_in.setdefault(_known(self.rooms.of_queue(queue), f"{queue}"), []).append(queue)
        ids_in: dict[str, list[str]] = {}
        for client in ids:
            ids_in.setdefault(_known(self.rooms.of_client(client), f"client {client!r}"), []).append(client)
        numbers = {room: number for number, room in enumerate(sorted({*queues_in, *ids_in}, key=java_order))}
        own_room = next(room for room, clients in ids_in.items() if own_id in clients)
        shares: list[MessageQueue] = []
        for room in sorted(queues_in, key=lambda name: (name != own_room, java_order(name))):
            match nearby_sharing(numbers[own_room], numbers[room], len(ids_in.get(room, ()))):
                case Sharing.ROOM:
                    shares += self.inner.allocate(own_id, queues_in[room], ids_in[room])
                case Sharing.EVERYONE:
                    shares += self.inner.allocate(own_id, queues_in[room], ids)
        return shares


def _known(room: str | None, what: str) -> str:
    if not room:
        raise AllocationError(f"the machine room of {what} is unknown; the resolver must name one for all of them.")
    return room
