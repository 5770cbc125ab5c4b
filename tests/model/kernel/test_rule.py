"""Rules: one text that computes, is proven, and is compiled, always with the same answer."""

from typing import Any

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.kernel import (
    ConfigurationError,
    IntLike,
    ModelError,
    Rule,
    all_of,
    any_of,
    ite,
    maximum,
    minimum,
    rule,
)

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


@rule
def half(value: IntLike) -> IntLike:
    """Half of a number, rounded down."""
    return value // 2


@half.mutant("R1", "rounds-up", killed_by="no-theorem")
def half_rounded_up(value: IntLike) -> IntLike:
    """Rounds to the wrong side."""
    return (value + 1) // 2


def test_a_mutant_takes_the_place_of_a_rule_for_a_while() -> None:
    assert half(5) == as_term(half, 5) == 2
    with half.mutated("R1") as calls:
        assert half(5) == as_term(half, 5) == 3
        assert share(0, 5, 2) == 3  # others are as they were
        assert calls() == 2
    assert half(5) == as_term(half, 5) == 2
    wrong = half.mutants["R1"]
    assert (wrong.slug, wrong.replaces, wrong.doc) == ("rounds-up", "half", "Rounds to the wrong side.")


def test_a_mutant_of_a_rule_is_gone_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), half.mutated("R1"):
        raise ZeroDivisionError
    assert half(5) == 2


def test_mutants_of_two_rules_can_be_in_place_at_once() -> None:
    @rule
    def twice(value: IntLike) -> IntLike:
        return half(value) * 4

    twice.mutant("R2", "thrice", killed_by="no-theorem")(lambda value: half(value) * 6)
    with twice.mutated("R2"), half.mutated("R1"):
        assert twice(5) == 18
    assert twice(5) == 8


def test_mistakes_in_mutants_of_rules_are_named() -> None:
    with (
        pytest.raises(ConfigurationError, match=r"rule half has no mutant 'R9'\. Did you mean 'R1'"),
        half.mutated("R9"),
    ):
        pass
    with pytest.raises(ModelError, match=r"rule half has two mutants R1; rename one\."):
        half.mutant("R1", "again", killed_by="no-theorem")(lambda value: value)
    with pytest.raises(ModelError, match=r"mutant R3: its parameters are number; those of rule half are value\."):
        half.mutant("R3", "renamed", killed_by="no-theorem")(lambda number: number)
