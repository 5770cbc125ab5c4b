"""Parquet: the kit's own files, those of other programs, and damaged ones."""

import datetime
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.header import header_json
from rocketproof.traces.format.schema import ARROW, HEADER_KEY, Header
from rocketproof.traces.io import EXTRA, open_trace
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.io.parquet import is_beside_a_trace
from rocketproof.traces.io.writing import ParquetWriter

from ..recordings import delivery, offsets, rows, told

MARKED = {HEADER_KEY: json.dumps(header_json(Header(source="test")))}


def kit_file(path: Path, count: int, *, group: int = 1_000_000) -> Path:
    with ParquetWriter(path, Header(source="test"), rows_in_group=group) as writer:
        writer.write(batch_of([delivery(number, seq=number) for number in range(count)]))
    return path


def foreign_file(path: Path, *, metadata: dict[str, str] | None = None, **columns: Any) -> Path:
    table = pa.table(columns)
    pq.write_table(table.replace_schema_metadata(MARKED if metadata is None else metadata), path)
    return path


def test_size_and_time_are_known_without_reading(tmp_path: Path) -> None:
    trace = open_trace([kit_file(tmp_path / "a.parquet", 10, group=4)])
    assert (trace.rows, trace.time_range) == (10, (0, 9_000))
    assert trace.header == Header(source="test")


def test_events_come_as_they_were_written(tmp_path: Path) -> None:
    trace = open_trace([kit_file(tmp_path / "a.parquet", 10, group=4)])
    batches = list(trace.batches())
    assert {batch.schema for batch in batches} == {ARROW}
    assert rows(batches) == [delivery(number, seq=number) for number in range(10)]
    assert [len(batch) for batch in trace.batches(rows=3)] == [3, 1, 3, 1, 2]
    assert trace.problems.count == 0


def test_columns_of_other_types_with_the_same_values(tmp_path: Path) -> None:
    stamp = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    path = foreign_file(
        tmp_path / "a.parquet",
        time=pa.array([stamp, stamp], pa.timestamp("us", tz="Asia/Shanghai")),
        kind=pa.array(["deliver", "result"], pa.large_string()),
        client=pa.array(["a", "b"]).dictionary_encode(),
        queue=pa.array([1, None], pa.uint8()),
        offset=pa.array([1, 2], pa.int16()),
        members=pa.array([["x"], None], pa.large_list(pa.large_string())),
        level=pa.nulls(2),
    )
    trace = open_trace([path])
    assert rows(trace.batches()) == [
        {"time": 1767225600000, "kind": "deliver", "client": "a", "queue": 1, "offset": 1, "members": ["x"], "seq": 1},
        {"time": 1767225600000, "kind": "result", "client": "b", "offset": 2, "seq": 2},
    ]
    assert trace.problems.count == 0
    assert trace.time_range is None


def test_impossible_values_are_told_with_their_rows(tmp_path: Path) -> None:
    path = foreign_file(
        tmp_path / "a.parquet",
        time=pa.array([1, None, 3, -4, 5, 6], pa.int64()),
        kind=pa.array(["deliver", "deliver", None, "deliver", "levitate", "deliver"]),
        offset=pa.array([-1, 2, 3, 4, 5, -7], pa.int64()),
        queue=pa.array([2**31, 0, 0, 0, 0, 0], pa.int64()),
        members=pa.array([[], ["a"], [], [], ["a", None], None], pa.list_(pa.string())),
    )
    trace = open_trace([path])
    assert rows(trace.batches()) == [
        {"time": 1, "kind": "deliver", "members": [], "seq": 1},
        {"time": 5, "kind": "levitate", "offset": 5, "queue": 0, "seq": 5},
        {"time": 6, "kind": "deliver", "queue": 0, "seq": 6},
    ]
    assert sorted(told(trace)) == [
        (1, "IMPOSSIBLE"),
        (1, "IMPOSSIBLE"),
        (2, "NO_TIME"),
        (3, "NO_TIME"),
        (4, "IMPOSSIBLE"),
        (4, "NO_TIME"),
        (5, "IMPOSSIBLE"),
        (5, "UNKNOWN_WORD"),
        (6, "IMPOSSIBLE"),
    ]


@pytest.mark.parametrize("columns", [None, ["time"], ["time", "seq"], ["kind", "client"]])
def test_an_event_that_says_wrongly_who_did_it_is_left_out_whatever_is_read(
    tmp_path: Path, columns: list[str] | None
) -> None:
    path = foreign_file(
        tmp_path / "a.parquet",
        time=pa.array([1, 2, 3, 4]),
        kind=pa.array(["deliver"] * 4),
        client=pa.array(["a", "a", "a", None]),
        incarnation=pa.array([0, -1, 2**31, None]),
    )
    trace = open_trace([path])
    assert sum(map(len, trace.batches(columns))) == 2
    what = "incarnation is not from 0 to 2147483647; the event is left out"
    assert [(problem.line, problem.kind.name, problem.what) for problem in trace.problems.kept] == [
        (2, "IMPOSSIBLE", what),
        (3, "IMPOSSIBLE", what),
    ]
    assert [(hole.since, hole.until) for hole in trace.holes()] == [(2, 2), (3, 3)]


