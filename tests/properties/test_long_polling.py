"""Long polling: every claim has its verdict, in exactly so many states; every mutant is killed in so many steps."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.model.long_polling import long_polling
from rocketproof.properties.long_polling import claims
from rocketproof.properties.property import Kind
from rocketproof.properties.verdict import Verdict

STATES = {
    "": 224,
    "messages=3 cache=1": 475,
    "others=1": 559,
    "others=1 cache=0 watch_steps=1": 736,
    "polling=short": 187,
    "queues=2 messages=1": 3084,
    "queues=2 messages=1 cache=0 listener=hangs-on-q0": 2332,
    "queues=2 messages=1 hangs=1": 8566,
    "queues=2 messages=2 cache=0 listener=hangs-on-q0": 13324,
}
PROPERTIES = {claim.property.id: claim.property for claim in claims()}


def test_every_claim_is_as_expected() -> None:
    outcomes = list(run_suite([claim_row(claim) for claim in claims()]))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    found = {
        outcome.row.configuration: outcome.result.figures["states"]
        for outcome in outcomes
        if outcome.row.configuration in STATES
    }
    assert found == STATES


@pytest.mark.parametrize(
    ("text", "told", "row"),
    [
        ("put_off_full", "without the guard s.request[q] == Request.STEP", "request-goes-from-hand-to-hand"),
        ("at_rest", "all_of(s.request[q] == Request.LATER, full(s, q)) without full", "message-wakes-held-request"),
    ],
)
def test_a_broken_mechanism_is_noticed(text: str, told: str, row: str) -> None:
    rows = [claim_row(claim) for claim in claims() if claim.property.id == row]
    (change, *_) = [item for item in all_changes("long_polling") if item.text == text and told in item.told]
    (outcome,) = judge([change], settings(rows), Theorems([]), Effort())
    assert (outcome.row, outcome.how) == (row, "violated")


def test_a_message_that_slips_in_before_the_hold_waits_for_a_look() -> None:
    (answer,) = explore(long_polling.configure(), [PROPERTIES["message-never-waits"]]).results
    assert answer.verdict is Verdict.VIOLATED
    assert answer.run is not None
    assert len(answer.run) == 6


@pytest.mark.parametrize(
    ("mutant", "steps"),
    [("F9", 8), ("F10", 10), ("F10-again", 14), ("F10-silent", 10), ("F11-unseen", 7), ("F11-untold", 6)],
)
def test_a_mutant_is_killed(mutant: str, steps: int) -> None:
    change = long_polling.mutants[mutant]
    killer = PROPERTIES[change.killed_by]
    wrong = long_polling.mutated(mutant).configure(**change.wrong_constants)
    if killer.kind is Kind.EVENTUALLY:
        answer = check_eventually(wrong, killer)
    else:
        (answer,) = explore(wrong, [killer], idle_actions_allowed=True).results
    assert answer.verdict is Verdict.VIOLATED
    assert answer.run is not None
    assert len(answer.run) == steps


def test_every_mutant_is_tried_here() -> None:
    assert sorted(long_polling.mutants) == ["F10", "F10-again", "F10-silent", "F11-unseen", "F11-untold", "F9"]
    assert list(long_polling.explanations) == ["F11"]
