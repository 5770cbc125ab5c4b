"""Correction: events with the times that they should have, as they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.columns import Column
from ..encoding.names import Actor
from .clocks import Clocks
from .view import IDENTITY, View, clocks_of_commits

_TIMES = ("time", "due")


def corrected(
    clocks: Clocks, read: Callable[[Sequence[str]], Iterator[pa.RecordBatch]], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Batches with ``columns``, made from what ``read`` returns for other columns, with ``time`` and ``due``
    corrected.

    The order of each recorder's events does not change; between recorders, the order by time may.
    """
    if not set(columns) & set(_TIMES):
        yield from read(columns)
        return
    for batch in read((*columns, *(name for name in IDENTITY if name not in columns))):
        yield in_time(clocks, batch).select(list(columns))


def in_time(clocks: Clocks, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch with the columns :data:`IDENTITY`, and ``time`` and ``due`` corrected."""
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
    codes: dict[Actor, int] = {}
    view = View(batch, None)
    whose, if_recorded = view.recorders(lambda actor: codes.setdefault(actor, len(codes)))
    recording = [code for actor, code in codes.items() if actor in clocks.clocks]
    whose = clocks_of_commits(whose, if_recorded, recording=recording, sends=view.is_word("client", clocks.senders))
    bent = [actor for actor, clock in clocks.clocks.items() if clock.runs and actor in codes]
    return [(actor, np.flatnonzero(whose == codes[actor])) for actor in bent]
