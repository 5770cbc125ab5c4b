"""Mutants: killed, survived, cannot tell, unknowns and explanations of a small machine, and class A of the model."""

from collections.abc import Iterator

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.known_bugs import KNOWN_BUGS
from rocketproof.checkers.mutants import (
    Answer,
    MachineMutant,
    RuleMutant,
    Status,
    Surprise,
    Trials,
    Undeclared,
    all_rules,
    entries,
    slug_of,
)
from rocketproof.checkers.run import story
from rocketproof.checkers.suite import claim_rows
from rocketproof.model.allocation import averagely_count, machine_room_takes
from rocketproof.model.kernel import IntLike, Machine, ModelError, State, rule
from rocketproof.properties.claim import Claim
from rocketproof.properties.verdict import Verdict

from .counter import below, counter, declared, double, ends, rows


@pytest.fixture(scope="module")
def answers() -> dict[str, Answer]:
    return {answer.entry.id: answer for answer in map(Trials().answer, declared())}


def test_entries_come_from_machines_rules_and_the_list() -> None:
    found = entries(rows(), [double])
    assert len(found) == 12 + len(KNOWN_BUGS)
    kinds = {entry.id: type(entry) for entry in declared()}
    assert list(kinds) == [f"K{number}" for number in range(1, 13)]
    assert [name for name, kind in kinds.items() if kind is MachineMutant] == [
        "K1",
        "K2",
        "K3",
        "K4",
        "K5",
        "K7",
        "K12",
    ]
    assert [name for name, kind in kinds.items() if kind is Surprise] == ["K8", "K9"]
    assert [name for name, kind in kinds.items() if kind is RuleMutant] == ["K10"]
    assert [name for name, kind in kinds.items() if kind is Undeclared] == ["K6", "K11"]


@pytest.mark.parametrize(
    ("name", "status", "steps"),
    [
        ("K1", Status.KILLED, 3),
        ("K2", Status.KILLED, 1),
        ("K3", Status.SURVIVED, None),
        ("K4", Status.CANNOT_TELL, 3),
        ("K5", Status.UNKNOWN, None),
        ("K6", Status.MISSING, None),
        ("K7", Status.KILLED, 2),
        ("K8", Status.EXPLAINED, 1),
        ("K9", Status.SURVIVED, None),
        ("K10", Status.KILLED, None),
        ("K11", Status.MISSING, None),
        ("K12", Status.UNKNOWN, None),
    ],
)
def test_each_gets_its_status(answers: dict[str, Answer], name: str, status: Status, steps: int | None) -> None:
    answer = answers[name]
    run = answer.mutated.run if answer.mutated is not None else None
    assert (answer.status, None if run is None else len(run)) == (status, steps)
    assert answer.as_expected is (status in (Status.KILLED, Status.EXPLAINED))


def test_the_mutant_is_in_the_story_and_not_in_the_original(answers: dict[str, Answer]) -> None:
    killed = answers["K1"]
    assert killed.mutated is not None
    assert killed.mutated.run is not None
    assert killed.mutated.run.lowered.configuration.machine.name == "counter~K1"
    assert story(killed.mutated.run).endswith("3. rise\n     height: 2 → 3")
    assert killed.original is not None
    assert (killed.original.verdict, killed.original.bounds) == (
        Verdict.HOLDS,
        "all 3 states, 2 transitions, depth 2",
    )
    assert answers["K10"].mutated is not None
    assert answers["K10"].mutated.explanation == "value = 1"


def test_reasons_are_told(answers: dict[str, Answer]) -> None:
    assert answers["K5"].explanation == (
        "the text of the mutant is wrong: machine counter~K5, action leap: writes 9 to height, allowed is 0…4 "
        "(computed from the constants)."
    )
    assert answers["K12"].explanation == (
        "the text of the mutant is wrong: never-falls speaks of something that does not exist in its configuration."
    )
    assert answers["K6"].explanation == ("no property 'below-tip' is claimed of counter. Did you mean 'below-top'?")
    assert answers["K11"].explanation == "there is no theorem 'double-is-odd'. Did you mean 'double-is-even'?"


