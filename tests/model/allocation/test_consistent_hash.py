"""The ring: calibration values, equal hashes, duplicate ids, and its stability at realistic sizes."""

import functools
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.allocation import (
    AllocationError,
    ConsistentHash,
    MessageQueue,
    ring,
    ring_hash,
    ring_precedes,
    ring_slot,
    sorted_ids,
)

from .strategies import crowded_hashes, id_lists, queue_lists


@pytest.mark.smoke
def test_hash_values() -> None:
    assert ring_hash("c1-0") == 3886541579
    assert ring_hash("MessageQueue [topic=T, brokerName=b, queueId=0]") == 562732085
    assert ring_hash("\ud800") == ring_hash("?")
    assert ring_hash("é-0") == 0x2F6923E2


@pytest.mark.smoke
def test_a_later_node_replaces_an_equal_one() -> None:
    assert ring(["a", "b"], 1, lambda key: 7) == {7: "b"}


@pytest.mark.smoke
def test_an_id_that_comes_twice_gets_new_nodes() -> None:
    numbers = {f"a-{replica}": replica for replica in range(6)}
    assert ring(["a", "a"], 2, numbers.__getitem__) == {0: "a", 1: "a", 2: "a", 3: "a"}


@pytest.mark.smoke
def test_replaced_nodes_do_not_count_for_new_numbers() -> None:
    # b-0 replaces a-1, so the second a starts at number 1 again, not at 2.
    places = {"a-0": 0, "a-1": 1, "b-0": 1, "b-1": 5, "a-2": 2}
    assert ring(["a", "b", "a"], 2, places.__getitem__) == {0: "a", 1: "a", 5: "b", 2: "a"}


@pytest.mark.smoke
def test_the_walk_goes_up_and_on_from_the_bottom() -> None:
    walk = [6, 9, 0, 3, 5]
    assert all(ring_precedes(6, one, other) for at, one in enumerate(walk) for other in walk[at + 1 :])
    assert not any(ring_precedes(6, other, one) for at, one in enumerate(walk) for other in walk[at:])
    assert [ring_slot(before, 3) for before in range(4)] == [0, 1, 2, 0]


@pytest.mark.smoke
def test_a_negative_number_of_nodes_is_refused() -> None:
    with pytest.raises(AllocationError, match="virtual_nodes is -1"):
        ConsistentHash(-1)


def ring_preference(
    queue: MessageQueue, ids: list[str], nodes: int = 10, hash: Callable[[str], int] = ring_hash
) -> tuple[str, ...]:
    """All clients in the order in which they would own ``queue``: the owner among any of them is the first of those.

    That this is one order for every set of members is what makes the ring stable when members come and go. It holds
    for equal hashes too, as long as every client sorts the ids (RB-6): of equal nodes the last in that order stays.
    """
    point, order = hash(str(queue)), sorted_ids(ids)

    def compare(one: tuple[int, int], other: tuple[int, int]) -> int:
        if one[0] == other[0]:
            return other[1] - one[1]
        return -1 if ring_precedes(point, one[0], other[0]) else 1

    places = [(hash(f"{client}-{replica}"), place) for place, client in enumerate(order) for replica in range(nodes)]
    return tuple(dict.fromkeys(order[place] for _, place in sorted(places, key=functools.cmp_to_key(compare))))


@pytest.mark.smoke
def test_preference() -> None:
    orders = [ring_preference(MessageQueue("T", "b", number), ["c1", "c2", "c3"]) for number in range(3)]
    assert orders == [("c2", "c1", "c3"), ("c3", "c1", "c2"), ("c1", "c2", "c3")]


def owners(strategy: ConsistentHash, queues: list[MessageQueue], ids: list[str]) -> dict[MessageQueue, list[str]]:
    found: dict[MessageQueue, list[str]] = {queue: [] for queue in queues}
    for own in ids:
        for queue in strategy.allocate(own, queues, ids):
            found[queue].append(own)
    return found


HASHES = st.one_of(st.just(ring_hash), crowded_hashes())


@given(queues=queue_lists(max_queues=64), ids=id_lists(max_clients=40), hash=HASHES)
def test_every_queue_has_one_owner(queues: list[MessageQueue], ids: list[str], hash: Callable[[str], int]) -> None:
    assert {len(found) for found in owners(ConsistentHash(10, hash), queues, ids).values()} == {1}


@given(queues=queue_lists(max_queues=64), ids=id_lists(max_clients=40), hash=HASHES, data=st.data())
def test_a_joining_member_only_takes_queues(
    queues: list[MessageQueue], ids: list[str], hash: Callable[[str], int], data: st.DataObject
) -> None:
    joiner = data.draw(st.sampled_from(ids))
    strategy = ConsistentHash(10, hash)
    before = owners(strategy, queues, [own for own in ids if own != joiner]) if len(ids) > 1 else {}
    for queue, after in owners(strategy, queues, ids).items():
        assert after in ([joiner], before.get(queue))


@given(queues=queue_lists(max_queues=16), ids=id_lists(max_clients=12), hash=HASHES, data=st.data())
def test_the_owner_is_the_first_member_in_order_of_preference(
    queues: list[MessageQueue], ids: list[str], hash: Callable[[str], int], data: st.DataObject
) -> None:
    members = data.draw(st.lists(st.sampled_from(ids), min_size=1, unique=True).map(set))
    present = [own for own in ids if own in members]
    found = owners(ConsistentHash(10, hash), queues, present)
    for queue in queues:
        order = ring_preference(queue, ids, 10, hash)
        assert sorted(order) == sorted(ids)
        assert found[queue] == [next(own for own in order if own in members)]
