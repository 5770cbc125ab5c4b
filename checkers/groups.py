"""Exhaustive search of groups of clients, from the smallest up, for one that contradicts a claim."""

from __future__ import annotations

import time

from ..properties.unequal_views import GroupClaim, tell_division
from ..properties.verdict import Verdict
from .engines import GROUPS
from .result import Result


def search_groups(
    claim: GroupClaim, *, max_queues: int = 6, max_consumers: int = 6, max_seconds: float | None = None
) -> Result:
    """Check every group of ``claim`` with up to the given numbers of queues and consumers, smallest sum first.

    The first group that contradicts the claim is therefore a smallest one. The verdict is UNKNOWN if the time limit, if
    any, is reached before, or if there was no group to check.
    """
    start = time.monotonic()
    groups = 0
    sizes = [(queues, consumers) for consumers in range(1, max_consumers + 1) for queues in range(1, max_queues + 1)]
    for queues, consumers in sorted(sizes, key=lambda size: (sum(size), size[1])):
        for division in claim.groups(queues, consumers):
            if max_seconds is not None and time.monotonic() - start > max_seconds:
                bounds = f"stopped after {max_seconds:g} s in groups of {queues} queues and {consumers} clients"
                return _result(claim, Verdict.UNKNOWN, bounds, start, groups, explanation=bounds)
            groups += 1
            wrong = claim.wrong(division)
            if wrong:
                text = f"{tell_division(division)}\nso {wrong}"
                bounds = "smallest queues + clients"
                return _result(claim, Verdict.VIOLATED, bounds, start, groups, text, queues=queues, consumers=consumers)
    left_out = f" ({claim.except_for})" if claim.except_for else ""
    bounds = f"every group up to {max_queues} queues and {max_consumers} clients: {groups:,}{left_out}"
    verdict = Verdict.HOLDS if groups else Verdict.UNKNOWN
    return _result(claim, verdict, bounds, start, groups, "" if groups else "there was no group to look at")


def _result(
    claim: GroupClaim, verdict: Verdict, bounds: str, start: float, groups: int, explanation: str = "", **figures: int
) -> Result:
    return Result(
        property=claim.id,
        verdict=verdict,
        engine=GROUPS,
        bounds=bounds,
        seconds=time.monotonic() - start,
        explanation=explanation,
        figures={"groups": groups, **figures},
    )
