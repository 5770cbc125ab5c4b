"""Where Java or Spark is missing, one line says what to do; where Spark fails, one line says why."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rocketproof.spark import session
from rocketproof.spark.session import BATCH_BYTES, BATCH_ROWS, event_batches, failures, java_version, open_session
from rocketproof.traces.errors import TraceError


def java_that_says(folder: Path, text: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{text}' >&2\n")
    java.chmod(0o755)
    return folder


@pytest.mark.parametrize(
    ("text", "version"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('openjdk version "25" 2025-09-16', 25),
     ('java version "1.8.0_392"', 8), ("no JVM could be found", 0)],
)  # fmt: skip
def test_the_version_of_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, version: int) -> None:
    monkeypatch.setenv("JAVA_HOME", str(java_that_says(tmp_path, text)))
    assert java_version() == version


def without_session(code: str, **environment: str) -> str:
    """The last line that a process of its own prints; it has no Spark yet."""
    text = f"from rocketproof.spark import open_session\nfrom rocketproof.traces.errors import TraceError\n{code}"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == ""
    return done.stdout.strip()


OPEN = "try:\n    open_session()\nexcept TraceError as error:\n    print(error)"


def test_without_java(tmp_path: Path) -> None:
    said = without_session(OPEN, PATH=str(tmp_path), PYTHONPATH=":".join(sys.path))
    assert said.splitlines() == [
        "the Spark engine needs Java 17 or 21, and there is no Java here: install a JRE (on Debian and Ubuntu: apt-get "
        "install openjdk-17-jre-headless) or set JAVA_HOME, or use --engine local if possible."
    ]


def test_with_a_java_that_is_too_old(tmp_path: Path) -> None:
    home = java_that_says(tmp_path, 'java version "1.8.0_392"')
    said = without_session(OPEN, JAVA_HOME=str(home), PYTHONPATH=":".join(sys.path))
    assert "needs Java 17 or 21, and there is Java 8 here" in said
    assert len(said.splitlines()) == 1


def test_without_spark(tmp_path: Path) -> None:
    hide = "import sys\nsys.modules['pyspark'] = None\n"
    said = without_session(hide + OPEN, PYTHONPATH=":".join(sys.path))
    assert (
        said == "the Spark engine needs PySpark: pip install 'rocketproof[spark]', or use --engine local if possible."
    )


def test_the_running_session_is_taken(spark: Any) -> None:
    assert open_session("local[1]") is spark


def test_batches_of_events_are_large_for_a_while(spark: Any) -> None:
    before = [spark.conf.get(name) for name in (BATCH_ROWS, BATCH_BYTES)]
    assert before[0] == "256"
    with event_batches(spark):
        assert [spark.conf.get(name) for name in (BATCH_ROWS, BATCH_BYTES)] == ["10000", "2147483647"]
    assert [spark.conf.get(name) for name in (BATCH_ROWS, BATCH_BYTES)] == before


def test_a_task_that_fails_is_told_by_its_error(spark: Any) -> None:
    def fail(batches: Any) -> Any:
        raise ValueError("this queue has no end")

    with pytest.raises(TraceError) as caught, failures():
        spark.range(1).mapInArrow(fail, "id long").collect()
    assert str(caught.value) == "Spark failed: ValueError: this queue has no end"


def test_workers_begin_with_the_code_of_the_kit(spark: Any) -> None:
    names = ["rocketproof.spark.check", "rocketproof.traces.monitors.queues.queues", "pandas"]
    loaded = spark.sparkContext.parallelize(names, 3).map(lambda name: name in __import__("sys").modules)
    assert loaded.collect() == [True, True, True]


def test_a_path_that_is_not_there_is_told(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught, failures():
        spark.read.parquet(str(tmp_path / "nothing"))
    assert "nothing" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_spark_greets_with_does_not_reach_the_terminal() -> None:
    if java_version() < session.OLDEST_JAVA:
        pytest.skip("no Java")
    code = "from rocketproof.spark import open_session\nprint(open_session('local[1]').range(3).count())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("3\n", "")
