"""Mutants that survived the suite once, each with the row that was missing, and notices it now."""

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.mutation.changes import all_changes
from rocketproof.checkers.mutation.ground import settings
from rocketproof.checkers.mutation.judge import Effort, judge
from rocketproof.checkers.mutation.theorems import Theorems

ROWS = default_rows()
UNLOCKED = "consumption listener=orderly clock=stopped consumers=1 messages=2 moves=1 version=4.9.8"


@pytest.mark.parametrize(
    ("change", "told", "row", "how", "configuration"),
    [
        (
            "any_assignment.drop_losing_commit",
            "the guard is not working(s, c)",
            "lost-commit-repeats",
            "witness gone",
            "consumption messages=1 moves=1 lost_commits=1 overlaps=0",
        ),
        (
            "broadcasting.die_while_writing",
            "the guard is not worth_copying(s, place(s, c))",
            "broadcast-only-the-copy-torn",
            "witness gone",
            "consumption mode=broadcasting consumers=1 messages=1 torn_writes=1",
        ),
        (
            "orderly_lock.remove_by_force",
            "without the guard s.window[c, q] == Window.DROPPED",
            "listeners-run-in-the-table",
            "violated",
            "orderly_lock consumers=1 drops=0 force=1",
        ),
        (
            "orderly_lock.remove_by_force",
            "need not happen",
            "dropped-queue-is-removed",
            "violated",
            "orderly_lock consumers=1 batches=endless force=1",
        ),
        (
            "orderly_ownership.remove_and_unlock_later",
            "the guard is not _given_up(s, c, q)",
            "given-up-queue-is-unlocked",
            "violated",
            UNLOCKED,
        ),
        (
            "rebalance.begin_pass",
            "as if not s.periodic == 0",
            "disagreement-ends",
            "finding gone",
            "assignment consumers=2 running=1 periodic=0 crashes=1",
        ),
    ],
)
def test_a_mutant_that_survived_is_noticed(change: str, told: str, row: str, how: str, configuration: str) -> None:
    part, text = change.split(".")
    (wrong,) = [item for item in all_changes(part) if item.text == text and told in item.told]
    here = settings(item for item in ROWS if item.id == row)
    (outcome,) = judge([wrong], [item for item in here if item.title == configuration], Theorems([]), Effort())
    assert (outcome.row, outcome.how) == (row, how)
