"""Six allocation strategies against RocketMQ's own."""

from __future__ import annotations

import functools
from collections import Counter
from random import Random
from typing import Any

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
    java_order,
    ring_hash,
    sorted_ids,
)

from .real import Real, seeded

pytestmark = pytest.mark.lab

CASES = 20_000
PARTS = ("a", "b", "B", "é", "ß", "\U0001f600", "\uff21", "10.0.0.2@1", "10.0.0.10@1", "@", "#", " ", "-1", "\ud800")
ROOMS = ("r1", "r2", "r3", "", "R1")
REFUSED = "java.lang.IllegalArgumentException"


def word(random: Random) -> str:
    return "".join(random.choice(PARTS) for _ in range(random.randint(1, 3)))


def broker(random: Random) -> str:
    """Often ``room@broker``, sometimes something that only looks like it."""
    if random.random() < 0.7:
        return f"{random.choice(('r1', 'r2', 'r3'))}@{random.choice('xyz')}"
    name = random.choice(("x", "y", ""))
    return random.choice(ROOMS) + random.choice(("@", "", "@@")) + name + random.choice(("", "@", "@z"))


def case(random: Random, strategy: str) -> dict[str, Any]:
    brokers = [broker(random) for _ in range(random.randint(1, 3))]
    queues = [
        MessageQueue(random.choice(("topic", "t2")), random.choice(brokers), random.randrange(20))
        for _ in range(random.choice((0, 1, 2, 3, 5, 8, 16, 17)))
    ]
    ids = [word(random) for _ in range(random.choice((0, 1, 1, 2, 3, 4, 7, 12)))]
    if ids and random.random() < 0.1:
        ids.append(random.choice(ids))
    if random.random() < 0.8:
        queues.sort(key=lambda queue: (queue.topic, java_order(queue.broker_name), queue.queue_id))
        ids = sorted_ids(ids)
    roll = random.random()
    own = random.choice(ids) if ids and roll < 0.9 else ("" if roll < 0.95 else word(random))
    given: dict[str, Any] = {
        "strategy": strategy,
        "own": own,
        "queues": [[queue.topic, queue.broker_name, queue.queue_id] for queue in queues],
        "ids": ids,
    }
    if strategy == "CONFIG":
        listed = [*random.sample(queues, len(queues) // 2), MessageQueue("elsewhere", "x", 0)]
        given["listed"] = [[queue.topic, queue.broker_name, queue.queue_id] for queue in listed]
        if random.random() < 0.1:
            given["listed"] = None
    if strategy == "MACHINE_ROOM":
        given["rooms"] = random.sample(ROOMS, random.choice((0, 2, 3, 4))) if random.random() < 0.95 else None
    if strategy == "CONSISTENT_HASH":
        given |= {"nodes": random.choice((-1, 0, 1, 2, 10, 10)), "codes": int(random.random() < 0.3)}
    if strategy == "MACHINE_ROOM_NEARBY":
        few = random.random() < 0.9  # else a room may be unknown
        rooms = ("r1", "r2", "r3") if few else ("r1", "r2", "", None)
        given |= {
            "inner": random.choice(("AVG", "AVG_BY_CIRCLE")),
            "broker_rooms": {queue.broker_name: random.choice(rooms) for queue in queues},
            "client_rooms": {client: random.choice(rooms) for client in [*ids, own]},
        }
    return given


def low_byte(key: str) -> int:
    """The low byte of Java's ``String#hashCode``: so few hashes that they collide."""
    code = 0
    units = java_order(key)
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = 31 * code + 256 * high + low
    return code & 0xFF


def model(given: dict[str, Any], name: str) -> Strategy:
    match name:
        case "AVG":
            return Averagely()
        case "AVG_BY_CIRCLE":
            return AveragelyByCircle()
        case "CONFIG":
            listed = given["listed"]
            return ByConfig(None if listed is None else tuple(MessageQueue(*queue) for queue in listed))
        case "MACHINE_ROOM":
            return ByMachineRoom(None if given["rooms"] is None else frozenset(given["rooms"]))
        case "CONSISTENT_HASH":
            return ConsistentHash(given["nodes"], low_byte if given["codes"] else ring_hash)
        case _:
            rooms = MachineRooms(
                of_queue=lambda queue: given["broker_rooms"][queue.broker_name],
                of_client=lambda client: given["client_rooms"][client],
            )
            return MachineRoomNearby(model(given, given["inner"]), rooms)


def predicted(given: dict[str, Any]) -> list[list[object]] | str:
    """What the model says: the queues, or that the input is refused."""
    queues = [MessageQueue(*queue) for queue in given["queues"]]
    try:
        mine = model(given, given["strategy"]).allocate(given["own"], queues, given["ids"])
    except AllocationError:
        return "refused"
    return [[queue.topic, queue.broker_name, queue.queue_id] for queue in mine]


def told(answer: dict[str, Any], given: dict[str, Any]) -> list[list[object]] | str:
    """What the real class says, in the same words. Rooms that were never set are Java's null, so a null pointer."""
    if "raises" in answer:
        never_set = given["strategy"] == "MACHINE_ROOM" and given["rooms"] is None
        expected = (REFUSED, "java.lang.NullPointerException") if never_set else (REFUSED,)
        return "refused" if answer["raises"] in expected else f"{answer['raises']}: {answer['message']}"
    return answer["is"] if answer["is"] is not None else []


@functools.cache
def seeded_cases(strategy: str) -> list[tuple[dict[str, Any], list[list[object]] | str]]:
    """The cases, the same for all releases, and what the model says of each."""
    random = seeded(f"allocation {strategy}")
    return [(given, predicted(given)) for given in (case(random, strategy) for _ in range(CASES))]


@pytest.mark.parametrize(
    "strategy", ["AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "CONSISTENT_HASH"]
)
def test_a_strategy_divides_as_the_real_one(real: Real, strategy: str) -> None:
    cases = seeded_cases(strategy)
    answers = real.ask("allocate", [given for given, _ in cases])
    seen: Counter[str] = Counter()
    for (given, expected), answer in zip(cases, answers, strict=True):
        assert told(answer, given) == expected, (given, answer)
        seen["refused" if expected == "refused" else "some" if expected else "none"] += 1
    assert sum(seen.values()) == CASES
    assert seen["some"] > len(cases) // 5
    assert strategy == "CONFIG" or seen["refused"] > len(cases) // 50
    assert seen["none"] > len(cases) // 50
