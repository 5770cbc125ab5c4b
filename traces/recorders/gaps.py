"""Gaps in recordings: one that begins when its client or broker was already running, and events that were removed.

A complete recording begins with the start of its client or broker; before that, only files of offsets may be loaded. A
recorder counts its events, so a missing number shows that one was removed: between those with the neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..format.kinds import Kind
from .processes import Processes
from .recording import Event, Recording, gap

_FIRST = (Kind.CLIENT_START, Kind.BROKER_START, Kind.FILE_LOAD)


def beginnings(recordings: Sequence[Recording], processes: Processes) -> list[Event]:
    """Gaps from the first event of any recording to the first one of a client or broker that was already running.

    Args:
        recordings: all of them.
        processes: the processes of the clients.
    """
    begin = min(int(recording.stamps.min()) for recording in recordings) // 1000
    found: list[Event] = []
    for recording in recordings:
        side = "broker" if recording.of_broker else "client"
        detail = f"{Path(recording.file).name} begins when its {side} was running"
        actors = recording.table.column(side).to_pylist()
        for who in processes.who(recording):
            row = 0 if recording.of_broker else actors.index(who[side])
            first = recording.table.column("kind")[row].as_py()
            until = int(recording.stamps[row]) // 1000 - 1
            if first not in _FIRST and until > begin:
                found.append(gap(begin, until, detail, who))
    return found


def missing_events(recordings: Sequence[Recording], processes: Processes) -> list[Event]:
    """Gaps for the events whose numbers are missing, for each process that the file covers.

    Args:
        recordings: all of them; the missing beginning of a file may be as early as the first event of any.
        processes: the processes of the clients.
    """
    begin = min(int(recording.stamps.min()) // 1000 for recording in recordings)
    found: list[Event] = []
    for recording in recordings:
        for since, until, count in _gaps(recording, begin):
            detail = f"events that are missing in {Path(recording.file).name}"
            found += [{**gap(since, until, detail, who), "count": count} for who in processes.who(recording) or [{}]]
    return found


def _gaps(recording: Recording, begin: int) -> Iterator[tuple[int, int, int]]:
    """From when to when events are missing, ms, and how many; neighbouring gaps are joined."""
    if not recording.counted:
        return
    number, row = np.unique(recording.table.column("seq").to_numpy(), return_index=True)
    steps = np.diff(number, prepend=-1)
    since = until = count = 0
    for at in np.flatnonzero(steps > 1).tolist():
        before = begin if at == 0 else int(recording.stamps[row[at - 1]]) // 1000
        after = -(-int(recording.stamps[row[at]]) // 1000)
        if count and before > until:
            yield since, until, count
            count = 0
        since, until = (min(since, before), max(until, after)) if count else (min(before, after), max(before, after))
        count += int(steps[at]) - 1
    if count:
        yield since, until, count
