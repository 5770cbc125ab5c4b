"""Pulls: what they show about a queue, and pulls that are refused repeatedly."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import constant, int64, part
from ...claims.claims import CODE
from ...clocks.order import apart
from ...encoding.names import BROADCASTING
from ...engine.findings import Doubt
from ...format.kinds import Path, Result
from ..notes import CERTAIN, JUDGED, VIOLATION, finding
from ..terms import QUERY_LIMIT
from .commits import SURE, begin, first_start, retract
from .offset_queries import asks
from .ownership import committer, ended, forgot, is_by_broker, recently_stored, touch
from .queue_state import IN_FLIGHT, PERSISTED, UNKNOWN
from .ranges import UNCOUNTED, add_range, advance

MOST_ILLEGAL = 2
"""PL-23: the repair takes at most one more pull; what is illegal more often in a row is not being corrected."""

_STORED, _SKIPPED = constant(CODE["query-answers-what-is-stored"]), constant(CODE["nothing-skipped"])
_CURRENT, _MENDED = constant(CODE["subscription-is-current"]), constant(CODE["illegal-offset-is-corrected"])
_NONE_CAME = constant(0)


@part
def query(s: Any, q: int, time: int, actor: int, how: Result, offset: int, asked: int) -> None:
    """A client has the answer to its query for the stored offset, sent at ``asked``; negative if not known."""
    slot = s.slots[q]
    told = max(offset, int64(UNKNOWN))
    known = (how == Result.OK and offset >= 0) or how == Result.MISSING
    if known and slot.stored >= 0 and not slot.flags & BROADCASTING:
        _as_stored(s, q, time, actor, told if how == Result.OK else int64(UNKNOWN), asked)
    if how in (Result.OK, Result.MISSING):
        asks(s, q, actor)
        slot.query_actor, slot.query_time = actor, time
        slot.query_stored = slot.stored if slot.stored >= 0 else told  # OF-21: 0 may be the answer if nothing is stored
        slot.query_recent, slot.query_as_of = recently_stored(s, q, time, actor), time
        if slot.earlier <= told < slot.stored:
            # OF-3: the broker may have answered before that was stored, with the answer still under way.
            if 0 <= asked <= slot.stored_time:
                slot.query_stored = slot.query_recent = told
                slot.query_as_of = asked
            elif slot.stored_time >= _asked_at_least(s, q, time, actor, asked):
                slot.query_recent = min(slot.query_recent, told)
    if how == Result.MISSING and slot.low < 0:
        slot.nothing_known = 1
    if how == Result.OK and offset >= 0:
        slot.nothing_known = 0
        begin(s, q, offset, SURE)


@part
def _asked_at_least(s: Any, q: int, time: int, actor: int, asked: int) -> Any:
    """From when on an offset may have been stored after the broker answered, by the clock of its recorder."""
    if asked < 0:
        return time - QUERY_LIMIT
    return asked - apart(s.order, committer(s, q, s.slots[q].stored_actor), actor)


@part
def _as_stored(s: Any, q: int, time: int, actor: int, offset: int, asked: int) -> None:
    """OF-20, OF-21: the answer is what was last stored, unless this was a moment ago, or the broker has changed
    since.

    In the first case the answer may be what was stored shortly before, but nothing older: a client that commits
    repeatedly has always stored something a moment ago. In the second case it may be what the broker had written to its
    file before. ``offset`` is UNKNOWN if the answer was that nothing is stored.
    """
    slot = s.slots[q]
    s.counts[JUDGED, _STORED] += 1
    apart_by = apart(s.order, committer(s, q, slot.stored_actor), actor)
    # OF-8: requests of one client may be served in another order, and a commit may be under way.
    short = IN_FLIGHT + apart_by
    moment = time - slot.stored_time <= short or time - slot.reset_time <= short
    moment = moment or slot.stored_time >= _asked_at_least(s, q, time, actor, asked)
    # PL-23: a client that corrects an illegal offset stores it at once, which its broker may have recorded a moment
    # later.
    moment = moment or (offset == slot.correct_to and time - slot.correct_time <= short)
    began_anew = forgot(s, q, slot.stored_time - PERSISTED, time)
    # What clients record as sent need not have reached their broker.
    is_certain = is_by_broker(s, q, slot.stored_actor)
    is_certain = is_certain and max(apart_by, time - asked if asked >= 0 else 0) <= QUERY_LIMIT
    # Of commits sent over minutes, the broker got some.
    long_ago = min(slot.floor, slot.floor_before)
    lowest = long_ago if began_anew or not is_certain else min(slot.lowest, slot.lowest_before)
    if slot.log_back_to == 0 and slot.log_back_time > slot.stored_time:
        return  # a topic that is created again has new offsets, or those from before
    if offset == slot.stored or ((moment or began_anew) and offset >= lowest):
        return
    # An answer beyond it may have been stored within the skew; after a reset, nobody continues at the earlier offset.
    doubt = CERTAIN if offset < slot.stored or slot.stored_path == Path.RESET else Doubt.SKEW
    row = s.rows[finding(s, _STORED, VIOLATION, doubt, q, time)]
    row.actor, row.since, row.value, row.expected = actor, slot.stored_time, offset, slot.stored
    row.offset, row.until = offset, offset + 1


@part
def pull(s: Any, q: int, time: int, actor: int, offset: int) -> None:
    """A client asks for messages from ``offset`` on."""
    at = touch(s, q, actor, time)
    s.windows[q, at].asked, s.windows[q, at].carries = time, 1
    s.slots[q].pulled = time
    if offset >= 0:
        begin(s, q, offset, SURE)


@part
def pull_result(
    s: Any, q: int, time: int, actor: int, how: Result, offset: int, after: int, low: int, high: int, count: int
) -> None:
    """The broker answers; fields below 0 are not known."""
    slot = s.slots[q]
    at = touch(s, q, actor, time)
    window = s.windows[q, at]
    window.pulls += 1
    window.known, window.carries = slot.stored, not s.terms[0].pull
    slot.pulled = time
    s.counts[JUDGED, _CURRENT] += 1
    s.counts[JUDGED, _MENDED] += 1
    _refused(s, q, time, actor, how)
    _illegal(s, q, time, actor, how, offset, after, low, high)
    if how in (Result.FOUND, Result.NO_MATCHED_MESSAGE, Result.NO_NEW_MESSAGE):
        if offset >= 0:
            begin(s, q, offset, SURE)
        if low >= 0 and slot.started_new >= 0:
            first_start(s, q, time, actor, low)
    if how == Result.NO_MATCHED_MESSAGE and after > offset >= 0:
        _filtered(s, q, time, actor, offset, after, _NONE_CAME)
    elif how == Result.FOUND and after > offset >= 0 and count < after - offset:
        _filtered(s, q, time, actor, offset, after, count if count >= 0 else UNCOUNTED)
    elif how == Result.FOUND and after > offset >= 0 and count > after - offset:
        window.batch = after - count  # PL-26
    if high >= 0 and not _may_be_old(s, q, at, time, actor, high):
        log_ends_at(s, q, time, actor, high)


@part
def log_ends_at(s: Any, q: int, time: int, actor: int, log_end: int) -> None:
    """A pull shows the end of the queue."""
    slot = s.slots[q]
    if 0 <= log_end < slot.log_end:
        slot.log_back_to, slot.log_back_time = log_end, time
    slot.log_end, slot.log_end_time, slot.log_end_actor = log_end, time, actor


@part
def stored(s: Any, q: int, time: int, offset: int) -> None:
    """A copy is stored in a retry queue: it waits there, whether or not anybody pulls."""
    slot = s.slots[q]
    if slot.low < 0:
        slot.first = slot.low = slot.high = offset
    if offset == 0 < slot.log_end:  # its topic was deleted, as with its group, and created again
        log_ends_at(s, q, time, UNKNOWN, int64(1))
        slot.log_back_to = 0
    elif offset >= slot.log_end:
        slot.log_end, slot.log_end_time, slot.log_end_actor = offset + 1, time, UNKNOWN


@part
def _may_be_old(s: Any, q: int, at: int, time: int, actor: int, log_end: int) -> bool:
    """Whether an answer may be from before another client saw a later end; ``at``: the window that pulled."""
    slot, terms = s.slots[q], s.terms[0]
    if log_end >= slot.log_end or actor == slot.log_end_actor:
        return False
    asked = s.windows[q, at].asked if terms.pull else time - IN_FLIGHT
    other = slot.log_end_actor if slot.log_end_actor >= 0 else slot.broker
    return bool(asked <= slot.log_end_time + apart(s.order, other, actor))


@part
def _filtered(s: Any, q: int, time: int, actor: int, offset: int, after: int, count: int) -> None:
    retract(s, q, time, actor, offset, after, _SKIPPED)
    add_range(s, q, offset, after, count)
    at = s.slots[q].ranges
    if at >= 0 and s.ranges[at].begin <= s.slots[q].low:
        advance(s, q, time)
    if count == 0 and offset <= s.slots[q].high < after:
        s.slots[q].high = after


@part
def _refused(s: Any, q: int, time: int, actor: int, how: Result) -> None:
    slot = s.slots[q]
    refused = how in (Result.SUBSCRIPTION_NOT_LATEST, Result.SUBSCRIPTION_NOT_EXIST)
    # ST-5: a broker that restarts knows no client until the next heartbeat.
    anew = slot.refusals and ended(s, q, slot.broker, slot.refused_since, time)
    # PL-16: a refused client asks again after 3 s. If it did not ask for so long, it had given up the queue meanwhile.
    anew = anew or time - slot.refused_until > s.terms[0].heartbeat_limit
    if slot.refusals and (not refused or slot.refuser != actor or anew):
        end_refusals(s, q)
    if refused:
        if slot.refusals == 0:
            slot.refuser, slot.refused_since = actor, time
        slot.refusals += 1
        slot.refused_until = time


@part
def end_refusals(s: Any, q: int) -> None:
    """Pulls are answered again, or the trace ends."""
    slot, terms = s.slots[q], s.terms[0]
    if slot.refusals and slot.refused_until - slot.refused_since > terms.heartbeat_limit:
        row = s.rows[finding(s, _CURRENT, VIOLATION, CERTAIN, q, slot.refused_until)]
        row.since, row.actor, row.value = slot.refused_since, slot.refuser, slot.refusals
        row.expected = terms.heartbeat_limit
    slot.refusals = 0


@part
def _illegal(s: Any, q: int, time: int, actor: int, how: Result, offset: int, after: int, low: int, high: int) -> None:
    slot = s.slots[q]
    illegal = how == Result.OFFSET_ILLEGAL
    if slot.illegals and (not illegal or slot.illegal_actor != actor or slot.illegal_offset != offset):
        end_illegal(s, q)
    if not illegal:
        return
    if slot.illegals == 0:
        slot.illegal_actor, slot.illegal_offset, slot.illegal_since = actor, offset, time
    slot.illegals += 1
    slot.illegal_until = time
    slot.illegal_next = after
    # PL-19: below the beginning it is the beginning, beyond the end the end.
    slot.illegal_should = UNKNOWN
    if 0 <= offset < low:
        slot.illegal_should = low
    elif 0 < high < offset:
        slot.illegal_should = high


@part
def end_illegal(s: Any, q: int) -> None:
    """The request is another one now, or the trace ends."""
    slot = s.slots[q]
    if slot.illegals > MOST_ILLEGAL:
        row = s.rows[finding(s, _MENDED, VIOLATION, CERTAIN, q, slot.illegal_until)]
        row.offset, row.until, row.since = slot.illegal_offset, slot.illegal_offset + 1, slot.illegal_since
        row.actor, row.value, row.expected = slot.illegal_actor, slot.illegals, slot.illegal_next
    slot.illegals = 0
