"""How folds are compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

_Function = TypeVar("_Function", bound=Callable[..., Any])

# The options are not all in numba's annotations. Without `_nrt` the compiler does not count who holds an array, which
# takes most of the time otherwise: nothing is allocated, and all arrays belong to the fold.
_njit: Any = numba.njit
_PART = {"nogil": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def entry(function: _Function) -> _Function:
    """A function that Python calls; its machine code is kept between runs, together with all that it calls."""
    return cast(_Function, _njit(cache=True, nogil=True, _nrt=False)(function))


def part(function: _Function) -> _Function:
    """A function that only compiled functions call."""
    return cast(_Function, _njit(**_PART)(function))


def hot(function: _Function) -> _Function:
    """A part that runs for most events: calls with many arrays are too slow for it."""
    return cast(_Function, _njit(forceinline=True, **_PART)(function))


int64: Any = np.int64
"""Makes a number of compiled code one of 64 bits, as all that functions hand on are, lest there be several of each."""


def constant(value: int) -> Any:
    """A number that compiled functions hand on: a plain one would make a version of each function for each value."""
    return np.int64(value)


PARTS = (
    "commits",
    "compiled",
    "deliveries",
    "departures",
    "fates",
    "fold",
    "ownership",
    "pages",
    "progress",
    "pulls",
    "queue_state",
    "queues",
    "ranges",
    "repeats",
    "rows",
)
"""The files that the fold by queue consists of."""


def digest() -> str:
    """A name for the sources of folds, and of what they take constants from.

    Kept machine code is looked up by the file of its own function and by the types of its arguments, so that it would
    outlive a change of another file. A field of this name in a type that every fold gets makes it a different one.
    """
    here = Path(__file__).parent
    traces = [here.parent / f"{name}.py" for name in ("claims", "context", "findings", "kinds", "names", "verdicts")]
    files = [*(here / f"{name}.py" for name in PARTS), *traces, here.parent.parent / "model" / "history.py"]
    made = hashlib.blake2b(digest_size=8)
    for file in files:
        made.update(file.read_bytes())
    return made.hexdigest()
