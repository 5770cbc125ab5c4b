"""Events as conformance uses them: Python objects, made from the rows of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from ..format.kinds import Kind, Path, Result
from ..format.schema import BY_NAME

Actor: TypeAlias = tuple[str, int]
"""A process: client id and incarnation."""

FOLLOWED = "followed"

NUMBER = "number"
"""The column that numbers the events of a trace, in their order."""

_KINDS = {str(word): word for word in Kind}
_RESULTS = {str(word): word for word in Result}
_PATHS = {str(word): word for word in Path}


@dataclass(slots=True, eq=False)
class Event:
    """One event; its attributes are the columns of the schema, None if a value is not recorded.

    Attributes:
        number: its position among all events, in the order of the trace.
        kind, result, path: its words; NONE if they are not recorded, or not known to this version.
        actor: the process that acts; None if it is a broker.
        outcome: what became of it: ``followed``, or why it was passed over.
        place, place_of_all: its positions among the events of its window, and among those of its process.
    """

    number: int
    time: int
    seq: int | None
    kind: Kind
    result: Result
    path: Path
    client: str | None
    incarnation: int | None
    group: str | None
    topic: str | None
    broker: str | None
    queue: int | None
    offset: int | None
    next: int | None
    min: int | None
    max: int | None
    count: int | None
    key: str | None
    origin: int | None
    attempt: int | None
    level: int | None
    due: int | None
    max_attempts: int | None
    epoch: int | None
    members: list[str] | None
    queues: list[str] | None
    assigned: list[str] | None
    detail: str | None
    actor: Actor | None
    outcome: str = ""
    place: int = -1
    place_of_all: int = -1

    def follow(self) -> None:
        """Record that it was followed, in at least one stream."""
        self.outcome = FOLLOWED

    def pass_over(self, why: str) -> None:
        """Record that it was not followed here; if it was followed elsewhere, that counts."""
        self.outcome = self.outcome or why

    def __str__(self) -> str:
        words = [str(self.kind), self.client or self.broker or ""]
        if self.incarnation:
            words[-1] += f"#{self.incarnation}"
        words += [f"{name}={value}" for name, value in (("result", self.result), ("path", self.path)) if value]
        for name in ("offset", "next", "min", "max", "count", "attempt", "level", "epoch", "key"):
            if getattr(self, name) is not None:
                words.append(f"{name}={getattr(self, name)}")
        return " ".join(words)


def event_of(number: int, told: Mapping[str, Any]) -> Event:
    """An event from its recorded fields, by the columns of the schema; its kind must be known."""
    client, incarnation = told.get("client"), told.get("incarnation")
    values: dict[str, Any] = {name: told.get(name) for name in COLUMNS}
    values |= {
        "kind": _KINDS[str(told["kind"])],
        "result": _RESULTS.get(str(told.get("result")), Result.NONE),
        "path": _PATHS.get(str(told.get("path")), Path.NONE),
    }
    return Event(number=number, actor=None if client is None else (client, incarnation or 0), **values)


COLUMNS = tuple(item.name for item in fields(Event) if item.name in BY_NAME)
"""Columns of the schema that are read, in the order of the attributes of :class:`Event`."""


def events_of(table: pa.Table | pa.RecordBatch) -> list[Event]:
    """The rows with :data:`COLUMNS` and NUMBER as events; their kinds must be known."""
    if not len(table):
        return []
    columns = {name: _values(table.column(name)) for name in COLUMNS}
    columns["kind"] = [_KINDS[word] for word in columns["kind"]]
    columns["result"] = [_RESULTS.get(word, Result.NONE) for word in columns["result"]]
    columns["path"] = [_PATHS.get(word, Path.NONE) for word in columns["path"]]
    known: dict[Actor, Actor] = {}
    actors = [
        None if client is None else known.setdefault(actor := (client, incarnation or 0), actor)
        for client, incarnation in zip(columns["client"], columns["incarnation"], strict=True)
    ]
    rows = zip(_values(table.column(NUMBER)), *columns.values(), actors, strict=True)
    return [Event(*row) for row in rows]


def _values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if column.null_count == len(column):
        return [None] * len(column)
    if pa.types.is_dictionary(column.type):
        words = [*column.dictionary.to_pylist(), None]
        return [words[at] for at in column.indices.fill_null(-1).to_numpy(zero_copy_only=False).tolist()]
    if not pa.types.is_integer(column.type):
        return list(column.to_pylist())
    if not column.null_count:
        return list(column.to_numpy(zero_copy_only=False).tolist())
    values = column.fill_null(0).to_numpy(zero_copy_only=False).astype(object)
    values[np.asarray(column.is_null())] = None
    return list(values.tolist())
