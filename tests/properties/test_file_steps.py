"""Steps of offset files and their copies: a mechanism that is broken is noticed."""

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
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
    rows = [claim_row(claim) for claim in claims()]
    survived = []
    for part, text, told, name in BROKEN:
        (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
        (outcome,) = judge([change], settings(row for row in rows if row.id == name), Theorems([]))
        if name not in outcome.kills:
            survived.append((part, text, told, name))
    assert survived == []
