"""The transition relation for Z3 has exactly the steps of the plain Python form, in every solver it is given to."""

from typing import Any

import pytest
import z3

from rocketproof.checkers.prove import bounded, prove, prove_inductive
from rocketproof.checkers.prove.solving import Effort, Solver, fits_finite_domain
from rocketproof.checkers.prove.transition import Transition
from rocketproof.model.examples import EXAMPLES
from rocketproof.model.kernel import (
    UNBOUNDED,
    Configuration,
    Domain,
    Int,
    Lowered,
    Machine,
    ModelError,
    SetOf,
    State,
    all_of,
    ite,
    lower,
)
from rocketproof.model.kernel.plain import PlainMachine, StateTuple
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict


def reachable(machine: PlainMachine) -> list[StateTuple]:
    found = [machine.initial]
    for state in found:
        found.extend(after for _, after in machine.successors(state) if after not in found)
    return found


def models(solver: Solver, symbols: list[Any]) -> set[tuple[int, ...]]:
    """All values that the symbols can have together."""
    found = set()
    while Effort().ask(solver) == z3.sat:
        model = solver.model()
        values = tuple(model.number(symbol) for symbol in symbols)
        found.add(values)
        solver.add(z3.Or([symbol != literal(symbol, value) for symbol, value in zip(symbols, values, strict=True)]))
    return found


def literal(symbol: Any, value: int) -> Any:
    return z3.BoolVal(bool(value)) if z3.is_bool(symbol) else z3.IntVal(value)


def position(transition: Transition, lowered: Lowered, number: int) -> list[Any]:
    return [transition.at(cell.symbol, number) for cell in lowered.cells]


@pytest.mark.parametrize(
    ("machine", "short", "states", "finite_domain"),
    [
        ("two_phase_commit", "one", 12, True),
        ("two_phase_commit", "one", 12, False),
        ("peterson", "swapped", 32, True),
        ("dining_philosophers", "two", 13, True),
        ("bounded_buffer", "losing", 37, False),
        ("bounded_buffer", "overwriting", 15, False),
    ],
)
def test_steps_are_those_of_the_plain_form(machine: str, short: str, states: int, finite_domain: bool) -> None:
    lowered = lower(EXAMPLES[machine].configurations[short].configuration)
    plain, transition = PlainMachine(lowered), Transition(lowered)
    here, there = position(transition, lowered, 4), position(transition, lowered, 5)
    everywhere = reachable(plain)
    assert len(everywhere) == states
    for state in everywhere:
        solver = Solver(finite_domain=finite_domain)
        solver.add(transition.domain(4), transition.step(4), transition.domain(5))
        solver.add(*(symbol == literal(symbol, value) for symbol, value in zip(here, state, strict=True)))
        expected = {(number, *after) for number, after in plain.successors(state)}
        assert models(solver, [transition.choice(4), *there]) == expected


def test_the_start_is_the_initial_state_alone() -> None:
    lowered = lower(EXAMPLES["bounded_buffer"].configurations["everything"].configuration)
    transition = Transition(lowered)
    solver = Solver(finite_domain=False)
    solver.add(*transition.start())
    assert models(solver, position(transition, lowered, 0)) == {lowered.initial_state()}


def test_what_an_action_does_not_write_it_cannot_change() -> None:
    configuration = EXAMPLES["two_phase_commit"].configurations["one"].configuration
    lowered = lower(configuration, {"commit": lambda s: s.commit_sent})
    transition = Transition(lowered)
    changes = [
        instance.label
        for instance in lowered.instances
        if transition.says_after("commit", 0, instance, truth=False) is not None
    ]
    assert changes == ["commit"]


# --- the fast solver ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "short", "fits"),
    [
        ("two_phase_commit", "three", True),
        ("dining_philosophers", "five", True),
        ("bounded_buffer", "small", False),
    ],
)
def test_the_fast_solver_is_kept_from_division(machine: str, short: str, fits: bool) -> None:
    transition = Transition(lower(EXAMPLES[machine].configurations[short].configuration))
    assert fits_finite_domain(transition.terms) is fits


def test_the_fast_solver_is_kept_from_arrays_and_quantifiers() -> None:
    x, array = z3.Int("x"), z3.Array("array", z3.IntSort(), z3.BoolSort())
    assert fits_finite_domain([x + 2 * x - 1 == -x, z3.If(x < 3, x >= 1, x == 0)])
    assert not fits_finite_domain([x == 1, z3.Select(array, x)])
    assert not fits_finite_domain([z3.ForAll([x], x < x + 1)])
    assert not fits_finite_domain([z3.If(x > 0, x / 2, x) == 1])
    assert not fits_finite_domain([x % 3 == 2])


