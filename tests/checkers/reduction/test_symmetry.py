"""Symmetry reduction: exact counts, real runs, and texts that treat elements differently."""

import itertools
import math
import random

import pytest

from rocketproof.checkers.explore import Exploration, Limits, explore
from rocketproof.checkers.reduction import Reduction, Symmetry
from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import (
    Configuration,
    Domain,
    Int,
    Machine,
    ModelError,
    SetOf,
    State,
    all_of,
    any_of,
    ite,
    not_,
    same,
    trace,
)
from rocketproof.model.kernel.native import compile_machine
from rocketproof.model.kernel.plain import PlainMachine, StateTuple
from rocketproof.properties.examples import TWO_PHASE_COMMIT
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


class Slot(Domain, size="slots", label="s", symmetric=True):
    pass


class Side(Domain, size="sides", label="d"):
    pass


def counters(high: int) -> Machine:
    """Every slot counts up and starts again."""
    machine = Machine("counters")
    machine.constant("slots", 3, low=1)
    machine.variable("number", Int(0, high), Slot)

    @machine.action
    def count(s: State, i: Slot) -> None:
        s.require(s.number[i] < high)
        s.number[i] += 1

    @machine.action
    def again(s: State, i: Slot) -> None:
        s.require(s.number[i] == high)
        s.number[i] = 0

    return machine


def bag() -> Machine:
    """Messages under way in slots, from and to two sides; who has read something is a set."""
    machine = Machine("bag")
    machine.constant("slots", 4, low=1)
    machine.constant("sides", 2, low=1)
    machine.variable("age", Int(0, 2), Slot)
    machine.variable("to", bool, Slot, Side)
    machine.variable("read", SetOf(Slot), Side)
    machine.variable("got", Int(0, 3), Side)

    @machine.action
    def send(s: State, i: Slot, d: Side) -> None:
        s.require(s.age[i] == 0, s.got[d] < 3)
        s.age[i] = 1
        s.to[i, d] = True

    @machine.action
    def delay(s: State, i: Slot) -> None:
        s.require(s.age[i] == 1)
        s.age[i] = 2

    @machine.action
    def arrive(s: State, i: Slot, d: Side) -> None:
        s.require(s.age[i] > 0, s.to[i, d], s.got[d] < 3)
        s.age[i] = 0
        s.to[i, d] = False
        s.got[d] += 1
        s.read[d] = ite_set(s, i, d)

    def ite_set(s: State, i: int, d: int) -> object:
        return s.read[d].add(i) if s.sides > 0 else s.read[d]

    return machine


def always(name: str, holds: object) -> Property:
    return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=holds)  # type: ignore[arg-type]


FEW = always("few", lambda s: s.count(Side, lambda d: s.got[d] == 3) < 2)


def compared(configuration: Configuration, *properties: Property) -> tuple[Exploration, Exploration]:
    whole = explore(configuration, properties, deadlocks=True)
    reduced = explore(configuration, properties, deadlocks=True, reduce=Reduction.SYMMETRY)
    for left, right in zip(whole.results, reduced.results, strict=True):
        assert left.verdict is right.verdict
        assert (left.run is None) == (right.run is None)
        if left.run is not None and right.run is not None:
            assert len(left.run) == len(right.run)
            assert right.run.states[0] == left.run.states[0]
    return whole, reduced


@pytest.mark.parametrize(("slots", "high"), [(2, 1), (3, 2), (4, 2), (5, 1), (6, 3), (8, 1)])
def test_counters_are_counted_as_multisets(slots: int, high: int) -> None:
    whole, reduced = compared(counters(high).configure(slots=slots))
    assert whole.states == (high + 1) ** slots
    assert reduced.states == math.comb(slots + high, high)
    assert whole.depth == reduced.depth


def test_sorting_and_trying_find_representatives_of_the_same_classes() -> None:
    """8 slots are sorted, 4 slots tried in all orders: in both cases as many classes as there are multisets."""
    for slots, tried, in ((4, 23), (8, 0)):
        symmetry = Symmetry(compile_machine(trace(counters(1).configure(slots=slots))))
        assert len(symmetry.permutations.kept) == tried
        assert symmetry.order == math.factorial(slots)
        states = itertools.product((0, 1), repeat=slots)
        assert len({symmetry.representative(symmetry_words(symmetry, state)) for state in states}) == slots + 1


def symmetry_words(symmetry: Symmetry, state: StateTuple) -> tuple[int, ...]:
    return symmetry.layout.pack(state)


@pytest.mark.parametrize(
    ("slots", "sides", "states", "reduced"), [(2, 2, 0, 0), (3, 2, 0, 0), (4, 1, 0, 0), (5, 1, 0, 0)]
)
def test_slots_and_sides_together(slots: int, sides: int, states: int, reduced: int) -> None:
    configuration = bag().configure(slots=slots, sides=sides)
    whole, fewer = compared(configuration, FEW)
    print(whole.states, fewer.states)
    assert (whole.states, fewer.states) == (states, reduced)
