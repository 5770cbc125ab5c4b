"""Beginnings: what is known about a recording that begins when its client or broker was already running.

An agent that was attached to a running process has not recorded what that process did before. A complete recording
begins with the start of its client or broker; before that, only files of offsets may be loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

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
