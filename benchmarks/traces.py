"""Checking traces in one process, against DuckDB, on the same file in the same run.

A simulated correct cluster gives the trace. The check answers every claim and must find nothing. DuckDB answers four
questions with windows, which is what one would write by hand: where the stored offset went back, where it passed what
was finished, how often the owner changed, what was delivered twice. Each runs in a process of its own, in turns; the
best of the rounds counts, since other work on the machine only ever adds time. ``ROCKETPROOF_TRACE_MESSAGES`` changes
the size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocketproof.traces.generate.simulation import Plan, simulate

MESSAGES = 6_200_000
"""Give about 20 million events."""

ROUNDS = 3
SMALL = 3_000
"""Messages that give about 10,000 events."""

_CHECK = """
import json, resource, sys, time
from rocketproof.traces.engine.kept_memory import keep_freed_memory
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.io import open_trace
from rocketproof.traces.claims.settings import Settings
best = None
keep_freed_memory()
for _ in range(int(sys.argv[2])):
    begun = time.perf_counter()
    result = check_locally(open_trace([sys.argv[1]]), settings=Settings())
    seconds = time.perf_counter() - begun
    best = seconds if best is None else min(best, seconds)
print(json.dumps({
    "events": result.events,
    "seconds": best,
    "processor": time.process_time() / int(sys.argv[2]),
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "violations": int(len(result.violations)),
    "claims judged": sum(1 for answer in result.verdicts if answer.judged),
}))
"""

_WINDOWS = """
import json, resource, sys, time
import duckdb
best = None
for _ in range(int(sys.argv[2])):
    begun = time.perf_counter()
    base = duckdb.connect()
    base.execute("set threads = 2")
    base.execute("set enable_progress_bar = false")
    events = f"read_parquet('{sys.argv[1]}')"
    base.execute(f'''
        select sum((kind = 'commit' and before > "offset")::int),
               sum((kind = 'commit' and "offset" > finished)::int),
               sum((client_before != client)::int)
        from (
            select *,
                last(case when kind = 'commit' then "offset" end ignore nulls)
                    over (w rows between unbounded preceding and 1 preceding) as before,
                count(case when kind = 'result' then "offset" end)
                    over (w rows between unbounded preceding and current row) as finished,
                lag(client) over w as client_before
            from {events}
            where client is not null
            window w as (partition by "group", topic, broker, queue order by time, seq)
        )
    ''').fetchall()
    base.execute(f'''
        select count(*) filter (times > 1), max(first) from (
            select "group", topic, broker, queue, "offset", count(*) as times, min(time) as first
            from {events} where kind = 'deliver' group by all
        )
    ''').fetchall()
    seconds = time.perf_counter() - begun
    best = seconds if best is None else min(best, seconds)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"seconds": best, "processor": time.process_time() / int(sys.argv[2]), "peak": peak}))
"""


def measure() -> Iterator[dict[str, Any]]:
    """Yield the figures of a large trace beside DuckDB, and of a small one on the command line."""
    messages = int(float(os.environ.get("ROCKETPROOF_TRACE_MESSAGES", MESSAGES)))
    with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as folder:
        begun = time.perf_counter()
        made = simulate(Plan(out=Path(folder, "large"), messages=messages, consumers=8, queues=64, churn=20, seed=1))
        seconds = time.perf_counter() - begun
        yield {"what": "simulate", "events": made.events, "seconds": round(seconds, 1)} | _rate(made.events, seconds)
        yield from _large(made.trace, made.events)
        yield _small(Path(folder, "small"))


def _large(trace: Path, events: int) -> Iterator[dict[str, Any]]:
    checks, windows = [], []
    for _ in range(ROUNDS):
        checks.append(_alone(_CHECK, trace, rounds=1))
        windows.append(_alone(_WINDOWS, trace, rounds=1))
    check = min(checks, key=lambda run: run["seconds"])
    duck = min(windows, key=lambda run: run["seconds"])
    assert all(run["events"] == events for run in checks)
    yield {
        "what": "check, all claims",
        "events": events,
        "seconds": round(check["seconds"], 2),
        "processor seconds": round(check["processor"], 2),
        **_rate(events, check["seconds"]),
        "peak MiB": round(max(run["peak"] for run in checks) / 2**20),
        "bytes an event": round(max(run["peak"] for run in checks) / events, 1),
        "claims judged": check["claims judged"],
        "violations": check["violations"],
    }
    yield {
        "what": "DuckDB, four windows",
        "seconds": round(duck["seconds"], 2),
        "processor seconds": round(duck["processor"], 2),
        **_rate(events, duck["seconds"]),
        "peak MiB": round(max(run["peak"] for run in windows) / 2**20),
        "times as long as the check": round(duck["seconds"] / check["seconds"], 2),
    }


def _small(folder: Path) -> dict[str, Any]:
    made = simulate(Plan(out=folder, messages=SMALL, consumers=3, queues=8, seed=2, format="jsonl", keys=True))
    command = [sys.executable, "-m", "rocketproof", "check", str(made.trace)]
    seconds = []
    for _ in range(ROUNDS + 1):
        begun = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - begun)
    return {"what": "rocketproof check, JSONL", "events": made.events, "seconds, warm": round(min(seconds[1:]), 2)}


def _alone(script: str, trace: Path, *, rounds: int) -> dict[str, Any]:
    run = subprocess.run(
        [sys.executable, "-c", script, str(trace), str(rounds)], check=True, capture_output=True, text=True
    )
    answer: dict[str, Any] = json.loads(run.stdout)
    return answer


def _rate(events: int, seconds: float) -> dict[str, float]:
    return {"million events a second": round(events / seconds / 1e6, 2)}
