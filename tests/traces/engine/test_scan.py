"""The first look at a trace: that it tells the same of row groups side by side as of one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketproof.traces.encoding.coding import COLUMNS
from rocketproof.traces.encoding.names import Actor
from rocketproof.traces.engine.scan import scan
from rocketproof.traces.engine.scanning import Scanning
from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.coverage import evidence_mask
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import HEADER_KEY
from rocketproof.traces.io import Trace, open_trace, splits

from ..recordings import HEADER, delivery, write

LINES = 4
"""Events of a row group."""


def damaged(path: Path) -> Path:
    """Three row groups: in each the members of an event have a hole; the last has an impossible offset too."""
    rows: list[dict[str, Any]] = []
    for place in range(3 * LINES):
        rows.append({"time": 1_000 + place, "kind": "heartbeat", "client": "c", "members": ["c"], "offset": 7})
    for place in range(0, 3 * LINES, LINES):
        rows[place]["members"] = ["c", None]
    rows[-1]["offset"] = -9
    table = pa.Table.from_pylist(rows).replace_schema_metadata({HEADER_KEY: '{"rocketproof_trace": 1}'})
    pq.write_table(table, path, row_group_size=LINES)
    return path


def problems_after_all(trace: Trace) -> list[str]:
    scan(trace)
    first = [str(problem) for problem in trace.problems.kept]
    for _ in trace.sorted_batches(COLUMNS):
        pass
    for _ in trace.batches():  # stories read everything
        pass
    assert trace.problems.count == len(trace.problems.kept)
    told = [str(problem) for problem in trace.problems.kept]
    assert told[: len(first)] == first
    return told


def test_problems_are_told_once_and_wherever_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = damaged(tmp_path / "trace.parquet")
    one_after_the_other = problems_after_all(open_trace([path]))
    hole = "impossible value: members has a null in it; it counts as not known"
    assert one_after_the_other[:3] == [f"{path}:{row}: {hole}" for row in (1, 5, 9)]
    assert len(one_after_the_other) == 4
    assert one_after_the_other[3].startswith(f"{path}:12: impossible value: offset is not from 0 to ")

    monkeypatch.setattr(splits, "SPLIT_ROWS", LINES)
    trace = open_trace([path])
    assert len(trace.splits()) == 3
    assert problems_after_all(trace) == one_after_the_other
    assert [hole.line for hole in trace.holes()] == [1, 5, 9, 12]


def test_the_first_problem_is_an_error_if_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "SPLIT_ROWS", LINES)
    path = damaged(tmp_path / "trace.parquet")
    with pytest.raises(TraceError, match=r"trace\.parquet:1: impossible value: members has a null in it"):
        scan(open_trace([path], strict=True))


@pytest.mark.parametrize("name", ["client", "group", "broker", "queue", "offset"])
def test_an_event_without_its_place_is_a_hole_where_others_have_one(name: str, tmp_path: Path) -> None:
    """A damaged name of a field is a field that the schema does not know."""
    events = [delivery(number) for number in range(1, 13)]
    events[5][name + "-x"] = events[5].pop(name)
    (hole,) = scan(open_trace([write(tmp_path / "one.jsonl", HEADER, *events)])).holes
    assert (hole.since, hole.until, hole.kinds) == (6_000, 6_000, evidence_mask([Kind.DELIVER]))
    assert (str(hole), hole.group) == (f"deliver without {name}", "" if name == "group" else "g")
    for event in events:
        event.pop(name, None)
    assert scan(open_trace([write(tmp_path / "all.jsonl", HEADER, *events)])).holes == []


@pytest.mark.parametrize("lines", [[3, 0, 2, 1], [3, 2, 1, 0], [0, 1, 2, 3]])
@pytest.mark.parametrize("group", [0, 2])
def test_events_of_one_moment_are_in_the_order_of_their_numbers(lines: list[int], group: int, tmp_path: Path) -> None:
    kinds = ["client_start", "heartbeat", "rebalance", "unregister"]
    rows = [{"time": 1_000, "seq": at, "kind": kinds[at], "client": "c", "group": "g"} for at in lines]
    if group:
        path = tmp_path / "a.parquet"
        table = pa.Table.from_pylist(rows).replace_schema_metadata({HEADER_KEY: '{"rocketproof_trace": 1}'})
        pq.write_table(table, path, row_group_size=group)
    else:
        path = write(tmp_path / "a.jsonl", HEADER, *rows)
    found = scan(open_trace([path])).context.events
    assert [event["kind"] for event in found] == kinds
    assert "seq" not in found[0]


def test_what_two_parts_saw_is_joined() -> None:
    one, two, both = Scanning(begin=5, end=9), Scanning(begin=3, end=7), (0, "G", Actor("c"))
    one.kinds_of, two.kinds_of = {both: 4}, {both: 2, (1, "G", Actor("c")): 8}
    one.events, two.events, one.kinds, two.kinds = 2, 3, {"pull"}, {"store"}
    one.join(two)
    assert (one.events, one.begin, one.end, one.kinds) == (5, 3, 9, {"pull", "store"})
    assert one.kinds_of == {both: 6, (1, "G", Actor("c")): 8}
