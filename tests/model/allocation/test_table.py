"""Strategies as finite tables."""

import itertools

import pytest

from rocketproof.model.allocation import (
    AllocationError,
    Averagely,
    ByConfig,
    ConsistentHash,
    MessageQueue,
    allocation_table,
    ring_preference,
)

pytestmark = pytest.mark.smoke

QUEUES = [MessageQueue("T", "b", number) for number in range(3)]


def test_every_set_of_members_has_its_shares() -> None:
    assert allocation_table(Averagely(), QUEUES, ["a", "b"]) == {
        (0,): {0: (0, 1, 2)},
        (1,): {1: (0, 1, 2)},
        (0, 1): {0: (0, 1), 1: (2,)},
    }


def test_positions_are_those_given_though_the_strategy_sees_sorted_lists() -> None:
    assert allocation_table(Averagely(), QUEUES[::-1], ["b", "a"])[(0, 1)] == {0: (0,), 1: (1, 2)}


def test_the_table_of_the_ring_is_its_preference_order() -> None:
    ids = ["c1", "c2", "c3", "c4"]
    table = allocation_table(ConsistentHash(), QUEUES, ids)
    assert len(table) == 15
    for members, place in itertools.product(table, range(3)):
        order = [ids.index(own) for own in ring_preference(QUEUES[place], ids)]
        owner = next(member for member in order if member in members)
        assert [member for member in members if place in table[members][member]] == [owner]


def test_what_a_table_cannot_hold() -> None:
    with pytest.raises(AllocationError, match="comes twice"):
        allocation_table(Averagely(), QUEUES, ["a", "a"])
    with pytest.raises(AllocationError, match="comes twice"):
        allocation_table(Averagely(), [QUEUES[0], QUEUES[0]], ["a"])
    with pytest.raises(AllocationError, match=r"CONFIG gives 'a' of \['a'\] the queue .*brokerName=x"):
        allocation_table(ByConfig((MessageQueue("T", "x", 0),)), QUEUES, ["a"])
