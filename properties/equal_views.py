"""What strategies do for a group whose clients all see the same: claims about each strategy as clients call it.

The rules behind AVG, AVG_BY_CIRCLE and MACHINE_ROOM are proven for every size (``allocation``). Here the strategies
themselves are called with lists of queues and ids, and compared with a new implementation of what RocketMQ's documents
say.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator

from ..model.allocation import (
    Averagely,
    AveragelyByCircle,
    ByMachineRoom,
    ConsistentHash,
    MachineRoomNearby,
    MachineRooms,
    MessageQueue,
    Strategy,
)
from .unequal_views import Division, GroupClaim, View, client_ids, divide, topic, with_duplicate_id
from .verdict import Verdict

_VIRTUAL_NODES = 10
_ROOMS = ("r0", "r1")
_NEAR_NODES = (("c2753", "c421"), ("c26413", "c7274"))
_BROKERS = ("r0@b", "r0@b@c", "b", "r0@b@", "r1@b", "r0@")


def all_alike(
    strategy: Strategy, queues_of: Callable[[int], tuple[MessageQueue, ...]] = topic
) -> Callable[[int, int], Iterator[Division]]:
    """Groups in which every client sees all queues and all ids, sorted; a new client may still be missing from the
    ids.
    """

    def groups(queues: int, consumers: int) -> Iterator[Division]:
        offered, ids = queues_of(queues), client_ids(consumers)
        for listed in (ids, ids[:-1]):
            if listed:
                yield divide(offered, [View(own, own, offered, listed, strategy) for own in ids])

    return groups


def named_in_many_ways(queues: int) -> tuple[MessageQueue, ...]:
    """The queues of a topic, each on its own broker; some broker names have a room, and some only look as if they
    had.
    """
    return tuple(sorted(MessageQueue("TopicTest", name, 0) for name in _BROKERS[:queues]))


def in_rooms(queues: int) -> tuple[MessageQueue, ...]:
    """The queues of a topic on brokers in alternating rooms, sorted as RocketMQ sorts them."""
    found = (MessageQueue("TopicTest", f"{_ROOMS[number % 2]}@broker", number // 2) for number in range(queues))
    return tuple(sorted(found))


def with_near_nodes(strategy: Strategy) -> Callable[[int, int], Iterator[Division]]:
    """Two clients, each with a node such that the hashes of the two nodes share their first three bytes, or all
    four.
    """

    def groups(queues: int, consumers: int) -> Iterator[Division]:
        for ids in _NEAR_NODES if consumers == 2 else ():
            yield divide(topic(queues), [View(own, own, topic(queues), ids, strategy) for own in ids])

    return groups


def _unlike(expected: Callable[[View], list[MessageQueue]]) -> Callable[[Division], str]:
    """The differences between what clients take and what they are expected to take."""

    def wrong(division: Division) -> str:
        return "; ".join(
            f"{view.client} should take {' '.join(map(str, wanted)) or 'nothing'}"
            for view, share in zip(division.views, division.shares, strict=True)
            if share != frozenset(wanted := expected(view) if view.own_id in view.ids else [])
        )

    return wrong


def _neighbours(view: View) -> list[MessageQueue]:
    """AVG: cut the sorted queues into consecutive pieces; the first pieces get the remainder of the division."""
    even, more = divmod(len(view.queues), len(view.ids))
    rest = list(view.queues)
    for place, own in enumerate(view.ids):
        share, rest = rest[: even + (place < more)], rest[even + (place < more) :]
        if own == view.own_id:
            return share
    return []


def _by_turns(view: View) -> list[MessageQueue]:
    """AVG_BY_CIRCLE: deal the sorted queues like cards."""
    return list(view.queues[view.ids.index(view.own_id) :: len(view.ids)])


def _room(queue: MessageQueue) -> str:
    return queue.broker_name.partition("@")[0]


def _in_first_room(view: View) -> list[MessageQueue]:
    """MACHINE_ROOM: consecutive even shares of the room's queues, then one queue each of the rest."""
    queues = [queue for queue in view.queues if re.fullmatch(rf"{_ROOMS[0]}@[^@]+@*", queue.broker_name)]
    even, place = len(queues) // len(view.ids), view.ids.index(view.own_id)
    left = queues[even * len(view.ids) :]
    return queues[place * even : (place + 1) * even] + left[place : place + 1]


