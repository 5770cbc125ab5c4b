"""Recordings in time: the time stamps of several recorders by clocks that agree, before their events are merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..clocks.clocks import Clocks, Step
from ..encoding.names import Actor
from .recording import Recording, with_due
from .stamps import SetBack


def put_in_time(recordings: Sequence[Recording], broadcasting: Collection[str] = ()) -> Clocks:
    """Correct the time stamps of recordings, and the due times of messages in them.

    Args:
        recordings: recordings of agents, each with a clock of its own.
        broadcasting: groups in which every client has offsets of its own.

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
                one.table = with_due(one.table, mended)
    steps = [_step(actor, back) for actor, one in zip(actors, recordings, strict=True) for back in one.set_back]
    return replace(clocks, steps=tuple(sorted([*clocks.steps, *steps], key=lambda step: step.since)))


def _step(actor: Actor, back: SetBack) -> Step:
    told = f"it went back by {back.by // 1000:,} ms between two events; those after it are taken to be as much later"
    return Step(since=back.at, until=back.at, recorders=(actor,), events=(told,))


def _actors(recordings: Sequence[Recording]) -> list[Actor]:
    """By whose clock each recording is: a broker's, or that of a process of a client."""
    found, times = [], Counter[str]()
    for one in recordings:
        if one.of_broker:
            found.append(Actor(one.broker or one.file, -1))
        else:
            name = one.clients[0][0] if one.clients else one.file
            found.append(Actor(name, times[name]))
            times[name] += 1
    return found
