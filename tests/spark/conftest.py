"""One Spark for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from rocketproof.spark.session import OLDEST_JAVA, java_version, open_session


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("pyspark")
    if java_version() < OLDEST_JAVA and os.environ.get("CI") != "true":
        pytest.skip(f"Spark needs Java {OLDEST_JAVA} or newer")
    # Two cores; a task that fails is tried up to four times.
    warehouse = str(tmp_path_factory.mktemp("warehouse"))
    session = open_session("local[2,4]", memory="1g", conf={"spark.sql.warehouse.dir": warehouse})
    yield session
    session.stop()
