"""Ownership: who has a queue from when to when, how long two have it, or nobody, and who takes it again and again.

A window begins with an ``assign`` and ends with a ``revoke`` or with its process. If a trace begins in mid-run, or has
no assigns, pulls and deliveries show a window too: it is *implied*, and claims about owners are not judged by it alone.
"""

from __future__ import annotations

import enum
from typing import Any

from ....machine_code.compiled import constant, hot, int64, part
from ...claims.claims import CODE
from ...clocks.order import apart
from ...encoding.names import ORDERLY
from ...engine.context import CRASHED, FAILED_OVER, REOPENED, RESTARTED, STOPPED
from ...engine.findings import Doubt, Note
from ...format.kinds import Path
from ..notes import CERTAIN, JUDGED, NO_CLAIM, RETRACTION, VIOLATION, finding, note
from ..terms import NEVER, QUERY_LIMIT
from .offset_queries import is_about_to_take
from .queue_state import ALWAYS, LONG_PULL, UNKNOWN, WINDOWS


@enum.unique
class End(enum.IntEnum):
    """How a window ended; rows with note OWNERSHIP have it in ``expected``."""

    OPEN = 0  # it had not ended when the trace ended
    STOPPED = STOPPED  # its process stopped in an orderly way
    CRASHED = CRASHED  # its process died
    REVOKED = 5  # the client gave up the queue; ``value`` is the code of the path
    AGAIN = 6  # the client took the queue again without having given it up


_ONLY_OWNERS = constant(CODE["only-owners-commit"])
_OVERLAPS, _OWNED, _FLAPPING = (
    constant(CODE["overlaps-are-short"]),
    constant(CODE["every-queue-gets-an-owner"]),
    constant(CODE["no-flapping"]),
)

SEVERAL = constant(3)
"""A client with this many answers to pulls, or with any recorded pull, is one whose pulls are recorded."""

EXPLICIT, IMPLIED, VISIT = constant(0), constant(1), constant(2)
"""How a window is known: by its assign, or by what its client does; a visitor does not own the queue."""

NO_PATH = constant(0)


@part
def end_of(s: Any, q: int, actor: int, since: int) -> Any:
    """The position of the first end of a process, for the group of a queue, at or after a time; UNKNOWN if none."""
    if actor < 0:
        return UNKNOWN
    for at in range(s.actors[actor].ends, s.actors[actor + 1].ends):
        group = s.ends[at].group
        if s.ends[at].time >= since and (group < 0 or group == s.slots[q].group):
            return at
    return UNKNOWN


@part
def ended(s: Any, q: int, actor: int, since: int, until: int) -> Any:
    """How a process first ended, for the group of a queue, in ``since`` … ``until``; 0 if it did not."""
    at = end_of(s, q, actor, since)
    return s.ends[at].how if at >= 0 and s.ends[at].time <= until else 0


@part
def forgot(s: Any, q: int, since: int, until: int) -> Any:
    """How the broker of a queue first ended in ``since`` … ``until`` so that it may have lost offsets; 0 if it did not.

    OF-20: it writes all that it has when it is stopped, but what clients record as sent need not have reached it.
    """
    slot = s.slots[q]
    first = end_of(s, q, int64(slot.broker), since)
    if first < 0:
        return 0
    for at in range(first, s.actors[slot.broker + 1].ends):
        how = s.ends[at].how
        if s.ends[at].time <= until and (how != REOPENED or not is_by_broker(s, q, slot.stored_actor)):
            return RESTARTED if how == REOPENED else how
    return 0


@part
def has_failed_over(s: Any, broker: int, since: int, until: int) -> bool:
    """Whether another process became the master of a broker in ``since`` … ``until``."""
    if broker < 0:
        return False
    for at in range(s.actors[broker].ends, s.actors[broker + 1].ends):
        if s.ends[at].how == FAILED_OVER and since <= s.ends[at].time <= until:
            return True
    return False


@hot
def window_of(s: Any, q: int, actor: int) -> Any:
    """The open window of an actor, otherwise its latest one; UNKNOWN if none is remembered."""
    at = s.slots[q].window
    windows = s.windows[q]
    if at >= 0 and windows[at].actor == actor and windows[at].until == ALWAYS:
        return at
    best = UNKNOWN
    for n in range(WINDOWS):
        if windows[n].actor == actor and (best < 0 or windows[n].until > windows[best].until):
            best = n
    if best >= 0:
        s.slots[q].window = best
    return best


