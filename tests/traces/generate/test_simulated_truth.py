"""What is found in simulated traces is what was injected, and nothing else; correct clusters give no finding."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.claim import Monitor
from rocketproof.traces.claims.claims import CLAIMS, CODE
from rocketproof.traces.claims.group_steps import SHARES
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.explain.report.tables import named
from rocketproof.traces.generate.simulation import MUTANTS, Plan, simulate
from rocketproof.traces.io import open_trace

SIZE: Mapping[str, Any] = {"messages": 30_000, "consumers": 4, "queues": 16, "seed": 5}
# Their truth names the queue and the time, not an offset.
OF_WHOLE_QUEUES = {"overlaps-are-short", "every-queue-gets-an-owner", "no-flapping", "every-queue-moves"}
STEPS = "steps-follow-each-other"
ON_THE_WAY = {
    # A client may take or keep what its passes do not give it, or not take what they do (D8).
    **dict.fromkeys(("A5", "A9", "D8", "E3"), SHARES),
    # It drops a queue as idle that it has just pulled.
    "A10": STEPS,
    # The group takes all messages, and is told that none matched.
    "B8": STEPS,
}
"""Mutant → the claim that is violated on the way, of which the truth says nothing."""
CASES = [(mutant.id, kind) for mutant in MUTANTS.values() for kind in mutant.kinds]


def checked(out: Path, **plan: Any) -> tuple[CheckResult, list[dict[str, Any]]]:
    made = simulate(Plan(out=out, **{**SIZE, **plan}))
    truth = pq.read_table(made.truth)
    return check_locally(open_trace([made.trace]), settings=Settings()), truth.to_pylist()


def identity(claim: str, row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a violation is about, as far as both the truth and the finding name it."""
    place = row["topic"], row["broker"], row["queue"]
    match CLAIMS[CODE[claim]].monitor:
        case Monitor.MESSAGES:
            return claim, row["origin"]
        case Monitor.GROUPS:
            return (claim,)
        case _:
            return (claim, *place) if claim in OF_WHOLE_QUEUES else (claim, *place, row["offset"])


def found(result: CheckResult) -> list[tuple[Any, ...]]:
    rows = named(result.violations, result.names).to_pylist()
    return sorted((identity(row["claim"], row) for row in rows), key=repr)


@pytest.mark.slow
@pytest.mark.parametrize(("mutant", "kind"), CASES, ids=[f"{mutant}-{kind}" for mutant, kind in CASES])
def test_a_known_bug_is_found_where_it_strikes_and_nowhere_else(mutant: str, kind: str, tmp_path: Path) -> None:
    result, truth = checked(tmp_path, mutant=mutant, group_kind=kind)
    injected = [identity(fact["claim"], fact) for fact in truth if fact["what"] == "violation"]
    told = [one for one in found(result) if one[0] != ON_THE_WAY.get(mutant)]
    assert told == sorted(injected, key=repr)
    assert injected, "the mutant never struck"
    violated = {answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED}
    assert violated - {ON_THE_WAY.get(mutant)} == {claim for claim, *_ in injected}


FAULTS: Mapping[str, Any] = {"churn": 6, "broker_restarts": 2, "resets": 2, "corrections": 2, "timeouts": 5}


@pytest.mark.parametrize("kind", ["concurrently", "orderly", "broadcasting"])
def test_a_correct_cluster_with_faults_gives_no_finding(kind: str, tmp_path: Path) -> None:
    faults = FAULTS if kind == "concurrently" else {"churn": 6}
    result, truth = checked(tmp_path, group_kind=kind, failure_rate=0.02, **faults)
    assert not any(fact["what"] == "violation" for fact in truth)
    assert found(result) == []
    assert {answer.verdict for answer in result.verdicts} == {Verdict.HOLDS, Verdict.NOT_OBSERVABLE}
    if kind != "broadcasting":
        assert sum(result.messages.values()) == SIZE["messages"]


def test_every_message_has_a_status(tmp_path: Path) -> None:
    result, truth = checked(tmp_path, failure_rate=0.05, churn=4)
    assert sum(result.messages.values()) == SIZE["messages"]
    dead = {fact["origin"] for fact in truth if fact["what"] == "died"}
    chains = named(result.rows, result.names)
    letters = chains.filter(pc.equal(chains["reason"], "DEAD_LETTERED"))
    assert set(letters["origin"].to_pylist()) <= dead
