"""Strays: pairs about one queue that are impossible, while the other queues of the same two recorders agree.

A client that sends an offset before it is in its own table has a defect. Interpreted as evidence about clocks, it would
look as if a clock had been set, and the defect itself could then not be reported for that time. A clock that was set
also shows in the other queues: their pairs just before or just after no longer fit, or, if it was soon set right again,
those of the same direction in between.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .observed import Matched
from .pairs import PAIRS

NEAR = 10_000_000
"""How long before and after a pair the other queues are considered, µs."""

BEYOND = 5_000
"""Strays contradict other queues by more than this, µs: by more than clocks drift meanwhile. A delayed thread may
contradict them by more, too, but is not a clock that was set either.
"""

_MOST = 1_000
_ALWAYS = np.array([pair.always for pair in PAIRS])
_COLUMNS = ("pair", "queue", "earlier", "later", "earlier_time", "later_time")


def without_strays(matched: Matched) -> Matched:
    """The pairs except those of queues with strays: stray pairs are of the sort that always require their cause, and
    are contradicted, both before and after, by pairs of other queues in the opposite direction.
    """
    between = matched.later_time - matched.earlier_time
    keep = np.ones(len(between), bool)
    several = max(int(matched.earlier.max(initial=0)), int(matched.later.max(initial=0))) + 1
    there = matched.earlier.astype(np.int64) * several + matched.later
    back = matched.later.astype(np.int64) * several + matched.earlier
    asked = _ALWAYS[matched.pair]
    for way in np.unique(there[asked]).tolist():
        own, other = np.flatnonzero(asked & (there == way)), np.flatnonzero(back == way)
        if not len(other):
            continue
        least = int(between[other].min())
        suspects = own[between[own] + least < -BEYOND]
        fitting = own[between[own] + least >= -BEYOND]
        strays = [at for at in suspects[:_MOST].tolist() if _is_stray(matched, between, other, suspects, fitting, at)]
        # A client that sends one offset too early may send others slightly too early, which no other queue would
        # contradict.
        keep[own[np.isin(matched.queue[own], matched.queue[strays])]] = False
    return replace(matched, **{name: getattr(matched, name)[keep] for name in _COLUMNS})


def _is_stray(matched: Matched, between: Any, other: Any, suspects: Any, fitting: Any, at: int) -> bool:
    """Whether pairs of other queues contradict a pair before and after it, by each clock, and no clock was set between.

    The pairs that contradict it are those in the other direction. A clock was set if several queues have pairs of its
    own direction between the same two of them, none of which fits, while those further away do: a client with a defect
    would have it there, too.
    """
    when, there = int(matched.earlier_time[at]), int(matched.later_time[at])
    against = other[(matched.queue[other] != matched.queue[at]) & (between[other] + between[at] < -BEYOND)]
    # By both clocks: one that is set back shows the same time twice.
    apart = (matched.later_time[against] - when, matched.earlier_time[against] - there)
    if not all(((0 < way) & (way < NEAR)).any() for one in apart for way in (one, -one)):
        return False
    since, until = (when + int(edge) for edge in (apart[0][apart[0] < 0].max(), apart[0][apart[0] > 0].min()))
    meanwhile, others = (
        (since < matched.earlier_time[some]) & (matched.earlier_time[some] < until) for some in (suspects, fitting)
    )
    further = suspects[~meanwhile & (np.abs(matched.earlier_time[suspects] - when) < NEAR)]
    several = (matched.queue[suspects[meanwhile]] != matched.queue[at]).any()
    return bool(others.any() or len(further) or not several)
