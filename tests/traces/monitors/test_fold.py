"""Counts of an outcome: they follow from its rows, and what was only counted stays counted."""

import numpy as np

from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.engine.findings import ROW, Doubt, Note
from rocketproof.traces.monitors.fold import nothing, violations_in

SKIPPED, OWNERS = CODE["nothing-skipped"], CODE["only-owners-commit"]
ROWS = np.zeros(5, ROW)
ROWS["claim"] = [SKIPPED, SKIPPED, SKIPPED, OWNERS, -1]
ROWS["doubt"] = [0, Doubt.SKEW, 0, 0, 0]
ROWS["cause"] = [0, 0, 3, 0, 0]
ROWS["note"] = [0, 0, 0, 0, Note.OFFSET]


def test_violations_are_rows_without_a_cause_or_a_note() -> None:
    violated, doubtful = violations_in(ROWS)
    assert (violated[SKIPPED], doubtful[SKIPPED]) == (1, 1)
    assert (violated[OWNERS], doubtful[OWNERS]) == (1, 0)
    assert (violated.sum(), doubtful.sum()) == (2, 1)


def test_rows_that_are_left_out_are_no_longer_counted_and_uncounted_ones_are_not_missed() -> None:
    outcome = nothing(0).with_rows(ROWS)
    outcome.violated[SKIPPED] += 7  # beyond the rows that are kept
    left = outcome.without([0, 3])
    assert (left.violated[SKIPPED], left.doubtful[SKIPPED], left.violated[OWNERS]) == (7, 1, 0)
    assert len(left.rows) == 3
