"""Limits by bytes and by topic: what holds, and that it is these properties that notice when a mechanism is broken."""

import pytest

from rocketproof.checkers.catalogue import flow_control_rows
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, Fate, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.flow_control import claims
from rocketproof.properties.verdict import Verdict

ROWS = [claim_row(claim) for claim in claims()]


def test_what_is_claimed() -> None:
    outcomes = list(run_suite([*ROWS, *flow_control_rows()]))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    findings = {
        outcome.row.id: outcome.result.explanation for outcome in outcomes if outcome.result.verdict is Verdict.VIOLATED
    }
    assert list(findings) == ["topic-threshold-kept", "topic-limit-never-exceeded"]
    assert findings["topic-limit-never-exceeded"] == "each of 2 queues may have 1 of 1 in all"


@pytest.mark.parametrize("text", ["divided_limit", "cached_mib", "_limit"])
def test_every_change_of_a_limit_is_noticed(text: str) -> None:
    changes = [item for item in all_changes("flow_control") if item.text == text]
    outcomes = judge(changes, settings(ROWS), Theorems.of(flow_control_rows()), Effort())
    assert changes
    assert {item.change.told: item.fate for item in outcomes if item.fate not in (Fate.KILLED, Fate.EQUIVALENT)} == {}
