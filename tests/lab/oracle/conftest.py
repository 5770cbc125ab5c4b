"""One JVM with the real classes of each release, for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.lab.maven import RELEASES, Toolchain

from .oracle import Oracle
from .real import Real


@pytest.fixture(scope="session", params=RELEASES)
def real(
    request: pytest.FixtureRequest, toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Real]:
    release = str(request.param)
    home: Path = tmp_path_factory.mktemp(f"oracle-{release}")
    with Oracle.start(toolchain, release, home=home) as oracle:
        yield Real(oracle)
