"""Events of overlapping blocks come in order, and few of them are held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.spark.blocks import CHUNK_ROWS, Chunk, Packer, Row, unpacked
from rocketproof.spark.judging import Told
from rocketproof.spark.order import ENOUGH, InOrder, by_key
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.coding import TYPES, Coded, Coder
from rocketproof.traces.encoding.columns import Chosen
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Names, Slot
from rocketproof.traces.encoding.packing import opened, pack
from rocketproof.traces.encoding.store_counts import Stored
from rocketproof.traces.engine.context import Context
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import ABSENT
from rocketproof.traces.io.time_order import TimeOrder
from rocketproof.traces.monitors.messages.messages import MessageEvents, MessageFold
from rocketproof.traces.monitors.queues.queue_events import QueueEvents
from rocketproof.traces.monitors.queues.queues import QueueFold


def batch(time: Any, *, queue: Any = 0, seq: Any = None) -> pa.RecordBatch:
    """Deliveries at these times; the offset of each tells its place."""
    count = len(time)
    columns = {
        "time": pa.array(np.asarray(time, np.int64)),
        "kind": pa.array([str(Kind.DELIVER)] * count).dictionary_encode(),
        "client": pa.array(["c"] * count).dictionary_encode(),
        "group": pa.array(["g"] * count).dictionary_encode(),
        "topic": pa.array(["t"] * count).dictionary_encode(),
        "broker": pa.array(["b"] * count).dictionary_encode(),
        "queue": pa.array(np.broadcast_to(np.asarray(queue, np.int32), count).copy()),
        "offset": pa.array(np.arange(count)),
        "origin": pa.array(np.arange(1, count + 1)),
        "attempt": pa.array(np.zeros(count, np.int32)),
    }
    if seq is not None:
        columns["seq"] = pa.array(np.asarray(seq, np.int64))
    return pa.RecordBatch.from_pydict(columns)


def as_it_is(coded: Coded, number: int) -> Coded:
    """The codes of a single task."""
    return coded


def through(chunks: Sequence[Chunk], *, part: int = 0, parts: int = 1) -> tuple[list[tuple[int, int]], InOrder]:
    """Time and offset of the events of a partition, as they come out."""
    packer = Packer(0, parts=parts, groups={})
    rows = by_key(row for row in packer.rows(chunks) if row[0][0] == part)
    in_order = InOrder((first, unpacked(place, seal, as_it_is)) for (_, first, place), seal in rows)
    return [(int(t), int(o)) for coded in in_order for t, o in zip(coded.time, coded.offset, strict=True)], in_order


files = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=12), min_size=1, max_size=4
)


@given(files)
def test_the_order_is_time_file_seq_place(drawn: list[list[tuple[int, int]]]) -> None:
    chunks, expected = [], []
    for file, events in enumerate(drawn):
        time, seq = zip(*events, strict=True)
        chunks.append(Chunk(file, file, batch(time, seq=seq)))
        expected += [(t, file, s, place) for place, (t, s) in enumerate(events)]
    given_out, _ = through(chunks)
    assert given_out == [(t, place) for t, _, _, place in sorted(expected)]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 30))
def test_without_seq_events_of_one_time_stay_as_they_stand(time: list[int], cut: int) -> None:
    whole = batch(time)
    chunks = [Chunk(0, at // cut, whole.slice(at, cut)) for at in range(0, len(time), cut)]
    given_out, _ = through(chunks)
    assert given_out == sorted((t, place) for place, t in enumerate(time))


def order(events: list[tuple[int, int]], cut: int) -> TimeOrder:
    seen = TimeOrder()
    for at in range(0, len(events), cut):
        part = TimeOrder()
        time, seq = zip(*events[at : at + cut], strict=True)
        part.see(pa.RecordBatch.from_pydict({"time": pa.array(time), "seq": pa.array(seq)}))
        seen.join(part)
    return seen


@pytest.mark.parametrize("cut", [1, 2, 10])
@pytest.mark.parametrize(
    ("events", "needs"),
    [([(1, 5), (1, 6), (2, 0)], False), ([(2, 1), (1, 2)], False), ([(1, 6), (1, 5)], True),
     ([(1, 6), (2, 5), (1, 4)], True)],
)  # fmt: skip
def test_seq_is_needed_where_sorting_by_time_alone_is_wrong(
    events: list[tuple[int, int]], needs: bool, cut: int
) -> None:
    assert order(events, cut).needs_seq is needs


def sorted_file(count: int) -> Iterator[Chunk]:
    for at in range(0, count, CHUNK_ROWS):
        yield Chunk(0, at // CHUNK_ROWS, batch(np.arange(at, min(count, at + CHUNK_ROWS)) // 7))


def test_a_hot_queue_is_not_held_as_a_whole() -> None:
    given_out, in_order = through(list(sorted_file(2 * CHUNK_ROWS)))
    assert len(given_out) == 2 * CHUNK_ROWS
    assert [time for time, _ in given_out] == sorted(time for time, _ in given_out)
    # What is waited for, and of the blocks before what is as late as the next one begins.
    assert in_order.most_held == ENOUGH + 6


def test_of_a_file_in_no_order_only_blocks_that_overlap_are_held() -> None:
    random = np.random.default_rng(1)
    chunks = [Chunk(0, at, batch(random.integers(0, 10**9, CHUNK_ROWS))) for at in range(4)]
    given_out, in_order = through(chunks)
    times = [time for time, _ in given_out]
    assert times == sorted(times)
    assert in_order.most_held <= len(times) // 8


def test_queues_of_a_topic_are_dealt_out_evenly() -> None:
    # Half of the events are of queue 7, the others of all 64 queues in turn.
    queue = np.where(np.arange(6400) < 3200, 7, np.arange(6400) % 64)
    chunks = [Chunk(0, 0, batch(np.arange(6400), queue=queue))]
    counts = [len(through(chunks, part=part, parts=4)[0]) for part in range(4)]
    assert sorted(counts) == [800, 800, 800, 3200 + 800]


@pytest.mark.parametrize("memory", [0, 100, 1 << 20])
def test_rows_that_do_not_fit_into_memory_come_in_order_too(memory: int) -> None:
    rows: list[Row] = [((0, first, place), bytes([first]) * (70 + place)) for place, first in enumerate((3, 1, 2, 1))]
    assert list(by_key(rows, memory=memory)) == [rows[1], rows[3], rows[2], rows[0]]


def test_a_block_holds_what_was_coded() -> None:
    packer = Packer(4, parts=1, groups={})
    given = batch([5, 3, 4])
    coded = Coder(Names()).code(given)
    rows = list(packer.rows([Chunk(2, 9, given)]))
    assert [key for key, _ in rows] == [(0, 3, 9 << 32), (1, 3, (9 << 32) + 1)]
    numbers = []
    block = unpacked(rows[0][0][2], rows[0][1], lambda coded, number: numbers.append(number) or coded)
    assert (block.file, block.seq, numbers) == (2, None, [4])
    for name in ("time", "offset", "origin", "attempt", "kind", "slot", "actor", "count", "next"):
        assert getattr(block.coded, name).tolist() == getattr(coded, name)[[1, 2, 0]].tolist(), name
        assert getattr(block.coded, name).dtype == getattr(coded, name).dtype, name
    assert [str(slot) for slot in packer.names.slots] == ["t@b:0 of g"]


@pytest.mark.parametrize("rows", [1, 3, 7])
def test_packed_events_can_be_read_in_pieces(rows: int) -> None:
    """Columns with all values, with some that are absent, and with few values."""
    coded = Coder(Names()).code(
        batch(range(70, 77))
        .append_column("count", pa.array([None, 5, 6, 7, None, 9, 9], pa.int32()))
        .append_column("next", pa.array([None, None, None, 8, None, None, None], pa.int64()))
    )
    packed = pack({name: Chosen.of(getattr(coded, name), np.arange(len(coded)), ABSENT) for name in TYPES})
    for name in TYPES:
        parts = [getattr(events, name) for events in packed.unpack(rows)]
        assert np.concatenate(parts).tolist() == getattr(coded, name).tolist(), name


def test_messages_that_are_stored_are_counted_and_go_to_the_partitions_of_their_queue_and_of_them() -> None:
    packer = Packer(0, parts=2, groups={})
    store = batch([1, 2]).set_column(1, "kind", pa.array([str(Kind.STORE)] * 2).dictionary_encode())
    store = store.set_column(3, "group", pa.nulls(2, pa.dictionary(pa.int32(), pa.string())))
    assert [key for key, _ in packer.rows([Chunk(0, 0, store)])] == [(1, 1, 0), (3, 1, 1)]
    key, told = Told.row(packer)
    assert (key, opened(told).stores) == ((4, 0, 0), {Slot("", "t", "b", 0): Stored(2, 1, 2, 0, 1)})


@pytest.mark.parametrize(("fold", "read"), [(QueueFold, QueueEvents._fields), (MessageFold, MessageEvents._fields)])
def test_columns_that_are_not_sent_are_not_read(fold: Any, read: tuple[str, ...]) -> None:
    names = Names()
    coded = Coder(names).code(batch([1, 2, 3]))
    context = Context.of(ContextEvents.of(()), begin=1, end=3, evidence=0)
    monitor = fold(names=names, settings=Settings(), context=context)
    sent = copy(coded)
    for name in set(TYPES) - set(read):
        object.__setattr__(sent, name, None)
    monitor.feed(sent)
    expected = fold(names=names, settings=Settings(), context=context)
    expected.feed(coded)
    assert monitor.finish().judged.tolist() == expected.finish().judged.tolist()
