"""Symmetry reduction: exact counts, real runs, and texts that treat elements differently."""

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from rocketproof.checkers.exploration import Exploration, Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.reduction import Reduction
from rocketproof.checkers.reduction.symmetry import Symmetry
from rocketproof.model.examples import dining_philosophers, two_phase_commit
from rocketproof.model.kernel import (
    Configuration,
    Domain,
    Int,
    Lowered,
    Machine,
    ModelError,
    SetOf,
    State,
    any_of,
    lower,
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
    """Messages under way in slots to a few sides; each side remembers in which slots something came."""
    machine = Machine("bag")
    machine.constant("slots", 4, low=1)
    machine.constant("sides", 2, low=1)
    machine.variable("age", Int(0, 2), Slot)
    machine.variable("to", bool, Slot, Side)
    machine.variable("seen", SetOf(Slot), Side)
    machine.variable("got", Int(0, 2), Side)

    @machine.action
    def send(s: State, i: Slot, d: Side) -> None:
        s.require(s.age[i] == 0, s.got[d] < 2)
        s.age[i] = 1
        s.to[i, d] = True

    @machine.action
    def delay(s: State, i: Slot) -> None:
        s.require(s.age[i] == 1)
        s.age[i] = 2

    @machine.action
    def arrive(s: State, i: Slot, d: Side) -> None:
        s.require(s.age[i] > 0, s.to[i, d], s.got[d] < 2)
        s.age[i] = 0
        s.to[i, d] = False
        s.got[d] += 1
        s.seen[d] = s.seen[d].add(i)

    return machine


def always(name: str, holds: Any) -> Property:
    return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=holds)


NOT_TWICE = always("not-twice", lambda s: s.count(Side, lambda d: s.got[d] == 2) < s.sides)


def compared(configuration: Configuration, *properties: Property) -> tuple[Exploration, Exploration]:
    """The whole and the reduced search, after their answers have been found the same."""
    whole = explore(configuration, properties, deadlocks=True)
    reduced = explore(configuration, properties, deadlocks=True, reduce=Reduction.SYMMETRY)
    for left, right in zip(whole.results, reduced.results, strict=True):
        assert left.verdict is right.verdict
        assert (left.run is None) == (right.run is None)
        if left.run is not None and right.run is not None:
            assert len(left.run) == len(right.run)
    return whole, reduced


def reachable(plain: PlainMachine) -> list[StateTuple]:
    states = [plain.initial]
    known = set(states)
    for state in states:
        for _, following in plain.successors(state):
            if following not in known:
                known.add(following)
                states.append(following)
    return states


def permutations(lowered: Lowered) -> Iterator[list[int]]:
    """For each permutation of slots and of sides: where every cell goes."""
    numbers = {cell.key: number for number, cell in enumerate(lowered.cells)}
    constants: Any = lowered.configuration.constants
    for slots in itertools.permutations(range(constants.slots)):
        for sides in itertools.permutations(range(constants.sides)):
            goes = {"Slot": slots, "Side": sides}
            images = []
            for cell in lowered.cells:
                index = zip(cell.family.dims, cell.index, strict=True)
                images.append(numbers[(cell.family.name, tuple(goes[dim.name][item or 0] for dim, item in index))])
            yield images


def permuted(state: StateTuple, images: list[int]) -> StateTuple:
    result = list(state)
    for value, image in zip(state, images, strict=True):
        result[image] = value
    return tuple(result)


@pytest.mark.parametrize(("slots", "high"), [(2, 1), (3, 2), (4, 2), (5, 1), (6, 3), (8, 1)])
def test_counters_are_counted_as_multisets(slots: int, high: int) -> None:
    whole, reduced = compared(counters(high).configure(slots=slots))
    assert whole.states == (high + 1) ** slots
    assert reduced.states == math.comb(slots + high, high)
    assert whole.depth == reduced.depth


@pytest.mark.parametrize(("slots", "tried"), [(4, 24), (8, 1)])
def test_representatives_by_trying_and_by_sorting(slots: int, tried: int) -> None:
    """The orders of 4 slots are all tried, 8 slots are sorted: there are as many classes as there are multisets."""
    native = compile_machine(lower(counters(1).configure(slots=slots)))
    symmetry = Symmetry(native)
    assert symmetry.order == math.factorial(slots)
    assert symmetry.tried == tried
    states = [native.layout.pack(state) for state in itertools.product((0, 1), repeat=slots)]
    assert len({symmetry.representative(state) for state in states}) == slots + 1


@pytest.mark.parametrize(
    ("slots", "sides", "states", "classes"),
    [(2, 2, 588, 156), (3, 2, 7652, 709), (4, 1, 783, 73), (5, 1, 3213, 111)],
)
def test_there_is_one_state_of_each_class(slots: int, sides: int, states: int, classes: int) -> None:
    configuration = bag().configure(slots=slots, sides=sides)
    whole, reduced = compared(configuration, NOT_TWICE)
    assert (whole.states, reduced.states) == (states, classes)
    lowered = lower(configuration)
    images = list(permutations(lowered))
    assert (
        len({min(permuted(state, image) for image in images) for state in reachable(PlainMachine(lowered))}) == classes
    )


def test_steps_of_permuted_states_are_permuted_steps() -> None:
    """What is proven of each text, tried on random states."""
    native = compile_machine(lower(bag().configure(slots=4)))
    plain = PlainMachine(native.lowered)
    symmetry = Symmetry(native)
    images = list(permutations(native.lowered))
    states = reachable(plain)
    chance = random.Random(7)

    def classes_after(state: StateTuple) -> set[tuple[int, ...]]:
        return {symmetry.representative(native.layout.pack(following)) for _, following in plain.successors(state)}

    for state in chance.sample(states, 60):
        other = permuted(state, chance.choice(images))
        packed, other_packed = native.layout.pack(state), native.layout.pack(other)
        assert symmetry.representative(packed) == symmetry.representative(other_packed)
        assert classes_after(state) == classes_after(other)


