"""Processes: which process of its client id each recording is of, and what ends with one that was killed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..format.kinds import Kind
from .recording import Event, Recording, gap

UNWRITTEN = 1_000
"""Events this long before a process was killed may never have been written, ms. A recorder writes every 100 ms, and may
be delayed on a busy machine.
"""


@dataclass(frozen=True, kw_only=True)
class Death:
    """A process that was killed, as known to whoever killed it.

    Attributes:
        time: when, ms since 1970.
        pid: its process id, as in the names of its recordings; -1 if it is identified by its client.
        client: its client id; empty if it is identified by its process id.
    """

    time: int
    pid: int = -1
    client: str = ""


class Processes:
    """Which process of its client id each recording is of, by the order of their first events (0 is the first).

    Two simultaneous processes with one client id are two processes (A1), and so are two successive ones.
    """

    def __init__(self, recordings: Iterable[Recording]) -> None:
        begins: dict[str, dict[str, int]] = {}
        for recording in recordings:
            for client, _ in recording.clients:
                first = begins.setdefault(client, {})
                stamp = int(recording.stamps.min())
                first[recording.process] = min(first.get(recording.process, stamp), stamp)
        self._begins = begins
        self._numbers = {
            client: {process: number for number, process in enumerate(sorted(first, key=lambda p: (first[p], p)))}
            for client, first in begins.items()
        }

    def number(self, recording: Recording, client: str) -> int:
        """The number of the process of a client to which a recording belongs."""
        return self._numbers.get(client, {}).get(recording.process, 0)

    def who(self, recording: Recording) -> list[Event]:
        """The fields that name the processes of a recording: a broker, or each client with its group."""
        if recording.of_broker:
            return [{"broker": recording.broker}] if recording.broker else []
        return [
            {"client": client, "incarnation": self.number(recording, client), "group": group}
            for client, group in recording.clients
        ]

    def latest(self, client: str, stamp: int) -> int:
        """The number of the process of a client id that began last before a time; 0 if none is known."""
        began = [self._numbers[client][p] for p, begin in self._begins.get(client, {}).items() if begin <= stamp]
        return max(began, default=0)


def deaths_recorded(
    recordings: Sequence[Recording], deaths: Sequence[Death], processes: Processes
) -> tuple[list[Event], list[Death]]:
    """What the killing of processes adds: the end of each, and the gap before it.

    Returns:
        These events, and the deaths of processes that had recorded nothing.
    """
    added: list[Event] = []
    unknown: list[Death] = []
    for death in sorted(deaths, key=lambda one: (one.time, one.pid)):
        own = [recording for recording in recordings if recording.pid == death.pid]
        if not own:
            unknown.append(death)
            continue
        time = max(death.time, *(-(-int(recording.stamps[-1]) // 1000) for recording in own))
        for recording in own:
            since = max(int(recording.stamps[-1]) // 1000, time - UNWRITTEN)
            for who in processes.who(recording):
                added += killed(since, time, who)
    return added, unknown


def killed(since: int, time: int, who: Event) -> list[Event]:
    """The end of a process at a time, ms, preceded by a gap for what its recorder may not have written any more."""
    kind = Kind.BROKER_CRASH if "broker" in who else Kind.CLIENT_CRASH
    return [gap(since, time, "killed before it wrote", who), {"time": time, "kind": str(kind), **who}]


def lists_of_members(recordings: Iterable[Recording]) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Lists of members as brokers and clients had them: when, ms, of which group, who."""
    for recording in recordings:
        rows = recording.rows((Kind.MEMBERS, Kind.REBALANCE))
        for stamp, event in zip(recording.stamps[rows].tolist(), recording.events(rows), strict=True):
            if "members" in event:
                yield stamp // 1000, event.get("group", ""), frozenset(event["members"])


def unrecorded(recordings: Sequence[Recording]) -> Mapping[str, Sequence[str]]:
    """Members that brokers and clients name, and that no recording covers, by group.

    A group without any recorded member is not included: only the brokers record it, and claim no more.
    """
    recorded: dict[str, set[str]] = {}
    named: dict[str, set[str]] = {}
    for recording in recordings:
        for client, group in recording.clients:
            recorded.setdefault(group, set()).add(client)
    for _, group, members in lists_of_members(recordings):
        named.setdefault(group, set()).update(members)
    return {
        group: sorted(missing) for group, own in sorted(recorded.items()) if (missing := named.get(group, own) - own)
    }
