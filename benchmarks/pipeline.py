"""The pipeline on Spark with two cores: from files to a trace table, from the table to the tables of a run, and on.

A simulated correct cluster works for twenty hours, which gives a trace of about two million events, and one of eleven
million; the last hour is ingested and mined after the rest. Each step runs in a process of its own, whose start counts.
Time is told as the clock has it, and as processors have worked, Java and Python workers included, since other work on
the machine changes the one and hardly the other; its load when the step began is told too. The peak of memory is that
of the driver's Python. ``ROCKETPROOF_PIPELINE_MESSAGES`` names other sizes, in messages.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks._worked import watched
from rocketproof.traces.generate.simulation import Plan, simulate

MESSAGES = "3e5,3e6"

HOUR = 3_600_000
HOURS = 20

_PROGRAM = """
import json, sys, time
from benchmarks._worked import peak
from rocketproof.spark import open_session
from rocketproof.spark.pipeline import Table, ingest, mine_table
from rocketproof.traces.samples import settings_of
what, table, trace = sys.argv[1], Table(sys.argv[2]), sys.argv[3]
begun, since = time.perf_counter(), ""
if what == "ingest":
    ingest(open_session("local[2]"), [trace], table)
else:
    done = mine_table(lambda: open_session("local[2]"), table, terms=lambda opened: settings_of(opened.header))
    (one,) = done.since.values()
    since = "a state" if one.time is not None else "the beginning" + (f": {one.why}" if one.why else "")
seconds = time.perf_counter() - begun
print(json.dumps({"seconds": seconds, "driver": peak(), "since": since}))
"""


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures of each step, for each size."""
    for messages in os.environ.get("ROCKETPROOF_PIPELINE_MESSAGES", MESSAGES).split(","):
        with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as folder:
            run, table = Path(folder, "run"), Path(folder, "table")
            size, duration = int(float(messages)), HOURS * HOUR
            plan = Plan(out=run, messages=size, consumers=8, queues=64, churn=20, seed=1, duration=duration)
            parts = _parted(simulate(plan).trace, Path(folder))
            for which, (trace, events) in zip(("all but the new hour", "the new hour"), parts, strict=True):
                for what in ("ingest", "mine"):
                    load = os.getloadavg()[0]
                    told = watched([sys.executable, "-c", _PROGRAM, what, str(table), str(trace)])
                    yield {
                        "figure": f"pipeline {what}, {which}, local[2], the start included",
                        "events": events,
                        "seconds": round(told["seconds"], 2),
                        "seconds of processors": round(told["worked"], 2),
                        "events a second": round(events / told["seconds"]),
                        "events a second of a processor": round(events / told["worked"]),
                        "load at the beginning": round(load, 1),
                        "peak MiB, driver": round(told["driver"] / 2**20),
                        "MiB of the trace": round(trace.stat().st_size / 2**20),
                        "MiB of the table": round(_size(table) / 2**20),
                        **({"from": told["since"]} if told["since"] else {}),
                    }


def _parted(trace: Path, folder: Path) -> list[tuple[Path, int]]:
    """A trace in two files, and how many events each has: all but those of the last hour, and these."""
    events = pq.read_table(trace)
    middle = pc.max(events["time"]).as_py() - HOUR
    parts = []
    for name, chosen in (("old", pc.less(events["time"], middle)), ("new", pc.greater_equal(events["time"], middle))):
        part = events.filter(chosen)
        pq.write_table(part, folder / f"{name}.parquet", compression="zstd")
        parts.append((folder / f"{name}.parquet", len(part)))
    return parts


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
