"""Refinement by induction: for every number of elements, with found invariants, and what else stands in the way."""

from collections.abc import Mapping
from typing import Any

import pytest

from rocketproof.checkers.catalogue import refinement_rows
from rocketproof.checkers.inductive_refinement import prove_refinement
from rocketproof.checkers.refinement import STUTTERS, check_refinement
from rocketproof.checkers.suite import Options, run_suite
from rocketproof.model.examples.two_phase_commit import Manager, Stage
from rocketproof.model.examples.two_phase_commit import machine as two_phase_commit
from rocketproof.model.kernel import UNBOUNDED, Machine, State, any_of, implies
from rocketproof.model.kernel.refinement import Refinement
from rocketproof.properties.property import always
from rocketproof.properties.verdict import Verdict

from .test_refinement import dimmed

_LITTLE = 2_000_000
"""Z3 resource units, where nothing is to be found."""


def commitment() -> Machine:
    """Managers that agree, without messages (TCommit of Gray and Lamport)."""
    agree = Machine("agree")
    agree.constant("managers", 3, low=1)
    agree.variable("stage", Stage, Manager)

    @agree.action
    def prepare(s: State, r: Manager) -> None:
        s.require(s.stage[r] == Stage.WORKING)
        s.stage[r] = Stage.PREPARED

    @agree.action
    def commit(s: State, r: Manager) -> None:
        s.require(s.stage[r] == Stage.PREPARED)
        s.require(s.forall(Manager, lambda o: any_of(s.stage[o] == Stage.PREPARED, s.stage[o] == Stage.COMMITTED)))
        s.stage[r] = Stage.COMMITTED

    @agree.action
    def abort(s: State, r: Manager) -> None:
        s.require(s.stage[r] <= Stage.PREPARED, s.forall(Manager, lambda o: s.stage[o] != Stage.COMMITTED))
        s.stage[r] = Stage.ABORTED

    return agree


def agreed(managers: int | str, *, impatient: int = 0) -> Refinement:
    """Two-phase commit agrees."""
    concrete = two_phase_commit.configure(managers=managers, impatient=impatient)
    return Refinement(concrete=concrete, abstract=commitment().configure(managers=managers), mapping=lambda s: {})


def test_every_number_of_lamps_at_once() -> None:
    result = prove_refinement("dim", dimmed(UNBOUNDED))
    assert (result.verdict, result.bounds) == (Verdict.HOLDS, "all runs, for all lamps ≥ 1; inductive")


@pytest.mark.parametrize("managers", [3, pytest.param(UNBOUNDED, marks=pytest.mark.slow)])
def test_two_phase_commit_agrees_by_invariants_that_are_found(managers: int | str) -> None:
    result = prove_refinement("agrees", agreed(managers))
    assert result.verdict is Verdict.HOLDS
    assert "invariant: " in result.explanation


def test_a_broken_machine_is_violated_by_search_and_unknown_by_induction() -> None:
    assert check_refinement("agrees", agreed(2, impatient=1)).verdict is Verdict.VIOLATED
    result = prove_refinement("agrees", agreed(2, impatient=1), work=_LITTLE)
    assert (result.verdict, result.run) == (Verdict.UNKNOWN, None)
    assert "may have no counterpart in agree" in result.explanation
    assert "it may happen (if reachable) in: " in result.explanation


@pytest.mark.parametrize("lamps", [2, UNBOUNDED])
def test_a_step_without_counterpart_is_unknown_with_the_state(lamps: int | str) -> None:
    result = prove_refinement("dim", dimmed(lamps, all_off=True), work=_LITTLE)
    if lamps == UNBOUNDED:  # with a single lamp, all lamps go off by one step
        assert result.verdict is Verdict.UNKNOWN
        return
    assert result.explanation.splitlines()[:3] == [
        "dark may have no counterpart in switches",
        "    lit[l0]: true → false",
        "    lit[l1]: true → false",
    ]
    assert result.bounds == "all runs; not shown inductive"
    assert prove_refinement("dim", dimmed(all_off=True, steps=2)).verdict is Verdict.HOLDS


def _crossed(s: State) -> Mapping[str, Any]:
    return {"lit": lambda _: s.level[0] > 0}


def _reversed(s: State) -> Mapping[str, Any]:
    return {"lit": lambda item: s.level[item] < 2}


def test_a_broken_mapping_is_unknown() -> None:
    assert "brighter(l0) may have no counterpart" in prove_refinement("dim", dimmed(mapping=_crossed)).explanation
    for lamps in (2, UNBOUNDED):
        begins = prove_refinement("dim", dimmed(lamps, mapping=_reversed))
        assert (begins.verdict, begins.explanation) == (
            Verdict.UNKNOWN,
            "it begins where the abstract machine does not",
        )
        idle = prove_refinement("dim", dimmed(lamps, mapping=lambda s: {"lit": False}))
        assert (idle.verdict, idle.explanation) == (Verdict.UNKNOWN, STUTTERS)


def test_little_work_and_false_lemmas_are_unknown() -> None:
    assert prove_refinement("dim", dimmed(), work=1000).verdict is Verdict.UNKNOWN

    @always("never-bright")
    def never_bright(s: State) -> Any:
        """No lamp is at its brightest."""
        return implies(True, s.level[0] < 2)

    assert prove_refinement("dim", dimmed(all_off=True), lemmas=[never_bright]).verdict is Verdict.UNKNOWN


def test_every_inductive_refinement_of_the_suite_holds() -> None:
    rows = [row for row in refinement_rows() if row.engines[0] == "prove"]
    outcomes = list(run_suite(rows, Options()))
    assert [outcome.result.verdict for outcome in outcomes] == [Verdict.HOLDS] * 5
    assert all("any number of" in outcome.result.bounds for outcome in outcomes)
    assert any("client_window ≥ 1" in outcome.result.bounds for outcome in outcomes)
