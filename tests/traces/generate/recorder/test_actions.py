"""Every action of the machines that can be recorded is recorded, or it is said why nobody could."""

from __future__ import annotations

import pytest

from rocketproof.model.assignment import assignment
from rocketproof.model.consumption import consumption
from rocketproof.model.everything import everything
from rocketproof.model.kernel import Machine
from rocketproof.traces.generate.recorder import ACTIONS, UNSEEN

MACHINES = (assignment, consumption, everything)


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_every_action_is_recorded_or_unseen(machine: Machine) -> None:
    assert sorted(set(machine.actions) - set(ACTIONS) - set(UNSEEN)) == []


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: machine.name)
def test_so_is_every_action_that_a_mutant_adds(machine: Machine) -> None:
    added = {name for mutant in machine.mutants for name in machine.mutated(mutant).actions} - set(machine.actions)
    assert sorted(added - set(ACTIONS) - set(UNSEEN)) == []


def test_nothing_is_both_and_nothing_is_left_over() -> None:
    there = {name for machine in MACHINES for mutant in machine.mutants for name in machine.mutated(mutant).actions}
    texts = {mutant.function.__name__ for machine in MACHINES for mutant in machine.mutants.values() if mutant.function}
    assert ACTIONS.keys() & UNSEEN.keys() == set()
    assert (ACTIONS.keys() | UNSEEN.keys()) - there - texts == set()


def test_every_reason_is_one() -> None:
    assert [name for name, reason in UNSEEN.items() if len(reason.split()) < 2] == []
