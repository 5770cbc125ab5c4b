"""Steps of stored offsets: a mechanism that is broken is noticed, though the next commit would hide it."""

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
        ("correction", "lose_dropped", "without change_table", "nothing-is-left-of-a-window"),
        ("correction", "set_target", "without the guard not_(s.target_set", "corrected-offset-is-set-once"),
        ("correction", "end_correction_late", "without s.late[q]", "corrected-offset-is-sent"),
        ("reset", "answer_reset", "without _overwrite", "reset-is-learnt-by-a-pull"),
        ("offsets", "restart_offsets", "without s.committed", "restart-takes-commits-back"),
        ("offsets", "late_commit_arrives", "without write_offset", "commit-that-is-held-up-was-sent"),
        ("replicas", "return_of_master", "without _exchange", "slave-copies-a-master-that-is-there"),
        ("queue_table", "_comes_elsewhere", "without s.owns", "giving-up-excuses-what-is-left-to-do"),
        ("any_assignment", "drop_delaying_commit", "without s.late[", "dropped-queue-leaves-its-offset"),
        ("any_assignment", "drop_delaying_commit", "without the guard may_commit", "commit-that-is-held-up-was-sent"),
        ("reset", "ghost_handles", "without s.memory", "ghost-goes-on-message-by-message"),
    ],
)
def test_a_broken_mechanism_is_noticed(part: str, text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([change], here, Theorems([]))
    assert row in outcome.kills
