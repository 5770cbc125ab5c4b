"""Recorded runs followed through the model."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocketproof.checkers.run import Run
from rocketproof.model.kernel import Configuration, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.traces.conformance import Conformance, conform
from rocketproof.traces.conformance.streams import OF_PROCESSES
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.generate.recorder import record_run
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import write_jsonl

from ..generate.recorder.told import walked

_QUEUE = {"group": "billing", "topic": "Orders", "broker": "broker-0", "queue": 0}


def followed(run: Any, folder: Path) -> Conformance:
    """What following the recording of a run gives."""
    recording = record_run(run)
    return of_events(recording.header, recording.events, folder)


def of_events(header: Header, events: list[dict[str, Any]], folder: Path) -> Conformance:
    """What following these events gives, by way of a file."""
    path = folder / "run.jsonl"
    write_jsonl(path, header, events)
    return conform(open_trace([path]))


def of_lines(folder: Path, *lines: str, release: str = "5.3.3", **of_group: Any) -> Conformance:
    """What following these events of one queue gives: a line each, as ``assign c0 offset=0 epoch=1``, 1 s apart."""
    groups = {"billing": Group(**of_group)}
    header = Header(source="a test", evidence=frozenset(Kind), release=release, groups=groups)
    return of_events(header, [event_of(number, line) for number, line in enumerate(lines)], folder)


def event_of(number: int, line: str) -> dict[str, Any]:
    """An event as :func:`of_lines` has it; the client ``-`` is none."""
    kind, client, *members = line.split()
    values = dict(member.split("=") for member in members)
    told = {name: int(value) if value.isdigit() else value for name, value in values.items()}
    place = {"group": "billing"} if kind in map(str, OF_PROCESSES) else _QUEUE
    actor = {} if client == "-" else {"client": client}
    return {"time": 1_000_000 + 1_000 * number, "seq": number, "kind": kind, **actor, **place, **told}


def whys(answer: Conformance) -> list[str]:
    """Why the model does not allow what it does not allow."""
    return [mismatch.why for mismatch in answer.mismatches]


def walk(folder: Path, *labels: str, **constants: int | str) -> Conformance:
    """What following a walk of the machine ``consumption`` gives."""
    return followed(walked(*labels, **constants), folder)


def changed(
    folder: Path, change: Mapping[int, Mapping[str, Any] | None], *labels: str, **constants: int | str
) -> Conformance:
    """As :func:`walk`, with some events changed, by ``seq``, or left out where the change is None."""
    recording = record_run(walked(*labels, **constants))
    events = [
        {**event, **(change.get(event["seq"]) or {})}
        for event in recording.events
        if event["seq"] not in change or change[event["seq"]] is not None
    ]
    return of_events(recording.header, events, folder)


class Walks:
    """Random runs of one configuration."""

    def __init__(self, configuration: Configuration) -> None:
        self.lowered = lower(configuration)
        self.machine = PlainMachine(self.lowered)

    def run(self, seed: int, steps: int) -> Run:
        """A run of up to ``steps`` steps."""
        chance = random.Random(seed)
        states, taken = [self.machine.initial], []
        while len(taken) < steps and (possible := self.machine.enabled(states[-1])):
            number = chance.choice(sorted(possible))
            following = self.machine.step(states[-1], number)
            assert following is not None
            taken.append(number)
            states.append(following)
        return Run(self.lowered, tuple(states), tuple(taken))
