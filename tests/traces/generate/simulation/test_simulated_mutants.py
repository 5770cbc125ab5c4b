from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.errors import TraceError
from rocketproof.traces.generate.simulation import MUTANTS, Plan, simulate

PLACES = {
    "A1": {"every-queue-gets-an-owner": 1, "one-process-for-each-client-id": 1, "overlaps-are-short": 2},
    "A2": {"every-queue-gets-an-owner": 1, "same-subscriptions": 1},
    "A3": {"same-subscriptions": 1},
    "A5": {"every-queue-gets-an-owner": 1, "overlaps-are-short": 1, "views-agree": 1},
    "A6": {"allocation-as-the-strategy-says": 3},
    "A8": {"every-topic-is-balanced": 1},
    "A9": {"every-queue-gets-an-owner": 1},
    "A10": {"no-flapping": 1},
    "B1": {"every-duplicate-has-a-cause": 3579, "offset-never-back-without-cause": 2},
    "B2": {"offset-never-back-without-cause": 3},
    "B3": {"only-owners-commit": 3},
    "B4": {"offset-never-back-without-cause": 3},
    "B7": {"offset-never-past-unfinished": 3},
    "B8": {"every-queue-moves": 3},
    "B9": {"nothing-skipped": 3},
    "C2": {"attempts-follow-each-other": 3, "only-failed-messages-are-sent-back": 3},
    "C3": {"every-duplicate-has-a-cause": 3},
    "D1": {"failed-message-comes-again": 3},
    "D2": {"dead-letter-exactly-at-the-maximum": 3},
    "D3": {"attempts-within-the-maximum": 3, "dead-letter-exactly-at-the-maximum": 3},
    "D4": {"level-as-the-count-says": 3},
    "D7": {"attempts-follow-each-other": 3, "only-failed-messages-are-sent-back": 3},
    "D8": {"every-queue-moves": 1},
    "E3": {"orderly-one-listener": 167},
    "E6": {"failed-message-comes-again": 3, "orderly-in-order": 3},
    "F4": {"every-queue-moves": 3},
    "G1": {"nothing-skipped": 3},
    "G4": {"illegal-offset-is-corrected": 3},
    "H1": {"delivered-when-due": 3},
    "H2": {"every-copy-has-a-cause": 3},
    "H7": {"never-before-it-is-due": 3, "retry-waits-as-its-level-says": 3},
}
"""How many violations of which claim each mutant of the plan below makes."""


def truth_of(out: Path, **plan: Any) -> list[dict[str, Any]]:
    summary = simulate(Plan(**{"out": out, "messages": 20_000, "queues": 4, "consumers": 3, "seed": 11, **plan}))
    rows: list[dict[str, Any]] = pq.read_table(summary.truth).to_pylist()
    return rows


def test_all_mutants_are_pinned_and_break_claims_that_there_are() -> None:
    assert set(PLACES) == set(MUTANTS)
    for mutant in MUTANTS.values():
        assert set(mutant.breaks) <= set(CODE)


@pytest.mark.parametrize("id", MUTANTS)
def test_a_mutant_breaks_its_claims_and_no_others(id: str, tmp_path: Path) -> None:
    mutant = MUTANTS[id]
    truth = truth_of(tmp_path, mutant=id, group_kind=mutant.kinds[0])
    violations = [fact for fact in truth if fact["what"] == "violation"]
    assert {fact["mutant"] for fact in violations} == {id}
    assert Counter(fact["claim"] for fact in violations) == PLACES[id]
    assert set(PLACES[id]) == set(mutant.breaks)


@pytest.mark.parametrize(("id", "seed"), [("A5", 13), ("A3", 15), ("A1", 15), ("A2", 15)])
def test_who_came_for_a_mutant_may_have_gone_before(id: str, seed: int, tmp_path: Path) -> None:
    truth = truth_of(tmp_path, mutant=id, churn=8, seed=seed)
    assert {fact["mutant"] for fact in truth if fact["what"] == "violation"} == {id}


@pytest.mark.parametrize("kind", ["concurrently", "orderly", "broadcasting"])
def test_a_correct_cluster_breaks_nothing(kind: str, tmp_path: Path) -> None:
    truth = truth_of(tmp_path, group_kind=kind, churn=6, broker_restarts=2, resets=1, corrections=1)
    assert [fact for fact in truth if fact["what"] == "violation"] == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"mutant": "Z9"}, "there is no mutant 'Z9'; possible: A1, A10, A2"),
        ({"mutant": "E3"}, "mutant E3 needs a group of kind orderly"),
        ({"group_kind": "popping"}, "group_kind is 'popping'; possible: concurrently, orderly, broadcasting"),
        ({"messages": 0}, "messages is 0; a simulated run needs at least 1"),
        ({"failure_rate": 1.5}, "failure_rate is 1.5; it is a share, from 0 to below 1"),
        ({"churn": -1}, "churn is -1; it cannot be below 0"),
        ({"queues": 2, "brokers": 3}, "2 queues cannot be spread over 3 brokers"),
    ],
)
def test_impossible_plans_are_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=re.escape(message)):
        simulate(Plan(out=tmp_path, **given))
