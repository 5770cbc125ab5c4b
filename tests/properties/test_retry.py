"""Claims about retries: the arithmetic for every maximum, the runs exhaustively, and exact sizes."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_rows, run_suite
from rocketproof.checkers.theorems import prove_theorem
from rocketproof.model.consumption import consumption
from rocketproof.properties.claim import Claim
from rocketproof.properties.retry import (
    CHAIN_ONLY,
    DROPPED,
    EXPIRED,
    FALLBACK,
    LOCAL_RETRY,
    LOST_REPLY,
    RETRY,
    SENT_TWICE,
    claims,
)
from rocketproof.properties.retry_policy import NAIVE_RETRY_THEOREMS, RETRY_THEOREMS, fallback_combination
from rocketproof.properties.theorem import Theorem
from rocketproof.properties.verdict import Verdict


def named(theorem: Theorem) -> str:
    return theorem.id


def test_there_are_no_two_theorems_of_one_name() -> None:
    ids = [theorem.id for theorem in (*RETRY_THEOREMS, *NAIVE_RETRY_THEOREMS)]
    assert len(ids) == len(set(ids)) == 18


@pytest.mark.smoke
@pytest.mark.parametrize("theorem", RETRY_THEOREMS, ids=named)
def test_holds_for_every_number(theorem: Theorem) -> None:
    result = prove_theorem(theorem)
    assert (result.verdict, result.bounds, result.explanation) == (Verdict.HOLDS, theorem.covers, "")


SMALLEST = {
    "both-ways-count-alike-4.9.8": "a message that fails with count 0 of 1: by request 36 it is tried again, "
    "by the fallback dead-lettered",
    "fallback-sends-r+1-gives-up-at-maximum": "a message that fails with count 0 of 1 is given up; 1 tries were left",
    "fallback-sends-r-gives-up-above-maximum": "a message that fails with count 0 of 0 comes again with count 0; "
    "0 tries were left",
    "fallback-sends-r-gives-up-at-maximum": "a message that fails with count 0 of 1 comes again with count 0; "
    "1 tries were left",
    "success-always-means-stored": "with retryQueueNums = 0 the answer is SUCCESS, and nothing is stored",
    "retry-waits-for-its-level": "with 2 levels a message that failed with count 0 waits at level 1, for its listener "
    "asked for level 1",
}


@pytest.mark.smoke
@pytest.mark.parametrize("theorem", NAIVE_RETRY_THEOREMS, ids=named)
def test_naive_claims_are_refuted_by_the_smallest_case(theorem: Theorem) -> None:
    result = prove_theorem(theorem)
    assert (result.verdict, result.explanation) == (Verdict.VIOLATED, SMALLEST[theorem.id])


def test_a_solver_that_gives_up_proves_nothing() -> None:
    assert prove_theorem(RETRY_THEOREMS[0], work=1).verdict is Verdict.UNKNOWN


@pytest.mark.smoke
def test_exactly_one_of_four_ways_to_count_gives_the_maximum() -> None:
    right = [
        (sends_next, strictly)
        for sends_next in (False, True)
        for strictly in (False, True)
        if prove_theorem(fallback_combination(sends_next=sends_next, strictly=strictly)).verdict is Verdict.HOLDS
    ]
    assert right == [(True, True)]


SIZES = [
    pytest.param(CHAIN_ONLY, 72, 124, id="chain"),
    pytest.param(FALLBACK, 172, 318, id="fallback", marks=pytest.mark.slow),
    pytest.param(LOST_REPLY, 192, 390, id="lost-reply", marks=pytest.mark.slow),
    pytest.param(SENT_TWICE, 394, 833, id="sent-twice"),
    pytest.param(LOCAL_RETRY, 82, 133, id="local-retry", marks=pytest.mark.slow),
    pytest.param(EXPIRED, 507, 1_244, id="expired", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("constants", "states", "transitions"), SIZES)
def test_exact_sizes(constants: dict[str, int | str], states: int, transitions: int) -> None:
    found = explore(consumption.configure(**constants), [])
    assert (found.states, found.transitions) == (states, transitions)


def test_a_count_that_a_second_attempt_keeps_is_noticed() -> None:
    (change,) = [
        item
        for item in all_changes("send_back")
        if item.text == "_attempted_again" and item.told == "1 for 0 in times=0"
    ]
    rows = [row for row in claim_rows(claims()) if row.id == "second-attempt-carries-no-count"]
    (outcome,) = judge([change], settings(rows), Theorems([]), Effort())
    assert (outcome.row, outcome.how) == ("second-attempt-carries-no-count", "violated")


def small(claim: Claim) -> bool:
    return claim.constants.get("consumers") == 1


def wrong(rows: list[Claim]) -> list[str]:
    outcomes = run_suite([row for row in claim_rows(rows) if isinstance(row.subject, Claim)])
    return [
        f"{outcome.row.id} {dict(outcome.row.constants)}: {outcome.result.verdict}"
        for outcome in outcomes
        if outcome.result.verdict is not outcome.row.expected
    ]


@pytest.mark.slow
def test_claims_about_one_client() -> None:
    assert wrong([claim for claim in claims() if small(claim)]) == []


@pytest.mark.slow
def test_claims_about_two_clients() -> None:
    assert wrong([claim for claim in claims() if not small(claim)]) == []


@pytest.mark.slow
@pytest.mark.parametrize(("constants", "states"), [(RETRY, 194_396), (DROPPED, 176_814)], ids=["retry", "dropped"])
def test_exact_sizes_with_two_clients(constants: dict[str, int | str], states: int) -> None:
    assert explore(consumption.configure(**constants), []).states == states
