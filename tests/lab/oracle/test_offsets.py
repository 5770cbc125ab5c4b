"""Offsets: runs of RocketMQ's own offset stores, client and broker, against the texts of the model.

The model takes each step first; the real ``RemoteBrokerOffsetStore`` of each client and the real
``ConsumerOffsetManager`` do the same, and memory and cells are compared after every step.
"""

from __future__ import annotations

import functools
from collections import Counter
from random import Random
from typing import Any

import pytest

from rocketproof.model.concurrently import in_task
from rocketproof.model.consumption import consumption
from rocketproof.model.kernel.direct import Direct
from rocketproof.model.process_queue import NO_OFFSET, low_water_mark

from .real import Real, seeded

pytestmark = pytest.mark.lab

RUNS = 150
STEPS = 30
TRIES = 200
"""Actions that are tried for one step before a run is over."""

CLIENTS = 2
OPERATOR = 9
"""A client of the oracle that stores the first offset; no member of the group."""

BEGIN: list[list[Any]] = [
    ["start", OPERATOR],
    ["update", OPERATOR, 0, 0, False],
    ["persist", OPERATOR, 0],
    ["flush"],
    *(["start", c] for c in range(CLIENTS)),
]
SILENT = ("pull", "begin", "orphan_succeeds", "stop", "unregister")
"""Actions that no offset store hears of."""

WEIGHTS = {"pull": 3.0, "begin": 3.0, "succeed": 3.0, "commit": 6.0, "flush": 3.0, "die": 0.2, "stop": 0.2, "drop": 0.5}
"""How much rather an action is tried than another; faults too early leave nothing to see."""

Memory = dict[str, dict[str, int]]
Seen = tuple[Memory, dict[str, int]]
"""The memory of each client and the broker's cells, as the oracle tells them."""


def steps_of(direct: Direct, name: str, choice: dict[str, int]) -> list[list[Any]]:
    """What the real stores have to do where the model is about to take an action."""
    c, q = choice.get("c", 0), choice.get("q", 0)
    held: list[list[Any]] = [["hold"], ["persist", c, q], ["let"]]
    match name:
        case "succeed":
            m = choice["m"]
            mark = direct.ask(lambda s: low_water_mark(s, c, q, lambda o: in_task(s, c, q, m, o)))
            return [["update", c, q, mark, True]]
        case "take":  # RebalanceImpl: what may be left is removed, then the broker is asked where to start
            return [["remove", c, q], ["read", c, q, "READ_FROM_STORE"]]
        case "drop" | "lose_dropped":
            return [["persist", c, q], ["remove", c, q]]
        case "drop_losing_commit":
            return [["cut"], ["persist", c, q], ["heal"], ["remove", c, q]]
        case "drop_delaying_commit":
            return [*held, ["remove", c, q]]
        case "commit":
            return [["persistAll", c, [q]]]
        case "commit_late":
            return held
        case "late_commit_arrives":
            return [["arrive"]]
        case "persist_at_stop":
            return [["persist", c, q]]
        case "die" | "restart" | "end_stop":
            return [["start", c]]
        case "flush":
            return [["flush"]]
        case "restart_offsets":
            return [["restart"]]
        case "reset_at_broker":
            return [["reset", q, int(direct.frame.configuration.constants.reset_to)]]
        case "answer_reset":
            return [["erase", q]]
        case "end_correction":  # the offset is frozen and sent, and sent once more when the queue is removed
            target = direct.get("target", c, q)
            frozen: list[list[Any]] = [["freeze", c, q, target], ["update", c, q, target + 1, True]]
            return [*frozen, ["persist", c, q], ["persist", c, q], ["remove", c, q]]
        case _:
            assert name in SILENT, f"{name} is unknown to this test"
            return []


def seen(direct: Direct) -> Seen:
    memory = {
        str(c): {"0": value} if (value := direct.get("memory", c, 0)) != NO_OFFSET else {} for c in range(CLIENTS)
    }
    return memory, {"0": direct.get("committed", 0)}


