"""Things in their turn: what holds, and that it is these properties that notice when a mechanism is broken."""

import pytest

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.turns import claims
from rocketproof.properties.verdict import Verdict

ROWS = [claim_row(claim) for claim in claims()]


def test_what_is_claimed() -> None:
    outcomes = list(run_suite(ROWS))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    findings = [outcome.row.id for outcome in outcomes if outcome.result.verdict is Verdict.VIOLATED]
    assert findings == ["progress-is-stored"]


@pytest.mark.parametrize(
    ("part", "text", "told", "row"),
    [
        ("first_query", "take_where_chosen", "without the guard may_enter(s, c, q)", "queue-taken-once"),
        ("process_queue", "working", "without s.life[c] == Life.UP", "no-queue-taken-while-stopping"),
        ("concurrently", "begin", "without the guard may_begin(s, c, q)", "no-listener-called-while-stopping"),
        ("offsets", "commit", "without the guard working(s, c)", "last-commit-is-the-last"),
        ("orderly", "commit_taken", "always (Result.SUCCESS,)", "committed-only-when-told"),
        ("orderly", "roll_back", "without _consume_again", "every-message-is-handled"),
        ("correction", "_remove", "without s.target_set[c, q] = False", "each-correction-sets-its-own-offset"),
    ],
)
def test_a_broken_mechanism_is_noticed(part: str, text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([change], here, Theorems([]))
    assert row in outcome.kills
