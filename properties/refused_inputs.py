"""What a client does if it cannot divide: its strategy refuses, and the client keeps its queues (RB-20, RB-24,
RB-25).

An answer of "no queues" would be taken literally, and every queue of the topic dropped. A strategy therefore raises if
it is given nothing to divide, or does not know the room of something, and the pass of the topic changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from ..model.allocation import (
    AllocationError,
    Averagely,
    AveragelyByCircle,
    ByMachineRoom,
    ConsistentHash,
    MachineRoomNearby,
    MachineRooms,
    MessageQueue,
    Strategy,
)
from .unequal_views import Division, GroupClaim, View, client_ids, divide, not_divided
from .verdict import Verdict

_ROOM = "r0"


def _queues(queues: int) -> tuple[MessageQueue, ...]:
    return tuple(MessageQueue("TopicTest", f"{_ROOM}@broker", number) for number in range(queues))


def _nearby(queue_room: str | None = _ROOM, client_room: str | None = _ROOM) -> MachineRoomNearby:
    return MachineRoomNearby(Averagely(), MachineRooms(lambda _: queue_room, lambda _: client_room))


# CONFIG is not among them: it ignores its input.
_CHECKED: tuple[Strategy, ...] = (
    Averagely(),
    AveragelyByCircle(),
    ByMachineRoom(frozenset({_ROOM})),
    _nearby(),
    ConsistentHash(),
)
_ROOMLESS: tuple[tuple[Strategy, Strategy], ...] = (
    (ByMachineRoom(frozenset({_ROOM})), ByMachineRoom(None)),
    (_nearby(), _nearby(queue_room=None)),
    (_nearby(), _nearby(client_room="")),
)
"""Strategies that know the rooms, and the same ones of a client whose operator forgot to configure them."""


def _empty(view: View) -> Iterator[View]:
    yield replace(view, own_id="")
    yield replace(view, queues=())
    yield replace(view, ids=())


def _after_a_pass(
    strategy: Strategy, wrongly: Callable[[View], Iterator[View]], queues: int, consumers: int
) -> Iterator[Division]:
    """Groups that had divided their queues, after one client has made a pass from a wrong view."""
    ids = client_ids(consumers)
    before = divide(_queues(queues), [View(own, own, _queues(queues), ids, strategy) for own in ids])
    for place, view in enumerate(before.views):
        for wrong in wrongly(view):
            shares, views = [*before.shares], [*before.views]
            shares[place], views[place] = _share(wrong, before.shares[place]), wrong
            yield Division(before.queues, tuple(views), tuple(shares))


def _share(view: View, has: frozenset[MessageQueue]) -> frozenset[MessageQueue]:
    """What a client owns after a pass (``RebalanceImpl#rebalanceByTopic``): what it had before, if its strategy
    throws.
    """
    try:
        return frozenset(view.strategy.allocate(view.own_id, view.queues, view.ids))
    except AllocationError:
        return has


def with_empty_input(queues: int, consumers: int) -> Iterator[Division]:
    """Groups in which one client is given no id of its own, no queues, or no members."""
    for strategy in _CHECKED:
        yield from _after_a_pass(strategy, _empty, queues, consumers)


def with_unknown_rooms(queues: int, consumers: int) -> Iterator[Division]:
    """Groups in which one client does not know its rooms."""
    for knowing, other in _ROOMLESS:
        yield from _after_a_pass(knowing, partial(_with, other), queues, consumers)


def _with(strategy: Strategy, view: View) -> Iterator[View]:
    yield replace(view, strategy=strategy)


def with_roomless_brokers(queues: int, consumers: int) -> Iterator[Division]:
    """Groups with MACHINE_ROOM whose brokers have names without a room, where the rooms were set, and where not."""
    there = tuple(MessageQueue("TopicTest", "broker", number) for number in range(queues))
    ids = client_ids(consumers)
    for rooms in (frozenset({_ROOM}), None):
        yield divide(there, [View(own, own, there, ids, ByMachineRoom(rooms)) for own in ids])


def _taken(division: Division) -> str:
    taken = sorted(frozenset().union(*division.shares))
    return f"{', '.join(map(str, taken))} has an owner" if taken else ""


def with_few_nodes(queues: int, consumers: int) -> Iterator[Division]:
    """Groups with CONSISTENT_HASH and less than one virtual node, if clients can be made with that number."""
    ids = client_ids(consumers)
    for nodes in (0, -1):
        try:
            strategy = ConsistentHash(virtual_nodes=nodes)
        except AllocationError:
            if nodes < 0:
                continue
            raise
        yield divide(_queues(queues), [View(own, own, _queues(queues), ids, strategy) for own in ids])


def _on_an_empty_ring(division: Division) -> str:
    """What contradicts the fact that there are no nodes, and therefore no owners."""
    if any(view.strategy == ConsistentHash(virtual_nodes=0) for view in division.views) and not any(division.shares):
        return ""
    return "there is a client with a negative number of virtual nodes, or one that takes queues without any"


REFUSED_CLAIMS: tuple[GroupClaim, ...] = (
    GroupClaim(
        id="empty-input-changes-nothing",
        statement=(
            "A client that is given no id, no queues or no members keeps its queues; only CONFIG does not check."
        ),
        expected=Verdict.HOLDS,
        groups=with_empty_input,
        wrong=not_divided,
        rules=("RB-20",),
    ),
    GroupClaim(
        id="unknown-room-changes-nothing",
        statement="A client that was not told the machine rooms keeps its queues.",
        expected=Verdict.HOLDS,
        groups=with_unknown_rooms,
        wrong=not_divided,
        rules=("RB-24", "RB-25"),
    ),
    GroupClaim(
        id="queue-without-a-room-has-no-owner",
        statement="With MACHINE_ROOM nobody takes the queues of a broker whose name has no room, and no client fails "
        "at them, even if it was not told the rooms.",
        expected=Verdict.HOLDS,
        groups=with_roomless_brokers,
        wrong=_taken,
        rules=("RB-24",),
    ),
    GroupClaim(
        id="no-virtual-nodes-no-owners",
        statement="With CONSISTENT_HASH and 0 virtual nodes, nobody owns a queue, and no client starts with fewer.",
        expected=Verdict.HOLDS,
        groups=with_few_nodes,
        wrong=_on_an_empty_ring,
        rules=("RB-26",),
    ),
)
"""Claims about refused input, all expected to hold."""
