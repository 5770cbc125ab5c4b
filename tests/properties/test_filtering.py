"""Every claim about filtering by tag: its verdict, the exact size of its state space, its shortest run."""

from __future__ import annotations

from collections import Counter

import pytest

from rocketproof.checkers.suite import Outcome, claim_rows, run_suite
from rocketproof.properties.filtering import claims
from rocketproof.properties.verdict import Verdict

from .told import sizes, told

# Property, configuration, states, transitions, and steps of the run, its loop included (None where there is no run).
EXPECTED: list[tuple[str, str, int, int, int | None]] = [
    ("offset-never-past-unfinished", "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1", 1384, 6522, 6),
    ("offset-never-past-wanted", "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1", 1384, 6522, None),
    ("wanted-never-passed-over", "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1", 1384, 6522, None),
    ("unasked-never-delivered", "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1", 1384, 6522, None),
    ("closed-window-is-empty", "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1", 1384, 6522, None),
    (
        "window-holds-what-was-pulled",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1",
        1384,
        6522,
        None,
    ),
    ("positions-inside-the-log", "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1", 1384, 6522, None),
    ("wanted-let-go-is-handled", "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1", 1384, 6522, None),
    (
        "wanted-below-memory-is-handled",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1",
        1384,
        6522,
        None,
    ),
    (
        "wanted-below-committed-is-handled",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1",
        1384,
        6522,
        None,
    ),
    (
        "put-before-the-pull-position",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=1",
        1384,
        6522,
        None,
    ),
    ("offset-never-past-wanted", "messages=2 expression=Aa other_expression=C tags=Aa,C moves=1", 1389, 3849, 6),
    ("wanted-never-passed-over", "messages=2 expression=Aa other_expression=C tags=Aa,C moves=1", 1389, 3849, 4),
    ("unasked-never-delivered", "messages=2 expression=Aa other_expression=C tags=Aa,C moves=1", 1389, 3849, None),
    ("offset-never-past-wanted", "messages=2 expression=Aa other_expression=Aa||C tags=Aa,C moves=1", 2979, 9845, 7),
    (
        "offset-never-past-wanted",
        "consumers=1 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        49,
        67,
        9,
    ),
    (
        "wanted-never-passed-over",
        "consumers=1 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        49,
        67,
        None,
    ),
    (
        "gone-client-announces-nothing",
        "consumers=1 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        49,
        67,
        None,
    ),
    (
        "wanted-never-passed-over",
        "consumers=2 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        1843,
        5320,
        5,
    ),
    (
        "unasked-never-delivered",
        "consumers=2 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        1843,
        5320,
        None,
    ),
    (
        "gone-client-announces-nothing",
        "consumers=2 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        1843,
        5320,
        None,
    ),
    ("offset-never-past-wanted", "messages=2 expression=Aa tags=BB,Aa moves=1 crashes=1", 226, 792, None),
    ("wanted-never-passed-over", "messages=2 expression=Aa tags=BB,Aa moves=1 crashes=1", 226, 792, None),
    ("unasked-never-delivered", "messages=2 expression=Aa tags=BB,Aa moves=1 crashes=1", 226, 792, None),
    ("colliding-tag-is-pulled", "messages=2 expression=Aa tags=BB,Aa moves=1 crashes=1", 226, 792, 2),
    (
        "offset-never-past-wanted",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=0 pulls=fine",
        10376,
        63168,
        None,
    ),
    (
        "wanted-never-passed-over",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=0 pulls=fine",
        10376,
        63168,
        None,
    ),
    (
        "offset-never-past-wanted",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=0 failures=1 listener=orderly clock=stopped",
        229,
        536,
        None,
    ),
    (
        "unasked-never-delivered",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=0 failures=1 listener=orderly clock=stopped",
        229,
        536,
        None,
    ),
    ("wanted-never-passed-over", "mode=broadcasting messages=3 expression=C tags=C,BB,Aa", 169, 416, None),
    ("unasked-never-delivered", "mode=broadcasting messages=3 expression=C tags=C,BB,Aa", 169, 416, None),
    ("filtered-offset-committed", "messages=2 expression=Aa tags=BB,Aa moves=1 crashes=1", 226, 792, None),
    ("filtered-offset-committed", "messages=2 expression=Aa other_expression=C tags=Aa,C moves=1", 1389, 3849, None),
    (
        "filtered-offset-committed",
        "consumers=2 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        1843,
        5320,
        None,
    ),
    ("filtered-offset-committed", "mode=broadcasting messages=3 expression=C tags=C,BB,Aa", 169, 416, None),
    ("filtered-offset-committed", "messages=3 expression=Aa tags=Aa,C,C crashes=1", 237, 878, None),
    (
        "filtered-offset-committed",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=1 failures=0 pulls=fine",
        10376,
        63168,
        None,
    ),
    (
        "filtered-offset-committed",
        "messages=2 expression=Aa tags=Aa,C moves=1 crashes=0 failures=1 listener=orderly clock=stopped",
        229,
        536,
        None,
    ),
    ("refused-pulls-end", "messages=2 expression=Aa other_expression=C tags=Aa,C moves=1", 1389, 3849, None),
    (
        "refused-pulls-end",
        "consumers=2 messages=2 expression=Aa next_expression=C tags=Aa,C crashes=1 restarts=1",
        1843,
        5320,
        None,
    ),
]


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(run_suite([row for row in claim_rows(claims()) if row.id != "every-action-happens"]))


def test_every_claim_is_as_expected(outcomes: list[Outcome]) -> None:
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    verdicts = Counter(outcome.result.verdict for outcome in outcomes)
    assert verdicts == {Verdict.HOLDS: 37, Verdict.VIOLATED: 6}


def test_sizes_and_shortest_runs_are_exact(outcomes: list[Outcome]) -> None:
    assert sizes(outcome for outcome in outcomes if outcome.result.engine != "prove") == EXPECTED


def test_safe_filtering_is_proven_for_all_sizes(outcomes: list[Outcome]) -> None:
    proven = {outcome.row.id: outcome.result.bounds for outcome in outcomes if outcome.result.engine == "prove"}
    sizes = "all runs, for all messages ≥ 1 and consumers ≥ 1 and queues ≥ 1"
    faults = "any number of moves, crashes, restarts, failures, refusals"
    together = f"{sizes}, {faults}; inductive together with 7 lemmas"
    assert proven == {
        "offset-never-past-wanted": together,
        "wanted-never-passed-over": together,
        "unasked-never-delivered": f"{sizes.replace(' and consumers ≥ 1', '')}, {faults}; inductive",
    }


def test_a_message_filtered_out_for_another_member_is_told(outcomes: list[Outcome]) -> None:
    text = told(
        outcomes,
        "offset-never-past-wanted",
        "messages=2 expression=Aa other_expression=C tags=Aa,C moves=1",
    )
    assert "missed: false → true" in text
    assert "begin" not in text.split("missed: false → true")[0]
