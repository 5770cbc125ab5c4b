"""Windows of clients over queues: pulls, listener calls, results, offsets, send-backs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....model.history import Cause, Regression
from ....model.retry_policy import EXPIRY_LEVEL as _EXPIRY_LEVEL
from ...format.kinds import Kind, Path, Result, codes
from ...machine_code.compiled import constant, heavy, part
from .agenda import put
from .broker import GRACE, row_at, send_on
from .catalogue import (
    ATTEMPTS,
    B4,
    B7,
    B8,
    B9,
    C2,
    C3,
    D1,
    D3,
    D7,
    DUPLICATE,
    E6,
    F4,
    FAILED,
    H2,
    IN_ORDER,
    MAXIMUM,
    ONE_LISTENER,
    SENT_BACK,
    SKIPPED,
    STUCK,
    UNFINISHED,
)
from .codes import NO, ZERO, numbers
from .rows import C
from .world import (
    AGAIN,
    CLEAN,
    CLOSED,
    DECREASED,
    FINISH,
    GIVEN_UP,
    HANDLED,
    HANGS,
    JUMPED,
    OWNED,
    PARKED,
    PERSIST,
    PULL,
    REPEATED,
    REPLY,
    SEND,
    SENT,
    SPAN,
    VIOLATION,
    attempt_at,
    below,
    chance,
    is_filtered,
    note,
    origin_at,
    strikes,
)

_KIND, _RESULT, _PATH = codes(Kind), codes(Result), codes(Path)
ASKED, ANSWERED, HELD, DELIVERED, ENDED, DROPPED, EXPIRED, RETURNED, STORED = (
    constant(_KIND[kind])
    for kind in (
        Kind.PULL,
        Kind.PULL_RESULT,
        Kind.FLOW_CONTROL,
        Kind.DELIVER,
        Kind.RESULT,
        Kind.DISCARDED,
        Kind.EXPIRE,
        Kind.SEND_BACK,
        Kind.COMMIT,
    )
)
OK, NOT_OK, ERROR, LATER, SUSPEND, EXCEPTION, NULL, TIMEOUT, FOUND, NO_NEW, NO_MATCH = (
    constant(_RESULT[result])
    for result in (
        Result.OK,
        Result.FAILED,
        Result.ERROR,
        Result.LATER,
        Result.SUSPEND,
        Result.EXCEPTION,
        Result.NULL,
        Result.TIMEOUT,
        Result.FOUND,
        Result.NO_NEW_MESSAGE,
        Result.NO_MATCHED_MESSAGE,
    )
)
PERIODIC, PIGGYBACK, REQUEST, FALLBACK, BY_EXPIRY, COUNT, TOO_WIDE = (
    constant(_PATH[path])
    for path in (Path.PERIODIC, Path.PIGGYBACK, Path.REQUEST, Path.FALLBACK, Path.EXPIRED, Path.COUNT, Path.SPAN)
)
FAILED_SEND_BACK, STORED_BUT_REFUSED, OVERLAPPED, STOPPED, RAN_TOO_LONG, SUSPENDED = (
    constant(cause)
    for cause in (
        Cause.FAILED_SEND_BACK,
        Cause.STORED_BUT_REFUSED,
        Cause.OVERLAP,
        Cause.SHUTDOWN,
        Cause.TIMEOUT,
        Cause.SUSPENDED,
    )
)
BACK_BY_OVERLAP, UNEXPLAINED = constant(Regression.OVERLAP), constant(Regression.UNEXPLAINED)
# How the request of a send-back ends.
_ACCEPTED, _REFUSED, _STORED_BUT_REFUSED, _LOST = numbers(4)
_OUTCOME = 1 << 16
_PLAIN = constant(1 << 20)
# What an offset of a window can be: to be consumed, finished, or failed and not yet sent back.
_OPEN, _DONE, _FAILED = numbers(3)
EXPIRY_LEVEL = constant(_EXPIRY_LEVEL)
BATCH = 32
OLDER = 20
"""How much older an offset of another replica is (B4)."""

SCANNED = 256
MOST_CACHED, MOST_SPAN = 1_000, 2_000
HOLD, HIDE, LOCAL, SUSPEND_TIME, PERSISTED = 50, 1_000, 5_000, 1_000, 5_000
LONG_POLL = 15_000
IN_FLIGHT = 4_000
"""Longer than a commit can be under way, so that an older one that arrives late explains nothing (B4), ms."""
LONGEST_CALL = 1_800_000
"""PQ-9: a call that outlasts 15 min may be found 15 min later; only then is it sure that nobody cleans up (F4), ms."""
_MASK = SPAN - 1


@part
def row_of(world: Any, kind: int, w: int) -> int:
    """A new row of the client of a window about its queue."""
    win = world.windows[w]
    process = world.processes[win.process]
    i = row_at(world, kind, win.queue)
    world.rows[C.client, i] = process.client
    world.rows[C.incarnation, i] = process.incarnation
    world.rows[C.group, i] = 0
    return i


@part
def row_about(world: Any, kind: int, w: int, offset: int, attempt: int) -> int:
    """As :func:`row_of`, about one message."""
    i = row_of(world, kind, w)
    world.rows[C.offset, i] = offset
    world.rows[C.origin, i] = origin_at(world, world.windows[w].queue, offset)
    world.rows[C.attempt, i] = attempt
    return i


@part
def is_alive(world: Any, w: int) -> bool:
    """Whether the process of a window still runs."""
    return bool(world.processes[world.windows[w].process].alive)


@heavy
def commit(world: Any, w: int, path: int) -> None:
    """The offset in memory of a window is stored, unless the broker is down (OF-20: whatever was stored before)."""
    a = world.all[0]
    win = world.windows[w]
    cell = world.cells[win.cell]
    if win.memory < 0 or not (a.broadcasting or world.brokers[cell.broker].up):
        return
    ring = world.done[win.ring]
    alone = win.running == 1 and win.cached == 1 and win.memory == win.base and win.base + 1 == win.begun
    if a.mutant == B7 and alone and ring[win.base & _MASK] == _OPEN and strikes(world, B7):
        note(world, VIOLATION, UNFINISHED, ZERO, win.queue, win.process, win.base, win.base + 1, ZERO, ZERO)
        win.memory = win.begun
    value = win.memory
    old = value == cell.committed and value - OLDER >= win.start and a.now - win.sent_at > IN_FLIGHT
    if a.mutant == B4 and old and cell.writer == w and not world.queues[win.queue].retry and strikes(world, B4):
        value -= OLDER
    i = row_of(world, STORED, w)
    world.rows[C.offset, i] = value
    world.rows[C.path, i] = path
    if value < cell.committed:
        cause = BACK_BY_OVERLAP if cell.writer >= 0 and cell.writer != w and not win.astray else UNEXPLAINED
        note(world, DECREASED, NO, cause, win.queue, win.process, value, cell.committed, ZERO, ZERO)
    cell.committed = value
    cell.writer = w
    win.sent = value
    win.sent_at = a.now


@part
def persist(world: Any, process: int) -> None:
    """OF-6: every 5 s a client stores the offsets that have changed."""
    if not world.processes[process].alive:
        return
    mutant = world.all[0].mutant
    w = world.processes[process].first
    while w >= 0:
        win = world.windows[w]
        if win.stage == OWNED and (win.memory != win.sent or mutant == B4):
            commit(world, w, PERIODIC)
        w = win.sibling
    put(world, world.all[0].now + PERSISTED, PERSIST, process, ZERO, ZERO)


@part
def pull(world: Any, w: int) -> None:
    """PL-3 to PL-14: a window asks for more, unless it has too much."""
    a = world.all[0]
    win = world.windows[w]
    if win.stage != OWNED or not is_alive(world, w):
        return
    if win.cached > MOST_CACHED or win.next - win.base > MOST_SPAN:
        if win.held % 1_000 == 0:
            i = row_of(world, HELD, w)
            world.rows[C.path, i] = COUNT if win.cached > MOST_CACHED else TOO_WIDE
        win.held += 1
        put(world, a.now + HOLD, PULL, w, ZERO, ZERO)
        return
    win.ticket += 1
    q = world.queues[win.queue]
    i = row_of(world, ASKED, w)
    world.rows[C.offset, i] = win.next
    if not world.brokers[q.broker].up:
        i = row_of(world, ANSWERED, w)
        world.rows[C.offset, i] = win.next
        world.rows[C.result, i] = ERROR
        put(world, a.now + HIDE, PULL, w, ZERO, ZERO)
        return
    if win.memory > 0 and win.memory != win.sent and not a.broadcasting:
        commit(world, w, PIGGYBACK)
    if q.end > win.next:
        put(world, a.now + 1 + below(world, 3), REPLY, w, win.ticket, ZERO)
    else:
        win.waiting = 1
        win.next_parked = q.parked
        q.parked = w
        put(world, a.now + LONG_POLL, PARKED, w, win.ticket, ZERO)


@part
def give_up_waiting(world: Any, w: int, ticket: int) -> None:
    """PL-22: a pull was parked for 15 s, and nothing has come."""
    win = world.windows[w]
    if not win.waiting or win.ticket != ticket:
        return
    win.waiting = 0
    q = world.queues[win.queue]
    at = q.parked
    if at == w:
        q.parked = win.next_parked
    else:
        while world.windows[at].next_parked != w:
            at = world.windows[at].next_parked
        world.windows[at].next_parked = win.next_parked
    reply(world, w, ticket)


@part
def reply(world: Any, w: int, ticket: int) -> None:
    """PL-19, PL-23: the answer to a pull; that to a dropped window is not used (PL-24)."""
    a = world.all[0]
    win = world.windows[w]
    if not is_alive(world, w) or win.ticket != ticket:
        return
    q = world.queues[win.queue]
    asked = win.next
    end = asked
    found = 0
    while end < q.end and found < BATCH and end - asked < SCANNED:
        if not is_filtered(world, win.queue, end):
            found += 1
        end += 1
    fixed = win.hung == -2 or (
        found > 0 and win.stage == OWNED and not q.retry and win.cached == 0 and strikes(world, B8)
    )
    if fixed:
        if win.hung != -2:
            a.until = max(a.until, a.now + 150_000 + GRACE)
            note(world, VIOLATION, STUCK, ZERO, win.queue, win.process, asked, NO, ZERO, ZERO)
            win.hung = -2
        found = 0
    i = row_of(world, ANSWERED, w)
    rows = world.rows
    rows[C.offset, i] = asked
    rows[C.next, i] = end
    rows[C.min, i] = 0
    rows[C.max, i] = q.end
    rows[C.count, i] = found
    rows[C.result, i] = FOUND if found else (NO_MATCH if end > asked else NO_NEW)
    if win.stage != OWNED:
        return
    if fixed:
        # The pulls go on, the offset in memory does not.
        win.next, win.base, win.top, win.begun = end, end, end, end
        put(world, a.now, PULL, w, ZERO, ZERO)
        return
    ring = world.done[win.ring]
    if found:
        if win.cached == 0:
            win.base = asked
            win.top = asked
        if not q.retry and win.cached == 0 and strikes(world, B9):
            note(world, VIOLATION, SKIPPED, ZERO, win.queue, win.process, asked, end, ZERO, ZERO)
            note(world, JUMPED, NO, ZERO, win.queue, win.process, asked, end, ZERO, ZERO)
            for offset in range(asked, end):
                ring[offset & _MASK] = _DONE
            found = 0
        else:
            for offset in range(asked, end):
                if is_filtered(world, win.queue, offset):
                    ring[offset & _MASK] = _DONE
                else:
                    ring[offset & _MASK] = _OPEN
                    win.top = offset + 1
            win.cached += found
    else:
        for offset in range(asked, end):
            ring[offset & _MASK] = _DONE
        if win.cached == 0 and win.memory < end:
            win.memory = end
    win.next = end
    begin(world, w)
    put(world, a.now, PULL, w, ZERO, ZERO)


@part
def begin(world: Any, w: int) -> None:
    """Listener calls begin while the window has messages that were not given out, and room for calls."""
    win = world.windows[w]
    ring = world.done[win.ring]
    a = world.all[0]
    while win.running < a.lanes and win.begun < win.next and win.stage == OWNED:
        offset = win.begun
        win.begun += 1
        if ring[offset & _MASK] != _OPEN:
            continue
        attempt = attempt_at(world, win.queue, offset)
        if attempt > 0 and attempt < a.maximum and strikes(world, D7):
            origin = origin_at(world, win.queue, offset)
            note(world, VIOLATION, ATTEMPTS, ZERO, NO, NO, NO, NO, origin, attempt)
            note(world, VIOLATION, SENT_BACK, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            ring[offset & _MASK] = _FAILED
            put(world, a.now + 1, SEND, w, offset, attempt + _PLAIN)
            continue
        deliver(world, w, offset, attempt, ZERO)


@part
def deliver(world: Any, w: int, offset: int, attempt: int, cause: int) -> None:
    """CC-6: the listener is called; ``cause``: why this window gives the message out again, 0 where it does not."""
    a = world.all[0]
    win = world.windows[w]
    cell = world.cells[win.cell]
    win.running += 1
    i = row_about(world, DELIVERED, w, offset, attempt)
    world.rows[C.count, i] = 1
    world.rows[C.next, i] = offset + 1
    origin = world.rows[C.origin, i]
    if cause == _PLAIN:
        note(world, VIOLATION, DUPLICATE, ZERO, win.queue, win.process, offset, NO, origin, attempt)
    elif cause:
        note(world, REPEATED, NO, cause, win.queue, win.process, offset, NO, origin, attempt)
    elif offset < cell.reached:
        _note_repetition(world, w, offset, attempt, origin)
    if offset >= cell.reached:
        cell.reached = offset + 1
    # CC-12: tries after a failed send-back count in the client only; they are above the maximum rightly.
    if a.mutant == D3 and attempt > a.maximum and (a.orderly or attempt == attempt_at(world, win.queue, offset)):
        note(world, VIOLATION, MAXIMUM, ZERO, NO, win.process, NO, NO, origin, attempt)
    if a.orderly and win.before >= 0:
        _note_two_listeners(world, w, offset)
    took = np.int64(a.call * chance(world))
    if a.hangs > 0 and a.now >= a.hang_at and win.hung < 0 and not world.queues[win.queue].retry and cause == 0:
        a.hangs -= 1
        a.hang_at = a.now + a.hang_gap
        win.hung = offset
        win.hung_since = a.now
        took = 2 * a.timeout + a.timeout // 4 + took
    if not world.queues[win.queue].retry and win.hung < 0 and strikes(world, F4):
        note(world, VIOLATION, STUCK, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        note(world, HANGS, NO, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        win.hung = offset
        return
    if a.orderly and a.target == w and a.until > a.now:
        took = a.until - a.now
    put(world, a.now + took, FINISH, w, offset, attempt)


@part
def _note_repetition(world: Any, w: int, offset: int, attempt: int, origin: int) -> None:
    """Why a window gets what another one has had: the offset went back, both have the queue, or how the other ended."""
    win = world.windows[w]
    cell = world.cells[win.cell]
    v = cell.window
    while v >= 0 and (v == w or offset < world.windows[v].start or offset >= world.windows[v].begun):
        v = world.windows[v].before
    if v < 0:
        return
    other = world.windows[v]
    why: Any
    before = other.opened < cell.decreased and offset < other.begun_before
    if before and cell.low <= offset < cell.high and win.start < cell.high:
        if cell.cause == 0:
            note(world, VIOLATION, DUPLICATE, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            return
        why = np.int64(cell.cause)
    elif other.stage != CLOSED:
        why = np.int64(OVERLAPPED)
    else:
        why = np.int64(other.how)
    note(world, REPEATED, NO, why, win.queue, win.process, offset, NO, origin, attempt)


@part
def _note_two_listeners(world: Any, w: int, offset: int) -> None:
    win = world.windows[w]
    v = win.before
    if world.windows[v].running > 0 and is_alive(world, v) and world.windows[v].hung != -3:
        note(world, VIOLATION, ONE_LISTENER, ZERO, win.queue, win.process, offset, NO, ZERO, ZERO)


@part
def finish(world: Any, w: int, offset: int, attempt: int) -> None:
    """CC-9, CC-10, OR-7: the listener has returned."""
    a = world.all[0]
    win = world.windows[w]
    if not is_alive(world, w):
        return
    win.running -= 1
    ring = world.done[win.ring]
    again = offset < win.base or ring[offset & _MASK] == _DONE
    i = row_about(world, ENDED, w, offset, attempt)
    origin = world.rows[C.origin, i]
    rate = a.failure_rate if attempt == 0 else a.retry_failure_rate
    failed = chance(world) < rate and not again and not (a.mutant == H2 and a.target == origin)
    if win.hung == offset:
        failed = False
        win.hung = -1
        world.rows[C.result, i] = TIMEOUT
    elif not failed:
        world.rows[C.result, i] = OK
    elif a.orderly:
        world.rows[C.result, i] = SUSPEND
    else:
        kind = below(world, 10)
        world.rows[C.result, i] = LATER if kind < 7 else (EXCEPTION if kind < 9 else NULL)
    if win.stage == CLOSED:
        row_about(world, DROPPED, w, offset, attempt)
        return
    if not failed:
        if attempt > 0 or again:
            note(world, HANDLED, NO, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        if again:
            begin(world, w)
            return
        if attempt == 0 and not a.orderly and not world.queues[win.queue].retry and strikes(world, C2):
            note(world, VIOLATION, SENT_BACK, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            note(world, VIOLATION, ATTEMPTS, ZERO, NO, NO, NO, NO, origin, attempt + 1)
            ring[offset & _MASK] = _FAILED
            put(world, a.now + 1, SEND, w, offset, attempt + _PLAIN)
        else:
            finished(world, w, offset)
            if not world.queues[win.queue].retry and strikes(world, C3):
                put(world, a.now + 50, AGAIN, w, offset, attempt + _PLAIN)
    elif a.broadcasting:
        note(world, GIVEN_UP, NO, ZERO, win.queue, win.process, offset, NO, origin, attempt)
        finished(world, w, offset)
    elif a.orderly:
        if strikes(world, E6):
            note(world, VIOLATION, FAILED, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            note(world, VIOLATION, IN_ORDER, ZERO, win.queue, win.process, offset + 1, NO, ZERO, ZERO)
            finished(world, w, offset)
        elif 0 <= a.maximum <= attempt:
            _give_up_orderly(world, w, offset, attempt)
        else:
            ring[offset & _MASK] = _FAILED
            win.running += 1
            win.hung = -3
            put(world, a.now + SUSPEND_TIME, AGAIN, w, offset, attempt + 1)
    else:
        ring[offset & _MASK] = _FAILED
        put(world, a.now + 1, SEND, w, offset, attempt)
    begin(world, w)


@part
def finished(world: Any, w: int, offset: int) -> None:
    """PQ-2, CC-13: a message leaves the window, and the offset in memory becomes the smallest that is left."""
    win = world.windows[w]
    if offset < win.base or world.done[win.ring][offset & _MASK] == _DONE:
        return
    _remove(world, w, offset)
    if win.memory < win.base:
        win.memory = win.base


@part
def _remove(world: Any, w: int, offset: int) -> None:
    win = world.windows[w]
    ring = world.done[win.ring]
    ring[offset & _MASK] = _DONE
    win.cached -= 1
    while win.base < win.top and ring[win.base & _MASK] == _DONE:
        win.base += 1


@part
def _give_up_orderly(world: Any, w: int, offset: int, attempt: int) -> None:
    """OR-8: at the maximum an orderly client produces the message to the retry topic, and it becomes a dead letter."""
    win = world.windows[w]
    origin = origin_at(world, win.queue, offset)
    count = min(attempt, len(world.rules) - 1)
    dead = world.rules[count].fallback_dead
    send_on(world, world.queues[win.queue].broker, origin, attempt + 1, world.rules[count].fallback_level, dead, ZERO)
    _row_of_send_back(world, w, offset, attempt, FALLBACK, OK, world.rules[count].fallback_level)
    finished(world, w, offset)


@part
def _row_of_send_back(world: Any, w: int, offset: int, attempt: int, path: int, result: int, level: int) -> None:
    i = row_about(world, RETURNED, w, offset, attempt)
    world.rows[C.path, i] = path
    world.rows[C.result, i] = result
    world.rows[C.level, i] = level
    world.rows[C.max_attempts, i] = world.all[0].maximum


@part
def send_back(world: Any, w: int, offset: int, attempt: int) -> None:
    """SB-14: request 36 reaches the broker, which stores a copy or refuses, or both (SB-7)."""
    a = world.all[0]
    win = world.windows[w]
    broker = world.queues[win.queue].broker
    outcome = _ACCEPTED
    if not is_alive(world, w):
        return
    if attempt < _PLAIN:
        if strikes(world, D1):
            outcome = _LOST
        elif not world.brokers[broker].up:
            outcome = _REFUSED
        elif chance(world) < a.refusal_rate:
            outcome = _STORED_BUT_REFUSED if below(world, 4) == 0 else _REFUSED
    if outcome in (_ACCEPTED, _STORED_BUT_REFUSED):
        origin = origin_at(world, win.queue, offset)
        # SB-6: the broker counts from what it has stored, whatever the client has counted meanwhile.
        stored = attempt_at(world, win.queue, offset)
        count = min(stored, len(world.rules) - 1)
        send_on(world, broker, origin, stored + 1, world.rules[count].level, world.rules[count].dead, ZERO)
    put(world, a.now + 1, SENT, w, offset, attempt % _PLAIN + outcome * _OUTCOME)


@part
def sent_back(world: Any, w: int, offset: int, attempt: int) -> None:
    """SB-3 to SB-5: the client has its answer; after a refusal it produces the message itself, and if that fails too,
    tries it again on its own after 5 s.
    """
    a = world.all[0]
    win = world.windows[w]
    if not is_alive(world, w):
        return
    outcome = attempt // _OUTCOME
    attempt = attempt % _OUTCOME
    broker: Any = world.queues[win.queue].broker
    _row_of_send_back(world, w, offset, attempt, REQUEST, OK if outcome == _ACCEPTED else NOT_OK, ZERO)
    if outcome != _ACCEPTED:
        count = min(attempt, len(world.rules) - 1)
        level = world.rules[count].fallback_level
        other = (broker + 1) % a.brokers
        if not world.brokers[broker].up:
            broker = other
        origin = origin_at(world, win.queue, offset)
        if outcome == _LOST or not world.brokers[broker].up or below(world, 3) == 0:
            _row_of_send_back(world, w, offset, attempt, FALLBACK, NOT_OK, level)
            if outcome == _LOST:
                note(world, VIOLATION, FAILED, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            elif win.stage == OWNED:
                put(world, a.now + LOCAL, AGAIN, w, offset, attempt + 1)
                return
        else:
            cause = STORED_BUT_REFUSED if outcome == _STORED_BUT_REFUSED else 0
            send_on(world, broker, origin, attempt + 1, level, world.rules[count].fallback_dead, cause)
            _row_of_send_back(world, w, offset, attempt, FALLBACK, OK, level)
    # CC-13: in a dropped window the copy is stored, but the offset stays.
    if win.stage != CLOSED:
        finished(world, w, offset)
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
    if attempt >= _PLAIN:
        deliver(world, w, offset, attempt - _PLAIN, _PLAIN)
        return
    world.done[win.ring][offset & _MASK] = _OPEN
    deliver(world, w, offset, attempt, SUSPENDED if world.all[0].orderly else FAILED_SEND_BACK)


@part
def clean_expired(world: Any, process: int) -> None:
    """PQ-9: the first message of each window is sent back if its listener call runs too long. The offset in memory
    stays, and so does the call.
    """
    a = world.all[0]
    if not world.processes[process].alive:
        return
    w = world.processes[process].first
    while w >= 0:
        win = world.windows[w]
        broker = world.queues[win.queue].broker
        hangs = win.stage == OWNED and win.hung >= 0 and win.hung == win.base
        if hangs and a.now - win.hung_since > a.timeout and world.brokers[broker].up:
            offset = win.base
            attempt = attempt_at(world, win.queue, offset)
            origin = origin_at(world, win.queue, offset)
            row_about(world, EXPIRED, w, offset, attempt)
            count = min(attempt, len(world.rules) - 1)
            send_on(world, broker, origin, attempt + 1, EXPIRY_LEVEL, world.rules[count].dead, RAN_TOO_LONG)
            _row_of_send_back(world, w, offset, attempt, BY_EXPIRY, OK, EXPIRY_LEVEL)
            _remove(world, w, offset)
        w = win.sibling
    put(world, a.now + a.timeout, CLEAN, process, ZERO, ZERO)
