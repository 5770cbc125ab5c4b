"""Packing: coded events in a fraction of their room, to be gone through as often as needed.

What a column has in common is kept once: a column of one value is that value, of a column that is mostly absent only
the rest is kept, and other whole numbers are counted from the smallest one, with as few bytes as they need.
"""

from __future__ import annotations

import pickle
import tempfile
import threading
from dataclasses import dataclass, fields
from typing import IO, Any

import numpy as np

from .coding import Coded
from .schema import ABSENT
from .temporary import in_temporary_folder

_NARROW = (np.uint8, np.uint16, np.uint32)
_SPARSE = 4
"""A column is kept without what is absent where that leaves one value in so many."""

_HASHES = ("origin",)
"""Columns that have no fewer bytes: looking would be in vain."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A packed column.

    Attributes:
        type: of the column.
        length: of the column.
        base: what is to be added to the values; with places, what is at all others.
        values: None where all are ``base``.
        places: where the values are; None where there is one for each event.
    """

    type: Any
    length: int
    base: int
    values: Any = None
    places: Any = None

    def whole(self) -> Any:
        """The column as it was."""
        if self.values is None:
            return np.full(self.length, self.base, self.type)
        if self.places is not None:
            column = np.full(self.length, self.base, self.type)
            column[self.places] = self.values
            return column
        column = self.values.astype(self.type, copy=False)
        if self.base:
            column += self.type.type(self.base)
        return column

    @property
    def nbytes(self) -> int:
        """Bytes of its values."""
        return sum(part.nbytes for part in (self.values, self.places) if part is not None)


def _packed(name: str, column: Any) -> _Column:
    type_, length = column.dtype, len(column)
    if not length or name in _HASHES:
        return _Column(type_, length, 0, column)
    low, high = int(column.min()), int(column.max())
    if low == high:
        return _Column(type_, length, low)
    if low == ABSENT:
        places = np.flatnonzero(column != ABSENT)
        if _SPARSE * len(places) <= length:
            return _Column(type_, length, ABSENT, column[places], places.astype(np.uint32))
    for narrow in _NARROW:
        if high - low <= np.iinfo(narrow).max and narrow().itemsize < type_.itemsize:
            return _Column(type_, length, low, np.subtract(column, low, dtype=np.int64).astype(narrow))
    return _Column(type_, length, 0, column)


@dataclass(frozen=True, slots=True)
class Packed:
    """Packed events; see :func:`pack`."""

    columns: tuple[_Column, ...]

    @property
    def nbytes(self) -> int:
        """About so many bytes it takes."""
        return sum(column.nbytes for column in self.columns)

    def unpack(self) -> Coded:
        """The events as they were."""
        whole = (column.whole() for column in self.columns)
        return Coded(**{item.name: column for item, column in zip(fields(Coded), whole, strict=True)})


def pack(coded: Coded) -> Packed:
    """Events in less room."""
    return Packed(tuple(_packed(item.name, getattr(coded, item.name)) for item in fields(Coded)))


class Shelf:
    """Keeps packed events: so many bytes in memory, what comes later in a file that has no name.

    Several threads may put something there, one takes it.
    """

    def __init__(self, memory: int) -> None:
        self._left = memory
        self._file: IO[bytes] | None = None
        self._lock = threading.Lock()

    def put(self, packed: Packed) -> Packed | int:
        """Keep it; the answer is for :meth:`take`.

        Raises:
            TraceError: the file cannot be written.
        """
        with self._lock:
            self._left -= packed.nbytes
            if self._left >= 0:
                return packed
            with in_temporary_folder():
                if self._file is None:
                    self._file = tempfile.TemporaryFile(prefix="rocketproof-")  # noqa: SIM115 -- closed by close()
                place = self._file.tell()
                pickle.dump(packed, self._file, protocol=pickle.HIGHEST_PROTOCOL)
                self._file.flush()
            return place

    def take(self, kept: Packed | int) -> Packed:
        """What was put there; only after everything was."""
        if isinstance(kept, Packed):
            return kept
        assert self._file is not None
        self._file.seek(kept)
        packed: Packed = pickle.load(self._file)
        return packed

    def close(self) -> None:
        """Nothing will be taken any more."""
        if self._file is not None:
            self._file.close()
