"""Late events: those that arrived after the watermark had passed them, counted by file and located."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...traces.io.stored import PIECE, PLACE
from .manifest import Source
from .recording import Live, live_of
from .table import Table, read_piece, table_of, texts

MOST_LATE = 1_000
"""Maximum number of late events of a file that are located; further ones are only counted."""

LATE = pa.schema(
    [
        *texts("cluster", "file"),
        pa.field("event", pa.int64()),
        pa.field("time", pa.timestamp("ms", tz="UTC")),
        *texts("kind", "group"),
        pa.field("behind_ms", pa.int64()),
    ]
)
"""Columns of the table ``late``."""

_READ = ("time", "kind", "group", PLACE)


@dataclass(frozen=True, kw_only=True)
class LateFile:
    """The late events of a recording.

    Attributes:
        file: its name in messages.
        events: number of late events.
        begin: time of the earliest, ms.
        located: the first ones, in the order of the file, with the columns of LATE that describe an event.
    """

    file: str
    events: int
    begin: int
    located: Sequence[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Late:
    """Late events, by recording."""

    files: Sequence[LateFile] = ()

    def table(self, cluster: str) -> pa.Table:
        """Their places, as rows of LATE."""
        return table_of([(cluster, one.file, *row) for one in self.files for row in one.located], LATE)


def late_of(table: Table, live: Live, *, since: str, watermark: int) -> Late:
    """The late events in what was ingested after a batch.

    ``since`` is the name of the batch, ``watermark`` the watermark at that time, ms.

    Raises:
        TraceError: events cannot be read.
    """
    fresh = [source for source in live.sources if live.folders[source.id].name > since]
    earlier: dict[str, int] = {}
    if any(source.replaces for source in fresh):
        before = live_of(table, until=since)[live.cluster]
        earlier = {source.id: source.rows for source in before.sources}
    found = (
        _late_in(source, live.folders[source.id], watermark, sum(earlier.get(id_, 0) for id_ in source.replaces))
        for source in fresh
    )
    return Late(files=[one for one in found if one is not None])


def _late_in(source: Source, folder: Path, watermark: int, known: int) -> LateFile | None:
    """Late events of a recording; the first ``known`` events were there before it has grown."""
    count, begin, first, located = 0, watermark, 0, list[tuple[Any, ...]]()
    for part in source.parts:
        late = _late_of_part([folder / piece.path for piece in part if piece.begin < watermark], watermark)
        late = late.filter(pc.greater_equal(late[PLACE], known - first))
        if len(late):
            count += len(late)
            begin = min(begin, pc.min(late["time"]).as_py())
            located += [
                (first + row[PLACE] + 1, row["time"], row["kind"], row["group"], watermark - row["time"])
                for row in late.slice(0, MOST_LATE - len(located)).to_pylist()
            ]
        first += sum(piece.rows for piece in part)
    return LateFile(file=source.file, events=count, begin=begin, located=located) if count else None


def _late_of_part(pieces: Sequence[Path], watermark: int) -> pa.Table:
    """Late events of a part of a recording, in its order."""
    columns = pa.schema([PIECE.field(name) for name in _READ])
    read = [columns.empty_table()]
    for path in pieces:
        read.append(read_piece(path, columns=list(_READ), filters=pc.field("time") < watermark))
    return pa.concat_tables([one.cast(columns) for one in read], promote_options="none").sort_by(PLACE)
