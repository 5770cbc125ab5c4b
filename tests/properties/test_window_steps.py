"""Steps of windows: a mechanism that is broken is noticed, though all messages are handled."""

import pytest

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row
from rocketproof.properties.step_claims import claims

ROWS = [claim_row(claim) for claim in claims()]


@pytest.mark.parametrize(
    ("part", "text", "told", "row"),
    [
        ("queue_table", "_leave_request", "always window_empty(s, c, q)", "request-outlives-its-window"),
        ("concurrently", "succeed_up_to", "o < last for o <= last", "part-of-a-batch-fails"),
        ("send_back", "_update_offset", "always what happens", "late-result-moves-no-empty-window"),
        ("send_back", "send_back_fails_twice", "without consume_again", "failed-send-back-goes-to-a-listener"),
        ("pull", "answers", "always True", "commit-of-a-pull-comes-before-its-answer"),
        ("pull", "pull_removed", "without correct_tags_offset", "offset-passes-what-was-removed"),
        (
            "pull",
            "pull_nothing",
            "without the guard s.next_offset[c, q] == end(s, q)",
            "offset-follows-the-lowest-message",
        ),
        ("pull", "inside", "without start(s, q) <= offset", "deleted-message-is-never-pulled"),
        ("filtering", "receive_matching", "without s.put_end", "put-is-what-was-kept"),
        (
            "first_query",
            "find_no_offset",
            "without the guard not_(answers_zero",
            "own-choice-only-where-nothing-is-stored",
        ),
        ("send_back", "clean_expired", "without the guard first", "only-the-first-message-expires"),
        ("send_back", "overdue_fails", "without _update_offset", "late-result-moves-no-empty-window"),
        ("send_back", "send_back_to_nowhere", "without the guard _failed", "nothing-is-left-of-a-window"),
        ("send_back", "overdue_fails", "without s.overdue", "late-failure-ends-its-call"),
        ("send_back", "overdue_succeeds", "need not happen", "late-listener-returns"),
    ],
)
def test_a_broken_mechanism_is_noticed(part: str, text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([change], here, Theorems([]))
    assert row in outcome.kills
