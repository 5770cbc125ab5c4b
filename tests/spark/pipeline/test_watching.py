"""Recordings are watched: what arrives is mined once and told once, whoever is killed in the middle."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rocketproof.spark.pipeline import Folders, Lines, Table, Watch, Watched, watch
from rocketproof.spark.session import OLDEST_JAVA, java_version
from rocketproof.traces.errors import TraceError
from rocketproof.traces.samples import settings_of

from .tables import checked, said, write
from .test_carried import SKEW, hours_of, unordered

LAST = "rocketproof.spark.pipeline.watching"


def terms(trace: Any) -> Any:
    return replace(settings_of(trace.header), skew=SKEW)


class Stream:
    """A folder that is watched, and what was told of it."""

    def __init__(self, spark: Any, folder: Path, **options: Any) -> None:
        self.spark, self.table, self.inbox = spark, Table(folder / "table"), folder / "inbox"
        self.inbox.mkdir()
        self.options: dict[str, Any] = {"terms": terms, "lateness": 0, **options}
        self.done: list[Watched] = []

    def arrive(self, *files: Path) -> None:
        for file in files:
            shutil.copy(file, self.inbox / f".{file.name}")
            (self.inbox / f".{file.name}").rename(self.inbox / file.name)

    def run(self, tell: Any = None, **options: Any) -> list[dict[str, Any]]:
        """Do what has arrived; the alerts that were told of it."""
        first = len(self.done)
        source = Folders(paths=[str(self.inbox)])
        what = Watch(**{"source": source, "table": self.table, **self.options})
        watch(self.spark, what, tell=tell or self.done.append, **options)
        return [dict(alert) for done in self.done[first:] for alert in done.alerts]

    def is_as_checked(self) -> None:
        """Whether the last run says what a check of all that has arrived says."""
        assert unordered(said(self.table)) == unordered(checked([self.inbox], skew=SKEW))


def sure(table: Table) -> list[tuple[Any, ...]]:
    """What the last run finds violated."""
    return sorted(
        (str(one["claim"]), one["offset"], one["time"])
        for one in said(table)["findings"]
        if one["claim"] and not (one["note"] or one["cause"] or one["doubt"])
    )


def told(alerts: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return sorted((one["claim"], one["offset"], one["time"]) for one in alerts)


PLACES = ("ingest", "mine_table", "publish_alerts", "tell")
"""A batch is cut off before each of these, and at its end."""


def test_what_is_cut_off_anywhere_is_neither_lost_nor_doubled(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = hours_of(tmp_path, cuts=3, seed=2, mutant="B2", messages=400)
    stream = Stream(spark, tmp_path)
    module, alerts = importlib.import_module(LAST), list[dict[str, Any]]()

    def cut(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    for place, hour in zip(PLACES, hours, strict=True):
        stream.arrive(hour)
        with monkeypatch.context() as patched:
            if place != "tell":
                patched.setattr(module, place, cut)
            with pytest.raises(KeyboardInterrupt):
                stream.run(tell=cut)
        alerts += stream.run()
    stream.is_as_checked()
    assert told(alerts) == sure(stream.table) != []
    assert {one["change"] for one in alerts} == {"raised"}
    assert len({one["id"] for one in alerts}) == len(alerts)
    assert [done.batch for done in stream.done] == [0, 1, 2, 3]
    assert [path.name for path in stream.table.folders("run")] == [f"run={at:08}" for at in (1, 2, 3, 4)]
    # Without its checkpoint everything seems new, and nothing of it is.
    shutil.rmtree(stream.table.folder / "_checkpoint")
    assert stream.run() == []
    assert len(stream.table.folders("batch")) == len(stream.table.folders("run")) == 4


def test_late_events_are_counted_located_and_mined(spark: Any, tmp_path: Path) -> None:
    first, late, last = hours_of(tmp_path, cuts=2, seed=2, mutant="B2", messages=400)
    stream = Stream(spark, tmp_path, lateness=500, doubtful=True)
    stream.arrive(first, last)
    before = stream.run()
    stream.arrive(late)
    alerts = stream.run()
    stream.is_as_checked()
    (one,) = [alert for alert in alerts if alert["change"] == "late"]
    _, *events = late.read_text().splitlines()
    assert (one["file"], one["events"]) == (str(stream.inbox / late.name), len(events))
    rows = pq.read_table(*stream.table.folder.glob("alerts=*2/late/*/late.parquet"), partitioning=None).to_pylist()
    assert [row["event"] for row in rows] == list(range(1, len(events) + 1))[:1_000]
    watermark = stream.done[0].told.watermark  # type: ignore[union-attr]
    assert all(row["time"].timestamp() * 1_000 + row["behind_ms"] == pytest.approx(watermark) for row in rows)
    # What was told, less what was taken back, is what is found up to the watermark.
    standing = {alert["id"]: alert["change"] for alert in (*before, *alerts) if alert["claim"]}
    stands = [id_ for id_, change in standing.items() if change != "withdrawn"]
    found = [
        one
        for one in said(stream.table)["findings"]
        if one["claim"] and not (one["note"] or one["cause"]) and one["time"].timestamp() * 1_000 <= watermark
    ]
    assert len(stands) == len(found) > 0


def test_one_event_far_in_the_future_makes_nothing_late(spark: Any, tmp_path: Path) -> None:
    first, second = hours_of(tmp_path, cuts=1, seed=2, mutant="B2", messages=400)
    header, *events = first.read_text().splitlines()
    right = max(json.loads(line)["time"] for line in events)
    at = next(at for at, line in enumerate(events) if json.loads(line)["kind"] == "heartbeat")
    events[at] = json.dumps({**json.loads(events[at]), "client": "ahead", "time": 4_070_908_800_000})
    write(first, [header, *events])
    stream = Stream(spark, tmp_path, lateness=500)
    stream.arrive(first)
    stream.run()
    stream.arrive(second)
    assert [alert for alert in stream.run() if alert["change"] == "late"] == []
    stream.is_as_checked()
    before, after = stream.done
    assert before.told is not None
    assert after.told is not None
    assert after.mining is not None
    assert (before.told.watermark, before.told.later) == (
        right - 500, ((str(stream.inbox / first.name), 4_070_908_800_000),),
    )  # fmt: skip
    assert before.told.watermark < after.told.watermark < right + 86_400_000
    assert after.told.later == ()
    assert after.mining.since["default"].time == right - 500


def test_a_file_that_has_grown_has_no_late_events_but_its_new_ones(spark: Any, tmp_path: Path) -> None:
    first, second, third = hours_of(tmp_path, cuts=2, seed=1, messages=60)
    stream = Stream(spark, tmp_path)
    stream.arrive(first)
    stream.run()
    with (stream.inbox / first.name).open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in second.read_text().splitlines()[1:])
    stream.arrive(third)
    assert [alert for alert in stream.run() if alert["change"] == "late"] == []
    stream.is_as_checked()


def test_it_ends_when_it_is_told_to(spark: Any, tmp_path: Path) -> None:
    (hour,) = hours_of(tmp_path, cuts=0, seed=1, messages=40)
    stream, stop = Stream(spark, tmp_path), threading.Event()

    def tell(done: Watched) -> None:
        stream.done.append(done)
        stop.set()

    stream.arrive(hour)
    stream.run(tell=tell, every=50, stop=stop)
    assert [done.batch for done in stream.done] == [0]
    assert stream.run() == []
    assert len(stream.done) == 1  # its end was noted


def test_it_waits_while_somebody_else_is_at_work(spark: Any, tmp_path: Path) -> None:
    (hour,) = hours_of(tmp_path, cuts=0, seed=1, messages=40)
    stream, told_of, stop = Stream(spark, tmp_path), list[str](), threading.Event()

    def waiting(who: str) -> None:
        told_of.append(who)
        stop.set()

    stream.arrive(hour)
    with stream.table.alone("batch"), pytest.raises(TraceError, match="is at work on this table"):
        stream.run(stop=stop, waiting=waiting)
    assert len(told_of) == 1
    stream.run()
    stream.is_as_checked()


def test_lines_of_a_source_of_spark(spark: Any, tmp_path: Path) -> None:
    hours = hours_of(tmp_path, cuts=1, seed=2, mutant="B2", messages=200)
    header = hours[0].read_text().splitlines()[0]
    stream = Stream(spark, tmp_path)
    stream.options["source"] = Lines(format="text", options={"path": str(stream.inbox)}, header=header)
    alerts = []
    for hour in hours:
        stream.arrive(write(tmp_path / "lines" / hour.name, hour.read_text().splitlines()[1:]))
        alerts += stream.run()
    expected = checked(hours, skew=SKEW)
    assert {**unordered(said(stream.table)), "files": ()} == {**unordered(expected), "files": ()}
    assert told(alerts) == sure(stream.table)
    assert list((stream.table.folder / "_arrived").iterdir()) == []
    files = {str(source.file) for source in _sources(stream.table)}
    assert files == {str(stream.table.folder / f"_arrived/cluster=default/{at:08}.jsonl") for at in (0, 1)}


def _sources(table: Table) -> list[Any]:
    from rocketproof.spark.pipeline.recording import live_of

    return live_of(table)["default"].sources


def test_what_is_no_recording_does_not_end_it(spark: Any, tmp_path: Path) -> None:
    (hour,) = hours_of(tmp_path, cuts=0, seed=1, messages=40)
    stream = Stream(spark, tmp_path)
    (stream.inbox / "notes.jsonl").write_text("no recording\n")
    assert stream.run() == []
    assert stream.done[0].mining is None
    stream.arrive(hour)
    stream.run()
    stream.is_as_checked()
    stream.options["source"] = Folders(paths=[str(tmp_path / "none")])
    with pytest.raises(TraceError, match="there is no such folder; name folders into which recordings come"):
        stream.run()


PROGRAM = """
import importlib, os, signal, sys
from dataclasses import replace

