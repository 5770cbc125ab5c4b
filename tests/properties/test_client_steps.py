"""Steps of clients: a client that does something when it must not is noticed, whatever comes of it."""

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
        ("any_assignment", "drop", "without the guard working", "stopping-client-begins-nothing"),
        ("shutdown", "stop", "without the guard working", "process-that-stands-still-does-nothing"),
        ("filtering", "heartbeat", "without the guard s.unannounced", "subscription-is-announced-when-it-is-new"),
        ("filtering", "heartbeat", "without any_of(not_(latest)", "newest-subscription-settles-the-others"),
        ("filtering", "another_expression", "without version_is_now", "subscription-is-announced-when-it-is-new"),
    ],
)
def test_a_broken_mechanism_is_noticed(part: str, text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([change], here, Theorems([]))
    assert row in outcome.kills
