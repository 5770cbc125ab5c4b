"""Pulls of windows: sent, delayed by flow control, held at the broker, answered."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import part
from ...format.kinds import Kind, Path, Result
from .agenda import put
from .broker import GRACE
from .catalogue import Bug, Claim
from .codes import NO, ZERO
from .commits import commit
from .listener import begin
from .rows import C
from .window import DONE, MASK, OPEN, is_alive, row_of
from .world import JUMPED, OWNED, PARKED, PULL, REPLY, VIOLATION, below, is_filtered, note, strikes

BATCH = 32
SCANNED = 256
MOST_CACHED, MOST_SPAN = 1_000, 2_000
HOLD, HIDE, LONG_POLL = 50, 1_000, 15_000


@part
def pull(world: Any, w: int) -> None:
    """PL-3 to PL-14: a window asks for more, unless it has too much."""
    a = world.all[0]
    win = world.windows[w]
    if win.stage != OWNED or not is_alive(world, w):
        return
    if win.cached > MOST_CACHED or win.next - win.base > MOST_SPAN:
        if win.held % 1_000 == 0:
            i = row_of(world, Kind.FLOW_CONTROL, w)
            world.rows[C.path, i] = Path.COUNT if win.cached > MOST_CACHED else Path.SPAN
        win.held += 1
        put(world, a.now + HOLD, PULL, w, ZERO, ZERO)
        return
    win.ticket += 1
    q = world.queues[win.queue]
    i = row_of(world, Kind.PULL, w)
    world.rows[C.offset, i] = win.next
    if not world.brokers[q.broker].up:
        i = row_of(world, Kind.PULL_RESULT, w)
        world.rows[C.offset, i] = win.next
        world.rows[C.result, i] = Result.ERROR
        put(world, a.now + HIDE, PULL, w, ZERO, ZERO)
        return
    if win.memory > 0 and win.memory != win.sent and not a.broadcasting:
        commit(world, w, Path.PIGGYBACK)
    if q.end > win.next:
        put(world, a.now + 1 + below(world, 3), REPLY, w, win.ticket, ZERO)
    else:
        win.waiting = 1
        win.next_parked = q.parked
        q.parked = w
        put(world, a.now + LONG_POLL, PARKED, w, win.ticket, ZERO)


@part
def give_up_waiting(world: Any, w: int, ticket: int) -> None:
    """PL-22: a pull was held for 15 s, and nothing has come."""
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
    """PL-19, PL-23: the answer to a pull; that for a dropped window is not used (PL-24)."""
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
        found > 0 and win.stage == OWNED and not q.retry and win.cached == 0 and strikes(world, Bug.B8)
    )
    if fixed:
        if win.hung != -2:
            a.until = max(a.until, a.now + 150_000 + GRACE)
            note(world, VIOLATION, Claim.STUCK, ZERO, win.queue, win.process, asked, NO, ZERO, ZERO)
            win.hung = -2
        found = 0
    i = row_of(world, Kind.PULL_RESULT, w)
    rows = world.rows
    rows[C.offset, i] = asked
    rows[C.next, i] = end
    rows[C.min, i] = 0
    rows[C.max, i] = q.end
    rows[C.count, i] = found
    rows[C.result, i] = Result.FOUND if found else (Result.NO_MATCHED_MESSAGE if end > asked else Result.NO_NEW_MESSAGE)
    if win.stage != OWNED:
        return
    if fixed:
        # The pulls continue, but the in-memory offset does not move.
        win.next, win.base, win.top, win.begun = end, end, end, end
        put(world, a.now, PULL, w, ZERO, ZERO)
        return
    ring = world.done[win.ring]
    if found:
        if win.cached == 0:
            win.base = asked
            win.top = asked
        if not q.retry and win.cached == 0 and strikes(world, Bug.B9):
            note(world, VIOLATION, Claim.SKIPPED, ZERO, win.queue, win.process, asked, end, ZERO, ZERO)
            note(world, JUMPED, NO, ZERO, win.queue, win.process, asked, end, ZERO, ZERO)
            for offset in range(asked, end):
                ring[offset & MASK] = DONE
            found = 0
        else:
            for offset in range(asked, end):
                if is_filtered(world, win.queue, offset):
                    ring[offset & MASK] = DONE
                else:
                    ring[offset & MASK] = OPEN
                    win.top = offset + 1
            win.cached += found
    else:
        for offset in range(asked, end):
            ring[offset & MASK] = DONE
        if win.cached == 0 and win.memory < end:
            win.memory = end
    win.next = end
    begin(world, w)
    put(world, a.now, PULL, w, ZERO, ZERO)
