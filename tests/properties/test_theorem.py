"""Theorems as texts: one text for plain numbers, for terms, and for a mixture of both."""

from collections.abc import Callable
from typing import Any

import pytest
import z3

from rocketproof.model.kernel import ModelError, Term
from rocketproof.properties.theorem import Relation, Theorem, counted, exactly_one, exists, forall, formula_counts

pytestmark = pytest.mark.smoke


def even(number: int) -> bool:
    return number % 2 == 0


def proven(claim: Term) -> bool:
    solver = z3.Solver()
    solver.add(z3.Not(claim.expr))
    return bool(solver.check() == z3.unsat)


def test_quantifiers_compute_over_known_ranges() -> None:
    assert [forall(0, high, even) for high in range(3)] == [True, True, False]
    assert [exists(1, high, even) for high in range(1, 5)] == [False, False, True, True]
    assert [exactly_one(0, high, even) for high in range(5)] == [False, True, True, False, False]
    assert counted(0, 9, even, formula=-1) == 5


def test_quantifiers_over_unknown_ranges_become_questions() -> None:
    high = Term(z3.Int("high"), False)
    assert proven(forall(0, high, lambda number: number < high))
    assert not proven(forall(0, high, lambda number: number < 5))
    assert not proven(exists(0, high, lambda number: number >= 0))
    assert proven(exists(0, 1 + high * high, lambda number: number >= 0, witness=high * high))
    assert proven(exactly_one(0, high + 1, lambda number: number == high, witness=high) | (high < 0))
    assert not proven(exactly_one(0, high + 1, lambda number: number >= high - 1, witness=high) | (high < 0))
    assert counted(0, high, even, formula=high) is high


HIGH = Term(z3.Int("high"), False)


@pytest.mark.parametrize(
    ("right", "body", "formula", "nth", "number"),
    [
        (True, even, (HIGH + 1) // 2, lambda place: 2 * place, lambda value: value // 2),
        # One too many, one too few, the same one twice, less than none.
        (False, even, (HIGH + 1) // 2 + 1, lambda place: 2 * place, lambda value: value // 2),
        (False, even, (HIGH + 1) // 2 - 1, lambda place: 2 * place, lambda value: value // 2),
        (False, lambda value: value == 0, 2, lambda place: 0, lambda value: 0),
        (False, lambda value: value < 0, -1, lambda place: place, lambda value: value),
    ],
    ids=["right", "too-many", "too-few", "twice", "negative"],
)
def test_a_counting_formula_is_right_when_all_are_numbered(
    right: bool, body: Callable[..., Any], formula: Any, nth: Callable[..., Any], number: Callable[..., Any]
) -> None:
    assert proven(formula_counts(0, HIGH, body, formula=formula, nth=nth, number=number) | (HIGH < 1)) is right
    assert formula_counts(0, 5, body, formula=formula, nth=nth, number=number) is True


def test_nested_quantifiers_keep_their_numbers_apart() -> None:
    high = Term(z3.Int("high"), False)
    assert proven(forall(0, high, lambda low: forall(low, high, lambda number: low <= number)))
    assert not proven(forall(0, high, lambda low: forall(low, high, lambda number: low < number)))


THEOREM = Theorem(
    id="smaller",
    statement="Queues that are marked are few.",
    symbols={"marked": Relation()},
    given=lambda queue, queues: queue < queues,
    claim=lambda marked, queue, consumers: marked(queue) <= consumers,
)


def test_parameters_are_what_the_texts_name_sizes_first() -> None:
    assert THEOREM.parameters == ("queues", "consumers", "queue", "marked")
    assert THEOREM.numbers == ("queues", "consumers", "queue")


def test_a_plain_case_is_computed() -> None:
    case = {"queues": 2, "consumers": 0, "queue": 1, "marked": lambda queue: queue == 1}
    assert THEOREM.fails(case)
    assert not THEOREM.fails({**case, "queue": 0})
    assert not THEOREM.fails({**case, "queue": 2, "marked": lambda queue: True})
    assert THEOREM.tell(case) == "queues = 2, consumers = 0, queue = 1"


def test_a_case_mixes_known_and_unknown() -> None:
    case = THEOREM.case({"queues": 2})
    assert case["queues"] == 2
    assert isinstance(case["queue"], Term)
    assert str(case["marked"](3)) == "marked(3)"


def test_a_size_must_be_a_parameter() -> None:
    with pytest.raises(ModelError, match="theorem t: nodes is no parameter; they are queue"):
        Theorem(id="t", statement="", sizes=("nodes",), claim=lambda queue: queue)
