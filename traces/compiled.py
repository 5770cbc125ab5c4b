"""How folds, the simulated cluster and other loops over events are compiled, and how their kept code is told apart."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

_Function = TypeVar("_Function", bound=Callable[..., Any])

# The options are not all in numba's annotations. Without `_nrt` the compiler does not count who holds an array, which
# takes most of the time otherwise: nothing is allocated, and all arrays belong to the caller.
_njit: Any = numba.njit
_OPTIONS = {"nogil": True, "_nrt": False, "error_model": "numpy"}
_PART = {**_OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def entry(function: _Function) -> _Function:
    """A function that Python calls; its machine code is kept between runs, together with all that it calls."""
    return cast(_Function, _njit(cache=True, **_OPTIONS)(function))


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


def digest(*modules: str) -> str:
    """A name for the sources of modules of this package, such as ``traces.names``, and of this one: 16 letters.

    Kept machine code is looked up by the file of its own function and by the types of its arguments, so that it would
    outlive a change of another file. A field of this name in a type that every function gets makes it a different one.
    """
    package = Path(__file__).parent.parent
    made = hashlib.blake2b(digest_size=8)
    for module in (*modules, "traces.compiled"):
        made.update(package.joinpath(*module.split(".")).with_suffix(".py").read_bytes())
    return made.hexdigest()
