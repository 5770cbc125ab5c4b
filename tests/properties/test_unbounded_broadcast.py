"""Broadcasting for all sizes: what is proven, that its lemmas are true, and that they are needed."""

from __future__ import annotations

import pytest

from rocketproof.checkers.prove import prove_inductive
from rocketproof.checkers.suite import Outcome, claim_rows, run_suite
from rocketproof.model.consumption import consumption
from rocketproof.properties.broadcast import each_sees_all, starts_again
from rocketproof.properties.unbounded_broadcast import ANY_SIZE, LEMMAS, RENAMED, claims
from rocketproof.properties.verdict import Verdict

SIZES = "all runs, for all messages ≥ 1 and consumers ≥ 1 and queues ≥ 1"
FAULTS = "any number of moves, crashes, restarts, pauses, leaves, failures"


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(run_suite([row for row in claim_rows(claims()) if row.id != "every-action-happens"]))


def test_every_claim_holds(outcomes: list[Outcome]) -> None:
    assert [outcome.row.id for outcome in outcomes if outcome.result.verdict is not Verdict.HOLDS] == []
    assert len(outcomes) == 16


def test_what_is_proven_for_all_sizes(outcomes: list[Outcome]) -> None:
    assert [outcome.result.bounds for outcome in outcomes if outcome.result.engine == "prove"] == [
        f"{SIZES}, {FAULTS}, expiries; inductive together with 6 lemmas",
        f"{SIZES}, {FAULTS}, torn_writes; inductive together with 8 lemmas",
        f"{SIZES}, {FAULTS}, torn_writes; inductive together with 2 lemmas",
    ]


def test_lemmas_are_searched_for_too(outcomes: list[Outcome]) -> None:
    searched = {outcome.result.bounds for outcome in outcomes if outcome.result.engine == "explore"}
    assert searched == {
        "all 367,065 states, 1,461,148 transitions, depth 31",
        "all 1,202 states, 3,501 transitions, depth 18",
    }


def test_without_lemmas_nothing_is_proven() -> None:
    result = prove_inductive(consumption.configure(**ANY_SIZE), each_sees_all, work=2_000_000)
    assert result.verdict is Verdict.UNKNOWN


def test_in_5_x_the_same_lemmas_do_not_prove_that_a_client_starts_again() -> None:
    in_place = consumption.configure(**{**RENAMED, "version": "5.3.3"})
    assert prove_inductive(in_place, starts_again, lemmas=LEMMAS, work=2_000_000).verdict is Verdict.UNKNOWN
