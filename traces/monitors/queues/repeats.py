"""Repeats: why a message is delivered again from its queue.

The answer is a cause from the complete list (:class:`....model.history.Cause`), derived from what happened between the
two deliveries. A new window explains messages at or above the offset that was stored when it queried where to start,
and none below it (B1).
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, int64, part
from ....model.history import Cause, Regression
from ...claims.claims import CODE
from ...claims.presupposed import Unexplained
from ...clocks.order import apart
from ...encoding.names import BROADCASTING, ORDERLY
from ...engine.context import CRASHED, FAILED_OVER, RESTARTED, STOPPED
from ...engine.findings import Doubt
from ...format.kinds import Path
from ..notes import finding
from .ownership import VISIT, committer, ended, forgot, settle
from .pages import Flag
from .queue_state import UNKNOWN, WINDOWS

_REPEATED = constant(CODE["every-duplicate-has-a-cause"])


@part
def repeated(s: Any, q: int, w: int, at: int, time: int, actor: int, offset: int, origin: int, attempt: int) -> Any:
    """Record that the message of cell ``at`` comes again in window ``w``; returns the cause."""
    settle(s, q, time)
    cell = s.cells[at]
    cause, doubt = _why(s, q, w, at, time, actor, offset)
    if cause == Cause.NONE and _not_recorded(s, q, at, actor):
        doubt |= Doubt.EVIDENCE
    row = s.rows[finding(s, _REPEATED, cause, doubt, q, time)]
    row.origin, row.offset, row.until, row.since = origin, offset, offset + 1, cell.time
    row.actor, row.other, row.value, row.expected = actor, cell.actor, attempt, s.windows[q, w].base
    if cause == Cause.NONE:
        window = s.windows[q, w]
        if 0 <= window.start <= offset < window.base:
            row.value = Unexplained.TOLD
        else:
            row.value = Unexplained.FAILED if _may_try_again(s, q, at, actor) else Unexplained.OTHER
    return cause


@part
def _why(s: Any, q: int, w: int, at: int, time: int, actor: int, offset: int) -> Any:
    """The cause and the doubt about it; NONE with a doubt if only the order of two clocks contradicts a cause."""
    slot, terms, cell, window = s.slots[q], s.terms[0], s.cells[at], s.windows[q, w]
    own = cell.actor == actor
    since = cell.time if own else cell.time - apart(s.order, actor, int64(cell.actor))
    # Events that others have recorded.
    around = cell.time - apart(s.order, committer(s, q, actor), int64(cell.actor))
    if own and cell.flags & Flag.SUSPENDED:
        return Cause.SUSPENDED, 0
    if own and cell.flags & Flag.REFUSED:
        return Cause.FAILED_SEND_BACK, 0
    if slot.reset_time >= around and slot.reset_to <= offset:
        return Cause.RESET, 0
    if slot.correct_time >= since and slot.correct_to <= offset:
        return Cause.OFFSET_CORRECTED, 0
    if slot.log_back_time >= around and slot.log_back_to <= offset:
        return Cause.BROKER_RESTART, 0
    new = terms.assign and window.implied == 0 and window.since >= since
    if new and 0 <= window.batch <= offset < window.start:
        return _how_lost(s, q, w, at, time, actor), 0  # PL-26: it began within a batch, which came as a whole
    if new:
        cause = _went_back(s, q, w, at, around, offset)
        if cause != Cause.NONE:
            return cause, 0
        if window.base >= 0 and offset < window.base:
            how = forgot(s, q, since, time)
            if how in (RESTARTED, FAILED_OVER) and not slot.flags & BROADCASTING:
                return Cause.BROKER_RESTART, 0
            if slot.flags & BROADCASTING and not own:
                # OF-1: whether the previous process's file still existed is not recorded.
                return Cause.NONE, Doubt.EVIDENCE
            if slot.flags & BROADCASTING and not terms.offsets_kept and _has_left(s, q, w, at):
                # OF-10: whether the file still had this queue is not recorded.
                return Cause.NONE, Doubt.EVIDENCE
            if offset >= window.recent:
                return Cause.NONE, Doubt.SKEW if terms.offset_query else Doubt.EVIDENCE
            return Cause.NONE, 0
        return _how_lost(s, q, w, at, time, actor), 0
    how = ended(s, q, int64(cell.actor), since, time)
    if not own and terms.assign and _shared(s, q, w, at) and (how == 0 or window.implied == 0):
        return _how_lost(s, q, w, at, time, actor), 0
    if how == CRASHED:
        return Cause.CRASH, 0
    if how == STOPPED:
        return Cause.SHUTDOWN, 0
    if cell.flags & Flag.EXPIRED:
        return Cause.TIMEOUT, 0
    return Cause.NONE, 0


@part
def _went_back(s: Any, q: int, w: int, at: int, since: int, offset: int) -> Any:
    """The cause, if the stored offset went back over the message before window ``w`` queried it, otherwise NONE.

    Messages that were not finished would have come again anyway, and so would those that the window of the last
    delivery did not store.
    """
    slot, cell, window = s.slots[q], s.cells[at], s.windows[q, w]
    if cell.flags & (Flag.RUNNING | Flag.FAILED | Flag.REFUSED | Flag.SUSPENDED | Flag.RETURNED):
        return Cause.NONE
    until = window.since + apart(s.order, window.actor, committer(s, q, slot.back_actor))
    if not since <= slot.back_time <= until or not slot.back_to <= offset < slot.back_from:
        return Cause.NONE
    if slot.back_reason == Regression.RESET:
        return Cause.RESET
    if slot.back_reason == Regression.CORRECTED:
        return Cause.OFFSET_CORRECTED
    if slot.back_reason in (Regression.OVERLAP, Regression.LATE_COMMIT):
        return Cause.NONE if slot.back_actor == cell.actor else Cause.OFFSET_WENT_BACK
    return Cause.BROKER_RESTART if slot.back_reason != 0 else Cause.NONE


@part
def _before(s: Any, q: int, w: int, at: int) -> Any:
    """The window of the earlier delivery; UNKNOWN if it is not remembered."""
    cell = s.cells[at]
    best = UNKNOWN
    for n in range(WINDOWS):
        window = s.windows[q, n]
        its = n != w and window.actor == cell.actor and window.since <= cell.time
        if its and (best < 0 or window.since > s.windows[q, best].since):
            best = n
    return best


@part
def _has_left(s: Any, q: int, w: int, at: int) -> bool:
    """Whether the process that had the message gave the queue up by rebalance, before it took it again."""
    before = _before(s, q, w, at)
    return bool(before >= 0 and s.windows[q, before].path == Path.REMOVAL)


@part
def _how_lost(s: Any, q: int, w: int, at: int, time: int, actor: int) -> Any:
    """How the earlier deliverer lost the queue to the window ``w``, if it did."""
    cell = s.cells[at]
    before = _before(s, q, w, at)
    if before < 0:
        how = ended(s, q, int64(cell.actor), cell.time, time)
        return Cause.CRASH if how == CRASHED else Cause.SHUTDOWN if how == STOPPED else Cause.REBALANCE
    window = s.windows[q, before]
    if window.until > time:
        return Cause.REBALANCE if cell.actor == actor else Cause.OVERLAP
    if window.how == CRASHED:
        return Cause.CRASH
    if window.how == STOPPED or window.path == Path.SHUTDOWN:
        return Cause.SHUTDOWN
    if window.path == Path.RESET:
        return Cause.RESET
    if window.path == Path.CORRECTION:
        return Cause.OFFSET_CORRECTED
    return Cause.REBALANCE


@part
def _shared(s: Any, q: int, w: int, at: int) -> bool:
    """Whether the window of the earlier delivery and window ``w`` were open at the same time."""
    before = _before(s, q, w, at)
    if before < 0:
        return False
    one, two = s.windows[q, before], s.windows[q, w]
    if one.implied == VISIT or two.implied == VISIT:
        return False
    begun = one.since <= two.until + apart(s.order, two.actor, one.actor)
    return bool(begun and two.since <= one.until + apart(s.order, one.actor, two.actor))


@part
def _not_recorded(s: Any, q: int, at: int, actor: int) -> bool:
    """Whether something that may explain it would not have been recorded."""
    terms, cell = s.terms[0], s.cells[at]
    if s.slots[q].flags & BROADCASTING:
        # Its queues have the same owner for ever; it begins anew only with a restart.
        owned = terms.client_start or terms.client_stop or terms.client_crash or terms.assign
    else:
        owned = terms.assign
    if not owned:
        return True
    if cell.actor == actor and s.slots[q].flags & ORDERLY:
        return bool(not terms.result)
    return bool(_may_try_again(s, q, at, actor) and not terms.send_back)


@part
def _may_try_again(s: Any, q: int, at: int, actor: int) -> bool:
    """Whether the process has failed with the message: it retries what cannot be sent back (SB-5)."""
    cell = s.cells[at]
    if cell.actor != actor or s.slots[q].flags & ORDERLY:
        return False
    return bool(cell.flags & Flag.FAILED or (cell.flags & Flag.RUNNING and not s.terms[0].result))
