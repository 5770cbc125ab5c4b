"""Where brokers have stored messages, and whether listeners are given them there.

Places of originals are entries of the table of messages, under their topic instead of a consumer. Of a message that was
stored at several places, such as one that its producer sent twice, or one of a batch with one key, nothing is known.

What is noted here are suspects: :mod:`...engine.stored_elsewhere` asks what else was stored where they were given.
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, int64, part
from ...claims.claims import CODE
from ...claims.steps import Misstep
from ...encoding.names import NO_QUEUE, OF_A_TOPIC
from ..notes import NOBODY, violate
from .message_table import ONCE, SEVERAL, find, find_or_add, key_of

_STORES = constant(CODE[Misstep.STORED_ELSEWHERE.step.claim])
_ELSEWHERE = constant(int(Misstep.STORED_ELSEWHERE))
_FIRST_TOPIC = constant(-2)
"""Consumers have numbers from 0 on; topics have these, and lower ones."""


@part
def stored(known: Any, terms: Any, seen: Any) -> None:
    """A broker stores an original, for all groups."""
    if seen.slot < 0 or terms.slots[seen.slot].flags & (OF_A_TOPIC | NO_QUEUE) != OF_A_TOPIC:
        return
    key = key_of(seen.origin, int64(_FIRST_TOPIC - terms.slots[seen.slot].topic))
    number, is_new = find_or_add(known.table, key, seen.slot, seen.offset, seen.time)
    entry = known.table.entries[number]
    if is_new:
        entry.chain = ONCE
    elif entry.slot != seen.slot or entry.offset != seen.offset:
        entry.chain = SEVERAL


@part
def tell_if_elsewhere(known: Any, terms: Any, notes: Any, seen: Any) -> None:
    """Check whether a listener is given an original at a place at which it was not stored, or one never stored."""
    if seen.slot < 0 or seen.offset < 0 or terms.slots[seen.slot].flags & NO_QUEUE:
        return
    number = find(known.table, key_of(seen.origin, int64(_FIRST_TOPIC - terms.slots[seen.slot].topic)))
    if number < 0:
        tell_if_nowhere(terms, notes, seen)
        return
    entry = known.table.entries[number]
    if entry.chain == ONCE:
        tell_if_not_there(terms, notes, int64(entry.slot), int64(entry.offset), int64(entry.time), seen)


@part
def tell_if_nowhere(terms: Any, notes: Any, seen: Any) -> None:
    """A listener is given a message, or a retry, that nobody has stored."""
    if terms.slots[seen.slot].stores:
        violate(notes, _STORES, seen, seen.time, NOBODY, _ELSEWHERE, int64(-1), int64(0))


@part
def tell_if_not_there(terms: Any, notes: Any, slot: int, offset: int, time: int, seen: Any) -> None:
    """Check whether a message, or a retry, that was stored at one place is given at another one."""
    given, place = terms.slots[seen.slot], terms.slots[slot]
    if place.name != given.name or place.queue != given.queue or offset != seen.offset:
        violate(notes, _STORES, seen, time, NOBODY, _ELSEWHERE, offset, int64(0))
