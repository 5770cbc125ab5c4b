"""Coverage: which part of a run was recorded, and where the recording has holes.

Everything that takes evidence away is a :class:`Hole`: a line that cannot be read, an unknown word, a damaged header, a
file that is empty or of no known form, a ``gap`` that a recorder reports, a beginning in mid-run. Verdicts depend only
on coverage, never on the reason of a hole: a violation counts if whatever would excuse it was covered, and a claim
holds if whatever would violate it was.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .kinds import IN_WINDOW, OF_BROKERS, Kind
from .schema import Header, master_of

EVIDENCE_BIT: Mapping[Kind, int] = {kind: 1 << code for code, kind in enumerate(Kind)}
"""The bit of a mask of kinds that stands for a kind."""

EVER, NEVER = -(2**62), 2**62
"""Times before and after everything, ms."""

OF_CLIENTS = (
    Kind.REBALANCE,
    Kind.ASSIGN,
    Kind.REVOKE,
    Kind.CORRECT,
    Kind.COMMIT_MEMORY,
    Kind.FLOW_CONTROL,
    *IN_WINDOW,
)
"""Kinds that only clients record."""

_COPIES = ("%RETRY%", "%DLQ%")


def evidence_mask(kinds: Iterable[Kind]) -> int:
    """The mask of some kinds."""
    mask = 0
    for kind in kinds:
        mask |= EVIDENCE_BIT[kind]
    return mask


_CALLS = evidence_mask((Kind.DELIVER, Kind.RESULT))
_CONSUMES = evidence_mask((Kind.ASSIGN, Kind.PULL_RESULT, Kind.COMMIT_MEMORY))
_ENDS = evidence_mask((Kind.CLIENT_STOP, Kind.UNREGISTER))
_LEAVES = evidence_mask((Kind.REMOVED, Kind.REVOKE, Kind.LOCK_LOST, Kind.EXPIRE))
_BEATS, _DIVIDES, _REMOVES = EVIDENCE_BIT[Kind.HEARTBEAT], EVIDENCE_BIT[Kind.REBALANCE], EVIDENCE_BIT[Kind.REMOVED]


def unrecorded(kinds: int) -> int:
    """Mask of the kinds that a process must have done for a group, and that its recorder did not see.

    If messages leave the window of a process that never called a listener (CC-13), its calls were not recorded, for
    example because another agent has changed RocketMQ's classes in an unknown way. If a process takes queues and
    consumes, but nothing ever leaves a window and none is given up, although it stops in order or never sends a
    heartbeat either, then windows were not recorded: the first agents stated that they record all kinds, also in
    clients before 4.8, whose ``ProcessQueue`` and heartbeats they did not know.

    Args:
        kinds: mask of the kinds that were recorded of it.
    """
    unseen = _CALLS if kinds & _REMOVES and not kinds & _CALLS else 0
    is_silent = kinds & _DIVIDES and not kinds & _BEATS
    if kinds & _CONSUMES == _CONSUMES and not kinds & _LEAVES and (kinds & _ENDS or is_silent):
        unseen |= _LEAVES
        if kinds & _DIVIDES:
            unseen |= (_CALLS | _BEATS) & ~kinds
    return unseen


ALL_KINDS = evidence_mask(Kind)

SILENT = 31_000
"""A live client writes at least with its heartbeat, every 30 s; a broker writes its offsets every 5 s, ms."""

SETTINGS = 1 << len(Kind)
"""A further bit: the header's statements about groups and brokers. Without it, no apparent violation is certain."""


@dataclass(frozen=True, kw_only=True)
class Hole:
    """Something that may have happened without being seen."""

    since: int = EVER  # the earliest time at which it may have happened, ms; ``until``: the latest one
    until: int = NEVER
    kinds: int = ALL_KINDS  # mask of what it may have been, possibly including SETTINGS
    group: str = ""  # the group that it may concern; empty if this is not known, and any group is possible
    topic: str = ""  # the topic; empty for any. A lost event of a topic may have been about its retries
    # the broker of the queues; empty for any. What one broker did says nothing about another one's queues
    broker: str = ""
    recorder: str = ""  # client id or broker whose recording it is in; empty if this is not known
    why: str  # what took the evidence away, in words
    file: str = ""  # the file that it is in; empty if there is none
    line: int = 0  # line of the file; 0 for the file as a whole
    # it lies before the recording of one process began, or in the last moments before its death, which may not have
    # been written, or before the end of the trace, which that of a broker does not quite reach. Claims are about what
    # was recorded in between, so such a hole may excuse a finding, but does not make a claim undecided
    outside: bool = False

    @property
    def of_client(self) -> bool:
        """Whether it is known to be in the recording of a client."""
        return bool(self.recorder) and master_of(self.recorder) != self.broker

    def concerns(self, group: str, topic: str, broker: str) -> bool:
        """Whether it may concern a group, a topic and the queues of a broker; empty ones match any."""
        of_group = not self.group or not group or self.group == group
        of_topic = not self.topic or not topic or self.topic == topic or topic.startswith(_COPIES)
        return of_group and of_topic and (not self.broker or not broker or self.broker == broker)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        of = f" of {self.recorder}" if self.recorder else ""
        return f"{place}: {self.why}{of}" if place else f"{self.why}{of}"


