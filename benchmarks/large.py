"""A trace of a hundred million events on Spark with two cores: does an event cost the same, and is memory bounded?

One simulated group works for twenty hours: ten million events. Copies of it, each with other clients, topics, messages
and times, are a cluster of many groups. ``ROCKETPROOF_LARGE_GROUPS`` names other numbers of groups: 96 give 10^9
events, in 11 GB of Parquet that takes 1,000 seconds of a processor to make. ``ROCKETPROOF_LARGE_FOLDER`` names where
traces are kept, and made only if they are missing. Each check runs in a process of its own, whose start counts, and
writes to the standard error stream how far it is. What is shuffled, about 23 bytes for each event, is stored in the
temporary folder (``TMPDIR``) meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks._worked import watched
from rocketproof.traces.format.schema import HEADER_KEY
from rocketproof.traces.generate.simulation import Plan, simulate

GROUPS = "1,10"

MESSAGES = 3_000_000
HOUR = 3_600_000
APART = 37_000
"""By how much each group is later than the one before, ms."""

ROWS = 1 << 20
"""Events of a row group, about."""

_PROGRAM = """
import json, os, sys, threading, time
from benchmarks._worked import peak
from rocketproof.spark import check_with_spark, open_session
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.io import open_trace
begun = time.perf_counter()
session = open_session("local[2]", conf={"spark.local.dir": sys.argv[2]})

def told(**more):
    return json.dumps({**more, "seconds": time.perf_counter() - begun, "driver": peak()})

def tell():
    status, before = session.sparkContext.statusTracker(), ""
    while True:
        stages = [status.getStageInfo(stage) for stage in status.getActiveStageIds()]
        shown = "; ".join(f"stage {one.stageId}: {one.numCompletedTasks} of {one.numTasks}" for one in stages if one)
        if shown != before:
            print(told(doing=shown or "the driver's own work"), file=sys.stderr, flush=True)
        before = shown
        time.sleep(10)

threading.Thread(target=tell, daemon=True).start()
result = check_with_spark(open_trace([sys.argv[1]]), settings=Settings(), session=session)
print(told(events=result.events, violations=len(result.violations)), flush=True)
session.stop()
"""


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures of each number of groups, and what an event of the largest trace costs beside the smallest."""
    given = os.environ.get("ROCKETPROOF_LARGE_FOLDER")
    with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as made:
        folder, costs = Path(given or made), []
        for groups in map(int, os.environ.get("ROCKETPROOF_LARGE_GROUPS", GROUPS).split(",")):
            trace, load = trace_of(groups, folder), os.getloadavg()[0]
            with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as shuffled:
                told = watched([sys.executable, "-c", _PROGRAM, str(trace), shuffled])
            assert told["events"] == pq.ParquetFile(trace).metadata.num_rows
            costs.append(told["worked"] / told["events"])
            yield {
                "figure": f"check of {groups} groups on Spark local[2], the start included",
                "events": told["events"],
                "seconds": round(told["seconds"], 1),
                "seconds of processors": round(told["worked"], 1),
                "events a second": round(told["events"] / told["seconds"]),
                "events a second of a processor": round(told["events"] / told["worked"]),
                "load at the beginning": round(load, 1),
                "peak MiB, driver's Python": round(told["driver"] / 2**20),
                "peak MiB, all processes": round(told["peak"] / 2**20),
                "MiB of the trace": round(trace.stat().st_size / 2**20),
                "violations": told["violations"],
            }
    if len(costs) > 1:
        yield {
            "figure": "processor time of an event of the largest trace, beside one of the smallest",
            "ratio": round(costs[-1] / costs[0], 2),
        }


def trace_of(groups: int, folder: Path) -> Path:
    """The trace of that many groups, which is made in the folder if it is not there."""
    whole = folder / f"groups-{groups}.parquet"
    if whole.exists():
        return whole
    base = folder / "one" / "trace.parquet"
    if not base.exists():
        plan = Plan(out=base.parent, messages=MESSAGES, consumers=8, queues=64, churn=20, seed=1, duration=20 * HOUR)
        simulate(plan)
    part = whole.with_suffix(".part")
    _multiply(pq.read_table(base), groups, part)
    return part.rename(whole)


def _multiply(events: pa.Table, groups: int, out: Path) -> None:
    """Write as many copies of a group's events as one trace, in the order of time."""
    events = events.drop_columns(["seq"]).combine_chunks().unify_dictionaries()
    header = json.loads(events.schema.metadata[HEADER_KEY.encode()])
    ((name, group),) = header["groups"].items()
    header["groups"] = {_renamed(name, number): group for number in range(groups)}
    times = events["time"].to_numpy()
    slices = max(1, len(events) * groups // ROWS)
    limits = np.linspace(times[0], times[-1] + APART * groups, slices + 1).astype(np.int64)
    limits[-1] += 1
    schema = events.schema.with_metadata({HEADER_KEY: json.dumps(header)})
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for begin, end in pairwise(limits):
            copies = []
            for number in range(groups):
                first, last = np.searchsorted(times, (begin - APART * number, end - APART * number))
                if last > first:
                    copies.append(_copy(events.slice(first, last - first), number))
            if copies:
                together = pa.concat_tables(copies).unify_dictionaries()
                order = np.argsort(together["time"].to_numpy(), kind="stable")
                writer.write_table(together.take(order).cast(schema), row_group_size=2 * ROWS)


def _copy(events: pa.Table, number: int) -> pa.Table:
    """The events of one group, as those of another: clients, topics, messages and times are other ones."""
    later = APART * number
    for name in ("time", "due"):
        events = _with(events, name, pc.add(events[name], later))
    events = _with(events, "origin", pc.bit_wise_xor(events["origin"], number * 0x9E3779B97F4A7))
    for name in ("client", "group", "topic"):
        chunks = [
            pa.DictionaryArray.from_arrays(chunk.indices, _words(chunk.dictionary, number))
            for chunk in events[name].chunks
        ]
        events = _with(events, name, pa.chunked_array(chunks, events[name].type))
    for name in ("members", "subscriptions"):
        lists = events[name].combine_chunks()
        words = _words(lists.values, number)
        events = _with(events, name, pa.ListArray.from_arrays(lists.offsets, words, mask=lists.is_null()))
    return events


def _with(events: pa.Table, name: str, column: Any) -> pa.Table:
    return events.set_column(events.schema.get_field_index(name), events.schema.field(name), column)


def _words(words: pa.Array, number: int) -> pa.Array:
    return pa.array([None if word is None else _renamed(word, number) for word in words.to_pylist()], words.type)


def _renamed(word: str, number: int) -> str:
    """A client, topic or group, or a subscription of it, as that of another group."""
    if word.startswith("10."):
        return word.replace("10.", f"10.{number + 1}.", 1).replace(".0.0.", ".0.", 1)
    return word.replace("orders", f"orders-{number}", 1)
