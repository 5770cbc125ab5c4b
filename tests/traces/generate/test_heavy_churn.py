"""Many clients that come and go, and thousands of faults: what is found is what was injected, to the last event.

Known bugs are among them where churn cannot undo what they do: a message that one client loses (D1), or jumps over
(B9), is delivered after all where its queue changes hands then. Those are compared in ``test_simulated_truth``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.explain.report.tables import named
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace

CHURN: Mapping[str, Any] = {
    "messages": 60_000,
    "consumers": 16,
    "queues": 64,
    "brokers": 3,
    "churn": 150,
    "failure_rate": 0.04,
    "resets": 6,
    "corrections": 6,
    "broker_restarts": 4,
    "timeouts": 8,
}
SMALL: Mapping[str, Any] = {"messages": 30_000, "consumers": 8, "queues": 16, "churn": 20, "duration": 3_600_000}
PLANS: Mapping[str, Mapping[str, Any]] = {
    **{f"B1, seed {seed}": {**SMALL, "mutant": "B1", "mutant_places": 300, "seed": seed} for seed in (1, 3)},
    "B7": {"messages": 200_000, "consumers": 6, "queues": 16, "mutant": "B7", "mutant_places": 200, "keys": True},
    **{f"churn, seed {seed}": {**CHURN, "seed": seed} for seed in range(6)},
    **{
        f"churn, {mutant}": {**CHURN, "mutant": mutant, "mutant_places": 1_000, "seed": seed}
        for seed, mutant in enumerate(("B4", "B7", "D2", "H2"), start=1)
    },
    "orderly churn": {**CHURN, "group_kind": "orderly", "resets": 0, "corrections": 0, "timeouts": 0},
}
QUICK = "churn, seed 0"


def differences(out: Path, plan: Mapping[str, Any]) -> dict[str, Counter[Any]]:
    """What is found and not true, and what is true and not found: violations, repetitions, dead letters."""
    made = simulate(Plan(out=out, **plan))
    truth = pq.read_table(made.truth).to_pylist()
    result = check_locally(open_trace([made.trace]), settings=Settings())
    rows = named(result.rows, result.names).to_pylist()
    plain = [row for row in rows if row["note"] is None]
    found = {
        "violations": Counter((row["claim"], *_subject(row)) for row in plain if row["cause"] is None),
        "repetitions": Counter(
            (*_place(row), round(row["time"].timestamp() * 1000))
            for row in plain
            if row["claim"] == "every-duplicate-has-a-cause" and row["cause"] is not None
        ),
        "dead letters": Counter(
            row["origin"] for row in rows if row["note"] == "chain" and row["reason"] == "dead lettered"
        ),
    }
    true = {
        "violations": Counter((fact["claim"], *_subject(fact)) for fact in truth if fact["what"] == "violation"),
        "repetitions": Counter((*_place(fact), fact["time"]) for fact in truth if fact["what"] == "repeated"),
        "dead letters": Counter({fact["origin"] for fact in truth if fact["what"] == "died"}),
    }
    assert result.messages[MessageStatus.DEAD_LETTERED] == len(true["dead letters"])
    return {
        f"{what} {how}": one - other
        for what in found
        for how, one, other in (("invented", found[what], true[what]), ("missed", true[what], found[what]))
        if one - other
    }


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["topic"], row["broker"], row["queue"], row["offset"]


def _subject(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a violation is about: a place in a queue, or the message where the truth knows no place."""
    return _place(row) if row["claim"] in OF_PLACES else (row["origin"],)


OF_PLACES = {
    "every-duplicate-has-a-cause",
    "offset-never-back-without-cause",
    "offset-never-past-unfinished",
    "nothing-skipped",
    "failed-message-comes-again",
    "orderly-in-order",
}


@pytest.mark.parametrize(
    "name", [name if name == QUICK else pytest.param(name, marks=pytest.mark.slow) for name in PLANS]
)
def test_what_is_found_is_what_was_injected(name: str, tmp_path: Path) -> None:
    assert differences(tmp_path, PLANS[name]) == {}
