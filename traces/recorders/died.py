"""Deaths that the user reports: processes that were killed while nobody recorded it, by client id and time."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import TraceError
from ..format.problems import Problems
from ..format.schema import Header
from ..io.events import ROWS
from ..io.jsonl import JsonLines
from ..io.source import Source
from ..io.temporary import in_temporary_folder
from ..io.writing import write_jsonl
from .processes import UNWRITTEN, Death, killed
from .recording import Event

_WHO = ("client", "incarnation", "group")
NAME = "--died"


class Deaths(JsonLines):
    """Ends of processes as a source of events beside the others; see :class:`~..io.source.Source`."""

    def __init__(self, sources: Sequence[Source], deaths: Sequence[Death], problems: Problems) -> None:
        """Find the processes.

        Raises:
            TraceError: a client was not recorded before its death.
        """
        seen = _seen(sources, sorted({death.client for death in deaths}))
        events = [event for death in deaths for event in _events(death, seen)]
        with in_temporary_folder():
            folder = tempfile.TemporaryDirectory(prefix="rocketproof-")
            path = Path(folder.name) / "deaths.jsonl"
            write_jsonl(path, Header(complete=True), events)
        super().__init__(path, problems)
        weakref.finalize(self, folder.cleanup)
        self.file, self.files = NAME, ()


def _seen(sources: Sequence[Source], clients: Sequence[str]) -> pa.Table:
    """From when to when each process of these clients was seen in which group."""
    tables = []
    for source in sources:
        for batch in source.batches(("time", *_WHO), rows=ROWS):
            wanted = pc.is_in(batch.column("client").cast(pa.string()), pa.array(clients, pa.string()))
            own = pa.Table.from_batches([batch.filter(wanted)])
            for place, name in ((1, "client"), (3, "group")):
                own = own.set_column(place, name, own.column(name).cast(pa.string()))
            tables.append(own.set_column(2, "incarnation", pc.fill_null(own.column("incarnation"), 0)))
    return pa.concat_tables(tables).group_by(list(_WHO)).aggregate([("time", "min"), ("time", "max")])


def _events(death: Death, seen: pa.Table) -> Iterator[Event]:
    """The end of a process in each of its groups, preceded by a gap for what its recorder may not have written any
    more.
    """
    known = [one for one in seen.to_pylist() if one["client"] == death.client]
    before = [one for one in known if one["time_min"] <= death.time]
    if not before:
        when = f" before {death.time}; its first event is at {min(one['time_min'] for one in known)}" if known else ""
        raise TraceError(f"{NAME} {death.client}@{death.time}: nothing of that client is in the trace{when}.")
    number = max(before, key=lambda one: (one["time_min"], one["incarnation"]))["incarnation"]
    own = [one for one in before if one["incarnation"] == number]
    time = max(death.time, *(one["time_max"] for one in own))
    groups = sorted({one["group"] for one in own if one["group"]}) or [None]
    for group in groups:
        who = {"client": death.client, "incarnation": number, "group": group}
        last = max(one["time_max"] for one in own if one["group"] in (group, None))
        since = max(last, time - UNWRITTEN)
        yield from killed(since, time, who)
