"""Missing events: a recorder counts its events, so a missing number in its file means that an event was removed.

Its content is not known, but its time is: between the two events with the neighbouring numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .processes import Processes
from .recording import Event, Recording, gap


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
