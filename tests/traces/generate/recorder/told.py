"""Recorded walks in few words: one line an event, without what is the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from rocketproof.model.kernel import Lowered, Machine
from rocketproof.traces.generate.recorder import Pace, Recording, record_run
from rocketproof.traces.generate.recorder.step import Event

from ....model.walk import Walk

_SHOWN = ("offset", "next", "count", "result", "path", "key", "attempt", "level")


@dataclass(frozen=True)
class Path:
    """A run with the attributes that a recorder asks for."""

    lowered: Lowered
    states: tuple[tuple[int, ...], ...]
    steps: tuple[int, ...]
    loop: int | None = None


def walked(*labels: str, machine: Machine | None = None, loop: int | None = None, **constants: int | str) -> Path:
    """A walk of a machine, of ``consumption`` if none is given, through the actions ``labels``."""
    walk = Walk(*([machine] if machine else []), **constants)
    states = [walk.state, *(walk(label).state for label in labels)]
    return Path(walk.machine.lowered, tuple(states), tuple(walk.numbers[label] for label in labels), loop)


def recording(
    *labels: str, machine: Machine | None = None, pace: Pace | None = None, **constants: int | str
) -> Recording:
    """The recording of a walk."""
    return record_run(walked(*labels, machine=machine, **constants), pace=pace)


def events(*labels: str, machine: Machine | None = None, **constants: int | str) -> list[Event]:
    """What a walk records, without what was there before its first step."""
    begin = Pace().begin
    return [event for event in recording(*labels, machine=machine, **constants).events if event["time"] > begin]


def told(*labels: str, machine: Machine | None = None, last: int = 0, **constants: int | str) -> list[str]:
    """What a walk records, in words; with ``last`` only that many events at its end."""
    return [line(event) for event in events(*labels, machine=machine, **constants)][-last:]


def line(event: Event) -> str:
    """An event in few words."""
    who = event.get("client") or event.get("broker") or "name server"
    which = f"#{event['incarnation']}" if event.get("incarnation") else ""
    topic = {"Orders": "q", "%RETRY%billing": "retry", "%DLQ%billing": "dead"}.get(event.get("topic", ""), "")
    words = [event["kind"], who + which, f"{topic}{event['queue']}" if topic and "queue" in event else ""]
    words += [f"{name}={event[name]}" for name in _SHOWN if event.get(name) is not None]
    return " ".join(filter(None, words))
