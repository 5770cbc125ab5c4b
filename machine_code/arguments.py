"""Arguments of compiled functions: their types, and the words in which machine code receives them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

Signature = tuple[Any, ...]
"""The properties of arguments on which compiled code depends: for an array its type, number of dimensions and whether
it is writable; for a number its type; for a tuple its class, its content, and None as an end mark; for None its class.
"""


# From <numpy/ndarraytypes.h>. Reading the flags one by one takes longer.
_USABLE, _WRITEABLE = 0x0001 | 0x0100, 0x0400  # contiguous, aligned

_ROOM = 8
"""How many times longer than its content a writable array may be."""


class Words(NamedTuple):
    """Arguments of a call."""

    signature: Signature  # types of the arguments
    words: array[int]  # what machine code receives, 64-bit integers: address and lengths of each array, and each number
    arguments: Sequence[Any]  # the arguments as given, enumeration members as numbers; machine code borrows the arrays

    @property
    def size(self) -> int:
        """Approximate number of events in a call: the length of its longest read-only column.

        Writable arrays have room for more than they contain.
        """
        return max(_sizes(self.arguments), default=0)


def _sizes(arguments: Sequence[Any]) -> Iterator[int]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _sizes(argument)
        elif isinstance(argument, np.ndarray):
            yield len(argument) // (_ROOM if argument.flags.writeable else 1)


def words_of(arguments: Sequence[Any]) -> Words:
    """The arguments of a call as words.

    Raises:
        TypeError: one is no whole number, contiguous array, None, or tuple of those.
        OverflowError: a number has more than 64 bits.
    """
    signature: list[Any] = []
    words = [0]  # room for the result
    plain = [int(argument) if isinstance(argument, IntEnum) else argument for argument in arguments]
    for argument in plain:
        _add(argument, signature, words)
    return Words(tuple(signature), array("q", words), plain)


def text_of(signature: Signature) -> str:
    """A signature as text that differs from those of all others, in this and other processes."""
    return " ".join(
        f"{item.__qualname__}{getattr(item, '_fields', '')}" if isinstance(item, type) else repr(item)
        for item in signature
    )


def _add(argument: Any, signature: list[Any], words: list[int]) -> None:
    if isinstance(argument, np.ndarray):
        flags = argument.flags.num
        if flags & _USABLE != _USABLE:
            raise TypeError(
                "compiled functions take arrays without gaps only; make one by numpy.require(array, None, 'CA')."
            )
        shape = argument.shape
        signature += (argument.dtype, len(shape), flags & _WRITEABLE)
        words.append(argument.ctypes.data)
        words += shape
    elif isinstance(argument, tuple):
        signature.append(type(argument))
        for item in argument:
            _add(item, signature, words)
        signature.append(None)
    elif isinstance(argument, (int, np.integer)):
        signature.append(np.dtype(type(argument)))
        words.append(int(argument))
    elif argument is None:
        signature.append(type(None))
    else:
        raise TypeError(
            f"compiled functions take whole numbers, arrays, tuples and None, not {type(argument).__name__}."
        )