def test_clients_that_are_no_utf8_leave_their_events_out(tmp_path: Path) -> None:
    bad = pa.array([b"\xff", b"a", None], pa.binary()).view(pa.string())
    path = foreign_file(tmp_path / "a.parquet", time=pa.array([1, 2, 3]), kind=pa.array(["deliver"] * 3), client=bad)
    trace = open_trace([path])
    assert rows(trace.batches()) == [{"time": 3, "kind": "deliver", "seq": 3}]
    assert told(trace) == [(1, "IMPOSSIBLE")]
    assert trace.problems.kept[0].what.endswith("the event is left out")


def test_problems_are_told_once_for_each_column(tmp_path: Path) -> None:
    path = foreign_file(
        tmp_path / "a.parquet",
        time=pa.array([1, 2, 3], pa.int64()),
        kind=pa.array(["deliver"] * 3),
        offset=pa.array([-1, -1, 3], pa.int64()),
        queue=pa.array([-1, 0, 0], pa.int64()),
    )
    trace = open_trace([path])
    counts = []
    for columns in (["time"], ["offset"], ["offset", "queue"], None):
        list(trace.batches(columns))
        counts.append(trace.problems.count)
    assert counts == [0, 2, 3, 3]


def test_many_problems_are_all_counted(tmp_path: Path) -> None:
    path = foreign_file(
        tmp_path / "a.parquet",
        time=pa.array(range(5_000)),
        kind=pa.array(["deliver"] * 5_000),
        offset=pa.array([-1] * 5_000),
    )
    trace = open_trace([path])
    list(trace.batches())
    list(trace.batches())
    assert trace.problems.count == 5_000
    assert [problem.line for problem in trace.problems.kept] == list(range(1, 1_001))


def test_a_column_of_no_such_type_counts_as_not_known(tmp_path: Path) -> None:
    path = foreign_file(tmp_path / "a.parquet", time=pa.array([1]), kind=pa.array(["deliver"]), offset=pa.array(["7"]))
    trace = open_trace([path])
    assert told(trace) == [(0, "IMPOSSIBLE")]
    assert rows(trace.batches()) == [{"time": 1, "kind": "deliver", "seq": 1}]


def test_texts_that_are_no_utf8_count_as_not_known(tmp_path: Path) -> None:
    bad = pa.array([b"\xff", b"a"], pa.binary()).view(pa.string())
    path = foreign_file(tmp_path / "a.parquet", time=pa.array([1, 2]), kind=pa.array(["deliver"] * 2), key=bad)
    trace = open_trace([path])
    assert rows(trace.batches()) == [{"time": 1, "kind": "deliver", "seq": 1}, {"time": 2, "kind": "deliver", "seq": 2}]
    assert told(trace) == [(1, "IMPOSSIBLE")]


@pytest.mark.parametrize(
    ("metadata", "kind"), [({}, "NO_HEADER"), ({HEADER_KEY: "{"}, "HEADER"), ({HEADER_KEY: "[]"}, "HEADER")]
)
def test_a_header_that_is_missing_or_damaged(tmp_path: Path, metadata: dict[str, str], kind: str) -> None:
    columns = {"time": pa.array([1]), "kind": pa.array(["deliver"])}
    trace = open_trace([foreign_file(tmp_path / "a.parquet", metadata=metadata, **columns)])
    assert told(trace) == [(0, kind)]
    assert len(rows(trace.batches())) == 1


def test_other_columns_are_extra(tmp_path: Path) -> None:
    columns = {"time": pa.array([1, 2]), "kind": pa.array(["deliver"] * 2), "zone": pa.array(["eu", None])}
    path = foreign_file(tmp_path / "a.parquet", **columns, extra=pa.array(['{"a":1}', '{"a":2}']))
    [batch] = open_trace([path]).batches([EXTRA])
    assert batch.column(EXTRA).to_pylist() == ['{"a":1,"zone":"eu"}', '{"a":2}']


def test_a_file_that_breaks_off_is_an_error_alone_and_a_problem_among_others(tmp_path: Path) -> None:
    whole = kit_file(tmp_path / "b.parquet", 3)
    broken = tmp_path / "a.parquet"
    broken.write_bytes(whole.read_bytes()[:-30])
    with pytest.raises(TraceError, match=r"no events can be read\. .*a\.parquet: file cannot be read"):
        open_trace([broken])
    trace = open_trace([tmp_path])
    assert offsets(trace.batches()) == [0, 1, 2]
    assert told(trace) == [(0, "UNREADABLE")]


def test_a_row_group_that_cannot_be_decoded_costs_only_itself(tmp_path: Path) -> None:
    path = kit_file(tmp_path / "a.parquet", 12, group=4)
    column = pq.read_metadata(path).row_group(1).column(ARROW.get_field_index("offset"))
    data = bytearray(path.read_bytes())
    start = column.data_page_offset
    data[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(bytes(data))
    trace = open_trace([path])
    assert offsets(trace.batches()) == [0, 1, 2, 3, 8, 9, 10, 11]
    assert told(trace) == [(5, "UNREADABLE")]


def test_parquet_of_something_else_is_no_trace(tmp_path: Path) -> None:
    path = foreign_file(tmp_path / "a.parquet", time=pa.array([1]), price=pa.array([2.5]))
    with pytest.raises(TraceError, match="no trace: no column kind"):
        open_trace([path])


def test_the_truth_of_the_first_version_is_no_trace(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({name: ["x"] for name in ("what", "mutant", "claim", "cause", "group")}), tmp_path / "a.parquet"
    )
    pq.write_table(pa.table({"what": ["x"], "claim": ["x"]}), tmp_path / "b.parquet")
    assert [is_beside_a_trace(tmp_path / name) for name in ("a.parquet", "b.parquet")] == [True, False]
