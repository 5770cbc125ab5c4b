"""Which rows of a suite a known bug changes: also those in other configurations than its own."""

import json

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.changed_rows import changed_rows
from rocketproof.checkers.mutants import Answer, MachineMutant, Status, Trials, entries
from rocketproof.checkers.suite import Row
from rocketproof.output.console import make_console
from rocketproof.output.mutants_report import as_json, print_changed


def mutant(bug: str) -> MachineMutant:
    (entry,) = [item for item in entries(default_rows()) if item.id == bug]
    assert isinstance(entry, MachineMutant)
    return entry


def rows_of(machine: str, *constants: dict[str, int | str]) -> list[Row]:
    return [row for row in default_rows() if row.machine == machine and row.constants in constants]


def test_a_bug_changes_rows_in_configurations_that_are_not_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of("orderly_lock", {"consumers": 1}, {"consumers": 1, "batches": "endless"}, {"force": 1})
    found = list(changed_rows(mutant("E3"), rows, Trials()))
    assert [(row.id, answer, row.configuration) for row, answer in found] == [
        ("dropped-queue-is-removed", "HOLDS", "consumers=1 batches=endless"),
        ("listeners-run-in-the-table", "VIOLATED", "consumers=1"),
    ]
    print_changed(make_console(quiet=False), "E3", found)
    assert capsys.readouterr().out.splitlines() == [
        "",
        "E3 changes 2 rows of the suite",
        "  dropped-queue-is-removed  HOLDS  orderly_lock consumers=1 batches=endless",
        "  listeners-run-in-the-table  VIOLATED  orderly_lock consumers=1",
    ]
    answer = Answer(entry=mutant("E3"), status=Status.KILLED)
    assert json.loads(as_json([answer], None, {"E3": found[:1]}))[0]["changed"] == [
        {
            "property": "dropped-queue-is-removed",
            "machine": "orderly_lock",
            "constants": {"consumers": 1, "batches": "endless"},
            "answer": "HOLDS",
        }
    ]


def test_rows_of_other_machines_are_not_asked() -> None:
    assert list(changed_rows(mutant("A9"), rows_of("long_polling", {}), Trials())) == []
