"""What was copied into a catalog is mined and reported as from the folder; with the catalog that Spark has itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from rocketproof.spark.pipeline import SparkCatalog, Table, copy_table, ingest, restore_table
from rocketproof.traces.errors import TraceError

from ...rocketproof.command import run
from .tables import mined, rows, said, simulated, write
from .test_pipeline import ALL_TABLES


@pytest.fixture
def schema(spark: Any) -> Iterator[str]:
    """A schema of Spark's own catalog, whose tables are files of Parquet in its warehouse."""
    name = f"spark_catalog.mq_{uuid4().hex[:8]}"
    yield name
    spark.sql(f"DROP SCHEMA IF EXISTS {name} CASCADE")


@pytest.mark.slow
def test_a_catalog_gives_the_folder_again(spark: Any, tmp_path: Path, schema: str) -> None:
    table, other = Table(tmp_path / "table"), Table(tmp_path / "other")
    catalog = SparkCatalog(spark, schema)
    lines = simulated(tmp_path / "run", messages=60, mutant="B2")
    write(tmp_path / "in/a.jsonl", [*lines[:150], "no event", *lines[150:200]])
    ingest(spark, [tmp_path / "in"], table, cluster="prod/eu %1")
    copy_table(table, catalog)
    assert restore_table(spark, catalog, other) == ["batch=00000001"]
    assert restore_table(spark, catalog, other) == []
    assert mined(other, spark).run == mined(table, spark).run == "run=00000001"
    assert said(other, "prod/eu %1") == said(table, "prod/eu %1")
    pieces = {
        str(path.relative_to(one.folder)): pq.ParquetFile(path).read().to_pylist()
        for one in (table, other)
        for path in one.folder.glob("batch=*/**/*.parquet")
    }
    assert all((one.folder / path).is_file() for path in pieces for one in (table, other))
    for path, found in pieces.items():
        assert pq.ParquetFile(table.folder / path).read().to_pylist() == found

    write(tmp_path / "in/a.jsonl", [*lines[:150], "no event", *lines[150:]])  # it has grown
    ingest(spark, [tmp_path / "in"], table, cluster="prod/eu %1")
    name = mined(table, spark).run
    copy_table(table, catalog)
    assert catalog.rows("trace").select("part").distinct().collect() == [("batch=00000002",)]
    assert catalog.rows("verdicts").select("part").distinct().collect() == [(name,)]
    whole = Table(tmp_path / "whole")
    assert restore_table(spark, catalog, whole) == ["batch=00000001", "batch=00000002", name]
    assert not mined(whole, spark).is_new
    assert restore_table(spark, catalog, other) == ["batch=00000002", "run=00000002"]
    for one in (whole, other):
        assert said(one, "prod/eu %1") == said(table, "prod/eu %1")
        for what in ALL_TABLES:
            assert rows(one, name, what) == rows(table, name, what)


def test_commands_take_a_schema(spark: Any, tmp_path: Path, schema: str, capsys: pytest.CaptureFixture[str]) -> None:
    table, work = Table(tmp_path / "table"), tmp_path / "work"
    lines = simulated(tmp_path / "run", messages=200, mutant="B2")
    ingest(spark, [write(tmp_path / "a.jsonl", lines)], table)
    copy_table(table, SparkCatalog(spark, schema))
    shown = run(capsys, "pipeline", "mine", schema, "--work", work)
    assert shown == (0, "run=00000001: 1 cluster mined\n", "")
    assert run(capsys, "pipeline", "mine", table.folder)[:2] == shown[:2]
    assert {row["part"] for row in spark.table(f"{schema}.verdicts").collect()} == {"run=00000001"}
    told = [
        run(capsys, "pipeline", "report", *words, "--json", tmp_path / f"{at}.json")
        for at, words in enumerate([(table.folder,), (schema, "--work", work), (schema, "--work", tmp_path / "new")])
    ]
    assert told[0][0] == 1
    assert told[0] == told[1] == told[2]
    reports = [json.loads((tmp_path / f"{at}.json").read_text()) for at in range(3)]
    assert reports[1] == reports[2]
    assert run(capsys, "pipeline", "mine", schema)[2].endswith("name a folder to work in: --work DIR.\n")
    assert "--work is of a table of a catalog" in run(capsys, "pipeline", "mine", table.folder, "--work", work)[2]


def test_what_does_not_fit_is_told(spark: Any, tmp_path: Path, schema: str) -> None:
    table, catalog = Table(tmp_path / "table"), SparkCatalog(spark, schema)
    with pytest.raises(TraceError, match="there is no trace table in this schema"):
        restore_table(spark, catalog, table)
    lines = simulated(tmp_path / "run", messages=40)
    ingest(spark, [write(tmp_path / "a.jsonl", lines)], table)
    copy_table(table, catalog)
    spark.sql(f"DROP TABLE {schema}.copied")  # as if the process had been killed before it noted anything
    assert set(copy_table(table, catalog)) == {"trace", "batches", "ingested", "skipped"}
    assert catalog.rows("trace").count() == len(lines) - 1
    foreign = Table(tmp_path / "foreign")
    ingest(spark, [write(tmp_path / "b.jsonl", lines[:50])], foreign)
    with pytest.raises(TraceError, match="batch=00000001, which is not that of"):
        restore_table(spark, catalog, foreign)
    (day,) = {row["day"] for row in catalog.rows("trace").select("day").distinct().collect()}
    spark.sql(f"ALTER TABLE {schema}.trace DROP PARTITION (day = '{day}', part = 'batch=00000001')")
    other = Table(tmp_path / "other")
    with pytest.raises(TraceError, match="the table trace has not all of batch=00000001"):
        restore_table(spark, catalog, other)
    assert not other.folders("batch")


def test_no_name_from_a_catalog_leads_elsewhere(spark: Any, tmp_path: Path, schema: str) -> None:
    table, catalog = Table(tmp_path / "table"), SparkCatalog(spark, schema)
    ingest(spark, [write(tmp_path / "a.jsonl", simulated(tmp_path / "run", messages=40))], table)
    copy_table(table, catalog)
    catalog.note("batches", {"../batch=00000009": "key"})
    other = Table(tmp_path / "other")
    with pytest.raises(TraceError, match=r"'\.\./batch=00000009' is no name of a batch or a run"):
        restore_table(spark, catalog, other)
    assert not other.folders("batch")
