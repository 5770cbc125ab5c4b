"""Mechanisms that work in a wrong way, through the whole of a right recording or from some moment on.

Other than what stops, they leave events behind, all of which agree with each other: offsets, counts and times are those
that a system with the defect would have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .semantic_defects import Event, Events
from .stopped_mechanisms import queue_of


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A mechanism that works in a wrong way.

    Attributes:
        name: what is wrong, in a few words.
        recording: the right one that it is made of.
        claims: one of them must be violated.
        make: changes the events of the recording, which are by time.
        group: what the header says otherwise of its group.
        timers: what the header says of timers.
    """

    name: str
    recording: str
    claims: frozenset[str]
    make: Callable[[Events], Events]
    group: Mapping[str, Any] = field(default_factory=dict)
    timers: Mapping[str, int] = field(default_factory=dict)


def process(event: Event) -> tuple[Any, ...]:
    return event.get("client"), event.get("incarnation")


def its(event: Event) -> tuple[Any, ...]:
    """The process of an event and its queue."""
    return (*process(event), *queue_of(event))


def of_retries(events: Events) -> Events:
    return [event for event in events if str(event.get("topic", "")).startswith("%RETRY%")]


def broken(
    name: str,
    recording: str,
    claims: str,
    make: Callable[[Events], Events],
    group: Mapping[str, Any] | None = None,
    timers: Mapping[str, int] | None = None,
) -> Broken:
    return Broken(
        name=name,
        recording=recording,
        claims=frozenset(claims.split()),
        make=make,
        group=group or {},
        timers=timers or {},
    )
