"""Functions that become machine code, as the rest of this package uses them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property
from typing import Any

ENTRY = "entry"
"""Name of the function in stored object code."""


class Compiled:
    """A function that compiled functions call."""

    def __init__(self, function: Callable[..., Any], *, inline: bool = False) -> None:
        self.__module__ = function.__module__
        self.py_func = function  # the function before it is compiled
        self.inline = inline  # whether it becomes part of the functions that call it

    def __reduce__(self) -> str:
        """Pickled by name: machine code stays in its process."""
        return str(self.py_func.__qualname__)

    @cached_property
    def dispatcher(self) -> Any:
        """The corresponding numba dispatcher."""
        from .compiling import dispatcher_of

        return dispatcher_of(self.py_func, inline=self.inline)


class Instruction:
    """Something that compiled functions do in LLVM's own words; plain Python cannot run it.

    Attributes:
        typed: what numba's ``intrinsic`` takes: a function of types that returns a signature, and what emits the code.
    """

    def __init__(self, typed: Callable[..., Any]) -> None:
        self.typed = typed

    @cached_property
    def intrinsic(self) -> Any:
        """The corresponding numba intrinsic."""
        from .compiling import intrinsic_of

        return intrinsic_of(self.typed)


def codes_of(words: type[Enum]) -> Mapping[str, int]:
    """What members of an enumeration are in compiled functions: their numbers, or otherwise their positions."""
    if issubclass(words, int):
        return {name: int(word) for name, word in words.__members__.items()}
    return {word.name: place for place, word in enumerate(words)}