def test_a_part_of_the_effort_counts_for_the_whole() -> None:
    effort = Effort()
    part = effort.part(0.5)
    solver = Solver(finite_domain=False)
    assert part.ask(solver) == z3.sat
    assert (effort.questions, part.questions) == (1, 1)
    assert part.left < effort.left


# --- unbounded configurations -------------------------------------------------------------------------------------


class Cell(Domain, size="cells", label="c"):
    """The cells of a tape."""


def tape(*, beyond: bool, cells: int | str = UNBOUNDED) -> Configuration:
    """A head moves right and marks the cells it passes, the last one only with a guard in place."""
    machine = Machine("tape")
    machine.constant("cells", 2, low=1)
    machine.variable("head", Int(0, "cells"))
    machine.variable("mark", Int(0, 2), Cell)
    machine.variable("blank", SetOf(Cell), init=True)

    @machine.action
    def move(s: State) -> None:
        s.require(s.head <= s.cells if beyond else s.head < s.cells)
        s.mark[s.head] = 1
        s.blank = s.blank.remove(s.head)
        s.head = ite(s.head < s.cells, s.head + 1, s.head)

    return machine.configure(cells=cells)


def test_a_write_beyond_an_unbounded_domain_is_found() -> None:
    blank_or_marked = Property(
        id="blank-or-marked",
        statement="A cell is blank or marked.",
        kind=Kind.ALWAYS,
        holds=lambda s: s.forall(Cell, lambda c: s.blank.has(c) | (s.mark[c] == 1)),
    )
    assert prove_inductive(tape(beyond=False), blank_or_marked).verdict is Verdict.HOLDS
    careless = prove_inductive(tape(beyond=True), blank_or_marked)
    assert careless.verdict is Verdict.UNKNOWN
    assert careless.explanation.startswith(
        "move is not shown to stay inside the domain of mark[head] (index in 0…cells - 1); "
        "it may happen (if reachable) in: cells=1, head=1, "
    )
    with pytest.raises(ModelError, match="action move: writes 1 to mark\\[head\\], allowed is index in 0…0"):
        bounded(tape(beyond=True), blank_or_marked, depth=2)


def test_outside_an_unbounded_domain_a_set_has_nothing_whatever_it_starts_with() -> None:
    at_the_end = Property(
        id="blank-at-the-end",
        statement="The head may stand at the end on a blank cell.",
        kind=Kind.SOMETIMES,
        holds=lambda s: all_of(s.head == s.cells, s.blank.has(s.head)),
    )
    for cells in (1, 3, UNBOUNDED):
        assert prove(tape(beyond=False, cells=cells), at_the_end).verdict is Verdict.VIOLATED


def test_a_state_text_shows_unbounded_constants_and_the_first_elements() -> None:
    lowered = lower(tape(beyond=False))
    transition = Transition(lowered)
    solver = Solver(finite_domain=False)
    solver.add(*transition.start(), transition.domain(0), transition.step(0), z3.Int("cells") == 2)
    assert Effort().ask(solver) == z3.sat
    model = solver.model()
    assert transition.shown(model, 0) == {"cells": "2", "blank[c0]": "true", "blank[c1]": "true"}
    assert transition.shown(model, 1) == {"cells": "2", "head": "1", "mark[c0]": "1", "blank[c1]": "true"}


def test_unbounded_families_of_two_indices_start_as_declared() -> None:
    machine = Machine("table")
    machine.constant("cells", 2, low=1)
    machine.variable("pair", Int(0, 5), Cell, Cell, init=3)

    @machine.action
    def swap(s: State, a: Cell, b: Cell) -> None:
        s.pair[a, b] = s.pair[b, a]

    three = Property(
        id="three",
        statement="All are three.",
        kind=Kind.ALWAYS,
        holds=lambda s: s.forall(Cell, lambda a: s.forall(Cell, lambda b: s.pair[a, b] == 3)),
    )
    result = prove_inductive(machine.configure(cells=UNBOUNDED), three)
    assert (result.verdict, result.bounds) == (Verdict.HOLDS, "all runs, for all cells ≥ 1; inductive")
