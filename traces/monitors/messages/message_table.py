"""The table of messages: the number of each message, found by its origin and its consumer.

It is designed for many messages with little data each: an entry of 32 bytes, plus 8 bytes in a hash table with open
addressing that is at most seven tenths full. The table stores a part of the hash beside the number, so that entries are
rarely read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import entry, hot, int64, part

MESSAGE = np.dtype(
    [
        ("key", np.int64),  # of origin and scope, see key_of
        ("offset", np.int64),  # of its first delivery, with slot and time
        ("time", np.int64),
        ("slot", np.int32),
        ("chain", np.int32),  # what else is known about it; or one of the others below
    ]
)
"""A message at its first event."""

NOTHING, WENT_WELL, TOGETHER, ONCE, SEVERAL = -1, -2, -3, -4, -5
"""Nothing else is known about a message; or only that it was consumed, in an unrecorded queue; or only that it was
delivered in one call with others; or that brokers stored it at one place, or at several.
"""

UNPLACED = 3

_START = 1 << 10
_OLDER = 4
"""A part of the table is only written again when that many times fewer messages than it has have come."""

_NUMBER = np.uint64(0xFFFFFFFF)
_PRINT = np.uint64(0xFFFFFFFF00000000)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_NONE = np.uint64(0)
_ONE = np.uint64(1)


class MessageTable(NamedTuple):
    """Entries, and their places.

    Attributes:
        entries: MESSAGE; ``used[0]`` of them are in use.
        places: for each place, half of the hash above one more than the number; 0: free. The other half determines the
            place.
        older: the same for the first ``used[2]`` entries, which ``places`` does not have: of a large table that is
            carried on, few places change.
        used: number of entries; a number without a meaning, see :func:`look_at`; number of entries in ``older``; the
            first message without a chain that came in no known queue, see :func:`.retry_status.tell_unplaced`.
    """

    entries: Any
    places: Any
    older: Any
    used: Any


def new_table(messages: int = 0) -> MessageTable:
    """A table without messages, with room for that many. It can grow, but that takes time."""
    entries = max(_START, messages)
    # Only pages that are written use memory.
    used = np.array([0, 0, 0, np.iinfo(np.int64).max])
    return MessageTable(np.empty(entries, MESSAGE), _room(entries), _room(0), used)


def grown(table: MessageTable) -> MessageTable:
    """The table with room for another message, and many more if it was full."""
    used, older = int(table.used[0]), int(table.used[2])
    entries, places = table.entries, table.places
    if used >= len(entries):
        # Only pages that are written use memory.
        entries = np.empty(2 * len(entries), MESSAGE)
        entries[:used] = table.entries
    if 10 * (used - older) >= 7 * len(places):
        places = np.zeros(2 * len(places), np.uint64)
        _place(entries, older, used, places)
    return table._replace(entries=entries, places=places)


def settled(table: MessageTable) -> MessageTable:
    """The table to be stored: once ``places`` are many beside ``older``, they become a part of these."""
    used, since, older = int(table.used[0]), int(table.used[2]), table.older
    if _OLDER * (used - since) <= since:
        return table
    if 10 * used >= 7 * len(older):
        since, older = 0, _room(2 * used)
    _place(table.entries, since, used, older)
    table.used[2] = used
    return table._replace(places=_room(_START), older=older)


def _room(entries: int) -> Any:
    return np.zeros(10 * entries // 7 + 1, np.uint64)


@hot
def is_full(table: Any) -> Any:
    """Whether the table must grow before a message is added."""
    used = table.used[0]
    return used >= len(table.entries) or 10 * (used - table.used[2]) >= 7 * len(table.places)


@hot
def key_of(origin: int, scope: int) -> Any:
    """One number for a message and its consumer, as unique as the origin."""
    return int64(np.uint64(origin) ^ (np.uint64(scope) * _MIX))


@hot
def look_at(table: Any, key: int) -> None:
    """Let the processor load the place of a key from memory, long before it is needed.

    Looking up a message waits for memory; many prefetches proceed at the same time. The value read must be used, or the
    compiler would remove the read.
    """
    places, older, hashed = table.places, table.older, _hash(key)
    table.used[1] ^= int64(places[_home(hashed, places)] ^ older[_home(hashed, older)])


@part
def find(table: Any, key: int) -> Any:
    """The number of a message; -1 if it is not in the table."""
    _, found = _look(table, key)
    return found


@hot
def find_or_add(table: Any, key: int, slot: int, offset: int, time: int) -> Any:
    """The number of a message, and whether it is a new one."""
    at, found = _look(table, key)
    if found >= 0:
        return found, False
    number = table.used[0]
    table.used[0] += 1
    table.places[at] = (_hash(key) & _PRINT) | np.uint64(number + 1)
    entry = table.entries[number]
    entry.key = key
    entry.offset = offset
    entry.time = time
    entry.slot = slot
    entry.chain = NOTHING
    return number, True


@hot
def _hash(key: int) -> Any:
    mixed = np.uint64(key) * _MIX
    return mixed ^ (mixed >> _HALF)


@hot
def _home(hashed: Any, places: Any) -> Any:
    """The place of a key with this hash, if that is free: as far in the table as the lower half is in its range."""
    return ((hashed & _NUMBER) * np.uint64(len(places))) >> _HALF


@hot
def _next(at: Any, places: Any) -> Any:
    return at + _ONE if at + _ONE < np.uint64(len(places)) else _NONE


@hot
def _look(table: Any, key: int) -> Any:
    """The place where a key is, or belongs, and its number or -1."""
    hashed = _hash(key)
    at, number = _walk(table.entries, table.places, hashed, key)
    if number < 0 and table.used[2] > 0:
        _, number = _walk(table.entries, table.older, hashed, key)
    return at, number


@hot
def _walk(entries: Any, places: Any, hashed: Any, key: int) -> Any:
    at = _home(hashed, places)
    while places[at] != _NONE:
        if (places[at] ^ hashed) & _PRINT == _NONE:
            number = int64(places[at] & _NUMBER) - 1
            if entries[number].key == key:
                return at, number
        at = _next(at, places)
    return at, int64(-1)


@entry
def _place(entries: Any, begin: int, end: int, places: Any) -> None:
    for number in range(begin, end):
        hashed = _hash(entries[number].key)
        at = _home(hashed, places)
        while places[at] != _NONE:
            at = _next(at, places)
        places[at] = (hashed & _PRINT) | np.uint64(number + 1)