class Coverage:
    """What was recorded.

    Args:
        recorded: mask of the kinds whose absence means something.
        begin: time of the first event, ms; ``end``: of the last one.
        holes: the holes of the recording; those of groups that are not judged do not count.
        of_groups: the same mask for groups of which less was recorded.
        groups: those that can be judged; empty if this is not known.
        not_judged: groups that cannot be judged at all, each with the reason in words.
        processes: mask of the kinds that occur, by group (empty for events that name none) and by process: a client id
            with its incarnation, or a broker with -1.
        told: the same, extended by the kinds that the files say they record.
    """

    def __init__(
        self,
        *,
        recorded: int,
        begin: int,
        end: int,
        holes: Sequence[Hole] = (),
        of_groups: Mapping[str, int] | None = None,
        groups: Sequence[str] = (),
        not_judged: Mapping[str, str] | None = None,
        processes: Mapping[tuple[str, str, int], int] | None = None,
        told: Mapping[tuple[str, str, int], int] | None = None,
    ) -> None:
        self.recorded, self.begin, self.end = recorded, begin, end
        holes = [hole for hole in holes if hole.group not in (not_judged or {})]
        self.holes = tuple(sorted(holes, key=lambda hole: (hole.since, hole.until, hole.file, hole.line, hole.why)))
        self.of_groups = dict(of_groups or {})
        self.groups = tuple(groups)
        self.not_judged = dict(not_judged or {})
        self.processes, self.told = dict(processes or {}), dict(told or {})
        alike: dict[tuple[int, str, str, str], list[Hole]] = {}
        for hole in self.holes:
            alike.setdefault((hole.kinds, hole.group, hole.topic, hole.broker), []).append(hole)
        self._alike = [(holes[0], joined((hole.since, hole.until) for hole in holes)) for holes in alike.values()]

    def recorded_of(self, group: str) -> int:
        """Mask of the kinds that were recorded of a group."""
        return self.of_groups.get(group, self.recorded)

    def lacks(self, kinds: Sequence[tuple[Kind, ...]]) -> list[tuple[Kind, ...]]:
        """The tuples of kinds of which none was recorded, for the group for which the fewest are missing."""
        if self.not_judged and not self.groups:
            return list(kinds)
        return min((missing(kinds, self.recorded_of(group)) for group in self.groups or [""]), key=len)

    def occur(self, kinds: Sequence[tuple[Kind, ...]]) -> bool:
        """Whether there are events of each tuple of kinds, whatever the files say they record."""
        return not missing(kinds, functools.reduce(operator.or_, self.processes.values(), 0))

    def unseen(self, group: str, who: tuple[str, int], kinds: int, unless_told: int = 0) -> int:
        """Mask of the kinds that a process never recorded in a group.

        Args:
            group: empty for what brokers do for all groups.
            who: client id with its incarnation, or a broker with -1.
            kinds: the kinds to check.
            unless_told: further kinds to check, which also count as recorded if the file says so, as there may have
                been none.
        """
        occurring = self.processes.get((group, *who), 0) | self.processes.get(("", *who), 0)
        told = self.told.get((group, *who), 0) | self.told.get(("", *who), 0)
        return (kinds & ~occurring) | (unless_told & ~occurring & ~told)

    def unstored(self, group: str, broker: str, kinds: int) -> int:
        """Mask of the kinds not stored at a broker for a group that its recording does not claim to have."""
        return self.unseen(group, (broker, AT_BROKER), 0, kinds & self.unseen(group, (broker, -1), 0, kinds))

    def clients(self, group: str) -> list[tuple[str, int]]:
        """The clients that acted in a group, each with its incarnation."""
        return [(name, number) for of, name, number in self.processes if of == group and number >= 0]

    def lost(
        self,
        kinds: int,
        *,
        group: str = "",
        topic: str = "",
        broker: str = "",
        since: int,
        until: int,
        clients: Collection[str] = (),
        living: int = EVER,
        deaths: bool = True,
    ) -> Hole | None:
        """The first hole in which something of ``kinds`` may have happened from ``since`` to ``until``, if any.

        Args:
            kinds: mask.
            group: empty for any, as are ``topic`` and ``broker``.
            topic: the topic that it may concern.
            broker: the broker of the queue that it may concern.
            since: ms.
            until: ms.
            clients: clients whose recordings count, besides those of brokers; empty for all.
            living: ms; holes outside the recording of a process that were over before this time do not count.
            deaths: whether holes outside the recording of a client count at all.
        """
        for hole in self._lost(kinds, group, topic, broker, since, until):
            of_another = clients and hole.of_client and hole.recorder not in clients
            over = hole.outside and (hole.until < living or (hole.of_client and not deaths))
            if not of_another and not over:
                return hole
        return None

    def undecided(self, kinds: int, group: str = "") -> Hole | None:
        """The first hole inside the recording in which an event of ``kinds`` may be lost, of a group or of any; holes
        outside it are ignored.
        """
        found = self._lost(kinds, group, "", "", self.begin, self.end)
        return next((hole for hole in found if not hole.outside), None)

    def _lost(self, kinds: int, group: str, topic: str, broker: str, since: int, until: int) -> Iterator[Hole]:
        for hole in self.holes:
            if hole.since > until:
                return
            if hole.until >= since and hole.kinds & kinds and hole.concerns(group, topic, broker):
                yield hole

    def is_lost(self, kinds: int, queues: Sequence[tuple[str, str, str]], at: Any, since: Any, until: Any) -> Any:
        """The same for many questions at once: an array of truth values.

        Args:
            kinds: mask.
            queues: groups with topics and brokers.
            at: for each question, its index in ``queues``; -1 for any.
            since: ms, of each question.
            until: ms.
        """
        lost = np.zeros(len(at), np.bool_)
        for hole, spans in self._alike:
            if not hole.kinds & kinds:
                continue
            concerned = np.array([*(hole.concerns(*queue) for queue in queues), True])[at]
            first = np.minimum(np.searchsorted(spans[:, 1], since), len(spans) - 1)
            lost |= concerned & (spans[first, 1] >= since) & (spans[first, 0] <= until)
        return lost


