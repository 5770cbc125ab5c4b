"""Settings about retries: what holds, and that every mistake in their texts is noticed."""

import pytest

from rocketproof.checkers.catalogue import retry_rows
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.judge import Effort, Fate, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.theorems import prove_theorem
from rocketproof.properties.retry_settings import SETTING_THEOREMS
from rocketproof.properties.verdict import Verdict

# Delays are whole seconds, so a millisecond more makes no difference.
SAME = {"LONGEST_DELAY + 1 for LONGEST_DELAY"}


def test_what_is_claimed() -> None:
    assert [(item.id, prove_theorem(item).verdict) for item in SETTING_THEOREMS] == [
        (item.id, Verdict.HOLDS) for item in SETTING_THEOREMS
    ]


@pytest.mark.parametrize("part", ["delay", "dead_letter", "retry_policy"])
def test_every_change_of_a_text_without_a_machine_is_noticed(part: str) -> None:
    outcomes = judge(all_changes(part), [], Theorems.of(retry_rows()), Effort())
    left = {item.change.told for item in outcomes if item.fate not in (Fate.KILLED, Fate.EQUIVALENT)}
    assert left == (SAME if part == "delay" else set())
