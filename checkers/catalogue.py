"""The catalogue: every row that can be checked by name, and which of them make up the default suite."""

from __future__ import annotations

from ..properties.allocation import ALLOCATION_THEOREMS
from ..properties.allocation_inputs import INPUT_THEOREMS, NAIVE_THEOREMS
from ..properties.assignment import claims as assignment_claims
from ..properties.consistent_hash import RING_THEOREMS
from ..properties.unequal_views import GROUP_CLAIMS
from ..properties.verdict import Verdict
from .suite import Row, claim_rows

ALLOCATION = "allocation"
"""Where the theorems about strategies belong; it is a set of rules, not a machine."""


def default_rows() -> list[Row]:
    """The default suite: what RocketMQ users may rely on, and popular beliefs that are false."""
    return allocation_rows() + claim_rows(assignment_claims())


def allocation_rows() -> list[Row]:
    """Theorems about the six strategies, and what wrong inputs break."""
    proven = (*ALLOCATION_THEOREMS, *RING_THEOREMS, *INPUT_THEOREMS)
    rows = [Row(subject=item, machine=ALLOCATION, expected=Verdict.HOLDS) for item in proven]
    rows += [Row(subject=item, machine=ALLOCATION, expected=Verdict.VIOLATED) for item in NAIVE_THEOREMS]
    rows += [Row(subject=item, machine=ALLOCATION, expected=item.expected) for item in GROUP_CLAIMS]
    return rows
