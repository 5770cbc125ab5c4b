"""Findings as entries of a page: each has the run that was found, and it is a run of that configuration."""

from dataclasses import replace

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.mutants import Answer, MachineMutant, Status, entries
from rocketproof.checkers.result import Result
from rocketproof.checkers.run import told
from rocketproof.checkers.suite import Outcome, claim_row
from rocketproof.explorer import Rerun, rerun
from rocketproof.explorer.findings import Findings
from rocketproof.explorer.page import entries_in, page
from rocketproof.explorer.subjects import subject
from rocketproof.properties.claim import Claim
from rocketproof.properties.verdict import Verdict


@pytest.fixture(scope="module")
def found() -> Rerun:
    return rerun("delivery", {}, ["take(c0, q0)", "pull(c0, q0)"])


def outcome(found: Rerun, claim: Claim) -> Outcome:
    result = Result(
        property=claim.property.id, verdict=Verdict.VIOLATED, engine="explore", bounds="", seconds=0.0, run=found.run
    )
    return Outcome(row=claim_row(claim), result=result)


def test_an_outcome_opens_as_its_run(found: Rerun) -> None:
    claim = subject("delivery").claims[0]
    findings = Findings()
    first = outcome(found, claim)
    elsewhere = replace(first, result=replace(first.result, run=told(found.run)))
    findings.add_outcomes([first, elsewhere, replace(first, result=replace(first.result, run=None))])
    assert [entry.steps for entry in findings.entries] == [("take(c0, q0)", "pull(c0, q0)")] * 2
    assert findings.entries[0].data is findings.entries[1].data
    assert (findings.entries[0].verdict, findings.entries[0].note) == ("VIOLATED", "VIOLATED")
    assert len({entry.id for entry in findings.entries}) == 2
    assert entries_in(page(findings.entries, title="Found"))[0]["run"] == "take(c0,q0)~pull(c0,q0)"


def test_a_run_that_is_none_of_the_configuration_is_left_out_and_named(found: Rerun) -> None:
    claim = subject("delivery").claims[0]
    findings = Findings()
    findings.add_outcomes([outcome(found, replace(claim, constants={**claim.constants, "consumers": 1, "queues": 2}))])
    assert [len(entry.steps or ()) for entry in findings.entries] == [2]
    backwards = replace(found.run, steps=found.run.steps[::-1])
    findings.add_outcomes([outcome(Rerun(found.machine, backwards), claim)])
    assert findings.left_out == [claim.property.id]


def test_a_known_bug_opens_as_its_counterexample(found: Rerun) -> None:
    bug = next(entry for entry in entries(all_rows()) if entry.id == "B7")
    assert isinstance(bug, MachineMutant)
    shown = rerun("B7", {}, ["take(c0, q0)"])
    result = Result(
        property=bug.killer.id, verdict=Verdict.VIOLATED, engine="explore", bounds="", seconds=0.0, run=shown.run
    )
    findings = Findings()
    findings.add_answers([Answer(entry=bug, status=Status.KILLED, mutated=result)])
    (entry,) = findings.entries
    assert entry.command == "rocketproof explore B7"
    assert (entry.id, entry.note, entry.steps) == ("B7", "killed", ("take(c0, q0)",))
    assert entry.data["machine"] == "consumption~B7"
