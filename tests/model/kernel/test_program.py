"""Straight-line code: shared nodes, known ranges, what they decide, and what cannot be executed."""

import itertools
from typing import Any

import pytest
import z3

from rocketproof.model.kernel import ModelError
from rocketproof.model.kernel.program import Op, Program

pytestmark = pytest.mark.smoke

X, Y, P = z3.Int("x"), z3.Int("y"), z3.Bool("p")


def program(low: int = -3, high: int = 4) -> Program:
    return Program([(X, low, high), (Y, 0, 2), (P, 0, 1)])


def test_equal_terms_are_one_node() -> None:
    made = program()
    assert made.add(X + Y) == made.add(X + Y)
    before = len(made.nodes)
    made.add(z3.If(X + Y <= 3, X + Y, X))
    added = [node.op for node in made.nodes[before:]]
    assert added.count(Op.ADD) == 0
    assert Op.ITE in added


@pytest.mark.parametrize(
    ("term", "decided"),
    [
        (X <= 4, 1),
        (X >= -3, 1),
        (X < -3, 0),
        (X == 5, 0),
        (X + Y <= 6, 1),
        (X * Y >= -6, 1),
        (X * Y == 9, 0),
        (z3.If(P, X, Y) >= -3, 1),
        (X / 2 <= 2, 1),
        (X / 2 >= -2, 1),
        (X % 3 <= 2, 1),
        (X % 3 < 0, 0),
        (-X <= 3, 1),
        (z3.Or(X <= 4, P), 1),
        (z3.And(X > 4, P), 0),
    ],
)
def test_ranges_decide_comparisons(term: Any, decided: int) -> None:
    made = program()
    node = made.nodes[made.add(term)]
    assert (node.op, node.value) == (Op.CONST, decided)


@pytest.mark.parametrize("term", [X <= 3, X == 4, X + Y <= 5, X / 2 < 2, X % 3 == 2, X * Y >= 8, P, z3.And(P, X < 0)])
def test_what_the_ranges_leave_open_stays(term: Any) -> None:
    made = program()
    node = made.nodes[made.add(term)]
    assert node.op is not Op.CONST
    assert (node.low, node.high) == (0, 1)


def test_ranges_contain_every_value() -> None:
    terms = [X + Y, X - Y, X * Y, X * X, X / 3, X % 3, X / Y, X % Y, -X, z3.If(P, X * Y, X / 2), 7 / Y, 7 % Y]
    for low, high in [(-3, 4), (-5, -1), (2, 6), (0, 0)]:
        made = Program([(X, low, high), (Y, -1, 2), (P, 0, 1)])
        roots = [made.add(term) for term in terms]
        for x, y, p in itertools.product(range(low, high + 1), range(-1, 3), (False, True)):
            for term, root in zip(terms, roots, strict=True):
                if y <= 0 and term.num_args() == 2 and term.arg(1).eq(Y) and term.decl().name() in ("div", "mod"):
                    continue
                values = ((X, z3.IntVal(x)), (Y, z3.IntVal(y)), (P, z3.BoolVal(p)))
                value = z3.simplify(z3.substitute(term, *values)).as_long()
                assert made.nodes[root].low <= value <= made.nodes[root].high, (term, x, y, p)


def test_operands_come_before_their_users_and_only_what_is_needed() -> None:
    made = program()
    unrelated = made.add(X * Y)
    root = made.add(z3.If(P, X + 1, Y) <= 2)
    order = made.needed([root])
    assert unrelated not in order
    assert order[-1] == root
    for number in order:
        assert all(arg < number for arg in made.nodes[number].args)


@pytest.mark.parametrize(
    ("term", "message"),
    [
        (z3.ForAll([X], X * Y > Y), "this term cannot be executed, it has a quantifier"),
        (z3.Int("unknown") + 1, "this term cannot be executed: unknown"),
        (z3.Select(z3.Array("a", z3.IntSort(), z3.IntSort()), X), "this term cannot be executed: a"),
    ],
)
def test_what_is_not_executable_is_an_error(term: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        program().add(term)
    assert message in str(caught.value)
