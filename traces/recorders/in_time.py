"""Recordings in time: the time stamps of several recorders by clocks that agree, before their events are merged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..clocks.clocks import Clocks, Step
from ..encoding.names import Actor
from .processes import Processes
from .recording import Recording, with_due
from .stamps import SetBack


def put_in_time(recordings: Sequence[Recording], broadcasting: Collection[str] = ()) -> Clocks:
    """Correct the time stamps of recordings, and the due times of messages in them.

    Args:
        recordings: recordings of agents. A process has one clock, whatever its files and client ids.
        broadcasting: groups in which every client has offsets of its own.

    Returns:
        The clocks, as they were.
    """
    whose = _whose(recordings)
    actors = [several[0] for several in whose]
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
    clocks = replace(clocks, steps=tuple(sorted([*clocks.steps, *steps], key=lambda step: step.since)))
    # By the corrected times, processes may have begun in another order.
    return _renamed(clocks, dict(zip(actors, _whose(recordings), strict=True)))


def _step(actor: Actor, back: SetBack) -> Step:
    told = f"it went back by {back.by // 1000:,} ms between two events; those after it are taken to be as much later"
    return Step(since=back.at, until=back.at, recorders=(actor,), events=(told,))


def _renamed(clocks: Clocks, names: Mapping[Actor, Sequence[Actor]]) -> Clocks:
    """The same clocks, each under all names of its recorder."""
    return replace(
        clocks,
        clocks={
            actor: replace(clock, recorder=actor, reference=clock.reference and names[clock.reference][0])
            for recorder, clock in clocks.clocks.items()
            for actor in names[recorder]
        },
        steps=tuple(
            replace(step, recorders=tuple(actor for recorder in step.recorders for actor in names[recorder]))
            for step in clocks.steps
        ),
    )


def _whose(recordings: Sequence[Recording]) -> list[Sequence[Actor]]:
    """By whose clock each recording is: a broker's, or that of a process, under each of its client ids."""
    processes = Processes(recordings)
    found: dict[str, dict[Actor, None]] = {}
    for one in recordings:
        own = found.setdefault(_recorder(one), {})
        if one.of_broker:
            own[Actor(one.broker or one.file, -1)] = None
        own.update(dict.fromkeys(Actor(client, processes.number(one, client)) for client, _ in one.clients))
    return [tuple(found[_recorder(one)]) or (Actor(one.file, 0),) for one in recordings]


def _recorder(recording: Recording) -> str:
    return recording.file if recording.of_broker else recording.process
