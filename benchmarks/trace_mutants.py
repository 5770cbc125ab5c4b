"""Trace mutants: right recordings with one event changed, and how many of them check and conform notice.

Recordings of real runs, of a simulated cluster and of runs of the model give the mutants. Yields one figure for each
kind and change, and one for all. ``ROCKETPROOF_TRACE_MUTANTS`` is how many mutants there are of each kind and change of
each recording; ``ROCKETPROOF_TRACE_MUTANTS_TABLE`` names a Markdown file for the table.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import Trace, open_trace
from rocketproof.traces.samples import samples, settings_for, settings_of

from .event_mutants import by_time
from .noticed import Line, Noticed, Recording, markdown, table_of

EACH = 4
SAMPLES = (
    "graceful-shutdown-slow-listener-5.3.3",
    "failures-to-dead-letter-5.3.3",
    "broker-restart-delays-5.3.3",
    "slow-listener-timeout-5.3.3",
    "graceful-shutdown-slow-listener-5.3.3",
    "broadcast-5.3.3",
    "orderly-hand-over-5.3.3",
)
SIMULATED: dict[str, dict[str, Any]] = {
    "simulated": {"churn": 4, "failure_rate": 0.05, "resets": 1, "corrections": 1, "broker_restarts": 1},
    "simulated-orderly": {"churn": 4, "group_kind": "orderly"},
}


def measure() -> Iterator[dict[str, Any]]:
    """Yield how many mutants are noticed, by kind and change and in all."""
    each = int(os.environ.get("ROCKETPROOF_TRACE_MUTANTS", EACH))
    with tempfile.TemporaryDirectory(prefix="rocketproof-bench-") as folder:
        judged = [one for recording in recordings(Path(folder)) for one in recording.judged(each=each)]
    lines = table_of(judged)
    for line in lines:
        yield _figure(line)
    mutants = len(judged)
    yield {
        "figure": "all",
        "mutants": mutants,
        **{str(one.name).lower(): sum(line.check[one] for line in lines) for one in Noticed},
        "conform": sum(line.conform for line in lines),
        "noticed by check": round(sum(line.noticed for line in lines) / mutants, 3),
        "noticed by either": round(sum(line.either for line in lines) / mutants, 3),
        "target": ">= 0.95",
    }
    if path := os.environ.get("ROCKETPROOF_TRACE_MUTANTS_TABLE"):
        Path(path).write_text(markdown(lines), encoding="utf-8")


def recordings(folder: Path) -> Iterator[Recording]:
    """Right recordings: samples, a simulated cluster, runs of the model."""
    known = {sample.name: sample for sample in samples()}
    for name in SAMPLES:
        trace = known[name].open()
        yield _recording(name, trace, settings_for(trace, known[name].check), folder)
    for name, plan in SIMULATED.items():
        made = simulate(
            Plan(out=folder / f"made-{name}", messages=600, queues=4, consumers=3, seed=1, keys=True, **plan)
        )
        trace = open_trace([made.trace])
        yield _recording(name, trace, settings_of(trace.header), folder)


def _recording(name: str, trace: Trace, settings: Settings, folder: Path) -> Recording:
    follow = os.environ.get("ROCKETPROOF_TRACE_MUTANTS_CONFORM", "1") != "0"
    return Recording(name, trace.header, by_time(trace.batches()), settings, folder, follow=follow)


def _figure(line: Line) -> dict[str, Any]:
    return {
        "figure": f"{line.kind} {line.label}",
        "mutants": line.mutants,
        **{str(one.name).lower(): line.check[one] for one in Noticed},
        "conform": line.conform,
        "noticed by either": round(line.either / line.mutants, 2),
        "claims": line.claims,
    }
