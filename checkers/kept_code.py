"""Machine code of the engines, kept between runs where there is a place for it."""

from collections.abc import Callable
from typing import Any

from numba import njit


def kept(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function when it is first called, and keeps the machine code in numba's cache.

    A user who can write neither beside the sources nor to a home, as in a container that runs with another user id,
    has no place for it: then the code lives as long as the process.

    Args:
        options: those of ``numba.njit``.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError as trouble:
            if "no locator available" not in str(trouble):
                raise
            return njit(**options)(function)

    return compiled
