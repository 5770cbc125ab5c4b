# ruff: noqa: E402
"""Windows: runs of RocketMQ's own ``ProcessQueue`` against the texts of the model.

The model takes each step first: its texts run on plain numbers, the real window does the same, and both are compared
after every step.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

pytest.skip("follows the direct form as it was: states apart from the machine", allow_module_level=True)

from rocketproof.model.consumption import consumption
from rocketproof.model.flow_control import cached
from rocketproof.model.kernel import State, any_of
from rocketproof.model.kernel.direct import Direct, DirectState
from rocketproof.model.orderly import batch_of, commit_offset
from rocketproof.model.process_queue import Stage, finish, low_water_mark
from rocketproof.model.pull import put

from .real import Real, seeded

pytestmark = pytest.mark.lab

RUNS = 3_500
ORDERLY_RUNS = 1_500
STEPS = 10
MESSAGES = 8
BODY = 3
"""Bytes of a message's body, as the oracle makes them."""

Seen = tuple[Any, list[int], list[int], int]
"""What a step answers, the offsets in the tree, those taken out of it, and the counter."""
Run = tuple[list[list[Any]], list[Seen]]


class Machines:
    """One configuration, and what it is with other constants that change no state."""

    def __init__(self, **constants: int | str) -> None:
        self.usual = Direct(
            consumption.configure(consumers=1, messages=MESSAGES, counters=1, pull_batch=4, **constants)
        )
        self.varied = functools.cache(lambda name, value: self.usual.varied(**{name: value}))


class Window:
    """One run: the model's state, and the steps for the real window."""

    def __init__(self, machines: Machines, random: Random) -> None:
        self.machines = machines
        self.direct = machines.usual
        self.random = random
        self.state: DirectState = self.direct.initial
        self.steps: list[list[Any]] = []
        self.seen: list[Seen] = []

    def note(self, step: list[Any], answer: Any, state: DirectState | None) -> None:
        assert state is not None
        self.state = state
        self.steps.append(step)
        counter = self.direct.ask(state, lambda s: cached(s, 0, 0))
        self.seen.append((answer, self.at(Stage.WAITING), self.at(Stage.RUNNING), counter))

    def at(self, stage: Stage) -> list[int]:
        return [m for m in range(MESSAGES) if self.direct.get(self.state, "stage", 0, 0, m) == stage]

    def put(self) -> None:
        first = self.direct.get(self.state, "next_offset", 0, 0)
        if first == MESSAGES:
            return
        more = min(self.random.randint(1, 4), MESSAGES - first)
        state = self.machines.varied("pull_batch", more).run(self.state, lambda s: put(s, 0, 0))
        # The answer of putMessage is for orderly dispatch, which is compared nowhere else.
        self.note(["put", *range(first, first + more)], None, state)

    def do(self, *names: str) -> DirectState | None:
        state: DirectState | None = self.state
        for name in names:
            assert state is not None
            state = self.direct.step(state, name, c=0, q=0)
        return state


@functools.cache
def concurrent_runs() -> tuple[list[Run], int]:
    """Messages are put and removed, in any order and any number."""
    random = seeded("windows, concurrently")
    machines = Machines()
    direct = machines.usual
    runs: list[Run] = []
    above = 0
    for _ in range(RUNS):
        window = Window(machines, random)
        for _ in range(STEPS):
            if random.random() < 0.45:
                window.put()
                continue
            chosen = random.sample(range(MESSAGES), random.choice((1, 1, 2, 3)))
            within = random.random() < 0.9
            if within and window.at(Stage.WAITING):
                chosen = random.sample(window.at(Stage.WAITING), min(len(window.at(Stage.WAITING)), len(chosen)))

            def finished(m: Any, chosen: list[int] = chosen) -> Any:
                return any_of(m == one for one in chosen)

            def removed(s: State, finished: Any = finished) -> None:
                finish(s, 0, 0, finished)

            mark = direct.ask(window.state, lambda s, finished=finished: low_water_mark(s, 0, 0, finished))
            answer = mark if window.at(Stage.WAITING) else -1
            above += answer not in (-1, max(chosen) + 1)
            window.note(["remove", *chosen], answer, direct.run(window.state, removed))
        runs.append((window.steps, window.seen))
    return runs, above


