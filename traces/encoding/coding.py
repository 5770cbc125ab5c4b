"""Coding: batches of events as columns of whole numbers, the input of monitors.

Words become codes, a queue becomes its slot, and a process its actor; a field that an event does not have is
:data:`ABSENT`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...machine_code.compiled import entry, hot, int64
from ...machine_code.pair_table import FREE, place_of
from ..format.kinds import STORES, Kind, Path, Result, codes
from ..format.schema import ABSENT, BY_NAME, origin_of
from .columns import Column, read_only
from .names import Actor, Combinations, Names, Words

COLUMNS = (
    "time",
    "kind",
    "result",
    "path",
    "client",
    "incarnation",
    "group",
    "topic",
    "broker",
    "queue",
    "offset",
    "next",
    "min",
    "max",
    "count",
    "key",
    "origin",
    "attempt",
    "level",
    "due",
    "max_attempts",
)
"""Columns of the schema that coding reads."""

UNKNOWN_KIND = 255
"""Code of a kind that this version does not know; monitors ignore such events."""

_KIND, _RESULT, _PATH = codes(Kind), codes(Result), codes(Path)
_STORES = [_KIND[kind] for kind in STORES]
# Bits of the parts in one number of 63 bits: 15 for groups, 20 for topics, 12 for brokers, 16 for queue ids. The last
# queue id, without a broker, stands for no queue.
_TOPICS, _BROKERS, _QUEUES = 1 << 20, 1 << 12, 1 << 16
_ACTORS = 1 << 24
_NO_QUEUE = -1
_BY_CLIENT = -2
"""Stands for a queue of a broadcasting group until its client is looked up too; lower numbers mean other things."""

_NEW = -(1 << 31)
"""Code in an empty place of a memo."""

_PLACE = np.dtype([(name, np.int32) for name in ("group", "topic", "broker", "queue", "code")])
"""A place in the memo of one batch for its queues: where their names are among the batch's words, and the slot."""

_PROCESS = np.dtype([(name, np.int32) for name in ("incarnation", "code")])
"""A place in the memo of one batch for its processes: the last incarnation of a word of the batch, and its actor."""

_POSITIONS = 256
"""Number of places in the memo for queues: as many as one loop can use; most batches have fewer queues."""


@dataclass(frozen=True, kw_only=True)
class Coded:
    """Coded events: columns of equal length, which must not be written to.

    Attributes:
        time: ms, int64.
        kind: code of :class:`Kind`, or UNKNOWN_KIND; uint8.
        result: code of :class:`Result`; uint8.
        path: code of :class:`Path`; uint8.
        slot: code of the queue, int32. An event about a message whose queue is not recorded has the slot of its group
            and topic without a queue; other events without a queue have -1.
        actor: code of the process, -1 without; int32.
        offset: see the schema, int64, as are next, low (the schema's min), high (max), origin, due.
        count: int32, as are attempt, level, max_attempts. ``origin`` is 0 if it is not known.
    """

    time: Any
    kind: Any
    result: Any
    path: Any
    slot: Any
    actor: Any
    offset: Any
    next: Any
    low: Any
    high: Any
    count: Any
    origin: Any
    attempt: Any
    level: Any
    due: Any
    max_attempts: Any

    def __post_init__(self) -> None:
        # Some columns belong to Arrow and are read-only. All are made so, or functions would be compiled for two types.
        for column in vars(self).values():
            column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.time)

    def renamed(self, slots: Any, actors: Any) -> Coded:
        """The events with new codes of queues and processes: arrays indexed by old codes, see :func:`renaming`."""
        return replace(self, slot=slots.take(self.slot), actor=actors.take(self.actor))


def renaming(new: Iterable[int]) -> Any:
    """New codes indexed by old ones, with "none" at the end, which is where index -1 looks."""
    return np.array([*new, -1], np.int32)


