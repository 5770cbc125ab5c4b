"""Repeated events: lines that occur twice in a file, or in two files, are one event.

Events are the same if everything known about them is equal, including the time and their ``seq``: a recorder counts its
events, so equal ones with different numbers are two. If nobody counted, and ``seq`` is the position in the file, events
at one offset of a queue are still the same: nothing happens there twice in one ms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..encoding.columns import Column

REPEATED = "repeated events"
_PLACE = ("queue", "offset")
_TOLD_BY = ("kind", "client", "incarnation", "group", "topic", "broker", *_PLACE, "result", "path", "attempt", "level")
_MIX = np.int64(0x5851F42D4C957F2D)


class Repeated:
    """Drops repeated events from batches in the order of time.

    Args:
        thorough: search among all events of one ms; otherwise only among adjacent ones, which is enough for a file that
            is in the order of time and ``seq``.

    Attributes:
        count: number of dropped events.
    """

    def __init__(self, *, thorough: bool) -> None:
        self.count = 0
        self._thorough = thorough
        self._latest: pa.RecordBatch | None = None

    def drop(self, batch: pa.RecordBatch, counted: Any) -> pa.RecordBatch:
        """The batch without events that occurred before at the same time.

        Args:
            batch: with ``time``, ``kind`` and ``seq``, which may be the position in the file.
            counted: for each event, whether ``seq`` is its recorder's own; or one value for all.
        """
        if not len(batch):
            return batch
        time = _numbers(batch, "time")
        counted = np.broadcast_to(counted, len(batch))
        again = self._again(batch, counted)
        earlier: pa.RecordBatch | None = None
        if self._latest is not None and _numbers(self._latest, "time")[-1] == time[0]:
            first, before = batch.slice(0, int(np.searchsorted(time, time[0], side="right"))), len(self._latest)
            table = pa.Table.from_batches([self._latest, first if self._thorough else batch.slice(0, 1)])
            (beside,) = table.unify_dictionaries().combine_chunks().to_batches()
            earlier = beside
            own = np.concatenate([np.repeat(counted[:1], before), counted[: len(beside) - before]])
            again[: len(beside) - before] |= self._again(beside, own)[before:]
        begin = int(np.searchsorted(time, time[-1])) if self._thorough else len(batch) - 1
        # One ms may extend over many batches.
        self._latest = earlier if self._thorough and not begin and earlier is not None else batch.slice(begin)
        if not again.any():
            return batch
        self.count += int(again.sum())
        return batch.filter(pa.array(~again))

    def _again(self, batch: pa.RecordBatch, counted: Any) -> Any:
        """Which events are equal to an earlier one."""
        again = np.zeros(len(batch), bool)
        seq = _numbers(batch, "seq")
        if not self._thorough and counted.all() and (seq[1:] > seq[:-1]).all():
            return again
        time = _numbers(batch, "time")
        if self._thorough:
            key = _key(batch, np.where(counted, seq, 0))
            order = np.lexsort((key, time))
            close = (time[order[1:]] == time[order[:-1]]) & (key[order[1:]] == key[order[:-1]])
            first, second = order[:-1][close], order[1:][close]
        else:
            alike = (time[1:] == time[:-1]) & ((seq[1:] == seq[:-1]) | ~counted[1:])
            for name in _PLACE:
                if name in batch.schema.names:
                    place = _numbers(batch, name)
                    alike &= place[1:] == place[:-1]
            first = np.flatnonzero(alike)
            second = first + 1
        if not len(first):
            return again
        places = [batch.column(name) for name in _PLACE if name in batch.schema.names]
        at_a_place = np.repeat(len(places) == len(_PLACE), len(second))
        for column in places:
            at_a_place &= column.is_valid().to_numpy(zero_copy_only=False)[second]
        may_be = (seq[first] == seq[second]) | (at_a_place & ~counted[second])
        for name in sorted(batch.schema.names, key=lambda name: name not in _PLACE):  # few pairs are at one place
            if name != "seq" and not name.startswith("\0") and may_be.any():
                first, second = first[may_be], second[may_be]
                may_be = _equal(batch.column(name), first, second)
        again[second[may_be]] = True
        return again


def _numbers(batch: pa.RecordBatch, name: str) -> Any:
    return Column.of(batch.column(name)).filled(-1, np.int64)


def _key(batch: pa.RecordBatch, seq: Any) -> Any:
    """A number that is equal for equal events, and rarely for others."""
    key = seq.astype(np.int64)
    for name in _TOLD_BY:
        if name in batch.schema.names:
            column = batch.column(name)
            codes = column.indices if pa.types.is_dictionary(column.type) else column
            key = (key ^ (key >> np.int64(29))) * _MIX + codes.fill_null(-1).to_numpy(zero_copy_only=False)
    return key


def _equal(column: pa.Array, first: Any, second: Any) -> Any:
    """Whether values at pairs of positions are equal, or both unknown."""
    if column.null_count == len(column):
        return np.ones(len(first), bool)
    one, other = column.take(pa.array(first)), column.take(pa.array(second))
    if pa.types.is_list(column.type):
        return np.array([a == b for a, b in zip(one.to_pylist(), other.to_pylist(), strict=True)], bool)
    if pa.types.is_dictionary(column.type):
        one, other = one.indices, other.indices
    both_unknown = pc.and_(one.is_null(), other.is_null())
    return pc.or_(pc.equal(one, other).fill_null(False), both_unknown).to_numpy(zero_copy_only=False)