AT_BROKER = -2
"""Used in the place of an incarnation for what clients and brokers report as stored at a broker."""


def missing(kinds: Iterable[tuple[Kind, ...]], recorded: int) -> list[tuple[Kind, ...]]:
    """The tuples of kinds of which none was recorded, each once."""
    return [each for each in dict.fromkeys(kinds) if not recorded & evidence_mask(each)]


def joined(spans: Iterable[tuple[int, int]]) -> Any:
    """Spans in order, with touching ones joined: two columns."""
    found: list[list[int]] = []
    for since, until in sorted(spans):
        if found and since <= found[-1][1]:
            found[-1][1] = max(found[-1][1], until)
        else:
            found.append([since, until])
    return np.array(found, np.int64).reshape(-1, 2)


def told_holes(header: Header, events: Iterable[Mapping[str, Any]], *, begin: int, end: int) -> list[Hole]:
    """The holes that a recording reports itself: its gaps, and that it begins in mid-run.

    A gap of one process from the beginning on, in which nothing is known to be lost, only marks where its recording
    begins.

    Args:
        header: header of the trace.
        events: those of the kinds TOLD.
        begin: time of the first event, ms.
        end: time of the last one.
    """
    holes = []
    events = list(events)
    deaths = {(_who(event), int(event["time"])) for event in events if event["kind"] in _DEATHS}
    for event in events:
        if event["kind"] == Kind.GAP:
            said = event.get("detail")
            others = OF_BROKERS if event.get("client") else OF_CLIENTS if event.get("broker") else ()
            since = begin if event.get("due") is None else int(event["due"])
            until = int(event["time"])
            starts_late = bool(others) and since <= begin and until < end
            ends_soon = bool(event.get("broker")) and begin < since and end - since <= SILENT and until >= end
            holes.append(
                Hole(
                    since=since,
                    until=until,
                    kinds=ALL_KINDS & ~evidence_mask(others),
                    group=event.get("group") or "",
                    topic=event.get("topic") or "",
                    broker=master_of(event.get("broker") or ""),
                    recorder=event.get("client") or event.get("broker") or "",
                    why=f"a gap of the recording{f' ({said})' if said else ''}",
                    outside=not event.get("count") and (starts_late or ends_soon or (_who(event), until) in deaths),
                )
            )
    if not header.complete:
        holes.append(Hole(until=begin - 1, why="what came before the recording began"))
    return holes


_DEATHS = (Kind.CLIENT_CRASH, Kind.BROKER_CRASH)
TOLD = (Kind.GAP, *_DEATHS)
"""Kinds with which a recording reports its holes."""


def _who(event: Mapping[str, Any]) -> tuple[Any, ...]:
    """The process that an event is about."""
    return event.get("client"), event.get("incarnation") or 0, "" if event.get("client") else event.get("broker")