TYPES: Mapping[str, np.dtype[Any]] = {
    **dict.fromkeys((item.name for item in fields(Coded)), np.dtype(np.int64)),
    **dict.fromkeys(("kind", "result", "path"), np.dtype(np.uint8)),
    **dict.fromkeys(("slot", "actor", "count", "attempt", "level", "max_attempts"), np.dtype(np.int32)),
}
"""Types of the columns of :class:`Coded`, in their order."""

_PLAIN = ("time", "offset", "next", "low", "high", "count", "attempt", "level", "due", "max_attempts")
"""Columns of :class:`Coded` that are copied from the schema."""

_IN_SCHEMA = {"low": "min", "high": "max"}


class Coder:
    """Codes one batch after another with the same names."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._slots = Combinations()
        self._clients = Combinations()
        self._by_client: list[tuple[str, str, str, int]] = []
        self._actors = Combinations()

    def code(self, batch: pa.RecordBatch) -> Coded:
        """The batch as whole numbers. Columns that the batch does not have count as null everywhere."""
        columns = self.columns(batch)
        return Coded(**{name: columns[name].filled(ABSENT, type_) for name, type_ in TYPES.items()})

    def columns(self, batch: pa.RecordBatch) -> dict[str, Column]:
        """The same as columns with missing values where :class:`Coded` has ABSENT."""
        client = _Words.of(batch, "client", self.names.clients)
        broker = _Words.of(batch, "broker", self.names.brokers)
        origin = _origin(batch)
        kind = _coded(batch, "kind", _KIND, unknown=UNKNOWN_KIND)
        actor = self._actor(batch, kind, client, broker)
        return {
            "kind": kind,
            "result": _result(batch, kind),
            "path": _coded(batch, "path", _PATH, unknown=0),
            "slot": Column.whole(self._slot(batch, actor, broker, origin)),
            "actor": Column.whole(actor),
            "origin": Column.whole(origin),
            **{name: _whole(batch, _IN_SCHEMA.get(name, name)) for name in _PLAIN},
        }

    def _slot(self, batch: pa.RecordBatch, actor: Any, broker: _Words, origin: Any) -> Any:
        group = _Words.of(batch, "group", self.names.groups)
        topic = _Words.of(batch, "topic", self.names.topics)
        queue = _whole(batch, "queue").filled(ABSENT, np.int32)
        names_ = (group.at, group.codes, topic.at, topic.codes, broker.at, broker.codes)
        memo = np.zeros(_POSITIONS, _PLACE)
        memo["code"] = _NEW
        columns = (*names_, queue, origin, memo)
        slots = np.empty(len(batch), np.int32)
        while (at := self._slots.resolve(_resolve_slots, columns, slots)) >= 0:
            has_queue = bool(queue[at] >= 0)
            at_broker, id_ = (broker.word(at), int(queue[at])) if has_queue else ("", _NO_QUEUE)
            place = (group.word(at), topic.word(at), at_broker, id_)
            own = self.names.is_broadcasting(place[0])
            # The slot for each client of a broadcasting group is found by a second look-up, below.
            code = _BY_CLIENT - len(self._by_client) if own else self.names.slot_at(*place, "")
            if own:
                self._by_client.append(place)
            self._slots.add(int(_key_of_slot(at, *names_, queue, origin)), code)
        if self._by_client:
            while (at := self._clients.resolve(_resolve_clients, (slots, actor), slots)) >= 0:
                place = self._by_client[_BY_CLIENT - int(slots[at])]
                who = self.names.actors[actor[at]] if actor[at] >= 0 else Actor("", -1)
                member = (who.name, who.incarnation) if who.incarnation >= 0 else ("", 0)
                self._clients.add(int(_key_of_client(at, slots, actor)), self.names.slot_at(*place, *member))
        return slots

    def _actor(self, batch: pa.RecordBatch, kind: Column, client: _Words, broker: _Words) -> Any:
        # A store may name its producer, but it is the broker that acts: its producers share the queue.
        by_broker = np.isin(kind.filled(ABSENT, np.uint8), _STORES) & (broker.codes[broker.at] > 0)
        client = replace(client, at=np.where(by_broker, np.int32(-1), client.at))
        incarnation = _whole(batch, "incarnation").filled(ABSENT, np.int32)
        names_ = (client.at, client.codes, broker.at, broker.codes)
        memo = np.zeros(len(client.codes) + len(broker.codes), _PROCESS)
        memo["code"] = _NEW
        columns = (*names_, incarnation, memo)
        actors = np.empty(len(batch), np.int32)
        while (at := self._actors.resolve(_resolve_actors, columns, actors)) >= 0:
            # Without a client, it is the broker that acts.
            is_client = bool(client.word(at))
            actor = Actor(client.word(at), max(0, int(incarnation[at]))) if is_client else Actor(broker.word(at), -1)
            self._actors.add(int(_key_of_actor(at, *names_, incarnation)), self.names.actor(actor))
        return actors


@dataclass(frozen=True)
class _Words:
    """A column of words."""

    at: Any  # for each event the place of its word in ``words``; the last place stands for none
    codes: Any  # of the words, 1 and more, and 0 at the end for none
    words: list[str]  # of the batch

    @classmethod
    def of(cls, batch: pa.RecordBatch, name: str, known: Words) -> _Words:
        """A column of a batch, its words with the codes of ``known``."""
        if name not in batch.schema.names:
            return cls(read_only(np.full(len(batch), -1, np.int32)), np.zeros(1, np.int32), [""])
        given = _dictionary(batch.column(name))
        words = [word or "" for word in given.dictionary.to_pylist()]
        codes_ = np.array([*(known.code(word) + 1 if word else 0 for word in words), 0], np.int32)
        return cls(Column.of(given.indices).filled(-1, np.int32), codes_, [*words, ""])

    def word(self, event: int) -> str:
        """The word of an event; empty for none."""
        return self.words[int(self.at[event])]


def _dictionary(column: pa.Array) -> pa.DictionaryArray:
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def _coded(batch: pa.RecordBatch, column: str, words: Mapping[Any, int], *, unknown: int) -> Column:
    if column not in batch.schema.names:
        return Column.whole(np.zeros(len(batch), np.uint8))
    given = _dictionary(batch.column(column))
    by_text = {str(word): code for word, code in words.items()}
    known = [by_text.get(text, unknown) for text in given.dictionary.to_pylist()]
    # The last word stands for null.
    table = read_only(np.array([*known, unknown], np.uint8))
    return Column.whole(Column.of(given.indices).looked_up(table))


def _result(batch: pa.RecordBatch, kind: Column) -> Column:
    """Codes of results. A send-back without one was sent: only what became of it is not recorded."""
    result = _coded(batch, "result", _RESULT, unknown=0)
    sent = kind.filled(ABSENT, np.uint8) == _KIND[Kind.SEND_BACK]
    if not sent.any():
        return result
    is_told = batch.column("result").is_valid() if "result" in batch.schema.names else pa.array([False] * len(batch))
    untold = sent & ~np.asarray(is_told)
    return Column.whole(np.where(untold, np.uint8(_RESULT[Result.OK]), result.filled(ABSENT, np.uint8)))


def _whole(batch: pa.RecordBatch, column: str) -> Column:
    if column not in batch.schema.names:
        return Column.none(len(batch), BY_NAME[column].type.to_pandas_dtype())
    return Column.of(batch.column(column))


@entry
def _key_of_slot(
    i: int, group: Any, groups: Any, topic: Any, topics: Any, broker: Any, brokers: Any, queue: Any, origin: Any
) -> Any:
    of_group, of_topic = int64(groups[group[i]]), int64(topics[topic[i]])
    named = of_group * _TOPICS + of_topic
    if queue[i] >= 0:
        return (named * _BROKERS + brokers[broker[i]]) * _QUEUES + queue[i] if of_topic > 0 else int64(-1)
    return (named * _BROKERS + 1) * _QUEUES - 1 if named > 0 and origin[i] != 0 else int64(-1)


@entry
def _resolve_slots(
    table: Any,
    start: int,
    out: Any,
    group: Any,
    groups: Any,
    topic: Any,
    topics: Any,
    broker: Any,
    brokers: Any,
    queue: Any,
    origin: Any,
    memo: Any,
) -> int:
    for i in range(start, len(out)):
        at = np.uint64(queue[i] + 7 * broker[i] + 61 * topic[i] + 31 * group[i]) & np.uint64(_POSITIONS - 1)
        last = memo[at]
        if (
            last.queue == queue[i]
            and last.group == group[i]
            and last.topic == topic[i]
            and last.broker == broker[i]
            and last.code != _NEW
        ):
            out[i] = last.code
            continue
        code = _code_of(table, _key_of_slot(i, group, groups, topic, topics, broker, brokers, queue, origin))
        if code == _NEW:
            return i
        out[i] = code
        if queue[i] >= 0:  # without a queue it depends on the origin too
            last.group, last.topic, last.broker, last.queue, last.code = group[i], topic[i], broker[i], queue[i], code
    return len(out)


@hot
def _code_of(table: Any, key: Any) -> Any:
    """The code of a combination; -1 for none, _NEW for one that has no code yet."""
    if key < 0:
        return int64(-1)
    at = place_of(table, key, int64(0))
    return int64(table[at].value) if table[at].one != FREE else int64(_NEW)


@entry
def _key_of_client(i: int, slots: Any, actors: Any) -> Any:
    return (int64(_BY_CLIENT) - slots[i]) * _ACTORS + actors[i] + 1


@entry
def _resolve_clients(table: Any, start: int, out: Any, slots: Any, actors: Any) -> int:
    for i in range(start, len(out)):
        if slots[i] > _BY_CLIENT:
            continue
        code = _code_of(table, _key_of_client(i, slots, actors))
        if code == _NEW:
            return i
        out[i] = code
    return len(out)


@entry
def _key_of_actor(i: int, client: Any, clients: Any, broker: Any, brokers: Any, incarnation: Any) -> Any:
    if clients[client[i]] > 0:
        return (int64(clients[client[i]]) << 32) + max(0, incarnation[i]) + 1
    return int64(brokers[broker[i]]) << 32 if brokers[broker[i]] > 0 else int64(-1)


@entry
def _resolve_actors(
    table: Any,
    start: int,
    out: Any,
    client: Any,
    clients: Any,
    broker: Any,
    brokers: Any,
    incarnation: Any,
    memo: Any,
) -> int:
    for i in range(start, len(out)):
        # Places of the memo: the words of clients, then "no broker" and those of brokers.
        at = np.uint64(client[i] if client[i] >= 0 else len(clients) + broker[i] + 1)
        if memo[at].incarnation == incarnation[i] and memo[at].code != _NEW:
            out[i] = memo[at].code
            continue
        code = _code_of(table, _key_of_actor(i, client, clients, broker, brokers, incarnation))
        if code == _NEW:
            return i
        out[i] = code
        if client[i] < 0 or clients[client[i]] > 0:  # with an empty word, it is the broker that acts
            memo[at].incarnation, memo[at].code = incarnation[i], code
    return len(out)


def _origin(batch: pa.RecordBatch) -> Any:
    """The origin if it is given, or that of the key if only the key is; 0 without both."""
    given = _whole(batch, "origin")
    origins = given.filled(0, np.int64)
    if not given.missing or "key" not in batch.schema.names or batch.column("key").null_count == len(batch):
        return origins
    keys = batch.column("key").dictionary_encode()
    of_key = read_only(np.array([*(origin_of(key) for key in keys.dictionary.to_pylist()), 0], np.int64))
    return read_only(np.where(origins == 0, Column.of(keys.indices).looked_up(of_key), origins))
