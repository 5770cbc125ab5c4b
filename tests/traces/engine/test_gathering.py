"""However a trace is read, the same is gathered: at once where that can be done, else carefully."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.coding import COLUMNS, Coder
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine import gathering
from rocketproof.traces.engine.gathering import gather
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.scan import scan
from rocketproof.traces.errors import TraceError
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace, splits
from rocketproof.traces.io.parquet import TIMES_KEY

ROWS = 1_500
"""Events of a row group."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    plan = Plan(
        out=tmp_path_factory.mktemp("made"), messages=3_000, consumers=3, churn=4, resets=1, filtered_rate=0.1, seed=4
    )
    return pq.read_table(simulate(plan).trace)


@pytest.fixture(autouse=True)
def many_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "SPLIT_ROWS", ROWS)


def write(path: Path, table: pa.Table) -> Path:
    pq.write_table(table, path, row_group_size=ROWS)
    return path


def mended(table: pa.Table, column: str, changes: dict[int, Any]) -> pa.Table:
    values = table.column(column).to_pylist()
    for row, value in changes.items():
        values[row] = value
    return table.set_column(table.schema.get_field_index(column), column, pa.array(values))


def is_read_at_once(path: Path) -> bool:
    """Whether one reading was enough; whatever was needed, what is gathered must be what two readings tell."""
    progress: Counter[str] = Counter()

    def note(what: str, more: int) -> None:
        progress[what] += more

    gathered, trace = gather(open_trace([path]), memory=1 << 20, progress=note), open_trace([path])
    expected, names, found = scan(trace), Names(trace.header.groups), Names(trace.header.groups)
    coder = Coder(names)
    coded = [coder.code(batch) for batch in trace.sorted_batches(COLUMNS)]
    assert gathered.scan.events == expected.events == progress["read"]
    for name in ("begin", "end", "evidence", "events"):
        assert getattr(gathered.scan.context, name) == getattr(expected.context, name), name
    parts = list(gathered.events(found, last=True))
    assert (found.slots, found.flags, found.actors) == (names.slots, names.flags, names.actors)
    for name in ("time", "kind", "slot", "actor", "offset", "next", "count", "origin", "attempt", "due"):
        one, other = (np.concatenate([getattr(part, name) for part in some]) for some in (parts, coded))
        assert one.tolist() == other.tolist(), name
    assert list(gathered.events(found, last=True)) == []
    return "put in order" not in progress


def test_files_in_order_are_read_once(table: pa.Table, tmp_path: Path) -> None:
    assert is_read_at_once(write(tmp_path / "trace.parquet", table))
    half = len(table) // 2
    (tmp_path / "two").mkdir()
    write(tmp_path / "two" / "a.parquet", table.slice(0, half))
    write(tmp_path / "two" / "b.parquet", table.slice(half))
    assert is_read_at_once(tmp_path / "two")


def test_files_that_follow_each_other_in_time_are_read_once_whatever_their_names(
    table: pa.Table, tmp_path: Path
) -> None:
    """Files state their times: then the one of the later hour may have the first name."""
    times, half = table.column("time").to_pylist(), len(table) // 2
    half = next(at for at in range(half, len(table)) if times[at] != times[at - 1])
    for name, part in (("a", table.slice(half)), ("b", table.slice(0, half))):
        own = part.column("time").to_pylist()
        metadata = {**table.schema.metadata, TIMES_KEY.encode(): f"{own[0]} {own[-1]}".encode()}
        write(tmp_path / f"{name}.parquet", part.replace_schema_metadata(metadata))
    assert is_read_at_once(tmp_path)


def test_events_out_of_order_are_put_in_order(table: pa.Table, tmp_path: Path) -> None:
    rows = np.random.default_rng(1).permutation(len(table))
    assert not is_read_at_once(write(tmp_path / "mixed.parquet", table.take(pa.array(rows))))
    # A single event at the border of two row groups, and files in the wrong order.
    late = np.arange(len(table))
    late[[ROWS - 1, ROWS]] = late[[ROWS, ROWS - 1]]
    assert not is_read_at_once(write(tmp_path / "border.parquet", table.take(pa.array(late))))
    half = len(table) // 2
    (tmp_path / "two").mkdir()
    write(tmp_path / "two" / "a.parquet", table.slice(half))
    write(tmp_path / "two" / "b.parquet", table.slice(0, half))
    assert not is_read_at_once(tmp_path / "two")


def test_whatever_is_wrong_is_told_as_by_two_readings(table: pa.Table, tmp_path: Path) -> None:
    wrong = mended(mended(table, "offset", {ROWS + 7: -3}), "kind", {40: "not of this version"})
    path = write(tmp_path / "trace.parquet", wrong)
    assert not is_read_at_once(path)
    told, trace = open_trace([path]), open_trace([path])
    gather(told, memory=1 << 20)
    scan(trace)
    for _ in trace.sorted_batches(COLUMNS):
        pass
    assert [str(problem) for problem in told.problems.kept] == [str(problem) for problem in trace.problems.kept]
    assert told.problems.count == 2
    with pytest.raises(TraceError, match="which this version does not know"):
        gather(open_trace([path], strict=True), memory=1 << 20)


def test_stores_and_deliveries_are_counted(table: pa.Table, tmp_path: Path) -> None:
    gathered = gather(open_trace([write(tmp_path / "trace.parquet", table)]), memory=1 << 20)
    kinds = Counter(table.column("kind").to_pylist())
    assert gathered.deliveries == kinds["deliver"]
    messages = sum(stored.messages for stored in gathered.stores().values())
    assert messages == kinds["store"] + kinds["delay_deliver"]


def test_a_trace_without_events_is_an_error(table: pa.Table, tmp_path: Path) -> None:
    place = table.schema.get_field_index("time")
    timeless = table.set_column(place, "time", pa.nulls(len(table), pa.int64()))
    with pytest.raises(TraceError, match="there are no events to check"):
        gather(open_trace([write(tmp_path / "trace.parquet", timeless)]), memory=1 << 20)


def test_the_answer_does_not_depend_on_the_memory_that_is_allowed(table: pa.Table, tmp_path: Path) -> None:
    path = write(tmp_path / "trace.parquet", table)
    one, many = (check_locally(open_trace([path]), settings=Settings(), memory=memory) for memory in (4 << 30, 90_000))
    assert one.engine == "local"
    assert many.engine.startswith("local, in ")
    assert one.verdicts == many.verdicts
    assert one.rows.tolist() == many.rows.tolist()
    assert one.statuses.tolist() == many.statuses.tolist()


def test_what_a_thread_fails_with_is_raised(table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(gathering, "note_stores", fail)
    with pytest.raises(MemoryError, match="no room"):
        gather(open_trace([write(tmp_path / "trace.parquet", table)]), memory=1 << 20)
