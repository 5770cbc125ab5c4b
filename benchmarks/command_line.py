"""How long the command line takes, as whole processes."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ROUNDS = 5
_COMMAND = (sys.executable, "-m", "rocketproof")


def measure() -> Iterator[dict[str, Any]]:
    """``--help``, then the default suite with empty caches and with full ones."""
    help_seconds = [_run("--help", environment=dict(os.environ)) for _ in range(_ROUNDS)]
    yield {
        "figure": "rocketproof --help",
        "seconds": round(statistics.median(help_seconds), 3),
        "slowest": round(max(help_seconds), 3),
        "runs": _ROUNDS,
        "target": "< 0.4 s",
    }
    folder = Path(tempfile.mkdtemp(prefix="rocketproof-bench-"))
    try:
        environment = {
            **os.environ,
            "ROCKETPROOF_CACHE": str(folder / "code"),
            "NUMBA_CACHE_DIR": str(folder / "numba"),
        }
        cold = _run("verify", environment=environment)
        warm = [_run("verify", environment=environment) for _ in range(_ROUNDS)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    yield {"figure": "rocketproof verify, empty caches", "seconds": round(cold, 2), "target": "< 60 s"}
    yield {
        "figure": "rocketproof verify, warm caches",
        "seconds": round(statistics.median(warm), 2),
        "slowest": round(max(warm), 2),
        "runs": _ROUNDS,
        "target": "< 20 s",
    }


def _run(*arguments: str, environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run((*_COMMAND, *arguments), env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
