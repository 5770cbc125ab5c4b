"""Operators and helpers on terms, on plain values, and on a mixture of both."""

import itertools
from typing import Any

import pytest
import z3

from rocketproof.model.kernel import ModelError, Term, all_of, any_of, implies, ite, maximum, minimum, not_, same, total

pytestmark = pytest.mark.smoke

X, Y = Term(z3.Int("x"), False), Term(z3.Int("y"), False)
P, Q = Term(z3.Bool("p"), True), Term(z3.Bool("q"), True)


def at(term: Any, *, x: int = 0, y: int = 0, p: bool = False, q: bool = False) -> int | bool:
    """The value of a term where the variables have these values."""
    values = [(X.expr, z3.IntVal(x)), (Y.expr, z3.IntVal(y)), (P.expr, z3.BoolVal(p)), (Q.expr, z3.BoolVal(q))]
    value = z3.simplify(z3.substitute(term.expr, *values))
    return z3.is_true(value) if term.is_bool else int(value.as_long())


def test_arithmetic_and_comparison_mean_what_they_mean_in_python() -> None:
    for x, y in itertools.product(range(-4, 5), repeat=2):
        assert at(X + Y, x=x, y=y) == x + y
        assert at(X - Y, x=x, y=y) == x - y
        assert at(X * Y, x=x, y=y) == x * y
        assert at(-X, x=x) == -x
        assert at(3 - X, x=x) == 3 - x
        assert (at(X < Y, x=x, y=y), at(X <= Y, x=x, y=y)) == (x < y, x <= y)
        assert (at(X > Y, x=x, y=y), at(X >= Y, x=x, y=y)) == (x > y, x >= y)
        assert (at(X == Y, x=x, y=y), at(X != Y, x=x, y=y)) == (x == y, x != y)
        assert (at(minimum(X, Y, 1), x=x, y=y), at(maximum(X, Y, 1), x=x, y=y)) == (min(x, y, 1), max(x, y, 1))


def test_division_rounds_down_and_is_zero_for_divisors_that_are_not_positive() -> None:
    for x, y in itertools.product(range(-7, 8), range(-3, 4)):
        quotient, remainder = (x // y, x % y) if y > 0 else (0, 0)
        assert (at(X // Y, x=x, y=y), at(X % Y, x=x, y=y)) == (quotient, remainder)
        assert (at(x // Y, y=y), at(x % Y, y=y)) == (quotient, remainder)
        if y > 0:
            assert (at(X // y, x=x), at(X % y, x=x)) == (quotient, remainder)
        else:
            assert (X // y, X % y) == (0, 0)
    with pytest.raises(ZeroDivisionError):
        minimum(7, 8) // 0


def test_logic_is_that_of_truth_values() -> None:
    for p, q in itertools.product((False, True), repeat=2):
        assert at(P & Q, p=p, q=q) == at(all_of(P, Q), p=p, q=q) == (p and q)
        assert at(P | Q, p=p, q=q) == at(any_of([P, Q]), p=p, q=q) == (p or q)
        assert at(not_(P), p=p) == at(~P, p=p) == (not p)
        assert at(implies(P, Q), p=p, q=q) == (not p or q)
        assert at(same(P, Q), p=p, q=q) == at(P == Q, p=p, q=q) == (p == q)
        assert at(ite(P, 3, X), p=p, x=5) == (3 if p else 5)
        assert at(ite(P, Q, True), p=p, q=q) == (q if p else True)
        assert at(total([P, Q, 2, X]), p=p, q=q, x=4) == p + q + 6
        assert at(total([P]), p=p) == at(total([0, P]), p=p) == p
        assert at(P + Q, p=p, q=q) == p + q


def test_what_is_known_makes_no_expression() -> None:
    assert all_of() is True
    assert any_of() is False
    assert all_of(P, False) is False
    assert any_of(P, True, Q) is True
    assert all_of(True, P).expr.eq(P.expr)
    assert implies(False, P) is True
    assert ite(True, X, Y) is X
    assert ite(P, 4, 4) == 4
    assert ite(P, True, False) is P
    assert at(ite(P, False, True), p=True) is False
    assert total([True, 2]) == 3
    assert same(2, 2) is True
    assert same(True, P) is P
    assert not_(True) is False
    assert (X + 0) is X
    assert (X * 1) is X


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: bool(X <= 0), "is not known while the machine is lowered, so Python cannot branch on it"),
        (lambda: 1 if P else 2, "use ite(…), implies(…)"),
        (lambda: P and Q, "instead of 'if', 'and', 'or', 'not'"),
        (lambda: not P, "not known while the machine is lowered"),
        (lambda: 0 <= X <= 3, "not known while the machine is lowered"),
        (lambda: X in (1, 2), "not known while the machine is lowered"),
        (lambda: all_of(X), "expected a truth value, got the number x; compare it with something first."),
        (lambda: all_of(P, 1), "expected a truth value, got 1 (int)"),
        (lambda: P & None, "expected a truth value, got None (NoneType)"),
        (lambda: not_(3), "expected a truth value, got 3 (int)."),
        (lambda: ite(X, 1, 2), "got the number x"),
        (lambda: ite(1, 1, 2), "expected a truth value as condition of ite, got 1 (int)."),
        (lambda: X + "a", "expected a whole number, got 'a' (str)."),
        (lambda: X == None, "expected a whole number, got None (NoneType)."),  # noqa: E711
        (lambda: X < 1.5, "expected a whole number, got 1.5 (float)."),
    ],
)
def test_misuse_is_an_error_that_says_what_was_given(use: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        use()
    assert message in str(caught.value)


def test_terms_cannot_be_keys() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(X)


def test_long_terms_are_cut_in_messages() -> None:
    text = repr(total([X + number for number in range(100)]))
    assert len(text) == 118
    assert text.endswith("…")
