"""The index arithmetic: the same on plain numbers as on terms, and as the strategies themselves use it."""

from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.allocation import (
    Averagely,
    AveragelyByCircle,
    ByMachineRoom,
    MessageQueue,
    Sharing,
    Strategy,
    averagely_count,
    averagely_owner,
    averagely_owns,
    averagely_start,
    circle_count,
    circle_owner,
    circle_owns,
    config_takes,
    machine_room_count,
    machine_room_owner,
    machine_room_owns,
    nearby_sharing,
    ring_precedes,
    ring_slot,
)
from rocketproof.model.kernel import Rule

NUMBER_RULES: list[Rule[..., Any]] = [
    averagely_start,
    averagely_count,
    averagely_owns,
    averagely_owner,
    circle_owns,
    circle_owner,
    circle_count,
    machine_room_owns,
    machine_room_owner,
    machine_room_count,
    nearby_sharing,
    ring_precedes,
    ring_slot,
]


def as_term(rule: Rule[..., Any], values: list[int]) -> int | bool:
    symbols, expression = rule.term()
    known = z3.simplify(z3.substitute(expression, *zip(symbols, map(z3.IntVal, values), strict=True)))
    return z3.is_true(known) if z3.is_bool(known) else int(known.as_long())


@pytest.mark.parametrize("rule", NUMBER_RULES, ids=lambda rule: rule.__name__)
@given(data=st.data())
def test_plain_numbers_and_terms_agree(rule: Rule[..., Any], data: st.DataObject) -> None:
    low = {"consumers": 1}
    values = [data.draw(st.integers(low.get(name, 0), 40), label=name) for name in rule.parameters]
    assert rule(*values) == as_term(rule, values)


@pytest.mark.parametrize("rule", NUMBER_RULES, ids=lambda rule: rule.__name__)
def test_machine_code_agrees(rule: Rule[..., Any]) -> None:
    rows = [[0, 0, 5, 3], [4, 2, 5, 3], [7, 1, 8, 3], [2, 3, 3, 5], [39, 6, 40, 7]]
    for row in rows:
        values = row[-len(rule.parameters) :]
        assert rule.native(*values) == int(rule(*values))


@pytest.mark.smoke
def test_config_and_nearby() -> None:
    assert [config_takes(listed, offered) for listed in (True, False) for offered in (True, False)] == [
        True,
        True,
        False,
        False,
    ]
    assert nearby_sharing(1, 1, 1) == Sharing.ROOM
    assert nearby_sharing(1, 2, 0) == Sharing.EVERYONE
    assert nearby_sharing(1, 2, 3) == Sharing.NOT_MINE


@pytest.mark.parametrize(
    ("strategy", "owns", "owner", "count"),
    [
        (Averagely(), averagely_owns, averagely_owner, averagely_count),
        (AveragelyByCircle(), circle_owns, circle_owner, circle_count),
        (ByMachineRoom(frozenset({"r"})), machine_room_owns, machine_room_owner, machine_room_count),
    ],
    ids=["AVG", "AVG_BY_CIRCLE", "MACHINE_ROOM"],
)
def test_lists_follow_the_rules(
    strategy: Strategy, owns: Rule[..., Any], owner: Rule[..., Any], count: Rule[..., Any]
) -> None:
    for consumers in range(1, 9):
        ids = [f"c{number}" for number in range(consumers)]
        for size in range(1, 17):
            queues = [MessageQueue("T", "r@b", number) for number in range(size)]
            for index, own in enumerate(ids):
                mine = [queue.queue_id for queue in strategy.allocate(own, queues, ids)]
                assert mine == [queue for queue in range(size) if owns(queue, index, size, consumers)]
                assert mine == [queue for queue in range(size) if owner(queue, size, consumers) == index]
                assert len(mine) == count(index, size, consumers)