place, table, inbox = sys.argv[1:]
from rocketproof.spark import open_session
from rocketproof.spark.pipeline import Folders, Table, Watch, watch
from rocketproof.traces.samples import settings_of

module = importlib.import_module("rocketproof.spark.pipeline.table")
publish, wanted = module._flush, "." + place + "-"


def killed(folder):
    if place and folder.name.startswith(wanted):
        os.kill(os.getpid(), signal.SIGKILL)
    publish(folder)


module._flush = killed
terms = lambda trace: replace(settings_of(trace.header), skew=2_000)
spark = open_session("local[1]", memory="512m")
watch(
    spark,
    Watch(source=Folders(paths=[inbox]), table=Table(table), terms=terms, lateness=0),
    tell=lambda done: [print(alert["id"], flush=True) for alert in done.alerts],
)
"""


@pytest.mark.slow
def test_a_killed_process_goes_on_after_a_restart(tmp_path: Path) -> None:
    """It has ingested what arrived, and not published its run; the other places are those of the first test."""
    pytest.importorskip("pyspark")
    if java_version() < OLDEST_JAVA and os.environ.get("CI") != "true":
        pytest.skip(f"Spark needs Java {OLDEST_JAVA} or newer")
    program, ids = tmp_path / "program.py", list[str]()
    program.write_text(PROGRAM)
    stream = Stream(None, tmp_path)
    stream.arrive(*hours_of(tmp_path, cuts=2, seed=2, mutant="B2", messages=300))
    for place, code in (("run", -signal.SIGKILL), ("", 0)):
        done = subprocess.run(
            [sys.executable, str(program), place, str(stream.table.folder), str(stream.inbox)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr[-2_000:]
        ids += done.stdout.split()
    stream.is_as_checked()
    assert len(ids) == len(set(ids)) == len(sure(stream.table)) > 0
    assert [len(stream.table.folders(what)) for what in ("batch", "run", "alerts")] == [1, 1, 1]
