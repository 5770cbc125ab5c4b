"""Conditions of a queue can be joined: each is a bit of its own."""

from rocketproof.traces.claims.marks import Condition


def test_each_condition_is_a_bit_of_its_own() -> None:
    assert [int(condition) for condition in Condition] == [1 << number for number in range(len(Condition))]
    assert set(Condition.__members__) - {condition.name for condition in Condition} == {"NONE"}
    assert Condition.NONE == 0
