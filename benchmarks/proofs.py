"""How long all proofs about allocation take together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from rocketproof.checkers.theorems import prove_theorem
from rocketproof.properties.allocation import ALLOCATION_THEOREMS
from rocketproof.properties.allocation_inputs import INPUT_THEOREMS
from rocketproof.properties.consistent_hash import RING_THEOREMS
from rocketproof.properties.verdict import Verdict


def measure() -> Iterator[dict[str, Any]]:
    """Prove every theorem of the default suite once, one after the other."""
    theorems = (*ALLOCATION_THEOREMS, *RING_THEOREMS, *INPUT_THEOREMS)
    started = time.perf_counter()
    results = [prove_theorem(theorem) for theorem in theorems]
    seconds = time.perf_counter() - started
    yield {
        "figure": "proofs of allocation, together",
        "seconds": round(seconds, 2),
        "theorems": len(theorems),
        "proven": sum(result.verdict is Verdict.HOLDS for result in results),
        "target": "< 10 s",
    }
