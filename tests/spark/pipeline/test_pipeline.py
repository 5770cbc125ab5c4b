"""What is mined of the trace table is what a check says of the same files, however they came into it."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.spark.pipeline import Table, answers_of, ingest, read_events
from rocketproof.spark.pipeline.mining import TABLES
from rocketproof.traces.errors import TraceError
from rocketproof.traces.samples import FOLDER

from ...traces.io.importers.test_client_log import NAMING, new
from ...traces.io.importers.test_listener_log import LOG
from .tables import checked, mined, rows, said, simulated, write

ALL_TABLES = [*TABLES, "statuses", "clocks"]
SAMPLES = sorted(FOLDER.glob("*.zst"))


def test_every_cluster_is_mined_as_a_check_of_its_files(spark: Any, tmp_path: Path) -> None:
    damaged = simulated(tmp_path / "damaged-run", mutant="B7", seed=2)
    damaged[5], damaged[90] = '{"time":', {"kind": "deliver"}
    damaged[200] = {**damaged[200], "queue": -4}
    wrong = write(tmp_path / "wrong/a.jsonl", simulated(tmp_path / "wrong-run", mutant="B2"))
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "listener.log").write_text(LOG)
    (logs / "rocketmq_client.log").write_text(new(NAMING) + "no event\n")
    (logs / "notes.md").write_text("of last week\n")
    clusters: dict[str, list[Path]] = {
        "right": [write(tmp_path / "right/a.jsonl", simulated(tmp_path / "right-run", churn=3, resets=1))],
        "wrong": [wrong],
        "damaged": [write(tmp_path / "damaged/a.jsonl", damaged)],
        "logs": [logs],
        **{path.name.split(".")[0]: [path] for path in (SAMPLES[0], SAMPLES[-1])},
    }
    table = Table(tmp_path / "table")
    for name, paths in clusters.items():
        assert ingest(spark, paths, table, cluster=name).batches
    run = mined(table, spark)
    assert (run.run, run.mined) == ("run=00000001", tuple(sorted(clusters)))
    for name, paths in clusters.items():
        assert said(table, name) == checked(paths), name
    (answer,) = answers_of(table, cluster="wrong")
    assert {one.claim.id for one in answer.verdicts if one.verdict is Verdict.VIOLATED} == {
        "offset-never-back-without-cause"
    }
    assert answer.violations().total() == 3
    assert mined(table, spark).is_new is False
    # The table as a frame, and what anybody finds who knows of no manifest.
    events = read_events(spark, table, cluster="wrong")
    assert events.count() == len(wrong.read_text().splitlines()) - 1
    assert {row["day"] for row in spark.read.parquet(str(table.folder / "batch=00000001/trace")).collect()} != set()


def test_tasks_judge_as_the_driver_does(spark: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", simulated(tmp_path / "run", mutant="B2", churn=2))
    table = Table(tmp_path / "table")
    ingest(spark, [path], table)
    mined(table, spark, local_events=0)
    expected, given = checked([path]), said(table)
    assert answers_of(table)[0].said["engine"].startswith("spark ")
    assert given == expected


@pytest.mark.parametrize("seed", [pytest.param(0, marks=pytest.mark.slow), 1, pytest.param(2, marks=pytest.mark.slow)])
def test_cuts_at_random_places_change_nothing(spark: Any, tmp_path: Path, seed: int) -> None:
    """Hour after hour into one table, mined each time, and all at once into another."""
    drawn = random.Random(seed)
    header, *events = simulated(tmp_path / "run", mutant=("", "B2", "B1")[seed], churn=4, seed=seed)
    places = sorted(drawn.sample(range(1, len(events)), 3))
    hours = [events[start:end] for start, end in zip([0, *places], [*places, len(events)], strict=True)]
    files = [write(tmp_path / "hours" / f"{at}.jsonl", [header, *hour]) for at, hour in enumerate(hours)]
    other = write(tmp_path / "other.jsonl", simulated(tmp_path / "other-run", messages=50))
    apart, together = Table(tmp_path / "apart"), Table(tmp_path / "together")
    ingest(spark, [other], apart, cluster="other")
    runs = []
    for file in drawn.sample(files, len(files)):  # hours may come late
        ingest(spark, [file], apart)
        runs.append(mined(apart, spark))
    assert [(run.mined, run.taken) for run in runs] == [(("default", "other"), ())] + [(("default",), ("other",))] * 3
    ingest(spark, [other], together, cluster="other")
    ingest(spark, [tmp_path / "hours"], together)
    whole = mined(together, spark)
    for name in ALL_TABLES:
        assert rows(apart, "run=00000004", name) == rows(together, whole.run, name), name
    assert said(apart) == said(together) == checked(files)


def test_a_file_is_ingested_once_and_again_when_it_has_grown(spark: Any, tmp_path: Path) -> None:
    header, *events = simulated(tmp_path / "run")
    path, half = tmp_path / "in/a.jsonl", len(events) // 2
    table = Table(tmp_path / "table")
    write(path, [header, *events[:half]])
    first = ingest(spark, [path], table)
    assert (first.batches, first.files, first.events) == (("batch=00000001",), 1, half)
    shutil.copy(path, tmp_path / "in/b.jsonl")
    os.utime(path)
    again = ingest(spark, [tmp_path / "in"], table)
    assert (again.batches, again.known, again.events) == ((), 2, 0)
    (tmp_path / "in/b.jsonl").unlink()
    write(path, [header, *events])
    grown = ingest(spark, [path], table)
    assert (grown.events, grown.replaced) == (len(events), (str(path),))
    write(path, [header, *events[half:]])  # rotated: another file of that name
    other = ingest(spark, [path], table)
    assert (other.events, other.replaced) == (len(events) - half, ())
    mined(table, spark)
    assert answers_of(table)[0].events == len(events)  # what two files have counts once


def test_days_are_mined_as_a_recording_of_these_days(spark: Any, tmp_path: Path) -> None:
    header, *events = simulated(tmp_path / "run", messages=300)
    middle = events[len(events) // 2]["time"] // 86_400_000 * 86_400_000 + 86_400_000
    shift = middle - events[len(events) // 2]["time"]
    moved = [
        {name: value + shift if name in ("time", "due") else value for name, value in event.items()} for event in events
    ]  # so that midnight is in the middle
    table = Table(tmp_path / "table")
    ingest(spark, [write(tmp_path / "a.jsonl", [header, *moved])], table)
    days = sorted({path.name for path in table.folder.glob("batch=*/trace/day=*")})
    assert len(days) == 2
    second = days[1].removeprefix("day=")
    mined(table, spark, days=(second, ""))
    later = [event for event in moved if event["time"] >= middle]
    cut = write(tmp_path / "cut" / "a.jsonl", [{**header, "complete": False}, *later])
    given, expected = said(table), checked([cut])
    assert {**given, "files": ()} == {**expected, "files": ()}
    with pytest.raises(TraceError, match="there are no events to mine in default"):
        mined(table, spark, days=("2999-01-01", ""))


def test_what_is_skipped_is_counted_and_located(spark: Any, tmp_path: Path) -> None:
    lines = simulated(tmp_path / "run", messages=50)
    lines[5] = "no event"
    folder = tmp_path / "in"
    path = write(folder / "a.jsonl", lines)
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(b"x" * 2_000)[:20])
    (folder / "notes.txt").write_text("nothing\n")
    table = Table(tmp_path / "table")
    done = ingest(spark, [folder], table)
    skipped = pq.ParquetFile(table.folder / "batch=00000001/skipped/skipped.parquet").read().to_pylist()
    assert [(row["file"], row["line"], row["kind"]) for row in skipped if row["file"] == str(path)] == [
        (str(path), 6, "damaged line")
    ]
    assert sum(row["count"] for row in skipped if row["kind"] != "left out") == done.problems.count == 3
    left_out = [row["what"] for row in skipped if row["kind"] == "left out"]
    assert [what for what in left_out if what.startswith(str(folder / "notes.txt"))]
    assert ingest(spark, [folder], table).batches == ()
    mined(table, spark)
    assert said(table) == checked([folder])
    (folder / "b.jsonl.gz").unlink()
    write(folder / "b.jsonl", [lines[0], *lines[10:20]])
    assert ingest(spark, [folder], table).files == 1


def test_names_of_a_recording_lead_nowhere_else(spark: Any, tmp_path: Path) -> None:
    event = {"time": 1_700_000_000_000, "kind": "deliver", "client": "c", "topic": "t", "broker": "b", "queue": 0}
    groups = ["../../../x", "..", "/etc", "a=b", "%RETRY%g", "订单" * 60, "\0", "g"]
    events = [{**event, "group": group, "offset": at} for at, group in enumerate(groups)]
    table = Table(tmp_path / "deep/table")
    ingest(spark, [write(tmp_path / "in/a.jsonl", [{"rocketproof_trace": 1}, *events])], table, cluster="../c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "in"]
    assert sorted(path.name for path in (tmp_path / "deep").iterdir()) == ["table"]
    assert len(list(table.folder.glob("batch=*/trace/day=2023-11-14/cluster=..%2Fc/group=*/*.parquet"))) == len(groups)
    assert {row["group"] for row in read_events(spark, table).select("group").collect()} == set(groups)
    assert json.loads((table.folder / "batch=00000001/_manifest.json").read_text())["cluster"] == "../c"
