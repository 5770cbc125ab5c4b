"""Every claim about concurrent delivery: its verdict, the exact size of its state space, its shortest run."""

import pytest

from rocketproof.checkers.simulate import simulate
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.model.consumption import consumption
from rocketproof.model.everything import everything
from rocketproof.properties.delivery import at_least_once, claims, explained, nothing_skipped, offset_safe
from rocketproof.properties.property import Kind
from rocketproof.properties.verdict import Verdict

from .told import sizes

ALWAYS = (offset_safe, at_least_once, nothing_skipped, explained)

# Configuration: states, transitions.
SIZES: dict[str, tuple[int, int]] = {
    "messages=2 causes=1 moves=1 overlaps=0 repeats=1": (208, 362),
    "messages=2 causes=1 moves=1 orphans=1": (10320, 42462),
    "messages=2 causes=1 moves=1 crashes=1 pulls=fine": (75296, 510302),
    "messages=2 causes=1 moves=1 crashes=1 failures=1 refusals=1 orphans=1": (74202, 475644),
    "messages=2 causes=1 moves=1 crashes=1 late_commits=1 lost_commits=1 broker_restarts=1": (455414, 3321837),
    "messages=2 causes=1 leaves=1 restarts=1 crashes=1": (35782, 130726),
    "messages=3 causes=1 batch=2 pull_batch=3 failures=1 refusals=1 moves=1": (65422, 253126),
    "messages=1 causes=1 moves=1 held_updates=1": (598, 1612),
    "messages=2 causes=1 pauses=1 moves=1": (14176, 52060),
    "messages=2 causes=1 batch=2 pull_batch=2 failures=1": (294, 644),
    "messages=2 overlaps=0 crashes=1 failures=1": (343, 754),
    "messages=2 causes=1 moves=1 repeats=1": (8280, 28244),
    "messages=2 causes=1 repeats=1": (928, 2820),
    "messages=2 causes=1 crashes=1 repeats=1": (2300, 6876),
    "messages=2 causes=1 leaves=1 restarts=1 crashes=1 repeats=1": (91021, 317278),
    "messages=2 causes=1 failures=1 refusals=1 repeats=1": (4516, 15854),
    "messages=2 causes=1 crashes=1 late_commits=1 repeats=1": (9749, 34901),
    "messages=2 causes=1 crashes=1 broker_restarts=1 repeats=1": (14730, 55419),
    "messages=1 arriving=1 consumers=1 pulls=fine": (14, 23),
    "messages=1 arriving=1 consumers=1 truncations=1 causes=1": (20, 26),
    "messages=2 causes=1 overlaps=0 version=4.9.8 resets=1 repeats=1": (20_987, 69_203),
    "messages=2 causes=1 overlaps=0 version=4.9.8 corrections=steps retentions=1 moves=1 repeats=1": (914, 1_962),
    "messages=2 causes=1 consumers=1 listener=orderly failures=1 repeats=1": (429, 1_364),
    "messages=1 moves=1 lost_commits=1 overlaps=0": (46, 68),
    "messages=1 moves=1 late_commits=1 overlaps=0": (81, 157),
}

# Property, configuration: steps of the shortest run, for what is violated or can happen.
RUNS: dict[tuple[str, str], int] = {
    ("duplicates-only-after-a-crash", "messages=2 causes=1 moves=1 overlaps=0 repeats=1"): 7,
    ("one-listener-a-message", "messages=2 causes=1 moves=1 orphans=1"): 6,
    ("mark-below-unfinished", "messages=2 causes=1 moves=1 crashes=1 pulls=fine"): 17,
    ("only-the-failed-message-sent-back", "messages=2 causes=1 batch=2 pull_batch=2 failures=1"): 4,
    ("again-rebalance", "messages=2 causes=1 moves=1 repeats=1"): 7,
    ("again-overlap", "messages=2 causes=1 repeats=1"): 6,
    ("again-crash", "messages=2 causes=1 crashes=1 repeats=1"): 7,
    ("again-shutdown", "messages=2 causes=1 leaves=1 restarts=1 crashes=1 repeats=1"): 9,
    ("again-failed-send-back", "messages=2 causes=1 failures=1 refusals=1 repeats=1"): 6,
    ("again-offset-went-back", "messages=2 causes=1 crashes=1 late_commits=1 repeats=1"): 9,
    ("again-broker-restart", "messages=2 causes=1 crashes=1 broker_restarts=1 repeats=1"): 9,
    ("again-reset", "messages=2 causes=1 overlaps=0 version=4.9.8 resets=1 repeats=1"): 8,
    (
        "again-offset-corrected",
        "messages=2 causes=1 overlaps=0 version=4.9.8 corrections=steps retentions=1 moves=1 repeats=1",
    ): 12,
    ("again-suspended", "messages=2 causes=1 consumers=1 listener=orderly failures=1 repeats=1"): 6,
    ("request-waits-at-the-broker", "messages=1 arriving=1 consumers=1 pulls=fine"): 2,
    ("lost-commit-repeats", "messages=1 moves=1 lost_commits=1 overlaps=0"): 8,
    ("late-commit-repeats", "messages=1 moves=1 late_commits=1 overlaps=0"): 8,
}


@pytest.fixture(scope="module")
def outcomes() -> list:
    rows = [claim_row(claim) for claim in claims() if claim.property.kind in (Kind.ALWAYS, Kind.SOMETIMES)]
    return list(run_suite(rows))


def test_every_claim_is_as_expected(outcomes: list) -> None:
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []


def test_every_state_space_has_its_size(outcomes: list) -> None:
    found = {configuration: (states, transitions) for _, configuration, states, transitions, _ in sizes(outcomes)}
    assert found == SIZES


def test_every_run_is_as_short_as_it_can_be(outcomes: list) -> None:
    found = {(name, constants): steps for name, constants, _, _, steps in sizes(outcomes) if steps is not None}
    assert found == RUNS


def test_random_runs_far_beyond_what_can_be_searched_find_nothing() -> None:
    large = consumption.configure(
        consumers=4,
        queues=3,
        messages=6,
        causes=1,
        moves=4,
        crashes=2,
        restarts=2,
        failures=4,
        refusals=2,
        orphans=1,
        late_commits=2,
        lost_commits=2,
        broker_restarts=2,
        leaves=2,
        pauses=2,
    )
    assert [result.verdict for result in simulate(large, ALWAYS, runs=20, steps=150, seed=1)] == [Verdict.UNKNOWN] * 4


def test_the_same_texts_hold_on_real_membership_and_rebalance() -> None:
    large = everything.configure(
        consumers=4,
        running=0,
        queues=4,
        messages=4,
        brokers=2,
        crashes=1,
        leaves=1,
        broker_restarts=1,
        cuts=1,
        causes=1,
    )
    assert [result.verdict for result in simulate(large, ALWAYS, runs=20, steps=150, seed=1)] == [Verdict.UNKNOWN] * 4
