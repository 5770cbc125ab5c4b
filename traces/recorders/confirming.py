"""Events that two sides have recorded are kept once: commits, which a client sends and a broker applies, and resets.

The time of a commit is when the broker applied it; who sent it, from which process and on which path, the client knows.
Every client is informed of a reset, but its record is used only if its broker was not recorded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from ..format.kinds import Kind, Path
from .brokers_away import BrokersRecorded
from .processes import Processes
from .recording import Event, Recording

LATE = 1_000
"""A client may stamp its sending this long after the broker has stamped the arrival: it records what it has done, and
may have stood still in between, ms.
"""

NEVER_APPLIED = "commits that clients sent and no broker applied"
BROKER_NOT_RECORDED = "commits of clients to brokers that were not recorded then, kept as sent"

TOLD_AGAIN = "resets that clients were told of, and that are there already"
ONE_RESET = 10_000
"""Clients are informed of a reset one after the other; their records within this time belong to one reset, ms."""

NOT_ASKED = frozenset({str(Path.FILE), str(Path.RESET), str(Path.REPLICA)})
"""Paths on which a broker stores an offset that no client has sent."""

_Key = tuple[str, str, str, int, int, bool]


@dataclass(slots=True)
class _Half:
    """One side's record of a commit: its position among all events, its time, µs, and its client.

    A broker does not know the client whose connection it has given up, and nobody sends what a broker stores for a
    group that takes messages by pop (PopBufferMergeService): ``client`` is then empty.
    """

    at: int
    stamp: int
    client: str
    event: Event
    recording: Recording | None = None

    def says(self, processes: Processes) -> Event:
        """What a client states about a commit, and its broker does not know."""
        assert self.recording is not None
        number = {"incarnation": processes.number(self.recording, self.client)} if self.client else {}
        return {name: self.event[name] for name in ("client", "path", "epoch") if name in self.event} | number


@dataclass(frozen=True, kw_only=True)
class Confirmed:
    """How to keep each commit and reset only once.

    Attributes:
        dropped: positions of those that are removed.
        told: fields that others get from them, by position.
        counts: how many are removed, or stay without an answer, in words.
        unsent: for each group, how many offsets brokers stored that no client is known to have sent.
    """

    dropped: Sequence[int]
    told: Mapping[int, Event]
    counts: Counter[str]
    unsent: Counter[str]


def confirmed(
    events: Iterable[tuple[int, int, Recording, Event]], processes: Processes, recorded: BrokersRecorded
) -> Confirmed:
    """Which commits and resets were recorded by two sides.

    A commit that no broker applied is removed, unless its broker was not recorded then. A commit that no client is
    known to have sent stays. If a reset to that offset follows, it is a part of the reset: a tool first stores the
    offset itself (``DefaultMQAdminExtImpl#resetOffsetByQueueId``).

    Args:
        events: commits and resets of all recordings by time stamp: position, time stamp, recording, event.
        processes: the processes of the clients.
        recorded: when each broker was recorded.
    """
    counts: Counter[str] = Counter()
    resets: dict[_Key, int] = {}
    dropped: list[int] = []
    told: dict[int, Event] = {}
    sent: defaultdict[_Key, list[_Half]] = defaultdict(list)
    applied: defaultdict[_Key, list[_Half]] = defaultdict(list)
    nobodys: defaultdict[_Key, list[_Half]] = defaultdict(list)
    for place, stamp, recording, event in events:
        key = _key(event)
        if event["kind"] == Kind.RESET:
            again = stamp - resets.get(key, stamp - ONE_RESET * 1000) < ONE_RESET * 1000
            if not recording.of_broker and (again or recorded.at(event.get("broker", ""), stamp)):
                counts[TOLD_AGAIN] += 1
                dropped.append(place)
            else:
                resets[key] = stamp
                by_tool = _latest(nobodys[key], "", since=stamp - ONE_RESET * 1000)
                if by_tool is not None:
                    told[by_tool.at] = {"path": Path.RESET}
            continue
        if event.get("path") in NOT_ASKED:
            continue
        half = _Half(place, stamp, event.get("client", ""), event)
        if not recording.of_broker:
            half.recording = recording
            other = _latest(applied[key], half.client, since=stamp - LATE * 1000)
            if other is None:
                sent[key].append(half)
            else:
                told[other.at] = half.says(processes)
                dropped.append(half.at)
        elif not half.client:
            nobodys[key].append(half)
        else:
            other = _latest(sent[key], half.client)
            if other is not None:
                told[half.at] = other.says(processes)
                dropped.append(other.at)
            else:
                if "incarnation" not in event:
                    told[place] = {"incarnation": processes.latest(half.client, stamp)}
                applied[key].append(half)
    # Only among those that are left: a broker may store the same for a group by itself, just before or after a client
    # sends it.
    unsent: Counter[str] = Counter()
    for key, halves in nobodys.items():
        for half in halves:
            other = _sent_for(sent.get(key, []), half.stamp)
            if other is None:
                unsent[half.event.get("group", "")] += 1
            else:
                told[half.at] = other.says(processes)
                dropped.append(other.at)
    for one in (one for waiting in sent.values() for one in waiting):
        if recorded.at(one.event.get("broker", ""), one.stamp):
            dropped.append(one.at)
            counts[NEVER_APPLIED] += 1
        elif recorded.any:
            counts[BROKER_NOT_RECORDED] += 1
    return Confirmed(dropped=dropped, told=told, counts=counts, unsent=unsent)


def _latest(halves: list[_Half], client: str, since: int = 0) -> _Half | None:
    """The latest record of a client, which is removed; None if there is none."""
    for place in range(len(halves) - 1, -1, -1):
        half = halves[place]
        if half.stamp >= since and half.client == client:
            return halves.pop(place)
    return None


def _sent_for(halves: list[_Half], stamp: int) -> _Half | None:
    """The record that a broker which does not know the client may have applied, which is removed: the latest before, or
    the next.
    """
    before = bisect_right(halves, stamp, key=attrgetter("stamp"))
    if before:
        return halves.pop(before - 1)
    if halves and halves[0].stamp <= stamp + LATE * 1000:
        return halves.pop(0)
    return None


def _key(event: Event) -> _Key:
    return (
        event.get("group", ""),
        event.get("topic", ""),
        event.get("broker", ""),
        event.get("queue", -1),
        event.get("offset", -1),
        event.get("path") == Path.PIGGYBACK,
    )