def test_a_run_is_one_of_the_machine_not_of_representatives() -> None:
    _, reduced = compared(bag().configure(slots=3, sides=2), NOT_TWICE)
    run = reduced.results[0].run
    assert run is not None
    plain = PlainMachine(run.lowered)
    for before, number, after in zip(run.states, run.steps, run.states[1:], strict=False):
        assert plain.step(before, number) == after
    assert reduced.results[0].verdict is Verdict.VIOLATED
    assert reduced.results[0].bounds.endswith("(with symmetry reduction)")


def test_managers_are_found_to_be_interchangeable() -> None:
    whole, reduced = compared(two_phase_commit.machine.configure(managers=5), *TWO_PHASE_COMMIT)
    assert (whole.states, reduced.states) == (8832, 314)


def test_a_limit_leaves_the_verdict_unknown() -> None:
    found = explore(
        counters(3).configure(slots=6),
        [always("low", lambda s: s.count(Slot, lambda i: s.number[i] == 3) < 6)],
        reduce=Reduction.SYMMETRY,
        limits=Limits(states=20),
    )
    assert found.results[0].verdict is Verdict.UNKNOWN


def test_a_write_outside_a_domain_is_still_named() -> None:
    machine = counters(2)

    @machine.action
    def leap(s: State, i: Slot) -> None:
        s.require(s.number[i] == 2)
        s.number[i] = s.number[i] + 1

    with pytest.raises(ModelError, match=r"leap\(s.\): writes 3 to number\[s.\]"):
        explore(machine.configure(), reduce=Reduction.SYMMETRY)


def refusal(text: Any) -> str:
    machine = counters(2)
    machine.variable("first", Int(0, 2))
    machine.action(text)
    with pytest.raises(ModelError) as error:
        explore(machine.configure(), reduce=Reduction.SYMMETRY)
    return str(error.value)


def test_texts_that_treat_elements_differently_are_refused() -> None:
    def order(s: State, i: Slot) -> None:
        s.require(s.exists(Slot, lambda j: s.number[j] == 2 if j < i else False))
        s.number[i] = 0

    def least(s: State) -> None:
        s.first = s.least(Slot, lambda i: s.number[i] == 2, default=0)

    def one(s: State) -> None:
        s.number[0] = 0

    def add(s: State, i: Slot) -> None:
        s.require(s.number[i] + i > 2)
        s.number[i] = 0

    assert "action order(s1): the elements of Slot are not interchangeable" in refusal(order)
    assert "to exchange s0 and s1 changes the guard, which then can never be true" in refusal(order)
    assert "action least: the elements of Slot" in refusal(least)
    assert "changes the value given to first" in refusal(least)
    assert "changes the value given to number[s0]" in refusal(one)
    assert "action add(s0): the elements of Slot" in refusal(add)
    assert "to exchange s0 and s1 changes the guard." in refusal(add)


def test_properties_and_initial_states_that_treat_elements_differently_are_refused() -> None:
    mine = always("mine", lambda s: s.number[1] < 2)
    with pytest.raises(ModelError, match="property mine: the elements of Slot are not interchangeable; to exchange s0"):
        explore(counters(2).configure(), [mine], reduce=Reduction.SYMMETRY)
    machine = counters(2)
    machine.variable("chief", bool, Slot, init=lambda k, i: i == 0)
    with pytest.raises(ModelError, match=r"what chief\[s0\] and chief\[s1\] begin with"):
        explore(machine.configure(), reduce=Reduction.SYMMETRY)


def test_domains_that_are_not_declared_symmetric_may_be_asymmetric() -> None:
    """A property about one side alone: sides are then not exchanged, slots still are."""
    configuration = bag().configure(slots=3, sides=2)
    left = always("left", lambda s: any_of(s.got[0] < 2, s.got[1] > 0))
    whole, reduced = compared(configuration, left)
    _, more = compared(configuration, NOT_TWICE)
    assert more.states < reduced.states < whole.states


def test_where_nothing_is_symmetric_the_reduction_is_refused() -> None:
    with pytest.raises(ModelError, match="symmetry reduction needs a domain of two or more interchangeable elements"):
        explore(dining_philosophers.machine.configure(philosophers=3), reduce=Reduction.SYMMETRY)
    with pytest.raises(ModelError, match="has none"):
        explore(counters(2).configure(slots=1), reduce=Reduction.SYMMETRY)


def test_too_many_permutations_are_refused() -> None:
    machine = Machine("pairs")
    machine.constant("slots", 8)
    machine.variable("knows", bool, Slot, Slot)

    @machine.action
    def meet(s: State, i: Slot, j: Slot) -> None:
        s.knows[i, j] = True

    with pytest.raises(ModelError, match=r"Slot \(8\) have 40,320 permutations, 120 can be tried"):
        explore(machine.configure(), reduce=Reduction.SYMMETRY, limits=Limits(states=10))
    undeclared = Machine("undeclared")
    undeclared.constant("sides", 6)
    undeclared.variable("knows", bool, Side, Side)

    @undeclared.action
    def learn(s: State, i: Side, j: Side) -> None:
        s.knows[i, j] = True

    with pytest.raises(ModelError, match=r"Side \(6\) have 720 permutations"):
        explore(undeclared.configure(), reduce=Reduction.SYMMETRY, limits=Limits(states=10))
    graphs = explore(machine.configure(slots=3), reduce=Reduction.SYMMETRY)
    assert graphs.states == 104  # directed graphs with loops on 3 nodes, up to isomorphism
