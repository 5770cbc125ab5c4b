"""Every claim about orderly consumption: its verdict, the exact size of its state space, its shortest run; mutants."""

from __future__ import annotations

import pytest

from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.liveness import check_eventually
from rocketproof.checkers.result import Result
from rocketproof.checkers.run import story
from rocketproof.checkers.suite import Outcome, claim_rows, run_suite
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import Machine
from rocketproof.model.orderly import orderly
from rocketproof.model.orderly_ownership import orderly_ownership
from rocketproof.properties import delivery, offsets
from rocketproof.properties import orderly as orderly_properties
from rocketproof.properties.orderly import FORCED, LATE, MANUAL, OLD, ZOMBIE, Constants, claims, in_order
from rocketproof.properties.presets import preset_claims, preset_named
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

SHORT = {
    "@coarse-call-2": "listener=orderly client_window=1 broker_window=2 call=2 unlock_delay=1",
    "@coarse": "listener=orderly client_window=1 broker_window=2 call=1 unlock_delay=1",
    "@still": "listener=orderly clock=stopped",
}
# Configuration (begun with a word of SHORT) → states and transitions.
SIZES: dict[str, tuple[int, int]] = {
    "@still messages=3 failures=2 moves=2 crashes=1 causes=1": (4753, 16246),
    "@coarse messages=2 failures=1 moves=1 crashes=1 causes=1 orphans=1": (115922, 663224),
    "@coarse messages=2 failures=1 moves=1 crashes=1 causes=1 orphans=1 forced_unlock=1": (122070, 701126),
    "@coarse messages=2 failures=1 moves=1 crashes=1 causes=1 orphans=1 forced_unlock=1 leaves=1 reallocations=1": (
        949139,
        5295105,
    ),
    "@coarse messages=2 failures=1 moves=1 crashes=1 causes=1 orphans=1 version=4.9.8": (242352, 1509304),
    "@coarse messages=2 moves=1 causes=1 late_commits=1 late_locks=1": (402873, 2270431),
    "@still messages=2 failures=1 moves=1 crashes=1 pulls=fine": (4005, 19004),
    "@still messages=3 batch=2 failures=2 moves=1 causes=1": (1866, 5100),
    "@still auto_commit=0 messages=3 failures=2 moves=1 crashes=1 causes=1": (8003, 30478),
    "@still give_up=attempts attempts=2 messages=2 failures=4 refusals=1 moves=1": (1955, 5006),
    "@still give_up=attempts attempts=2 messages=2 failures=4 refusals=1 moves=1 version=4.9.8": (49927, 248886),
    "@still auto_commit=0 give_up=attempts messages=2 failures=3": (691, 1722),
    "@still consumers=1 poison=1 give_up=attempts": (25, 58),
    "@still consumers=1 poison=1 give_up=attempts auto_commit=0": (22, 48),
    "listener=orderly mode=broadcasting messages=2 failures=1 crashes=1": (1278, 4814),
    "@still consumers=1 failures=2 counters=1 threshold=1": (61, 151),
    "@still moves=1 failures=2": (464, 1154),
    "@coarse renewals=certain messages=1 crashes=1 leaves=1": (974, 3810),
    "@still consumers=1 poison=1 give_up=attempts threshold=1 moves=1": (109, 248),
    "@still consumers=1 messages=2 moves=1 version=5.3.3": (72, 159),
    "@still consumers=1 messages=2 moves=1 version=4.9.8": (121, 318),
    "@still consumers=1 messages=2 moves=1 reallocations=1": (119, 255),
    "@coarse renewals=certain messages=1 moves=1 late_locks=1": (639, 1963),
    "@coarse messages=1 orphans=1 lock_losses=1": (1580, 6841),
    "@coarse messages=1 pauses=1": (1948, 8042),
    "@coarse-call-2 messages=1": (539, 2147),
    "@still messages=1 leaves=1": (233, 698),
    "messages=2 consumers=1": (19, 27),
    "@still consumers=1 poison=1": (8, 18),
    "@still consumers=1 messages=2 moves=1 reallocations=1 idle_limit=0": (84, 174),
    "@still consumers=1 give_up=attempts batch=2 failures=4": (114, 272),
    "@coarse give_up=attempts messages=1 failures=4 crashes=1": (3299, 15189),
}
# Property, configuration, steps of the shortest counterexample, its loop included.
RUNS: list[tuple[str, str, int]] = [
    ("one-orderly-listener", "@coarse messages=2 failures=1 moves=1 crashes=1 causes=1 orphans=1 forced_unlock=1", 10),
    ("one-orderly-listener", "@coarse messages=2 failures=1 moves=1 crashes=1 causes=1 orphans=1 version=4.9.8", 11),
    ("one-orderly-listener", "@coarse messages=1 orphans=1 lock_losses=1", 7),
    ("one-orderly-listener", "@coarse messages=1 pauses=1", 10),
    ("one-orderly-listener", "@coarse-call-2 messages=1", 9),
    ("one-orderly-listener", "@still messages=1 leaves=1", 7),
    ("handled-in-order", "messages=2 consumers=1", 5),
    ("every-message-is-handled", "@still consumers=1 poison=1", 7),
    ("every-message-is-handled", "@still consumers=1 messages=2 moves=1 reallocations=1 idle_limit=0", 7),
    ("orderly-given-up-once", "@still consumers=1 give_up=attempts batch=2 failures=4", 12),
    ("orderly-given-up-once", "@coarse give_up=attempts messages=1 failures=4 crashes=1", 19),
]

