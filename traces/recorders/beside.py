"""Beside another: events in one recording about a process that a better recording covers, too.

A log, a message trace or a joined file repeats what the file of an agent contains, often in whole seconds and without
the place of a message. One event would count as two, and a dead letter that was written once as a duplicate. For such a
process, in the time of its agent's recording, only the agent's file counts, for all kinds that it records. In the same
way, the file of a hook, or a joined one, takes precedence over imported files, and among these, one with all listener
calls over a log, which has only the failed ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..encoding.columns import Column
from ..format.coverage import EVIDENCE_BIT, evidence_mask
from ..format.header import Stated
from ..format.kinds import CALLS, OF_BROKERS, Kind
from ..io.source import Source

if TYPE_CHECKING:
    from .recording import Recording  # which needs modules that read traces, of which this is a part

TOLD = "events of processes that other files, which know more, tell of at that time"

_SLACK = 1_000
"""ms. Logs have whole seconds."""

_ASKED = ("time", "kind", "client", "group", "broker")
_OF_MEMBERS = ("time", "client", "group")
_ROWS = 1 << 16
_CLIENT, _GROUP, _BROKER, _MEMBER = "client", "group", "broker", "member"
_ANY = ""


@dataclass(frozen=True, kw_only=True)
class Span:
    """When something was recorded, ms, both included, and the mask of its kinds."""

    since: int
    until: int
    kinds: int


@dataclass(frozen=True)
class ByOthers:
    """Which processes other recordings cover, with which kinds, and when.

    Attributes:
        spans: for each client, each group all of whose members were recorded, each broker, and any of these brokers;
            for each client in a group, if no agent recorded it.
    """

    spans: Mapping[tuple[str, str], Sequence[Span]] = field(default_factory=dict)

    @classmethod
    def of_agents(cls, files: Sequence[tuple[Stated, Recording]], unrecorded: Iterable[str]) -> ByOthers:
        """What files of agents cover; ``unrecorded`` are groups with members that none of them covers."""
        spans: dict[tuple[str, str], list[Span]] = {}
        known = {group for _, one in files for group in _listed(one)} - set(unrecorded)
        for stated, recording in files:
            if not len(recording):
                continue
            kinds = stated.header.evidence or frozenset(kind for kind in Kind if len(recording.rows((kind,))))
            span = Span(
                since=int(recording.stamps.min()) // 1000 - _SLACK,
                until=int(recording.stamps.max()) // 1000 + _SLACK,
                kinds=evidence_mask(kinds - {Kind.GAP}),
            )
            who = {(_BROKER, recording.broker), (_BROKER, _ANY)} if recording.broker else set()
            for client, group in recording.clients:
                process = _process(client)
                # A listener log calls the client by its process id.
                who |= {(_CLIENT, client), (_CLIENT, process), (_CLIENT, process.rpartition("@")[2])}
                who |= {(_GROUP, group)} if group in known else set()
            for one in who:
                spans.setdefault(one, []).append(span)
        for key in [key for key in spans if key[0] == _GROUP]:
            own = spans[key]
            kinds_of_all = reduce(and_, (span.kinds for span in own))
            since, until = min(span.since for span in own), max(span.until for span in own)
            spans[key] = [Span(since=since, until=until, kinds=kinds_of_all)]
        return cls(spans)

    @classmethod
    def of_members(cls, source: Source) -> ByOthers:
        """What a file covers completely according to its header, for each client in a group, from its first event to
        its last.
        """
        kinds = evidence_mask(source.stated.header.evidence - OF_BROKERS - {Kind.GAP})
        spans: dict[tuple[str, str], list[Span]] = {}
        for batch in source.batches(_OF_MEMBERS, rows=_ROWS) if kinds else ():
            members = pa.Table.from_batches([batch]).group_by(["client", "group"])
            for one in members.aggregate([("time", "min"), ("time", "max")]).to_pylist():
                span = Span(since=one["time_min"] - _SLACK, until=one["time_max"] + _SLACK, kinds=kinds)
                spans.setdefault((_MEMBER, _member(one["client"], one["group"])), []).append(span)
        return cls(spans)

    def and_of(self, other: ByOthers) -> ByOthers:
        """These and other recordings together."""
        keys = dict.fromkeys((*self.spans, *other.spans))
        return ByOthers({key: (*self.spans.get(key, ()), *other.spans.get(key, ())) for key in keys})

    def has_joined(self, source: Source) -> bool:
        """Whether a source is the result of an earlier joining of these files: all its clients are theirs."""
        clients = [actor.name for actor in source.clocks.clocks if actor.incarnation >= 0] if source.clocks else []
        return bool(clients) and all((_CLIENT, client) in self.spans for client in clients)

    def tells(self, batch: pa.RecordBatch, *, joined: bool = False) -> Any:
        """For each event, whether others report it, too.

        Args:
            batch: with the columns time, kind, client, group and broker.
            joined: also events that joining these files adds: a death or a gap of one of these processes.
        """
        time = Column.of(batch.column("time")).filled(0, np.int64)
        words = [batch.column(name).cast(pa.string()).to_pylist() for name in _ASKED[1:]]
        told = np.zeros(len(batch), np.bool_)
        known: dict[tuple[str | None, ...], list[Span]] = {}
        for at, who in enumerate(zip(*words, strict=True)):
            if who not in known:
                known[who] = self._spans_of(*who)
            told[at] = any(span.since <= time[at] <= span.until for span in known[who])
            told[at] |= joined and who[0] in _JOINED and self._knows(who[1], who[3])
        return told

    def _knows(self, client: str | None, broker: str | None) -> bool:
        """Whether a process was recorded."""
        return ((_CLIENT, client) if client else (_BROKER, broker or _ANY)) in self.spans

    def _spans_of(self, kind: str | None, client: str | None, group: str | None, broker: str | None) -> list[Span]:
        """When others report such events."""
        if kind not in _KINDS:
            return []
        who = [(_CLIENT, client or _ANY), (_GROUP, group or _ANY), (_BROKER, broker or _ANY)]
        who += [(_MEMBER, _member(client, group))]
        return [span for one in who for span in self.spans.get(one, ()) if span.kinds & EVIDENCE_BIT[Kind(kind)]]


def others_of(sources: Sequence[Source], imported: Collection[Source]) -> list[ByOthers]:
    """For each source that no agent wrote, the better sources that report the same events."""
    told = {}
    for source in sources:
        says_all = source not in imported or source.stated.header.evidence & CALLS
        if says_all and any(one is not source for one in imported):
            told[id(source)] = ByOthers.of_members(source)
    found = []
    for source in sources:
        others = ByOthers()
        for one in sources if source in imported else ():
            if one is not source and (one not in imported or not source.stated.header.evidence & CALLS):
                others = others.and_of(told.get(id(one), ByOthers()))
        found.append(others)
    return found


class Beside:
    """A source without the events that others report, too; see :class:`~..io.source.Source`.

    Attributes:
        source: all of it.
        others: what the others report.
        skipped: as for the source, and the number of events that others report, too; complete after one reading.
    """

    def __init__(self, source: Source, others: ByOthers) -> None:
        self.source, self.others = source, others
        self.file, self.files, self.stated, self.clocks = source.file, source.files, source.stated, source.clocks
        self.rows: int | None = None
        self.time_range = source.time_range
        self.skipped = source.skipped

    @property
    def counted(self) -> bool:
        """As for the source, which knows it after a reading."""
        return self.source.counted

    @counted.setter
    def counted(self, counted: bool) -> None:
        self.source.counted = counted

    def batches(self, columns: Sequence[str], *, rows: int) -> Iterator[pa.RecordBatch]:
        """As for the source."""
        told = 0
        read = (*columns, *(name for name in _ASKED if name not in columns))
        for batch in self.source.batches(read, rows=rows):
            is_told = self.others.tells(batch)
            told += int(is_told.sum())
            yield batch.filter(pa.array(~is_told)).select(list(columns))
        self.skipped = self.source.skipped + Counter({TOLD: told})

    def adds_nothing(self) -> bool:
        """Whether others report all of it, and it has events; reads it once."""
        if self.others.has_joined(self.source):
            return True
        told = [self.others.tells(one, joined=True).all() for one in self.source.batches(_ASKED, rows=_ROWS)]
        return bool(told) and all(told)

    def places(self, events: Sequence[int]) -> list[int]:
        """Positions of events in the source, given their positions among those that are left, from 0 and ascending."""
        kept = [~self.others.tells(batch) for batch in self.source.batches(_ASKED, rows=_ROWS)]
        return [int(place) for place in np.flatnonzero(np.concatenate(kept))[list(events)]]


_KINDS = frozenset(map(str, Kind))
_JOINED = frozenset(map(str, (Kind.GAP, Kind.CLIENT_CRASH, Kind.BROKER_CRASH)))


def _listed(recording: Recording) -> list[str]:
    """The groups with lists of members."""
    groups = recording.table.column("group").take(pa.array(recording.rows((Kind.MEMBERS, Kind.REBALANCE))))
    return [group for group in pc.unique(groups).to_pylist() if group]


def _member(client: str | None, group: str | None) -> str:
    return f"{client or _ANY} {group or _ANY}"


def _process(client: str) -> str:
    """A client id without the suffix that newer clients add after their process id."""
    return client.partition("#")[0]
