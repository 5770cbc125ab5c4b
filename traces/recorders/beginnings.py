"""Beginnings: what is known of a recording that begins when its client was running already.

An agent that was attached to a running process has not recorded what that process did before. A whole recording begins
with the start of its client; before that there is at most the file of offsets that a broadcasting client loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..format.kinds import Kind
from .processes import Processes
from .recording import Event, Recording

_FIRST = (Kind.CLIENT_START, Kind.FILE_LOAD)


def beginnings(recordings: Sequence[Recording], processes: Processes) -> list[Event]:
    """Gaps from the first event of any recording to the first one of a client that was running already.

    Args:
        recordings: all of them.
        processes: of the clients.
    """
    begin = min(int(recording.stamps.min()) for recording in recordings) // 1000
    found: list[Event] = []
    for recording in recordings:
        detail = f"{Path(recording.file).name} begins when its client was running"
        clients = recording.table.column("client").to_pylist() if recording.clients else []
        for who in processes.who(recording) if clients else []:
            row = clients.index(who["client"])
            first = recording.table.column("kind")[row].as_py()
            until = int(recording.stamps[row]) // 1000 - 1
            if first not in _FIRST and until > begin:
                found.append({"time": until, "kind": str(Kind.GAP), **who, "due": begin, "detail": detail})
    return found
