"""Outcomes: each number and verdict is held against what a scenario expects, and told where it differs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocketproof.lab.outcome import Outcome, differences
from rocketproof.lab.scenario import Expect
from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.engine.measured import Measured, Overlaps

MEASURED = Measured(
    events=1000,
    deliveries=112,
    duplicates={"CRASH": 3},
    unexplained=0,
    losses=0,
    overlaps=Overlaps(count=2, longest=40, total=50),
    statuses={"ACKNOWLEDGED": 100, "DEAD_LETTERED": 4},
    violated=("same-subscriptions",),
    unknown=(),
    holds=("nothing-skipped",),
    problems=0,
)
VERDICTS = {
    **dict.fromkeys(CODE, "NOT OBSERVABLE"),
    "same-subscriptions": "VIOLATED",
    "nothing-skipped": "HOLDS",
}
OUTCOME = Outcome(
    scenario="some", release="5.3.3", measured=MEASURED, verdicts=VERDICTS, mismatches=0, left_out={"late lines": 2}
)
EXPECT: dict[str, Any] = {
    "violated": ["same-subscriptions"],
    "holds": ["nothing-skipped"],
    "deliveries": [110, 112],
    "duplicates": {"CRASH": 3, "OVERLAP": [0, 9]},
    "overlaps": 2,
    "statuses": {"ACKNOWLEDGED": 100, "DEAD_LETTERED": 4},
}


def told(outcome: Outcome, **changes: Any) -> list[str]:
    return list(differences(outcome, Expect.model_validate({**EXPECT, **changes})))


def measured(**changes: Any) -> Outcome:
    return replace(OUTCOME, measured=replace(MEASURED, **changes))


def test_as_expected() -> None:
    assert told(OUTCOME) == []
    assert OUTCOME.met


@pytest.mark.parametrize(
    ("outcome", "difference"),
    [
        (measured(deliveries=113), "113 deliveries, 110 to 112 expected"),
        (measured(unexplained=1), "1 repetitions without a cause, 0 expected"),
        (measured(losses=2), "2 losses, 0 expected"),
        (measured(overlaps=Overlaps(count=3, longest=1, total=3)), "3 overlaps, 2 expected"),
        (measured(duplicates={"CRASH": 4}), "4 repetitions for CRASH, 3 expected"),
        (measured(duplicates={"CRASH": 3, "RESET": 1}), "1 repetitions for RESET, 0 expected"),
        (measured(statuses={"ACKNOWLEDGED": 104}), "0 messages DEAD_LETTERED, 4 expected"),
        (measured(violated=("same-subscriptions", "no-flapping")), "no-flapping is VIOLATED"),
        (replace(OUTCOME, mismatches=5), "5 events that the model does not allow, 0 expected"),
        (replace(OUTCOME, problems=("a.jsonl:3: damaged line",)), "1 problems in the recordings, 0 expected"),
    ],
    ids=[
        "deliveries",
        "unexplained",
        "losses",
        "overlaps",
        "cause",
        "other cause",
        "statuses",
        "violated",
        "mismatch",
        "problem",
    ],
)
def test_each_difference_is_told(outcome: Outcome, difference: str) -> None:
    assert difference in told(outcome)


def test_a_claim_that_was_not_violated() -> None:
    outcome = replace(measured(violated=()), verdicts={**VERDICTS, "same-subscriptions": "UNKNOWN"})
    assert told(outcome) == ["same-subscriptions is UNKNOWN, VIOLATED expected"]


def test_a_claim_that_was_not_judged() -> None:
    assert told(OUTCOME, holds=["every-queue-moves"]) == ["every-queue-moves is NOT OBSERVABLE, HOLDS expected"]


def test_what_is_not_asked_for_is_not_compared() -> None:
    assert told(measured(deliveries=7, statuses={}), deliveries=None, statuses={}) == []


def test_it_is_told_in_words() -> None:
    lines = "\n".join(replace(OUTCOME, differences=("7 losses, 0 expected",)).lines())
    assert "1,000 events, 112 deliveries; messages: 100 acknowledged, 4 dead lettered" in lines
    assert "delivered again: 3 crash; without a cause: 0" in lines
    assert "two owners: 2 times, the longest for 40 ms" in lines
    assert "violated: same-subscriptions; model mismatches: 0" in lines
    assert "left out: 2 late lines" in lines
    assert "NOT AS EXPECTED: 7 losses, 0 expected" in lines
    assert replace(OUTCOME, differences=("7 losses, 0 expected",)).as_json()["met"] is False
