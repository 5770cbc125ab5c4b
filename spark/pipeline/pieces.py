"""Pieces: tasks read parts of recordings, and write the events of each by day and group."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ...traces.errors import TraceError
from ...traces.format.problems import Problems
from ...traces.format.schema import ARROW
from ...traces.io import EXTRA, Split, read_split
from ...traces.io.stored import PIECE, PLACE
from .manifest import Piece
from .table import LONGEST, PACKING, digest_of, folder_of

NO_GROUP = "__HIVE_DEFAULT_PARTITION__"
"""The folder for events that name no group, as Spark and other tools name it."""

MORE_GROUPS = "~more"
"""The folder for further groups, if a part of a recording has more than MOST_FOLDERS days and groups."""

MOST_FOLDERS = 500
"""Maximum number of folders for a day and group to which a task writes."""

MOST_DAYS = 4_000
"""Maximum number of days of the events in a part; with more, it is no recording."""

_DAY = 86_400_000


@dataclass(frozen=True, kw_only=True)
class Work:
    """What a task does.

    Attributes:
        split: what it reads.
        name: prefix for the names of its pieces.
        folder: folder of the batch.
        cluster: the recorded cluster.
    """

    split: Split
    name: str
    folder: Path
    cluster: str


@dataclass(kw_only=True)
class Written:
    """The result of a task.

    Attributes:
        pieces: the written pieces.
        problems: reading problems.
        skipped: what was neither event nor damage.
        counted: whether ``seq`` comes from its recorder.
    """

    pieces: list[Piece]
    problems: Problems
    skipped: Counter[str]
    counted: bool


def store_pieces(work: Work) -> Written:
    """Read a part of a recording and write its pieces. A task that is retried writes to files of its own."""
    reader = read_split(work.split)
    with _Pieces(work) as pieces:
        for batch in reader.batches((*ARROW.names, EXTRA)):
            pieces.write(batch)
    problems = Problems()
    problems.join(reader.problems)
    return Written(pieces=pieces.done, problems=problems, skipped=reader.skipped, counted=reader.counted)


class _Pieces:
    """The pieces of a part, one for each day and group.

    Attributes:
        done: the pieces, once they are complete.
    """

    def __init__(self, work: Work) -> None:
        self._work, self._place = work, 0
        self._name = f"{work.name}-{uuid4().hex[:8]}.parquet"
        self._writers: dict[tuple[int, str | None], _Writer] = {}
        self.done: list[Piece] = []

    def __enter__(self) -> _Pieces:
        return self

    def __exit__(self, kind: Any, error: Any, where: Any) -> None:
        for writer in self._writers.values():
            writer.close()
        if kind is None:
            self.done = [writer.piece() for _, writer in sorted(self._writers.items(), key=lambda item: item[1].path)]

    def write(self, batch: pa.RecordBatch) -> None:
        """Add the next events."""
        positions = pa.arange(self._place, self._place + len(batch))
        self._place += len(batch)
        batch = batch.append_column(PLACE, positions).cast(PIECE)
        group = batch.column("group")
        words = [*group.dictionary.to_pylist(), None]
        codes = group.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        days = batch.column("time").to_numpy(zero_copy_only=False) // _DAY
        keys = days * len(words) + codes
        for key in np.unique(keys).tolist():
            chosen = keys == key
            own = batch if chosen.all() else batch.filter(pa.array(chosen))
            self._writer(key // len(words), words[key % len(words)]).write(own)

    def _writer(self, day: int, group: str | None) -> _Writer:
        if (day, group) not in self._writers and len(self._writers) >= MOST_FOLDERS:
            group = MORE_GROUPS
            if len(self._writers) >= MOST_FOLDERS + MOST_DAYS:
                raise TraceError(f"{self._work.split.paths[0]}: events of more than {MOST_DAYS:,} days; is it damaged?")
        if (day, group) not in self._writers:
            name = str(np.datetime64(day, "D"))
            inside = f"trace/day={name}/{folder_of(self._work.cluster)}/group={_folder(group)}"
            self._writers[day, group] = _Writer(self._work.folder, f"{inside}/{self._name}", name)
        return self._writers[day, group]


def _folder(group: str | None) -> str:
    """The name of a group as the name of a folder. Names come from recordings, and cannot lead elsewhere."""
    if not group:
        return NO_GROUP
    name = group if group == MORE_GROUPS else quote(group, safe="").replace(".", "%2E")
    return name if len(name) <= LONGEST else f"{name[:100].rpartition('%')[0] or name[:100]}~{digest_of(group)}"


class _Writer:
    def __init__(self, folder: Path, path: str, day: str) -> None:
        self.path, self._day = path, day
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(folder / path, PIECE, **PACKING)
        self._rows, self._begin, self._end = 0, 2**63 - 1, -(2**63)

    def write(self, batch: pa.RecordBatch) -> None:
        times = batch.column("time").to_numpy(zero_copy_only=False)
        self._begin, self._end = min(self._begin, int(times.min())), max(self._end, int(times.max()))
        self._rows += len(batch)
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()

    def piece(self) -> Piece:
        return Piece(path=self.path, day=self._day, rows=self._rows, begin=self._begin, end=self._end)


def only_pieces(folder: Path, pieces: set[str]) -> None:
    """Remove what tasks that were aborted, or run twice, have left."""
    for path in (folder / "trace").rglob("*.parquet"):
        if str(path.relative_to(folder)) not in pieces:
            os.unlink(path)
