"""Listener calls of windows: which message is given out, and how its call ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....machine_code.compiled import part
from ....model.history import Cause
from ...format.kinds import Kind, Path, Result
from .agenda import put
from .broker import send_on
from .catalogue import Bug, Claim
from .codes import NO, ZERO
from .rows import C
from .window import DONE, MASK, NOT_SENT_BACK, OPEN, PLAIN, finished, is_alive, other_given, row_about, row_of_send_back
from .world import (
    AGAIN,
    CLOSED,
    FINISH,
    GIVEN_UP,
    HANDLED,
    HANGS,
    OWNED,
    REPEATED,
    SEND,
    VIOLATION,
    attempt_at,
    below,
    chance,
    note,
    origin_at,
    strikes,
)

SUSPEND_TIME = 1_000
"""``suspendCurrentQueueTimeMillis``, ms."""

SLOW_CALL = 100
"""A call that a commit has passed (B7) goes on for longer than clocks are assumed to be apart, ms."""

LONGEST_CALL = 1_800_000
"""PQ-9: a call of more than 15 min may be found 15 min later; only then is it certain that nobody cleans up, ms."""


@part
def begin(world: Any, w: int) -> None:
    """Listener calls begin while the window has messages that were not given out, and room for calls."""
    win = world.windows[w]
    ring = world.done[win.ring]
    a = world.all[0]
    while win.running < a.lanes and win.begun < win.next and win.stage == OWNED:
        offset = win.begun
        win.begun += 1
        if ring[offset & MASK] != OPEN:
            continue
        attempt = attempt_at(world, win.queue, offset)
        if attempt > 0 and attempt < a.maximum and strikes(world, Bug.D7):
            origin = origin_at(world, win.queue, offset)
            note(world, VIOLATION, Claim.ATTEMPTS, ZERO, NO, NO, NO, NO, origin, attempt)
            note(world, VIOLATION, Claim.SENT_BACK, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            ring[offset & MASK] = NOT_SENT_BACK
            put(world, a.now + 1, SEND, w, offset, attempt + PLAIN)
            continue
        deliver(world, w, offset, attempt, ZERO)


@part
def deliver(world: Any, w: int, offset: int, attempt: int, cause: int) -> None:
    """CC-6: the listener is called; ``cause``: why this window gives the message out again, 0 if it does not."""
    a = world.all[0]
    win = world.windows[w]
    cell = world.cells[win.cell]
    win.running += 1
    i = row_about(world, Kind.DELIVER, w, offset, attempt)
    world.rows[C.count, i] = 1
    world.rows[C.next, i] = offset + 1
    origin = world.rows[C.origin, i]
    if cause == PLAIN:
        note(world, VIOLATION, Claim.DUPLICATE, ZERO, win.queue, win.process, offset, NO, origin, attempt)
    elif cause:
        note(world, REPEATED, NO, cause, win.queue, win.process, offset, NO, origin, attempt)
    elif offset < cell.reached:
        _note_repetition(world, w, offset, attempt, origin)
    if offset >= cell.reached:
        cell.reached = offset + 1
    # CC-12: tries after a failed send-back count only in the client; they may exceed the maximum.
    if a.mutant == Bug.D3 and attempt > a.maximum and (a.orderly or attempt == attempt_at(world, win.queue, offset)):
        note(world, VIOLATION, Claim.MAXIMUM, ZERO, NO, win.process, NO, NO, origin, attempt)
    if a.orderly and win.before >= 0:
        _note_two_listeners(world, w, offset)
    took = np.int64(a.call * chance(world))
    if a.hangs > 0 and a.now >= a.hang_at and win.hung < 0 and not world.queues[win.queue].retry and cause == 0:
        a.hangs -= 1
        a.hang_at = a.now + a.hang_gap
        win.hung = offset
        win.hung_since = a.now
        took = 2 * a.timeout + a.timeout // 4 + took
    if not world.queues[win.queue].retry and win.hung < 0 and strikes(world, Bug.F4):
        note(world, VIOLATION, Claim.STUCK, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        note(world, HANGS, NO, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        win.hung = offset
        return
    if a.orderly and a.target == w and a.until > a.now:
        took = a.until - a.now
    put(world, a.now + took, FINISH, w, offset, attempt)


@part
def _note_repetition(world: Any, w: int, offset: int, attempt: int, origin: int) -> None:
    """Why a window gets a message again: the offset went back, both have the queue, or how the other one ended."""
    win = world.windows[w]
    cell = world.cells[win.cell]
    v = other_given(world, w, offset)
    if v < 0:
        return
    other = world.windows[v]
    why: Any
    before = other.opened < cell.decreased and offset < other.begun_before
    if before and cell.low <= offset < cell.high and win.start < cell.high:
        if cell.cause == 0:
            note(world, VIOLATION, Claim.DUPLICATE, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            return
        why = np.int64(cell.cause)
    elif other.stage != CLOSED:
        why = np.int64(Cause.OVERLAP)
    else:
        why = np.int64(other.how)
    note(world, REPEATED, NO, why, win.queue, win.process, offset, NO, origin, attempt)


@part
def _note_two_listeners(world: Any, w: int, offset: int) -> None:
    win = world.windows[w]
    v = win.before
    if world.windows[v].running > 0 and is_alive(world, v) and world.windows[v].hung != -3:
        note(world, VIOLATION, Claim.ONE_LISTENER, ZERO, win.queue, win.process, offset, NO, ZERO, ZERO)


@part
def finish(world: Any, w: int, offset: int, attempt: int) -> None:
    """CC-9, CC-10, OR-7: the listener has returned."""
    a = world.all[0]
    win = world.windows[w]
    if not is_alive(world, w):
        return
    if a.mutant == Bug.B7 and offset < win.memory and a.now - win.sent_at < SLOW_CALL:
        put(world, a.now + SLOW_CALL, FINISH, w, offset, attempt)
        return
    win.running -= 1
    ring = world.done[win.ring]
    again = offset < win.base or ring[offset & MASK] == DONE
    i = row_about(world, Kind.RESULT, w, offset, attempt)
    origin = world.rows[C.origin, i]
    rate = a.failure_rate if attempt == 0 else a.retry_failure_rate
    failed = chance(world) < rate and not again and not (a.mutant == Bug.H2 and a.target == origin)
    if win.hung == offset:
        failed = False
        win.hung = -1
        world.rows[C.result, i] = Result.TIMEOUT
    elif not failed:
        world.rows[C.result, i] = Result.OK
    elif a.orderly:
        world.rows[C.result, i] = Result.SUSPEND
    else:
        kind = below(world, 10)
        world.rows[C.result, i] = Result.LATER if kind < 7 else (Result.EXCEPTION if kind < 9 else Result.NULL)
    if win.stage == CLOSED:
        row_about(world, Kind.DISCARDED, w, offset, attempt)
        return
    if not failed:
        if attempt > 0 or again:
            note(world, HANDLED, NO, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        if again:
            begin(world, w)
            return
        if attempt == 0 and not a.orderly and not world.queues[win.queue].retry and strikes(world, Bug.C2):
            note(world, VIOLATION, Claim.SENT_BACK, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            note(world, VIOLATION, Claim.ATTEMPTS, ZERO, NO, NO, NO, NO, origin, attempt + 1)
            ring[offset & MASK] = NOT_SENT_BACK
            put(world, a.now + 1, SEND, w, offset, attempt + PLAIN)
        else:
            finished(world, w, offset)
            if not world.queues[win.queue].retry and strikes(world, Bug.C3):
                put(world, a.now + 50, AGAIN, w, offset, attempt + PLAIN)
    elif a.broadcasting:
        note(world, GIVEN_UP, NO, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        finished(world, w, offset)
    elif a.orderly:
        if strikes(world, Bug.E6):
            note(world, VIOLATION, Claim.FAILED, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            note(world, VIOLATION, Claim.IN_ORDER, ZERO, win.queue, win.process, offset + 1, NO, ZERO, ZERO)
            finished(world, w, offset)
        elif 0 <= a.maximum <= attempt:
            _give_up_orderly(world, w, offset, attempt)
        else:
            ring[offset & MASK] = NOT_SENT_BACK
            win.running += 1
            win.hung = -3
            put(world, a.now + SUSPEND_TIME, AGAIN, w, offset, attempt + 1)
    else:
        ring[offset & MASK] = NOT_SENT_BACK
        put(world, a.now + 1, SEND, w, offset, attempt)
    begin(world, w)


@part
def again(world: Any, w: int, offset: int, attempt: int) -> None:
    """CC-12, OR-7: a window gives a message to the listener again."""
    win = world.windows[w]
    if win.hung == -3:
        win.running -= 1
        win.hung = -1
    if win.stage != OWNED or not is_alive(world, w):
        return
    if attempt >= PLAIN:
        deliver(world, w, offset, attempt - PLAIN, PLAIN)
        return
    world.done[win.ring][offset & MASK] = OPEN
    deliver(world, w, offset, attempt, Cause.SUSPENDED if world.all[0].orderly else Cause.FAILED_SEND_BACK)


@part
def _give_up_orderly(world: Any, w: int, offset: int, attempt: int) -> None:
    """OR-8: at the maximum an orderly client produces the message to the retry topic, and it becomes a dead letter."""
    win = world.windows[w]
    origin = origin_at(world, win.queue, offset)
    count = min(attempt, len(world.rules) - 1)
    dead = world.rules[count].fallback_dead
    send_on(world, world.queues[win.queue].broker, origin, attempt + 1, world.rules[count].fallback_level, dead, ZERO)
    row_of_send_back(world, w, offset, attempt, Path.FALLBACK, Result.OK, world.rules[count].fallback_level)
    finished(world, w, offset)
