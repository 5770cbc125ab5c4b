"""Observed sides of causal pairs: the few columns that matter, of the few events that are one side of a pair.

For a long trace, a sample is enough. It is chosen by the offset, so that both sides of a pair are in it, or neither.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.columns import arrow_positions
from ..encoding.names import Actor
from ..format.kinds import OF_BROKERS, Kind
from .pairs import PAIRS, QUEUE
from .senders import Senders
from .view import ODD, View, clocks_of_commits, whole_of, words_of
from .were_there import may_be_of_another, processes_of, set_before

COLUMNS = (
    "time",
    "kind",
    "result",
    "client",
    "incarnation",
    "group",
    "topic",
    "broker",
    "queue",
    "offset",
    "path",
    "micros",
    "recorder",
)
"""Columns of the schema that are read."""

MOSTLY = 0.9
"""Share of the events, among those that should have a cause, that must have one, if a pair requires it."""

MOST = 200_000
"""Maximum number of events held; if there are more, those of every second offset are dropped, repeatedly, and at last
those of every second queue at offset 0.
"""

_BITS, _OFFSETS_FIRST = 24, 6
"""So many times events can be dropped, and so many times without those of offset 0."""

SECOND = 1_000_000
"""Some recorders, such as logs, write their times in whole seconds, µs."""

_SEVERAL, _MANY = 3, 100
"""This many different times, or this many events, that are all of whole seconds are no coincidence."""

ANEW = 1_000_000
"""Threads may stamp what they store a little out of order, µs; if a first offset comes this much after others, it is a
new one.
"""

_WAS_THERE = -1
"""In the place of ``first``: for a cause that may have existed before, in an unrecorded part of its client."""

_SIDE = np.dtype(
    [
        ("pair", np.int16),  # position in PAIRS
        ("after", np.int8),  # 1: the side that was caused
        ("first", np.int8),  # 1: the first pattern of the cause, which is the usual one
        ("key", np.uint64),
        ("queue", np.uint64),  # identifies its queue
        ("offset", np.int64),
        ("time", np.int64),  # µs since 1970, by the clock of its recorder
        ("recorder", np.int32),
        ("if_recorded", np.int32),  # of a commit: its broker, which is the recorder if it records anything; else -1
        ("group", np.int32),  # its code, -1 without one
        ("client", np.int32),  # the code of the client that it names, -1 without one
    ]
)

_SIDES = tuple(
    (place, pair, after, pattern)
    for place, pair in enumerate(PAIRS)
    for after, patterns in enumerate((pair.before, pair.after))
    for pattern in patterns
)
_KINDS = frozenset(str(pattern.kind) for *_, pattern in _SIDES)
_IN_COMMON = np.array(["group" in pair.key and "client" not in pair.key for pair in PAIRS])
"""For each pair, whether it is about something that all clients of a group share, which is not so in broadcasting."""

_ALWAYS = np.array([pair.always for pair in PAIRS])
_OF_STORES = np.array([pair.before[0].kind is Kind.STORE for pair in PAIRS])


@dataclass(kw_only=True)
class Matched:
    """Causal pairs, each between two recorders: columns of equal length.

    Attributes:
        recorders: all recorders that events name.
        present: positions of those that recorded something.
        pair: position in PAIRS.
        queue: a number for the queue.
        earlier: position of the recorder of the cause; ``later``: of the effect.
        earlier_time: by the clock of that recorder, µs, as is ``later_time``.
        coarse: for each recorder, by how much an event may be later than its time, µs: a second if it writes whole
            seconds, and others do not; otherwise 0.
    """

    recorders: tuple[Actor, ...]
    present: Any
    pair: Any
    queue: Any
    earlier: Any
    later: Any
    earlier_time: Any
    later_time: Any
    coarse: Any


class Observed:
    """Sides of causal pairs, observed batch after batch; several such objects can be joined.

    If a trace is judged in parts, each part is observed by itself and sent on: it holds no more than MOST sides.

    Args:
        events: total number of events to come in all parts, if known. There are usually at least half as many sides, so
            this shows from the beginning which sample is enough.
    """

    def __init__(self, events: int = 0) -> None:
        self._recorders: dict[Actor, int] = {}
        self._groups: dict[str, int] = {}
        self._clients: dict[str, int] = {}
        self._recording_brokers: set[str] = set()
        self._by_recorder = Senders()
        self._sides: list[Any] = []
        self._held = self._mask = 0
        self.expect(events)

    def expect(self, events: int) -> None:
        """Reduce the sample to what is enough for that many events, if it is larger."""
        mask = self._mask
        while events > 2 * MOST * (mask + 1):
            mask = 2 * mask + 1
        if mask != self._mask:
            self._choose(mask)

    def carried(self) -> tuple[dict[str, Any], Any]:
        """What was observed, to be stored: a value that JSON can express, and an array."""
        said = {
            "recorders": [[actor.name, actor.incarnation] for actor in self._recorders],
            "groups": list(self._groups),
            "clients": list(self._clients),
            "recording_brokers": sorted(self._recording_brokers),
            **self._by_recorder.carried(),
            "mask": self._mask,
        }
        return said, np.concatenate([np.zeros(0, _SIDE), *self._sides])

    @classmethod
    def carrying(cls, said: Mapping[str, Any], sides: Any) -> Observed:
        """An object restored from the result of :meth:`carried`."""
        made = cls()
        for name, incarnation in said["recorders"]:
            made._code(Actor(name, incarnation))
        for word in said["groups"]:
            made._group(word)
        for word in said["clients"]:
            made._client(word)
        made._recording_brokers = set(said["recording_brokers"])
        made._by_recorder = Senders.carrying(said)
        made._mask, made._sides, made._held = said["mask"], [sides.copy()], len(sides)
        return made

    def see(self, batch: pa.RecordBatch, recorder: Actor | None = None, micros: Any = None) -> None:
        """Observe events in the order of their recorders.

        Args:
            batch: with the columns :data:`COLUMNS`; missing ones count as null.
            recorder: the recorder of all of them; if it is not given, it is derived from the events: brokers recorded
                the kinds that only they record and the commits that they store, clients the rest, see :mod:`.senders`.
            micros: their times, µs; if not given, the times in ms.
        """
        if not len(batch):
            return
        if recorder is None:
            self._note_brokers(batch)
            self._by_recorder.see(batch)
        if self._mask:
            places = _shared(batch, self._mask)
            columns = batch.select([name for name in COLUMNS if name in batch.schema.names])
            batch, micros = columns.take(arrow_positions(places)), None if micros is None else micros[places]
        view = View(batch, micros)
        kinds = view.kinds & _KINDS if len(view) else frozenset()
        own = view.recorders(self._code) if recorder is None and len(view) else None
        for place, pair, after, pattern in _SIDES:
            if pattern.kind not in kinds:
                continue
            at = view.places_of(pattern)
            key, known = view.keys(pair.key, at)
            at, key = at[known], key[known]
            if not len(at):
                continue
            rows = np.zeros(len(at), _SIDE)
            rows["pair"], rows["after"], rows["key"] = place, after, key
            rows["queue"] = view.keys(QUEUE, at)[0]
            rows["first"] = not after and pattern is pair.before[0]
            rows["offset"] = view.whole("offset")[at]
            rows["time"] = view.micros[at]
            rows["if_recorded"] = -1
            rows["group"] = view.codes("group", self._group)[at]
            rows["client"] = view.codes("client", self._client)[at]
            if own is None:
                assert recorder is not None
                rows["recorder"] = self._code(recorder)
            else:
                rows["recorder"], rows["if_recorded"] = (codes[at] for codes in own)
            rows = rows[rows["recorder"] >= 0]
            if self._mask:
                rows = rows[_is_kept(rows, self._mask)]
            self._sides.append(rows)
            self._held += len(rows)
        self._thin()

    def join(self, later: Observed) -> None:
        """Add what was observed in the events after these."""
        table = np.array([*map(self._code, later._recorders), -1], np.int32)
        groups = np.array([*map(self._group, later._groups), -1], np.int32)
        clients = np.array([*map(self._client, later._clients), -1], np.int32)
        self._recording_brokers |= later._recording_brokers
        self._by_recorder.join(later._by_recorder)
        mask = max(self._mask, later._mask)
        for rows in later._sides:
            rows["recorder"] = table[rows["recorder"]]
            rows["if_recorded"] = table[rows["if_recorded"]]
            rows["group"], rows["client"] = groups[rows["group"]], clients[rows["client"]]
            self._sides.append(rows)
            self._held += len(rows)
        if mask != self._mask or mask != later._mask:
            self._choose(mask)
        self._thin()

    @property
    def senders(self) -> frozenset[str]:
        """The ids of clients that stamp their commits themselves."""
        return self._by_recorder.ids()

    def matched(self, broadcasting: Collection[str] = ()) -> Matched:
        """The pairs, each of two different recorders.

        In ``broadcasting`` groups every client has offsets of its own.
        """
        sides = np.concatenate([np.zeros(0, _SIDE), *self._sides])
        own = [code for group, code in self._groups.items() if group in broadcasting]
        sides = sides[~(np.isin(sides["group"], own) & _IN_COMMON[sides["pair"]])]
        brokers = [
            code
            for actor, code in self._recorders.items()
            if actor.incarnation < 0 and actor.name in self._recording_brokers
        ]
        sends = np.isin(sides["client"], [self._clients[client] for client in self.senders if client in self._clients])
        sides["recorder"] = clocks_of_commits(sides["recorder"], sides["if_recorded"], recording=brokers, sends=sends)
        present = np.union1d(sides["recorder"], np.array(brokers, np.int32))
        sides = sides[~np.isin(sides["queue"], _begun_anew(sides))]
        sides["key"] = (sides["key"] ^ sides["offset"].astype(np.uint64)) * ODD + sides["pair"].astype(np.uint64)
        before, after = sides[sides["after"] == 0], sides[sides["after"] == 1]
        is_told = _is_told(before, after)
        # Kept until pairs are made: without it, its effects would be paired with a successor of it.
        whose = self._whose(sides)
        was_there = set_before(before) | may_be_of_another(before, sides, recorders=self._recorders, whose=whose)
        before["first"][was_there & _ALWAYS[before["pair"]]] = _WAS_THERE
        before = _earliest(before, whose)
        after = _earliest_by_recorder(after[is_told])
        at = np.searchsorted(before["key"], after["key"])
        at[at == len(before)] = 0
        found = before["key"][at] == after["key"] if len(before) else np.zeros(len(after), bool)
        found &= _is_used(after, found)
        before, after = before[at[found]], after[found]
        bound = (before["recorder"] != after["recorder"]) & (before["first"] != _WAS_THERE)
        before, after = before[bound], after[bound]
        return Matched(
            recorders=tuple(self._recorders),
            present=present,
            pair=after["pair"],
            queue=after["queue"],
            earlier=before["recorder"],
            later=after["recorder"],
            earlier_time=before["time"],
            later_time=after["time"],
            coarse=_coarse(sides, len(self._recorders)),
        )

    def _whose(self, sides: Any) -> Any:
        """A number for each recorder: a common one for all processes of a client that ran one after another, otherwise
        its own.

        What the first of these processes did came before everything that its successors caused. Among processes that
        ran at the same time, nobody knows which one was the cause.
        """
        whose = np.arange(len(self._recorders))
        for several in processes_of(self._recorders):
            codes = [code for _, code in several]
            times = [times for times in (sides["time"][sides["recorder"] == code] for code in codes) if len(times)]
            if all(one.max() < other.min() for one, other in pairwise(times)):
                whose[codes] = codes[0]
        return whose

    def _group(self, group: str) -> int:
        return self._groups.setdefault(group, len(self._groups))

    def _client(self, client: str) -> int:
        return self._clients.setdefault(client, len(self._clients))

    def _code(self, recorder: Actor) -> int:
        return self._recorders.setdefault(recorder, len(self._recorders))

    def _note_brokers(self, batch: pa.RecordBatch) -> None:
        kind, kinds = words_of(batch, "kind")
        broker, brokers = words_of(batch, "broker")
        if OF_BROKERS.isdisjoint(kinds) or self._recording_brokers.issuperset(filter(None, brokers)):
            return
        found = broker[np.array([word in OF_BROKERS for word in kinds])[kind]]
        recording = {brokers[code] for code in np.flatnonzero(np.bincount(found, minlength=1)).tolist()} - {""}
        for name in sorted(recording - self._recording_brokers):
            self._code(Actor(name, -1))
        self._recording_brokers |= recording

    def _thin(self) -> None:
        while self._held > MOST and self._mask < (1 << _BITS) - 1:
            self._choose(2 * self._mask + 1)

    def _choose(self, mask: int) -> None:
        self._mask = mask
        if mask:
            self._sides = [rows[_is_kept(rows, mask)] for rows in self._sides]
        self._held = sum(map(len, self._sides))


def _coarse(sides: Any, recorders: int) -> Any:
    """By how much the events of each recorder may be later than their times, µs: see :class:`Matched`."""
    finer = np.bincount(sides["recorder"], weights=sides["time"] % SECOND != 0, minlength=recorders) > 0
    whole = sides[~finer[sides["recorder"]]]
    times = np.unique(whole[["recorder", "time"]])
    is_coarse = np.bincount(times["recorder"], minlength=recorders) >= _SEVERAL
    is_coarse |= np.bincount(whole["recorder"], minlength=recorders) >= _MANY
    return np.where(is_coarse & finer.any(), SECOND, 0)


def _begun_anew(sides: Any) -> Any:
    """Queues whose topic was created anew: their first offset was stored twice, so offsets identify no message."""
    stores = sides[(sides["after"] == 0) & _OF_STORES[sides["pair"]]]
    stores = stores[np.lexsort((stores["time"], stores["queue"]))]
    queues, first = np.unique(stores["queue"], return_index=True)
    again = stores[stores["offset"] == 0]
    began = stores["time"][first[np.searchsorted(queues, again["queue"])]]
    return again["queue"][again["time"] > began + ANEW]


def _is_told(before: Any, after: Any) -> Any:
    """Which events are of pairs whose usual cause was recorded, if the pair requires it.

    This is decided for each client of each group: if one records no in-memory offsets, an offset may come from it
    without a recorded answer, and a later query of it is not the cause.
    """
    usual = before[before["first"] == 1]
    return ~_ALWAYS[after["pair"]] | np.isin(_in_clients(after), np.unique(_in_clients(usual)))


def _is_used(after: Any, found: Any) -> Any:
    """Which events are of pairs that are used: if the pair requires it, nearly all of its events must have their
    cause.

    This is decided for each client of each group: the causes of some clients may not be recorded at all.
    """
    _, whose = np.unique(_in_clients(after), return_inverse=True)
    all_, with_cause = (np.bincount(whose[chosen], minlength=len(whose)) for chosen in (slice(None), found))
    return ~_ALWAYS[after["pair"]] | (with_cause >= MOSTLY * all_)[whose]


def _in_clients(sides: Any) -> Any:
    """A number for the pair, the group and the client of each side."""
    return (sides["pair"].astype(np.int64) << 56) + (sides["group"].astype(np.int64) << 28) + sides["client"]


def _share(offsets: Any, mask: int) -> Any:
    """Which of the events are kept: the same sample of both sides of every pair."""
    mixed = offsets.view(np.uint64) * ODD
    mixed >>= np.uint64(64 - _BITS)
    mixed &= np.uint64(mask)
    return mixed == 0


def _is_kept(sides: Any, mask: int) -> Any:
    """As :func:`_share`. Offset 0 is in every sample, and many queues may have no other: if dropping offsets is not
    enough, offset 0 is kept of fewer queues.
    """
    return _share(sides["offset"], mask) & ((sides["offset"] != 0) | _share(sides["queue"], mask >> _OFFSETS_FIRST))


def _shared(batch: pa.RecordBatch, mask: int) -> Any:
    """The positions of all events that may be in the sample of a mask: a quick filter before anything else is done."""
    kind, words = words_of(batch, "kind")
    is_side = np.array([word in _KINDS for word in words])[kind]
    return np.flatnonzero(is_side & _share(whole_of(batch, "offset"), mask))


def _earliest(sides: Any, whose: Any) -> Any:
    """The earliest of each key, in the order of keys, if one client or broker has all events with it: see ``whose``."""
    sides = sides[np.lexsort((sides["time"], sides["key"]))]
    starts = np.flatnonzero(np.r_[True, sides["key"][1:] != sides["key"][:-1]][: len(sides)])
    if not len(starts):
        return sides
    lowest, highest = (f.reduceat(whose[sides["recorder"]], starts) for f in (np.minimum, np.maximum))
    return sides[starts[lowest == highest]]


def _earliest_by_recorder(sides: Any) -> Any:
    """The earliest of each key and recorder."""
    sides = sides[np.lexsort((sides["time"], sides["recorder"], sides["key"]))]
    same = (sides["key"][1:] == sides["key"][:-1]) & (sides["recorder"][1:] == sides["recorder"][:-1])
    return sides[np.r_[True, ~same][: len(sides)]]