@functools.cache
def orderly_runs() -> tuple[list[Run], Counter[str]]:
    """Batches are taken, kept, committed, rolled back and put back."""
    random = seeded("windows, orderly")
    constants: Mapping[str, int | str] = {"listener": "orderly", "clock": "stopped", "auto_commit": 0, "failures": 6}
    # One message at a time is another machine: it has no tasks of several messages.
    kinds = [Machines(**constants, batch=batch) for batch in (1, 4)]
    first = [owned(machines.usual) for machines in kinds]
    runs: list[Run] = []
    ways: Counter[str] = Counter()
    for _ in range(ORDERLY_RUNS):
        kind = random.choice((0, 1, 1))
        window = Window(kinds[kind], random)
        window.state = first[kind]
        while len(window.steps) < STEPS:
            step(window, random, ways)
            if window.direct.get(window.state, "next_offset", 0, 0) == MESSAGES and not window.at(Stage.WAITING):
                break
        runs.append((window.steps, window.seen))
    return runs, ways


def owned(direct: Direct) -> DirectState:
    """The first state in which the client has its queue, and the lock of it."""
    state = direct.initial
    for _ in range(10):
        if direct.get(state, "owns", 0, 0) and any(direct.enabled(state, name, c=0, q=0) for name in ("pull",)):
            return state
        state = next(
            following
            for name in ("lock", "take_locked", "win_lock", "take", *direct.actions)
            if name in direct.actions
            for choice in direct.choices(name)
            if (following := direct.step(state, name, **choice)) is not None
        )
    raise AssertionError("the client never gets its queue")


def step(window: Window, random: Random, ways: Counter[str]) -> None:
    direct = window.direct
    if random.random() < 0.4:
        window.put()
        return
    size = random.randint(2, 4) if direct.frame.configuration.constants.batch > 1 else 1
    taken = window.machines.varied("batch", size).step(window.state, "begin_batch", c=0, q=0)
    if taken is None:
        window.put()
        return
    before = window.at(Stage.RUNNING)
    window.state = taken
    batch = [m for m in window.at(Stage.RUNNING) if m not in before]
    assert batch == [m for m in range(MESSAGES) if direct.ask(taken, lambda s, m=m: batch_of(s, 0, 0, m))]
    window.note(["take", size], batch, taken)
    way = random.choice(("keep", "commit", "suspend", "rollback"))
    if way in ("suspend", "rollback") and not direct.enabled(window.state, word(way), c=0, q=0):
        way = "commit"
    ways[way] += 1
    if way == "keep":
        state = window.do("succeed_in_order", "keep_taken")
        assert state is not None
        window.state = state
    elif way == "commit":
        offset = direct.ask(window.state, lambda s: commit_offset(s, 0, 0))
        window.note(["commit"], offset, window.do("say_commit", "commit_taken"))
        assert direct.get(window.state, "memory", 0, 0) == offset
    elif way == "suspend":
        window.note(["again", *batch], None, window.do("suspend", "put_batch_back"))
    else:
        window.note(["rollback"], None, window.do("say_rollback", "roll_back"))


def word(way: str) -> str:
    return "suspend" if way == "suspend" else "say_rollback"


def compared(real: Real, runs: list[Run]) -> int:
    """Hold the real windows against the model's; gives the number of steps."""
    answers = real.ask("window", [{"steps": steps} for steps, _ in runs])
    count = 0
    for (steps, seen), told in zip(runs, answers, strict=True):
        assert "is" in told, (steps, told)
        for at, (expected, window) in enumerate(zip(seen, told["is"], strict=True)):
            answer, tree, taken, counter = expected
            bytes_held = BODY * (len(tree) + len(taken))
            span = tree[-1] - tree[0] if tree else 0
            answer = window[0] if steps[at][0] == "put" else answer
            assert window == [
                answer, tree, taken, counter, bytes_held, span, len(tree), len(taken), bool(tree)
            ], (steps[: at + 1], expected)  # fmt: skip
            count += 1
    return count


def test_messages_put_and_removed_leave_the_low_water_mark(real: Real) -> None:
    runs, above = concurrent_runs()
    assert len(runs) == RUNS
    assert above > RUNS  # the mark is not simply the offset after the last one removed
    assert compared(real, runs) == sum(len(steps) for steps, _ in runs)


def test_orderly_batches_are_taken_committed_and_put_back(real: Real) -> None:
    runs, ways = orderly_runs()
    assert len(runs) == ORDERLY_RUNS
    assert min(ways[way] for way in ("keep", "commit", "suspend", "rollback")) > ORDERLY_RUNS // 4
    assert compared(real, runs) == sum(len(steps) for steps, _ in runs)
