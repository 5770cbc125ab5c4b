"""Steps of retry copies: a mechanism that is broken is noticed, though all copies come in the end."""

import pytest

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row
from rocketproof.properties.step_claims import claims

ROWS = [claim_row(claim) for claim in claims()]


@pytest.mark.parametrize(
    ("part", "text", "told", "row", "where"),
    [
        ("send_back", "fallback_stored_twice", "without the guard _failed", "copy-is-of-what-has-failed", ""),
        ("retry_copy", "store", "without s.root[k]", "copy-is-of-what-has-failed", ""),
        ("schedule", "replicate", "without s.replicated", "replica-begins-where-its-copy-says", ""),
        ("schedule", "promote", "without s.saved", "delivery-goes-on-entry-by-entry", ""),
        ("retry_copy", "store", "1 for 0 in copy.level > 0", "copy-waits-for-its-delay", "listener_level"),
        ("schedule", "is_head", "1 for 0 in s.level[k] > 0", "failed-message-settles", "listener_level"),
        ("schedule", "ripen", "without the guard s.forall", "same-delay-ends-in-order", ""),
        ("schedule", "ripen", "without same(s.level[j], s.level[k])", "shorter-delay-ends-first", ""),
        ("schedule", "skip", "without the guard due", "delivery-goes-on-entry-by-entry", "unreadable"),
        ("schedule", "lose_power", "without s.place[k] = Place.NONE", "power-loss-takes-the-last-copy", ""),
        ("schedule", "lose_power", "without s.ripe[k] = False", "copy-stays-as-it-was-stored", "power_losses"),
        ("schedule", "lose_power", "without _begin_start", "power-loss-takes-the-last-copy", ""),
        ("schedule", "replicate", "need not happen", "replica-catches-up-with-the-file", ""),
        ("pull", "correct_offset", "without the guard answers", "refused-position-needs-a-request", ""),
    ],
)
def test_a_broken_mechanism_is_noticed(part: str, text: str, told: str, row: str, where: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = [item for item in settings(each for each in ROWS if each.id == row) if where in item.title]
    (outcome,) = judge([change], here, Theorems([]))
    assert row in outcome.kills
