"""Failed messages go back to the broker: by request, by the client as a producer, and when a call takes too long."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, part
from ....model.history import Cause
from ....model.retry_policy import EXPIRY_LEVEL as _EXPIRY_LEVEL
from ...format.kinds import Kind, Path, Result
from .agenda import put
from .broker import send_on
from .catalogue import Bug, Claim
from .codes import NO, ZERO, numbers
from .listener import begin
from .window import PLAIN, finished, is_alive, remove, row_about, row_of_send_back
from .world import AGAIN, CLEAN, CLOSED, OWNED, SENT, VIOLATION, attempt_at, below, chance, note, origin_at, strikes

# How the request of a send-back ends.
_ACCEPTED, _REFUSED, _STORED_BUT_REFUSED, _LOST = numbers(4)
_OUTCOME = 1 << 16
EXPIRY_LEVEL = constant(_EXPIRY_LEVEL)
LOCAL = 5_000
"""CC-12: delay after which a client retries a message on its own after a failed send-back, ms."""


@part
def send_back(world: Any, w: int, offset: int, attempt: int) -> None:
    """SB-14: request 36 reaches the broker, which stores a copy or refuses, or both (SB-7)."""
    a = world.all[0]
    win = world.windows[w]
    broker = world.queues[win.queue].broker
    outcome = _ACCEPTED
    if not is_alive(world, w):
        return
    if attempt < PLAIN:
        if strikes(world, Bug.D1):
            outcome = _LOST
        elif not world.brokers[broker].up:
            outcome = _REFUSED
        elif chance(world) < a.refusal_rate:
            outcome = _STORED_BUT_REFUSED if below(world, 4) == 0 else _REFUSED
    if outcome in (_ACCEPTED, _STORED_BUT_REFUSED):
        origin = origin_at(world, win.queue, offset)
        # SB-6: the broker counts from the value that it has stored, whatever the client has counted meanwhile.
        stored = attempt_at(world, win.queue, offset)
        count = min(stored, len(world.rules) - 1)
        send_on(world, broker, origin, stored + 1, world.rules[count].level, world.rules[count].dead, ZERO)
    put(world, a.now + 1, SENT, w, offset, attempt % PLAIN + outcome * _OUTCOME)


@part
def sent_back(world: Any, w: int, offset: int, attempt: int) -> None:
    """SB-3 to SB-5: the client has its answer; after a refusal it produces the message itself and, if that fails too,
    retries it on its own after 5 s.
    """
    a = world.all[0]
    win = world.windows[w]
    if not is_alive(world, w):
        return
    outcome = attempt // _OUTCOME
    attempt = attempt % _OUTCOME
    broker: Any = world.queues[win.queue].broker
    row_of_send_back(
        world, w, offset, attempt, Path.REQUEST, Result.OK if outcome == _ACCEPTED else Result.FAILED, ZERO
    )
    if outcome != _ACCEPTED:
        count = min(attempt, len(world.rules) - 1)
        level = world.rules[count].fallback_level
        other = (broker + 1) % a.brokers
        if not world.brokers[broker].up:
            broker = other
        origin = origin_at(world, win.queue, offset)
        if outcome == _LOST or not world.brokers[broker].up or below(world, 3) == 0:
            row_of_send_back(world, w, offset, attempt, Path.FALLBACK, Result.FAILED, level)
            if outcome == _LOST:
                note(world, VIOLATION, Claim.FAILED, ZERO, win.queue, win.process, offset, NO, origin, attempt)
            elif win.stage == OWNED:
                put(world, a.now + LOCAL, AGAIN, w, offset, attempt + 1)
                return
        else:
            cause = Cause.STORED_BUT_REFUSED if outcome == _STORED_BUT_REFUSED else 0
            send_on(world, broker, origin, attempt + 1, level, world.rules[count].fallback_dead, cause)
            row_of_send_back(world, w, offset, attempt, Path.FALLBACK, Result.OK, level)
    # CC-13: in a dropped window the copy is stored, but the offset stays.
    if win.stage != CLOSED:
        finished(world, w, offset)
        begin(world, w)


@part
def clean_expired(world: Any, process: int) -> None:
    """PQ-9: the first message of each window is sent back if its listener call runs too long. The in-memory offset
    stays, and the call continues.
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
            row_about(world, Kind.EXPIRE, w, offset, attempt)
            count = min(attempt, len(world.rules) - 1)
            send_on(world, broker, origin, attempt + 1, EXPIRY_LEVEL, world.rules[count].dead, Cause.TIMEOUT)
            row_of_send_back(world, w, offset, attempt, Path.EXPIRED, Result.OK, EXPIRY_LEVEL)
            remove(world, w, offset)
        w = win.sibling
    put(world, a.now + a.timeout, CLEAN, process, ZERO, ZERO)
