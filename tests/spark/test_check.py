"""Spark and the local engine say the same of the same files."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.spark import check, check_with_spark, judging
from rocketproof.spark.check import Looked, _look
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.errors import TraceError
from rocketproof.traces.generate.simulation import MUTANTS, Plan, simulate
from rocketproof.traces.io import open_trace, splits

from .engines import both

HEADER = {"rocketproof_trace": 1, "evidence": ["deliver", "result", "store"], "groups": {"g": {}}}


def simulated(folder: Path, **options: Any) -> Path:
    plan = {"messages": 2_000, "consumers": 3, "queues": 8, "rows": 4_096, **options}
    return simulate(Plan(out=folder, **plan)).trace


def by_client(trace: Path, folder: Path, *, shuffled: bool) -> list[Path]:
    """The same events, one JSONL file for each client, and one for what no client does."""
    files: dict[str, list[str]] = {}
    for event in pq.read_table(trace).to_pylist():
        kept = {name: value for name, value in event.items() if value is not None}
        files.setdefault(event["client"] or "broker", []).append(json.dumps(kept))
    header = json.loads(pq.read_schema(trace).metadata[b"rocketproof.header"])
    paths = []
    for name, lines in sorted(files.items()):
        if shuffled:
            random.Random(name).shuffle(lines)
        paths.append(folder / f"{name.replace('@', '-')}.jsonl")
        paths[-1].write_text("\n".join([json.dumps(header), *lines, ""]))
    return paths


def test_a_correct_cluster(spark: Any, tmp_path: Path) -> None:
    result = both([simulated(tmp_path, churn=4, resets=1, seed=1)], spark)
    assert not [one for one in result.verdicts if one.verdict is Verdict.VIOLATED]
    assert result.verdict("every-duplicate-has-a-cause").verdict is Verdict.HOLDS


def test_files_in_order_are_read_once(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is seen of them for the context, and their packed events, come from one reading."""
    looks: list[int] = []

    look_at = check.look_at

    def counted(*given: Any, **options: Any) -> list[Looked]:
        looks.append(1)
        return look_at(*given, **options)

    monkeypatch.setattr(check, "look_at", counted)
    trace = simulated(tmp_path / "whole", messages=300)
    both([trace], spark)
    assert not looks
    table = pq.read_table(trace)
    pq.write_table(table.take([1, 0, *range(2, len(table))]), tmp_path / "turned.parquet")
    both([tmp_path / "turned.parquet"], spark)
    assert len(looks) == 1


@pytest.mark.parametrize("counted", [True, False])
def test_an_event_that_is_repeated_where_two_splits_meet_counts_once(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counted: bool
) -> None:
    monkeypatch.setattr(splits, "SPLIT_ROWS", 1)  # each row group is a split
    events = pq.read_table(simulated(tmp_path, messages=100)).sort_by([("time", "ascending"), ("seq", "ascending")])
    events = events.replace_schema_metadata(pq.read_schema(tmp_path / "trace.parquet").metadata)
    at = next(at for at, event in enumerate(events.to_pylist()) if event["kind"] == "deliver")
    events = events if counted else events.drop_columns(["seq"])
    with pq.ParquetWriter(tmp_path / "repeated.parquet", events.schema) as writer:
        for part in (events.slice(0, at + 1), events.slice(at)):
            writer.write_table(part)
    assert len(open_trace([tmp_path / "repeated.parquet"]).splits()) == 2
    assert both([tmp_path / "repeated.parquet"], spark).events == len(events)


