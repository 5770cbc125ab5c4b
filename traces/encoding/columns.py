"""Columns of whole numbers as in Arrow: values, and a bit for each that says whether it is present.

Everything that is done to every value of a column before a monitor sees it is done here, in machine code and in a
single pass: a trace has a dozen columns, and memory access dominates the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ...machine_code.compiled import entry, hot, int64

_WHOLE = 255
"""Eight validity bits of eight values that are all present."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of whole numbers; its arrays must not be written to."""

    values: Any  # undefined where a value is missing
    known: Any  # a bit for each value, from the lowest bit of a byte on, 1 if it is present; empty if all are
    missing: int  # number of missing values

    @classmethod
    def of(cls, column: pa.Array) -> Column:
        """A column of Arrow, without copying."""
        first, end = column.offset, column.offset + len(column)
        validity, values = column.buffers()
        type_ = column.type.to_pandas_dtype()
        if column.null_count == len(column):
            return cls.none(len(column), type_)
        given = read_only(np.frombuffer(values, type_)[first:end])
        if not column.null_count:
            return cls(given, _NO_BITS, 0)
        known = np.frombuffer(validity, np.uint8)[first >> 3 : (end + 7) >> 3]
        if first & 7:
            known = np.packbits(np.unpackbits(known, bitorder="little")[first & 7 :], bitorder="little")
        return cls(given, read_only(known), column.null_count)

    @classmethod
    def none(cls, length: int, type_: Any) -> Column:
        """A column of which every value is missing."""
        return cls(read_only(np.empty(length, type_)), read_only(np.zeros((length + 7) >> 3, np.uint8)), length)

    @classmethod
    def whole(cls, values: Any) -> Column:
        """A column made from an array, without missing values."""
        return cls(read_only(values), _NO_BITS, 0)

    def __len__(self) -> int:
        return len(self.values)

    def span(self) -> tuple[int, int]:
        """The smallest and the largest value, including what is stored for missing values; (0, 0) if there are none.

        Arrow usually stores 0 for missing values, and not reading the bits takes a quarter of the time.
        """
        return (int(self.values.min()), int(self.values.max())) if len(self) else (0, 0)

    def filled(self, absent: int, type_: Any) -> Any:
        """The values, with ``absent`` for missing ones."""
        if not self.missing and self.values.dtype == type_:
            return self.values
        filled = np.empty(len(self), type_)
        self.less(0, absent, filled)
        return read_only(filled)

    def less(self, base: int, absent: int, out: Any) -> None:
        """Write to ``out`` the values minus ``base``, and ``absent`` for missing ones."""
        if not self.missing and not base and out.dtype == self.values.dtype:
            out[:] = self.values
        else:
            _write(self.values, self.known, base, absent, out)

    def pick(self, values: Any, positions: Any) -> None:
        """Write the values that are present, and their positions; for a column with missing values."""
        _pick(self.values, self.known, values, positions)

    def occurring(self, count: int) -> list[bool]:
        """For each number from 0 to ``count`` - 1, whether it occurs among the values."""
        found = np.zeros(count, np.uint8)
        _mark(self.values, self.known, found)
        marks: list[bool] = found.view(np.bool_).tolist()
        return marks

    def looked_up(self, table: Any) -> Any:
        """The entries of ``table`` at the values as indices; its last entry for missing values."""
        found = np.empty(len(self), table.dtype)
        _look_up(self.values, self.known, table, found)
        return read_only(found)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Values chosen from an array, in which ``absent`` stands for missing ones; used as a :class:`Column`."""

    values: Any
    absent: int
    missing: int  # number of missing values
    ends: tuple[int, int]  # the smallest and the largest value

    @classmethod
    def of(cls, values: Any, places: Any, absent: int) -> Chosen:
        """Those at ``places``, int64."""
        chosen, found = np.empty(len(places), values.dtype), np.zeros(3, np.int64)
        _choose(read_only(values), read_only(places), absent, chosen, found)
        missing, low, high = found.tolist()
        return cls(read_only(chosen), absent, missing, (low, high) if missing < len(places) else (0, 0))

    def __len__(self) -> int:
        return len(self.values)

    def span(self) -> tuple[int, int]:
        """The smallest and the largest value; (0, 0) if there are none."""
        return self.ends

    def less(self, base: int, absent: int, out: Any) -> None:
        """As for a :class:`Column`."""
        _write_chosen(self.values, self.absent, base, absent, out)

    def pick(self, values: Any, positions: Any) -> None:
        """As for a :class:`Column`."""
        _pick_chosen(self.values, self.absent, values, positions)


def filled_together(columns: Sequence[Column], absent: int, type_: Any) -> Any:
    """The values of columns one after another, with ``absent`` for missing ones."""
    filled, at = np.empty(sum(map(len, columns)), type_), 0
    for column in columns:
        column.less(0, absent, filled[at : at + len(column)])
        at += len(column)
    return read_only(filled)


def read_only(column: Any) -> Any:
    """The array, made read-only: if some arrays were writable, functions would be compiled for two types."""
    view = column.view()
    view.flags.writeable = False
    return view


def arrow_positions(positions: Any) -> pa.Array:
    """Positions in a batch, int64, as an Arrow array.

    If Arrow has to infer the type, it imports pandas if it can, which takes longer than most checks.
    """
    return pa.Array.from_buffers(pa.int64(), len(positions), [None, pa.py_buffer(positions)])


_NO_BITS = read_only(np.empty(0, np.uint8))


@hot
def _is_known(known: Any, i: int) -> Any:
    return known[i >> 3] >> (i & 7) & 1


@entry
def _write(values: Any, known: Any, base: int, absent: int, out: Any) -> None:
    if len(known) == 0:
        for i in range(len(out)):
            out[i] = values[i] - base
        return
    for byte in range(len(out) >> 3):
        at = 8 * byte
        if known[byte] == _WHOLE:
            for j in range(8):
                out[at + j] = values[at + j] - base
        elif known[byte] == 0:
            for j in range(8):
                out[at + j] = absent
        else:
            # The same operations for each value, whatever its bit, so no branches are needed.
            for j in range(8):
                value, there = values[at + j] - base, known[byte] >> j & 1
                out[at + j] = value if there else absent
    for i in range(len(out) & ~7, len(out)):
        out[i] = values[i] - base if _is_known(known, i) else absent


@entry
def _pick(values: Any, known: Any, picked: Any, positions: Any) -> None:
    count = 0
    for byte in range(len(known)):
        if known[byte] == 0:
            continue
        for i in range(8 * byte, min(8 * byte + 8, len(values))):
            if _is_known(known, i):
                picked[count], positions[count] = values[i], i
                count += 1


@entry
def _look_up(values: Any, known: Any, table: Any, out: Any) -> None:
    none = table[len(table) - 1]
    for i in range(len(out)):
        out[i] = table[np.uint32(values[i])] if len(known) == 0 or _is_known(known, i) else none


@entry
def _mark(values: Any, known: Any, found: Any) -> None:
    for i in range(len(values)):
        if len(known) == 0 or _is_known(known, i):
            found[np.uint32(values[i])] = 1


@entry
def _choose(values: Any, places: Any, absent: int, chosen: Any, found: Any) -> None:
    missing, low, high = 0, int64(2**63 - 1), int64(-(2**63))
    for i in range(len(places)):
        chosen[i] = values[np.uint64(places[i])]
    for i in range(len(places)):
        # The same operations for each value, so several are done at once.
        value = int64(chosen[i])
        missing += 1 if value == absent else 0
        low = min(low, low if value == absent else value)
        high = max(high, high if value == absent else value)
    found[0], found[1], found[2] = missing, low, high


@entry
def _write_chosen(values: Any, absent: int, base: int, instead: int, out: Any) -> None:
    for i in range(len(values)):
        out[i] = instead if values[i] == absent else values[i] - base


@entry
def _pick_chosen(values: Any, absent: int, picked: Any, positions: Any) -> None:
    count = 0
    for i in range(len(values)):
        if values[i] != absent:
            picked[count], positions[count] = values[i], i
            count += 1
