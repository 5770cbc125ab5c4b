"""Sorting out: a trace is read once, and the events of each queue, or of each message, are brought together.

They are stored in memory, or in a temporary folder, in buckets that hold the events of several queues each; so only one
bucket is in memory at a time, and one queue as Python objects. Events that concern all queues stay in memory.
"""

from __future__ import annotations

import itertools
import tempfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..format.kinds import BROKER_RUNS, Kind
from ..format.schema import Header
from ..io import Trace
from ..io.temporary import in_temporary_folder
from .events import COLUMNS, NUMBER, Event, events_of
from .streams import OF_LOGS, OF_PROCESSES, Stream, Surroundings, streams_of

ROOM = 256 << 20
"""Bytes of events that are held in memory; more are stored in files."""

BUCKETS = 64
"""Number of buckets if memory is too small for all events."""

_OF_MESSAGES = frozenset({Kind.SEND_BACK, Kind.DELAY_STORE, Kind.DEAD_LETTER})
_NOT_OF_QUEUES = frozenset({*OF_LOGS, Kind.DELAY_STORE, Kind.DEAD_LETTER})
_AROUND = frozenset({*OF_PROCESSES, *BROKER_RUNS, Kind.GAP})

_OF_WINDOWS = frozenset({Kind.ASSIGN, Kind.PULL, Kind.PULL_RESULT, Kind.DELIVER})
_NAME_MEMBERS = frozenset({Kind.MEMBERS, Kind.REBALANCE})


