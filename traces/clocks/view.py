"""A batch by its columns, as the search for causal pairs reads it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..encoding.columns import Column
from ..encoding.names import Actor
from ..format.kinds import OF_BROKERS, Kind
from ..format.schema import BY_NAME, origin_of
from .pairs import BY_CLIENT, EventPattern

IDENTITY = ("time", "micros", "kind", "path", "client", "incarnation", "broker")
"""Columns that say when an event was, and by whose clock."""

_INCARNATIONS = 1 << 10

_MAY_BE_ZERO = frozenset({"queue", "offset"})
"""Fields in which 0 is a value, so that another number stands for "not known"."""

ODD = np.uint64(0x9E3779B97F4A7C15)
"""Odd constants with which numbers are mixed."""


def words_of(batch: pa.RecordBatch, name: str) -> tuple[Any, list[str]]:
    """For each event, the position of its word; and the words, the last of which is that of events without one."""
    if name not in batch.schema.names:
        return np.zeros(len(batch), np.int32), [""]
    column = batch.column(name)
    given = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = [word or "" for word in given.dictionary.to_pylist()]
    return Column.of(given.indices).filled(len(known), np.int32), [*known, ""]


def whole_of(batch: pa.RecordBatch, name: str) -> Any:
    """The whole numbers of a column; a missing value is -1 for the fields of patterns, and 0 for others."""
    absent = -1 if name in _MAY_BE_ZERO else 0
    if name not in batch.schema.names:
        return np.full(len(batch), absent, np.int64)
    return Column.of(batch.column(name)).filled(absent, BY_NAME[name].type.to_pandas_dtype())


def clocks_of_commits(by_client: Any, by_broker: Any, *, recording: Sequence[int], sends: Any) -> Any:
    """For each event, the code of the recorder by whose clock it is.

    Args:
        by_client: its recorder, the first of what :meth:`View.recorders` returns.
        by_broker: the second.
        recording: codes of brokers that record: a commit is by its broker's clock, unless its client sends.
        sends: for each event, whether its client stamps its commits itself, see :mod:`.senders`.
    """
    return np.where(np.isin(by_broker, recording) & ~sends, by_broker, by_client)


class View:
    """A batch by its columns."""

    def __init__(self, batch: pa.RecordBatch, micros: Any) -> None:
        self._batch = batch
        self._wholes: dict[str, Any] = {}
        self._words: dict[str, tuple[Any, list[str]]] = {}
        self._hashes: dict[str, Any] = {}
        self._micros = micros

    def __len__(self) -> int:
        return len(self._batch)

    @property
    def micros(self) -> Any:
        """When each event was, µs since 1970, by the clock of its recorder."""
        if self._micros is None:
            self._micros = self.whole("time") * 1000 + self.whole("micros")
        return self._micros

    @property
    def kinds(self) -> set[str]:
        """All kinds that events may have."""
        return {word for word in self.words("kind")[1] if word}

    @cached_property
    def _by_kind(self) -> tuple[Any, list[tuple[str, int, int]]]:
        """The positions of all events, grouped by kind, and for each kind its range."""
        kind, words = self.words("kind")
        # There are few words, and 16-bit numbers are sorted in one pass.
        places = np.argsort(kind.astype(np.uint16) if len(words) < 1 << 16 else kind, kind="stable")
        ends = np.cumsum(np.bincount(kind, minlength=len(words))).tolist()
        return places, list(zip(words, [0, *ends], ends, strict=False))

    def words(self, name: str) -> tuple[Any, list[str]]:
        """See :func:`words_of`."""
        if name not in self._words:
            self._words[name] = words_of(self._batch, name)
        return self._words[name]

    def whole(self, name: str) -> Any:
        """See :func:`whole_of`."""
        if name not in self._wholes:
            self._wholes[name] = whole_of(self._batch, name)
        return self._wholes[name]

    def of_kinds(self, kinds: Collection[str]) -> Any:
        """The positions of events of these kinds, those of each kind in their order."""
        places, ranges = self._by_kind
        parts = [places[begin:end] for word, begin, end in ranges if word in kinds]
        return parts[0] if len(parts) == 1 else np.concatenate([*parts, np.zeros(0, np.int64)])

    def places_of(self, pattern: EventPattern) -> Any:
        """The positions of events of a pattern."""
        places = self.of_kinds((pattern.kind,))
        if pattern.results:
            places = places[self.is_word("result", pattern.results)[places]]
        return places[self.whole("offset")[places] >= 0] if pattern.has_offset else places

    def is_word(self, name: str, chosen: Collection[str]) -> Any:
        """For each event, whether its word is one of these."""
        at, words = self.words(name)
        return np.array([word in chosen for word in words])[at]

    def codes(self, name: str, code: Callable[[str], int]) -> Any:
        """For each event, the code of its word; -1 without one."""
        at, words = self.words(name)
        return np.array([code(word) if word else -1 for word in words], np.int32)[at]

    def keys(self, fields: Sequence[str], places: Any) -> tuple[Any, Any]:
        """One number for the values of these fields of events at these positions, and whether they have them."""
        key = np.full(len(places), 1, np.uint64)
        known = np.ones(len(places), bool)
        for name in fields:
            if name == "queue":
                part = self.whole(name)[places].astype(np.int64)
                known &= part >= 0
            else:
                at, words = self.words(name)
                if name not in self._hashes:
                    self._hashes[name] = np.array([origin_of(word) if word else 0 for word in words], np.int64)
                part = self._hashes[name][at[places]]
                known &= part != 0
            key = (key ^ part.astype(np.uint64)) * ODD
        return key, known

    def recorders(self, code: Callable[[Actor], int]) -> tuple[Any, Any]:
        """By whose clock each event is.

        Returns:
            For each event, the code of its recorder, -1 if it names none; and for each commit that a broker stores, the
            code of that broker, -1 for others: it is by that broker's clock where :func:`clocks_of_commits` says so.
        """
        by_client, by_broker = self._named(code)
        is_stored = self.is_word("kind", (Kind.COMMIT,)) & ~self.is_word("path", BY_CLIENT)
        of_broker = self.is_word("kind", OF_BROKERS) | (by_client < 0)
        return np.where(of_broker, by_broker, by_client), np.where(is_stored, by_broker, -1)

    def _named(self, code: Callable[[Actor], int]) -> tuple[Any, Any]:
        """For each event, the code of its client and of its broker; -1 if it names none."""
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
