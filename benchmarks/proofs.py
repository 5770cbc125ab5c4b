"""How long all proofs for every size take together, theorems and inductions over machines."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.suite import Row, run_suite
from rocketproof.model.kernel import UNBOUNDED
from rocketproof.properties.claim import Claim
from rocketproof.properties.theorem import Theorem
from rocketproof.properties.verdict import Verdict


def measure() -> Iterator[dict[str, Any]]:
    """Two figures: theorems about rules, and properties of machines with unbounded constants."""
    rows = [row for row in default_rows() if row.expected is Verdict.HOLDS]
    yield _together("theorems about rules, together", [row for row in rows if isinstance(row.subject, Theorem)])
    machines = [row for row in rows if isinstance(row.subject, Claim) and UNBOUNDED in row.constants.values()]
    yield _together("proofs about machines of every size, together", machines)


def _together(figure: str, rows: Sequence[Row]) -> dict[str, Any]:
    """Prove all ``rows``, one after the other."""
    started = time.perf_counter()
    outcomes = list(run_suite(rows))
    return {
        "figure": figure,
        "seconds": round(time.perf_counter() - started, 2),
        "rows": len(outcomes),
        "proven": sum(outcome.result.verdict is Verdict.HOLDS for outcome in outcomes),
        "target": "< 60 s",
    }
