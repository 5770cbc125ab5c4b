"""Files of the agents as one source of events: read, joined, and stored in a temporary file while they are used."""

from __future__ import annotations

import tempfile
import weakref
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import TraceError, named
from ..format.header import Stated, merge
from ..format.kinds import STORES, Kind
from ..format.problems import Problems, Trouble
from ..format.schema import ARROW, BY_BROKERS
from ..io.compressed import pieces_of
from ..io.events import EXTRA, ROWS
from ..io.jsonl import JsonLines
from ..io.parquet import ParquetTrace
from ..io.temporary import in_temporary_folder
from ..io.writing import ParquetWriter
from .agent_files import side_of
from .beside import ByOthers
from .clusters import clusters_named
from .joining import join
from .processes import Death
from .recording import Recording

_COUNTED = ("seq", "time", "micros")
"""An event's number, and the time at which it was counted."""

CUT_OFF = "last lines that were not written to their end"


class CapturedTrace(ParquetTrace):
    """Recordings of agents as one source of events; see :class:`~..io.source.Source`.

    Attributes:
        files: names of the recordings.
        skipped: what joining left out, or could not recognise, in words, and how often.
        unrecorded: members of recorded groups that no file covers, by group.
        clocks: clocks of the recorders, by which times are already corrected.
        told: which processes they cover, and with what.
    """

    def __init__(self, paths: Sequence[Path], problems: Problems, *, deaths: Sequence[Death] = ()) -> None:
        """Read and join.

        Args:
            paths: files of the agents.
            problems: receives their problems.
            deaths: processes that were killed.

        Raises:
            TraceError: there are no events, or the temporary file cannot be written; with strict problems, if there
                are any.
        """
        cut_off: Counter[str] = Counter()
        found = Problems()
        files = clusters_named([_read(path, found, cut_off) for path in paths])
        stated = _stated(files, found)
        problems.join(found)
        recordings = [recording for _, recording in files if len(recording)]
        if not recordings:
            first = f" {found.kept[0]}." if found.kept else ""
            raise TraceError(f"{named([*map(str, paths)])}: no events can be read.{first}")
        joined = join(recordings, deaths=deaths, problems=found.kept, broadcasting=stated.header.broadcasting)
        stated = _divided_by_brokers(stated, joined.popping)
        self.unrecorded = joined.unrecorded
        self.told = ByOthers.of_agents(files, joined.unrecorded)
        self._recordings, self._owner, self._row = joined.recordings, joined.recording, joined.row
        with in_temporary_folder():
            folder = tempfile.TemporaryDirectory(prefix="rocketproof-")
            path = Path(folder.name) / "joined.parquet"
            with ParquetWriter(path, stated.header, extra=EXTRA in joined.table.column_names) as writer:
                for batch in joined.table.to_batches(max_chunksize=ROWS):
                    writer.write(batch)
        super().__init__(path, problems)
        weakref.finalize(self, folder.cleanup)
        self.files = tuple(map(str, paths))
        self.file = named(self.files)
        self.stated = stated
        self.skipped = cut_off + joined.left_out
        self.clocks = joined.clocks

    def recorded_at(self, event: int) -> tuple[Path, int] | None:
        """The file of an event and its position among the events there, from 0; None for an event that joining
        added.
        """
        owner = int(self._owner[event])
        if owner < 0:
            return None
        recording = self._recordings[owner]
        return Path(recording.file), int(recording.lines[self._row[event]])


def _read(path: Path, problems: Problems, cut_off: Counter[str]) -> tuple[Stated, Recording]:
    """The header and the events of a file.

    A last line without its end is no problem: its process was killed, or is still writing.
    """
    own = Problems()
    source = JsonLines(path, own)
    batches = list(source.batches((*ARROW.names, EXTRA), rows=ROWS))
    last = own.kept[-1] if own.kept else None
    whole_lines = sum(piece.count(b"\n") for piece in pieces_of(path, Problems())) if last is not None else 0
    if last is not None and last.kind is Trouble.DAMAGED and last.line > whole_lines:
        own.take_back(last)
        cut_off[CUT_OFF] += 1
    problems.join(own)
    schema = pa.schema([*ARROW, pa.field(EXTRA, pa.string())])
    table = pa.Table.from_batches([batch.cast(schema) for batch in batches], schema)
    if table.column(EXTRA).null_count == len(table):
        table = table.drop_columns([EXTRA])
    lines = _as_counted(table) if source.counted else None
    if lines is not None:
        table = table.take(lines)
    recording = Recording.of(str(path), table, source=source.stated.header.source, counted=source.counted, lines=lines)
    return source.stated, recording


