"""Steps of offset files and their copies: a mechanism that is broken is noticed."""

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row
from rocketproof.properties.step_claims import claims

# Part, action or definition, what is broken there, and the row that notices.
BROKEN = (
    ("broadcasting", "_saved", "NO_OFFSET + 1 for NO_OFFSET", "file-is-written-before-the-first-message-is-done"),
    ("broadcasting", "lose_file", "the guard is not", "file-has-what-was-remembered"),
    ("broadcasting", "die_while_writing", "the guard is not s.exists", "file-is-torn-in-a-death-only"),
    ("broadcasting", "_news", "as if not s.torn_writes", "copy-is-renewed-without-news"),
    ("local_file", "tear", "always Content.UNREADABLE", "copy-may-be-emptied"),
    ("faults", "restart", "without the guard may_start", "start-needs-a-file-or-a-copy"),
)


def test_broken_mechanisms_are_noticed() -> None:
    rows = {row for *_, row in BROKEN}
    changes = []
    for part, text, told, _ in BROKEN:
        changes.append(next(item for item in all_changes(part) if item.text == text and told in item.told))
    here = settings([row for row in map(claim_row, claims()) if row.id in rows])
    outcomes = judge(changes, here, Theorems([]), Effort(every_row=True))
    assert [case for case, outcome in zip(BROKEN, outcomes, strict=True) if case[3] not in outcome.kills] == []
