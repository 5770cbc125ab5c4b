"""The pipeline on Spark with two cores: from files to a trace table, and from the table to the tables of a run.

A simulated correct cluster gives a trace of about a million events, and one of ten million. Ingesting and mining run in
a process of their own each, whose start counts; the peak of memory is that of the driver's Python, which should not
grow with the events, since tasks read and judge them. ``ROCKETPROOF_PIPELINE_MESSAGES`` names other sizes, in messages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocketproof.traces.generate.simulation import Plan, simulate

MESSAGES = "3e5,3e6"

_PROGRAM = """
import json, resource, sys, time
from rocketproof.spark import open_session
from rocketproof.spark.pipeline import Table, ingest, mine_table
from rocketproof.traces.samples import settings_of
what, table, trace = sys.argv[1], Table(sys.argv[2]), sys.argv[3]
begun = time.perf_counter()
spark = open_session("local[2]")
if what == "ingest":
    ingest(spark, [trace], table)
else:
    mine_table(lambda: spark, table, terms=lambda opened: settings_of(opened.header))
seconds = time.perf_counter() - begun
spark.stop()
print(json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10}))
"""


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures of ingesting and of mining, for each size."""
    for messages in os.environ.get("ROCKETPROOF_PIPELINE_MESSAGES", MESSAGES).split(","):
        with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as folder:
            run, table = Path(folder, "run"), Path(folder, "table")
            made = simulate(Plan(out=run, messages=int(float(messages)), consumers=8, queues=64, churn=20, seed=1))
            for what in ("ingest", "mine"):
                told = _run(what, table, made.trace)
                yield {
                    "figure": f"pipeline {what}, local[2], the start of Spark included",
                    "events": made.events,
                    "seconds": round(told["seconds"], 2),
                    "million events a second": round(made.events / told["seconds"] / 1e6, 2),
                    "peak MiB, driver": round(told["peak"] / 2**20),
                    "MiB of the trace": round(made.trace.stat().st_size / 2**20),
                    "MiB of the table": round(_size(table) / 2**20),
                }


def _run(what: str, table: Path, trace: Path) -> Any:
    words = [sys.executable, "-c", _PROGRAM, what, str(table), str(trace)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