# Mutant, states of the mutated machine, steps of the counterexample.
KILLED = [
    ("B7", 239, 7),
    ("D3-orderly", 25, 8),
    ("E1", 111, 8),
    ("E3-orderly", 66, 8),
    ("E6", 31, 8),
    ("E6-insert", 81, 5),
    ("E7", 9, 6),
]
PROPERTIES = {
    item.id: item
    for module in (orderly_properties, delivery, offsets)
    for item in vars(module).values()
    if isinstance(item, Property)
}


def shortened(configuration: str) -> str:
    for word, text in SHORT.items():
        configuration = configuration.replace(text, word)
    return configuration


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return list(run_suite([row for row in claim_rows(claims()) if row.id != "every-action-happens"]))


def told(outcomes: list[Outcome], name: str, configuration: str) -> str:
    for item in outcomes:
        if (item.row.id, shortened(item.row.configuration)) == (name, configuration) and item.result.run is not None:
            return story(item.result.run)
    raise AssertionError(f"no run of {name} {configuration}")


def test_every_claim_has_the_verdict_that_is_expected(outcomes: list[Outcome]) -> None:
    assert [(item.row.id, item.row.configuration) for item in outcomes if not item.as_expected] == []


def test_sizes_are_exact(outcomes: list[Outcome]) -> None:
    found = {
        shortened(item.row.configuration): (item.result.figures["states"], item.result.figures["transitions"])
        for item in outcomes
    }
    assert found == SIZES


def test_shortest_runs_are_exact(outcomes: list[Outcome]) -> None:
    found = [
        (item.row.id, shortened(item.row.configuration), len(item.result.run))
        for item in outcomes
        if item.result.run is not None
    ]
    assert found == RUNS


def test_every_orderly_action_happens() -> None:
    happened: set[str] = set()
    poison: Constants = {**ZOMBIE, "poison": 1}
    manual: Constants = {**MANUAL, "give_up": "attempts", "refusals": 1, "moves": 0, "lock_losses": 1}
    for constants in (FORCED, OLD, LATE, manual, poison):
        found = explore(consumption.configure(**constants), idle_actions_allowed=True)
        happened |= {label.partition("(")[0] for label, times in found.taken.items() if times}
    assert (set(orderly.actions) | set(orderly_ownership.actions)) - happened == set()


def test_a_search_that_is_cut_short_says_unknown() -> None:
    configuration = consumption.configure(listener="orderly", clock="stopped")
    found = explore(configuration, [in_order], limits=Limits(states=10), idle_actions_allowed=True)
    assert found.results[0].verdict is Verdict.UNKNOWN


def judged(machine: Machine, constants: dict[str, int | str], property: Property) -> Result:
    configuration = machine.configure(**constants)
    if property.kind is Kind.EVENTUALLY:
        return check_eventually(configuration, property)
    return explore(configuration, [property], idle_actions_allowed=True).results[0]


@pytest.mark.parametrize(("mutant", "states", "steps"), KILLED)
def test_a_mutant_is_killed_by_its_property_and_the_correct_machine_by_none(
    mutant: str, states: int, steps: int
) -> None:
    change = consumption.mutants[mutant]
    killer = PROPERTIES[change.killed_by]
    wrong = judged(consumption.mutated(mutant), change.wrong_constants, killer)
    assert wrong.run is not None
    assert (wrong.figures["states"], len(wrong.run)) == (states, steps)
    assert judged(consumption, dict(change.constants), killer).verdict is Verdict.HOLDS


def test_all_mutants_of_orderly_consumption_are_accounted_for() -> None:
    declared = {*orderly.mutants, *orderly_ownership.mutants, "B7"}
    assert sorted(declared) == [name for name, _, _ in KILLED]


def test_the_story_of_a_forced_unlock(outcomes: list[Outcome]) -> None:
    text = told(
        outcomes,
        "one-orderly-listener",
        "@coarse messages=2 failures=1 moves=1 crashes=1 causes=1 orphans=1 forced_unlock=1",
    )
    order = ["c0 drops q0", "a tick passes", "c0 unlocks q0 by force", "c1 takes q0"]
    places = [text.rindex(sentence) for sentence in order]
    assert places == sorted(places)


def test_the_story_of_a_queue_that_comes_back_while_it_is_given_up(outcomes: list[Outcome]) -> None:
    text = told(
        outcomes, "every-message-is-handled", "@still consumers=1 messages=2 moves=1 reallocations=1 idle_limit=0"
    )
    assert "q0 is allocated to c0 again" in text
    assert text.endswith("and nothing that must happen can: the run stays here for ever.")


@pytest.mark.slow
def test_the_preset_has_the_states_it_says() -> None:
    preset = preset_named("orderly")
    found = explore(
        preset.configuration(), [claim.property for claim in preset_claims(preset)], idle_actions_allowed=True
    )
    assert found.states == preset.states
    assert {result.verdict for result in found.results} == {Verdict.HOLDS}
