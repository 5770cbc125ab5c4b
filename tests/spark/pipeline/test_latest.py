"""An event that is dated after its file was ingested moves nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rocketproof.spark.pipeline import Table, ingest
from rocketproof.spark.pipeline.latest import dated_later, latest_of
from rocketproof.spark.pipeline.recording import Live, live_of

from .tables import simulated, write

FAR = 4_070_908_800_000
"""The beginning of 2099, ms."""


def live(spark: Any, folder: Path, *files: Path) -> Live:
    table = Table(folder / "table")
    for file in files:
        ingest(spark, [file], table)
    return live_of(table)["default"]


def written(path: Path, events: list[Any], *, at: int) -> Path:
    """A file that was written at a time, ms."""
    write(path, events)
    os.utime(path, ns=(at * 1_000_000, at * 1_000_000))
    return path


def test_a_clock_far_ahead_is_not_believed(spark: Any, tmp_path: Path) -> None:
    header, *events = simulated(tmp_path / "run", messages=20)
    last = max(event["time"] for event in events)
    ahead = write(
        tmp_path / "a.jsonl", [header, *events, {**events[-1], "client": "ahead", "time": FAR, "seq": len(events)}]
    )
    found = live(spark, tmp_path, ahead)
    assert latest_of(found) == last
    assert list(dated_later(found, after="", more=600_000)) == [(str(ahead), FAR)]
    assert list(dated_later(found, after="batch=00000001", more=600_000)) == []


def test_nothing_happens_after_its_file_was_written(spark: Any, tmp_path: Path) -> None:
    """Times within one piece, too."""
    header, *events = simulated(tmp_path / "run", messages=20)
    times = sorted(event["time"] for event in events)
    middle = times[len(times) // 2]
    path = written(tmp_path / "a.jsonl", [header, *events], at=middle)
    found = live(spark, tmp_path, path)
    assert latest_of(found) == max(time for time in times if time <= middle + 1)
    assert list(dated_later(found, after="", more=times[-1] - middle)) == []
    assert list(dated_later(found, after="", more=0)) == [(str(path), times[-1])]


def test_where_no_event_is_possible_the_latest_counts(spark: Any, tmp_path: Path) -> None:
    """Of files whose date was lost, or recordings of a time to come."""
    header, *events = simulated(tmp_path / "run", messages=20)
    path = written(tmp_path / "a.jsonl", [header, *events], at=0)
    found = live(spark, tmp_path, path)
    assert latest_of(found) == max(event["time"] for event in events)
    assert list(dated_later(found, after="", more=0)) == []
