"""Rows of compiled folds: findings as they are written down, with a limit for each claim.

A compiled fold cannot make arrays longer. It writes into one that Python has made, and stops where too few rows are
left; Python makes it longer, and the fold goes on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..claims.claims import CLAIMS, CODE
from ..clocks.order import gaps
from ..engine.findings import ROW, Doubt, Note
from ..machine_code.compiled import constant, part
from .fold import MOST_KEPT

JUDGED, VIOLATED, DOUBTFUL, KEPT = range(4)
"""Lines of a tally: instances looked at, violations without doubt, violations in doubt, rows kept."""

VIOLATION, CERTAIN, NO_CLAIM = constant(0), constant(0), constant(-1)
"""Cause of a row that has none, doubt of one beyond doubt, claim of one that belongs to none."""

RETRACTION = constant(255)
"""Note of a row that casts doubt on earlier ones: what they missed was recorded by another clock shortly afterwards.

It speaks of rows of its claim and slot that hold ``offset``, or, where that is -1, whose ``other`` is its actor; which
another process has recorded, at a time that is not surely another one. Such rows are for :func:`retract` only.
"""

_COLUMNS = len(CLAIMS) + len(Note) + 1
_CLAIMS = len(CLAIMS)
_RETRACTIONS = _COLUMNS - 1
_OF_DELIVERIES = (CODE["orderly-one-listener"],)


def tally() -> Any:
    """Counters of a fold: one line for each count, one column for each claim, and for each note without one; int64."""
    return np.zeros((4, _COLUMNS), np.int64)


@part
def finding(s: Any, claim: int, cause: int, doubt: int, slot: int, time: int) -> Any:
    """Begin a row: a violation if ``cause`` is 0, else something explained; the answer is its place in ``s.rows``.

    What a claim has too many of is counted, and not kept.
    """
    if cause == 0:
        s.counts[DOUBTFUL if doubt else VIOLATED, claim] += 1
    at = _begin(s, claim, claim, slot, time)
    s.rows[at].cause = cause
    s.rows[at].doubt = doubt
    return at


@part
def note(s: Any, claim: int, what: int, slot: int, time: int) -> Any:
    """Begin a row that is neither; ``claim`` is -1 for none."""
    column = _RETRACTIONS if what == RETRACTION else _CLAIMS + what
    at = _begin(s, column, claim, slot, time)
    s.rows[at].note = what
    return at


@part
def _begin(s: Any, column: int, claim: int, slot: int, time: int) -> Any:
    at = s.terms[0].rows
    if s.counts[KEPT, column] >= MOST_KEPT:
        # The next row overwrites it.
        at = len(s.rows) - 1
    else:
        s.counts[KEPT, column] += 1
        s.terms[0].rows += 1
    clear(s.rows[at], claim, slot, time)
    return at


@part
def clear(row: Any, claim: int, slot: int, time: int) -> None:
    """Make a row that may have been in use one that says nothing but its claim, where, and when, ms."""
    row.claim = claim
    row.note = 0
    row.cause = 0
    row.doubt = 0
    row.slot = slot
    row.origin = 0
    row.offset = 0
    row.until = 0
    row.since = time
    row.time = time
    row.actor = -1
    row.other = -1
    row.value = 0
    row.expected = 0


def retract(rows: Any, counts: Any, *, order: Any, commits_by: Any, is_off: bool) -> Any:
    """Rows without the retractions: what those speak of is in doubt, and counted so.

    Args:
        rows: of a fold.
        counts: its tally.
        order: of events of two processes, see :mod:`..clocks.order`.
        commits_by: for each slot who records its commits, -1 where their clients do.
        is_off: whether any clock is seen to be off. Else what a client did is taken to be in order with its commits,
            but for what bounds of their clocks to both sides leave open.
    """
    is_retraction = rows["note"] == RETRACTION
    retractions, kept = rows[is_retraction], rows[~is_retraction]
    # Findings about deliveries are of their clients' clocks, all others that are retracted are about commits.
    of_commits = ~np.isin(kept["claim"], _OF_DELIVERIES)
    recorder = np.where(of_commits & (commits_by[kept["slot"]] >= 0), commits_by[kept["slot"]], kept["actor"])
    for each in retractions:
        later = each["time"] >= kept["time"]
        after, before = ((recorder, each["actor"]), (each["actor"], recorder))
        bounded = of_commits & (commits_by[kept["slot"]] >= 0) & (not is_off)
        limit = np.where(later, gaps(order, *after, bounded=bounded), gaps(order, *before, bounded=bounded))
        near = (
            (kept["claim"] == each["claim"])
            & (kept["slot"] == each["slot"])
            & (kept["note"] == 0)
            & (kept["cause"] == 0)
            & (recorder != each["actor"])
            & (limit > 0)
            & (np.abs(kept["time"] - each["time"]) <= limit)
        )
        if each["offset"] < 0:
            near &= kept["other"] == each["actor"]
        else:
            near &= (kept["offset"] <= each["offset"]) & (kept["until"] > each["offset"])
        sure = int(np.count_nonzero(near & (kept["doubt"] == 0)))
        counts[VIOLATED, each["claim"]] -= sure
        counts[DOUBTFUL, each["claim"]] += sure
        kept["doubt"][near] |= int(Doubt.SKEW)
    return kept


def longer(rows: Any) -> Any:
    """The same rows with room for as many again."""
    return np.concatenate([rows, np.zeros(len(rows), ROW)])