@part
def owners(s: Any, q: int) -> Any:
    """Number of open windows of a queue."""
    count = 0
    for n in range(WINDOWS):
        if s.windows[q, n].actor >= 0 and s.windows[q, n].until == ALWAYS:
            count += 1
    return count


@part
def settle(s: Any, q: int, time: int) -> None:
    """End the windows of a queue whose processes ended before or at ``time``, in the order of their ends."""
    while True:
        first, when, how = UNKNOWN, ALWAYS, 0
        for n in range(WINDOWS):
            window = s.windows[q, n]
            if window.actor >= 0 and window.until == ALWAYS:
                at = end_of(s, q, window.actor, window.since)
                if at >= 0 and s.ends[at].time <= time and s.ends[at].time < when:
                    first, when, how = n, s.ends[at].time, s.ends[at].how
        if first < 0:
            return
        close(s, q, first, when, how, NO_PATH)


@hot
def touch(s: Any, q: int, actor: int, time: int) -> Any:
    """The window in which an actor now pulls or calls its listener; an implied one if none is known."""
    at = window_of(s, q, actor)
    resumed = s.actors[actor].resumed
    if at >= 0 and s.windows[q, at].until <= resumed <= time:
        at = UNKNOWN  # it may have taken the queue in an unrecorded time
    if at < 0:
        slot, terms = s.slots[q], s.terms[0]
        # Owners from before the trace, or from a gap in their recording, show up soon; later, a client without an
        # assign does not own the queue. If the trace is complete, nobody owns a queue from before it.
        begin = max(resumed, terms.begin) if resumed <= time else int64(terms.begin)
        early = slot.explicit == 0 or time - begin <= terms.rounds
        early = early and not (terms.complete and terms.assign and begin == terms.begin)
        at = _free(s, q)
        _fill(s, q, at, actor, begin if early else time, UNKNOWN, IMPLIED if early else VISIT)
        if not early:
            s.windows[q, at].until = time
        elif time - begin > terms.rounds:
            # It may answer a pull from a window before the trace: this does not show that it had the queue until now.
            s.windows[q, at].woke = time
    window = s.windows[q, at]
    if _alive_until(window) < time:
        window.woke = time
    window.seen = time
    return at


@part
def assign(s: Any, q: int, time: int, actor: int, start: int) -> None:
    """A client takes a queue, and starts at ``start``; UNKNOWN if that is not known."""
    slot = s.slots[q]
    settle(s, q, time)
    if time - slot.stored_time <= apart(s.order, committer(s, q, actor), actor):
        # By the broker's clock its first commits came before; they come with its first pulls.
        row = s.rows[note(s, _ONLY_OWNERS, RETRACTION, q, time)]
        row.offset, row.other = UNKNOWN, actor
        row.actor = actor if is_by_broker(s, q, actor) else UNKNOWN
    if slot.unowned != NEVER and owners(s, q) == 0:
        _without_owner(s, q, time, actor)
    slot.unowned = NEVER
    slot.explicit = 1
    s.counts[JUDGED, _OWNED] += 1
    s.counts[JUDGED, _FLAPPING] += 1
    s.counts[JUDGED, _OVERLAPS] += 1
    _count_flaps(s, q, time, actor)
    at = window_of(s, q, actor)
    if at >= 0 and s.windows[q, at].until == ALWAYS:
        close(s, q, at, time, End.AGAIN, NO_PATH)
        slot.unowned = NEVER
    at = _free(s, q)
    _fill(s, q, at, actor, time, start, EXPLICIT)
    window = s.windows[q, at]
    if is_about_to_take(s, q, actor, time):
        window.base, window.recent, window.base_time = slot.query_stored, slot.query_recent, slot.query_as_of
    else:
        window.base, window.recent, window.base_time = slot.stored, recently_stored(s, q, time, actor), time
    if slot.query_actor == actor:
        slot.query_actor = UNKNOWN
    if slot.nothing_known:
        slot.nothing_known = 0
        slot.started_new = start


