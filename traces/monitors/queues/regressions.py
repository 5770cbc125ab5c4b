"""Regressions: why the stored offset of a queue goes back.

The broker's cell is overwritten by every commit that arrives (OF-20), so a decrease is explained by a complete list of
reasons (:class:`....model.history.Regression`).
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, part
from ....model.history import Regression
from ...claims.claims import CODE
from ...clocks.order import apart
from ...encoding.names import BROADCASTING
from ...engine.context import CRASHED, FAILED_OVER, RESTARTED
from ...engine.findings import Doubt
from ...format.kinds import Path
from ..notes import finding
from .offset_queries import is_about_to_take
from .ownership import committer, ended, forgot, has_failed_over, owners, settle, window_of
from .queue_state import ALWAYS, IN_FLIGHT, UNKNOWN, WINDOWS

BACK = constant(CODE["offset-never-back-without-cause"])

MENDING = constant(10_000 + IN_FLIGHT)
"""PL-23: how long after the answer a client stores the offset that it was given instead of an illegal one, ms."""


@part
def goes_back(s: Any, q: int, time: int, actor: int, client: int, path: Path, offset: int) -> None:
    """The stored offset becomes smaller: record it with its reason, or as a violation."""
    slot, terms = s.slots[q], s.terms[0]
    settle(s, q, time)
    reason = _why_back(s, q, time, actor, client, path, offset)
    doubt = 0
    if reason == Regression.CORRECTED and not terms.pull_result:
        # B2: whether the answer to which the client corrected is right cannot be seen.
        reason, doubt = 0, Doubt.EVIDENCE
    elif reason == 0:
        other = committer(s, q, slot.stored_actor)
        near = time - slot.stored_time <= apart(s.order, other, committer(s, q, actor))
        if actor != slot.stored_actor and near and offset >= slot.recent:
            doubt |= Doubt.SKEW
        if s.slots[q].flags & BROADCASTING:
            # OF-1: whether the file still existed when its client restarted is not recorded.
            since = slot.stored_time - apart(s.order, actor, committer(s, q, slot.stored_actor))
            doubt |= Doubt.EVIDENCE if ended(s, q, slot.stored_actor, since, time) else 0
        elif not (terms.assign and terms.revoke):
            doubt |= Doubt.EVIDENCE
        if _may_be_old(s, q, actor, client, offset):
            doubt |= Doubt.SKEW if terms.offset_query else Doubt.EVIDENCE
        if path == Path.PIGGYBACK and actor == slot.stored_actor and client and not terms.pull_result:
            doubt |= Doubt.EVIDENCE
    row = s.rows[finding(s, BACK, reason, doubt, q, time)]
    row.offset, row.until, row.since = offset, slot.stored, slot.stored_time
    row.actor, row.other, row.value, row.expected = actor, slot.stored_actor, offset, slot.stored
    slot.back_from, slot.back_to, slot.back_time = slot.stored, offset, time
    slot.back_actor, slot.back_reason = actor, reason


@part
def is_misled(s: Any, q: int, offset: int) -> bool:
    """PL-19: whether a broker's answer sent a client to that offset in a queue that begins, or ends, elsewhere.

    B2: the broker answers an offset that is too large with its beginning.
    """
    slot = s.slots[q]
    return bool(slot.illegal_should >= 0 and slot.illegal_should != offset and slot.illegal_next == offset)


@part
def _why_back(s: Any, q: int, time: int, actor: int, client: int, path: Path, offset: int) -> Any:
    """The reason from the complete list; 0 for none."""
    slot, terms = s.slots[q], s.terms[0]
    since = slot.stored_time - apart(s.order, actor, committer(s, q, slot.stored_actor))
    if path == Path.RESET or (slot.reset_time >= since and slot.reset_to <= offset):
        return Regression.RESET
    # PL-23: it stores the offset that it was given 10 s ago, and only then reports the correction.
    near = MENDING + apart(s.order, actor, slot.illegal_actor)
    is_told = slot.illegal_actor == actor and slot.illegal_next == offset and time - slot.illegal_until <= near
    if path == Path.CORRECTION or (slot.correct_time >= since and slot.correct_to <= offset) or (client and is_told):
        return 0 if is_misled(s, q, offset) else Regression.CORRECTED
    if slot.log_back_time >= since and slot.log_back_to <= offset:
        return Regression.RECREATED
    if s.slots[q].flags & BROADCASTING:
        # If a client died, its backup is read, which is older (OF-10).
        return Regression.BROKER_RESTART if ended(s, q, slot.stored_actor, since, time) == CRASHED else 0
    how = forgot(s, q, since, time)
    if how == RESTARTED:
        return Regression.BROKER_RESTART
    # OF-4: some clients switch to the new master sooner than others.
    if how == FAILED_OVER or has_failed_over(s, s.slots[q].broker, since - terms.rounds, time):
        return Regression.FAIL_OVER
    # OF-23: a broker that was stopped in an orderly way begins with what it had.
    if path == Path.REPLICA or path == Path.FILE or not (terms.assign and terms.revoke):
        return 0
    return _why_another(s, q, time, actor if client else UNKNOWN, path, offset)


@part
def _why_another(s: Any, q: int, time: int, writer: int, path: Path, offset: int) -> Any:
    """OVERLAP or LATE_COMMIT, if windows of the queue show them, otherwise 0; ``writer`` may be UNKNOWN."""
    slot, terms = s.slots[q], s.terms[0]
    if writer >= 0 and _is_told_before(s, q, time, writer, offset):
        return Regression.OVERLAP
    at = window_of(s, q, writer) if writer >= 0 else UNKNOWN
    owner = at >= 0 and s.windows[q, at].until == ALWAYS
    if owner and 0 <= s.windows[q, at].start <= offset < s.windows[q, at].recent:
        # B1, B4: it started lower than what was stored.
        return 0
    for n in range(WINDOWS):
        window = s.windows[q, n]
        if window.actor >= 0 and window.until == ALWAYS and (writer < 0 or window.actor == writer):
            base = window.base if window.base < 0 or window.recent < 0 else min(window.base, window.recent)
            wrote = committer(s, q, slot.stored_actor)
            raised = slot.stored_time >= window.base_time - apart(s.order, wrote, window.actor)
            if raised and offset >= base and (slot.stored_actor != window.actor or owners(s, q) > 1):
                return Regression.OVERLAP
    for n in range(WINDOWS):
        window = s.windows[q, n]
        its = window.actor >= 0 and window.until < ALWAYS and (writer < 0 or window.actor == writer)
        # Its last commit, or its last but one, overtaken by those of others, or of its own next window. What it read
        # of its memory before is no lower than what it had stored itself by its last pull.
        is_older = writer == slot.stored_actor and offset < window.known
        if its and not is_older and time - window.until <= (IN_FLIGHT if owner else terms.rounds):
            return Regression.LATE_COMMIT
    # Two commits of one client, by different pools of the broker (OF-8).
    if (writer == slot.stored_actor or writer < 0) and time - slot.stored_time <= IN_FLIGHT and offset >= slot.earlier:
        return Regression.LATE_COMMIT
    is_own = path == Path.PIGGYBACK and writer == slot.stored_actor and terms.pull_result
    if is_own and _is_carried(s, q, writer, offset):
        return Regression.LATE_COMMIT
    return 0


@part
def _is_told_before(s: Any, q: int, time: int, writer: int, offset: int) -> bool:
    """RB-40, OF-6: whether the writer has queried the queue, and overwrites with its answer what came meanwhile.

    A rebalance pass queries one queue after the other, each of which is in the table from its answer on, and its
    windows begin once all are there: ``RebalanceImpl#updateProcessQueueTableInRebalance``.
    """
    slot = s.slots[q]
    if slot.stored_actor == writer or not is_about_to_take(s, q, writer, time):
        return False
    meanwhile = slot.query_as_of - apart(s.order, committer(s, q, slot.stored_actor), writer)
    is_told = min(slot.query_stored, slot.query_recent) <= offset <= slot.query_stored
    return bool(is_told and (slot.stored_time >= meanwhile or offset < slot.query_stored))


@part
def _is_carried(s: Any, q: int, writer: int, offset: int) -> bool:
    """PL-14, OF-8: whether the pull that carries an offset may have read it long before it was sent.

    A thread reads the in-memory offset after the answer to the previous pull, and sends it when it gets to run.
    """
    at = window_of(s, q, writer)
    return bool(at >= 0 and s.windows[q, at].carries and offset >= s.windows[q, at].known)


@part
def _may_be_old(s: Any, q: int, actor: int, client: int, offset: int) -> bool:
    """Whether the writer's query may have been answered with what was stored a short time before."""
    at = window_of(s, q, actor) if client else UNKNOWN
    if at < 0:
        return False
    window = s.windows[q, at]
    return bool(window.base > offset >= window.recent)
