"""The solver that proofs use: scopes, limits, and what is left of it after it gave up."""

import z3

from rocketproof.checkers.prove.solving import WORK, Solver

X, Y, Z = z3.Ints("x y z")
HARD = (X * X * X + Y * Y * Y == Z * Z * Z, X > 2, Y > 2, Z > 2)


def ask(solver: Solver, *, rlimit: int = WORK) -> object:
    return solver.check(rlimit=rlimit)[0]


def test_after_it_gave_up_it_still_has_its_constraints_and_scopes() -> None:
    solver = Solver(finite_domain=False)
    solver.add(X == 3)
    solver.push()
    solver.add(*HARD)
    solver.push()
    assert ask(solver, rlimit=5000) == z3.unknown
    solver.pop(2)
    solver.push()
    solver.add(X > 3)
    assert ask(solver) == z3.unsat
    solver.pop()
    assert ask(solver) == z3.sat
    assert solver.model().number(X) == 3


def test_many_questions_after_one_that_was_stopped_do_no_harm() -> None:
    solver = Solver(finite_domain=False)
    solver.add(*HARD)
    for bound in range(20):
        solver.push()
        solver.add(X + Y + Z > bound)
        assert ask(solver, rlimit=2000) == z3.unknown
        solver.pop()


EVEN = z3.Function("even", z3.IntSort(), z3.BoolSort())
ALL_EVEN = z3.ForAll([X], EVEN(X))


def test_quantifiers_are_instantiated_before_models_are_searched() -> None:
    solver = Solver(finite_domain=False)
    solver.add(ALL_EVEN)
    solver.push()
    solver.add(z3.Not(EVEN(Y + 1)))
    assert solver.check(rlimit=WORK, models=False)[0] == z3.unsat
    solver.pop()
    solver.add(Y > 3)
    answer, reason = solver.check(rlimit=WORK, models=False)
    assert (answer, reason) == (z3.unknown, "(incomplete quantifiers)")
    assert ask(solver) == z3.sat
    assert solver.model().number(Y) > 3
    solver.add(z3.Not(EVEN(Y)))
    assert ask(solver) == z3.unsat


def test_models_are_not_searched_because_they_were_for_the_question_before() -> None:
    solver = Solver(finite_domain=False)
    solver.add(ALL_EVEN)
    solver.push()
    solver.add(Y > 3)
    assert ask(solver) == z3.sat
    assert solver.check(rlimit=WORK, models=False) == (z3.unknown, "(incomplete quantifiers)")


def test_a_model_keeps_its_values_whatever_is_asked_later() -> None:
    solver = Solver(finite_domain=False)
    solver.add(X == 3)
    assert ask(solver) == z3.sat
    model = solver.model()
    assert solver.core({"larger": X > 3}, rlimit=WORK) == {"larger"}
    assert (model.number(X), solver.model().number(X)) == (3, 3)
    solver.add(*HARD[:-1], Z > 2)
    assert ask(solver, rlimit=5000) == z3.unknown
    assert model.number(X) == 3