def test_groups_are_judged_by_tasks(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two groups with one broker, one of which has two processes with one client id."""
    files = [simulated(tmp_path / name, mutant=name, messages=300, churn=4) for name in ("A1", "")]
    events = pq.read_table(files[1]).to_pylist()
    for event in events:
        for name in ("client", "group", "topic"):
            event[name] = event[name] and f"{event[name]}2"
        event["members"] = event["members"] and [f"{member}2" for member in event["members"]]
        event["subscriptions"] = event["subscriptions"] and [
            f"{text[:6]}2{text[6:]}" for text in event["subscriptions"]
        ]
    schema = pq.read_schema(files[1])
    pq.write_table(pa.Table.from_pylist(events, schema=schema), tmp_path / "second.parquet")
    monkeypatch.setattr(judging, "GroupMonitor", None)  # in this process
    result = both([files[0], tmp_path / "second.parquet"], spark)
    clash = result.verdict("one-process-for-each-client-id")
    assert (clash.verdict, clash.violated, clash.judged) == (Verdict.VIOLATED, 1, 8)
    assert len(result.coverage.groups) == 2


def test_a_known_bug(spark: Any, tmp_path: Path) -> None:
    result = both([simulated(tmp_path, mutant="B2")], spark)
    found = result.verdict("offset-never-back-without-cause")
    assert (found.verdict, found.violated) == (Verdict.VIOLATED, 3)


def test_a_message_that_comes_where_another_one_was_stored(spark: Any, tmp_path: Path) -> None:
    place = {"topic": "t", "broker": "b", "queue": 0, "attempt": 0}
    stored = [{"time": n, "kind": "store", "offset": n, "key": f"m{n}", **place} for n in range(3)]
    given = {"time": 50, "kind": "deliver", "client": "c", "group": "g", "offset": 1, "key": "m2", **place}
    path = tmp_path / "exchanged.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *stored, given)))
    found = both([path], spark).verdict("stores-follow-each-other")
    assert (found.violated, found.doubtful) == (1, 0)


def test_what_was_not_recorded_is_not_observable(spark: Any, tmp_path: Path) -> None:
    event = {"time": 1, "kind": "deliver", "client": "c", "group": "g", "topic": "t", "broker": "b", "queue": 0}
    path = tmp_path / "few.jsonl"
    path.write_text(
        "\n".join(map(json.dumps, (HEADER, {**event, "offset": 3, "key": "K"}, {**event, "offset": 4}))) + "\n"
    )
    result = both([path], spark)
    assert result.verdict("offset-never-back-without-cause").verdict is Verdict.NOT_OBSERVABLE


def test_one_file_for_each_client(spark: Any, tmp_path: Path) -> None:
    trace = simulated(tmp_path / "whole", churn=3, mutant="B2")
    whole = both([trace], spark)
    for shuffled in (False, True):
        folder = tmp_path / f"shuffled-{shuffled}"
        folder.mkdir()
        by_client(trace, folder, shuffled=shuffled)
        assert both([folder], spark).events == whole.events


def test_small_row_groups_and_several_files(spark: Any, tmp_path: Path) -> None:
    table = pq.read_table(simulated(tmp_path / "whole", churn=2))
    half = len(table) // 2
    pq.write_table(table.slice(half), tmp_path / "a.parquet", row_group_size=700)
    pq.write_table(table.slice(0, half), tmp_path / "b.parquet", row_group_size=900)
    result = both([tmp_path / "a.parquet", tmp_path / "b.parquet"], spark)
    assert result.events == len(table)


def test_damaged_lines(spark: Any, tmp_path: Path) -> None:
    trace = simulated(tmp_path / "whole", messages=300, format="jsonl")
    lines = trace.read_text().splitlines()
    lines[5], lines[90] = lines[5][:-7], '{"kind": "deliver"}'
    lines[200] = json.dumps({**json.loads(lines[200]), "queue": -4})
    damaged = tmp_path / "damaged.jsonl.gz"
    damaged.write_bytes(gzip.compress("\n".join(lines).encode())[:-600])
    result = both([damaged, trace], spark)
    counts = {kind.name: count for kind, count in result.problems.by_kind.items()}
    # The line where the file breaks off is one of the damaged.
    assert counts == {"DAMAGED": 2, "NO_TIME": 1, "IMPOSSIBLE": 1, "TRUNCATED": 1}


@pytest.mark.parametrize(("counted", "different", "repeated"), [(True, 2_545, 2_546), (False, 2_885, 2_206)])
def test_events_that_two_files_have_count_once(
    spark: Any, tmp_path: Path, counted: bool, different: int, repeated: int
) -> None:
    """Without ``seq`` only events at an offset of a queue can be told to be the same at another place of a file."""
    trace = simulated(tmp_path / "whole", messages=300, format="jsonl")
    header, *events = map(json.loads, trace.read_text().splitlines())
    if not counted:
        events = [{name: value for name, value in event.items() if name != "seq"} for event in events]
    half = len(events) // 2
    for name, part in (("a", events), ("b", [*events[half:], *events[half:]])):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, [header, *part])) + "\n")
    result = both([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], spark)
    assert len(events) == 2_545
    assert (result.events, result.skipped["repeated events"]) == (different, repeated)


def test_damaged_columns_of_parquet(spark: Any, tmp_path: Path) -> None:
    table = pq.read_table(simulated(tmp_path / "whole", messages=300))
    rows = table.to_pylist()
    rows[10]["offset"], rows[11]["queue"], rows[700]["time"], rows[800]["kind"] = -5, -1, None, "nonsense"
    rows[900]["count"] = -9
    damaged = type(table).from_pylist(rows, schema=table.schema)
    pq.write_table(damaged, tmp_path / "damaged.parquet", row_group_size=400)
    result = both([tmp_path / "damaged.parquet"], spark)
    assert {kind.name: count for kind, count in result.problems.by_kind.items()} == {
        "IMPOSSIBLE": 3,
        "NO_TIME": 1,
        "UNKNOWN_WORD": 1,
    }
    assert [problem.line for problem in result.problems.kept if problem.what.startswith("offset")] == [11]


def test_nothing_to_check(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(json.dumps(HEADER) + "\nno event\n")
    with pytest.raises(TraceError, match="there are no events to check"):
        check_with_spark(open_trace([path]), settings=Settings(), session=spark)


def test_strict_stops_at_the_first_problem(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    event = json.dumps({"time": 1, "kind": "deliver"})
    path.write_text("\n".join([json.dumps(HEADER), event, "no event", event, ""]))
    with pytest.raises(TraceError, match=r"damaged\.jsonl:3"):
        check_with_spark(open_trace([path], strict=True), settings=Settings(), session=spark)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["concurrently", "orderly", "broadcasting"])
@pytest.mark.parametrize("seed", range(2))
def test_kinds_of_groups(spark: Any, tmp_path: Path, kind: str, seed: int) -> None:
    options: dict[str, Any] = {"churn": 5, "resets": 1} if kind != "broadcasting" else {}
    both([simulated(tmp_path, group_kind=kind, keys=True, seed=seed, **options)], spark)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", sorted(MUTANTS))
def test_every_known_bug(spark: Any, tmp_path: Path, mutant: str) -> None:
    kind = MUTANTS[mutant].kinds[0]
    both([simulated(tmp_path, mutant=mutant, group_kind=kind, topics=2)], spark)


def test_the_first_look_at_a_part_of_a_long_trace_sends_a_sample_of_its_clocks(tmp_path: Path) -> None:
    """What the driver holds of them does not grow with the number of parts."""
    (split,) = open_trace([simulated(tmp_path, seed=1)]).splits()
    masks, sizes = [], []
    for rows in (0, 100_000_000):
        said, sides = _look((split, None, rows)).seen.sides.carried()
        masks.append(said["mask"])
        sizes.append(len(sides))
    assert (masks, sizes[0] > 8 * sizes[1]) == ([0, 255], True)
