"""Compiled functions without a compiler: Python runs them as they are written, on the data that machine code would
use.

For a small trace this takes less time than compiling. Numbers of numpy and its records would be slow, so a function
gets replacements: plain numbers, memory views for arrays of numbers, and for arrays of records objects that are made
when they are first read and written back at the end. The caller sees the same as with machine code, so the next call
may be compiled. The only difference: sums beyond 64 bits are truncated later, when they are written back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from operator import attrgetter
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from .functions import Compiled, codes_of

_ALL = 2**64 - 1
_END = 2**63
_LOCK = threading.RLock()


def interpret(function: Compiled, arguments: Sequence[Any]) -> Any:
    """Call a function with the arguments that machine code would get; the result is a whole number or None."""
    with _LOCK:
        called = _function(function)
    tables: dict[int, _Records] = {}
    answer = called(*(_mirror(argument, tables) for argument in arguments))
    for table in tables.values():
        table.write_back()
    return None if answer is None else _signed(answer)


class _Unsigned(int):
    """An unsigned 64-bit number, like ``np.uint64`` in machine code: higher bits are dropped."""

    __slots__ = ()

    def __add__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) + int(other) & _ALL)

    def __sub__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) - int(other) & _ALL)

    def __mul__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) * int(other) & _ALL)

    def __lshift__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) << int(other) & _ALL)

    def __rshift__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) >> int(other))

    def __and__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) & int(other))

    def __or__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) | int(other))

    def __xor__(self, other: int) -> _Unsigned:
        return _Unsigned(int(self) ^ int(other) & _ALL)


def _unsigned(number: int) -> _Unsigned:
    return _Unsigned(int(number) & _ALL)


def _signed(number: int) -> int:
    number = int(number)
    return number if -_END <= number < _END else (number + _END & _ALL) - _END


_NUMPY = SimpleNamespace(uint64=_unsigned, int64=_signed, uint32=lambda number: int(number) & 0xFFFFFFFF, bool_=bool)
"""The part of numpy that compiled functions use."""

_INSTEAD: dict[type, Any] = {np.int64: _signed, np.uint64: _unsigned}


@cache
def _function(function: Compiled) -> Callable[..., Any]:
    written: Any = function.py_func
    return FunctionType(written.__code__, _space(written), written.__name__, written.__defaults__, written.__closure__)


_SPACES: dict[int, dict[str, Any]] = {}


def _space(function: Any) -> dict[str, Any]:
    """The global names of a function, with the values that it should find there."""
    given = function.__globals__
    space = _SPACES.get(id(given))
    if space is None:
        space = _SPACES[id(given)] = {}  # registered before it is filled: modules may refer to each other
        space.update((name, _constant(value)) for name, value in given.items())
    return space


def _constant(value: Any) -> Any:
    if isinstance(value, Compiled):
        return _function(value)
    if value is np:
        return _NUMPY
    if isinstance(value, np.uint64):
        return _unsigned(int(value))
    if isinstance(value, (np.integer, np.bool_)):
        return value.item()
    if isinstance(value, Enum):
        return codes_of(type(value))[value.name]
    if isinstance(value, np.ndarray):
        return _mirror(value, {})
    if type(value) is tuple:
        return tuple(map(_constant, value))
    if isinstance(value, type) and issubclass(value, Enum):
        return SimpleNamespace(**codes_of(value))
    if isinstance(value, type):
        return _INSTEAD.get(value, value)
    return value


def _mirror(argument: Any, tables: dict[int, _Records]) -> Any:
    if isinstance(argument, np.ndarray):
        if argument.dtype.names is None:
            return argument.data
        table = tables.get(id(argument))
        if table is None:
            table = tables[id(argument)] = _Records(argument)
        return table
    if isinstance(argument, tuple):
        items = [_mirror(item, tables) for item in argument]
        return type(argument)(*items) if hasattr(argument, "_fields") else tuple(items)
    return int(argument)


class _Records(dict[Any, Any]):
    """An array of records: by position, the object that stands for a record, or a row of them, once it was read."""

    def __init__(self, array: Any) -> None:
        super().__init__()
        self._array = array
        self._record, self._values = _record(array.dtype)
        self.shape = array.shape

    def __len__(self) -> int:
        return int(self.shape[0])

    def __missing__(self, place: Any) -> Any:
        if isinstance(place, tuple):
            made = self
            for each in place:
                made = made[each]
        elif place < 0:
            return self[place + len(self)]
        else:
            found = self._array[int(place)]  # a truth value is a number
            made = _Records(found) if found.shape else self._record(found.item())
        super().__setitem__(place, made)
        return made

    def __setitem__(self, place: Any, record: Any) -> None:
        """A record that is assigned is copied, as in an array."""
        super().__setitem__(place, self._record(self._values(record)))

    def write_back(self) -> None:
        """Write the values of the objects back to the array."""
        if len(self.shape) > 1:
            for row in self.values():
                if isinstance(row, _Records):
                    row.write_back()
        elif self._array.flags.writeable and self.keys():
            values = [self._values(record) for record in self.values()]
            try:
                made = np.array(values, self._array.dtype)
            except OverflowError:
                made = np.array([self._wrapped(each) for each in values], self._array.dtype)
            self._array[np.fromiter(self.keys(), np.intp)] = made

    def _wrapped(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """The lowest bits of each value, as machine code stores them."""
        types = [self._array.dtype[number] for number in range(len(values))]
        return tuple(
            np.array(int(value) & _ALL, np.uint64).astype(type_).item() if type_.kind in "iu" else value
            for value, type_ in zip(values, types, strict=True)
        )


@cache
def _record(dtype: np.dtype[Any]) -> tuple[Callable[[tuple[Any, ...]], Any], Callable[[Any], tuple[Any, ...]]]:
    """Functions that make an object from the values of a record, and read them back from it."""
    names = dtype.names
    assert names is not None
    made = type("Record", (), {"__slots__": names})

    def record(values: tuple[Any, ...]) -> Any:
        new = made()
        for name, value in zip(names, values, strict=True):
            setattr(new, name, value)
        return new

    of_names = attrgetter(*names)
    return record, of_names if len(names) > 1 else lambda record: (of_names(record),)
