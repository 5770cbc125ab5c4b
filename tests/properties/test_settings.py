"""Settings and orders: what holds, and that it is these properties that notice when a mechanism is broken."""

import pytest

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.settings import claims
from rocketproof.properties.verdict import Verdict

ROWS = [claim_row(claim) for claim in claims()]


def test_what_is_claimed() -> None:
    outcomes = list(run_suite(ROWS))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    findings = [outcome.row.id for outcome in outcomes if outcome.result.verdict is Verdict.VIOLATED]
    assert findings == ["span-and-one-pull"]


@pytest.mark.parametrize(
    ("part", "text", "told", "row"),
    [
        ("start_position", "chosen_offset", "always end(s, q), whether or not retry", "retry-queue-from-its-beginning"),
        ("consume_queue", "produce", "without the guard not is_retry(s.constants, q)", "retry-in-its-topic"),
        ("queue_table", "_persist", "as if not leaving.persists", "given-up-queue-is-committed"),
        (
            "shutdown",
            "unregister",
            "without the guard s.forall(Queue, lambda q: not_(may_commit(s, c, q)))",
            "stop-commits-what-is-done",
        ),
        (
            "flow_control",
            "flow_allows",
            "always True, whether or not s.threshold or s.topic_threshold",
            "threshold-kept",
        ),
        ("flow_control", "flow_allows", "all_of(few, small, near) without near", "span-kept"),
        ("send_back", "clean_expired", "EXPIRY_LEVEL + 1 for EXPIRY_LEVEL", "expired-message-waits-at-level-3"),
        ("reset", "reset_at_broker", "without s.committed[q] = s.reset_to", "reset-noted-is-stored"),
        ("concurrently", "in_task", "not first <= m", "every-message-is-handled"),
    ],
)
def test_a_broken_mechanism_is_noticed(part: str, text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and item.told == told]
    (outcome,) = judge([change], settings(item for item in ROWS if item.id == row), Theorems([]))
    assert row in outcome.kills
