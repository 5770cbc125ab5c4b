"""Verdicts: what a check may answer, and how answers are merged."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Verdict(enum.StrEnum):
    """Answer of one check.

    HOLDS: shown within the printed bounds. VIOLATED: a counterexample exists and was replayed. UNKNOWN: a limit was
        reached, or the solver gave up. NOT_OBSERVABLE: the trace lacks the evidence to judge (trace checks only).
    """

    HOLDS = "HOLDS"
    VIOLATED = "VIOLATED"
    UNKNOWN = "UNKNOWN"
    NOT_OBSERVABLE = "NOT OBSERVABLE"


_WORST_FIRST = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.NOT_OBSERVABLE, Verdict.HOLDS)


def merge(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of a whole: the worst of its parts; UNKNOWN if there are none (nothing checked shows nothing)."""
    found = set(verdicts)
    return next((verdict for verdict in _WORST_FIRST if verdict in found), Verdict.UNKNOWN)
