"""Steps of calls that outlive their window, stand still or hang: a mechanism that is broken is noticed."""

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row
from rocketproof.properties.step_claims import claims

# Part, action or definition, what is broken there, and the row that notices.
BROKEN = (
    ("concurrently", "orphan_listener_fails", "the guard is not s.orphan", "call-outlives-its-window"),
    ("send_back", "orphan_copied", "without s.orphan", "late-failure-is-sent-back"),
    ("late_update", "finish_without_update", "without take_out", "worker-that-stands-still-has-removed-its-messages"),
)


def test_broken_mechanisms_are_noticed() -> None:
    rows = [claim_row(claim) for claim in claims()]
    survived = []
    for part, text, told, name in BROKEN:
        (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
        (outcome,) = judge([change], settings(row for row in rows if row.id == name), Theorems([]))
        if name not in outcome.kills:
            survived.append((part, text, told, name))
    assert survived == []
