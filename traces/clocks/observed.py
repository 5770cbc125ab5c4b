"""What is seen of causal pairs: the few columns that matter of the few events that are a side of one.

Of a long trace a share is enough. It is taken by the offset, so that both sides of a pair are in it or neither.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.columns import Column, arrow_places
from ..encoding.names import Actor
from ..format.kinds import Kind
from ..format.schema import BY_NAME, origin_of
from .pairs import BROKER_KINDS, PAIRS, EventPattern, Pair

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
    "micros",
)
"""Columns of the schema that are looked at."""

MOSTLY = 0.9
"""So many of the events that should have a cause must have one, where a pair asks for that."""

_INCARNATIONS = 1 << 10

_MAY_BE_ZERO = frozenset({"queue", "offset"})
"""Fields whose 0 is a value, so that another number stands for one that is not known."""

MOST = 200_000
"""So many events are held; where there are more, those of every second offset are let go, and again."""

_SIDE = np.dtype(
    [
        ("pair", np.int16),  # place in PAIRS
        ("after", np.int8),  # 1: the side that was caused
        ("first", np.int8),  # 1: of the first pattern of the cause, which is the usual one
        ("key", np.uint64),
        ("offset", np.int64),
        ("time", np.int64),  # µs since 1970, by the clock of its recorder
        ("recorder", np.int32),
        ("if_recorded", np.int32),  # of a commit: its broker, which is the recorder if it records anything; else -1
        ("group", np.int32),  # its code, -1 without one
        ("client", np.int32),  # the code of the client it names, -1 without one
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
"""For each pair, whether it speaks of what all clients of a group have in common, as they have not in broadcasting."""

_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(kw_only=True)
class Matched:
    """Causal pairs between two recorders each: equally long columns.

    Attributes:
        recorders: all that events name.
        present: places of those that recorded something.
        pair: place in PAIRS.
        earlier: place of the recorder of the cause; ``later``: of what it caused.
        earlier_time: by the clock of that recorder, µs; so is ``later_time``.
    """

    recorders: tuple[Actor, ...]
    present: Any
    pair: Any
    earlier: Any
    later: Any
    earlier_time: Any
    later_time: Any


class Observed:
    """Sides of causal pairs, seen batch after batch; several can be put together.

    Of a trace that is to be judged in parts, each part is seen by itself and sent on: it holds no more than MOST.

    Args:
        events: so many are to come in all parts together, if that is known. As a rule there are at least half as many
            sides, so that it tells from the beginning which share will be enough.
    """

    def __init__(self, events: int = 0) -> None:
        self._recorders: dict[Actor, int] = {}
        self._groups: dict[str, int] = {}
        self._clients: dict[str, int] = {}
        self._recording_brokers: set[str] = set()
        self._sides: list[Any] = []
        self._held = 0
        self._mask = 0
        while events > 2 * MOST * (self._mask + 1):
            self._mask = 2 * self._mask + 1

    def see(self, batch: pa.RecordBatch, recorder: Actor | None = None, micros: Any = None) -> None:
        """Look at events in the order of their recorders.

        Args:
            batch: with the columns :data:`COLUMNS`; those that it does not have count as null.
            recorder: who recorded all of them; without it the events tell: brokers what only they record and the
                commits that they store, clients the rest.
            micros: when each was, µs; without it the time in ms.
        """
        if not len(batch):
            return
        if recorder is None:
            self._note_brokers(batch)
        if self._mask:
            places = _shared(batch, self._mask)
            columns = batch.select([name for name in COLUMNS if name in batch.schema.names])
            batch, micros = columns.take(arrow_places(places)), None if micros is None else micros[places]
        view = _View(batch, micros)
        kinds = view.kinds & _KINDS if len(view) else frozenset()
        own = view.recorders(self._code) if recorder is None and len(view) else None
        for place, pair, after, pattern in _SIDES:
            if pattern.kind not in kinds:
                continue
            at = view.places_of(pattern)
            key, known = view.keys(pair, at)
            at, key = at[known], key[known]
            if not len(at):
                continue
            rows = np.zeros(len(at), _SIDE)
            rows["pair"], rows["after"], rows["key"] = place, after, key
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
                by_client, by_broker = own
                rows["recorder"] = (by_broker if pattern.kind in BROKER_KINDS else by_client)[at]
                if pattern.kind == Kind.COMMIT:
                    rows["if_recorded"] = by_broker[at]
            rows = rows[rows["recorder"] >= 0]
            self._sides.append(rows)
            self._held += len(rows)
        self._thin()

    def join(self, later: Observed) -> None:
        """Add what was seen of the events after these."""
        table = np.array([*map(self._code, later._recorders), -1], np.int32)
        groups = np.array([*map(self._group, later._groups), -1], np.int32)
        clients = np.array([*map(self._client, later._clients), -1], np.int32)
        self._recording_brokers |= later._recording_brokers
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

    def matched(self, broadcasting: Collection[str] = ()) -> Matched:
        """The pairs, of different recorders each.

        Args:
            broadcasting: groups of which every client has offsets of its own.
        """
        sides = np.concatenate([np.zeros(0, _SIDE), *self._sides])
        own = [code for group, code in self._groups.items() if group in broadcasting]
        sides = sides[~(np.isin(sides["group"], own) & _IN_COMMON[sides["pair"]])]
        brokers = [
            code
            for actor, code in self._recorders.items()
            if actor.incarnation < 0 and actor.name in self._recording_brokers
        ]
        stored = np.isin(sides["if_recorded"], brokers)
        sides["recorder"][stored] = sides["if_recorded"][stored]
        present = np.union1d(sides["recorder"], np.array(brokers, np.int32))
        sides["key"] = (sides["key"] ^ sides["offset"].astype(np.uint64)) * _ODD + sides["pair"].astype(np.uint64)
        before, after = sides[sides["after"] == 0], sides[sides["after"] == 1]
        is_told = _is_told(before, after)
        before, after = _earliest(before), _earliest_by_recorder(after[is_told])
        at = np.searchsorted(before["key"], after["key"])
        at[at == len(before)] = 0
        found = before["key"][at] == after["key"] if len(before) else np.zeros(len(after), bool)
        found &= _is_used(after, found)
        before, after = before[at[found]], after[found]
        other = before["recorder"] != after["recorder"]
        before, after = before[other], after[other]
        return Matched(
            recorders=tuple(self._recorders),
            present=present,
            pair=after["pair"],
            earlier=before["recorder"],
            later=after["recorder"],
            earlier_time=before["time"],
            later_time=after["time"],
        )

    def _group(self, group: str) -> int:
        return self._groups.setdefault(group, len(self._groups))

    def _client(self, client: str) -> int:
        return self._clients.setdefault(client, len(self._clients))

    def _code(self, recorder: Actor) -> int:
        return self._recorders.setdefault(recorder, len(self._recorders))

    def _note_brokers(self, batch: pa.RecordBatch) -> None:
        kind, kinds = _words(batch, "kind")
        broker, brokers = _words(batch, "broker")
        if BROKER_KINDS.isdisjoint(kinds) or self._recording_brokers.issuperset(filter(None, brokers)):
            return
        found = broker[np.array([word in BROKER_KINDS for word in kinds])[kind]]
        recording = {brokers[code] for code in np.flatnonzero(np.bincount(found, minlength=1)).tolist()} - {""}
        for name in sorted(recording - self._recording_brokers):
            self._code(Actor(name, -1))
        self._recording_brokers |= recording

    def _thin(self) -> None:
        while self._held > MOST:
            self._choose(2 * self._mask + 1)

    def _choose(self, mask: int) -> None:
        self._mask = mask
        if mask:
            self._sides = [rows[_share(rows["offset"], mask)] for rows in self._sides]
        self._held = sum(map(len, self._sides))


def _is_told(before: Any, after: Any) -> Any:
    """Which events are of pairs whose usual cause was recorded, where that is asked for.

    It is asked of each client of each group: from one that records no in-memory offsets an offset comes that it was
    never told, and that it asks for later is not the cause of it.
    """
    always = np.array([pair.always for pair in PAIRS])[after["pair"]]
    caused, usual = (
        (side["pair"].astype(np.int64) << 56) + (side["group"].astype(np.int64) << 28) + side["client"]
        for side in (after, before[before["first"] == 1])
    )
    return ~always | np.isin(caused, np.unique(usual))


def _is_used(after: Any, found: Any) -> Any:
    """Which events are of pairs that are used: nearly all have their cause, where that is asked for.

    It is asked of each client of each group: of another one the causes may not be recorded at all.
    """
    always = np.array([pair.always for pair in PAIRS])[after["pair"]]
    whose = after["pair"].astype(np.int64)
    for name in ("group", "client"):
        codes = after[name].astype(np.int64) + 1
        _, whose = np.unique(whose * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
    all_, with_cause = (np.bincount(whose[chosen], minlength=len(whose)) for chosen in (slice(None), found))
    return ~always | (with_cause >= MOSTLY * all_)[whose]


def _share(offsets: Any, mask: int) -> Any:
    """Which of the events are kept: the same share of both sides of every pair."""
    mixed = offsets.view(np.uint64) * _ODD
    mixed >>= np.uint64(40)
    mixed &= np.uint64(mask)
    return mixed == 0


def _shared(batch: pa.RecordBatch, mask: int) -> Any:
    """The places of all events that may be in the share of a mask: a quick look, before anything else is done."""
    kind, words = _words(batch, "kind")
    is_side = np.array([word in _KINDS for word in words])[kind]
    return np.flatnonzero(is_side & _share(_whole(batch, "offset"), mask))


def _earliest(sides: Any) -> Any:
    """The earliest of each key, in the order of keys, where all of a key are of one recorder."""
    sides = sides[np.lexsort((sides["time"], sides["key"]))]
    starts = np.flatnonzero(np.r_[True, sides["key"][1:] != sides["key"][:-1]][: len(sides)])
    if not len(starts):
        return sides
    lowest, highest = (f.reduceat(sides["recorder"], starts) for f in (np.minimum, np.maximum))
    return sides[starts[lowest == highest]]


def _earliest_by_recorder(sides: Any) -> Any:
    """The earliest of each key and recorder."""
    sides = sides[np.lexsort((sides["time"], sides["recorder"], sides["key"]))]
    same = (sides["key"][1:] == sides["key"][:-1]) & (sides["recorder"][1:] == sides["recorder"][:-1])
    return sides[np.r_[True, ~same][: len(sides)]]


def _words(batch: pa.RecordBatch, name: str) -> tuple[Any, list[str]]:
    """For each event the place of its word, and the words, the last of which is that of events without one."""
    if name not in batch.schema.names:
        return np.zeros(len(batch), np.int32), [""]
    column = batch.column(name)
    given = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = [word or "" for word in given.dictionary.to_pylist()]
    return Column.of(given.indices).filled(len(known), np.int32), [*known, ""]


def _whole(batch: pa.RecordBatch, name: str) -> Any:
    """The whole numbers of a column; where one is not known, -1 of the fields of patterns, 0 of others."""
    absent = -1 if name in _MAY_BE_ZERO else 0
    if name not in batch.schema.names:
        return np.full(len(batch), absent, np.int64)
    return Column.of(batch.column(name)).filled(absent, BY_NAME[name].type.to_pandas_dtype())


class _View:
    """A batch by its columns."""

    def __init__(self, batch: pa.RecordBatch, micros: Any) -> None:
        self._batch = batch
        self._wholes: dict[str, Any] = {}
        self._words: dict[str, tuple[Any, list[str]]] = {}
        self._hashes: dict[str, Any] = {}
        kind, words = self.words("kind")
        self.kinds = {word for word in words if word}
        # Words are few, and numbers of 16 bits are sorted in one go.
        self._by_kind = np.argsort(kind.astype(np.uint16) if len(words) < 1 << 16 else kind, kind="stable")
        ends = np.cumsum(np.bincount(kind, minlength=len(words))).tolist()
        self._ranges = list(zip(words, [0, *ends], ends, strict=False))
        self._micros = micros

    def __len__(self) -> int:
        return len(self._batch)

    @property
    def micros(self) -> Any:
        if self._micros is None:
            self._micros = self.whole("time") * 1000 + self.whole("micros")
        return self._micros

    def words(self, name: str) -> tuple[Any, list[str]]:
        """See :func:`_words`."""
        if name not in self._words:
            self._words[name] = _words(self._batch, name)
        return self._words[name]

    def whole(self, name: str) -> Any:
        """See :func:`_whole`."""
        if name not in self._wholes:
            self._wholes[name] = _whole(self._batch, name)
        return self._wholes[name]

    def of_kinds(self, kinds: Collection[str]) -> Any:
        """The places of events of these kinds, those of one kind in their order."""
        parts = [self._by_kind[begin:end] for word, begin, end in self._ranges if word in kinds]
        return parts[0] if len(parts) == 1 else np.concatenate([*parts, np.zeros(0, np.int64)])

    def places_of(self, pattern: EventPattern) -> Any:
        """The places of events of a pattern that have an offset."""
        places = self.of_kinds((pattern.kind,))
        if pattern.results:
            at, words = self.words("result")
            places = places[np.array([word in pattern.results for word in words])[at[places]]]
        return places[self.whole("offset")[places] >= 0]

    def codes(self, name: str, code: Callable[[str], int]) -> Any:
        """For each event the code of its word, -1 without one."""
        at, words = self.words(name)
        return np.array([code(word) if word else -1 for word in words], np.int32)[at]

    def keys(self, pair: Pair, places: Any) -> tuple[Any, Any]:
        """What events at these places have in common with the other side, and whether they have it."""
        key = np.full(len(places), 1, np.uint64)
        known = np.ones(len(places), bool)
        for name in pair.key:
            if name == "queue":
                part = self.whole(name)[places].astype(np.int64)
                known &= part >= 0
            else:
                at, words = self.words(name)
                if name not in self._hashes:
                    self._hashes[name] = np.array([origin_of(word) if word else 0 for word in words], np.int64)
                part = self._hashes[name][at[places]]
                known &= part != 0
            key = (key ^ part.astype(np.uint64)) * _ODD
        return key, known

    def recorders(self, code: Callable[[Actor], int]) -> tuple[Any, Any]:
        """For each event the code of its client, and of its broker; -1 where it names none."""
        at, clients = self.words("client")
        incarnation = np.minimum(np.maximum(self.whole("incarnation"), 0), _INCARNATIONS - 1).astype(np.int64)
        most = int(incarnation.max()) + 1
        together = at * most + incarnation
        table = np.full(len(clients) * most, -1, np.int32)
        table[together] = 0
        for each in np.flatnonzero(table == 0).tolist():
            client = clients[each // most]
            table[each] = code(Actor(client, each % most)) if client else -1
        by_client = table[together]
        return by_client, self.codes("broker", lambda word: code(Actor(word, -1)))
