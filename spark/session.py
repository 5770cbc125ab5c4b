"""Sessions: a local Spark by default, any master, or a session that the user already has."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from ..machine_code.code_cache import user_cache
from ..traces.errors import TraceError
from .class_archive import archive_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
"""Spark 4 does not start on an older one."""

DRIVER_MEMORY = "2g"
"""Heap of a local Spark, where driver and executor are one process; the rest is left to Python workers."""

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"
"""Java only passes on what Python has packed: compiling its code thoroughly costs more time than that code saves."""

BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
BATCH_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"

ROWS_OF_A_BATCH = 256
"""Number of rows that Spark hands over to Python at a time, instead of its own 10,000. Spark computes the size of the
whole batch after each row, so the cost of a row grows with the size of the batch.
"""

EVENTS_OF_A_BATCH = 10_000
"""The same for events, which are small: the size of their batches is not computed, see :func:`event_batches`."""

_NO_LIMIT = 2**31 - 1
"""The number of bytes for which Spark does not compute the size of a batch."""


def open_session(
    master: str = "", *, memory: str = DRIVER_MEMORY, conf: Mapping[str, str] | None = None
) -> SparkSession:
    """A session with the given master, or a local one with all cores; if a session is already running, that one.

    Output of Java goes to a temporary file: its greetings are not of interest, and failures are reported as errors.

    Args:
        master: master of Spark.
        memory: heap of a local one.
        conf: further settings, which take precedence over the kit's own; they apply only if a session is opened.

    Raises:
        TraceError: PySpark is not installed, there is no Java, it is too old, or Spark does not start.
    """
    try:
        import pyspark
        from pyspark import SparkConf, SparkContext
        from pyspark.java_gateway import launch_gateway
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise TraceError(
            "the Spark engine needs PySpark: pip install 'rocketproof[spark]', or use --engine local if possible."
        ) from error
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    if SparkContext._active_spark_context is not None:  # of a job that uses RDDs
        return SparkSession.builder.getOrCreate()
    java = _needed_java()
    archive = archive_options(user_cache("spark"), java, pyspark.__file__, pyspark.__version__)
    settings = SparkConf()
    given = _settings(master or "local[*]", memory, f"{JAVA_OPTIONS} {archive}".rstrip())
    for name, value in {**given, **(conf or {})}.items():
        settings.set(name, value)
    if settings.get("spark.master", "").startswith("local"):
        if sys.platform == "linux":  # elsewhere, a process that has loaded numpy may not be able to fork
            settings.setIfMissing("spark.python.daemon.module", f"{__package__}.daemon")
        # Workers use the Python of this process, and nothing can be reached from outside.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with tempfile.TemporaryFile() as told:
        try:
            with failures():
                launch: Callable[..., Any] = launch_gateway
                gateway = launch(settings, {"stdout": told, "stderr": told})
                return SparkSession(SparkContext(conf=settings, gateway=gateway))
        except TraceError as error:
            raise TraceError(f"{error} {_last_line(told)}".rstrip()) from error


def _settings(master: str, memory: str, java_options: str) -> dict[str, str]:
    return {
        "spark.app.name": "rocketproof",
        "spark.master": master,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": java_options,
        "spark.sql.session.timeZone": "UTC",
        BATCH_ROWS: str(ROWS_OF_A_BATCH),
        # Rows of the shuffle are packed blocks of events, which are already compressed.
        "spark.shuffle.compress": "false",
        # Blocks are shuffled into a number of partitions that is chosen for them.
        "spark.sql.adaptive.enabled": "false",
    }


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    """Set a setting of a session, and restore its earlier value afterwards."""
    before = spark.conf.get(name)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.set(name, str(before))


@contextmanager
def event_batches(spark: SparkSession) -> Iterator[None]:
    """Let a session hand over rows in batches of EVENTS_OF_A_BATCH whose size is not computed. An event then costs Java
    about a third of the time.
    """
    with setting(spark, BATCH_ROWS, str(EVENTS_OF_A_BATCH)), setting(spark, BATCH_BYTES, str(_NO_LIMIT)):
        yield


def together(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[list[pa.RecordBatch]]:
    """Batches combined to at least that many rows: Spark hands rows over in small ones, each of which has a cost."""
    waiting: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if count >= rows:
            yield waiting
            waiting, count = [], 0
    if waiting:
        yield waiting


@contextmanager
def failures() -> Iterator[None]:
    """Turn Spark's error message into one line.

    Raises:
        TraceError: instead of the errors of Spark and its bridge to Java.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise TraceError(f"Spark failed: {_reason(str(error))}") from error


def _reason(text: str) -> str:
    """The most informative line: for a task that failed in Python its error, otherwise the first line."""
    lines = [stripped for line in text.splitlines() if (stripped := line.strip().removeprefix(": "))]
    errors = [line for line in lines if re.match(r"(\w+\.)*\w*(Error|Exception|Interrupt)\b: ", line)]
    inner = [line for line in errors if not line.startswith(("org.apache.spark.", "py4j."))]
    return (inner or errors or lines or ["without a word"])[-1 if inner else 0]


def _last_line(told: IO[bytes]) -> str:
    told.seek(0)
    lines = told.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _needed_java() -> str:
    """What Java says of its version; TraceError if it is too old, or if there is none."""
    said = _java_says()
    java = _version(said)
    if java < OLDEST_JAVA:
        found = f"Java {java}" if java else "no Java"
        raise TraceError(
            f"the Spark engine needs Java {OLDEST_JAVA} or 21, and there is {found} here: install a JRE (on Debian and "
            "Ubuntu: apt-get install openjdk-17-jre-headless) or set JAVA_HOME, or use --engine local if possible."
        )
    return said


def java_version() -> int:
    """The major version of the Java that Spark would start; 0 if there is none."""
    return _version(_java_says())


def _version(said: str) -> int:
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    return int(found[1]) if found else 0


def _java_says() -> str:
    """What the Java that Spark would start says of its version; empty if there is none."""
    home = os.environ.get("JAVA_HOME", "")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if not java or not Path(java).exists():
        return ""
    try:
        return subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60).stderr
    except OSError:
        return ""


def spark_is_installed() -> bool:
    """Whether PySpark can be imported."""
    return importlib.util.find_spec("pyspark") is not None
