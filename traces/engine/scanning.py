"""What the first look at a trace sees: its context, its time range, and which kinds of events were recorded by whom."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..clocks.clocks import Step
from ..clocks.due_times import COLUMNS as OF_DUE_TIMES
from ..clocks.due_times import DueTimes
from ..clocks.observed import COLUMNS as CLOCK_COLUMNS
from ..clocks.observed import Observed
from ..clocks.view import words_of
from ..encoding.columns import Column, arrow_positions, read_only
from ..encoding.context_events import CONTEXT_COLUMNS, FIELDS, ContextEvents
from ..encoding.names import Actor
from ..encoding.plain import plain, restored
from ..format.coverage import AT_BROKER, EVIDENCE_BIT, Hole
from ..format.kinds import CONTEXT, IN_WINDOW, OWNERSHIP, Kind, Result
from ..io import ROWS, SplitReader, Trace
from ..io.source import Source
from ..recorders.set_back import COLUMNS as OF_SET_BACK
from ..recorders.set_back import SET_BACK, steps_back

_FEW = CONTEXT | OWNERSHIP | {Kind.LOCK}

SCAN_COLUMNS = tuple(dict.fromkeys((*CONTEXT_COLUMNS, *CLOCK_COLUMNS, *OF_DUE_TIMES)))
"""Columns that are read before events are judged."""

_OF_A_MESSAGE = (*IN_WINDOW, Kind.COMMIT_MEMORY)
_OF_A_QUEUE = (*_OF_A_MESSAGE, Kind.ASSIGN, Kind.REVOKE, Kind.PULL, Kind.PULL_RESULT)
_OF_A_MEMBER = (Kind.CLIENT_START, Kind.HEARTBEAT, Kind.REBALANCE, Kind.UNREGISTER)
_WHERE = {
    "client": (*_OF_A_QUEUE, *_OF_A_MEMBER),
    "group": (*_OF_A_QUEUE, *_OF_A_MEMBER, Kind.COMMIT),
    "topic": (*_OF_A_QUEUE, Kind.REBALANCE, Kind.COMMIT, Kind.STORE),
    "broker": (*_OF_A_QUEUE, Kind.COMMIT, Kind.STORE),
    "queue": (*_OF_A_QUEUE, Kind.COMMIT, Kind.STORE),
    "offset": (*_OF_A_MESSAGE, Kind.COMMIT, Kind.STORE),
    "result": (Kind.RESULT, Kind.PULL_RESULT, Kind.OFFSET_QUERY, Kind.SEND_BACK, Kind.LOCK),
}
"""Fields that give an event its place, or its outcome; for which kinds of events."""

_MOSTLY = 2
"""A missing place counts as a loss if at least this many events have theirs for each that does not."""

_MOST_PLACELESS = 1_000
"""Maximum number of events without their place that are kept for each file, kind and field, each with its time."""

_MANY, _MANY_RUNS = 1 << 20, 64
"""With more distinct values, or higher process numbers, than these, they are not counted by array position."""

_BITS: Mapping[str | None, int] = {str(kind): bit for kind, bit in EVIDENCE_BIT.items()}


@dataclass
class Scanning:
    """What has been seen so far; several such objects can be joined.

    Attributes:
        events: number of events.
        begin: time of the earliest, ms; ``end``: of the latest.
        kinds: words of the kinds that occur.
        kinds_of: mask of the kinds that occur, by file, group and acting process (a client, or else a broker);
            AT_BROKER marks what is stored there; the group is empty if an event names none.
        context: events of the context, in the order of reading, in parts.
        keeps_seq: whether they have ``seq`` until :meth:`put_in_order`; the batches then have it.
        placed: number of events with the field that gives them their place, by file, kind and field.
        placeless: time and group of those without it.
        sides: sides of causal pairs, by which clocks are compared.
        due_times: due times of brokers compared with the times of their events.
        latest: for each file, the latest time so far, ms.
        unsteady: files whose times go back further than thread delays can explain.
        steps: steps of clocks that were set back in files whose recorders counted their events.
    """

    events: int = 0
    begin: int = 2**63 - 1
    end: int = -(2**63)
    kinds: set[str] = field(default_factory=set)
    kinds_of: dict[tuple[int, str, Actor], int] = field(default_factory=dict)
    context: list[ContextEvents] = field(default_factory=list)
    keeps_seq: bool = False
    placed: Counter[tuple[int, str, str]] = field(default_factory=Counter)
    placeless: dict[tuple[int, str, str], list[tuple[int, str]]] = field(default_factory=dict)
    sides: Observed = field(default_factory=Observed)
    due_times: DueTimes = field(default_factory=DueTimes)
    latest: dict[int, int] = field(default_factory=dict)
    unsteady: set[int] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)

    @classmethod
    def of(cls, trace: Trace) -> Scanning:
        """An empty object for a whole trace or a part of it."""
        return cls(sides=Observed(trace.rows or 0))

    def see(self, batch: pa.RecordBatch, file: int = 0) -> None:
        """Process a batch with the columns :data:`SCAN_COLUMNS`, of the file with a number."""
        if not len(batch):
            return
        self.sides.see(batch)
        self.due_times.see(batch)
        given, batch = batch, batch.select(CONTEXT_COLUMNS)
        kind = batch.column("kind")
        if not pa.types.is_dictionary(kind.type):
            kind = kind.dictionary_encode()
        words, at = kind.dictionary.to_pylist(), Column.of(kind.indices)
        occurring = {word for word, occurs in zip(words, at.occurring(len(words)), strict=True) if occurs and word}
        self.kinds |= occurring
        self._see_kinds(batch, words, at, file)
        self._see_places(given, words, at, file)
        time = Column.of(batch.column("time"))
        self._see_order(time.filled(0, np.int64), file)
        begin, end = time.span()
        self.begin, self.end = min(self.begin, begin), max(self.end, end)
        self.events += len(batch)
        if _FEW.isdisjoint(occurring):
            return
        is_wanted = read_only(np.array([*(word in _FEW for word in words), False], np.uint8))
        wanted = np.flatnonzero(at.looked_up(is_wanted).view(np.bool_))
        if self.keeps_seq:
            batch = batch.append_column("seq", given.column("seq"))
        few = batch.take(arrow_positions(wanted))
        if Kind.LOCK in occurring:
            # Successful locks are requested repeatedly; only the refused ones are compared with rebalance passes.
            got = pc.and_(pc.equal(few.column("kind"), str(Kind.LOCK)), pc.equal(few.column("result"), str(Result.OK)))
            few = few.filter(pc.invert(got.fill_null(False)))
        if len(few):
            self.context.append(ContextEvents.of_batch(few))

    def put_in_order(self, first: int) -> None:
        """Put events of the context in order, from the part ``first`` on, all of one file; there may be none."""
        own = self.context[first:]
        self.context[first:] = [ContextEvents.joined(own).by_time()] if own else []

    def look_again(self, file: int, source: SplitReader | Source) -> None:
        """Read a file again whose times go back, to find out whose clock was set."""
        if file in self.unsteady and source.counted:
            self.steps += steps_back(source.batches(OF_SET_BACK, rows=ROWS))

    def _see_order(self, time: Any, file: int) -> None:
        latest = np.maximum.accumulate(np.maximum(time, self.latest.get(file, time[0])))
        self.latest[file] = int(latest[-1])
        if (latest - time).max() > SET_BACK:
            self.unsteady.add(file)

    def _see_kinds(self, batch: pa.RecordBatch, words: Sequence[str | None], kinds: Column, file: int) -> None:
        of, groups = words_of(batch, "group")
        by, names = words_of(batch, "client")
        clients, runs = len(names) - 1, Column.of(batch.column("incarnation")).filled(0, np.int64)
        if by.max() == clients:  # some have none: a broker acts
            at, brokers = words_of(batch, "broker")
            names, by = [*names[:-1], *brokers], np.where(by == clients, clients + at, by)
        self._see_commits(batch, (groups, of), words, kinds, file)
        numbers, run = (
            (None, runs) if 0 <= runs.min() and runs.max() < _MANY_RUNS else np.unique(runs, return_inverse=True)
        )
        sizes = int(run.max()) + 1, len(groups), len(words)
        found = ((by.astype(np.int64) * sizes[0] + run) * sizes[1] + of) * sizes[2] + kinds.values
        few = len(names) * math.prod(sizes) <= _MANY
        for place in (np.flatnonzero(np.bincount(found)) if few else np.unique(found)).tolist():
            place, kind = divmod(place, sizes[2])
            place, group = divmod(place, sizes[1])
            name, number = divmod(place, sizes[0])
            if words[kind] in _BITS:
                which = number if numbers is None else int(numbers[number])
                key = file, groups[group], Actor(names[name], which if name < clients else -1)
                self.kinds_of[key] = self.kinds_of.get(key, 0) | _BITS[words[kind]]

    def _see_commits(
        self,
        batch: pa.RecordBatch,
        groups: tuple[Sequence[str], Any],
        words: Sequence[str | None],
        kinds: Column,
        file: int,
    ) -> None:
        """Record at which brokers offsets of groups are recorded as stored: a recorder of these need not record
        others.
        """
        if Kind.COMMIT not in words:
            return
        at, brokers = words_of(batch, "broker")
        commits = kinds.values == words.index(Kind.COMMIT)
        for place in np.unique(groups[1][commits].astype(np.int64) * len(brokers) + at[commits]).tolist():
            group, broker = divmod(place, len(brokers))
            key = file, groups[0][group], Actor(brokers[broker], AT_BROKER)
            self.kinds_of[key] = self.kinds_of.get(key, 0) | _BITS[Kind.COMMIT]

    def _see_places(self, batch: pa.RecordBatch, words: Sequence[str | None], kinds: Column, file: int) -> None:
        fields = [name for name in _WHERE if batch.column(name).null_count]
        if not fields:
            return
        asked = [sum((word in _WHERE[name]) << bit for bit, name in enumerate(fields)) for word in words]
        asked_of = kinds.looked_up(read_only(np.array([*asked, 0], np.uint8)))
        for bit, name in enumerate(fields):
            known = _presence(batch.column(name))
            lacks = (asked_of >> bit & 1) > known
            if not lacks.any():
                continue
            there = np.bincount(kinds.values[known], minlength=len(words))
            for code in np.unique(kinds.values[lacks]).tolist():
                key = file, str(words[code]), name
                self.placed[key] += int(there[code])
                kept = self.placeless.setdefault(key, [])
                places = np.flatnonzero(lacks & (kinds.values == code))[: _MOST_PLACELESS - len(kept)]
                of, groups = words_of(batch, "group")
                times = Column.of(batch.column("time")).filled(0, np.int64)[places].tolist()
                kept += zip(times, (groups[at] for at in of[places].tolist()), strict=True)

    def placeless_events(self) -> list[Hole]:
        """Events that may be about any queue or process, of their group if they name one, although nearly all others of
        their kind state it.

        In a recording in which none states it, this is different: there nobody can say whose they are.
        """
        return [
            Hole(since=time, until=time, kinds=_BITS[kind], group=group, why=f"{kind} without {name}")
            for (file, kind, name), times in sorted(self.placeless.items())
            if self.placed[file, kind, name] >= _MOSTLY * len(times)
            for time, group in times
        ]

    def join(self, later: Scanning) -> None:
        """Add what was seen in the trace after this one."""
        self.placed.update(later.placed)
        for lost, times in later.placeless.items():
            kept = self.placeless.setdefault(lost, [])
            kept += times[: _MOST_PLACELESS - len(kept)]
        self.events += later.events
        self.begin, self.end = min(self.begin, later.begin), max(self.end, later.end)
        self.kinds |= later.kinds
        self.context += later.context
        for key, kinds in later.kinds_of.items():
            self.kinds_of[key] = self.kinds_of.get(key, 0) | kinds
        self.sides.join(later.sides)
        self.due_times.join(later.due_times)
        self.unsteady |= later.unsteady
        self.steps += later.steps

    def carried(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What was seen, to be stored: a value that JSON can express, and arrays by name. Of the context, the value has
        what each column may have, and arrays have the numbers of these.
        """
        sides, array = self.sides.carried()
        context = ContextEvents.joined(self.context)
        said = {
            "events": self.events,
            "begin": self.begin,
            "end": self.end,
            "kinds": sorted(self.kinds),
            "kinds_of": [[*key[:2], key[2].name, key[2].incarnation, mask] for key, mask in self.kinds_of.items()],
            "context": context.values,
            "placed": [[*key, count] for key, count in self.placed.items()],
            "placeless": [[*key, [list(one) for one in times]] for key, times in self.placeless.items()],
            "sides": sides,
            "due_times": plain(self.due_times),
            "steps": plain(self.steps),
        }
        return said, {"sides": array, "time": context.times, **dict(zip(FIELDS, context.codes, strict=True))}

    @classmethod
    def carrying(cls, said: Mapping[str, Any], arrays: Mapping[str, Any], files: Sequence[int]) -> Scanning:
        """An object restored from the result of :meth:`carried`; ``files``: the present number of each file."""
        made = cls(
            events=said["events"],
            begin=said["begin"],
            end=said["end"],
            kinds=set(said["kinds"]),
            kinds_of={(files[at], group, Actor(who, run)): mask for at, group, who, run, mask in said["kinds_of"]},
            placed=Counter({(files[at], kind, name): count for at, kind, name, count in said["placed"]}),
            placeless={(files[at], kind, name): times for at, kind, name, times in said["placeless"]},
            sides=Observed.carrying(said["sides"], arrays["sides"]),
            due_times=restored(DueTimes, said["due_times"]),
            steps=restored(list[Step], said["steps"]),
        )
        values = [[tuple(one) if one.__class__ is list else one for one in column] for column in said["context"]]
        made.context = [ContextEvents(arrays["time"], [arrays[name] for name in FIELDS], values)]
        return made


def _presence(column: pa.Array) -> Any:
    """For each value of a column that has missing ones, whether it is present."""
    known = Column.of(column.indices if pa.types.is_dictionary(column.type) else column).known
    return np.unpackbits(known, count=len(column), bitorder="little").view(np.bool_)
