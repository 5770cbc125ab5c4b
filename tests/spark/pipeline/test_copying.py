"""What is published is copied into a catalog once, also after a kill; what a grown file replaces is there no more."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rocketproof.spark import pipeline
from rocketproof.spark.pipeline import SparkCatalog, Table, copy_table, ingest, publish_alerts, read_events
from rocketproof.spark.pipeline.catalog import BATCHES, RUNS, Part, frame_of
from rocketproof.spark.pipeline.copying import OF_RUN
from rocketproof.traces.errors import TraceError

from ...rocketproof.command import run
from .tables import mined, simulated, write

EVERY = ("trace", "ingested", "skipped", BATCHES, *OF_RUN, RUNS, "alerts", "late")


class Kept:
    """A catalog of dictionaries.

    Attributes:
        rows: of each table; ``notes``: its parts; ``commits``: parts of each commit.
        killed: fail before the next note.
    """

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.notes: dict[str, Mapping[str, str]] = {}
        self.commits: list[tuple[str, list[str]]] = []
        self.killed = False

    def noted(self, name: str) -> Mapping[str, str]:
        return self.notes.get(name, {})

    def put(self, name: str, parts: Sequence[Part], *, alone: bool) -> None:
        names = [part.name for part in parts]
        frame = frame_of(self._spark, name, parts)
        kept = [] if alone else [row for row in self.rows.get(name, ()) if row["part"] not in names]
        self.rows[name] = kept + ([] if frame is None else [row.asDict() for row in frame.collect()])
        self.commits.append((name, names))

    def note(self, name: str, parts: Mapping[str, str]) -> None:
        if self.killed:
            raise KeyboardInterrupt
        self.notes[name] = dict(parts)

    def counts(self, name: str) -> Counter[str]:
        return Counter(row["part"] for row in self.rows[name])


def test_each_part_is_there_once(spark: Any, tmp_path: Path) -> None:
    table, catalog = Table(tmp_path / "table"), Kept(spark)
    lines = simulated(tmp_path / "run", messages=60, mutant="B2")
    write(tmp_path / "in/a.jsonl", lines[:200])
    ingest(spark, [tmp_path / "in"], table, cluster="prod/eu")
    catalog.killed = True
    with pytest.raises(KeyboardInterrupt):
        copy_table(table, catalog)
    catalog.killed = False
    mined(table, spark)
    assert copy_table(table, catalog) == {
        "trace": ["batch=00000001"],
        "ingested": ["batch=00000001"],
        "skipped": ["batch=00000001"],
        "batches": ["batch=00000001"],
        **{name: ["run=00000001"] for name in (*OF_RUN, RUNS)},
    }
    assert catalog.counts("trace") == {"batch=00000001": 199}
    assert {row["cluster"] for row in catalog.rows["trace"]} == {"prod/eu"}
    assert {row["cluster"] for row in catalog.rows["verdicts"]} == {"prod/eu"}
    days = {str(datetime.fromtimestamp(row["time"] / 1000, UTC).date()) for row in catalog.rows["trace"]}
    assert {str(row["day"]) for row in catalog.rows["trace"]} == days
    assert copy_table(table, catalog) == {}

    write(tmp_path / "in/b.jsonl", [lines[0], *lines[200:]])
    ingest(spark, [tmp_path / "in"], table, cluster="prod/eu")
    name = mined(table, spark).run
    publish_alerts(table, "prod/eu", name, lateness=0, doubtful=True, mark={})
    done = copy_table(table, catalog)
    assert set(done) == set(EVERY)
    assert (done["trace"], done["findings"], done["alerts"]) == (
        ["batch=00000002"], ["run=00000002"], ["alerts=00000001"],
    )  # fmt: skip
    assert catalog.counts("trace") == {"batch=00000001": 199, "batch=00000002": len(lines) - 200}
    assert set(catalog.counts("verdicts")) == {"run=00000002"}
    assert len(catalog.rows["trace"]) == read_events(spark, table).count()


def test_what_has_grown_is_replaced_in_one_commit(spark: Any, tmp_path: Path) -> None:
    table, catalog = Table(tmp_path / "table"), Kept(spark)
    lines = simulated(tmp_path / "run", messages=60)
    write(tmp_path / "in/a.jsonl", lines[:100])
    ingest(spark, [tmp_path / "in"], table)
    copy_table(table, catalog)
    write(tmp_path / "in/a.jsonl", lines)
    ingest(spark, [tmp_path / "in"], table)
    catalog.commits.clear()
    copy_table(table, catalog, commit_bytes=1)
    assert catalog.commits[0] == ("trace", ["batch=00000001", "batch=00000002"])
    assert catalog.counts("trace") == {"batch=00000002": len(lines) - 1}


def test_a_commit_has_so_many_bytes(spark: Any, tmp_path: Path) -> None:
    table, catalog = Table(tmp_path / "table"), Kept(spark)
    lines = simulated(tmp_path / "run", messages=60)
    for at in range(3):
        write(tmp_path / f"in/{at}.jsonl", [lines[0], *lines[1 + 50 * at : 51 + 50 * at]])
        ingest(spark, [tmp_path / "in"], table)
    copy_table(table, catalog, commit_bytes=1)
    assert [parts for name, parts in catalog.commits if name == "trace"] == [[f"batch=0000000{at}"] for at in (1, 2, 3)]
    other = Kept(spark)
    copy_table(table, other)
    assert [len(parts) for _, parts in other.commits] == [3, 3, 3, 3]
    assert other.counts("trace") == catalog.counts("trace") == {f"batch=0000000{at}": 50 for at in (1, 2, 3)}


def test_the_command_says_what_was_copied(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, catalog, asked = Table(tmp_path / "table"), Kept(spark), list[Any]()
    monkeypatch.setattr(
        pipeline, "SparkCatalog", lambda *words, **options: asked.append((words[1], options)) or catalog
    )
    lines = simulated(tmp_path / "run", messages=20)
    for name in ("a", "b"):
        ingest(spark, [write(tmp_path / f"{name}.jsonl", lines[:50] if name == "a" else lines)], table)
    words = ("pipeline", "copy", table.folder, "lake.rocketmq", "--format", "iceberg")
    shown = "".join(
        f"lake.rocketmq.{name}: batch=00000001 and 1 more\n" for name in ("trace", "ingested", "skipped", "batches")
    )
    assert run(capsys, *words, "--json", tmp_path / "a.json") == (0, shown, "")
    assert json.loads((tmp_path / "a.json").read_text())["trace"] == ["batch=00000001", "batch=00000002"]
    assert run(capsys, *words) == (0, "nothing new\n", "")
    assert asked == [("lake.rocketmq", {"format": "iceberg"})] * 2


def test_mistakes_are_told_in_a_line(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"is no schema of a catalog, such as lake\.rocketmq"):
        SparkCatalog(spark, "lake..rocketmq")
    with pytest.raises(TraceError, match="there is no trace table"):
        copy_table(Table(tmp_path), Kept(spark))