def test_a_limit_is_unknown_and_never_survival() -> None:
    (survivor,) = [entry for entry in declared() if entry.id == "K3"]
    (liveness,) = [entry for entry in declared() if entry.id == "K2"]
    trials = Trials(limits=Limits(states=2))
    assert trials.answer(survivor).status is Status.UNKNOWN
    answer = trials.answer(liveness)  # violated with it, but nobody knows about the machine without it
    assert (answer.status, answer.original and answer.original.verdict) == (Status.UNKNOWN, Verdict.UNKNOWN)


def test_what_is_known_without_the_bug_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = Trials()
    first = trials.original(counter, {"top": 2}, [below, ends])
    monkeypatch.setattr(trials, "check", lambda *_, **__: [])
    assert trials.original(counter, {"top": 2}, [ends, below]) == first[::-1]


def test_a_part_belongs_to_the_first_machine_that_claims_its_property() -> None:
    whole = Machine("whole").include(counter)
    claims = [Claim(property=ends, machine=whole), Claim(property=below, machine=counter)]
    home = {
        entry.id: entry.machine.name for entry in entries(claim_rows(claims), []) if isinstance(entry, MachineMutant)
    }
    assert home == {"K1": "counter", "K2": "whole", "K3": "counter", "K5": "counter"}


def test_one_id_twice_is_a_mistake() -> None:
    @rule
    def half(value: IntLike) -> IntLike:
        return value // 2

    half.mutant("K10", "again", killed_by="double-is-even")(lambda value: value)
    with pytest.raises(ModelError, match=r"K10 is declared twice; call one of them K10-… and some words\."):
        entries(rows(), [double, half])


def test_rules_of_the_model_are_found() -> None:
    found = list(all_rules())
    assert averagely_count in found
    assert machine_room_takes in found
    assert len(found) == len(set(map(id, found)))


# Id, property that kills it, engine, steps of the counterexample.
ASSIGNMENT = [
    ("A1", "partition-lemma", "explore", 4),
    ("A2", "no-orphan-once-agreed", "explore", 3),
    ("A5", "one-queue-one-consumer", "explore", 3),
    ("A6", "machine-room-partition", "prove", None),
    ("A7", "no-orphan-once-agreed", "explore", 2),
    ("A7-still-pulled", "disagreement-ends", "liveness", 3),
    ("A8", "disagreement-ends", "liveness", 4),
    ("A9", "disagreement-ends", "liveness", 3),
    ("A10", "disagreement-ends", "liveness", 7),
    ("A11", "owns-its-share", "explore", 2),
    ("A12", "disagreement-ends", "liveness", 5),
    ("A13", "written-queues-owned", "explore", 3),
    ("A14", "averagely-share-size", "prove", None),
]


def assignment() -> Iterator[Answer]:
    trials = Trials()
    for entry in entries(all_rows()):
        if entry.id in [row[0] for row in ASSIGNMENT]:
            yield trials.answer(entry)


def test_class_a_is_killed_by_the_property_that_is_named() -> None:
    found = list(assignment())
    assert {answer.entry.id: answer.status for answer in found} == {
        row[0]: Status.EXPLAINED if row[0] == "A5" else Status.KILLED for row in ASSIGNMENT
    }
    told = [
        (answer.entry.id, result.property, result.engine, None if result.run is None else len(result.run))
        for answer in found
        if (result := answer.mutated) is not None
    ]
    assert told == ASSIGNMENT
    assert {answer.entry.id: slug_of(answer.entry) for answer in found if answer.entry.id in KNOWN_BUGS} == {
        name: KNOWN_BUGS[name] for name, *_ in ASSIGNMENT if name in KNOWN_BUGS
    }


@pytest.mark.slow
def test_every_entry_is_as_expected() -> None:
    wrong = {
        answer.entry.id: (answer.status, answer.explanation)
        for answer in map(Trials().answer, entries(all_rows()))
        if not answer.as_expected
    }
    assert wrong == {}


def test_a_mutant_may_be_that_an_action_never_happens() -> None:
    machine = Machine("stuck").include(counter)

    @machine.mutant("K20", "never-enabled", of=counter.actions["rise"].function, killed_by="ends-at-top")
    def stuck(s: State) -> None:
        s.require(False)

    claim = Claim(property=ends, machine=machine)
    (entry,) = [item for item in entries(claim_rows([claim]), []) if item.id == "K20"]
    answer = Trials().answer(entry)
    assert answer.status is Status.KILLED
