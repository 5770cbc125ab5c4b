"""The monitor by group against simulated clusters: it finds the injected violations of its claims, and no others."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from rocketproof.traces.claims.claim import Monitor
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.claims.group_steps import LIFECYCLE, SHARES
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.scan import scan
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace
from rocketproof.traces.monitors.fold import Outcome
from rocketproof.traces.monitors.groups.groups import GroupMonitor

pytestmark = pytest.mark.slow

STEPS = {LIFECYCLE, SHARES}
BY_GROUP = {claim.id for claim in CLAIMS if claim.monitor is Monitor.GROUPS} - STEPS


def found_in(folder: Path) -> tuple[Outcome, Names]:
    trace = open_trace([folder / "trace.parquet"])
    names = Names(trace.header.groups)
    monitor = GroupMonitor(names=names, settings=Settings(), context=scan(trace).context)
    return monitor.finish(), names


@pytest.mark.parametrize("seed", range(4))
def test_a_correct_cluster_with_churn_violates_nothing(tmp_path: Path, seed: int) -> None:
    simulate(Plan(out=tmp_path, messages=20_000, topics=2, churn=30, broker_restarts=2, consumers=6, seed=seed))
    outcome, _ = found_in(tmp_path)
    assert outcome.violated.sum() == outcome.doubtful.sum() == 0
    assert np.count_nonzero(outcome.judged) == 7  # no queue beyond those of the route is stored to


@pytest.mark.parametrize("mutant", ["A1", "A2", "A3", "A5", "A6", "A8"])
@pytest.mark.parametrize("seed", range(2))
def test_the_injected_violations_are_found_and_no_others(tmp_path: Path, mutant: str, seed: int) -> None:
    simulate(Plan(out=tmp_path, messages=20_000, topics=2, churn=6, mutant=mutant, seed=seed))
    truth = pq.read_table(tmp_path / "truth.parquet").to_pylist()
    injected = Counter(
        (row["claim"], row["client"], row["incarnation"] or 0)
        for row in truth
        if row["what"] == "violation" and row["claim"] in BY_GROUP
    )
    outcome, names = found_in(tmp_path)
    actors = [names.actors[actor] for actor in outcome.rows["actor"]]
    found = Counter(
        (CLAIMS[claim].id, actor.name, actor.incarnation)
        for claim, actor in zip(outcome.rows["claim"], actors, strict=True)
    )
    # On the way to them it may take steps that do not follow: a member that keeps an old list divides among others.
    assert Counter({each: count for each, count in found.items() if each[0] not in STEPS}) == injected
    assert sum(injected.values()) >= 1
