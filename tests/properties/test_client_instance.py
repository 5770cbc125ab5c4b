"""Consumers that share a client instance: every claim has its verdict, in exactly so many states and steps."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.model.client_instance import client_instance
from rocketproof.properties.client_instance import claims
from rocketproof.properties.verdict import Verdict

STATES = {
    "": 77,
    "consumers=3 groups=2": 1156,
    "calls=at-once": 209,
    "groups=2": 220,
    "groups=2 first_heartbeat=arrives": 140,
    "groups=2 entry=of-group": 198,
    "bad_settings=1": 113,
    "groups=2 failed_starts=1 fails=early": 229,
    "groups=2 failed_starts=1": 278,
    "consumers=1 failed_starts=1": 22,
    "refused_filters=1": 139,
    "refused_filters=1 version=4.9.8": 179,
    "calls=at-once bad_settings=1 failed_starts=1 fails=early refused_filters=1 watch_steps=1": 911,
}
STEPS = {
    ("started-consumer-is-served", "calls=at-once"): 11,
    ("started-consumer-becomes-a-member", "calls=at-once"): 11,
    ("left-group-is-no-member", "groups=2"): 12,
    ("left-group-is-forgotten", "groups=2"): 14,
    ("failed-start-takes-no-share", "groups=2 failed_starts=1"): 5,
    ("nothing-runs-without-a-consumer", "groups=2 failed_starts=1"): 3,
    ("failed-start-harms-no-other", "groups=2 failed_starts=1"): 6,
    ("start-that-throws-leaves-nothing-running", "refused_filters=1 version=4.9.8"): 5,
}
ROWS = [claim_row(claim) for claim in claims()]
PROPERTIES = {claim.property.id: claim.property for claim in claims()}


def test_every_claim_is_as_expected() -> None:
    outcomes = list(run_suite(ROWS))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert {outcome.row.configuration: outcome.result.figures["states"] for outcome in outcomes} == STATES
    found = {
        (outcome.row.id, outcome.row.configuration): len(outcome.result.run)
        for outcome in outcomes
        if outcome.result.verdict is Verdict.VIOLATED and outcome.result.run is not None
    }
    assert found == STEPS


@pytest.mark.parametrize(
    ("text", "told", "row"),
    [
        ("_unregister", "without s.listed = s.listed.remove(group_of(s, c))", "shutdown-unregisters-at-once"),
        ("receive_heartbeat", "without not_(s.listed.has(g))", "left-group-is-forgotten"),
        ("fail_to_start", "without the guard s.state[s.uses[c]] == ServiceState.CREATE", "started-consumer-is-served"),
        ("refreshed", "without knows(s, g)", "running-consumer-stays-listed"),
    ],
)
def test_a_broken_mechanism_is_noticed(text: str, told: str, row: str) -> None:
    (change,) = [item for item in all_changes("client_instance") if item.text == text and told in item.told]
    rows = [item for item in ROWS if item.id == row and item.expected is Verdict.HOLDS]
    (outcome,) = judge([change], settings(rows), Theorems([]), Effort())
    assert (outcome.row, outcome.how) == (row, "violated")


@pytest.mark.parametrize(("mutant", "steps"), [("F6", 11), ("F6-kept", 11)])
def test_a_mutant_is_killed(mutant: str, steps: int) -> None:
    change = client_instance.mutants[mutant]
    wrong = client_instance.mutated(mutant).configure(**change.wrong_constants)
    (answer,) = explore(wrong, [PROPERTIES[change.killed_by]], idle_actions_allowed=True).results
    assert answer.verdict is Verdict.VIOLATED
    assert answer.run is not None
    assert len(answer.run) == steps


def test_every_mutant_is_tried_here() -> None:
    assert sorted(client_instance.mutants) == ["F6", "F6-kept"]
