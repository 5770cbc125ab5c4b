"""When it goes wrong: nothing is lost, nothing is doubled, and one line says what to do."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocketproof.spark.pipeline import Table, ingest
from rocketproof.spark.pipeline.table import MANIFEST
from rocketproof.traces.errors import TraceError

from .tables import mined, said, simulated, write


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return write(tmp_path / "in/a.jsonl", simulated(tmp_path / "run", messages=40))


def test_a_full_disk(spark: Any, tmp_path: Path, recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(tmp_path / "table")

    def full(_folder: Path, _said: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(Table, "write_manifest", staticmethod(full))
        with pytest.raises(TraceError, match="the disk is full; nothing of this batch or run is published: make room"):
            ingest(spark, [recording], table)
    assert [path.name for path in table.folder.iterdir()] == [".batch.lock"]
    ingest(spark, [recording], table)
    with monkeypatch.context() as patched:
        patched.setattr(Table, "write_manifest", staticmethod(full))
        with pytest.raises(TraceError, match="the disk is full"):
            mined(table, spark)
    assert mined(table, spark).run == "run=00000001"


def test_a_full_disk_of_a_task(spark: Any, tmp_path: Path) -> None:
    table = Table(tmp_path / "table")
    with pytest.raises(TraceError, match="the disk is full"), table.publishing("batch=00000001"):
        raise TraceError("Spark failed: OSError: [Errno 28] Error writing bytes to file. No space left on device")
    assert table.published("batch") == []


def test_a_killed_run_leaves_nothing_that_counts(spark: Any, tmp_path: Path, recording: Path) -> None:
    table = Table(tmp_path / "table")
    killed = (
        "import os, sys; from rocketproof.spark.pipeline import Table\n"
        "table = Table(sys.argv[1])\n"
        "with table.alone('batch'), table.publishing('batch=00000001') as folder:\n"
        "    (folder / 'trace').mkdir(); print('there', flush=True); sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", killed, str(table.folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        with pytest.raises(TraceError, match=rf"process {process.pid} of .* is at work on this table; run again when"):
            ingest(spark, [recording], table)
        process.send_signal(signal.SIGKILL)
    assert len(list(table.folder.glob(".batch-*"))) == 1
    assert table.published("batch") == []
    assert ingest(spark, [recording], table).batches == ("batch=00000001",)
    assert list(table.folder.glob(".batch-*")) == []


def test_whoever_comes_second_publishes_nothing(spark: Any, tmp_path: Path, recording: Path) -> None:
    """A lock need not hold on a file system of a network; the name of a batch does."""
    table = Table(tmp_path / "table")

    def late() -> None:
        with table.publishing("batch=00000001") as folder, Table(table.folder).publishing("batch=00000001") as other:
            (folder / "trace").mkdir()
            table.write_manifest(other, {})

    with pytest.raises(TraceError, match=r"has published batch=00000001 meanwhile; .* run again"):
        late()
    assert [path.name for path, _ in table.published("batch")] == ["batch=00000001"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": 2}', "written in version 2 of the table, and this kit knows 1: update rocketproof"),
        ('{"version"', "cannot be read: .* Restore it, or move the folder out of the table"),
        ("{}", "cannot be read"),
    ],
)
def test_what_a_batch_says_cannot_be_read(spark: Any, tmp_path: Path, text: str, message: str) -> None:
    table = Table(tmp_path / "table")
    with table.publishing("batch=00000001") as folder:
        (folder / MANIFEST).write_text(text)
    with pytest.raises(TraceError, match=message):
        mined(table, spark)


@pytest.mark.parametrize("local_events", [0, 1_000_000])
def test_a_published_piece_that_is_damaged(spark: Any, tmp_path: Path, recording: Path, local_events: int) -> None:
    table = Table(tmp_path / "table")
    ingest(spark, [recording], table)
    piece = sorted(table.folder.glob("batch=*/trace/*/*/*/*.parquet"))[0]
    piece.write_bytes(piece.read_bytes()[:-10])
    with pytest.raises(TraceError, match="a published piece of the table cannot be read"):
        mined(table, spark, local_events=local_events)
    assert table.published("run") == []


def test_an_interrupted_run_goes_on_where_it_was(
    spark: Any, tmp_path: Path, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write(tmp_path / "in/b.jsonl", simulated(tmp_path / "other", messages=30, seed=9))
    table = Table(tmp_path / "table")
    publish, published = Table.write_manifest, list[Any]()

    def second_is_interrupted(folder: Path, said: Any) -> None:
        published.append(said)
        if len(published) == 2:
            raise KeyboardInterrupt
        publish(folder, said)

    with monkeypatch.context() as patched:
        patched.setattr(Table, "write_manifest", staticmethod(second_is_interrupted))
        with pytest.raises(KeyboardInterrupt):
            ingest(spark, [tmp_path / "in"], table, batch_bytes=1)
    rest = ingest(spark, [tmp_path / "in"], table, batch_bytes=1)
    assert (rest.batches, rest.files, rest.known) == (("batch=00000002",), 1, 1)
    files = [source["file"] for _, said in table.published("batch") for source in said["sources"]]
    assert files == [str(recording), str(other)]


def test_nothing_is_there(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="there is no trace table; 'rocketproof pipeline ingest' makes one"):
        mined(Table(tmp_path), spark)
    with pytest.raises(TraceError, match="addresses are not written to: mount the store"):
        Table("s3a://bucket/table")
    with pytest.raises(TraceError, match="there is no such file or folder"):
        ingest(spark, [tmp_path / "none"], Table(tmp_path / "table"))


def test_runs_of_another_version_are_told(spark: Any, tmp_path: Path, recording: Path) -> None:
    table = Table(tmp_path / "table")
    ingest(spark, [recording], table)
    run = mined(table, spark).run
    (answer,) = (table.folder / run).glob("_answer/*/_manifest.json")
    given = json.loads(answer.read_text())
    answer.write_text(json.dumps({**given, "verdicts": given["verdicts"][1:]}))
    with pytest.raises(TraceError, match="another version of the kit has made it, with other claims; mine again"):
        said(table)
