"""The kill matrix: which engine says what of which property, exactly."""

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.kill_matrix import Cell, Effort, Outcome, cells
from rocketproof.checkers.mutants import Entry, Trials, entries

from .counter import declared

KILLED, SURVIVED, UNKNOWN = Outcome.KILLED, Outcome.SURVIVED, Outcome.UNKNOWN


def row(name: str, known: list[Entry], trials: Trials | None = None) -> dict[tuple[str, str], Outcome]:
    (entry,) = [entry for entry in known if entry.id == name]
    return {(cell.property, cell.engine): cell.outcome for cell in cells(entry, trials or Trials())}


def test_every_property_is_asked_by_every_engine_that_can() -> None:
    assert row("K1", declared()) == {
        ("below-top", "explore"): KILLED,
        ("ends-at-top", "liveness"): KILLED,
        # it holds of a top of 3, which this configuration does not have: not claimed, so ends-at-three has no cell
        ("below-top", "simulate"): KILLED,
        ("below-top", "prove"): KILLED,
    }


def test_what_survives_is_not_what_is_unknown() -> None:
    assert row("K2", declared()) == {
        ("ends-at-top", "liveness"): KILLED,
        ("below-top", "explore"): SURVIVED,
        ("ends-at-three", "liveness"): KILLED,
        ("below-top", "simulate"): UNKNOWN,
    }
    assert set(row("K3", declared()).values()) == {SURVIVED, UNKNOWN}
    assert set(row("K3", declared(), Trials(limits=Limits(states=1))).values()) == {UNKNOWN}


def test_a_mutant_that_leaves_its_domains_is_unknown() -> None:
    assert set(row("K5", declared()).values()) == {UNKNOWN}


def test_what_is_explained_or_missing_has_no_row() -> None:
    assert row("K8", declared()) == row("K6", declared()) == {}


def test_rules_are_asked_by_the_theorems_that_use_them() -> None:
    assert row("K10", declared()) == {("double-is-even", "prove"): KILLED}


def test_the_length_of_a_counterexample_is_kept() -> None:
    (entry,) = [entry for entry in declared() if entry.id == "K1"]
    assert cells(entry, Trials(), Effort(runs=5, depth=2))[0] == Cell(
        property="below-top", engine="explore", outcome=KILLED, steps=3
    )
    assert [cell for cell in cells(entry, Trials(), Effort(depth=2)) if cell.engine == "prove"] == [
        Cell(property="below-top", engine="prove", outcome=UNKNOWN)
    ]


@pytest.fixture(scope="module")
def known() -> list[Entry]:
    return entries(all_rows())


def test_wrong_rules_of_the_model_are_noticed_by_strategies_too(known: list[Entry]) -> None:
    trials = Trials()
    assert row("A6", known, trials) == {
        ("machine-room-partition", "prove"): KILLED,
        ("laws-of-MACHINE_ROOM", "strategies"): KILLED,
    }
    assert row("A14", known, trials) == {
        ("averagely-partition", "prove"): SURVIVED,
        ("averagely-owner", "prove"): KILLED,
        ("averagely-share-size", "prove"): KILLED,
        ("averagely-balanced", "prove"): UNKNOWN,
        ("averagely-contiguous", "prove"): SURVIVED,
        ("averagely-and-circle-agree", "prove"): SURVIVED,
        ("laws-of-AVG", "strategies"): KILLED,
        ("laws-of-MACHINE_ROOM_NEARBY", "strategies"): KILLED,
    }


def test_a_wrong_pass_is_noticed_by_one_property_only(known: list[Entry]) -> None:
    killing = {name for name, outcome in row("A11", known).items() if outcome is KILLED}
    assert killing == {("owns-its-share", "explore"), ("owns-its-share", "simulate"), ("owns-its-share", "prove")}
