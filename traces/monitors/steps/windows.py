"""A process takes a queue (with the lock, if it is orderly), and gives it up; an operator sets its offset."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.steps import Misstep
from ...encoding.names import BROADCASTING, ORDERLY
from ...format.kinds import Path, Result
from ..terms import NEVER
from .limits import mend
from .listeners import tell_if_not_handed
from .offsets import tell_if_passed_over
from .pulls import POLL, RENEWED, is_answered
from .state import APART, AT_END, LATE, SILENCE, UNKNOWN, note_misstep

STUCK = 8_000
"""How long an owned queue may go without a pull; ms."""

STUCK_ORDERLY = RENEWED + 5_000
"""The same for an orderly group, whose pulls wait for a broker that does not answer, or for the lock (OR-1, F6): a
client before 4.9.5 does not know that it has the lock until it renews it; ms.
"""

UNLOCKS = 20_000
"""How much later older clients unlock unfinished queues (``RebalancePushImpl#UNLOCK_DELAY_TIME_MILLS``); ms."""


@part
def take(t: Any, n: int, offset: int) -> None:
    """A window begins at the offset that the broker answered."""
    line = t.lines[n]
    now = line.last
    tell_if_unstored(t, n, now)
    line.calls = 0
    if line.has == 1 and line.mended < 0:
        note_misstep(t, n, Misstep.TAKEN_TWICE, now, UNKNOWN, UNKNOWN)
    if t.flags[line.slot] & BROADCASTING == 0:
        line.behind = UNKNOWN  # RB-40: the in-memory offset is removed before the stored offset is queried
        if not line.queried and (line.window > 0 or t.terms[0].complete):
            note_misstep(t, n, Misstep.NO_QUERY, now, UNKNOWN, UNKNOWN)
        elif line.answer >= 0 and offset >= 0 and offset != line.answer and offset != line.mended:
            note_misstep(t, n, Misstep.OTHER_START, now, offset, line.answer)
    is_reset = line.has == 0 and line.left_by == Path.RESET and line.reset_to >= 0
    if is_reset and offset not in (UNKNOWN, line.reset_to) and not _is_had_by_another(t, n):
        note_misstep(t, n, Misstep.NOT_SET, line.left_at, offset, line.reset_to)
    if t.flags[line.slot] & ORDERLY and t.flags[line.slot] & BROADCASTING == 0:
        known = line.locked != NEVER or t.terms[0].complete
        without = known and (line.locked == NEVER or line.locked < line.unlocked - APART)
        # A shutdown gives back all locks at once, even of a queue that a pass has locked and is about to take.
        without = without and not (line.queried and NEVER < line.locked <= line.answered_at <= line.unlocked)
        if without or (line.refused_at != NEVER and now - line.refused_at < t.terms[0].lock_life):
            note_misstep(t, n, Misstep.NOT_LOCKED, now, offset, UNKNOWN)
        elif line.queried and NEVER < line.answered_at < line.got_at:
            note_misstep(t, n, Misstep.ASKED_UNLOCKED, line.answered_at, offset, UNKNOWN)
    tell_if_kept(t, n, now)
    line.given_back = line.kept = line.in_vain = NEVER
    line.taken_at = now
    line.stood = line.stands = line.present = UNKNOWN
    line.owed, line.idle = 0, 0  # CC-13: no offset was set for messages that left the previous window after its end
    if line.asked >= 0:
        line.late += 1
    line.window += 1
    line.has, line.asked, line.position, line.queried, line.start = 1, UNKNOWN, offset, 0, UNKNOWN
    line.low, line.brought, line.led, line.whole = offset, UNKNOWN, UNKNOWN, UNKNOWN
    line.idle_since = now
    line.watched = line.unsent = line.last_held = UNKNOWN
    line.held = 0


@part
def _is_had_by_another(t: Any, n: int) -> bool:
    """Whether another process has the queue, or has had it since this one gave it up, and may store its own offset."""
    line = t.lines[n]
    other = int64(t.latest[line.slot, 1])
    while other >= 0:
        one = t.lines[other]
        if other != n and (one.has == 1 or one.left_at > line.left_at - t.terms[0].widest):
            return True
        other = int64(one.beside)
    return False


@part
def tell_if_unstored(t: Any, n: int, until: int) -> None:
    """Check whether the offset of a queue that was given up was stored by ``until``, or soon after it was given up."""
    line = t.lines[n]
    # A pull that waits for so long shows that the broker does not answer (PL-22).
    has_answered = line.asked_at_leave == NEVER or line.left_at - line.asked_at_leave < POLL
    if line.unstored >= 0 and until - line.left_at > SILENCE + t.terms[0].widest and has_answered:
        if t.flags[line.slot] & BROADCASTING:
            note_misstep(t, n, Misstep.NOT_WRITTEN, line.left_at, line.unstored - 1, line.unstored)
        else:
            note_misstep(t, n, Misstep.LEFT_UNSTORED, line.left_at, line.unstored - 1, line.unstored)
    line.unstored = UNKNOWN


@part
def tell_if_kept(t: Any, n: int, until: int) -> None:
    """Check whether the lock of a queue that was given up was not given back by ``until``, nor soon after."""
    line = t.lines[n]
    # OR-9: clients before 5.2 keep the lock for as long as a listener runs.
    if line.kept != NEVER and line.calls == 0 and until - line.kept > UNLOCKS + SILENCE:
        note_misstep(t, n, Misstep.NOT_UNLOCKED, line.kept, UNKNOWN, UNKNOWN)


@part
def give_up(t: Any, n: int, path: Path) -> None:
    """The window ends."""
    line = t.lines[n]
    tell_if_not_handed(t, n)
    tell_if_passed_over(t, n)
    line.watched = UNKNOWN
    # Messages of earlier windows may never have left them, but a window that was not pulled yet has none.
    is_empty = (line.taken >= line.found or line.idle_since == line.taken_at) and line.refused_at == NEVER
    longest = STUCK_ORDERLY if t.flags[line.slot] & ORDERLY else STUCK
    idle_since = int64(line.idle_since)
    if line.asked >= 0 and line.late == 0 and line.last - line.asked_at > POLL + APART:
        # PL-22: a pull that nothing is heard of is given up after 30 s, and another one sent. This one was not.
        idle_since = line.asked_at + POLL
    if line.has == 1 and idle_since != NEVER and line.last - idle_since > longest and is_empty:
        note_misstep(t, n, Misstep.NOT_PULLED_ON, idle_since, line.position, UNKNOWN)
    line.idle_since = NEVER
    began = max(line.taken_at, line.asked_at)
    if path == Path.EXPIRED and line.has == 1 and line.pulled and line.last - began < t.terms[0].idle - APART:
        note_misstep(t, n, Misstep.IDLE_EARLY, began, UNKNOWN, UNKNOWN)
    is_asked = path in (Path.REMOVAL, Path.SHUTDOWN) and line.has == 1 and line.mended < 0 and not t.waits[line.slot]
    # A thread may set the in-memory offset while another one stores it; but then something is stored, before or after.
    is_stored_once = path == Path.REMOVAL and not t.flags[line.slot] & ORDERLY and line.removing == NEVER
    is_late = is_stored_once and max(line.sent, line.answer) >= 0
    if is_asked and line.behind >= 0 and (line.last - line.behind_at > APART or is_late):
        line.unstored = line.behind
        if t.missteps[n, Misstep.LEFT_UNSTORED].time == NEVER and t.missteps[n, Misstep.NOT_WRITTEN].time == NEVER:
            line.unstored_at = line.behind_at
        line.asked_at_leave = line.asked_at if line.asked >= 0 else NEVER
    if path == Path.RESET:
        note_misstep(t, n, Misstep.NEVER_RESET, line.last, UNKNOWN, UNKNOWN)
    elif path == Path.CORRECTION:
        mend(t, n, UNKNOWN)
    elif path == Path.LOCK and t.flags[line.slot] & ORDERLY == 0:
        note_misstep(t, n, Misstep.OTHER_REASON, line.last, UNKNOWN, UNKNOWN)
    if line.has == 0:
        note_misstep(t, n, Misstep.NOT_HAD, line.left_at, UNKNOWN, UNKNOWN)
    if line.given_back != NEVER and line.last - line.given_back > t.terms[0].lock_life:
        note_misstep(t, n, Misstep.UNLOCKED_EARLY, line.given_back, UNKNOWN, UNKNOWN)
    is_locked = line.locked != NEVER and line.unlocked < line.locked and line.refused_at == NEVER
    if is_locked and line.has == 1 and t.flags[line.slot] & ORDERLY and t.flags[line.slot] & BROADCASTING == 0:
        # A process that ends unlocks everything first, and its last pass may take and lock a queue again after that.
        if path == Path.REMOVAL:
            line.kept = line.last
        elif path == Path.SHUTDOWN and line.unlocked < line.taken_at < line.last - LATE:
            note_misstep(t, n, Misstep.NOT_UNLOCKED, line.last, UNKNOWN, int64(Path.SHUTDOWN))
    line.given_back = NEVER
    line.has, line.left_at, line.left_by, line.behind, line.astray = 0, line.last, path, UNKNOWN, 0
    line.position, line.owed, line.idle, line.removing = UNKNOWN, 0, 0, NEVER


@part
def reset(t: Any, q: int, offset: int) -> None:
    """An operator sets the offset: all owners of the queue may continue from there."""
    t.waits[q] = True  # OF-22: the broker accepts no offset until a client has learnt of the reset
    n = t.latest[q, 1]
    while n >= 0:
        line = t.lines[n]
        line.mended, line.position, line.memory = offset, UNKNOWN, UNKNOWN
        line.stood = line.stands = line.present = UNKNOWN
        line.behind = line.unstored = line.watched = UNKNOWN
        line.reset_to = offset  # OF-31: a client sets it 10 s after it has dropped the queue
        n = line.beside


@part
def query(t: Any, n: int, status: Result, offset: int) -> None:
    """The broker's answer about the stored offset."""
    line = t.lines[n]
    line.in_vain = NEVER
    if is_answered(status):
        line.queried = 1
    line.answer, line.answered_at = offset if status == Result.OK else UNKNOWN, line.last
    # PL-11: an orderly window, which queries again, may begin at what by then is the end of the queue.
    line.start = AT_END if status == Result.MISSING and t.flags[line.slot] & ORDERLY else line.answer


@part
def lock(t: Any, n: int, status: Result) -> None:
    """The broker grants the lock of a queue, or refuses it."""
    line = t.lines[n]
    if t.flags[line.slot] & ORDERLY == 0:
        note_misstep(t, n, Misstep.OTHER_REASON, line.last, UNKNOWN, UNKNOWN)
    line.renewed_at, line.overdue_at = line.last, NEVER
    tell_if_locked_for_nothing(t, n)
    if status == Result.OK:
        other = int64(t.latest[line.slot, 1])
        while other >= 0:
            one = t.lines[other]
            # If its life is not stated, a lock lasts at least from one renewal to the next, as two of them have shown.
            renewed = int64(one.renewed_within) if one.renews > 2 else int64(0)
            life = int64(t.terms[0].lock_life) if t.terms[0].lock_life_told else renewed
            ends = one.locked + life - APART - t.terms[0].widest
            # RB-33: clients do not wait for an unlock, which the broker may handle after a request that was sent later.
            is_held = one.locked != NEVER and one.unlocked < one.locked - APART
            if other != n and is_held and line.last < ends:
                note_misstep(t, n, Misstep.LOCKED_TWICE, one.locked, UNKNOWN, one.actor)
            other = one.beside
        if line.locked == NEVER or line.unlocked >= line.locked or line.refused_at != NEVER:
            line.got_at = line.last
        else:
            # A longer interval is one that is configured, or logs do not record each time.
            passed = line.last - line.locked
            line.renews = line.renews + 1 if passed <= RENEWED else 0
            # The first round for all locks may come soon after the queue was taken.
            line.renewed_within = min(int64(line.renewed_within), passed) if line.renews > 2 else passed
        # ST-8: a client that unlocks all queues in order to stop locks none of them in the rounds that follow.
        if line.has == 1 and line.given_back != NEVER and line.last - line.given_back > LATE:
            note_misstep(t, n, Misstep.UNLOCKED_EARLY, line.given_back, UNKNOWN, UNKNOWN)
        # OR-9: a 4.x client locks a queue that it has dropped until its listener has returned and it is unlocked; and
        # a round for all locks that is under way may still lock a queue that has just been unlocked.
        if line.has == 0 and line.in_vain == NEVER and line.last - LATE > line.unlocked >= line.left_at - APART:
            line.in_vain = line.last
        line.locked, line.refused_at, line.told_refused = line.last, NEVER, NEVER
    elif status == Result.ERROR:
        line.tried_at = line.last
    else:
        _tell_if_free(t, n)
        # OR-9: only the round for all locks, every 20 s, affects the window.
        if line.refused_at != NEVER and line.last - line.refused_at > RENEWED:
            line.told_refused = line.last
        if line.refused_at == NEVER:
            line.refused_at = line.last


@part
def tell_if_locked_for_nothing(t: Any, n: int) -> None:
    """Check whether a process has locked a queue that it does not have, and has not begun to take it since."""
    line = t.lines[n]
    if line.in_vain != NEVER and line.last - line.in_vain > LATE:
        note_misstep(t, n, Misstep.LOCKED_LEFT, line.in_vain, UNKNOWN, UNKNOWN)


@part
def _tell_if_free(t: Any, n: int) -> None:
    """Check whether a lock is refused that was given back or has run out a while ago, and that nobody has got since;
    or that the client has itself, as no lock ends before it is due for renewal.
    """
    line = t.lines[n]
    slack = LATE + t.terms[0].widest
    since, whose = NEVER, UNKNOWN
    is_own = line.unlocked < line.locked and line.last - line.locked < RENEWED
    if is_own:
        since, whose, slack = int64(line.locked), int64(line.actor), int64(APART)
    other = int64(t.latest[line.slot, 1])
    while other >= 0:
        one = t.lines[other]
        # A broker may have granted a request whose answer was lost.
        tried = other != n and one.unlocked < one.tried_at
        if is_own and other != n and one.locked > since - APART - t.terms[0].widest:
            return
        if tried and (not t.terms[0].lock_life_told or line.last - one.tried_at - t.terms[0].lock_life <= slack):
            return
        if one.locked != NEVER and one.unlocked < one.locked:
            over = one.locked + t.terms[0].lock_life
            if other != n and not is_own and (not t.terms[0].lock_life_told or line.last - over <= slack):
                return
            if other != n and not is_own and over > since:
                since, whose = over, UNKNOWN
        elif one.locked != NEVER and not is_own and one.unlocked > since:
            since, whose = int64(one.unlocked), int64(one.actor)
        other = one.beside
    if since == NEVER and line.refused_at != NEVER and t.terms[0].lock_life_told:
        # Whoever had it before the recording began, or by a request of which nothing is known, did not renew it.
        since = int64(line.refused_at + t.terms[0].lock_life)
    if since != NEVER and line.last - since > slack:
        note_misstep(t, n, Misstep.REFUSED_FREE, since, UNKNOWN, whose)
        # The longer it goes on, the more evidence there is that the broker answers.
        found = t.missteps[n, Misstep.REFUSED_FREE]
        if found.since == since and found.expected == whose and line.last - since <= t.terms[0].lock_life:
            found.time = line.last


@part
def lose(t: Any, n: int) -> None:
    """The process finds that it no longer has the lock."""
    line = t.lines[n]
    line.unlocked = line.lost_at = line.last
    if line.overdue_at != NEVER and line.last - line.overdue_at > 2 * APART and line.has == 1:
        note_misstep(t, n, Misstep.NOT_RENEWED, line.renewed_at, UNKNOWN, UNKNOWN)


@part
def unlock(t: Any, n: int) -> None:
    """The process gives the lock back."""
    line = t.lines[n]
    # OR-9: a thread that gives up a queue waits for its listener, or until 20 s after the lock was last renewed.
    if line.has == 0 and line.calls > 0 and NEVER < line.locked and line.last - line.locked < UNLOCKS - APART:
        note_misstep(t, n, Misstep.UNLOCKED_BUSY, line.last, line.called, UNKNOWN)
    line.unlocked, line.kept = line.last, NEVER
    other = int64(t.latest[line.slot, 1])
    while other >= 0:
        # Two clients act by two clocks: the one that got the lock may seem to have been a little earlier.
        found = t.missteps[other, Misstep.LOCKED_TWICE]
        if found.time != NEVER and found.expected == line.actor and line.last - found.time <= APART + t.terms[0].widest:
            found.time = NEVER
        other = t.lines[other].beside
    # OR-9: it may also be the late unlock of an earlier window, of which the present one knows nothing.
    if line.has == 1 and line.given_back == NEVER and line.last - line.left_at > 2 * UNLOCKS:
        line.given_back = line.last
