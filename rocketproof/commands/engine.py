"""What processes the events of a trace: this process, or Spark."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import InputError
from ..model.kernel import nearest
from ..traces.errors import TraceError
from ..traces.io import Trace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK_FROM_EVENTS = 200_000_000
"""Number of events from which on the engine ``auto`` leaves the check to Spark, if Spark is installed."""


class Engine(enum.StrEnum):
    """What processes the events."""

    AUTO = "auto"
    LOCAL = "local"
    SPARK = "spark"


def engine_of(name: str) -> Engine:
    """The engine with a name.

    Raises:
        InputError: there is none.
    """
    if name not in list(Engine):
        raise InputError(f"there is no engine {name!r}.{nearest(name, list(Engine))}")
    return Engine(name)


def chosen_engine(trace: Trace, asked: Engine, master: str) -> Engine:
    """The engine of a check, which is not AUTO; ``master``: master of Spark, if one is named."""
    if asked is not Engine.AUTO:
        return asked
    if master:
        return Engine.SPARK
    if trace.rows is None or trace.rows < SPARK_FROM_EVENTS:
        return Engine.LOCAL
    from ..spark.session import OLDEST_JAVA, java_version, spark_is_installed

    return Engine.SPARK if spark_is_installed() and java_version() >= OLDEST_JAVA else Engine.LOCAL


def spark_session(master: str, *, conf: Mapping[str, str] | None = None, remedy: str = "") -> SparkSession:
    """A session of Spark; ``conf``: settings of the user; ``remedy``: what to do if it does not start.

    Raises:
        InputError: Spark does not start.
        TraceError: PySpark or Java is missing.
    """
    from ..spark.session import open_session

    try:
        return open_session(master, conf=conf)
    except TraceError:
        raise
    except Exception as error:  # Spark, Py4J and the operating system each have their own
        first_line = str(error).strip().partition("\n")[0]
        given = f" with --master {master}" if master else ""
        raise InputError(f"Spark does not start{given}: {first_line}{remedy}") from error
