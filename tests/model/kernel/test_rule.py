"""Rules: one text that computes, is proven, and is compiled, always with the same answer."""

from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.kernel import IntLike, Rule, all_of, any_of, ite, maximum, minimum, rule

NUMBERS = st.integers(-(10**6), 10**6) | st.integers(-5, 5)


@rule
def share(index: IntLike, queues: IntLike, consumers: IntLike) -> IntLike:
    """Number of queues that consumer ``index`` gets when they are dealt out evenly."""
    rest = queues % maximum(consumers, 1)
    return queues // maximum(consumers, 1) + ite(index < rest, 1, 0)


@rule
def clamp(value: IntLike, low: IntLike, high: IntLike) -> IntLike:
    """The nearest number inside low … high."""
    return minimum(maximum(value, low), high)


@rule
def leap(year: IntLike) -> Any:
    """Whether a year is a leap year."""
    return any_of(all_of(year % 4 == 0, year % 100 != 0), year % 400 == 0)


@rule
def ratio(dividend: IntLike, divisor: IntLike) -> IntLike:
    """Quotient and remainder in one number."""
    safe = maximum(divisor, 1)
    return (dividend // safe) * 3 + dividend % safe - ite(divisor <= 0, 7, 0)


@rule
def constant(value: IntLike) -> Any:
    """True, whatever is given."""
    return True


def as_term(tested: Rule[..., Any], *args: int) -> int:
    symbols, term = tested.term()
    value = z3.simplify(z3.substitute(term, *((s, z3.IntVal(a)) for s, a in zip(symbols, args, strict=True))))
    return int(z3.is_true(value)) if z3.is_bool(term) else int(value.as_long())


@pytest.mark.parametrize("tested", [share, clamp, leap, ratio, constant], ids=lambda tested: tested.__name__)
@given(st.data())
def test_a_rule_computes_is_a_term_and_is_machine_code_with_one_meaning(
    tested: Rule[..., Any], data: st.DataObject
) -> None:
    args = [data.draw(NUMBERS, label=name) for name in tested.parameters]
    assert int(tested(*args)) == as_term(tested, *args) == tested.native(*args)


def test_a_rule_keeps_name_text_and_parameters() -> None:
    assert share.__name__ == "share"
    assert share.__doc__ is not None
    assert "dealt out evenly" in share.__doc__
    assert share.parameters == ("index", "queues", "consumers")
    assert share(index=0, queues=5, consumers=2) == 3
    assert [int(leap(year)) for year in (1900, 2000, 2023, 2024)] == [0, 1, 0, 1]


def test_a_rule_can_be_proven_for_all_numbers() -> None:
    (index, queues, consumers), term = share.term()
    solver = z3.Solver()
    solver.add(consumers > 0, queues >= 0, index >= 0, z3.Not(term >= 0))
    assert solver.check() == z3.unsat
    solver = z3.Solver()
    solver.add(consumers > 0, queues >= 0, z3.Not(term * consumers == queues))
    assert solver.check() == z3.sat


def test_machine_code_wraps_beyond_64_bits() -> None:
    @rule
    def double(value: IntLike) -> IntLike:
        return value + value

    assert double.native(2**62) == -(2**63)
    assert double(2**62) == 2**63
