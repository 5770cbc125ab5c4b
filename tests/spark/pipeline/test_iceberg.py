"""Copying into tables of Iceberg, in a catalog that is a folder.

Needs Iceberg's runtime for the version of Spark that is installed, in Maven's repository of this machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocketproof.spark.pipeline import Table, ingest

from .tables import mined, simulated, write

ICEBERG = "1.12.0"
_PROGRAM = """
import json, sys
from rocketproof.spark.session import open_session
from rocketproof.spark.pipeline import SparkCatalog, Table, copy_table
from rocketproof.traces.errors import TraceError
jar, warehouse, table, *what = sys.argv[1:]
conf = {"spark.jars": jar, "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop", "spark.sql.catalog.lake.warehouse": warehouse}
spark = open_session("local[1]", memory="1g", conf=conf)
catalog = SparkCatalog(spark, "lake.rocketmq", format="iceberg")
said = {}
if "killed" in what:
    catalog.note = lambda name, parts: sys.exit("killed")
if "later" in what:
    spark.sql("ALTER TABLE lake.rocketmq.verdicts DROP COLUMN judged")
    try:
        copy_table(Table(table), catalog)
    except TraceError as error:
        said["error"] = str(error)
    spark.sql("UPDATE lake.rocketmq.copied SET version = 99")
    try:
        copy_table(Table(table), catalog)
    except TraceError as error:
        said["version"] = str(error)
else:
    said["done"] = copy_table(Table(table), catalog)
    said["again"] = copy_table(Table(table), catalog)
for name in ("trace", "findings", "verdicts"):
    rows = spark.table(f"lake.rocketmq.{name}").groupBy("part").count().collect()
    said[name] = {row["part"]: row["count"] for row in rows}
    said[f"{name} commits"] = spark.table(f"lake.rocketmq.{name}.snapshots").count()
said["formats"] = [row["value"] for row in spark.sql("SHOW TBLPROPERTIES lake.rocketmq.trace").collect()
                   if row["key"] == "format"]
print(json.dumps(said))
"""


def runtime() -> Path:
    """Iceberg's runtime; the test is skipped where there is none."""
    pyspark = pytest.importorskip("pyspark")
    name = f"iceberg-spark-runtime-{'.'.join(pyspark.__version__.split('.')[:2])}_2.13"
    jar = Path.home() / ".m2/repository/org/apache/iceberg" / name / ICEBERG / f"{name}-{ICEBERG}.jar"
    if not jar.is_file():
        get = f"mvn dependency:get -Dtransitive=false -Dartifact=org.apache.iceberg:{name}:{ICEBERG}"
        pytest.skip(f"Iceberg's runtime for this Spark is not there; where Maven Central has it: {get}")
    return jar


def _copied(*words: Any) -> Any:
    given = [sys.executable, "-c", _PROGRAM, *map(str, words)]
    done = subprocess.run(given, capture_output=True, text=True, check=False)
    if "killed" in words:
        assert done.stderr.splitlines()[-1] == "killed"
        return None
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_table_of_iceberg_has_each_part_once(spark: Any, tmp_path: Path) -> None:
    jar, table, warehouse = runtime(), Table(tmp_path / "table"), tmp_path / "warehouse"
    lines = simulated(tmp_path / "run", messages=60, mutant="B2")
    write(tmp_path / "in/a.jsonl", lines[:200])
    ingest(spark, [tmp_path / "in"], table)
    _copied(jar, warehouse, table.folder, "killed")
    mined(table, spark)
    said = _copied(jar, warehouse, table.folder)
    assert said["done"]["trace"] == ["batch=00000001"]  # once more, since that was not noted
    assert said["again"] == {}
    assert said["formats"] == ["iceberg/parquet"]
    assert said["trace"] == {"batch=00000001": 199}
    assert set(said["verdicts"]) == {"run=00000001"}

    write(tmp_path / "in/a.jsonl", lines)
    write(tmp_path / "in/b.jsonl", simulated(tmp_path / "other", messages=20, seed=2))
    ingest(spark, [tmp_path / "in"], table)
    mined(table, spark)
    before, said = said, _copied(jar, warehouse, table.folder)
    assert said["done"]["trace"] == ["batch=00000001", "batch=00000002"]
    assert set(said["trace"]) == {"batch=00000002"}
    assert said["trace"]["batch=00000002"] > len(lines) - 1
    assert set(said["verdicts"]) == {"run=00000002"}
    assert said["trace commits"] == before["trace commits"] + 1
    assert said["verdicts commits"] == before["verdicts commits"] + 1

    write(tmp_path / "in/c.jsonl", simulated(tmp_path / "third", messages=20, seed=3))
    ingest(spark, [tmp_path / "in"], table)
    mined(table, spark)
    after = _copied(jar, warehouse, table.folder, "later")
    assert "lake`.`rocketmq`.`verdicts`: has other columns than this kit writes (judged)" in after["error"]
    assert "written in version 99 of the table, and this kit knows 1: update rocketproof." in after["version"]
    assert after["verdicts"] == said["verdicts"]
