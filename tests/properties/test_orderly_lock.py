"""Every claim about the lock machine: its verdict, the exact size of its state space, its shortest run, its mutants."""

from __future__ import annotations

import pytest

from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.prove.methods import prove_inductive
from rocketproof.checkers.run import story
from rocketproof.checkers.suite import Outcome, claim_rows, run_suite
from rocketproof.model.orderly_lock import orderly_lock
from rocketproof.properties import orderly_lock as lock_properties
from rocketproof.properties.orderly_lock import ages_agree, claims, exclusive, exclusive_for_all_windows
from rocketproof.properties.property import Property
from rocketproof.properties.verdict import Verdict

# Property, configuration, states, transitions, and steps of the run, its loop included (None where there is no run).
EXPECTED: list[tuple[str, str, int, int, int | None]] = [
    ("one-listener-a-queue", "", 609, 2375, None),
    ("released-queue-is-free", "", 609, 2375, None),
    ("one-listener-a-queue", "consumers=3 crashes=1 leaves=1", 23185, 157747, None),
    ("believed-lock-is-held", "consumers=3 crashes=1 leaves=1", 23185, 157747, None),
    ("one-listener-a-queue", "queues=2 crashes=1", 392931, 3372033, None),
    ("one-listener-a-queue", "renewals=in-flight answer=1 batch=2 crashes=1", 9844, 68931, None),
    ("believed-lock-is-held", "renewals=in-flight answer=1 batch=2 crashes=1", 9844, 68931, None),
    ("one-listener-a-queue", "renewals=certain batches=long drops=0 crashes=1 leaves=1", 808, 2938, None),
    ("owner-is-ready", "renewals=certain batches=long drops=0 crashes=1 leaves=1", 808, 2938, None),
    ("one-listener-a-queue", "force=1 unlock_delay=6", 609, 2629, None),
    ("believed-lock-is-held", "force=1", 1044, 4597, None),
    ("one-listener-a-queue", "force=1", 1044, 4597, 9),
    ("believed-lock-is-held", "batch=4", 809, 3183, None),
    ("one-listener-a-queue", "batch=4", 809, 3183, 11),
    ("lock-taken-over", "crashes=1", 819, 4119, None),
    ("owner-ready-again", "lock_losses=1", 4746, 21423, None),
    ("ghost-lock", "renewals=in-flight", 8031, 43422, 2),
    ("released-queue-is-free", "renewals=in-flight", 8031, 43422, 2),
    ("one-listener-a-queue", "renewals=in-flight answer=1", 11466, 62865, 13),
    ("one-listener-a-queue", "pauses=1", 3200, 13090, 12),
    ("one-listener-a-queue", "clock_steps=1", 8454, 37590, 12),
    ("believed-lock-is-held", "clock_steps=1", 8454, 37590, 10),
    ("one-listener-a-queue", "lock_losses=1", 4746, 21423, 5),
    ("believed-lock-is-held", "lock_losses=1", 4746, 21423, 2),
    ("one-listener-a-queue", "version=4.9.8", 13052, 79780, 8),
    ("one-listener-a-queue", "leaves=1 await_listeners=0", 1823, 7973, 5),
    ("one-listener-a-queue", "renewals=certain batches=long", 1125, 5409, 12),
    ("lock-taken-over", "renewals=in-flight", 8031, 43422, 3),
    ("owner-is-ready", "drops=0", 181, 599, 5),
]

# Mutant, states of the mutated machine, steps of the counterexample.
KILLED = [
    ("E2", 873, 14),
    ("E2-timestamp", 189, 6),
    ("E3", 865, 6),
    ("E4", 681, 3),
    ("E5", 1725, 2),
    ("E2-periods", 565, 5),
]
PROPERTIES = {item.id: item for item in vars(lock_properties).values() if isinstance(item, Property)}


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(run_suite(claim_rows(claims())))


