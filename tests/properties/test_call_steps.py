"""Steps of calls that outlive their window, stand still or hang: a mechanism that is broken is noticed."""

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
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
    rows = {row for *_, row in BROKEN}
    changes = []
    for part, text, told, _ in BROKEN:
        changes.append(next(item for item in all_changes(part) if item.text == text and told in item.told))
    here = settings([row for row in map(claim_row, claims()) if row.id in rows])
    outcomes = judge(changes, here, Theorems([]), Effort(every_row=True))
    assert [case for case, outcome in zip(BROKEN, outcomes, strict=True) if case[3] not in outcome.kills] == []
