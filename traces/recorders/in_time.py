"""Recordings in time: the stamps of several recorders by clocks that agree, before their events are merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..clocks.clocks import Clocks
from ..encoding.names import Actor
from ..format.schema import ARROW
from .recording import Recording


def put_in_time(recordings: Sequence[Recording], broadcasting: Collection[str] = ()) -> Clocks:
    """Correct the stamps of recordings, and the times at which they say that messages are due.

    Args:
        recordings: of agents, each with a clock of its own.
        broadcasting: groups of which every client has offsets of its own.

    Returns:
        The clocks, as they were.
    """
    actors = _actors(recordings)
    clocks = Clocks.of(
        (
            (actor, batch, one.stamps)
            for actor, one in zip(actors, recordings, strict=True)
            for batch in one.table.combine_chunks().to_batches()
        ),
        broadcasting=broadcasting,
    )
    if clocks.corrects:
        for actor, one in zip(actors, recordings, strict=True):
            one.stamps = clocks.corrected(actor, one.stamps)
            due = one.table.column("due")
            if due.null_count < len(due):
                given = pc.fill_null(due, 0).to_numpy().astype(np.int64) * 1000
                mended = pa.array(clocks.corrected(actor, given) // 1000, due.type)
                mended = pc.if_else(due.combine_chunks().is_valid(), mended, pa.scalar(None, due.type))
                one.table = one.table.set_column(ARROW.get_field_index("due"), ARROW.field("due"), mended)
    return clocks


def _actors(recordings: Sequence[Recording]) -> list[Actor]:
    """Whose clock each recording is by: a broker, or a process of a client."""
    found, times = [], Counter[str]()
    for one in recordings:
        if one.of_broker:
            found.append(Actor(one.broker or one.file, -1))
        else:
            name = one.clients[0][0] if one.clients else one.file
            found.append(Actor(name, times[name]))
            times[name] += 1
    return found
