"""The monitor by message: attempts, delays, copies and dead letters of each message, for each group that consumes it.

Its key is the origin, so that all copies of a message come together whatever queue they are in. What the columns
``value`` and ``expected`` of its findings say:

============================================  ========================================  ===============================
claim                                         value                                     expected
============================================  ========================================  ===============================
attempts-follow-each-other                    count that came                           count that should have come
attempts-within-the-maximum                   count that came                           highest count
every-copy-has-a-cause                        count of the copy                         copies there were before
only-failed-messages-are-sent-back            count that was sent back                  how often it was delivered
retry-waits-as-its-level-says                 when it came, ms                          when it could, at the earliest
level-as-the-count-says                       level, or when it is due, ms              the same, by the rules
never-before-it-is-due, delivered-when-due    when it was delivered, ms; 0: not at all  when it was due, ms
dead-letter-exactly-at-the-maximum            count that failed; or when the dead       lowest count that is given up;
                                              letter came, ms                           or when the failure was, ms
nothing-after-the-dead-letter                 count that came                           count of the dead letter
sent-back-message-comes-again                 copies that came                          send-backs
(a row of note CHAIN)                         status                                    highest count; until: when it
                                                                                        is due, ms
============================================  ========================================  ===============================
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ....machine_code.compiled import entry, hot, int64, part
from ...claims.settings import Settings
from ...encoding.coding import Coded
from ...encoding.names import DEAD_LETTER_TOPIC, NO_QUEUE, OF_A_TOPIC, RETRY_TOPIC, Names
from ...engine.context import Context
from ...format.kinds import Kind, Result, codes
from ...format.message_status import MessageStatus
from ...format.schema import ABSENT
from ..fold import Carried, Outcome, learnt
from ..notes import Notes, Seen, new_notes, outcome_of
from ..notes import with_room as with_rows
from .attempts import add_chain, chain_of, come_back, counts_at, depart, latest_attempt
from .chains import Known, has_room, nothing_known, with_room
from .copies import settle
from .dead_letters import dead_letter, delayed_dead_letter
from .delays import delay_deliver, delay_store
from .departures import IS_SUCCESS, departs
from .listener_calls import deliver, result
from .message_table import NOTHING, TOGETHER, WENT_WELL, MessageTable, find, find_or_add, key_of, look_at, settled
from .retry_status import conclude, note_unplaced, tell_unplaced
from .retry_terms import PRODUCERS, UNKNOWN_SCOPE, Scopes, terms
from .send_backs import expire, send_back
from .stored_elsewhere import stored, tell_if_elsewhere

MESSAGE_KINDS = (
    Kind.DELIVER,
    Kind.RESULT,
    Kind.SEND_BACK,
    Kind.EXPIRE,
    Kind.DELAY_STORE,
    Kind.DELAY_DELIVER,
    Kind.DEAD_LETTER,
    Kind.STORE,
)
"""Kinds that this monitor reads, except results that say just that a first delivery at a known place went well."""

RESERVE = 13
"""Number of rows that one event may add."""

_RESERVE = int64(RESERVE)

_KIND = codes(Kind)
_WITHOUT_ORIGIN, _WITHOUT_COUNT = 0, 1
WITHOUT_ORIGIN, WITHOUT_COUNT = "events that name no message", "events without a count of retries"
_PASSED_OVER = (WITHOUT_ORIGIN, WITHOUT_COUNT)
_AHEAD = 512
"""How many events ahead deliveries are prefetched."""

_NEVER = int64(ABSENT)
_PRODUCERS = int64(PRODUCERS)


_IS_WANTED: Any = np.isin(np.arange(256), [_KIND[kind] for kind in MESSAGE_KINDS])


def wanted(coded: Coded) -> Any:
    """Which events this monitor needs; a message whose first delivery succeeds counts as one of them."""
    found = np.empty(len(coded), np.bool_)
    _wanted(coded.kind, coded.result, coded.attempt, coded.offset, found)
    return found


class MessageEvents(NamedTuple):
    """The columns of :class:`~...encoding.coding.Coded` that this monitor reads."""

    time: Any
    kind: Any
    result: Any
    path: Any
    slot: Any
    actor: Any
    offset: Any
    origin: Any
    attempt: Any
    count: Any
    level: Any
    due: Any
    max_attempts: Any


class MessageFold:
    """The monitor by message; see :class:`..fold.Fold`.

    ``messages`` is their approximate number, if it is known.
    """

    def __init__(
        self, *, names: Names, settings: Settings, context: Context, release: str = "5.3.3", messages: int = 0
    ) -> None:
        self._names = names
        self._terms = terms(names=names, settings=settings, context=context, release=release)
        self._scopes = Scopes(names, settings, context)
        self._known = nothing_known(messages)
        self._notes = new_notes(room=1 << 8)
        self._passed_over = np.zeros(2, np.int64)

    def feed(self, coded: Coded) -> None:
        """Process the next events."""
        self._terms = self._scopes.with_names(self._terms)
        events = MessageEvents(*(getattr(coded, name) for name in MessageEvents._fields))
        at = 0
        while at < len(coded):
            self._known = with_room(self._known)
            self._notes = with_rows(self._notes, room=RESERVE)
            at = _advance(self._known, self._terms, self._notes, self._passed_over, at, events)

    def carried(self) -> Carried:
        """See :class:`..fold.Fold`."""
        self._known = self._known._replace(table=settled(self._known.table))
        known = learnt(self._known, ["table"])
        table = {f"table.{name}": array for name, array in self._known.table._asdict().items()}
        notes = {f"notes.{name}": array for name, array in self._notes._asdict().items()}
        return {**known, **table, **notes, "passed_over": self._passed_over}

    def carry_on(self, carried: Carried) -> None:
        """See :class:`..fold.Fold`."""
        table = MessageTable(**{name: carried[f"table.{name}"] for name in MessageTable._fields})
        self._known = Known(table=table, **{name: carried[name] for name in Known._fields if name != "table"})
        self._notes = Notes(**{name: carried[f"notes.{name}"] for name in Notes._fields})
        self._passed_over = carried["passed_over"]

    def finish(self) -> Outcome:
        """The result."""
        self._terms = self._scopes.with_names(self._terms)
        statuses = np.zeros((len(self._names.slots), len(MessageStatus)), np.int64)
        chains = int(self._known.used[0])
        at, room = 0, RESERVE
        while at < chains:
            self._notes = with_rows(self._notes, room=room)
            before, at = at, conclude(self._known, self._terms, self._notes, at, RESERVE, statuses)
            # One chain may need more rows than there are.
            room = 2 * room if at == before else room
        tell_unplaced(self._known, self._terms, statuses)
        told = {what: int(count) for what, count in zip(_PASSED_OVER, self._passed_over, strict=True) if count}
        return replace(outcome_of(self._notes, statuses), passed_over=told)


@entry
def _wanted(kind: Any, result: Any, attempt: Any, offset: Any, found: Any) -> None:
    for i in range(len(kind)):
        found[i] = _is_wanted(kind[i], result[i], attempt[i], offset[i])


@hot
def _is_wanted(kind: Kind, result: int, attempt: int, offset: int) -> Any:
    return _IS_WANTED[kind] and not (kind == Kind.RESULT and attempt == 0 and offset != _NEVER and IS_SUCCESS[result])


@entry
def _advance(known: Any, terms: Any, notes: Any, passed_over: Any, start: int, e: Any) -> Any:
    """Process ``e`` from event ``start`` on; returns the event before which room ran out, or the number of all."""
    ahead = start
    for i in range(start, len(e.kind)):
        if i == ahead:
            ahead = min(i + _AHEAD, len(e.kind))
            for j in range(i, ahead):
                if e.kind[j] == Kind.DELIVER and e.slot[j] >= 0:
                    look_at(known.table, key_of(e.origin[j], int64(terms.slots[e.slot[j]].scope)))
        what = e.kind[i]
        if not _is_wanted(what, e.result[i], e.attempt[i], e.offset[i]):
            continue
        if e.origin[i] == 0:
            passed_over[_WITHOUT_ORIGIN] += what != Kind.STORE
            continue
        is_settled = settle(known, terms, notes, e.time[i], _RESERVE)
        if not is_settled or not has_room(known) or len(notes.rows) - notes.used[0] < RESERVE:
            return i
        at = int64(e.slot[i])
        flags = int64(terms.slots[at].flags) if at >= 0 else int64(0)
        scope = int64(terms.slots[at].scope) if at >= 0 else int64(UNKNOWN_SCOPE)
        # Without its queue, an offset is no place.
        seen = Seen(e.time[i], at, e.offset[i] if flags & NO_QUEUE == 0 else _NEVER, int64(e.actor[i]), e.origin[i])
        if what == Kind.STORE:
            stored(known, terms, seen)
            continue
        is_delay = what in (Kind.DELAY_STORE, Kind.DELAY_DELIVER)
        if is_delay and (flags & OF_A_TOPIC != 0 or (seen.slot < 0 and e.attempt[i] <= 0)):
            scope = _PRODUCERS
        key = key_of(seen.origin, scope)
        count = int64(e.attempt[i])
        if count == ABSENT:
            count = _guess(known, key, what, flags, seen)
            if count == ABSENT:
                passed_over[_WITHOUT_COUNT] += 1
                continue
        if what == Kind.DELIVER:
            if count == 0 and flags & RETRY_TOPIC == 0:
                tell_if_elsewhere(known, terms, notes, seen)
            number, is_new = find_or_add(known.table, key, seen.slot, seen.offset, seen.time)
            # Without results, each delivery may have failed, so they are counted.
            is_told = terms.given[0].result and _comes_again(known, number, seen)
            if count == 0 and (is_new or is_told):
                if e.count[i] > 1 and known.table.entries[number].chain == NOTHING:
                    known.table.entries[number].chain = TOGETHER
                note_unplaced(known, terms, number, seen)
                continue
        else:
            number, is_new = find_or_add(known.table, key, seen.slot, seen.offset, _NEVER)
        went_well = what == Kind.RESULT and count == 0 and seen.offset == _NEVER and IS_SUCCESS[e.result[i]]
        if went_well and known.table.entries[number].chain < 0:
            known.table.entries[number].chain = WENT_WELL
            note_unplaced(known, terms, number, seen)
            continue
        if is_new:
            chain = add_chain(known, number, seen.origin, scope, count)
            begun_before = seen.actor < 0 or not terms.started[seen.actor]
            known.chains[chain].unproved = begun_before and what in (Kind.SEND_BACK, Kind.EXPIRE)
        else:
            chain = chain_of(known, number, seen.origin, scope)
        record = known.chains[chain]
        record.last = seen.time
        if not is_delay and what != Kind.DEAD_LETTER:
            record.actor = seen.actor
        _note_place(record, terms, what, seen)
        if e.origin[i] != 0 and seen.offset >= 0 and departs(what, e.result[i], flags, terms.given[0].send_back):
            depart(known, chain, seen.slot, seen.offset)
        if what == Kind.DELIVER and known.chains[chain].departed >= 0 and not terms.given[0].send_back:
            come_back(known, chain, seen.slot, seen.offset)
        if what == Kind.DELIVER:
            producers = int64(-1)
            if count == 0:
                delayed = find(known.table, key_of(seen.origin, _PRODUCERS))
                if delayed >= 0:
                    producers = int64(known.table.entries[delayed].chain)
            deliver(known, terms, notes, chain, count, e.count[i] > 1, producers, seen)
        elif what == Kind.RESULT:
            if e.result[i] != Result.NONE:
                result(known, chain, count, IS_SUCCESS[e.result[i]], seen)
        elif what == Kind.SEND_BACK:
            send_back(known, terms, notes, chain, count, e.path[i], e.result[i], e.level[i], e.max_attempts[i], seen)
        elif what == Kind.EXPIRE:
            expire(known, chain, count, seen)
        elif what == Kind.DELAY_DELIVER:
            is_sure = e.result[i] != Result.FAILED
            # A dead letter that waits has the count that a retry would have.
            level = _NEVER if flags & DEAD_LETTER_TOPIC != 0 else int64(e.level[i])
            is_retry = count > 0 and flags & RETRY_TOPIC != 0
            delay_deliver(known, terms, notes, chain, count, is_retry, level, e.due[i], is_sure, seen)
        elif what == Kind.DEAD_LETTER:
            dead_letter(known, terms, notes, chain, count, seen)
        elif flags & DEAD_LETTER_TOPIC != 0:
            delayed_dead_letter(known, terms, notes, chain, count, seen)
        else:
            is_retry = scope != PRODUCERS
            if count > 0 and is_retry and seen.slot >= 0 and flags & (RETRY_TOPIC | NO_QUEUE) == 0:
                continue  # SB-14: a retry waits for the retry topic, and this is for another topic
            delay_store(known, terms, notes, chain, count, is_retry, e.level[i], e.due[i], seen)
    return len(e.kind)


@hot
def _comes_again(known: Any, number: int, seen: Any) -> Any:
    """Whether a message about which nothing is recorded is delivered again at its place."""
    entry = known.table.entries[number]
    same = entry.slot == seen.slot and entry.offset == seen.offset and seen.slot >= 0 and seen.offset != ABSENT
    return entry.chain < 0 and same


@hot
def _note_place(record: Any, terms: Any, what: Kind, seen: Any) -> None:
    """The place of a message is where its listeners first had it, preferably as the message, not as a copy."""
    before, now = _rank(terms, int64(record.slot)), _rank(terms, seen.slot)
    if now > before or (now == before and what == Kind.DELIVER and record.time == ABSENT):
        record.slot = seen.slot
        record.offset = seen.offset


@hot
def _rank(terms: Any, slot: int) -> Any:
    if slot < 0:
        return 0
    return 1 if terms.slots[slot].flags & (RETRY_TOPIC | DEAD_LETTER_TOPIC | OF_A_TOPIC | NO_QUEUE) else 2


@part
def _guess(known: Any, key: int, what: Kind, flags: int, seen: Any) -> Any:
    """The count of an event that does not state it; ABSENT if nothing else shows it."""
    if seen.slot >= 0 and flags & (RETRY_TOPIC | DEAD_LETTER_TOPIC | NO_QUEUE) == 0:
        return int64(0)
    number = find(known.table, key)
    if number < 0 or known.table.entries[number].chain < 0:
        return int64(ABSENT)
    chain = int64(known.table.entries[number].chain)
    if what == Kind.DEAD_LETTER:
        return int64(known.attempts[latest_attempt(known, chain)].attempt) + 1
    if what in (Kind.RESULT, Kind.SEND_BACK, Kind.EXPIRE):
        _, count = counts_at(known, chain, seen.slot, seen.offset)
        return count
    return int64(ABSENT)