@part
def is_by_broker(s: Any, q: int, actor: int) -> bool:
    """Whether the broker of a queue records an actor's commits."""
    return bool(s.slots[q].commits_by >= 0 and s.actors[actor].sends == 0)


@part
def committer(s: Any, q: int, actor: int) -> Any:
    """The recorder of an actor's commits: its broker, or itself."""
    return s.slots[q].commits_by if is_by_broker(s, q, actor) else actor


@part
def recently_stored(s: Any, q: int, time: int, actor: int) -> Any:
    """The lowest stored offset in a short time before ``time``: by an actor's clock it may be the one that counted."""
    slot = s.slots[q]
    short = apart(s.order, committer(s, q, slot.stored_actor), actor)
    if not s.terms[0].offset_query:
        short = max(short, QUERY_LIMIT)
    if time - slot.stored_time <= short:
        return min(slot.recent, slot.stored)
    return slot.stored


@part
def revoke(s: Any, q: int, time: int, actor: int, path: int) -> None:
    """A client gives up a queue."""
    settle(s, q, time)
    at = window_of(s, q, actor)
    s.slots[q].explicit = 1
    if at < 0:
        at = _free(s, q)
        _fill(s, q, at, actor, s.terms[0].begin, UNKNOWN, IMPLIED)
    window = s.windows[q, at]
    if window.until == ALWAYS:
        if _alive_until(window) < time:
            window.woke = time
        close(s, q, at, time, End.REVOKED, path)


@part
def close(s: Any, q: int, at: int, time: int, how: int, path: int) -> None:
    """A window ends, or the trace does."""
    window, terms = s.windows[q, at], s.terms[0]
    if terms.assign:
        row = s.rows[note(s, NO_CLAIM, Note.OWNERSHIP, q, time)]
        row.since, row.actor, row.offset = window.since, window.actor, window.start
        row.value, row.expected = path, how
    still = 0
    for n in range(WINDOWS):
        other = s.windows[q, n]
        if n != at and other.actor >= 0 and other.until == ALWAYS:
            still += 1
            if terms.assign:
                _overlap(s, q, at, n, time)
    if how != End.OPEN and still == 0:
        s.slots[q].unowned = max(s.slots[q].unowned, time)
    window.until = time
    window.how = how
    window.path = path
    if how in (STOPPED, CRASHED):
        window.running = 0


@part
def _overlap(s: Any, q: int, first: int, second: int, time: int) -> None:
    terms = s.terms[0]
    old, new = s.windows[q, first], s.windows[q, second]
    if old.since > new.since or (old.since == new.since and old.actor > new.actor):
        old, new = new, old
    until = time
    if old.implied != EXPLICIT:
        until = min(until, old.seen)
    if new.implied != EXPLICIT:
        until = min(until, new.seen)
    until = min(until, _alive_until(old), _alive_until(new))
    # A process that stands still, for example paused or in garbage collection, learns nothing until it continues.
    length = until - max(new.since, old.woke, new.woke)
    if old.actor == new.actor or length <= terms.rounds:
        return
    doubt = 0
    if length - terms.rounds <= apart(s.order, new.actor, old.actor):
        doubt |= Doubt.SKEW
    if not terms.client_crash and min(old.seen, new.seen) <= new.since + terms.rounds:
        doubt |= Doubt.EVIDENCE
    row = s.rows[finding(s, _OVERLAPS, VIOLATION, doubt, q, until)]
    row.since, row.actor, row.other = new.since, new.actor, old.actor
    row.value, row.expected, row.late = length, terms.rounds, length - terms.rounds


@part
def _alive_until(window: Any) -> Any:
    """Until when a process is known not to stand still, by its latest sign; for ever if its pulls are not recorded."""
    return window.seen + LONG_PULL if window.pulls >= SEVERAL or window.asked != NEVER else ALWAYS


