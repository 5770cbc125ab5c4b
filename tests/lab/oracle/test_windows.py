"""Windows: runs of RocketMQ's own ``ProcessQueue`` against the texts of the model.

The model takes each step first: its texts run on plain numbers, the real window does the same, and both are compared
after every step.
"""

from __future__ import annotations

import functools
from collections import Counter
from random import Random
from typing import Any

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.flow_control import cached
from rocketproof.model.kernel import any_of
from rocketproof.model.kernel.direct import Direct
from rocketproof.model.orderly import batch_of, commit_offset
from rocketproof.model.process_queue import Stage, finish, low_water_mark

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


class Window:
    """One run of the model from where it is: the steps for the real window, and what is to be seen after each."""

    def __init__(self, direct: Direct, random: Random) -> None:
        self.direct = direct
        self.random = random
        self.steps: list[list[Any]] = []
        self.seen: list[Seen] = []

    def note(self, step: list[Any], answer: Any) -> None:
        self.steps.append(step)
        counter = self.direct.ask(cached, c=0, q=0)
        self.seen.append((answer, self.at(Stage.WAITING), self.at(Stage.RUNNING), counter))

    def at(self, stage: Stage) -> list[int]:
        return [m for m in range(MESSAGES) if self.direct.get("stage", 0, 0, m) == stage]

    def put(self) -> None:
        first = self.direct.get("next_offset", 0, 0)
        if first == MESSAGES:
            return
        more = min(self.random.randint(1, 4), MESSAGES - first)
        assert self.direct.step("pull", varied={"pull_batch": more}, c=0, q=0)
        # The answer of putMessage is for orderly dispatch, which is compared nowhere else.
        self.note(["put", *range(first, first + more)], None)

    def do(self, *names: str) -> None:
        for name in names:
            assert self.direct.step(name, c=0, q=0), name


def machine(**constants: int | str) -> Direct:
    """One client and one queue; the client has the queue."""
    direct = Direct(consumption.configure(consumers=1, messages=MESSAGES, counters=1, pull_batch=4, **constants))
    while not direct.enabled("pull", c=0, q=0):
        names = [name for name in ("lock", "take_locked", "win_lock", "take") if name in direct.actions]
        assert any(direct.step(name, **choice) for name in names for choice in direct.choices(name))
    return direct


@functools.cache
def concurrent_runs() -> tuple[list[Run], int]:
    """Messages are put and removed, in any order and any number."""
    random = seeded("windows, concurrently")
    direct = machine()
    owned = direct.flat()
    runs: list[Run] = []
    above = 0
    for _ in range(RUNS):
        direct.become(owned)
        window = Window(direct, random)
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

            mark = direct.ask(low_water_mark, c=0, q=0, finished=finished)
            answer = mark if window.at(Stage.WAITING) else -1
            above += answer not in (-1, max(chosen) + 1)
            assert direct.run(finish, c=0, q=0, finished=finished)
            window.note(["remove", *chosen], answer)
        runs.append((window.steps, window.seen))
    return runs, above


@functools.cache
def orderly_runs() -> tuple[list[Run], Counter[str]]:
    """Batches are taken, kept, committed, rolled back and put back."""
    random = seeded("windows, orderly")
    constants: dict[str, int | str] = {"listener": "orderly", "clock": "stopped", "auto_commit": 0, "failures": 6}
    # One message at a time is another machine: it has no tasks of several messages.
    kinds = [(direct, direct.flat()) for direct in (machine(**constants, batch=batch) for batch in (1, 4))]
    runs: list[Run] = []
    ways: Counter[str] = Counter()
    for _ in range(ORDERLY_RUNS):
        direct, owned = kinds[random.choice((0, 1, 1))]
        direct.become(owned)
        window = Window(direct, random)
        while len(window.steps) < STEPS:
            step(window, random, ways)
            if direct.get("next_offset", 0, 0) == MESSAGES and not window.at(Stage.WAITING):
                break
        runs.append((window.steps, window.seen))
    return runs, ways


def step(window: Window, random: Random, ways: Counter[str]) -> None:
    direct = window.direct
    if random.random() < 0.4:
        window.put()
        return
    size = random.randint(2, 4) if direct.frame.configuration.constants.batch > 1 else 1
    before = window.at(Stage.RUNNING)
    if not direct.step("begin_batch", varied={"batch": size}, c=0, q=0):
        window.put()
        return
    batch = [m for m in window.at(Stage.RUNNING) if m not in before]
    assert batch == [m for m in range(MESSAGES) if direct.ask(batch_of, c=0, q=0, m=m)]
    window.note(["take", size], batch)
    way = random.choice(("keep", "commit", "suspend", "rollback"))
    if way in ("suspend", "rollback") and not direct.enabled(word(way), c=0, q=0):
        way = "commit"
    ways[way] += 1
    if way == "keep":
        window.do("succeed_in_order", "keep_taken")
    elif way == "commit":
        offset = direct.ask(commit_offset, c=0, q=0)
        window.do("say_commit", "commit_taken")
        window.note(["commit"], offset)
        assert direct.get("memory", 0, 0) == offset
    elif way == "suspend":
        window.do("suspend", "put_batch_back")
        window.note(["again", *batch], None)
    else:
        window.do("say_rollback", "roll_back")
        window.note(["rollback"], None)


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
