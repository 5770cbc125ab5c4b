"""What has begun comes to its end: everything claimed is so, and a mechanism that never ends is noticed."""

import pytest

from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import judge
from rocketproof.checkers.mutation.theorems import Theorems
from rocketproof.checkers.suite import claim_row, run_suite
from rocketproof.properties.ends import claims

ROWS = [claim_row(claim) for claim in claims()]
ALONE = "messages=1 consumers=1"
COARSE = "listener=orderly client_window=1 broker_window=2 call=1 unlock_delay=1"
STATES = {
    f"{ALONE} leaves=1": 21,
    f"{ALONE} arriving=1 group=new": 15,
    "messages=3 consumers=1 batch=2 pull_batch=3 failures=1": 56,
    f"{COARSE} messages=1 crashes=1 orphans=1": 715,
    f"{ALONE} mode=broadcasting leaves=1": 21,
    "messages=2 consumers=1 held_updates=1": 42,
    "messages=2 consumers=1 queues=2 retry_room=1 copies=1 failures=1 retry_queues=0": 18,
    f"{ALONE} version=4.9.8 resets=2": 158,
    f"{ALONE} queues=2 group=scaled arriving=1 head_in_memory=1 starts=steps": 208,
    "consumers=2 running=2 queues=2 orderly=1 crashes=1": 15,
}


def test_everything_claimed_is_so() -> None:
    outcomes = list(run_suite(ROWS))
    assert [outcome.row.id for outcome in outcomes if not outcome.as_expected] == []
    assert {outcome.row.configuration: outcome.result.figures["states"] for outcome in outcomes} == STATES


@pytest.mark.parametrize(
    ("part", "text", "told", "row"),
    [
        ("shutdown", "end_stop", "without vanish", "stop-comes-to-its-end"),
        ("shutdown", "unregister", "the guard is not not_(s.persisted[c])", "stop-comes-to-its-end"),
        ("late_update", "update_late", "NO_OFFSET + 1", "late-update-comes-at-last"),
        ("send_back", "send_back_to_nowhere", "need not happen", "failed-message-leaves-its-window"),
        ("reset", "begin_reset", "without the guard not_(s.resetting[c])", "reset-ordered-meanwhile-follows"),
        ("start_position", "offset_answered", "without answers_zero", "every-queue-is-taken"),
        ("offsets", "may_commit", "NO_OFFSET + 1", "progress-is-stored"),
        ("concurrently", "succeed_up_to", "not s.joined", "every-message-is-handled"),
        ("orderly_ownership", "tick", "without the condition calls", "abandoned-lock-is-free-again"),
        ("rebalance", "expire_lock", "without s.life[c] == Life.GONE", "abandoned-lock-is-free-again"),
    ],
)
def test_an_end_that_never_comes_is_noticed(part: str, text: str, told: str, row: str) -> None:
    (change, *_) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([change], here, Theorems([]))
    assert row in outcome.kills