@part
def _without_owner(s: Any, q: int, time: int, actor: int) -> None:
    """Nobody had the queue for too long; :mod:`.group_life` checks at the end whether its group was alive."""
    slot, terms = s.slots[q], s.terms[0]
    last, limit = UNKNOWN, terms.rounds
    for n in range(WINDOWS):
        window = s.windows[q, n]
        if window.actor >= 0 and window.until == slot.unowned and window.how != End.OPEN:
            last = window.actor
            if window.how == CRASHED:
                limit = terms.rounds + terms.silent_death
    if s.slots[q].flags & ORDERLY:
        limit = max(limit, terms.rounds + terms.lock_life)
    if time - slot.unowned <= limit:
        return
    doubt = 0
    if actor != last and time - slot.unowned - limit <= apart(s.order, last, actor):
        doubt |= Doubt.SKEW
    row = s.rows[finding(s, _OWNED, VIOLATION, doubt, q, time)]
    row.since, row.actor, row.other = slot.unowned, actor, last
    row.value, row.expected, row.late = time - slot.unowned, limit, time - slot.unowned - limit


@part
def _count_flaps(s: Any, q: int, time: int, actor: int) -> None:
    slot, terms = s.slots[q], s.terms[0]
    before = UNKNOWN
    for n in range(WINDOWS):
        window = s.windows[q, n]
        past = window.actor >= 0 and window.until < ALWAYS and window.implied != VISIT
        if past and (before < 0 or window.until >= s.windows[q, before].until):
            before = n
    again = False
    if before >= 0 and owners(s, q) == 0:
        window = s.windows[q, before]
        meant = window.path == Path.RESET or window.path == Path.CORRECTION
        meant = meant or window.path == Path.SHUTDOWN or window.path == Path.UNSUBSCRIBE
        # PQ-11: a queue that is not pulled is dropped after `stuck`, and taken again by the next round.
        soon = time - max(window.since, slot.flaps_until) <= 2 * terms.stuck + terms.rounds
        again = window.actor == actor and window.how == End.REVOKED and not meant and soon
    if not again or slot.flapper != actor:
        end_flaps(s, q)
    if again:
        if slot.flaps == 0:
            slot.flaps_since = time
        slot.flapper = actor
        slot.flaps += 1
        slot.flaps_until = time


@part
def end_flaps(s: Any, q: int) -> None:
    """Another client takes the queue, or the same client after a long time, or the trace ends."""
    slot, terms = s.slots[q], s.terms[0]
    if slot.flaps > terms.flaps:
        row = s.rows[finding(s, _FLAPPING, VIOLATION, CERTAIN, q, slot.flaps_until)]
        row.since, row.actor = slot.flaps_since, slot.flapper
        row.value, row.expected = slot.flaps, terms.flaps
    slot.flapper = UNKNOWN
    slot.flaps = 0
    slot.flaps_until = NEVER


@part
def _free(s: Any, q: int) -> Any:
    """A place for a new window: a free one, or that of the window that ended first, or of the oldest."""
    best = 0
    for n in range(WINDOWS):
        window, worst = s.windows[q, n], s.windows[q, best]
        if window.actor < 0:
            return n
        if (window.until, window.since) < (worst.until, worst.since):
            best = n
    return best


@part
def _fill(s: Any, q: int, at: int, actor: int, since: int, start: int, implied: int) -> None:
    window = s.windows[q, at]
    window.actor, window.since, window.until, window.start = actor, since, ALWAYS, start
    window.how, window.path, window.implied, window.running = 0, 0, implied, 0
    window.base, window.recent, window.base_time = UNKNOWN, UNKNOWN, since
    window.seen, window.called, window.asked, window.next, window.again = since, NEVER, NEVER, UNKNOWN, UNKNOWN
    window.woke, window.returned, window.pulls, window.batch = NEVER, NEVER, 0, UNKNOWN
    window.known, window.carries = start, not s.terms[0].pull
    s.slots[q].window = at


@part
def finish_ownership(s: Any, q: int) -> None:
    """The trace ends."""
    slot, terms = s.slots[q], s.terms[0]
    settle(s, q, terms.end)
    end_flaps(s, q)
    if slot.unowned != NEVER and owners(s, q) == 0:
        _without_owner(s, q, terms.end, UNKNOWN)
    for n in range(WINDOWS):
        window = s.windows[q, n]
        if window.actor >= 0 and window.until == ALWAYS:
            close(s, q, n, terms.end, End.OPEN, NO_PATH)
