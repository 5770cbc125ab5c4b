"""Events whose times their neighbours contradict are left out and told; other clocks, pauses and disorder are not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.format.coverage import Hole, evidence_mask
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.io.splits import read_split
from rocketproof.traces.io.stray_times import AT_THE_END, FAR, strays_of
from rocketproof.traces.io.writing import ParquetWriter

BEGIN = 1_700_000_000_000


def events(*after: int, who: Sequence[str] = ()) -> list[dict[str, Any]]:
    return [
        {"time": BEGIN + time, "kind": "deliver", "client": who[n] if who else "one", "group": "g", "topic": "t"}
        for n, time in enumerate(after)
    ]


def strays(*after: int, who: Sequence[str] = ()) -> list[int]:
    found = events(*after, who=who)
    return [int(at) for at in strays_of([batch_of(found[:2]), batch_of(found[2:])])]


@pytest.mark.parametrize("far", [FAR + 3, AT_THE_END, -BEGIN])
def test_an_event_far_from_both_neighbours_is_one(far: int) -> None:
    assert strays(0, 1, far, 2, 3) == [2]
    assert strays(0, far, 1, 2, 3) == [1]


def test_a_first_or_last_one_is_one_only_when_it_is_years_away() -> None:
    assert strays(-BEGIN, 1, 2, 3, 4) == [0]
    assert strays(0, 1, 2, 3, 3 + AT_THE_END + 1) == [4]
    assert strays(0, 1, 2, 3, 3 + AT_THE_END) == strays(-AT_THE_END, 1, 2, 3, 4)[1:] == []


def test_pauses_and_what_is_in_no_order_are_none() -> None:
    assert strays(0, 1, 2, FAR + 3, FAR + 4) == []
    assert strays(0, 2 * FAR, 1, 2 * FAR, 2, 3) == []
    assert strays(0, FAR, 0, 0) == []
    assert strays(0, 2 * FAR, 1) == []
    assert strays_of([]).tolist() == []


def test_another_recorder_may_go_by_another_clock() -> None:
    assert strays(0, 1, 8 * FAR, 2, 3, who=["one", "one", "two", "one", "one"]) == []
    assert strays(0, 1, 8 * FAR, 2, 3, who=["one", "two", "two", "one", "one"]) == [2]


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in ({"rocketproof_trace": 1}, *lines)))
    return path


def test_it_is_told_with_its_line_and_leaves_a_hole_of_its_kind(tmp_path: Path) -> None:
    trace = open_trace([write(tmp_path / "a.jsonl", *events(0, 5, 2 * FAR, 7, 8))])
    for _ in range(2):
        [batch] = trace.batches(["time", "seq"])
        assert batch.column("seq").to_pylist() == [2, 3, 5, 6]
    told = "time is 2023-11-15 00:13:20 UTC, far from those before and after it; the event is left out"
    (problem,) = trace.problems.kept
    assert (problem.line, problem.kind.name, problem.what) == (4, "STRAY_TIME", told)
    assert trace.holes() == [
        Hole(
            since=BEGIN + 5,
            until=BEGIN + 7,
            kinds=evidence_mask({Kind.DELIVER}),
            group="g",
            topic="t",
            why=f"time that its neighbours contradict: {told}",
            file=str(tmp_path / "a.jsonl"),
            line=4,
        )
    ]


def test_among_damaged_lines_it_is_told_with_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *events(0, 5, 2 * FAR, 7, 8))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], "no JSON\n", *lines[2:]]))
    trace = open_trace([path])
    assert sum(len(batch) for batch in trace.batches(["time"])) == 4
    assert [(problem.line, problem.kind.name) for problem in trace.problems.kept] == [(3, "DAMAGED"), (5, "STRAY_TIME")]


def write_parquet(path: Path, found: list[dict[str, Any]], *, rows_in_group: int = 1_000) -> Path:
    with ParquetWriter(path, Header(), rows_in_group=rows_in_group) as writer:
        writer.write(batch_of(found))
    return path


@pytest.mark.parametrize("rows", [1, 2, 100])
@pytest.mark.parametrize("columns", [["time", "seq"], ["offset", "seq"]])
def test_parquet_tells_the_same(rows: int, columns: list[str], tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", events(0, 5, 2 * FAR, 7, 8))
    trace = open_trace([path])
    for _ in range(2):
        read = [seq for batch in trace.batches(columns, rows=rows) for seq in batch.column("seq").to_pylist()]
        assert read == [1, 2, 4, 5]
    (problem,) = trace.problems.kept
    assert (problem.line, problem.kind.name) == (3, "STRAY_TIME")
    (hole,) = trace.holes()
    assert (hole.since, hole.until, hole.line) == (BEGIN + 5, BEGIN + 7, 3)
    assert (hole.kinds, hole.group) == (evidence_mask({Kind.DELIVER}), "g")
    (split,) = trace.splits()
    reader = read_split(split)
    assert sum(len(batch) for batch in reader.batches(["time"], rows=rows)) == 4
    assert [problem.line for problem in reader.problems.kept] == [3]


@pytest.mark.parametrize("rows", [2, 3, 5, 100])
@pytest.mark.parametrize("at", range(6))
def test_parquet_finds_one_wherever_its_batch_ends(at: int, rows: int, tmp_path: Path) -> None:
    times = list(range(6))
    times[at] = -BEGIN
    trace = open_trace([write_parquet(tmp_path / "a.parquet", events(*times))])
    read = [seq for batch in trace.batches(["time", "seq"], rows=rows) for seq in batch.column("seq").to_pylist()]
    assert read == [seq for seq in range(1, 7) if seq != at + 1]


def test_parquet_knows_other_recorders_and_passes_rows_without_a_time(tmp_path: Path) -> None:
    others = events(0, 1, 8 * FAR, 2, 3, who=["one", "one", "two", "one", "one"])
    trace = open_trace([write_parquet(tmp_path / "others.parquet", others)])
    assert (sum(len(batch) for batch in trace.batches(["kind"])), trace.problems.count) == (5, 0)
    timeless = events(2, 3, 0, 9 * FAR, 4, 5)
    timeless[2]["time"] = None
    trace = open_trace([write_parquet(tmp_path / "timeless.parquet", timeless)])
    assert sum(len(batch) for batch in trace.batches(["kind"])) == 4
    assert [(problem.line, problem.kind.name) for problem in trace.problems.kept] == [(3, "NO_TIME"), (4, "STRAY_TIME")]
    assert [(hole.since - BEGIN, hole.until - BEGIN) for hole in trace.holes()] == [(3, 4)] * 2


def test_neighbours_may_be_in_other_row_groups(tmp_path: Path) -> None:
    found = events(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    for at in (4, 9):
        found[at]["time"] = None
    trace = open_trace([write_parquet(tmp_path / "a.parquet", found, rows_in_group=5)])
    assert sum(len(batch) for batch in trace.batches(["kind"])) == 8
    assert [(hole.since, hole.until) for hole in trace.holes()] == [(BEGIN + 3, BEGIN + 5), (BEGIN + 8, 2**62)]
