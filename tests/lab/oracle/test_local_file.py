"""The offset file of a broadcasting client: runs of RocketMQ's own ``LocalFileOffsetStore`` against the model.

A write that ends in the middle is made by hand: the files are left as the model says that they are left.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from random import Random
from typing import Any

import pytest

from rocketproof.model.consumption import consumption
from rocketproof.model.kernel import any_of
from rocketproof.model.kernel.direct import Direct
from rocketproof.model.local_file import Content, Torn, may_load, possible, read_entry, tear, worth_copying, write_file
from rocketproof.model.process_queue import NO_OFFSET

from .real import Real, seeded

pytestmark = pytest.mark.lab

RUNS = 400
STEPS = 12
QUEUES = 3
HALF = '{\n\t"offsetTable":{{\n\t\t\t"brokerName'

Files = tuple[Content, dict[int, int], Content, dict[int, int]]
"""What is in the file and what in its copy, with the entries."""


class Run:
    """One run of the model: the steps for the real store, and what is to be seen after each."""

    def __init__(self, direct: Direct, random: Random, ways: Counter[str]) -> None:
        self.direct, self.random, self.ways = direct, random, ways
        direct.restart()
        self.steps: list[list[Any]] = []
        self.expected: list[tuple[Any, Files]] = []

    def note(self, *step: Any, answer: Any = None) -> None:
        self.steps.append(list(step))
        self.expected.append((answer, self.files()))

    def files(self) -> Files:
        def of(variable: str) -> dict[int, int]:
            entries = {q: self.direct.get(variable, 0, q) for q in range(QUEUES)}
            return {q: offset for q, offset in entries.items() if offset != NO_OFFSET}

        file_is = Content(self.direct.get("file_is", 0))
        copy_is = Content(self.direct.get("copy_is", 0))
        return file_is, of("file"), copy_is, of("copy")

    def persist(self) -> None:
        """Some queues get new offsets, and these go into the file."""
        chosen = self.random.sample(range(QUEUES), self.random.randint(1, QUEUES))
        offsets = {q: self.random.randint(0, 4) for q in chosen}
        for q, offset in offsets.items():
            self.note("update", q, offset, False)
        self.write(offsets)
        if len(chosen) == 1 and self.random.random() < 0.5:
            self.note("persist", chosen[0])
        else:
            self.note("persistAll", chosen)

    def write(self, offsets: dict[int, int]) -> None:
        def written(q: Any) -> Any:
            return any_of(q == one for one in offsets)

        assert self.direct.run(write_file, c=0, written=written, offset=lambda q: offsets.get(int(q), 0))

    def tear(self) -> None:
        """A death in the middle of a write; then the files are put there as the model says."""
        writes = self.direct.ask(may_load, c=0)
        ways = [torn for torn in Torn if possible(self.direct.frame.configuration.constants, torn)]
        torn = self.random.choice(ways)
        copying = torn in (Torn.COPY_EMPTY, Torn.COPY_UNREADABLE)
        if not writes or (copying and not self.direct.ask(worth_copying, at=0)):
            return
        before = self.direct.get("file_is", 0)
        assert self.direct.run(tear, c=0, torn=torn)
        self.ways[torn.name] += 1
        if copying:
            content = "" if torn is Torn.COPY_EMPTY else HALF
            self.steps.append(["write", ".bak", content])
            self.expected.append((None, self.files()))
            return
        # What was in the file goes into the copy first: the oracle copies bytes by name.
        if before != Content.MISSING:
            self.steps.append(["copy"])
            self.expected.append((..., ...))  # type: ignore[arg-type]
        left = {Torn.FILE_EMPTY: "", Torn.FILE_UNREADABLE: HALF, Torn.FILE_MISSING: None}[torn]
        self.note("write", "", left)

    def start(self) -> None:
        """A new process; and what it reads of a queue."""
        loads = bool(self.direct.ask(may_load, c=0))
        self.ways["loads" if loads else "does not load"] += 1
        self.note("start", answer=loads)
        q = self.random.randrange(QUEUES)
        self.note("read", q, "READ_FROM_STORE", answer=self.direct.ask(read_entry, c=0, q=q))


@functools.cache
def runs(version: str) -> tuple[list[Run], Counter[str]]:
    random = seeded(f"local file {version}")
    constants: dict[str, int | str] = {"mode": "broadcasting", "consumers": 1, "queues": QUEUES, "messages": 4}
    direct = Direct(consumption.configure(**constants, torn_writes=3, crashes=1, version=version, group="new"))
    ways: Counter[str] = Counter()
    made = []
    for _ in range(RUNS):
        run = Run(direct, random, ways)
        while len(run.steps) < STEPS:
            random.choice((run.persist, run.persist, run.tear, run.start))()
        made.append(run)
    return made, ways


def content(text: str | None) -> tuple[Content, dict[int, int]]:
    """What a reader finds; the keys of the table are objects, which JSON does not know."""
    if text is None:
        return Content.MISSING, {}
    if not text:
        return Content.EMPTY, {}
    if text == HALF:
        return Content.UNREADABLE, {}
    entries = re.findall(r'\{[^{}]*"queueId"\s*:\s*(\d+)[^{}]*\}\s*:\s*(\d+)', text)
    return Content.OFFSETS, {int(queue): int(offset) for queue, offset in entries}


def test_file_and_copy_follow_the_model(real: Real) -> None:
    made, ways = runs(real.rules)
    answers = real.ask("local file", [{"steps": run.steps} for run in made])
    count = 0
    for run, told in zip(made, answers, strict=True):
        assert "is" in told, (run.steps, told)
        for at, ((answer, files), (real_answer, _, file, copy)) in enumerate(
            zip(run.expected, told["is"], strict=True)
        ):
            if files is not ...:
                assert real_answer == answer, (json.dumps(run.steps[: at + 1]), files)
                assert (*content(file), *content(copy)) == files, json.dumps(run.steps[: at + 1])
            count += 1
    assert len(made) == RUNS
    assert count == sum(len(run.steps) for run in made)
    torn = {torn.name for torn in Torn if possible(made[0].direct.frame.configuration.constants, torn)}
    # In 4.9 the copy is only torn while the file is whole, so there is always something to read.
    assert set(ways) == {"loads", *torn} | ({"does not load"} if real.rules == "5.3.3" else set())
