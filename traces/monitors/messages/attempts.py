"""What is known about a message that failed: a chain of attempts, and what was seen of each.

A message that is delivered once and succeeds has no chain. A *chain* is the history of a message for one consumer
group; an *attempt* is one of its counts (``reconsumeTimes``), of which there may be several copies at several *places*.
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, int64, part
from ...format.schema import ABSENT
from ..notes import NOBODY
from .chains import ATTEMPTS, CHAINS, LINKS, NEW_ATTEMPT, NEW_CHAIN
from .message_table import TOGETHER, WENT_WELL

_FIRST = int64(0)
SEVERAL = constant(-2)
"""More than one broker, or an unknown one."""


@part
def add_chain(known: Any, message: int, origin: int, scope: int, base: int) -> Any:
    """Begin to record more about a message."""
    number = known.used[CHAINS]
    known.used[CHAINS] += 1
    known.chains[number] = NEW_CHAIN[0]
    chain = known.chains[number]
    chain.origin = origin
    entry = known.table.entries[message]
    chain.offset = entry.offset
    chain.time = entry.time
    chain.slot = entry.slot
    chain.scope = scope
    chain.base = base
    entry.chain = number
    return number


@part
def chain_of(known: Any, message: int, origin: int, scope: int) -> Any:
    """The chain of a message that was delivered once, at count 0, and about which nothing else was recorded so far."""
    entry = known.table.entries[message]
    if entry.chain >= 0:
        return int64(entry.chain)
    went_well, together = entry.chain == WENT_WELL, entry.chain == TOGETHER
    number = add_chain(known, message, origin, scope, _FIRST)
    at = add_attempt(known, number, _FIRST)
    first = known.attempts[at]
    first.slot = entry.slot
    first.offset = entry.offset
    first.delivered = first.first_delivered = entry.time
    first.deliveries = 1
    first.reached = 1
    first.together = together
    if went_well:
        first.successes = 1
        known.chains[number].successes = 1
    return number


@part
def find_attempt(known: Any, chain: int, count: int) -> Any:
    """The position of an attempt of a chain; -1 if there is none."""
    at = int64(known.chains[chain].highest)
    while at >= 0 and known.attempts[at].attempt > count:
        at = int64(known.attempts[at].next)
    return at if at >= 0 and known.attempts[at].attempt == count else int64(-1)


@part
def latest_attempt(known: Any, chain: int) -> Any:
    """The attempt of a chain that was delivered, or failed, last; the one with the highest count if none was.

    CC-12: a client that could not send a message back counts on by itself, so a lower count may come later.
    """
    latest = at = int64(known.chains[chain].highest)
    while at >= 0:
        one, best = known.attempts[at], known.attempts[latest]
        if max(one.delivered, one.last_failed) > max(best.delivered, best.last_failed):
            latest = at
        at = int64(one.next)
    return latest


@part
def add_attempt(known: Any, chain: int, count: int) -> Any:
    """Begin to record an attempt."""
    at = known.used[ATTEMPTS]
    known.used[ATTEMPTS] += 1
    known.attempts[at] = NEW_ATTEMPT[0]
    new = known.attempts[at]
    above, below = int64(-1), int64(known.chains[chain].highest)
    while below >= 0 and known.attempts[below].attempt > count:
        above, below = below, int64(known.attempts[below].next)
    if above < 0:
        known.chains[chain].highest = at
    else:
        known.attempts[above].next = at
    new.next = below
    new.attempt = count
    return at


@part
def with_broker(before: int, broker: int) -> Any:
    """The only broker, or topic, among ``before`` and another one, as codes; SEVERAL if they differ."""
    return broker if before in (NOBODY, broker) else int64(SEVERAL)


@part
def attempt_of(known: Any, chain: int, count: int) -> Any:
    """The position of an attempt, which is added if it does not exist yet."""
    at = find_attempt(known, chain, count)
    return at if at >= 0 else add_attempt(known, chain, count)


@part
def copies_of(attempt: Any) -> Any:
    """Number of copies of an attempt that were seen; each is seen up to three times on its way."""
    return int64(max(max(attempt.stored + attempt.repeated, attempt.moved), attempt.reached) + attempt.dead)


@part
def first_seen(attempt: Any) -> Any:
    """When copies of an attempt were first seen, according to the records."""
    if attempt.stored_at != ABSENT:
        return attempt.stored_at
    if attempt.dead_at != ABSENT:
        return attempt.dead_at
    return attempt.first_moved if attempt.first_moved != ABSENT else attempt.delivered


@part
def has_place(known: Any, at: int, slot: int, offset: int) -> Any:
    """Whether an attempt was delivered at a place; never at an unknown one."""
    if slot < 0 or offset == ABSENT:
        return False
    attempt = known.attempts[at]
    if attempt.deliveries == 0:
        return False
    if attempt.slot == slot and attempt.offset == offset:
        return True
    return _has(known, int64(attempt.places), slot, offset)


@part
def _has(known: Any, first: int, slot: int, value: int) -> bool:
    """Whether a list of links that begins with ``first`` has this one."""
    at = first
    while at >= 0 and (known.links[at].slot != slot or known.links[at].value != value):
        at = int64(known.links[at].next)
    return bool(at >= 0)


@part
def _with(known: Any, first: int, slot: int, value: int) -> Any:
    """The beginning of the list with another link."""
    number = known.used[LINKS]
    known.used[LINKS] += 1
    link = known.links[number]
    link.slot, link.value, link.next = slot, value, first
    return number


@part
def _without(known: Any, first: int, slot: int, value: int) -> Any:
    """The beginning of the list without this link, if it has it."""
    before, at = int64(-1), first
    while at >= 0 and (known.links[at].slot != slot or known.links[at].value != value):
        before, at = at, int64(known.links[at].next)
    if at < 0:
        return first
    following = int64(known.links[at].next)
    if before < 0:
        return following
    known.links[before].next = following
    return first


@part
def add_place(known: Any, at: int, slot: int, offset: int) -> None:
    """Record a place at which an attempt is delivered for the first time, before the delivery is counted."""
    attempt = known.attempts[at]
    if attempt.deliveries == 0:
        attempt.slot = slot
        attempt.offset = offset
        return
    attempt.places = _with(known, int64(attempt.places), slot, offset)


@part
def depart(known: Any, chain: int, slot: int, offset: int) -> None:
    """Record that the message has left a place."""
    departed = int64(known.chains[chain].departed)
    if not _has(known, departed, slot, offset):
        known.chains[chain].departed = _with(known, departed, slot, offset)


@part
def come_back(known: Any, chain: int, slot: int, offset: int) -> None:
    """Record that the message is at a place again that it seemed to have left."""
    record = known.chains[chain]
    record.departed = _without(known, int64(record.departed), slot, offset)


@part
def wait(known: Any, at: int, due: int) -> None:
    """Record a copy that waits, until ``due`` (ms)."""
    attempt = known.attempts[at]
    attempt.waiting = _with(known, int64(attempt.waiting), NOBODY, due)


@part
def leave(known: Any, at: int, due: int) -> None:
    """Record that a copy with this due time no longer waits."""
    attempt = known.attempts[at]
    attempt.waiting = _without(known, int64(attempt.waiting), NOBODY, due)


@part
def earliest(known: Any, at: int) -> Any:
    """The earliest due time of the waiting copies; ABSENT if none waits."""
    due = int64(ABSENT)
    item = known.attempts[at].waiting
    while item >= 0:
        other = known.links[item].value
        due = other if due == ABSENT else min(due, other)
        item = known.links[item].next
    return due


@part
def counts_at(known: Any, chain: int, slot: int, offset: int) -> Any:
    """Lowest and highest count with which a message was delivered at a place; ABSENT twice if it was not.

    The lowest is the stored one: local retries count on only in the memory of the client (SB-6).
    """
    low, high = int64(ABSENT), int64(ABSENT)
    at = int64(known.chains[chain].highest)
    while at >= 0:
        if has_place(known, at, slot, offset):
            count = int64(known.attempts[at].attempt)
            low = count if low == ABSENT else min(low, count)
            high = max(high, count)
        at = int64(known.attempts[at].next)
    return low, high