def told(outcomes: list[Outcome], name: str, configuration: str) -> str:
    for outcome in outcomes:
        if (outcome.row.id, outcome.row.configuration) == (name, configuration) and outcome.result.run is not None:
            return story(outcome.result.run)
    raise AssertionError(f"no run of {name} {configuration}")


def test_every_claim_has_the_verdict_that_is_expected(outcomes: list[Outcome]) -> None:
    assert [(item.row.id, item.row.configuration) for item in outcomes if not item.as_expected] == []


def test_sizes_and_shortest_runs_are_exact(outcomes: list[Outcome]) -> None:
    found = [
        (
            item.row.id,
            item.row.configuration,
            item.result.figures.get("states"),
            item.result.figures.get("transitions"),
            None if item.result.run is None else len(item.result.run),
        )
        for item in outcomes[:-1]
        if item.result.engine != "prove"
    ]
    assert found == EXPECTED


def test_every_action_of_the_lock_machine_happens(outcomes: list[Outcome]) -> None:
    assert outcomes[-1].row.id == "every-action-happens"
    assert outcomes[-1].result.bounds.startswith("24 actions")


def test_exclusion_is_proven_for_every_number_of_clients_queues_and_ticks(outcomes: list[Outcome]) -> None:
    proven = [item.result for item in outcomes if item.result.engine == "prove"]
    found = [(result.verdict, result.bounds.rpartition("; ")[2]) for result in proven]
    one, two, three = (
        (Verdict.HOLDS, f"inductive together with {lemmas}") for lemmas in ("1 lemma", "2 lemmas", "3 lemmas")
    )
    assert found == [one, one, two, three]
    for bound in ("consumers ≥ 1", "queues ≥ 1", "client_window ≥ 1", "broker_window ≥ 1"):
        assert all(bound in result.bounds for result in proven)


def test_exclusion_cannot_be_proven_where_a_clock_may_be_set_back() -> None:
    result = prove_inductive(
        orderly_lock.configure(clock_steps=1), exclusive_for_all_windows, lemmas=(ages_agree,), work=40_000_000
    )
    assert result.verdict is Verdict.UNKNOWN
    assert "step_clock_back(c0) is not shown to preserve 'lock-ages-agree'" in result.explanation


def test_a_search_that_is_cut_short_says_unknown() -> None:
    found = explore(orderly_lock.configure(), [exclusive], limits=Limits(states=100), idle_actions_allowed=True)
    assert found.results[0].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("mutant", "states", "steps"), KILLED)
def test_a_mutant_is_killed_by_its_property_and_the_correct_machine_by_none(
    mutant: str, states: int, steps: int
) -> None:
    change = orderly_lock.mutants[mutant]
    killer = PROPERTIES[change.killed_by]
    wrong = explore(
        orderly_lock.mutated(mutant).configure(**change.wrong_constants), [killer], idle_actions_allowed=True
    )
    right = explore(orderly_lock.configure(**change.constants), [killer], idle_actions_allowed=True)
    assert wrong.results[0].run is not None
    assert (wrong.states, len(wrong.results[0].run)) == (states, steps)
    assert right.results[0].verdict is Verdict.HOLDS


def test_all_mutants_are_accounted_for() -> None:
    assert sorted(orderly_lock.mutants) == sorted(name for name, _, _ in KILLED)
    assert list(orderly_lock.explanations) == ["E8"]


def test_the_story_of_a_forced_unlock(outcomes: list[Outcome]) -> None:
    text = told(outcomes, "one-listener-a-queue", "force=1")
    assert "c0 unlocks q0 by force" in text
    assert text.count("a tick passes") == 3


def test_the_story_of_a_late_unlock_of_4_9_8(outcomes: list[Outcome]) -> None:
    text = told(outcomes, "one-listener-a-queue", "version=4.9.8")
    order = ["c0 removes q0 and will unlock it later", "c0 locks and takes q0", "c0 unlocks q0, late"]
    places = [text.rindex(sentence) for sentence in order]
    assert places == sorted(places)
    assert "tick" not in text