def _as_counted(table: pa.Table) -> Any:
    """The places of the events in the order in which their recorder counted them, if somebody has sorted the lines.

    Each is there once, although it may stand in the file again, with its number and its time.
    """
    seq, *times = (pc.fill_null(table.column(name), 0).to_numpy().astype(np.int64) for name in _COUNTED)
    if not (np.diff(seq) <= 0).any():
        return None
    once = np.sort(np.unique(np.stack([seq, *times]), axis=1, return_index=True)[1])
    # Processes that wrote one file after the other count from 0 each.
    if len(np.unique(seq[once])) == len(once):
        once = once[np.argsort(seq[once])]
    return once if len(once) < len(seq) or (np.diff(once) < 0).any() else None


def _stated(recorded: Sequence[tuple[Stated, Recording]], problems: Problems) -> Stated:
    """One header: the kinds that any of the agents would have recorded, and deaths, which joining adds, or a gap
    instead.

    The death of a broker is known from its recordings, if there are any: it restarts without having stopped, or there
    is a gap from its end on. The release is that of the clients, if they have one: brokers may be older or newer, and
    the rules that differ are those of clients.
    """
    files = [_with_broker_strategy(*one) for one in recorded]
    header = merge(files, problems)
    releases = {one.header.release for one in files if side_of(one.file, one.header.source) == "client"}
    evidence = header.evidence
    if _is_log_unseen([recording for _, recording in recorded]):
        evidence -= STORES
    if evidence:
        evidence |= {Kind.CLIENT_CRASH}
        if any(side_of(one.file, one.header.source) == "broker" for one in files):
            evidence |= {Kind.BROKER_CRASH}
    release = releases.pop() if len(releases) == 1 else header.release
    members = frozenset().union(*(one.members for one in files))
    return Stated(
        header=replace(header, evidence=evidence, release=release, lacking=_lacking(recorded), extra={}),
        members=members,
        of_groups={
            group: frozenset(name for one in files if group in one.header.groups for name in one.said_of(group))
            for group in header.groups
        },
        file=named([one.file for one in files]),
    )


def _with_broker_strategy(stated: Stated, recording: Recording) -> Stated:
    """What a file states; and that brokers divide the queues of its group, if its clients take queues without dividing
    any.
    """
    groups = {group for _, group in recording.clients}
    divides = Kind.REBALANCE not in stated.header.evidence or len(recording.rows((Kind.REBALANCE,)))
    takes = all(len(recording.rows((kind,))) for kind in (Kind.CLIENT_START, Kind.ASSIGN))
    if divides or not takes:
        return stated
    return _divided_by_brokers(stated, groups)


def _divided_by_brokers(stated: Stated, groups: Collection[str]) -> Stated:
    """What a file states, with groups whose queues, or some members' share of the messages, brokers divide."""
    known = {
        name: replace(group, strategy=BY_BROKERS) for name, group in stated.header.groups.items() if name in groups
    }
    return replace(stated, header=replace(stated.header, groups={**stated.header.groups, **known}))


def _is_log_unseen(recordings: Sequence[Recording]) -> bool:
    """Whether brokers recorded no message at all, although clients got some: DLedger's log stores them in another
    way.
    """
    if any(len(one.rows(STORES)) for one in recordings):
        return False
    return any(one.of_broker for one in recordings) and any(len(one.rows((Kind.DELIVER,))) for one in recordings)


def _lacking(recorded: Sequence[tuple[Stated, Recording]]) -> dict[tuple[str, str], frozenset[Kind]]:
    """What a client, or one of its processes, does not record for a group, while others do."""
    said: dict[tuple[str, str], frozenset[Kind]] = {}
    for stated, recording in recorded:
        for one in recording.clients if stated.header.evidence else ():
            said[one] = said.get(one, stated.header.evidence) & stated.header.evidence
    known = frozenset().union(*said.values())
    return {one: known - kinds for one, kinds in said.items() if known - kinds}
