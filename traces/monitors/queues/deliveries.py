"""Deliveries: what listeners were given, in which order, and with what result."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, hot, int64, part
from ...claims.claims import CODE
from ...encoding.names import BROADCASTING, ORDERLY, RETRY_TOPIC
from ...engine.findings import Doubt
from ...format.kinds import Kind, Result
from ..messages.departures import IS_FAILURE, IS_SUCCESS, departs
from ..notes import CERTAIN, JUDGED, RETRACTION, VIOLATION, finding, note
from .commits import UNSURE, begin, retract
from .ownership import End, ended, touch, window_of
from .pages import LASTING, Flag, find, take
from .queue_state import ALWAYS, UNKNOWN, WINDOWS
from .ranges import advance, has_come
from .repeats import repeated

CALL_LIMIT = 5_000
"""CC-3: time from the last check of a window to the call of the listener, with all hooks in between, ms."""

_REPEATED, _ONE_LISTENER, _IN_ORDER, _UNFINISHED, _SKIPPED, _FAILED = (
    constant(CODE["every-duplicate-has-a-cause"]),
    constant(CODE["orderly-one-listener"]),
    constant(CODE["orderly-in-order"]),
    constant(CODE["offset-never-past-unfinished"]),
    constant(CODE["nothing-skipped"]),
    constant(CODE["failed-message-comes-again"]),
)
_GIVEN_UP = constant(CODE["nothing-after-revoke"])


@hot
def deliver(s: Any, q: int, time: int, actor: int, offset: int, origin: int, attempt: int) -> None:
    """A listener is called with the message at ``offset``."""
    slot, terms = s.slots[q], s.terms[0]
    if slot.low < 0:
        begin(s, q, offset, UNSURE)
    w = touch(s, q, actor, time)
    window = s.windows[q, w]
    at = take(s, q, offset)
    cell = s.cells[at]
    s.counts[JUDGED, _REPEATED] += 1
    _after_revoke(s, q, w, time, actor, offset)
    if s.slots[q].flags & ORDERLY:
        _in_order(s, q, w, at, time, actor, offset)
        if not s.slots[q].flags & BROADCASTING:
            _one_listener(s, q, w, time, actor, offset)
    if cell.flags & Flag.DELIVERED:
        repeated(s, q, w, at, time, actor, offset, origin, attempt)
    if not (cell.flags & Flag.RUNNING and cell.actor == actor):
        window.running += 1
    window.called = time
    first = cell.flags & Flag.DELIVERED == 0
    if not first and cell.actor != actor:
        cell.flags |= Flag.SHARED
    cell.flags = (cell.flags & LASTING) | Flag.DELIVERED | Flag.RUNNING
    if not terms.send_back:
        cell.flags &= ~Flag.ELSEWHERE
    cell.actor = actor
    cell.time = time
    if offset >= slot.high:
        slot.high = offset + 1
    if first:
        if time - slot.passed_time <= terms.widest:
            retract(s, q, time, actor, offset, offset + 1, _SKIPPED)
        if slot.ranges >= 0 and has_come(s, q, offset):
            advance(s, q, time)
    if not terms.result:
        # Results are not recorded: being delivered is then all that can be required.
        cell.flags |= Flag.DONE
        if offset == slot.low:
            advance(s, q, time)


@hot
def result(s: Any, q: int, time: int, actor: int, offset: int, origin: int, how: Result) -> Any:
    """The listener has returned. Returns 1 if, according to the recording, it cannot have been given the message."""
    slot, terms = s.slots[q], s.terms[0]
    at = take(s, q, offset)
    cell = s.cells[at]
    w = window_of(s, q, actor)
    if w >= 0:
        window = s.windows[q, w]
        window.running = max(window.running - 1, 0)
        window.seen = window.returned = time
    latest = cell.actor == actor or cell.flags & Flag.DELIVERED == 0
    uncaused = _is_unheard_of(s, at, actor)
    succeeded = IS_SUCCESS[how]
    if time - slot.passed_time <= terms.widest:
        retract(s, q, time, actor, offset, offset + 1, _UNFINISHED)
        if succeeded:
            retract(s, q, time, actor, offset, offset + 1, _FAILED)
    if s.slots[q].flags & ORDERLY:
        # By other clocks it may have been over when another listener was called.
        for n in range(WINDOWS):
            other = s.windows[q, n]
            if other.actor >= 0 and other.actor != actor and abs(time - other.called) <= terms.widest:
                row = s.rows[note(s, _ONE_LISTENER, RETRACTION, q, time)]
                row.offset, row.actor = UNKNOWN, actor
    if latest:
        cell.flags &= ~Flag.RUNNING
    if succeeded:
        cell.flags |= Flag.OK | Flag.DONE
    else:
        if origin != 0 and departs(Kind.RESULT, how, s.slots[q].flags, terms.send_back):
            cell.flags |= Flag.ELSEWHERE
        if latest:
            _not_consumed(s, q, w, at, offset, how)
    if offset == slot.low:
        advance(s, q, time)
    return uncaused


@part
def _is_unheard_of(s: Any, at: int, actor: int) -> Any:
    """1 if, according to the recording, a process cannot have been given the message of cell ``at``."""
    cell = s.cells[at]
    return int64(cell.flags & Flag.DELIVERED == 0 or (cell.actor != actor and cell.flags & Flag.SHARED == 0))


@part
def _not_consumed(s: Any, q: int, w: int, at: int, offset: int, how: Result) -> None:
    cell = s.cells[at]
    if not IS_FAILURE[how]:
        cell.flags |= Flag.RETURNED
    elif s.slots[q].flags & BROADCASTING and not s.slots[q].flags & ORDERLY:
        cell.flags |= Flag.DROPPED | Flag.DONE
    elif s.slots[q].flags & ORDERLY:
        cell.flags |= Flag.SUSPENDED
        if w >= 0 and (s.windows[q, w].again < 0 or offset < s.windows[q, w].again):
            s.windows[q, w].again = offset
    else:
        cell.flags |= Flag.FAILED


@part
def send_back(s: Any, q: int, time: int, actor: int, offset: int, origin: int, how: Result) -> None:
    """The message is sent back, or this fails (SB-5)."""
    slot = s.slots[q]
    cell = s.cells[take(s, q, offset)]
    if origin != 0 and departs(Kind.SEND_BACK, how, slot.flags, s.terms[0].send_back):
        cell.flags |= Flag.ELSEWHERE
    if how == Result.OK:
        cell.flags |= Flag.SENT_BACK | Flag.DONE
        if cell.actor == actor:
            cell.flags &= ~Flag.REFUSED
        retract(s, q, time, actor, offset, offset + 1, _FAILED)
        w = window_of(s, q, actor)
        if w >= 0 and s.windows[q, w].again == offset:
            s.windows[q, w].again = _next_put_off(s, q, w, offset + 1)
        if offset == slot.low:
            advance(s, q, time)
    elif cell.actor == actor:
        cell.flags |= Flag.REFUSED


@part
def expire(s: Any, q: int, time: int, actor: int, offset: int, origin: int) -> Any:
    """The client cleans a message whose listener runs too long (PQ-9). Returns 1 if it cannot have been given the
    message.

    A retry that its client sent itself has the property by which its last call is timed (SB-8).
    """
    at = take(s, q, offset)
    cell = s.cells[at]
    uncaused = 0 if s.slots[q].flags & RETRY_TOPIC else _is_unheard_of(s, at, actor)
    cell.flags |= Flag.EXPIRED
    if origin != 0 and departs(Kind.EXPIRE, Result.NONE, s.slots[q].flags, s.terms[0].send_back):
        cell.flags |= Flag.ELSEWHERE
    if not s.terms[0].send_back:
        cell.flags |= Flag.DONE
        if offset == s.slots[q].low:
            advance(s, q, time)
    return uncaused


@part
def discard(s: Any, q: int, actor: int, offset: int) -> None:
    """The queue was dropped meanwhile: the result is ignored (CC-9)."""
    at = find(s, q, offset)
    if at >= 0 and s.cells[at].actor == actor:
        flags = s.cells[at].flags
        if flags & Flag.RUNNING:
            w = window_of(s, q, actor)
            if w >= 0:
                s.windows[q, w].running = max(s.windows[q, w].running - 1, 0)
        s.cells[at].flags = (flags & ~(Flag.RUNNING | Flag.REFUSED | Flag.SUSPENDED)) | Flag.RETURNED


@part
def _after_revoke(s: Any, q: int, w: int, time: int, actor: int, offset: int) -> None:
    """CC-3, OR-3: a call may begin a moment after the drop, if its last check of the window was before the drop.

    The one thread of an orderly queue checks the window again after each call.
    """
    window = s.windows[q, w]
    s.counts[JUDGED, _GIVEN_UP] += 1
    is_checked = s.slots[q].flags & ORDERLY != 0 and window.returned > window.until
    is_late = is_checked or time - window.until > CALL_LIMIT
    if window.how == End.REVOKED and window.until < ALWAYS and is_late:
        row = s.rows[finding(s, _GIVEN_UP, VIOLATION, CERTAIN, q, time)]
        row.offset, row.until, row.since, row.actor = offset, offset + 1, window.until, actor
        row.value, row.expected = time - window.until, CALL_LIMIT


@part
def _one_listener(s: Any, q: int, w: int, time: int, actor: int, offset: int) -> None:
    """OR-11: no listener of another client runs on the queue."""
    terms = s.terms[0]
    s.counts[JUDGED, _ONE_LISTENER] += 1
    for n in range(WINDOWS):
        other = s.windows[q, n]
        if other.actor < 0 or other.actor == actor or other.running <= 0:
            continue
        if ended(s, q, other.actor, other.called, time):
            other.running = 0
            continue
        doubt = 0
        if not terms.client_crash:
            doubt |= Doubt.EVIDENCE
        row = s.rows[finding(s, _ONE_LISTENER, VIOLATION, doubt, q, time)]
        row.offset, row.until, row.since = offset, offset + 1, other.called
        row.actor, row.other, row.value = actor, other.actor, other.running


@part
def _in_order(s: Any, q: int, w: int, at: int, time: int, actor: int, offset: int) -> None:
    """OR-3, PQ-5: in a window, messages that were put off come first, then larger offsets, gaps or not."""
    terms, window = s.terms[0], s.windows[q, w]
    s.counts[JUDGED, _IN_ORDER] += 1
    expected = window.next
    wrong = False
    if window.again >= 0 and offset > window.again:
        wrong = True
        expected = window.again
        window.again = UNKNOWN
    elif window.again == offset:
        window.again = _next_put_off(s, q, w, offset + 1)
    elif offset < window.next and s.cells[at].flags & Flag.DELIVERED == 0:
        wrong = True
    if wrong:
        row = s.rows[finding(s, _IN_ORDER, VIOLATION, CERTAIN, q, time)]
        row.offset, row.until, row.since = offset, offset + 1, max(window.called, terms.begin)
        row.actor, row.other, row.value, row.expected = actor, actor, offset, expected
    window.next = max(window.next, offset + 1)


@part
def _next_put_off(s: Any, q: int, w: int, offset: int) -> Any:
    """The next message of a batch that was put off; UNKNOWN if there is none."""
    window = s.windows[q, w]
    while offset < window.next:
        at = find(s, q, offset)
        if at >= 0 and s.cells[at].flags & Flag.SUSPENDED and s.cells[at].actor == window.actor:
            return offset
        if at < 0 or s.cells[at].flags & Flag.SENT_BACK == 0:
            return UNKNOWN
        offset += 1
    return UNKNOWN
