"""Claims about delayed delivery: due times and positions for every number, the runs exhaustively."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.suite import claim_rows, run_suite
from rocketproof.checkers.theorems import prove_theorem
from rocketproof.model.consumption import consumption
from rocketproof.properties.claim import Claim
from rocketproof.properties.schedule import (
    NAIVE_SCHEDULE_THEOREMS,
    SCHEDULE_THEOREMS,
    STOPPED,
    STORE_LOST,
    claims,
    once,
)
from rocketproof.properties.theorem import Theorem
from rocketproof.properties.verdict import Verdict


@pytest.mark.smoke
@pytest.mark.parametrize("theorem", SCHEDULE_THEOREMS, ids=lambda theorem: theorem.id)
def test_holds_for_every_number(theorem: Theorem) -> None:
    result = prove_theorem(theorem)
    assert (result.verdict, result.bounds, result.explanation) == (Verdict.HOLDS, theorem.covers, "")


@pytest.mark.smoke
def test_a_clock_that_steps_back_refutes_never_early() -> None:
    (theorem,) = NAIVE_SCHEDULE_THEOREMS
    result = prove_theorem(theorem)
    assert (result.verdict, result.explanation) == (
        Verdict.VIOLATED,
        "stored at 1 with a delay of 1, delivered when the clock reads 0: it was stepped back, and the due time 2 "
        "became 0",
    )


@pytest.mark.parametrize(
    ("constants", "states", "transitions"),
    [
        pytest.param(STOPPED, 3_169, 10_368, id="stopped"),
        pytest.param(STORE_LOST, 336, 862, id="store-lost", marks=pytest.mark.slow),
    ],
)
def test_exact_sizes(constants: dict[str, int | str], states: int, transitions: int) -> None:
    found = explore(consumption.configure(**constants), [once])
    assert (found.states, found.transitions) == (states, transitions)
    assert [result.verdict for result in found.results] == [Verdict.HOLDS]


@pytest.mark.slow
def test_claims() -> None:
    rows = [row for row in claim_rows(claims()) if isinstance(row.subject, Claim)]
    wrong = [
        f"{outcome.row.id} {dict(outcome.row.constants)}: {outcome.result.verdict}"
        for outcome in run_suite(rows)
        if outcome.result.verdict is not outcome.row.expected
    ]
    assert wrong == []
