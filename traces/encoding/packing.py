"""Packing: coded events in a fraction of their size, which can be read as often as needed.

Whatever the values of a column have in common is stored once: a column with one value is that value, a column that is
mostly absent keeps only the rest, and other whole numbers are stored as differences from the smallest one, in as few
bytes as they need. All columns of a batch share one block of memory: allocating many small ones costs more than filling
them.
"""

from __future__ import annotations

import pickle
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any, TypeVar

import numpy as np
import pyarrow as pa

from ...machine_code.compiled import entry
from ..format.schema import ABSENT
from ..io.temporary import in_temporary_folder
from .coding import TYPES, Coded
from .columns import Chosen, Column, read_only

T = TypeVar("T")

_NARROW = tuple(np.dtype(type_) for type_ in (np.uint8, np.uint16, np.uint32))
_POSITION = np.dtype(np.uint32)
_LEAST = -(2**63)
_SPARSE = 4
"""A column is stored without its absent values if at most one value in this many is present."""

_HASHES = ("origin",)
"""Columns that cannot be stored in fewer bytes: checking would be in vain."""

_OTHER = np.dtype(np.int64)
_CODEC = "lz4"

_ROUND = 64
"""The bytes of a column begin at multiples of this."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a column is stored."""

    type: np.dtype[Any]  # of the column
    base: int  # number to add to the values, or the value of the whole column if none are stored
    stored: np.dtype[Any]  # type of the stored values
    count: int = 0  # number of stored values
    absent: bool = False  # whether 0 stands for an absent value
    positions: bool = False  # whether the position of each value is stored too, and all other values are ``base``

    @classmethod
    def of(cls, name: str, column: Column | Chosen) -> _Layout:
        type_, length = TYPES.get(name, _OTHER), len(column)
        known = length - column.missing
        if not known:
            return cls(type_, ABSENT, type_)
        if name in _HASHES:
            return cls(type_, 0, type_, length)
        low, high = column.span()
        if low == high and not column.missing:
            return cls(type_, low, type_)
        if _SPARSE * known <= length:
            return cls(type_, ABSENT, type_, known, positions=True)
        base = low - 1 if column.missing else low
        for narrow in _NARROW if base >= _LEAST else ():
            if high - base < 1 << 8 * narrow.itemsize and narrow.itemsize < type_.itemsize:
                return cls(type_, base, narrow, length, absent=column.missing > 0)
        if column.missing:
            return cls(type_, ABSENT, type_, known, positions=True)
        return cls(type_, 0, type_, length)

    @property
    def room(self) -> tuple[int, int]:
        """Number of bytes for the values, and for the positions."""
        return _rounded(self.count * self.stored.itemsize), _rounded(self.count * _POSITION.itemsize * self.positions)

    def put(self, column: Column | Chosen, values: Any, positions: Any) -> None:
        """Store a column."""
        if self.positions:
            column.pick(values, positions)
        elif self.count:
            column.less(self.base, 0, values)

    def take(self, begin: int, end: int, values: Any, positions: Any) -> Any:
        """A part of the column, restored."""
        if self.count and not self.positions:
            values = values[begin:end]
            if self.stored == self.type:
                return values
            column = np.empty(end - begin, self.type)
            _widen(values, self.base, int(self.absent), column)
            return column
        if not self.positions:
            return _repeated(self.base, self.type, 1 << (end - begin).bit_length())[: end - begin]
        column = np.full(end - begin, self.base, self.type)
        first, last = np.searchsorted(positions, (begin, end))
        column[positions[first:last] - _POSITION.type(begin)] = values[first:last]
        return column