def _near(view: View) -> list[MessageQueue]:
    """MACHINE_ROOM_NEARBY: the queues of a room go to the clients there, and to all where there is no client."""
    share: list[MessageQueue] = []
    for room in _ROOMS:
        there = tuple(own for own in view.ids if _room_of_client(own) == room)
        queues = tuple(queue for queue in view.queues if _room(queue) == room)
        ids = there or view.ids
        if view.own_id in ids:
            share += _neighbours(View(view.client, view.own_id, queues, ids, view.strategy))
    return share


def _room_of_client(own: str) -> str:
    return _ROOMS[0] if own == "c0" else "r2"


def _next_on_the_ring(view: View) -> list[MessageQueue]:
    """CONSISTENT_HASH: the node at or after the queue's place, or else the lowest; an id that occurs again adds
    nodes.
    """
    ring: dict[str, str] = {}
    for own in view.ids:
        first = list(ring.values()).count(own)
        ring.update((_place(f"{own}-{number}"), own) for number in range(first, first + _VIRTUAL_NODES))

    def owner(queue: MessageQueue) -> str:
        return ring[min((node for node in ring if node >= _place(str(queue))), default=min(ring))]

    return [queue for queue in view.queues if owner(queue) == view.own_id]


def _place(key: str) -> str:
    """The first four bytes of the MD5, as hexadecimal digits, which sort like the numbers."""
    return hashlib.md5(key.encode(), usedforsecurity=False).hexdigest()[:8]


def _claim(
    name: str,
    statement: str,
    groups: Callable[[int, int], Iterator[Division]],
    expected: Callable[[View], list[MessageQueue]],
    *rules: str,
) -> GroupClaim:
    return GroupClaim(
        id=name,
        statement=statement,
        expected=Verdict.HOLDS,
        groups=groups,
        wrong=_unlike(expected),
        rules=("RB-20", *rules),
    )


def _out_of_order(division: Division) -> str:
    """Two queues of which not exactly one comes first, or a queue that comes before itself."""
    for one in division.queues:
        for other in division.queues:
            if (one < other) + (other < one) != (one != other):
                return f"the order of {one} and {other} is not clear"
    return ""


_NEARBY = MachineRoomNearby(Averagely(), MachineRooms(of_queue=_room, of_client=_room_of_client))

EQUAL_VIEW_CLAIMS: tuple[GroupClaim, ...] = (
    GroupClaim(
        id="queues-have-one-order",
        statement="Of two different queues exactly one comes first, for every client, and no queue comes before "
        "itself.",
        expected=Verdict.HOLDS,
        groups=all_alike(Averagely(), named_in_many_ways),
        wrong=_out_of_order,
        rules=("EN-3", "RB-6"),
    ),
    _claim(
        "averagely-cuts-the-list",
        "AVG gives each client neighbouring queues; if they do not divide evenly, the first clients get one more.",
        all_alike(Averagely()),
        _neighbours,
        "RB-21",
    ),
    _claim(
        "circle-deals-the-list",
        "AVG_BY_CIRCLE deals the queues one by one.",
        all_alike(AveragelyByCircle()),
        _by_turns,
        "RB-22",
    ),
    _claim(
        "machine-room-takes-its-room",
        (
            "MACHINE_ROOM divides the queues of brokers that are named room@broker, for its rooms, and leaves "
            "all others alone."
        ),
        all_alike(ByMachineRoom(frozenset(_ROOMS[:1])), named_in_many_ways),
        _in_first_room,
        "RB-24",
    ),
    _claim(
        "nearby-prefers-its-room",
        "MACHINE_ROOM_NEARBY gives the queues of a room to the clients there, and to all clients where there are none.",
        all_alike(_NEARBY, in_rooms),
        _near,
        "RB-25",
    ),
    _claim(
        "consistent-hash-as-the-java-client",
        "CONSISTENT_HASH gives a queue to the client whose node comes next by MD5, so clients of all languages agree.",
        with_duplicate_id(ConsistentHash(virtual_nodes=_VIRTUAL_NODES)),
        _next_on_the_ring,
        "RB-26",
        "EN-2",
    ),
    _claim(
        "consistent-hash-tells-near-nodes-apart",
        "CONSISTENT_HASH tells nodes apart whose hashes differ in their fourth byte only; of those with equal hashes "
        "the last one stays, as with the Java client.",
        with_near_nodes(ConsistentHash(virtual_nodes=_VIRTUAL_NODES)),
        _next_on_the_ring,
        "RB-26",
    ),
)
"""Claims about clients with equal views, all expected to hold."""
