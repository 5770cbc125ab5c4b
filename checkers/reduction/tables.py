"""What the search loop receives from the reductions."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .partial_order import PartialOrder, no_partial_order
from .symmetry import Symmetry, no_symmetry


def tables(partial_order: PartialOrder | None, symmetry: Symmetry | None) -> tuple[Any, ...]:
    """What the search loop needs from the reductions; None for one that is not used."""
    records, permutations = no_symmetry() if symmetry is None else (symmetry.records, symmetry.permutations)
    return (
        no_partial_order() if partial_order is None else partial_order.tables,
        records,
        permutations,
        _sources(),
    )


def _sources() -> NDArray[Any]:
    """An array whose type changes with the functions that the search loop inlines from this folder.

    Numba keeps the compiled loop on disk for as long as the loop's own file and the types of its arguments stay as they
    are; it would not notice changes in these functions.
    """
    digest = hashlib.sha256()
    for name in ("partial_order.py", "symmetry.py"):
        digest.update(Path(__file__).with_name(name).read_bytes())
    return np.empty(0, np.dtype([(f"v{digest.hexdigest()[:16]}", np.uint8)]))
