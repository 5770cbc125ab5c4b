"""Codes: the small numbers that are passed through the compiled loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine_code.compiled import constant

NO, ZERO = constant(-1), constant(0)
"""None, and 0, as arguments."""


def numbers(count: int) -> tuple[int, ...]:
    """The numbers from 0 on, as constants that can be used as arguments."""
    return tuple(constant(number) for number in range(count))


def columns(text: str) -> Any:
    """The type of a row of a table of numbers, from the names of its columns; a comment follows after ``#``.

    A column has 64-bit integers, unless its name ends in another numpy type, as in ``rate:f8``.
    """
    names = [word.partition(":") for line in text.splitlines() for word in line.partition("#")[0].split()]
    return np.dtype([(name, np.dtype(type_ or "i8")) for name, _, type_ in names])
