"""Codes: the small numbers that the compiled loop hands on."""

from __future__ import annotations

from ...machine_code.compiled import constant

NO, ZERO = constant(-1), constant(0)
"""Nothing, and 0, as arguments."""


def numbers(count: int) -> tuple[int, ...]:
    """The numbers from 0 on, as constants that may be arguments."""
    return tuple(constant(number) for number in range(count))
