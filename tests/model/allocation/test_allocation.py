"""The six strategies against computed vectors, and what each of them refuses."""

import pytest

from rocketproof.model.allocation import (
    AllocationError,
    Averagely,
    AveragelyByCircle,
    ByConfig,
    ByMachineRoom,
    ConsistentHash,
    MachineRoomNearby,
    MachineRooms,
    MessageQueue,
    Strategy,
    machine_room_of,
)

pytestmark = pytest.mark.smoke


def queues(count: int, broker: str = "b") -> list[MessageQueue]:
    return [MessageQueue("T", broker, number) for number in range(count)]


def clients(count: int) -> list[str]:
    return [f"c{number}" for number in range(1, count + 1)]


def shares(strategy: Strategy, offered: list[MessageQueue], ids: list[str]) -> list[list[int]]:
    """For each client the positions of its queues in the list, in the order of the answer."""
    return [[offered.index(queue) for queue in strategy.allocate(own, offered, ids)] for own in ids]


ROOM = ByMachineRoom(frozenset({"r"}))
ROOMS = MachineRooms(lambda queue: queue.broker_name, lambda client: client[0])
NEARBY = MachineRoomNearby(Averagely(), ROOMS)


@pytest.mark.parametrize(
    ("strategy", "offered", "consumers", "expected"),
    [
        (Averagely(), queues(8), 3, [[0, 1, 2], [3, 4, 5], [6, 7]]),
        (Averagely(), queues(3), 5, [[0], [1], [2], [], []]),
        (Averagely(), queues(7), 4, [[0, 1], [2, 3], [4, 5], [6]]),
        (Averagely(), queues(6), 3, [[0, 1], [2, 3], [4, 5]]),
        (Averagely(), queues(1), 1, [[0]]),
        (AveragelyByCircle(), queues(8), 3, [[0, 3, 6], [1, 4, 7], [2, 5]]),
        (AveragelyByCircle(), queues(2), 3, [[0], [1], []]),
        (ROOM, queues(8, "r@b"), 3, [[0, 1, 6], [2, 3, 7], [4, 5]]),
        (ROOM, queues(2, "r@b"), 3, [[0], [1], []]),
        (ROOM, queues(4, "s@b"), 2, [[], []]),
        (ConsistentHash(), queues(8), 2, [[1, 2, 5, 6], [0, 3, 4, 7]]),
        (ConsistentHash(), queues(8), 3, [[2], [0, 3, 4, 7], [1, 5, 6]]),
        (ConsistentHash(0), queues(8), 2, [[], []]),
        (ByConfig(tuple(queues(2))), queues(3), 2, [[0, 1], [0, 1]]),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else None,
)
def test_shares(strategy: Strategy, offered: list[MessageQueue], consumers: int, expected: list[list[int]]) -> None:
    assert shares(strategy, offered, clients(consumers)) == expected


def test_machine_room_skips_queues_of_other_rooms() -> None:
    offered = sorted([*queues(2, "r@a"), *queues(2, "r"), *queues(2, "r@b"), *queues(2, "x@b")])
    assert [queue.broker_name for queue in offered] == ["r", "r", "r@a", "r@a", "r@b", "r@b", "x@b", "x@b"]
    assert shares(ROOM, offered, clients(3)) == [[2, 5], [3], [4]]


@pytest.mark.parametrize(
    ("broker", "room"),
    [
        ("r@b", "r"),
        ("r@b@", "r"),
        ("r@b@@", "r"),
        ("@b", ""),
        ("r@", None),
        ("r", None),
        ("", None),
        ("@", None),
        ("r@b@c", None),
        ("r@@b", None),
    ],
)
def test_a_broker_name_splits_as_in_java(broker: str, room: str | None) -> None:
    assert machine_room_of(broker) == room


def test_unset_rooms_matter_only_when_a_broker_has_a_room() -> None:
    unset = ByMachineRoom(None)
    assert unset.allocate("c1", queues(2, "b"), ["c1"]) == []
    with pytest.raises(AllocationError, match="never set"):
        unset.allocate("c1", queues(2, "r@b"), ["c1"])


def test_nearby_keeps_queues_in_their_room() -> None:
    offered = sorted([*queues(3, "x"), *queues(2, "y")])
    assert shares(NEARBY, offered, ["x1", "x2", "y1"]) == [[0, 1], [2], [3, 4]]


def test_nearby_shares_a_room_without_consumers_among_all() -> None:
    offered = sorted([*queues(3, "x"), *queues(2, "y"), *queues(2, "z")])
    assert shares(NEARBY, offered, ["x1", "y1"]) == [[0, 1, 2, 5], [3, 4, 6]]
    assert shares(NEARBY, queues(2, "a"), ["x1", "y1"]) == [[0], [1]]


def test_nearby_names_its_inner_strategy() -> None:
    assert NEARBY.name == "MACHINE_ROOM_NEARBY-AVG"
    assert MachineRoomNearby(ConsistentHash(), ROOMS).name == "MACHINE_ROOM_NEARBY-CONSISTENT_HASH"


@pytest.mark.parametrize("unknown", [None, ""])
def test_nearby_needs_to_know_every_room(unknown: str | None) -> None:
    with pytest.raises(AllocationError, match=r"the machine room of MessageQueue \[topic=T, brokerName=b, queueId=0\]"):
        MachineRoomNearby(Averagely(), MachineRooms(lambda _: unknown, lambda _: "r")).allocate("c", queues(1), ["c"])
    with pytest.raises(AllocationError, match="the machine room of client 'c' is unknown"):
        MachineRoomNearby(Averagely(), MachineRooms(lambda _: "r", lambda _: unknown)).allocate("c", queues(1), ["c"])


CHECKING = [Averagely(), AveragelyByCircle(), ROOM, NEARBY, ConsistentHash()]


@pytest.mark.parametrize("strategy", CHECKING, ids=lambda strategy: strategy.name)
def test_input_is_checked(strategy: Strategy) -> None:
    with pytest.raises(AllocationError, match="own client id is empty"):
        strategy.allocate("", queues(1), ["c1"])
    with pytest.raises(AllocationError, match="list of queues is empty"):
        strategy.allocate("c1", [], ["c1"])
    with pytest.raises(AllocationError, match="list of client ids is empty"):
        strategy.allocate("c1", queues(1), [])
    assert strategy.allocate("c9", queues(4), ["c1", "c2"]) == []


def test_config_checks_nothing() -> None:
    listed = tuple(queues(2, "elsewhere"))
    assert ByConfig(listed).allocate("", [], []) == list(listed)
    assert ByConfig(None).allocate("c1", queues(2), ["c1"]) == []


def test_an_id_listed_twice_means_its_first_place() -> None:
    assert Averagely().allocate("c1", queues(4), ["c1", "c1"]) == queues(2)
    assert AveragelyByCircle().allocate("c1", queues(3), ["c1", "c1"]) == [queues(3)[0], queues(3)[2]]
