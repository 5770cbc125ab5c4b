"""A sample of the generated mutants of all parts: what becomes of them, and what survives, with its reason."""

import re
from pathlib import Path

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutation.changes import all_changes, stratified
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, Fate, judge
from rocketproof.checkers.mutation.summary import whole
from rocketproof.checkers.mutation.theorems import Theorems

DOCUMENT = Path(__file__).parents[2] / "docs" / "mutants.md"
FATES = {Fate.KILLED: 162, Fate.EQUIVALENT: 33, Fate.SURVIVED: 1, Fate.UNKNOWN: 4}


def test_what_becomes_of_a_sample() -> None:
    rows = default_rows()
    effort = Effort(states=60_000, far=500_000)
    outcomes = judge(stratified(all_changes(), 200, 1), settings(rows), Theorems.of(rows), effort)
    assert whole(outcomes).fates == FATES
    listed = set(re.findall(r"^\| `(\S+)` \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE))
    assert {item.change.id for item in outcomes if item.fate is Fate.SURVIVED} <= listed
    assert {item.change.id for item in outcomes if item.fate in (Fate.KILLED, Fate.EQUIVALENT)} & listed == set()
