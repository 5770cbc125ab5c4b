"""Blocks: events in a shuffle, many in one row.

Spark moves rows. Moving one row per event costs more than checking it, so a task codes the events that it has read, and
packs those of one partition into blocks: packed as in the embedded engine, compressed, in one binary value, with the
codes of the task. What these codes stand for, and what is only counted, is a row for a partition of its own, from which
the driver takes it before the blocks are judged.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ..machine_code.compiled import entry
from ..traces.encoding.coding import TYPES, Coded, Coder
from ..traces.encoding.columns import Chosen, Column, filled_together
from ..traces.encoding.names import OF_A_TOPIC, Actor, Names, Slot
from ..traces.encoding.packing import Packed, opened, pack, sealed
from ..traces.encoding.store_counts import StoreCounts, note_stores
from ..traces.format.kinds import Kind, codes
from ..traces.format.schema import ABSENT, Group
from ..traces.monitors.messages import messages
from ..traces.monitors.messages.messages import MessageEvents
from ..traces.monitors.queues import queues
from ..traces.monitors.queues.queue_events import QueueEvents
from ..traces.monitors.steps.fold import STORES

CHUNK_ROWS = 1 << 20
"""Number of events that a task reads before it packs them."""

BLOCK_ROWS = 1 << 16
"""Maximum number of events in a block. Small blocks cover short times, so few of them overlap if files are not in
order.
"""

Key = tuple[int, int, int]
"""Target partition, time of the first event (ms), order of reading."""

Row = tuple[Key, bytes]
"""A row of the shuffle: a sealed block, or in partitions after those of events what was told about them."""

_MIX = np.uint64(0x9E3779B97F4A7C15)
_OF_QUEUES = np.zeros(256, np.bool_)
_OF_QUEUES[[code for kind, code in codes(Kind).items() if kind in queues.KINDS]] = True
_STORES = np.zeros(256, np.bool_)
_STORES[[codes(Kind)[kind] for kind in STORES]] = True


class Chunk(NamedTuple):
    """What a task has read at a time.

    Attributes:
        file: its position among the files of the trace.
        split: its position in the order of all reading.
        batch: events with the columns of the schema that coding reads, and with ``seq`` only if the file is not in that
            order, see :mod:`.order`.
    """

    file: int
    split: int
    batch: pa.RecordBatch


@dataclass(frozen=True, kw_only=True)
class Block:
    """Events of one file in the order of time.

    Attributes:
        place: position in the order of all reading.
        file: position of the file.
        coded: the events, in the codes of the partition.
        seq: their order among events of the file with the same time; None: as they are.
    """

    place: int
    file: int
    coded: Coded
    seq: Any


class Packer:
    """Makes rows of events: for each queue in partitions 0 … parts - 1, for each message in the ``parts`` after
    these.

    Args:
        number: number of the task.
        parts: number of partitions for either key.
        groups: what is known about groups, which decides whether clients have queues of their own.

    Attributes:
        number: that of the task; ``parts``: of partitions.
        names: names of queues and processes, for which the codes in its blocks stand.
        stores: how many messages were stored in each queue, and where the last one was.
    """

    def __init__(self, number: int, *, parts: int, groups: Mapping[str, Group]) -> None:
        self.number, self.parts = number, parts
        self.names = Names(groups)
        self._coder = Coder(self.names)
        self._of_slot: list[int] = []
        self._of_group: list[bool] = []
        self.stores = StoreCounts()
        self._positions: dict[int, int] = {}

    def rows(self, chunks: Iterable[Chunk]) -> Iterator[Row]:
        """Events as blocks, one in each row."""
        for file, split, coded, seq in self._gathered(chunks):
            note_stores(coded.kind, coded.slot, coded.offset, coded.time, names=self.names, stores=self.stores)
            coded, seq = _by_time(coded, seq)
            for keys, first, read in (
                (self._by_queue(coded), 0, QueueEvents._fields),
                (self._by_message(coded), self.parts, MessageEvents._fields),
            ):
                for part, places in enumerate(_parted(keys, self.parts)):
                    for begin in range(0, len(places), BLOCK_ROWS):
                        some = places[begin : begin + BLOCK_ROWS]
                        key = first + part, int(coded.time[some[0]]), self._place(split)
                        yield key, sealed((self.number, file, _packed(coded, seq, some, read)))

    def _gathered(self, chunks: Iterable[Chunk]) -> Iterator[tuple[int, int, Coded, Any]]:
        """Coded chunks of a file, combined up to about CHUNK_ROWS events."""
        waiting: list[tuple[Chunk, dict[str, Column]]] = []
        count = 0
        for chunk in chunks:
            if not len(chunk.batch):
                continue
            if waiting and (count >= CHUNK_ROWS or chunk[:2] != waiting[0][0][:2]):
                yield _together(waiting)
                waiting, count = [], 0
            waiting.append((chunk, self._coder.columns(chunk.batch)))
            count += len(chunk.batch)
        if waiting:
            yield _together(waiting)

    def _by_queue(self, coded: Coded) -> Any:
        for code in range(len(self._of_slot), len(self.names.slots)):
            self._of_slot.append(_part_of(self.names.slots[code], self.parts))
            self._of_group.append(self.names.flags[code] & OF_A_TOPIC == 0)
        is_wanted = _OF_QUEUES[coded.kind] & (np.array([*self._of_group, False])[coded.slot] | _STORES[coded.kind])
        return np.where(is_wanted, np.array([*self._of_slot, -1], np.int32)[coded.slot], -1)

    def _by_message(self, coded: Coded) -> Any:
        hashed = (coded.origin.view(np.uint64) * _MIX) >> np.uint64(40)
        return np.where(messages.wanted(coded), (hashed % np.uint64(self.parts)).astype(np.int32), -1)

    def _place(self, split: int) -> int:
        number = self._positions[split] = self._positions.get(split, -1) + 1
        return (split << 32) + number


def unpacked(place: int, seal: bytes, code: Callable[[Coded, int], Coded]) -> Block:
    """A block; ``code`` changes the codes of a task with a number to those of the partition."""
    number, file, packed = opened(seal)
    (coded,) = packed.unpack(packed.length)
    return Block(place=place, file=file, coded=code(coded, number), seq=packed.column("seq"))


def _packed(coded: Coded, seq: Any, order: Any, read: Sequence[str]) -> Packed:
    """The events at some positions, only with the columns that are read."""
    columns: dict[str, Column | Chosen] = {
        name: Chosen.of(getattr(coded, name), order, ABSENT) if name in read else Column.none(len(order), type_)
        for name, type_ in TYPES.items()
    }
    if seq is not None:
        columns["seq"] = Column.whole(seq[order])
    return pack(columns)


def tuple_of(named: Slot | Actor) -> tuple[str | int, ...]:
    """The fields of a name, as they are sent."""
    if isinstance(named, Actor):
        return named.name, named.incarnation
    return named.group, named.topic, named.broker, named.queue, named.client, named.member


def joined(parts: Sequence[Coded]) -> Coded:
    """Several sets of events, concatenated."""
    if len(parts) == 1:
        return parts[0]
    return Coded(**{name: np.concatenate([getattr(coded, name) for coded in parts]) for name in TYPES})


def taken(coded: Coded, chosen: Any) -> Coded:
    """The events at some positions, or in a slice."""
    return Coded(**{name: getattr(coded, name)[chosen] for name in TYPES})


def _together(waiting: Sequence[tuple[Chunk, dict[str, Column]]]) -> tuple[int, int, Coded, Any]:
    chunk, seq = waiting[0][0], None
    if "seq" in chunk.batch.schema.names:
        seq = np.concatenate([one.batch.column("seq").to_numpy(zero_copy_only=False) for one, _ in waiting])
    coded = Coded(
        **{
            name: filled_together([columns[name] for _, columns in waiting], ABSENT, type_)
            for name, type_ in TYPES.items()
        }
    )
    return chunk.file, chunk.split, coded, seq


def _by_time(coded: Coded, seq: Any) -> tuple[Coded, Any]:
    """Events by time, then by ``seq`` if it matters, otherwise in their order."""
    if seq is None:
        if np.all(coded.time[1:] >= coded.time[:-1]):
            return coded, None
        return taken(coded, np.argsort(coded.time, kind="stable")), None
    order = np.lexsort((seq, coded.time))
    return taken(coded, order), seq[order]


def _part_of(slot: Slot, parts: int) -> int:
    """Queues of a topic are assigned one by one, so that each partition gets its share."""
    name = "\0".join((slot.group, slot.topic, slot.broker, slot.client))
    return (zlib.crc32(name.encode()) + slot.queue) % parts


def _parted(keys: Any, parts: int) -> list[Any]:
    """The positions of the events of each partition, in their order; events with a negative key belong to none."""
    ends, order = np.zeros(parts + 2, np.int64), np.empty(len(keys), np.int64)
    _sort(keys, ends, order)
    return np.split(order, ends[:-2])[1:]


@entry
def _sort(keys: Any, ends: Any, order: Any) -> None:
    for i in range(len(keys)):
        ends[keys[i] + 2] += 1
    for part in range(2, len(ends)):
        ends[part] += ends[part - 1]
    for i in range(len(keys)):
        order[ends[keys[i] + 1]] = i
        ends[keys[i] + 1] += 1
