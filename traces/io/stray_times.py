"""Stray times: an event whose time is contradicted by its neighbours, which the same recorder wrote in order.

One wrong time, such as 1970 or 2099, would stretch the recording, misplace where lasting states begin and end, and make
everything with a deadline late. The event is left out like one without a time: it happened between its neighbours, and
its content is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..encoding.columns import Column

FAR = 3_600_000
"""An event that is further than this from both neighbours, ms, which are closer to each other, has a stray time."""

AT_THE_END = 366 * 86_400_000
"""The same for a first or last event, ms, which has a neighbour on one side only."""

_FEW = 100
"""At most one event in this many may have a stray time: if there are more, the events are in no order."""

WHOSE = ("client", "broker")
"""Columns that say who wrote an event."""


def strays_of(batches: Sequence[pa.RecordBatch]) -> Any:
    """Positions of events with stray times, over a series of consecutive batches, in ascending order."""
    if not batches:
        return np.zeros(0, np.int64)
    times = np.concatenate([Column.of(batch.column("time")).values for batch in batches])
    found = far_off(times)
    if not found:
        return np.zeros(0, np.int64)
    return contradicted(
        times, [np.concatenate([words_of(batch.column(name)) for batch in batches]) for name in WHOSE], found
    )


def far_off(times: Any) -> Sequence[int]:
    """Positions of times that are far from those before and after them."""
    steps = np.diff(times)
    if len(times) < 4 or (steps.min() >= -FAR and steps.max() <= FAR):
        return []
    far = np.abs(steps) > FAR
    there_and_back = far[:-1] & far[1:] & (np.abs(times[2:] - times[:-2]) <= FAR)
    found: list[int] = (np.flatnonzero(there_and_back) + 1).tolist()
    if abs(steps[0]) > AT_THE_END and not far[1]:
        found.insert(0, 0)
    if abs(steps[-1]) > AT_THE_END and not far[-2]:
        found.append(len(times) - 1)
    return found if len(found) <= 1 + len(times) // _FEW else []


def contradicted(times: Any, whose: Sequence[Any], found: Sequence[int]) -> Any:
    """Which of the positions that are far off have stray times.

    ``whose`` has the words of each column of :data:`WHOSE`, empty if there are none.
    """
    return np.array([at for at in found if _is_contradicted(times, whose, at)], np.int64)


def told(time: int) -> str:
    """What is wrong with an event of this time, in words."""
    shown = datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return f"time is {shown} UTC, far from those before and after it; the event is left out"


def words_of(column: pa.Array | pa.ChunkedArray) -> Any:
    """The words of a column; empty if there are none."""
    return pc.fill_null(column.cast(pa.string()), "").to_numpy(zero_copy_only=False)


def _is_contradicted(times: Any, whose: Sequence[Any], at: int) -> bool:
    """Whether the same recorder wrote other events at the time of the neighbours; if not, its clock may be off."""
    client, broker = (words == words[at] for words in whose)
    own = client if whose[0][at] else client & broker
    own[at] = False
    return bool((own & (np.abs(times - times[at - 1 if at else 1]) <= FAR)).any())
