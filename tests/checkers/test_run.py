"""Runs that engines find are taken once more by the texts; a text that differs from its terms is noticed."""

from dataclasses import replace

import pytest

from rocketproof.checkers.run import holds, replay
from rocketproof.model.examples import two_phase_commit
from rocketproof.model.kernel import ModelError, State, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties import examples

LOWERED = lower(two_phase_commit.machine.configure(managers=2), {"consistent": examples.consistent.holds})


def with_text(name: str, text: object) -> PlainMachine:
    """The terms of the machine as they are, beside a text of one action that says something else."""
    machine = two_phase_commit.machine
    changed = replace(machine.actions[name], function=text)
    other = replace(machine, actions={**machine.actions, name: changed})
    return PlainMachine(replace(LOWERED, configuration=other.configure(managers=2)))


def test_texts_and_terms_take_the_same_steps() -> None:
    plain = PlainMachine(LOWERED)
    run = replay(plain, [0, 1])
    assert [LOWERED.instances[number].label for number in run.steps] == ["prepare(r0)", "prepare(r1)"]
    assert holds(plain, "consistent", run.states[-1])


def test_a_text_that_does_something_else_than_its_terms_is_a_defect() -> None:
    def prepares_in_silence(s: State, r: two_phase_commit.Manager) -> None:
        s.stage[r] = two_phase_commit.Stage.PREPARED

    def never_prepares(s: State, r: two_phase_commit.Manager) -> None:
        s.require(s.stage[r] == two_phase_commit.Stage.ABORTED)

    for text in (prepares_in_silence, never_prepares):
        with pytest.raises(ModelError, match=r"texts and terms disagree about step 1, prepare\(r0\)"):
            replay(with_text("prepare", text), [0])


def test_a_property_that_says_something_else_than_its_terms_is_a_defect() -> None:
    consistent = replace(LOWERED.predicates["consistent"], text=examples.mixed.holds)
    plain = PlainMachine(replace(LOWERED, predicates={"consistent": consistent}))
    with pytest.raises(ModelError, match="text and terms disagree about 'consistent'"):
        holds(plain, "consistent", plain.initial)
