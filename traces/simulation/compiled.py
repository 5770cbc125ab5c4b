"""How the loop and what it calls are compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

_F = TypeVar("_F", bound=Callable[..., Any])
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
_WITHIN = {**_OPTIONS, "no_cpython_wrapper": True}
_KEPT = {**_OPTIONS, "cache": True}


def inner(function: _F) -> _F:
    """Compiles a function that only compiled functions call."""
    return cast(_F, numba.njit(function, **_WITHIN))


def outer(function: _F) -> _F:
    """Compiles a function that Python calls; its machine code is kept between runs, with all that it calls."""
    return cast(_F, numba.njit(function, **_KEPT))


NO, ZERO = cast(int, np.int64(-1)), cast(int, np.int64(0))
"""Nothing, and 0, as arguments. For a plain number, or a plain constant, numba would compile the function anew."""


def constant(value: int) -> int:
    """A constant that may be an argument."""
    return cast(int, np.int64(value))


def numbers(count: int) -> tuple[int, ...]:
    """The numbers from 0 on, as constants that may be arguments."""
    return tuple(constant(number) for number in range(count))


def digest() -> str:
    """A name for the sources of the loop, and of what it takes constants from.

    Kept machine code is looked up by the file of its own function and by the types of its arguments, so it would
    outlive a change of another file. A field of this name in a type that every function gets makes it a different one.
    """
    here = Path(__file__).parent
    files = [here / f"{name}.py" for name in ("agenda", "broker", "catalogue", "compiled", "loop", "rows", "window")]
    files += [here / "world.py", here.parent / "kinds.py", here.parent / "schema.py"]
    files += [here.parent.parent / "model" / f"{name}.py" for name in ("history", "retry_policy")]
    made = hashlib.blake2b(digest_size=8)
    for file in files:
        made.update(file.read_bytes())
    return made.hexdigest()
