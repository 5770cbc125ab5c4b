"""The events of the context in columns: each field of an event is the number of one of the values that it may have.

Most of them repeat what the same process said before: a heartbeat, or a rebalance pass with the same lists. In columns,
one takes about 25 bytes, whereas a dictionary takes more than a kilobyte, so that the passes of a hundred groups fit
into each task of a cluster. Readers get events as dictionaries, made as they are read, or just the fields they name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from .columns import Column
from .context_folds import Carrying, ContextFold
from .names import Actor

FIELDS = (
    "kind",
    "result",
    "path",
    "client",
    "incarnation",
    "group",
    "topic",
    "broker",
    "queue",
    "count",
    "due",
    "members",
    "queues",
    "assigned",
    "subscriptions",
    "detail",
)
"""Fields of an event of the context, besides its time."""

CONTEXT_COLUMNS = ("time", *FIELDS)
"""Columns that events of the context use."""

_OF_ACTOR = ("client", "incarnation", "broker")
_LISTS = frozenset(("members", "queues", "assigned", "subscriptions"))
_NOWHERE = np.empty(0, np.int64)
_AT_ONCE = 4096
"""Number of events made at a time."""

_MIX = np.uint64(0x9E3779B97F4A7C15)

T = TypeVar("T")
Fold = TypeVar("Fold", bound=ContextFold)


class ContextEvents:
    """Events of the context, in an order. They do not change; what is learnt of them once is kept, see :meth:`once`.

    Attributes:
        times: when each happened, ms.
        codes: for each of FIELDS, the number of the value of each event; ``values``: the values, all different.
        seq: their ``seq``, which decides the order of events of one time until they are in order; None afterwards.
        carrying: where folds over them begin and stop; None: they take all events without a stop.
    """

    def __init__(self, times: Any, codes: Sequence[Any], values: Sequence[Sequence[Any]], seq: Any = None) -> None:
        self.times, self.seq = times, seq
        self.codes = tuple(map(_narrow, codes, map(len, values)))
        self.values = tuple(map(tuple, values))
        self.carrying: Carrying | None = None
        self._known: dict[Any, Any] = {}

    @classmethod
    def of(cls, events: Iterable[Mapping[str, Any]]) -> ContextEvents:
        """The same events, in columns."""
        events = list(events)
        codes, values = [], []
        for name in FIELDS:
            number: dict[Any, int] = {}
            codes.append([number.setdefault(_hashable(event.get(name)), len(number)) for event in events])
            values.append(number)
        times, seq = ([int(event.get(name) or 0) for event in events] for name in ("time", "seq"))
        coded = [np.array(each, np.int64) for each in codes]
        return cls(np.array(times, np.int64), coded, list(map(list, values)), np.array(seq) if any(seq) else None)

    @classmethod
    def of_batch(cls, batch: pa.RecordBatch) -> ContextEvents:
        """The events of a batch with the columns CONTEXT_COLUMNS, and perhaps ``seq``."""
        codes, values = zip(*(_coded(name, batch.column(name)) for name in FIELDS), strict=True)
        times, *seq = (
            Column.of(batch.column(name)).filled(0, np.int64) for name in ("time", "seq") if name in batch.schema.names
        )
        return cls(times, codes, values, *seq)

    @classmethod
    def joined(cls, parts: Sequence[ContextEvents]) -> ContextEvents:
        """All events of several such objects, one after another."""
        if len(parts) == 1:
            return parts[0]
        words: dict[str, str] = {}
        codes, values = [], []
        for at in range(len(FIELDS)):
            number: dict[Any, int] = {}
            coded = []
            for part in parts:
                own = [number.setdefault(_shared(value, words, number), len(number)) for value in part.values[at]]
                coded.append(np.array(own, np.int64)[part.codes[at]] if own else np.empty(0, np.int64))
            codes.append(_narrow(np.concatenate(coded) if coded else np.empty(0, np.int64), len(number)))
            values.append(list(number))
        if not parts:
            return cls(np.empty(0, np.int64), codes, values)
        times, seqs = np.concatenate([part.times for part in parts]), [part.seq for part in parts]
        return cls(times, codes, values, None if any(seq is None for seq in seqs) else np.concatenate(seqs))

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self._made(None)

    def __getitem__(self, at: int) -> dict[str, Any]:
        (event,) = self._made(np.array([range(len(self))[at]]))
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ContextEvents) and len(self) == len(other) and all(map(dict.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> Any:
        return ContextEvents, (self.times, self.codes, self.values, self.seq)

    def of_kinds(self, *kinds: str, span: tuple[int, int] | None = None) -> Iterator[dict[str, Any]]:
        """The events of some kinds, in their order; ``span``: from one place on, and before another."""
        return self._made(self._places(kinds, span))

    def rows(
        self, *names: str, kinds: Collection[str], of: Actor | None = None, span: tuple[int, int] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """The values of some columns, for the events of some kinds, of one process or of all, in their order; ``place``
        is the place of an event. ``span`` as for :meth:`of_kinds`.
        """
        if of is None:
            return self.rows_at(self._places(kinds, span), *names)
        places = self.once(_by_actor, frozenset(kinds)).get(of, _NOWHERE)
        if span is not None:
            places = places[slice(*np.searchsorted(places, span))]
        return self.rows_at(places, *names)

    def rows_at(self, places: Any, *names: str) -> Iterator[tuple[Any, ...]]:
        """The values of some columns, for the events at some places, an array."""
        for start in range(0, len(places), _AT_ONCE):
            chosen = places[start : start + _AT_ONCE]
            yield from zip(*(self._column(name, chosen) for name in names), strict=True)

    def different(self, *names: str, kinds: Collection[str] = ()) -> list[tuple[Any, ...]]:
        """The different values that some columns have together, among all events or those of some kinds."""
        return list(self.spans(*names, kinds=kinds or self.kinds()))

    def spans(self, *names: str, kinds: Collection[str]) -> Mapping[tuple[Any, ...], tuple[int, int]]:
        """For the different values that some columns have together, the times of their first and last event of these
        kinds.
        """
        return self.once(_spans, names, frozenset(kinds))

    def places(self, *names: str, kinds: Collection[str]) -> dict[tuple[Any, ...], Any]:
        """For the different values that some columns have together, the places of their events of these kinds."""
        places, columns = self._places(kinds), [FIELDS.index(name) for name in names]
        together = np.zeros(len(places), np.int64)
        for at in columns:
            together = together * max(len(self.values[at]), 1) + self.codes[at][places]
        order = np.argsort(together, kind="stable")
        begins = np.flatnonzero(np.diff(together[order], prepend=-1))
        found = {}
        for of_one in np.split(places[order], begins[1:]) if len(places) else ():
            found[tuple(self.values[at][self.codes[at][of_one[0]]] for at in columns)] = of_one
        return found

    def kinds(self) -> set[str]:
        """The kinds that occur."""
        return {self.values[0][code] for code in np.unique(self.codes[0]).tolist()}

    def by_time(self) -> ContextEvents:
        """The events in the order of time, then of ``seq`` if they have it, or else of the present order.

        Repeated events count once: nothing happens to a process twice in one ms.
        """
        by = (self.times,) if self.seq is None else (self.seq, self.times)
        return self.taken(np.lexsort(by))._without_repeated()

    def taken(self, places: Any) -> ContextEvents:
        """The events at some places."""
        return ContextEvents(self.times[places], [codes[places] for codes in self.codes], self.values)

    def once(self, learn: Callable[..., T], *given: Any) -> T:
        """``learn(self, *given)``, which is worked out when it is asked for the first time."""
        key = learn, given
        if key not in self._known:
            self._known[key] = learn(self, *given)
        return self._known[key]  # type: ignore[no-any-return]

    def before(self, time: int) -> int:
        """How many of the events, which are in order, happened before a time."""
        return int(np.searchsorted(self.times, time))

    def fed(self, fold: Fold) -> Fold:
        """A fold, after it has taken all events: those that are no part of its carried state, if it has one."""
        (self.carrying or Carrying(stop=len(self))).feed(fold, self)
        return fold

    def _places(self, kinds: Collection[str], span: tuple[int, int] | None = None) -> Any:
        first, last = span or (0, len(self))
        wanted = np.array([kind in kinds for kind in self.values[0]], np.bool_)
        return np.flatnonzero(wanted[self.codes[0][first:last]]) + first

    def _column(self, name: str, places: Any) -> Iterable[Any]:
        if name == "time":
            return self.times[places].tolist()  # type: ignore[no-any-return]
        if name == "place":
            return places.tolist()  # type: ignore[no-any-return]
        at = FIELDS.index(name)
        return map(self.values[at].__getitem__, self.codes[at][places].tolist())

    def _made(self, places: Any) -> Iterator[dict[str, Any]]:
        for start in range(0, len(self) if places is None else len(places), _AT_ONCE):
            chosen = slice(start, start + _AT_ONCE)
            columns = [self._column(name, chosen if places is None else places[chosen]) for name in CONTEXT_COLUMNS]
            for values in zip(*columns, strict=True):
                yield dict(zip(CONTEXT_COLUMNS, values, strict=True))

    def _without_repeated(self) -> ContextEvents:
        if not np.any(self.times[1:] == self.times[:-1]):
            return self
        mixed = self.times.astype(np.uint64)
        for codes in self.codes:
            mixed = (mixed ^ codes.astype(np.uint64)) * _MIX
            mixed ^= mixed >> np.uint64(29)
        order = np.argsort(mixed, kind="stable")
        alike = np.flatnonzero(mixed[order][1:] == mixed[order][:-1])
        seen, again = set(), []
        for place in sorted({*order[alike].tolist(), *order[alike + 1].tolist()}):
            event = (self.times[place], *(int(codes[place]) for codes in self.codes))
            again += [place] if event in seen else []
            seen.add(event)
        return self.taken(np.delete(np.arange(len(self)), again)) if again else self


def _spans(events: ContextEvents, names: Sequence[str], kinds: Collection[str]) -> Mapping[Any, tuple[int, int]]:
    found = events.places(*names, kinds=kinds).items()
    return {said: (int(events.times[places].min()), int(events.times[places].max())) for said, places in found}


def _by_actor(events: ContextEvents, kinds: Collection[str]) -> Mapping[Actor, Any]:
    """The places of the events of each process, in their order."""
    found: dict[Actor, list[Any]] = {}
    for (client, run, broker), places in events.places(*_OF_ACTOR, kinds=kinds).items():
        actor = Actor(client, run or 0) if client else Actor(broker or "", -1)
        found.setdefault(actor, []).append(places)
    return {actor: np.sort(np.concatenate(places)) for actor, places in found.items()}


def _hashable(value: Any) -> Any:
    return tuple(value) if value.__class__ is list else value


def _shared(value: Any, words: dict[str, str], known: Mapping[Any, int]) -> Any:
    """The value, with words that others have too."""
    if value in known or value.__class__ is not tuple:
        return value
    return tuple(words.setdefault(word, word) for word in value)


def _narrow(codes: Any, values: int) -> Any:
    type_ = np.min_scalar_type(max(values - 1, 0))
    return codes if codes.dtype == type_ else codes.astype(type_)


def _coded(name: str, column: pa.Array) -> tuple[Any, list[Any]]:
    """A column as numbers of its values; a missing value is one of them."""
    if name in _LISTS:
        return _coded_lists(column)
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = coded.dictionary.to_pylist()
    codes = Column.of(coded.indices).filled(len(words), np.int64)
    # Dictionaries may have words that do not occur, or the same one twice.
    occurring = np.unique(codes).tolist()
    number: dict[Any, int] = {}
    anew = np.zeros(len(words) + 1, np.int64)
    for code in occurring:
        anew[code] = number.setdefault([*words, None][code], len(number))
    return anew[codes], list(number)


def _coded_lists(column: pa.ListArray) -> tuple[Any, list[Any]]:
    coded = column.flatten().dictionary_encode()
    words, numbers = [*coded.dictionary.to_pylist(), None], Column.of(coded.indices).filled(-1, np.int32)
    lengths = Column.of(column.value_lengths()).filled(-1, np.int32)
    ends = np.cumsum(numbers.itemsize * np.maximum(lengths, 0, dtype=np.int64))
    content, spans = numbers.tobytes(), zip(ends.tolist(), lengths.tolist(), strict=True)
    said = [None if length < 0 else content[end - numbers.itemsize * length : end] for end, length in spans]
    number = {one: code for code, one in enumerate(dict.fromkeys(said))}
    lists = (None if one is None else np.frombuffer(one, np.int32).tolist() for one in number)
    values = [None if own is None else tuple(words[at] for at in own) for own in lists]
    return np.fromiter(map(number.__getitem__, said), np.int64, len(said)), values
