"""Joining: what the recorders of several processes wrote down, in one order and with a number for each process.

A recorder stamps its events with microseconds of its machine's clock, and its own order is certain: within one
recording nothing is moved, whatever the stamps say. Recordings are merged by their stamps.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..traces.format.kinds import Kind

Event = dict[str, Any]
"""One event, with the names of the fields of the schema; fields that are not known are not there."""

SET_BACK = 1_000
"""Threads of a process may stamp a little out of their order; a clock that goes back further than this was set, ms."""

UNWRITTEN = 1_000
"""What a recorder noted so long before its process was killed may never have been written, ms. It writes every 100 ms,
and a busy machine may hold it up."""

_NAME = re.compile(r"(?P<side>client|broker)-(?P<pid>\d+)-.*\.jsonl")


@dataclass(frozen=True, kw_only=True)
class Death:
    """A process that was killed, as whoever killed it knows.

    Attributes:
        pid: its number, as in the names of its recordings.
        time: when, ms since 1970.
    """

    pid: int
    time: int


@dataclass(kw_only=True)
class Recording:
    """What one recorder wrote to one file.

    Attributes:
        file: the file.
        pid: number of the process; -1 where the name of the file does not tell.
        of_broker: whether a broker wrote it, and not a client.
        events: in the order in which they were recorded.
        stamps: when each was, µs since 1970; never decreasing unless the clock was set back.
        set_back: how often the clock was.
    """

    file: str
    pid: int = -1
    of_broker: bool = False
    events: list[Event] = field(default_factory=list)
    stamps: list[int] = field(default_factory=list)
    set_back: int = 0

    @classmethod
    def of_file(cls, file: str) -> Recording:
        """An empty recording; the name of the file, as the agent gives it, tells process and side."""
        found = _NAME.match(Path(file).name)
        if found is None:
            return cls(file=file)
        return cls(file=file, pid=int(found["pid"]), of_broker=found["side"] == "broker")

    def add(self, event: Event, micros: int = 0) -> None:
        """The next event, and the microseconds within its millisecond. It counts as no earlier than the one before."""
        stamp = int(event["time"]) * 1000 + micros
        if self.stamps and stamp < self.stamps[-1]:
            if stamp < self.stamps[-1] - SET_BACK * 1000:
                self.set_back += 1
            else:
                stamp = self.stamps[-1]
        self.events.append(event)
        self.stamps.append(stamp)

    @property
    def process(self) -> tuple[int, str]:
        """What tells one process from another."""
        return self.pid, self.file if self.pid < 0 else ""

    @property
    def clients(self) -> list[tuple[str, str]]:
        """The clients that this is about, each with its group; none for a broker."""
        if self.of_broker:
            return []
        found = {(str(event["client"]), str(event["group"])): None for event in self.events if _acts(event)}
        return list(found)

    @property
    def broker(self) -> str:
        """The name of the broker that wrote it; empty for a client."""
        return next((str(e["broker"]) for e in self.events if "broker" in e), "") if self.of_broker else ""


def _acts(event: Event) -> bool:
    return "client" in event and "group" in event


class Processes:
    """Which process of its client id each recording is about, by the order of their first events (0 is the first).

    Two at a time that have one client id are two processes (A1), and so is one that comes after the other.
    """

    def __init__(self, recordings: Iterable[Recording]) -> None:
        begins: dict[str, dict[tuple[int, str], int]] = {}
        for recording in recordings:
            for client, _ in recording.clients:
                first = begins.setdefault(client, {})
                first[recording.process] = min(first.get(recording.process, 1 << 62), recording.stamps[0])
        self._begins = begins
        self._numbers = {
            client: {process: number for number, process in enumerate(sorted(first, key=lambda p: (first[p], p)))}
            for client, first in begins.items()
        }

    def number(self, recordings: Iterable[Recording]) -> None:
        """Write the number of the process into every event of a client."""
        for recording in recordings:
            if not recording.of_broker:
                for event in recording.events:
                    if "client" in event:
                        event["incarnation"] = self._numbers.get(event["client"], {}).get(recording.process, 0)

    def latest(self, client: str, stamp: int) -> int:
        """The number of the process of a client id that began last before a time; 0 where none is known."""
        began = [self._numbers[client][p] for p, begin in self._begins.get(client, {}).items() if begin <= stamp]
        return max(began, default=0)

    def __contains__(self, client: str) -> bool:
        return client in self._numbers


def merged(recordings: Sequence[Recording]) -> Iterator[tuple[int, Recording, Event]]:
    """All events with their stamps, by stamp; at equal stamps in the order of the recordings."""

    def marked(number: int, recording: Recording) -> Iterator[tuple[int, int, int, Event]]:
        for place, (stamp, event) in enumerate(zip(recording.stamps, recording.events, strict=True)):
            yield stamp, number, place, event

    every = [marked(number, recording) for number, recording in enumerate(recordings)]
    for stamp, number, _, event in heapq.merge(*every):
        yield stamp, recordings[number], event


def deaths_recorded(recordings: Sequence[Recording], deaths: Sequence[Death]) -> tuple[list[Recording], list[Death]]:
    """What the killing of processes adds: a recording for each, with the end and the gap before it.

    Returns:
        These recordings, and the deaths of processes that had recorded nothing.
    """
    added, unknown = [], []
    for death in sorted(deaths, key=lambda one: (one.time, one.pid)):
        own = [recording for recording in recordings if recording.pid == death.pid and recording.events]
        if not own:
            unknown.append(death)
            continue
        last = max(recording.stamps[-1] for recording in own)
        time = max(death.time, -(-last // 1000))
        one = Recording(file=f"death of process {death.pid}", pid=death.pid)
        for recording in own:
            since = max(recording.stamps[-1] // 1000, time - UNWRITTEN)
            for who, kind in _ends(recording):
                one.add({"time": time, "kind": str(Kind.GAP), **who, "due": since, "detail": "killed before it wrote"})
                one.add({"time": time, "kind": str(kind), **who})
        added.append(one)
    return added, unknown


def _ends(recording: Recording) -> list[tuple[Event, Kind]]:
    """Who ends with the process of a recording."""
    if recording.of_broker:
        return [({"broker": recording.broker}, Kind.BROKER_CRASH)]
    return [({"client": client, "group": group}, Kind.CLIENT_CRASH) for client, group in recording.clients]


def unrecorded(recordings: Iterable[Recording]) -> dict[str, list[str]]:
    """Members that brokers and clients name, and that no recording is about, by group.

    A group of which no member was recorded is not among them: of it only the brokers tell, and claim no more.
    """
    recorded: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for recording in recordings:
        for client, group in recording.clients:
            recorded.setdefault(group, set()).add(client)
        for event in recording.events:
            if "members" in event and "group" in event:
                named.setdefault(event["group"], set()).update(event["members"])
    return {
        group: sorted(missing) for group, own in sorted(recorded.items()) if (missing := named.get(group, own) - own)
    }
