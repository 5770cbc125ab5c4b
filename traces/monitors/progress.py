"""Progress: queues with messages left that stand still, and why."""

from __future__ import annotations

import enum
from typing import Any

from ..claims.claims import CODE
from ..engine.findings import Doubt
from ..format.kinds import Path, codes
from ..machine_code.compiled import constant, hot, int64, part
from .ownership import VISIT, ended, settle
from .pages import DELIVERED, DONE, EXPIRED, RUNNING, find
from .queue_state import NEVER, UNKNOWN, WINDOWS
from .rows import CERTAIN, VIOLATION, finding


class Reason(enum.IntEnum):
    """Why a queue stands still; rows of ``every-queue-moves`` have it in ``value``."""

    UNKNOWN = 0
    NO_OWNER = 1  # nobody has the queue (A2, A7, A9)
    NO_PULLS = 2  # its owner does not pull (A9, E1, F1)
    PINNED = 3  # message ``offset`` is not finished by ``other``, and what lies behind it has to wait (F4)
    NOT_LOCKED = 4  # its owner cannot lock it at the broker (E4)
    REFUSED = 5  # its owner's pulls are refused: subscription or offset (A2, A4, G4)
    NOT_COMMITTED = 6  # all is finished up to ``offset``, and the stored offset ``expected`` does not follow (B8)


LONGEST_CALL = 1_800_000
"""PQ-9: a call that outlasts the consume timeout of 15 minutes is found after 30 minutes at the latest, ms."""

_MOVES = constant(CODE["every-queue-moves"])
_SKEW, _EVIDENCE = constant(Doubt.SKEW), constant(Doubt.EVIDENCE)
_NO_REASON, _NO_OWNER, _NO_PULLS, _PINNED, _NOT_LOCKED, _REFUSED, _NOT_COMMITTED = (
    constant(reason) for reason in Reason
)
_PATH = codes(Path)
_PERIODIC, _PIGGYBACK = _PATH[Path.PERIODIC], _PATH[Path.PIGGYBACK]


@hot
def moved(s: Any, q: int, time: int) -> None:
    """A message of the queue was given to a listener, or finished."""
    slot = s.slots[q]
    if time - slot.moved > s.terms[0].stuck:
        look(s, q, time)
    slot.moved = time


@part
def look(s: Any, q: int, time: int) -> None:
    """Nothing has moved for long: whether something should have."""
    slot, terms = s.slots[q], s.terms[0]
    if slot.behind != NEVER and time - max(slot.moved, slot.behind) > terms.stuck:
        _stood_still(s, q, time)
        return
    # Nothing waits for its first delivery for long, but something may be unfinished.
    at = find(s, q, slot.low) if slot.low >= 0 else UNKNOWN
    if at < 0 or s.cells[at].flags & DELIVERED == 0 or s.cells[at].flags & DONE:
        return
    if s.cells[at].flags & RUNNING:
        hung(s, q, at, slot.low, time)
    elif time - max(slot.moved, s.cells[at].time) > terms.stuck:
        _pinned(s, q, at, slot.low, max(slot.moved, s.cells[at].time), time)


@part
def hung(s: Any, q: int, at: int, offset: int, time: int) -> None:
    """The listener runs with the message of cell ``at``, or has done so until now: whether that is too long."""
    cell = s.cells[at]
    too_long = time - cell.time > LONGEST_CALL and cell.flags & (DONE | EXPIRED) == 0
    # A process that ended since may have had it in its listener all the same: what counts is that it lived so long.
    if too_long and not ended(s, int64(cell.actor), cell.time, cell.time + LONGEST_CALL):
        _pinned(s, q, at, offset, cell.time, time)


@part
def _pinned(s: Any, q: int, at: int, offset: int, since: int, time: int) -> None:
    _stuck_row(s, q, since, time, _PINNED, UNKNOWN, offset, int64(s.cells[at].actor), CERTAIN)


