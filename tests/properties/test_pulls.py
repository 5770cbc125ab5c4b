"""Pulls: what holds, and that it is these properties that notice when a mechanism is broken."""

import pytest

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.pulls import claims

from .told import sizes

LOST = "messages=2 consumers=1 moves=1 lost_pulls=1"
RESET = "messages=2 consumers=1 resets=1 corrections=steps watch_changes=1"
ROWS = [claim_row(claim) for claim in claims()]


def test_what_is_claimed() -> None:
    outcomes = list(run_suite(ROWS))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert sizes(outcomes) == [
        ("pull-request-comes-back", "messages=1 arriving=1 consumers=1 pulls=fine", 14, 23, None),
        ("pull-request-comes-back", "messages=2 consumers=1 removals=1 pulls=fine", 65, 138, None),
        ("mark-never-past-the-position", "messages=1 arriving=1 consumers=1 pulls=fine", 14, 23, None),
        ("mark-never-past-the-position", "messages=2 consumers=1 removals=1", 33, 47, None),
        ("mark-never-past-the-position", "messages=2 consumers=1 removals=1 pulls=fine", 65, 138, None),
        ("mark-never-past-the-position", "messages=2 consumers=1 expression=C tags=C,Aa", 13, 16, None),
        ("an-answer-ends-its-request", "messages=2 consumers=1 removals=1 pulls=fine watch_changes=1", 139, 295, None),
        ("lost-loop-ends-with-its-window", f"{LOST} pulls=fine", 1007, 3450, None),
        ("nothing-is-pulled-before-a-reset-is-learnt", f"{RESET} pulls=whole", 197, 357, None),
        ("nothing-is-pulled-before-a-reset-is-learnt", f"{RESET} pulls=fine", 1946, 5428, None),
    ]


@pytest.mark.parametrize(
    ("part", "text", "told", "row"),
    [
        ("pull", "answer_nothing", "without s.asked[c, q] = False", "pull-request-comes-back"),
        ("pull", "pull_removed", "without s.next_offset[c, q] = after", "mark-never-past-the-position"),
        ("pull", "pull_removed", "without s.asked[c, q] = False", "an-answer-ends-its-request"),
        ("pull", "pull", "without the guard not_(redirected(s, q))", "nothing-is-pulled-before-a-reset-is-learnt"),
        ("pull_expiry", "lose_pull", "without the guard asks(s, c, q)", "lost-loop-ends-with-its-window"),
        ("pull_expiry", "lose_pull", "the guard is not asks(s, c, q)", "lost-loop-ends-with-its-window"),
    ],
)
def test_a_broken_mechanism_is_noticed(part: str, text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([change], here, Theorems([]))
    assert row in outcome.kills