@dataclass(frozen=True, slots=True)
class Packed:
    """Packed events; see :func:`pack`."""

    length: int
    layouts: Mapping[str, _Layout]
    block: Any

    @property
    def nbytes(self) -> int:
        """Its approximate size in bytes."""
        return int(self.block.nbytes)

    def unpack(self, rows: int) -> Iterator[Coded]:
        """The events as they were, a given number at a time."""
        parts = _parts(self.layouts, self.block)
        for begin in range(0, self.length, rows):
            end = min(begin + rows, self.length)
            yield Coded(**{name: self.layouts[name].take(begin, end, *parts[name]) for name in TYPES})

    def column(self, name: str) -> Any:
        """A column that :class:`~.coding.Coded` does not have, restored; None if none was packed."""
        if name not in self.layouts:
            return None
        return self.layouts[name].take(0, self.length, *_parts(self.layouts, self.block)[name])


def pack(columns: Mapping[str, Column | Chosen]) -> Packed:
    """Events in a smaller form: all columns of :class:`~.coding.Coded`, and possibly more; all of the same length."""
    layouts = {name: _Layout.of(name, column) for name, column in columns.items()}
    block = np.empty(sum(sum(layout.room) for layout in layouts.values()), np.uint8)
    for name, part in _parts(layouts, block).items():
        layouts[name].put(columns[name], *part)
    return Packed(len(columns["time"]), layouts, block)


def sealed(value: Any) -> bytes:
    """Packed events, or anything else, as bytes for a file or another process of the same check."""
    plain = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    return len(plain).to_bytes(8, "little") + bytes(pa.compress(plain, codec=_CODEC, asbytes=True))


def opened(seal: Any) -> Any:
    """What was given to :func:`sealed`."""
    with memoryview(seal) as given:
        return pickle.loads(pa.decompress(given[8:], int.from_bytes(given[:8], "little"), codec=_CODEC))


def _parts(layouts: Mapping[str, _Layout], block: Any) -> dict[str, tuple[Any, Any]]:
    """For each column, its values and positions in the block."""
    at = 0
    parts = {}
    for name, layout in layouts.items():
        of_values, of_positions = layout.room
        values = block[at : at + layout.count * layout.stored.itemsize].view(layout.stored)
        at += of_values
        positions = block[at : at + layout.count * _POSITION.itemsize * layout.positions].view(_POSITION)
        at += of_positions
        parts[name] = values, positions
    return parts


@lru_cache(maxsize=32)
def _repeated(value: int, type_: np.dtype[Any], count: int) -> Any:
    """A column of one value, which is made once for all batches; it has up to a megabyte."""
    return read_only(np.full(count, value, type_))


def _rounded(size: int) -> int:
    return -(-size // _ROUND) * _ROUND


@entry
def _widen(values: Any, base: int, has_absent: int, column: Any) -> None:
    if has_absent:
        for i in range(len(column)):
            column[i] = values[i] + base if values[i] != 0 else ABSENT
    else:
        for i in range(len(column)):
            column[i] = values[i] + base


class Shelf:
    """Stores packed events, or rows of them: up to a number of bytes in memory, the rest in a file without a name.

    Several threads may store; only one reads.
    """

    def __init__(self, memory: int) -> None:
        self._left = memory
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def put(self, packed: T, size: int) -> T | int:
        """Store packed events of a size in bytes; returns the argument for :meth:`take`.

        Raises:
            TraceError: the file cannot be written.
        """
        with self._lock:
            self._left -= size
            if self._left >= 0:
                return packed
            with in_temporary_folder():
                if self._file is None:
                    self._file = tempfile.TemporaryFile(prefix="rocketproof-")  # noqa: SIM115 -- closed by close()
                place = self._file.tell()
                seal = sealed(packed)
                self._file.write(len(seal).to_bytes(8, "little") + seal)
                self._file.flush()
            return place

    def take(self, kept: T | int) -> T:
        """What was stored there; may be called only after everything was stored."""
        if not isinstance(kept, int):
            return kept
        assert self._file is not None
        self._file.seek(kept)
        size = int.from_bytes(self._file.read(8), "little")
        found: T = opened(self._file.read(size))
        return found

    def close(self) -> None:
        """Release everything; nothing can be taken after this."""
        if self._file is not None:
            self._file.close()
