"""Checking traces on Spark with two cores, against the embedded engine, on the same file in the same run.

Simulated correct clusters give traces of about 10 and 20 million events. Each engine runs in a process of its own; of
Spark the start of the session is told apart, and so is the first check, which starts workers and warms up Java.
Memory is what all processes of the run hold together at a time. ``ROCKETPROOF_SPARK_MESSAGES`` names other sizes, in
messages, such as ``3e6,3e7``; 3 million messages give about 10 million events, 30 million about 100 million.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._worked import watched
from rocketproof.traces.generate.simulation import Plan, simulate

MESSAGES = "3e6,6e6"
ROUNDS = 2

_LOCAL = """
import json, sys, time
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.io import open_trace
from rocketproof.traces.claims.settings import Settings
seconds = []
for _ in range(int(sys.argv[2])):
    begun = time.perf_counter()
    result = check_locally(open_trace([sys.argv[1]]), settings=Settings())
    seconds.append(time.perf_counter() - begun)
print(json.dumps({"events": result.events, "seconds": min(seconds), "violations": len(result.violations)}))
"""

_SPARK = """
import json, sys, time
from rocketproof.spark import check_with_spark, open_session
from rocketproof.traces.io import open_trace
from rocketproof.traces.claims.settings import Settings
begun = time.perf_counter()
session = open_session("local[2]")
start = time.perf_counter() - begun
seconds = []
for _ in range(int(sys.argv[2]) + 1):
    begun = time.perf_counter()
    result = check_with_spark(open_trace([sys.argv[1]]), settings=Settings(), session=session)
    seconds.append(time.perf_counter() - begun)
print(json.dumps({
    "events": result.events,
    "start": start,
    "first": seconds[0],
    "seconds": min(seconds[1:]),
    "violations": len(result.violations),
}))
"""


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures of both engines for each size, and what an event of the largest costs beside the smallest."""
    costs = []
    for messages in os.environ.get("ROCKETPROOF_SPARK_MESSAGES", MESSAGES).split(","):
        with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as folder:
            plan = Plan(out=Path(folder), messages=int(float(messages)), consumers=8, queues=64, churn=20, seed=1)
            made = simulate(plan)
            local, spark = _run(_LOCAL, made.trace), _run(_SPARK, made.trace)
        assert local["events"] == spark["events"] == made.events
        costs.append(spark["seconds"] / made.events)
        yield {
            "figure": "check on Spark local[2], all claims",
            "events": made.events,
            "seconds": round(spark["seconds"], 2),
            "million events a second": round(made.events / spark["seconds"] / 1e6, 2),
            "seconds, first check": round(spark["first"], 2),
            "seconds, start of Spark": round(spark["start"], 2),
            "peak MiB, all processes": round(spark["peak"] / 2**20),
            "violations": spark["violations"],
            "target": ">= 1 million events a second, <= 6 GiB",
        }
        yield {
            "figure": "check in one process, all claims",
            "events": made.events,
            "seconds": round(local["seconds"], 2),
            "peak MiB, all processes": round(local["peak"] / 2**20),
            "violations": local["violations"],
            "Spark takes times as long": round(spark["seconds"] / local["seconds"], 2),
        }
    if len(costs) > 1:
        yield {
            "figure": "an event of the largest trace, beside one of the smallest",
            "ratio": round(costs[-1] / costs[0], 2),
            "target": "<= 1.3",
        }


def _run(script: str, trace: Path) -> dict[str, Any]:
    """What a process answers, and the most memory that it and its children held together."""
    return watched([sys.executable, "-c", script, str(trace), str(ROUNDS)])
