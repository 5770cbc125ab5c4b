"""``explore`` against SPIN on the same exported machine: one core, one run, taking turns.

SPIN gets the text of :func:`promela` with every cell in as few bits as its domain takes, ``-O3 -DSAFETY -DNOREDUCE``,
and a hash table with four slots a state. Both search the whole state space and check no property but that writes stay
inside their domains. Of each, the best of several rounds counts, since other work on the machine only ever adds time.
Search times exclude compiling (SPIN's own clock for SPIN); totals include it.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from rocketproof.checkers.exploration import Exploration
from rocketproof.checkers.explore import explore
from rocketproof.checkers.export import promela
from rocketproof.checkers.spin import SpinRun, run_spin, spin_available
from rocketproof.model.assignment import assignment
from rocketproof.model.kernel import Configuration, lower
from rocketproof.model.presets import PRESETS

CONFIGURATIONS: Mapping[str, Configuration] = {
    "assignment-4-2": assignment.configure(consumers=4, running=3, brokers=2, leaves=1, crashes=1, broker_restarts=1),
    **{preset.name: preset.configuration() for preset in PRESETS if preset.name in ("orderly", "retry", "delivery")},
}
ROUNDS = 3
HASH_BITS = 24

Found = TypeVar("Found")


def measure() -> Iterator[dict[str, Any]]:
    """One figure for each configuration."""
    if not spin_available():
        yield {"figure": "distinct states/s, explore ÷ SPIN", "skipped": "spin or cc is not installed"}
        return
    for name, configuration in CONFIGURATIONS.items():
        yield compare(name, configuration)


def compare(name: str, configuration: Configuration) -> dict[str, Any]:
    """Search ``configuration`` with both, alternately, ``ROUNDS`` times, and compare the best times.

    Raises:
        RuntimeError: the two do not count the same states and transitions, or a search was not complete.
    """
    ours: list[tuple[Exploration, float]] = []
    theirs: list[tuple[SpinRun, float]] = []
    text = promela(lower(configuration))
    with one_core() as core:
        for _ in range(ROUNDS):
            ours.append(_timed(lambda: explore(configuration, threads=1)))
            theirs.append(_timed(lambda: run_spin(text, hash_bits=HASH_BITS)))
    counts = {(run.complete, run.states, run.transitions) for run, _ in ours}
    counts |= {(run.complete, run.states, run.transitions) for run, _ in theirs}
    if len(counts) != 1 or not ours[0][0].complete:
        raise RuntimeError(f"{configuration}: explore and SPIN do not agree: {sorted(counts)}.")
    states = ours[0][0].states
    our_seconds = min(run.seconds for run, _ in ours)
    their_seconds = min(run.seconds for run, _ in theirs)
    our_total = min(total for _, total in ours)
    their_total = min(total for _, total in theirs)
    return {
        "figure": "distinct states/s, explore ÷ SPIN",
        "ratio": round(their_seconds / our_seconds, 2),
        "ratios_by_round": [round(b.seconds / a.seconds, 2) for (a, _), (b, _) in zip(ours, theirs, strict=True)],
        "ratio_with_compiling": round(their_total / our_total, 2),
        "configuration": name,
        "states": states,
        "transitions": ours[0][0].transitions,
        "equal_counts": True,
        "explore": {
            "states_per_second": round(states / our_seconds),
            "search_seconds": round(our_seconds, 3),
            "compile_seconds": round(min(run.compile_seconds for run, _ in ours), 3),
            "total_seconds": round(our_total, 3),
            "bytes_per_state": round(ours[0][0].bytes_per_state, 1),
        },
        "spin": {
            "states_per_second": round(states / their_seconds),
            "search_seconds": round(their_seconds, 3),
            "compile_seconds": round(min(run.compile_seconds for run, _ in theirs), 3),
            "total_seconds": round(their_total, 3),
            "bytes_per_state": round(theirs[0][0].memory_bytes / states, 1),
            "state_vector_bytes": theirs[0][0].vector_bytes,
        },
        "rounds": ROUNDS,
        "core": core,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


@contextmanager
def one_core() -> Iterator[int]:
    """Keep this process, and those it starts, on one core."""
    allowed = os.sched_getaffinity(0)
    core = max(allowed)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


def _timed(call: Callable[[], Found]) -> tuple[Found, float]:
    started = time.perf_counter()
    result = call()
    return result, time.perf_counter() - started