def run(direct: Direct, random: Random, taken: Counter[str]) -> tuple[list[list[Any]], list[tuple[int, Seen]]]:
    """A random walk of the model: the steps for the real stores, and what is to be seen after how many of them."""
    direct.restart()
    steps = list(BEGIN)
    expected = [(len(steps) - 1, seen(direct))]
    actions = [(name, choice) for name in direct.actions for choice in direct.choices(name)]
    weights = [WEIGHTS.get(name, 1.0) for name, _ in actions]
    while len(expected) < STEPS:
        for _ in range(TRIES):
            name, choice = random.choices(actions, weights)[0]
            if direct.enabled(name, **choice):
                break
        else:
            break
        steps += steps_of(direct, name, choice)
        assert direct.step(name, **choice)
        taken[name] += 1
        expected.append((len(steps) - 1, seen(direct)))
    return steps, expected


@functools.cache
def runs(resets: int) -> tuple[list[tuple[list[list[Any]], list[tuple[int, Seen]]]], Counter[str]]:
    random = seeded(f"offsets, {resets} resets")
    constants: dict[str, int | str] = {"consumers": CLIENTS, "messages": 4, "moves": 4, "broker_restarts": 2}
    if resets:
        constants |= {"resets": resets, "reset_to": 1, "corrections": "steps"}
    else:
        constants |= {"crashes": 2, "restarts": 2, "leaves": 1, "late_commits": 3, "lost_commits": 2, "orphans": 1}
    direct = Direct(consumption.configure(**constants))
    taken: Counter[str] = Counter()
    return [run(direct, random, taken) for _ in range(RUNS)], taken


def compared(real: Real, resets: int) -> Counter[str]:
    made, taken = runs(resets)
    answers = real.ask("offsets", [{"steps": steps} for steps, _ in made])
    count = 0
    for (steps, expected), told in zip(made, answers, strict=True):
        assert "is" in told, (steps, told)
        for at, (memory, cells) in expected:
            _, memories, real_cells = told["is"][at]
            real_memory = {client: offsets for client, offsets in memories.items() if client != str(OPERATOR)}
            assert (real_memory, real_cells) == (memory, cells), (steps[len(BEGIN) : at + 1], memory, cells)
            count += 1
    assert count == sum(len(expected) for _, expected in made)
    assert len(made) == RUNS
    return taken


def test_memory_and_cells_follow_the_model(real: Real) -> None:
    taken = compared(real, resets=0)
    assert {"succeed", "commit", "late_commit_arrives", "restart_offsets", "flush", "drop", "die"} <= set(taken)
    assert taken["commit"] > RUNS


def test_a_reset_at_the_broker_is_noted_and_taken_away(real: Real) -> None:
    if real.rules != "5.3.3":
        pytest.skip("4.x has no resets at the broker (OF-31)")
    taken = compared(real, resets=2)
    assert taken["reset_at_broker"] > RUNS // 2
    assert taken["answer_reset"] > RUNS // 4
    assert taken["end_correction"] > RUNS // 10


def test_where_a_group_without_offsets_starts(real: Real) -> None:
    """OF-21, OF-3: the broker's answer for an empty queue, and what a client makes of silence and of nothing."""
    steps = [
        ["start", 0],
        ["read", 0, 0, "READ_FROM_MEMORY"],
        ["read", 0, 0, "READ_FROM_STORE"],
        ["remove", 0, 0],
        ["cut"],
        ["read", 0, 0, "MEMORY_FIRST_THEN_STORE"],
        ["update", 0, 0, 7, False],
        ["read", 0, 0, "MEMORY_FIRST_THEN_STORE"],
        ["read", 0, 0, "READ_FROM_STORE"],
        ["update", 0, 0, 5, True],
        ["update", 0, 1, 3, True],
        ["heal"],
        ["persistAll", 0, [1]],
    ]
    told = [(answer, memory["0"], cells) for answer, memory, cells in real.ask("offsets", [{"steps": steps}])[0]["is"]]
    zero = real.rules == "4.9.8"  # an empty queue is answered with 0 there, with "not found" in 5.x
    assert told[1:3] == [(-1, {}, {}), (0, {"0": 0}, {}) if zero else (-1, {}, {})]
    assert told[5] == (-2, {}, {})
    assert told[7:9] == [(7, {"0": 7}, {}), (-2, {"0": 7}, {})]
    assert told[10] == (None, {"0": 7, "1": 3}, {})
    assert told[12] == (None, {"1": 3}, {"1": 3})  # the queue that is not owned is forgotten without being sent
