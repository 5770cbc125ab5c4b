"""Joining: recordings of several processes become one order of events, with a number for each process.

Each event keeps the order of its recorder, and recordings are merged by their time stamps. Of a commit that a client
sent and its broker stored, one event is left. What is known to be missing becomes a gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..clocks.clocks import Clocks
from ..format.kinds import Kind
from ..format.problems import Problem, Trouble
from ..format.schema import ARROW
from .brokers_away import BrokersRecorded, brokers_away
from .confirming import confirmed
from .endings import endings
from .gaps import beginnings, missing_events
from .in_time import put_in_time
from .processes import Death, Processes, deaths_recorded, unrecorded
from .recording import Event, Recording, gap, without_nulls
from .replicas import ONLY_A_SLAVE, promotions, replicas_named
from .sharing import MANY, continuing, sharing

KILLED_UNSEEN = "deaths of processes that had recorded nothing"

CAME_BACK = "it went on or came back, and was not recorded"
SHARED_UNSEEN = "another process has its client id, and was not recorded"

_LOSES = (
    Trouble.DAMAGED,
    Trouble.TRUNCATED,
    Trouble.UNREADABLE,
    Trouble.NO_TIME,
    Trouble.STRAY_TIME,
    Trouble.IMPOSSIBLE,
)
_TOLD = ("client", "path", "incarnation", "epoch")


@dataclass(frozen=True, kw_only=True)
class Joined:
    """The result of joining.

    Attributes:
        table: the events in their order, with ``seq`` counted.
        recording: for each event the position of its recording in ``recordings``; -1 for one that joining added.
        row: for each event its position in its recording.
        recordings: what was joined.
        left_out: what was not kept, or could not be recognised, in words, and how often.
        unrecorded: members of recorded groups that no file covers, by group.
        popping: groups for which brokers store offsets that no client sends, as they do for pop.
        clocks: clocks of the recorders; times are corrected by them.
    """

    table: pa.Table
    recording: Any
    row: Any
    recordings: Sequence[Recording]
    left_out: Counter[str]
    unrecorded: Mapping[str, Sequence[str]]
    popping: Collection[str]
    clocks: Clocks


def join(
    recordings: Sequence[Recording],
    *,
    deaths: Sequence[Death] = (),
    problems: Sequence[Problem] = (),
    broadcasting: Collection[str] = (),
) -> Joined:
    """The events of all recordings.

    Args:
        recordings: none of them empty.
        deaths: processes that were killed.
        problems: problems of reading the files; where something was lost, the trace gets a gap.
        broadcasting: groups in which every client has offsets of its own.
    """
    recordings = replicas_named(recordings)
    clocks = put_in_time(recordings, broadcasting)
    processes = Processes(recordings)
    killed, unseen = deaths_recorded(recordings, deaths, processes)
    killed += endings(recordings, processes, known=killed)
    killed += promotions(recordings)
    left_out = Counter({KILLED_UNSEEN: len(unseen)} if unseen else {})
    missing = unrecorded(recordings)
    names = _names(recordings)
    tables = [_numbered(one, processes, name) for one, name in zip(recordings, names, strict=True)]
    stamps = np.concatenate([recording.stamps for recording in recordings])
    lost = _lost(recordings, killed, problems, missing, processes.latest)
    added = [*killed, *lost, *beginnings(recordings, processes), *missing_events(recordings, processes)]
    added = sorted([*added, *brokers_away(recordings)], key=lambda event: int(event["time"]))
    if added:
        tables.append(Recording.of_events("", added).table)
        stamps = np.concatenate([stamps, np.array([event["time"] * 1000 + 999 for event in added], np.int64)])
    sizes = [*(len(recording) for recording in recordings), len(added)]
    owner = np.repeat(np.array([*range(len(recordings)), -1], np.int32), sizes)
    row = np.concatenate([np.arange(size, dtype=np.int32) for size in sizes])
    order = np.argsort(stamps, kind="stable")
    stamps, owner, row = stamps[order], owner[order], row[order]
    table = pa.concat_tables(tables).unify_dictionaries().take(pa.array(order))
    of_slave = np.concatenate([*(one.as_slave for one in recordings), np.zeros(len(added), np.bool_)])[order]
    halves, of_slaves = _commits(table, stamps, owner, of_slave, recordings)
    answer = confirmed(halves, processes, BrokersRecorded(recordings, added))
    left_out.update(answer.counts + Counter({ONLY_A_SLAVE: len(of_slaves)}))
    table = _told(_stamped(table, stamps), answer.told)
    kept = np.ones(len(table), bool)
    kept[[*answer.dropped, *of_slaves]] = False
    table = _with(table.filter(pa.array(kept)), "seq", pa.array(np.arange(int(kept.sum()))))
    return Joined(
        table=table,
        recording=owner[kept],
        row=row[kept],
        recordings=recordings,
        left_out=left_out,
        unrecorded=missing,
        popping={group for group, count in answer.unsent.items() if count >= MANY},
        clocks=clocks,
    )


def _names(recordings: Sequence[Recording]) -> list[str]:
    """Names of the recorders: the process, with its folder and host if processes would have the same name otherwise."""
    whole = [recording.process for recording in recordings]
    folder = commonpath([str(Path(name).parent) for name in whole])
    short = [str(Path(name).relative_to(folder)) for name in whole]
    without = {name: name.split("@")[0] for name in short}
    times = Counter(without.values())
    return [without[name] if times[without[name]] == 1 else name for name in short]


def _numbered(recording: Recording, processes: Processes, name: str) -> pa.Table:
    """The events with the number of their process, and their recorder."""
    table = recording.table
    if not recording.of_broker:
        client = table.column("client").combine_chunks()
        numbers = [processes.number(recording, word) for word in client.dictionary.to_pylist()]
        table = _with(table, "incarnation", pa.array(numbers, pa.int32()).take(client.indices))
    return _with(table, "recorder", pa.array([name] * len(table), pa.string()).dictionary_encode())


def _with(table: pa.Table, name: str, column: Any) -> pa.Table:
    place = ARROW.get_field_index(name)
    return table.set_column(place, ARROW.field(name), column)


def _stamped(table: pa.Table, stamps: Any) -> pa.Table:
    """The events with their final times."""
    known = table.column("micros").is_valid()
    micros = pc.if_else(known, pa.array((stamps % 1000).astype(np.int32)), pa.scalar(None, pa.int32()))
    return _with(_with(table, "time", pa.array(stamps // 1000)), "micros", micros)


def _commits(
    table: pa.Table, stamps: Any, owner: Any, of_slave: Any, recordings: Sequence[Recording]
) -> tuple[list[tuple[int, int, Recording, Event]], list[int]]:
    """Commits and resets with their positions, time stamps and recordings; and the positions of those of slaves."""
    kinds = pa.array([str(Kind.COMMIT), str(Kind.RESET)])
    places = np.flatnonzero(pc.is_in(table.column("kind"), kinds).to_numpy())
    places, of_slaves = places[~of_slave[places]], places[of_slave[places]]
    events = table.take(pa.array(places)).to_pylist()
    halves = [
        (place, int(stamps[place]), recordings[owner[place]], without_nulls(event))
        for place, event in zip(places.tolist(), events, strict=True)
    ]
    return halves, of_slaves.tolist()


def _told(table: pa.Table, told: Mapping[int, Event]) -> pa.Table:
    """The events, completed with what was learnt about some of them, by position."""
    for name in _TOLD:
        known = sorted((place, fields[name]) for place, fields in told.items() if name in fields)
        if not known:
            continue
        type_ = ARROW.field(name).type
        plain = type_.value_type if pa.types.is_dictionary(type_) else type_
        mask = np.zeros(len(table), bool)
        mask[[place for place, _ in known]] = True
        values = pa.array([value for _, value in known], plain)
        column = pc.replace_with_mask(table.column(name).cast(plain).combine_chunks(), pa.array(mask), values)
        table = _with(table, name, column.dictionary_encode() if plain is not type_ else column)
    return table


def _lost(
    recordings: Sequence[Recording],
    killed: Sequence[Event],
    problems: Sequence[Problem],
    missing: Mapping[str, Sequence[str]],
    number: Callable[[str, int], int],
) -> list[Event]:
    """Gaps for what was recorded and cannot be read, and for members that were not recorded. ``number``: that of the
    process of a client id that began last before a time, µs.
    """
    end = max([event["time"] for event in killed] + [int(one.stamps.max()) // 1000 for one in recordings])
    begin = min(int(one.stamps.min()) // 1000 for one in recordings)
    found = [
        gap(begin, end, "not recorded", {"group": group, "client": client, "incarnation": 0})
        for group, clients in missing.items()
        for client in clients
    ]
    found += [
        gap(begin, end, SHARED_UNSEEN, {"group": group, "client": client, "incarnation": 0})
        for client, group in sharing(recordings)
    ]
    found += [
        gap(since, until, CAME_BACK, {"group": group, "client": client, "incarnation": number(client, since * 1000)})
        for (client, group), since, until in continuing(recordings)
    ]
    damaged = Counter(problem.file for problem in problems if problem.kind in _LOSES)
    began = {recording.file: int(recording.stamps.min()) // 1000 for recording in recordings}
    for file, count in sorted(damaged.items()):
        since = began.get(file, begin)
        found.append({**gap(since, end, f"not readable in {Path(file).name}"), "count": count})
    return found
