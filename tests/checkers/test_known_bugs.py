"""The list of known bugs: every id once, each killed, explained, or left out for a reason."""

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.known_bugs import KNOWN_BUGS, LEFT_OUT, TOPICS, in_order, known_id
from rocketproof.checkers.mutants import Status, Undeclared, entries, slug_of

HOW_MANY = {"A": 14, "B": 10, "C": 5, "D": 11, "E": 8, "F": 11, "G": 5, "H": 7}
IDS = [f"{letter}{number}" for letter, count in HOW_MANY.items() for number in range(1, count + 1)]


def test_every_known_bug_is_in_the_list_once() -> None:
    assert list(KNOWN_BUGS) == IDS
    assert len(set(KNOWN_BUGS.values())) == len(KNOWN_BUGS) == 71
    assert list(TOPICS) == list(HOW_MANY)
    assert set(LEFT_OUT) < set(KNOWN_BUGS)


def test_every_known_bug_is_an_entry() -> None:
    known = [known_id(entry.id) for entry in entries(all_rows())]
    assert sorted(set(known), key=in_order) == IDS


def test_every_known_bug_is_declared_under_its_own_name() -> None:
    plain = {entry.id: slug_of(entry) for entry in entries(all_rows()) if entry.id in KNOWN_BUGS}
    assert plain == KNOWN_BUGS


def test_nothing_is_left_out_that_is_declared() -> None:
    left_out = {entry.id for entry in entries(all_rows()) if isinstance(entry, Undeclared) and entry.id in LEFT_OUT}
    assert left_out == set(LEFT_OUT)


def test_nothing_is_missing() -> None:
    missing = {
        entry.id: entry.reason
        for entry in entries(all_rows())
        if isinstance(entry, Undeclared) and entry.status is Status.MISSING
    }
    assert missing == {}


@pytest.mark.parametrize(
    ("name", "known"),
    [("E2", "E2"), ("E2-timestamp", "E2"), ("A14", "A14"), ("B10-broadcast", "B10"), ("S1x", "S1x"), ("x", "x")],
)
def test_a_variant_belongs_to_a_known_bug(name: str, known: str) -> None:
    assert known_id(name) == known


def test_entries_are_ordered_by_letter_number_and_variant() -> None:
    assert sorted(["B1", "A10", "A2-b", "A2", "A2-a", "A1"], key=in_order) == ["A1", "A2", "A2-a", "A2-b", "A10", "B1"]
