"""The plain Python form: steps, enabled instances, predicates, errors; equal to Z3 on the examples."""

import random
from typing import Any

import pytest
import z3

from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import Int, Machine, ModelError, State, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties import examples
from rocketproof.properties.examples import EXPECTED

pytestmark = pytest.mark.smoke


def test_a_step_gives_the_next_state_or_none() -> None:
    lowered = lower(two_phase_commit.machine.configure(managers=1), {"consistent": examples.consistent.holds})
    plain = PlainMachine(lowered)
    numbers = {instance.label: instance.number for instance in lowered.instances}
    assert plain.initial == (0, 0, 0, 0, 0, 0)
    assert plain.step(plain.initial, numbers["commit"]) is None
    prepared = plain.step(plain.initial, numbers["prepare(r0)"])
    assert prepared == (1, 0, 0, 1, 0, 0)
    assert [lowered.instances[number].label for number in plain.enabled(prepared)] == ["hear_prepared(r0)", "abort"]
    assert [(lowered.instances[number].label, state) for number, state in plain.successors(prepared)] == [
        ("hear_prepared(r0)", (1, 0, 1, 1, 0, 0)),
        ("abort", (1, 2, 0, 1, 0, 1)),
    ]
    assert plain.holds("consistent", prepared)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected.name)
def test_steps_and_predicates_are_what_z3_says_on_random_states(expected: Any) -> None:
    lowered = lower(expected.sized.configuration, {prop.id: prop.holds for prop in expected.properties})
    plain = PlainMachine(lowered)
    chance = random.Random(1)
    taken = 0
    for _ in range(6):
        state = tuple(chance.randint(cell.family.low, cell.family.high or 0) for cell in lowered.cells)
        values = [
            (cell.symbol, z3.BoolVal(bool(value)) if cell.family.is_bool else z3.IntVal(value))
            for cell, value in zip(lowered.cells, state, strict=True)
        ]

        def at(term: Any, values: Any = values) -> int:
            result = z3.simplify(z3.substitute(term, *values))
            return int(z3.is_true(result)) if z3.is_bool(term) else int(result.as_long())

        for name, predicate in lowered.predicates.items():
            assert plain.holds(name, state) == bool(at(predicate.term))
        for instance in lowered.instances:
            if not at(instance.guard):
                assert plain.step(state, instance.number) is None
            elif not all(at(check.condition) for check in instance.checks):
                with pytest.raises(ModelError, match="allowed is"):
                    plain.step(state, instance.number)
            else:
                taken += 1
                wanted = [at(instance.updates[n]) if n in instance.updates else old for n, old in enumerate(state)]
                assert plain.step(state, instance.number) == tuple(wanted)
    assert taken > 0


def test_a_write_outside_its_domain_names_action_variable_and_value() -> None:
    machine = Machine("example")
    machine.variable("x", Int(-1, 2))

    @machine.action
    def grow(s: State) -> None:
        s.x += 2

    plain = PlainMachine(lower(machine.configure()))
    state = plain.step(plain.initial, 0)
    assert state == (1,)
    with pytest.raises(ModelError) as caught:
        plain.step(state, 0)
    assert str(caught.value) == "machine example, action grow: writes 3 to x, allowed is -1…2."
    assert plain.enabled(state) == [0]