class Spill:
    """Events stored in buckets: those that are equal in some columns are in one bucket, in their order.

    Files are deleted with the context ``cleanup``. With 0 ``buckets``, their number depends on the size.
    """

    def __init__(self, keys: Sequence[str], cleanup: ExitStack, *, buckets: int = 0) -> None:
        self._keys = keys
        self._cleanup = cleanup
        self._buckets = buckets
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self._files: list[list[Path]] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Store further events."""
        if len(batch):
            self._held.append(batch)
            self._size += batch.nbytes
            if self._size > ROOM:
                self._write()

    def buckets(self) -> Iterator[pa.Table]:
        """The events, bucket after bucket; empty buckets are left out."""
        if not self._files:
            for table in self._parts() if self._buckets > 1 else self._tables():
                if len(table):
                    yield table
            return
        if self._held:
            self._write()
        for files in self._files:
            tables = []
            for file in files:
                with pa.OSFile(str(file), "rb") as source, pa.ipc.open_stream(source) as reader:
                    tables.append(reader.read_all())
            if tables:
                yield pa.concat_tables(tables).unify_dictionaries()

    def _tables(self) -> list[pa.Table]:
        return [pa.Table.from_batches(self._held).unify_dictionaries()] if self._held else []

    def _parts(self) -> Iterator[pa.Table]:
        count = self._buckets or BUCKETS
        for table in self._tables():
            bucket = _hashes(table, self._keys) % count
            order = np.argsort(bucket, kind="stable")
            ends = np.searchsorted(bucket[order], np.arange(count + 1))
            for first, end in itertools.pairwise(ends):
                yield table.take(order[first:end])

    def _write(self) -> None:
        with in_temporary_folder():
            if not self._files:
                folder = self._cleanup.enter_context(tempfile.TemporaryDirectory(prefix="rocketproof-"))
                self._folder = Path(folder)
                self._files = [[] for _ in range(self._buckets or BUCKETS)]
            for number, table in enumerate(self._parts()):
                if len(table):
                    path = self._folder / f"{number}-{len(self._files[number])}.arrow"
                    options = pa.ipc.IpcWriteOptions(compression="lz4", unify_dictionaries=True)
                    file = pa.OSFile(str(path), "wb")
                    with file, pa.ipc.new_stream(file, table.schema, options=options) as writer:
                        writer.write_table(table.combine_chunks())
                    self._files[number].append(path)
        self._held, self._size = [], 0


@dataclass
class SortedOut:
    """A trace sorted by queue and by message."""

    queues: Spill  # events of queues, by queue
    messages: Spill  # send-backs, and what is stored for them, by message
    around: list[Event] = field(default_factory=list)  # events that concern several queues
    rebalances: list[Event] = field(default_factory=list)  # rebalance passes
    events: int = 0  # number of events
    end: int = 0  # time of the last one, ms
    passed_over: Counter[str] = field(default_factory=Counter)  # number of those that nobody follows, by reason
    # the members of each group, according to brokers and rebalance passes
    members: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    # the clients that have recorded anything about a queue of a group
    acting: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @property
    def strangers(self) -> dict[str, str]:
        """Groups with a member whose work with queues is not recorded."""
        found = {group: sorted(members - self.acting[group]) for group, members in sorted(self.members.items())}
        return {group: members[0] for group, members in found.items() if members}


def sort_out(
    trace: Trace, cleanup: ExitStack, *, buckets: int = 0, only: frozenset[tuple[str, str, int]] | None = None
) -> SortedOut:
    """Read a trace, and sort its events.

    Args:
        trace: what was recorded.
        cleanup: the context in which temporary files are deleted.
        buckets: minimum number of parts into which the queues are divided.
        only: topic, broker and number of the queues to keep; by default all of them, and messages as well.

    Raises:
        TraceError: there are no events.
    """
    found = SortedOut(
        Spill(("topic", "broker", "queue"), cleanup, buckets=buckets), Spill(("key",), cleanup, buckets=buckets)
    )
    for read in trace.sorted_batches(COLUMNS):
        batch = read.filter(_has(read, frozenset(Kind)))
        numbers = pa.array(np.arange(found.events, found.events + len(batch)), pa.int64())
        batch = batch.append_column(NUMBER, numbers)
        found.events += len(batch)
        found.end = max(found.end, pc.max(read.column("time")).as_py() or 0)
        logs, around = _has(batch, OF_LOGS), _has(batch, _AROUND)
        placed = _all_told(batch, "group", "topic", "queue") & ~_has(batch, _NOT_OF_QUEUES)
        rebalances = _has(batch, frozenset({Kind.REBALANCE})) & ~placed
        messages = _has(batch, _OF_MESSAGES)
        around &= ~placed
        kept = placed | logs
        if only is None:
            found.messages.add(batch.filter(pa.array(messages)))
        else:
            kept &= _is_one_of(batch, only)
        found.queues.add(batch.filter(pa.array(kept)))
        found.around += events_of(batch.filter(pa.array(around)))
        found.rebalances += events_of(batch.filter(pa.array(rebalances)))
        working = batch.filter(pa.array(placed & _has(batch, _OF_WINDOWS)))
        pairs = pa.Table.from_batches([working.select(["group", "client"])]).group_by(["group", "client"]).aggregate([])
        for pair in pairs.to_pylist():
            found.acting[pair["group"]].add(pair["client"] or "")
        named = batch.filter(pa.array(_has(batch, _NAME_MEMBERS) & _all_told(batch, "group", "members")))
        for names in named.select(["group", "members"]).to_pylist():
            found.members[names["group"]].update(names["members"])
        others = ~(placed | logs | around | rebalances | messages)
        for kind, count in Counter(batch.column("kind").filter(pa.array(others)).to_pylist()).items():
            found.passed_over[nothing_to_say(kind)] += count
    return found


def nothing_to_say(kind: str) -> str:
    """Why an event that belongs to no queue is passed over."""
    return f"{kind}: the model of one queue has nothing to say of it"


def queues_in(table: pa.Table) -> Iterator[pa.Table]:
    """The events of one queue after another, each in the order of the trace."""
    keys = np.zeros(len(table), np.int64)
    for name in ("topic", "broker", "queue"):
        codes = _codes(table, name)
        keys = keys * (int(codes.max(initial=0)) + 1) + codes
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    starts = [0, *(np.flatnonzero(np.diff(sorted_keys)) + 1), len(order)]
    for first, end in itertools.pairwise(starts):
        if first < end:
            yield table.take(order[first:end])


def streams_in(found: SortedOut, header: Header, *, most: int | None = None) -> Iterator[Stream]:
    """The recordings of all queues, for each group; queues with more than ``most`` events are left out."""
    around = Surroundings(found.around)
    for bucket in found.queues.buckets():
        for table in queues_in(bucket):
            if most is None or len(table) <= most:
                yield from streams_of(events_of(table), around, header)


def _is_one_of(batch: pa.RecordBatch, queues: frozenset[tuple[str, str, int]]) -> Any:
    words = [f"{topic}\0{broker}\0{number}" for topic, broker, number in sorted(queues)]
    text = [batch.column(name).cast(pa.string()).fill_null("") for name in ("topic", "broker", "queue")]
    told = pc.is_in(pc.binary_join_element_wise(*text, "\0"), value_set=pa.array(words, pa.string()))
    return np.asarray(told.to_numpy(zero_copy_only=False), bool)


def _has(batch: pa.RecordBatch, kinds: frozenset[Kind]) -> Any:
    told = pc.is_in(batch.column("kind").cast(pa.string()), value_set=pa.array(sorted(map(str, kinds))))
    return np.asarray(told.to_numpy(zero_copy_only=False), bool)


def _all_told(batch: pa.RecordBatch, *names: str) -> Any:
    told = np.ones(len(batch), bool)
    for name in names:
        told &= np.asarray(batch.column(name).is_valid().to_numpy(zero_copy_only=False), bool)
    return told


def _words(table: pa.Table, name: str) -> pa.DictionaryArray:
    column = table.column(name).combine_chunks()
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _codes(table: pa.Table, name: str) -> Any:
    """A number for each value of a column; 0 for none."""
    column = _words(table, name)
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
    # An empty word counts as none.
    empty = [at + 1 for at, word in enumerate(column.dictionary.to_pylist()) if word == ""]
    codes[np.isin(codes, empty)] = 0
    return codes


def _hashes(table: pa.Table, names: Sequence[str]) -> Any:
    """The same number for rows with equal columns, in any table."""
    hashes = np.zeros(len(table), np.uint64)
    for name in names:
        column = _words(table, name)
        of_word = [zlib.crc32(str(word).encode()) for word in column.dictionary.to_pylist()]
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        told = np.array([*(0 if word == zlib.crc32(b"") else word for word in of_word), 0], np.uint64)[codes]
        hashes = hashes * np.uint64(1_000_003) + told
    return hashes ^ (hashes >> np.uint64(29))
