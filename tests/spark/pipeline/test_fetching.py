"""Recordings at addresses that Hadoop knows: what comes of them is what comes of the same files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rocketproof.spark.pipeline import Table, ingest
from rocketproof.spark.pipeline.fetching import FETCHED
from rocketproof.traces.errors import TraceError

from .tables import checked, mined, said, simulated, write


def test_a_store_is_ingested_as_its_files_are(spark: Any, tmp_path: Path) -> None:
    """A file system of another name that shows a folder of this machine is reached the way that a store is."""
    header, *events = simulated(tmp_path / "run", mutant="B1", messages=100)
    day = tmp_path / "store" / "day 1%2F#"
    first = write(day / "a.jsonl", [header, *events[:150], "damaged"])
    second = write(day / "more" / "b.jsonl", [header, *events[150:300]])
    write(day / "_temporary" / "c.jsonl", [header, *events[300:]])
    spark._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.test.link./lake", f"file://{tmp_path / 'store'}")
    address, table = "viewfs://test/lake/day 1%2F#", Table(f"file://{tmp_path}/table")
    assert table.folder == tmp_path / "table"

    done = ingest(spark, [address], table)
    copy = table.folder / FETCHED / "viewfs/test/lake/day 1%2F#/a.jsonl"
    assert (done.files, done.known, done.events) == (2, 0, 300)
    assert [(one.file, one.line) for one in done.problems.kept] == [(str(copy), 152)]
    assert not (table.folder / FETCHED).exists()
    mined(table, spark)
    at_home = str(said(table)).replace(str(table.folder / FETCHED / "viewfs/test/lake"), str(tmp_path / "store"))
    assert at_home == str(checked([first, second]))

    again = ingest(spark, [address], table)
    assert (again.batches, again.known) == ((), 2)
    write(second, [header, *events[150:]])
    grown = ingest(spark, [address, f"{address}/more/b.jsonl"], table)
    assert (grown.files, grown.known, grown.events) == (1, 1, len(events) - 150)
    assert grown.replaced == (str(copy.parent / "more/b.jsonl"),)
    # The same content from elsewhere adds nothing.
    assert ingest(spark, [first.as_uri()], table).batches == ()

    for wrong, why in (
        (f"{address}/none", f"^{address}/none: there is no such file or folder"),
        (
            "nostore://test/lake",
            '^nostore://test/lake: cannot be read: No FileSystem for scheme "nostore"',
        ),
        ("s3a:/bucket/day", "^s3a: addresses are not read"),
    ):
        with pytest.raises(TraceError, match=why):
            ingest(spark, [wrong], table)
    assert not (table.folder / FETCHED).exists()
