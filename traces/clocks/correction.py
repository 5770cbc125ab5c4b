"""Correction: events with the times they should have, as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.columns import Column
from ..encoding.names import Actor
from ..format.kinds import OF_BROKERS, Kind
from .clocks import Clocks
from .pairs import BY_CLIENT

IDENTITY = ("time", "micros", "kind", "path", "client", "incarnation", "broker")
"""Columns that tell whose clock the time of an event is."""

_TIMES = ("time", "due")


def corrected(
    clocks: Clocks, read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Batches with ``columns`` of what ``read`` gives for other columns, ``time`` and ``due`` corrected.

    The order of the events of each recorder stays as it is; between recorders it may be another one by time.
    """
    if not set(columns) & set(_TIMES):
        yield from read(columns)
        return
    for batch in read((*columns, *(name for name in IDENTITY if name not in columns))):
        yield in_time(clocks, batch).select(list(columns))


def in_time(clocks: Clocks, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with the columns :data:`IDENTITY`, ``time`` and ``due`` corrected."""
    recorders = _recorders(clocks, batch)
    for name in _TIMES:
        if name in batch.schema.names and batch.column(name).null_count < len(batch):
            given = batch.column(name)
            times = Column.of(given).filled(0, np.int64) * 1000
            if name == "time":
                times += Column.of(batch.column("micros")).filled(0, np.int32)
            for actor, chosen in recorders:
                times[chosen] = clocks.corrected(actor, times[chosen])
            times //= 1000
            fixed = pa.array(times, given.type, mask=np.asarray(given.is_null()) if given.null_count else None)
            batch = batch.set_column(batch.schema.get_field_index(name), batch.schema.field(name), fixed)
    return batch


def _recorders(clocks: Clocks, batch: pa.RecordBatch) -> list[tuple[Actor, Any]]:
    """The recorders whose clocks are corrected, each with its events."""
    kind, kinds = _words(batch, "kind")
    client, clients = _words(batch, "client")
    broker, brokers = _words(batch, "broker")
    incarnation = np.maximum(Column.of(batch.column("incarnation")).filled(0, np.int32), 0)
    of_broker = np.array([word in OF_BROKERS for word in kinds])[kind] | (client == len(clients) - 1)
    is_recorded = np.array([Actor(word, -1) in clocks.clocks for word in brokers])
    path, paths = _words(batch, "path")
    is_sent = ~np.array([word in BY_CLIENT for word in paths])[path]
    of_broker |= np.array([word == Kind.COMMIT for word in kinds])[kind] & is_sent & is_recorded[broker]
    found = []
    for actor, clock in clocks.clocks.items():
        if not clock.runs:
            continue
        if actor.incarnation < 0:
            chosen = of_broker & (broker == _place(brokers, actor.name))
        else:
            chosen = ~of_broker & (client == _place(clients, actor.name)) & (incarnation == actor.incarnation)
        found.append((actor, np.flatnonzero(chosen)))
    return found


def _place(words: list[str], word: str) -> int:
    return words.index(word) if word in words else -1


def _words(batch: pa.RecordBatch, name: str) -> tuple[Any, list[str]]:
    """For each event the place of its word, and the words, the last of which is that of events without one."""
    column = batch.column(name)
    given = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = [word or "" for word in given.dictionary.to_pylist()]
    return Column.of(given.indices).filled(len(words), np.int32), [*words, ""]
