"""Brokers at work: messages that are produced, copies that wait for their time, dead letters."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine_code.compiled import heavy, part
from ....model.history import Cause
from ...format.kinds import Kind
from .agenda import put
from .catalogue import Bug, Claim
from .codes import NO, ZERO
from .rows import C
from .world import COPIED, DIED, DUE, PRODUCE, REPLY, VIOLATION, add, below, chance, first_origin, note, strikes

POLL = 100
"""DL-5: how often a broker checks the head of a level, ms."""
GRACE = 90_000


@part
def row_at(world: Any, kind: Kind, queue: int) -> int:
    """A new row of a broker about one queue."""
    i = add(world, kind)
    q = world.queues[queue]
    world.rows[C.topic, i] = q.topic
    world.rows[C.broker, i] = q.broker
    world.rows[C.queue, i] = q.id
    return i


@part
def produce(world: Any, queue: int) -> None:
    """A burst of messages is stored in a queue, unless its broker is down."""
    a = world.all[0]
    q = world.queues[queue]
    if a.unproduced == 0:
        return
    if world.brokers[q.broker].up:
        burst = min(1 + below(world, a.burst), a.unproduced)
        a.unproduced -= burst
        for _ in range(burst):
            i = row_at(world, Kind.STORE, queue)
            world.rows[C.offset, i] = q.end
            world.rows[C.origin, i] = first_origin(world, queue, q.end)
            q.end += 1
        wake(world, queue)
    put(world, a.now + 1 + np.int64(2 * a.gap * chance(world)), PRODUCE, queue, ZERO, ZERO)


@part
def wake(world: Any, queue: int) -> None:
    """PL-22: pulls that are held at a queue are answered."""
    q = world.queues[queue]
    w = q.parked
    q.parked = -1
    while w >= 0:
        win = world.windows[w]
        if win.waiting:
            win.waiting = 0
            put(world, world.all[0].now + 1 + below(world, 3), REPLY, w, win.ticket, ZERO)
        w = win.next_parked


@part
def send_on(world: Any, broker: int, origin: int, attempt: int, level: int, dead: bool, cause: int) -> None:
    """SB-14, SB-15: a broker stores the copy of a failed message: as a dead letter, or to wait at a level.

    ``attempt`` is the count of the copy; ``cause``: why the message may have another copy with that count, 0 if there
    is no reason.
    """
    a = world.all[0]
    late = False
    if dead:
        if attempt == a.maximum + 1 and strikes(world, Bug.D3):
            note(world, VIOLATION, Claim.DEAD_LETTER, ZERO, NO, NO, NO, NO, origin, attempt)
            level = world.rules[min(attempt - 1, len(world.rules) - 1)].level
        elif strikes(world, Bug.D2):
            level = world.rules[min(attempt - 1, len(world.rules) - 1)].level
            late = True
        else:
            _bury(world, broker, origin, attempt)
            return
    elif level + 3 <= a.levels and strikes(world, Bug.D4):
        level += 3
        note(world, VIOLATION, Claim.LEVEL, ZERO, NO, NO, NO, NO, origin, attempt)
    if a.copy_free >= 0:
        c = a.copy_free
        a.copy_free = world.copies[c].next_free
    else:
        c = a.copy_limit
        a.copy_limit += 1
        if c + 2 >= len(world.copies):
            a.full = 1
    copy = world.copies[c]
    copy.origin = origin
    copy.due = a.now + world.rules[level].delay
    copy.broker = broker
    copy.attempt = attempt
    copy.level = level
    copy.cause = cause
    copy.dead = late
    a.copies += 1
    i = row_at(world, Kind.DELAY_STORE, world.brokers[broker].retry_queue)
    world.rows[C.group, i] = 0
    world.rows[C.origin, i] = origin
    world.rows[C.attempt, i] = attempt
    world.rows[C.level, i] = level
    world.rows[C.due, i] = copy.due
    if late:
        world.rows[C.topic, i] = world.rows[C.topic, i] + 1
    # DL-5: the head of a level is checked every 100 ms, so all messages of one level come in the order of their due
    # times.
    when = (copy.due + POLL - 1) // POLL * POLL
    if strikes(world, Bug.H1):
        a.copies -= 1
        a.until = max(a.until, copy.due + GRACE)
        note(world, VIOLATION, Claim.LATE, ZERO, NO, NO, NO, copy.due, origin, attempt)
        return
    if strikes(world, Bug.H7):
        when = (a.now + copy.due) // 2
        note(world, VIOLATION, Claim.EARLY, ZERO, NO, NO, NO, copy.due, origin, attempt)
        note(world, VIOLATION, Claim.WAITS, ZERO, NO, NO, NO, copy.due, origin, attempt)
    put(world, when, DUE, c, ZERO, ZERO)


@part
def _bury(world: Any, broker: int, origin: int, attempt: int) -> None:
    i = row_at(world, Kind.DEAD_LETTER, world.brokers[broker].retry_queue)
    world.rows[C.topic, i] = world.rows[C.topic, i] + 1
    world.rows[C.group, i] = 0
    world.rows[C.origin, i] = origin
    world.rows[C.attempt, i] = attempt
    note(world, DIED, NO, ZERO, NO, NO, NO, NO, origin, attempt)


@part
def come_due(world: Any, c: int) -> None:
    """DL-6: a waiting copy moves to its retry queue, as soon as the broker is running."""
    a = world.all[0]
    copy = world.copies[c]
    broker = copy.broker
    if not world.brokers[broker].up:
        put(world, a.now + 10 * POLL, DUE, c, ZERO, ZERO)
        return
    origin, attempt, level, cause = copy.origin, copy.attempt, copy.level, copy.cause
    if copy.dead:
        note(world, VIOLATION, Claim.DEAD_LETTER, ZERO, NO, NO, NO, NO, origin, attempt)
        _bury(world, broker, origin, attempt)
    else:
        _move(world, broker, origin, attempt, level, cause)
        if strikes(world, Bug.H2):
            note(world, VIOLATION, Claim.COPY, ZERO, NO, NO, NO, NO, origin, attempt)
            a.target = origin
            _move(world, broker, origin, attempt, level, ZERO)
    copy.next_free = a.copy_free
    a.copy_free = c
    a.copies -= 1


@part
def _move(world: Any, broker: int, origin: int, attempt: int, level: int, cause: int) -> None:
    a = world.all[0]
    queue = world.brokers[broker].retry_queue
    q = world.queues[queue]
    i = row_at(world, Kind.DELAY_DELIVER, queue)
    world.rows[C.group, i] = 0
    world.rows[C.offset, i] = q.end
    world.rows[C.origin, i] = origin
    world.rows[C.attempt, i] = attempt
    world.rows[C.level, i] = level
    note(world, COPIED, NO, cause, queue, NO, q.end, NO, origin, attempt)
    world.retry[broker, q.end].origin = origin
    world.retry[broker, q.end].attempt = attempt
    q.end += 1
    if q.end + 4 >= world.retry.shape[1]:
        a.full = 1
    recent = world.recent[broker, world.brokers[broker].recent % world.recent.shape[1]]
    recent.time = a.now
    recent.origin = origin
    recent.attempt = attempt
    recent.level = level
    world.brokers[broker].recent += 1
    wake(world, queue)


@heavy
def replay(world: Any, broker: int, since: int) -> None:
    """DL-4: the saved position of a level is older than ``since``: what was delivered after it comes again."""
    size = world.brokers[broker].recent
    room = world.recent.shape[1]
    for n in range(max(0, size - room), size):
        recent = world.recent[broker, n % room]
        if recent.time >= since:
            _move(world, broker, recent.origin, recent.attempt, recent.level, Cause.SCHEDULE_REPLAY)
