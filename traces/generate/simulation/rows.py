"""Rows: events as the simulation writes them, column by column, and as batches of the schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ....machine_code.compiled import part
from ...format.kinds import Kind, Path, Result
from ...format.schema import ABSENT, ARROW, origin_of

WHOLE = ("offset", "next", "min", "max", "count", "origin", "attempt", "level", "due", "max_attempts")
"""Whole-number columns that only some kinds have."""

_LISTS = ("members", "queues", "assigned", "subscriptions")


class Columns(NamedTuple):
    """Which line of the table of rows is which column. Words are codes, -1 if there is none."""

    time: int
    kind: int
    result: int
    path: int
    client: int
    incarnation: int
    group: int
    topic: int
    broker: int
    queue: int
    offset: int
    next: int
    min: int
    max: int
    count: int  # type: ignore[assignment]  # tuple.count is not used
    origin: int
    attempt: int
    level: int
    due: int
    max_attempts: int


C = Columns(*range(len(Columns._fields)))


def new_rows(room: int) -> Any:
    """Room for that many rows: one line for each column."""
    return np.zeros((len(C), room), np.int64)


@part
def clear(rows: Any, i: int, time: int, kind: Kind | int) -> None:
    """Row ``i`` gets a time and a kind, and nothing else yet."""
    rows[C.time, i] = time
    rows[C.kind, i] = kind
    rows[C.result, i] = 0
    rows[C.path, i] = 0
    for column in range(C.client, C.offset):
        rows[column, i] = -1
    for column in range(C.offset, C.max_attempts + 1):
        rows[column, i] = ABSENT


class Batches:
    """Makes batches of the schema from rows.

    Attributes:
        lists: the lists and words of single rows, by position of the row: fields of the schema.
    """

    def __init__(
        self, *, clients: list[str], group: str, topics: Sequence[str], brokers: Sequence[str], start: int, keys: bool
    ):
        self.lists: dict[int, Mapping[str, Any]] = {}
        self._clients = clients
        self._words = {"group": [group], "topic": list(topics), "broker": list(brokers)}
        self._words |= {"kind": list(Kind), "result": list(Result), "path": list(Path)}
        self._start = start
        self._keys = keys
        self._seq = 0

    def batch(self, rows: Any, size: int) -> pa.RecordBatch:
        """The first ``size`` rows as a batch; they, and :attr:`lists`, can be reused afterwards."""
        columns: dict[str, pa.Array] = {
            "time": pa.array(rows[C.time, :size] + self._start),
            "seq": pa.array(np.arange(self._seq, self._seq + size)),
            "incarnation": _whole(rows[C.incarnation, :size], -1, pa.int32()),
            "queue": _whole(rows[C.queue, :size], -1, pa.int32()),
            "client": _words(rows[C.client, :size], -1, self._clients),
        }
        for name in ("group", "topic", "broker"):
            columns[name] = _words(rows[getattr(C, name), :size], -1, self._words[name])
        for name in ("kind", "result", "path"):
            nothing = -1 if name == "kind" else 0
            columns[name] = _words(rows[getattr(C, name), :size].astype(np.int32), nothing, self._words[name])
        due = rows[C.due, :size]
        due[due != ABSENT] += self._start
        for name in WHOLE:
            columns[name] = _whole(rows[getattr(C, name), :size], ABSENT, ARROW.field(name).type)
        if self._keys:
            columns["key"], columns["origin"] = _keys(rows[C.origin, :size])
        if self.lists:
            # Few rows have lists: only for these are they made, and put in their positions.
            which = np.full(size, -1)
            which[list(self.lists)] = np.arange(len(self.lists))
            positions = pa.array(which, mask=which < 0)
            for name in (*_LISTS, "detail"):
                said = [fields.get(name) for fields in self.lists.values()]
                columns[name] = pa.array(said, ARROW.field(name).type).take(positions)
        for name in ARROW.names:
            columns.setdefault(name, pa.nulls(size, ARROW.field(name).type))
        self._seq += size
        self.lists = {}
        return pa.RecordBatch.from_arrays([columns[name] for name in ARROW.names], schema=ARROW)


def key_of(origin: int) -> str:
    """The unique key that the simulation gives to the message with this origin."""
    return f"{origin & 0xFFFFFFFFFFFFFFFF:016X}"


def _whole(values: Any, nothing: int, type_: pa.DataType) -> pa.Array:
    missing = values == nothing
    if missing.all():
        return pa.nulls(len(values), type_)
    if not missing.any():
        missing = None
    # Copied: the rows are used again while the batch is being written.
    return pa.array(values.astype(type_.to_pandas_dtype()), type_, mask=missing)


def _words(codes: Any, nothing: int, words: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(_whole(codes, nothing, pa.int32()), pa.array([str(word) for word in words]))


def _keys(origins: Any) -> tuple[pa.Array, pa.Array]:
    """Keys of origins, and the origins of these keys."""
    known = {int(origin): key_of(int(origin)) for origin in np.unique(origins) if origin != ABSENT}
    keys = [known.get(int(origin)) for origin in origins]
    return pa.array(keys, pa.string()), pa.array([None if key is None else origin_of(key) for key in keys], pa.int64())
