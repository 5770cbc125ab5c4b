"""Java and Maven for the tests that run RocketMQ."""

from __future__ import annotations

import os

import pytest

from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import Toolchain


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """The tools of this machine; without them tests are skipped, but fail where a build must not pass without."""
    try:
        return Toolchain.find()
    except LabError as missing:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(missing))