@part
def log_ends_at(s: Any, q: int, time: int, actor: int, log_end: int) -> None:
    """A pull tells how far the queue reaches."""
    slot = s.slots[q]
    if 0 <= log_end < slot.log_end:
        slot.log_back_to, slot.log_back_time = log_end, time
    slot.log_end, slot.log_end_time, slot.log_end_actor = log_end, time, actor
    if log_end > slot.high >= 0:
        if slot.behind == NEVER:
            slot.behind = time
    else:
        slot.behind = NEVER


@part
def stored(s: Any, q: int, time: int, offset: int) -> None:
    """A copy is stored in a retry queue: it waits there, whether or not somebody pulls."""
    slot = s.slots[q]
    if slot.low < 0:
        slot.first = slot.low = slot.high = offset
    if offset >= slot.log_end:
        slot.log_end, slot.log_end_time, slot.log_end_actor = offset + 1, time, UNKNOWN
    if slot.behind == NEVER and slot.log_end > slot.high:
        slot.behind = time


@part
def follows(s: Any, q: int, time: int, actor: int) -> None:
    """The owner is at work: whether the stored offset has followed what is finished (OF-6: every 5 s)."""
    slot, terms = s.slots[q], s.terms[0]
    if slot.uncommitted == NEVER or slot.told or time - slot.uncommitted <= terms.stuck:
        return
    if slot.stored_path != _PERIODIC and slot.stored_path != _PIGGYBACK:
        return
    slot.told = 1
    _stuck_row(s, q, slot.uncommitted, time, _NOT_COMMITTED, actor, slot.low, UNKNOWN, CERTAIN)


@part
def _stood_still(s: Any, q: int, time: int) -> None:
    slot, terms = s.slots[q], s.terms[0]
    if slot.told:
        return
    settle(s, q, time)
    since = max(slot.moved, slot.behind)
    owner = UNKNOWN
    for n in range(WINDOWS):
        window = s.windows[q, n]
        late = since + terms.rounds
        if window.actor >= 0 and window.implied != VISIT and window.since <= late < window.until:
            owner = window.actor
    low = find(s, q, slot.low)
    pinned = low >= 0 and s.cells[low].flags & DELIVERED and s.cells[low].flags & DONE == 0
    pulls = slot.pulled > since + terms.skew
    doubt = 0
    if not (terms.pull or terms.pull_result):
        doubt = _EVIDENCE
    if terms.assign and owner < 0:
        _stuck_row(s, q, since, time, _NO_OWNER, UNKNOWN, slot.high, UNKNOWN, doubt)
    elif slot.lock_failed >= since:
        _stuck_row(s, q, since, time, _NOT_LOCKED, owner, slot.high, UNKNOWN, doubt)
    elif slot.refused_until >= since or slot.illegal_until >= since:
        _stuck_row(s, q, since, time, _REFUSED, owner, slot.high, UNKNOWN, doubt)
    elif pinned:
        _stuck_row(s, q, since, time, _PINNED, owner, slot.low, int64(s.cells[low].actor), doubt)
    elif not pulls:
        # Without ownership nobody knows whether there was a client at all.
        none = 0 if terms.assign else _EVIDENCE
        _stuck_row(s, q, since, time, _NO_PULLS, owner, slot.high, UNKNOWN, doubt | none)
    else:
        _stuck_row(s, q, since, time, _NO_REASON, owner, slot.high, UNKNOWN, doubt)


@part
def _stuck_row(
    s: Any, q: int, since: int, time: int, reason: int, actor: int, offset: int, other: int, doubt: int
) -> None:
    slot = s.slots[q]
    row = s.rows[finding(s, _MOVES, VIOLATION, doubt, q, time)]
    row.offset, row.until, row.since = offset, slot.log_end, since
    row.actor, row.other, row.value, row.expected = actor, other, reason, slot.stored


@part
def finish_progress(s: Any, q: int) -> None:
    """The trace ends; whoever waits is told once more."""
    look(s, q, s.terms[0].end)
