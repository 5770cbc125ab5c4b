"""Clocks as JSON: what a trace with corrected times states about the clocks by which they were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..encoding.names import Actor
from ..encoding.plain import plain
from ..format.header import Stated
from ..format.problems import Problems, Trouble
from .clocks import Clock, Clocks, Run, Step

MEMBER = "clocks"
"""Member of the header of a trace with corrected times; without it, times are as recorded."""

_MOST = 1 << 62


def clocks_told(stated: Stated, line: int, problems: Problems) -> Clocks | None:
    """The clocks by which the times of a file are already corrected, as its header states; None without any."""
    said = stated.header.extra.get(MEMBER)
    if said is None:
        return None
    try:
        return clocks_of_json(said)  # type: ignore[arg-type]  # whatever it is
    except (TypeError, ValueError, KeyError):
        what = f"{MEMBER} is {ascii(said)[:60]}, but what lab capture writes there is needed"
        problems.add(stated.file, line, what, kind=Trouble.HEADER)
        return None


def clocks_as_json(clocks: Clocks) -> dict[str, Any]:
    """Clocks as a JSON object."""
    names = [one.name for one in fields(Clock)]
    told = [{name: plain(getattr(clock, name)) for name in names} for clock in clocks.clocks.values()]
    return {"clocks": told, "steps": plain(clocks.steps), "held_up": clocks.held_up, "senders": sorted(clocks.senders)}


_BOUNDS = ("low", "high", "slow", "fast", "closest")


def clocks_of_json(said: Mapping[str, Any]) -> Clocks:
    """The clocks, from the result of :func:`clocks_as_json`.

    Raises:
        TypeError, ValueError, KeyError: it is no such result.
    """
    clocks = [
        Clock(
            recorder=_actor_of(one["recorder"]),
            pairs=_whole(one["pairs"]),
            runs=tuple(map(_run_of, one["runs"])),
            reference=None if one["reference"] is None else _actor_of(one["reference"]),
            **{name: None if one[name] is None else _whole(one[name]) for name in _BOUNDS},
            coarse=_whole(one["coarse"]),
        )
        for one in said["clocks"]
    ]
    steps = tuple(map(_step_of, said["steps"]))
    return Clocks(
        clocks={clock.recorder: clock for clock in clocks},
        steps=steps,
        held_up=_whole(said["held_up"]),
        senders=frozenset(map(_text, said.get("senders", ()))),
    )


def _step_of(said: Any) -> Step:
    since, until, recorders, events = said
    return Step(
        since=_whole(since),
        until=_whole(until),
        recorders=tuple(map(_actor_of, recorders)),
        events=tuple(map(_text, events)),
    )


def _actor_of(said: Any) -> Actor:
    name, incarnation = said
    return Actor(_text(name), _whole(incarnation))


def _run_of(said: Any) -> Run:
    since, times, offsets = said
    if not 0 < len(times) == len(offsets):
        raise ValueError(said)
    return Run(since=_whole(since), times=tuple(map(_whole, times)), offsets=tuple(map(_whole, offsets)))


def _whole(said: Any) -> int:
    if type(said) is not int or abs(said) > _MOST:
        raise ValueError(said)
    return said


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError(said)
    return said
