"""Terms have one form, whatever was built before them in the process."""

from __future__ import annotations

from typing import Any

import pytest
import z3

from rocketproof.checkers.prove.canonical import Canonical
from rocketproof.checkers.prove.solving import Solver


def sum_(names: str) -> Any:
    return z3.Sum([(ord(name) - ord("a")) * z3.Int(name) for name in names])


def rebuilt(term: Any, *, seed: int = 0) -> str:
    return str(Canonical(z3.Context(), seed=seed).term(term).sexpr())


def test_operands_that_commute_have_one_order_of_each_seed() -> None:
    assert rebuilt(sum_("abcdef") == 3) == rebuilt(3 == sum_("fdbeca"))
    assert len({rebuilt(sum_("abcdef"), seed=seed) for seed in range(5)}) == 5


def test_symbols_are_numbered_whatever_they_are_called() -> None:
    forms = {rebuilt(z3.Int(first) - z3.Int(second)) for first, second in ("xy", "yx", "ab", "q7")}
    assert forms == {"(- k!0 k!1)"}


def test_operands_that_do_not_commute_stay() -> None:
    x, y = z3.Ints("x y")
    for seed in range(5):
        assert rebuilt(z3.If(x < y, x, y), seed=seed) == "(ite (< k!0 k!1) k!0 k!1)"


x, y = z3.Ints("x y")
of = z3.Array("of", z3.IntSort(), z3.IntSort())
TERMS = {
    "for all, with a free name": z3.ForAll([x], z3.Or(of[x] >= y, x > 3)),
    "a quantifier in another one": z3.Exists([x], z3.ForAll([y], x + y + of[x] == of[y])),
    "a function": z3.Lambda([x], of[x] + y)[3] == of[3],
    "a choice": z3.And(z3.If(x > y, x, y) == 4, z3.Distinct(x, y, of[0])),
}


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_rebuilt_term_means_the_same(name: str, seed: int) -> None:
    term = TERMS[name]
    context = z3.Context()
    canonical = Canonical(context, seed=seed)
    named = [(item.translate(context), canonical.term(item)) for item in (x, y, of)]
    solver = z3.Solver(ctx=context)
    solver.add(canonical.term(term) != z3.substitute(term.translate(context), *named))
    assert solver.check() == z3.unsat


def test_all_tries_together_use_the_work_that_is_allowed() -> None:
    """Twelve numbers do not differ within eleven, which Z3 cannot find out so soon in any form."""
    solver = Solver(finite_domain=False)
    numbers = [z3.Int(f"n{number}") for number in range(12)]
    solver.add(*(z3.And(number >= 0, number < 11) for number in numbers), z3.Distinct(*numbers))
    answer, reason = solver.check(rlimit=4_000_000)
    assert (str(answer), reason) == ("unknown", "canceled")
    assert 4_000_000 <= solver.work < 4_010_000
