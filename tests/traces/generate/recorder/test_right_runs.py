"""Runs of the machines as they are: monitors find no violation, and what they explain is what really happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.checkers.run import Run
from rocketproof.checkers.simulate import random_run
from rocketproof.model.assignment import assignment
from rocketproof.model.consumption import consumption
from rocketproof.model.everything import everything
from rocketproof.model.history import Cause
from rocketproof.model.kernel import Machine, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.traces.claims.claims import CODE
from rocketproof.traces.engine.findings import Note
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.generate.recorder import record_run

from .judged import AGAIN_AND_AGAIN, continued, judged, violated

Constants = dict[str, int | str]

WATCHED: Constants = {"causes": 1, "watch_offsets": 1}
CHAIN: Constants = {"queues": 2, "messages": 3, "retry_room": 2, "copies": 3, "failures": 3, **WATCHED}
ORDERLY: Constants = {"listener": "orderly", "clock": "stopped", **WATCHED}

CONFIGURATIONS: dict[str, tuple[Machine, Constants]] = {
    "moves": (
        consumption,
        {**WATCHED, "messages": 3, "moves": 2, "crashes": 1, "failures": 2, "orphans": 1, "leaves": 1, "restarts": 1}
        | {"pauses": 1},
    ),
    "one owner": (
        consumption,
        {**WATCHED, "messages": 3, "overlaps": 0, "moves": 2, "crashes": 1, "failures": 2, "refusals": 2, "leaves": 1}
        | {"restarts": 1, "lost_commits": 1, "late_commits": 1},
    ),
    "requests under way": (
        consumption,
        {**WATCHED, "messages": 2, "pulls": "fine", "piggyback": 1, "moves": 2, "late_commits": 1, "removals": 1}
        | {"orphans": 1},
    ),
    "batches": (
        consumption,
        {**WATCHED, "messages": 4, "batch": 2, "pull_batch": 2, "failures": 3, "refusals": 1, "moves": 1, "orphans": 1},
    ),
    "filter": (
        consumption,
        {**WATCHED, "messages": 3, "expression": "Aa", "tags": "C,BB,Aa", "moves": 1, "crashes": 1},
    ),
    "another filter": (
        consumption,
        {**WATCHED, "messages": 3, "expression": "Aa", "next_expression": "Aa||C", "tags": "Aa,C", "crashes": 1}
        | {"restarts": 1, "consumers": 1},
    ),
    "new group": (
        consumption,
        {**WATCHED, "messages": 3, "arriving": 2, "group": "new", "failed_queries": 1, "moves": 1, "consumers": 1},
    ),
    "position in steps": (
        consumption,
        {**WATCHED, "messages": 2, "arriving": 1, "group": "new", "starts": "steps", "moves": 1, "consumers": 1},
    ),
    "new queue": (
        consumption,
        {**WATCHED, "queues": 2, "messages": 2, "arriving": 1, "group": "scaled", "head_in_memory": 1, "moves": 1}
        | {"failed_queries": 1},
    ),
    "lost log": (consumption, {**WATCHED, "messages": 3, "truncations": 1, "retentions": 1, "moves": 1}),
    "correction": (
        consumption,
        {**WATCHED, "messages": 3, "truncations": 1, "retentions": 1, "corrections": "steps", "late_commits": 1}
        | {"moves": 1, "consumers": 1},
    ),
    "correction of 4.9.8": (
        consumption,
        {**WATCHED, "messages": 3, "truncations": 1, "corrections": "steps", "version": "4.9.8", "held_updates": 1}
        | {"moves": 1},
    ),
    "reset": (
        consumption,
        {**WATCHED, "messages": 3, "resets": 1, "corrections": "steps", "piggyback": 1, "moves": 1},
    ),
    "replicas": (consumption, {**WATCHED, "messages": 3, "slaves": 1, "fail_overs": 1, "moves": 1}),
    "broker restart": (consumption, {**WATCHED, "messages": 3, "broker_restarts": 1, "moves": 1, "crashes": 1}),
    "late update": (consumption, {**WATCHED, "messages": 2, "held_updates": 1, "moves": 1}),
    "lost pull": (consumption, {**WATCHED, "messages": 2, "lost_pulls": 1, "consumers": 1}),
    "retries": (
        consumption,
        {**CHAIN, "attempts": 2, "refused": 1, "lost_replies": 1, "refusals": 1, "moves": 1, "orphans": 1},
    ),
    "timeout": (consumption, {**CHAIN, "expiries": 1, "count_resets": 1}),
    "fallback stored twice": (consumption, {**CHAIN, "repeated_fallbacks": 1, "refusals": 1}),
    "listener gives up": (consumption, {**CHAIN, "consumers": 1, "listener_level": -1, "refused": 1}),
    "retries of 4.9.8": (consumption, {**CHAIN, "version": "4.9.8", "refused": 1}),
    "schedule": (
        consumption,
        {**CHAIN, "consumers": 1, "broker_stops": 1, "broker_crashes": 1, "unsure_puts": 1, "promotions": 1},
    ),
    "orderly": (
        consumption,
        {**ORDERLY, "messages": 3, "moves": 1, "crashes": 1, "failures": 2, "orphans": 1, "leaves": 1, "late_locks": 1}
        | {"late_commits": 1, "reallocations": 1, "batch": 2, "pull_batch": 2},
    ),
    "manual commit": (consumption, {**ORDERLY, "messages": 3, "auto_commit": 0, "failures": 2, "moves": 1}),
    "orderly maximum": (
        consumption,
        {**ORDERLY, "messages": 2, "give_up": "attempts", "poison": 1, "failures": 1, "refusals": 1, "moves": 1},
    ),
    "locks of 4.9.8": (
        consumption,
        {**ORDERLY, "clock": "ticking", "client_window": 1, "broker_window": 2, "call": 1, "unlock_delay": 1}
        | {"version": "4.9.8", "messages": 2, "moves": 1, "failures": 1, "lock_losses": 1},
    ),
    "broadcasting": (
        consumption,
        {"mode": "broadcasting", "messages": 3, "failures": 1, "restarts": 1, "moves": 1, "crashes": 1, "orphans": 1}
        | {"torn_writes": 1, "lost_files": 1, "expiries": 1, "leaves": 1},
    ),
    "broadcasting correction": (consumption, {"mode": "broadcasting", "messages": 3, "retentions": 1, "moves": 1}),
    "membership": (
        assignment,
        {
            "consumers": 3,
            "running": 2,
            "leaves": 1,
            "crashes": 1,
            "broker_restarts": 1,
            "route_changes": 1,
            "pauses": 1,
        },
    ),
    "passes in steps": (
        assignment,
        {"consumers": 3, "running": 2, "steps": "fine", "leaves": 1, "crashes": 1, "repairs": 1},
    ),
    "group locks": (assignment, {"consumers": 3, "running": 2, "orderly": 1, "crashes": 1, "pauses": 1}),
    "circle": (assignment, {"consumers": 3, "running": 2, "strategy": "AVG_BY_CIRCLE", "crashes": 1}),
    "hash": (assignment, {"consumers": 3, "running": 2, "strategy": "CONSISTENT_HASH", "crashes": 1}),
    "unsubscribed by all": (assignment, {"consumers": 2, "running": 2, "unsubscribes": 2}),
    "everything": (
        everything,
        {**WATCHED, "consumers": 3, "running": 0, "queues": 3, "messages": 2, "crashes": 1, "leaves": 1, "failures": 1}
        | {"broker_restarts": 1, "orphans": 1},
    ),
    "everything in steps": (
        everything,
        {**CHAIN, "running": 0, "brokers": 2, "queues": 3, "crashes": 1, "cuts": 1, "steps": "fine"}
        | {"broker_restarts": 1},
    ),
}
"""What is run."""

SEEDS = 3


def machine_of(name: str) -> PlainMachine:
    machine, constants = CONFIGURATIONS[name]
    return PlainMachine(lower(machine.configure(**constants)))


def run_of(machine: PlainMachine, seed: int, *, to_rest: bool = True) -> Run:
    """A random run, led to rest: what has to happen happens, and then nothing for a long time."""
    return continued(machine, random_run(machine, seed, 20 + 10 * seed), seed, steps=200, to_rest=to_rest)


def true_claims(name: str, found: set[str]) -> set[str]:
    """What is really violated: where clients take queues as they please, two of them may keep one for ever."""
    machine, constants = CONFIGURATIONS[name]
    return found & {"overlaps-are-short"} if machine is consumption and constants.get("overlaps", 1) else set()


def repeats(result: CheckResult) -> list[tuple[int, int, Cause]]:
    """Time, offset and cause of each repetition the monitors found."""
    claim, note = CODE["every-duplicate-has-a-cause"], int(Note.NONE)
    rows = result.rows[(result.rows["claim"] == claim) & (result.rows["note"] == note)]
    return sorted((int(row["time"]), int(row["offset"]), Cause(int(row["cause"]))) for row in rows)


SLOW = {"requests under way", "retries", "retries of 4.9.8", "timeout", "schedule", "everything", "everything in steps"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CONFIGURATIONS]
)
def test_a_right_run_is_a_right_trace(name: str, tmp_path: Path) -> None:
    machine = machine_of(name)
    for seed in range(SEEDS):
        recording = record_run(run_of(machine, seed))
        result = judged(recording, tmp_path)
        found = violated(result) - AGAIN_AND_AGAIN
        assert found == true_claims(name, found), f"seed {seed}"
        before = violated(judged(record_run(run_of(machine, seed, to_rest=False)), tmp_path))
        assert before == true_claims(name, before), f"seed {seed}"
        if "causes" not in CONFIGURATIONS[name][1]:
            continue
        really = sorted((item.time, item.offset, item.causes) for item in recording.truth.repeats)
        assert [place[:2] for place in repeats(result)] == [place[:2] for place in really], f"seed {seed}"
        for (_, _, cause), (_, _, causes) in zip(repeats(result), really, strict=True):
            assert cause in causes, f"seed {seed}"
