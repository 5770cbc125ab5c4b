"""Arguments of compiled functions: of which form they are, and the words in which machine code gets them."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

Signature = tuple[Any, ...]
"""What compiled code depends on of its arguments: for an array its type, number of dimensions and whether it may be
written to, for a number its type, for a named tuple its class, what it holds, and None for its end."""


# Of <numpy/ndarraytypes.h>. Asking for them one by one takes longer.
_USABLE, _WRITEABLE = 0x0001 | 0x0100, 0x0400  # without gaps, aligned

_ROOM = 8
"""So much longer than what is in it may an array be that is written to."""


class Words(NamedTuple):
    """Arguments of a call.

    Attributes:
        signature: types of the arguments.
        words: what machine code gets, whole numbers of 64 bits: the address and lengths of each array, and each number.
        arguments: as they were given, words of an enumeration as numbers; machine code has only borrowed the arrays.
    """

    signature: Signature
    words: array[int]
    arguments: Sequence[Any]

    @property
    def size(self) -> int:
        """About how many events a call is about: the length of its longest column, which it does not write to.

        What it writes to has room for more than there is.
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
        TypeError: one is no whole number, array without gaps, or named tuple of those.
        OverflowError: a number has more than 64 bits.
    """
    signature: list[Any] = []
    words = [0]  # room for the answer
    plain = [int(argument) if isinstance(argument, IntEnum) else argument for argument in arguments]
    for argument in plain:
        _add(argument, signature, words)
    return Words(tuple(signature), array("q", words), plain)


def text_of(signature: Signature) -> str:
    """A form as text that differs from those of all other forms, in this and other processes."""
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
    else:
        raise TypeError(
            f"compiled functions take whole numbers, arrays and named tuples, not {type(argument).__name__}."
        )
