"""Commits: who stores an offset of a queue, and what it passes.

Everything below the stored offset must be finished (PQ-2, CC-12, CC-13); :mod:`.regressions` handles why it goes back.
"""

from __future__ import annotations

import enum
from typing import Any

from ....machine_code.compiled import constant, hot, int64, part
from ....model.history import Regression
from ...claims.claims import CODE
from ...clocks.order import apart
from ...encoding.names import BROADCASTING, ORDERLY
from ...engine.findings import Doubt, Note
from ...format.kinds import Path
from ...format.message_status import MessageStatus
from ..notes import CERTAIN, JUDGED, NO_CLAIM, RETRACTION, VIOLATION, finding, note
from ..terms import QUERY_LIMIT
from .offset_queries import is_about_to_take
from .ownership import VISIT, committer, settle, touch, window_of
from .pages import Flag, find, skip_missing
from .queue_state import ALWAYS, IN_FLIGHT, PERSISTED, UNKNOWN
from .ranges import UNCOUNTED, advance, drop_first, pass_range, set_low, undelivered
from .regressions import BACK, goes_back, is_misled

ROOM = 256
"""Number of free rows and ranges required before an event; one that needs more is interrupted, and continued later."""


@enum.unique
class Jump(enum.IntEnum):
    """Why offsets were skipped; rows with note SKIPPED have it in ``value``."""

    RESET = 1  # an operator set the offset
    CORRECTION = 2  # the client corrected an illegal offset: what it skipped no longer exists (PL-23)
    FIRST_START = 3  # nothing was stored for the group, which starts where its settings say (RB-40)


_UNFINISHED, _SKIPPED, _FAILED, _OWNERS = (
    constant(CODE["offset-never-past-unfinished"]),
    constant(CODE["nothing-skipped"]),
    constant(CODE["failed-message-comes-again"]),
    constant(CODE["only-owners-commit"]),
)
_ANSWERS = constant(CODE["query-answers-what-is-stored"])
_A_BROKER = constant(0)

UNSURE, SURE = constant(0), constant(1)
"""Whether everything after the beginning of a queue is seen to be pulled."""


@hot
def begin(s: Any, q: int, offset: int, sure: int) -> None:
    """Follow a queue from ``offset`` on; ``sure`` is 1 if everything after it is seen to be pulled."""
    slot = s.slots[q]
    if slot.low < 0:
        slot.first = slot.low = slot.high = offset
        slot.sure = sure
    elif sure and not slot.sure:
        # Earlier messages were pulled before the trace began.
        slot.sure = 1
        if offset > slot.low:
            slot.low = offset
            slot.high = max(slot.high, offset)


@part
def commit(s: Any, q: int, time: int, actor: int, client: int, path: Path, offset: int) -> bool:
    """The stored offset becomes ``offset``. Returns False if there is no room for all findings, and it must be
    repeated.

    ``client`` is 1 if the actor is a client; a broker writes on behalf of somebody whom it does not name.
    """
    slot, terms = s.slots[q], s.terms[0]
    if slot.low < 0:
        begin(s, q, offset, UNSURE)
    jump = int64(0)
    if path == Path.RESET or (slot.reset_time >= slot.stored_time and slot.reset_to == offset):
        jump = int64(Jump.RESET)
    elif slot.stored < 0 and slot.back_reason == Regression.RESET:
        jump = int64(Jump.FIRST_START)  # it was removed
    elif path == Path.CORRECTION or (slot.correct_time >= slot.stored_time and slot.correct_to == offset):
        jump = _correction(s, q, offset)
    until = offset
    if not client and path == Path.NONE and 0 <= slot.log_end < offset:
        # A tool stores any offset, and its broker then refuses to reset to it (DefaultMQAdminExtImpl).
        jump, until = int64(Jump.RESET), int64(slot.log_end)
    if until > slot.low and not pass_over(s, q, time, actor, until, jump):
        return False
    for claim in (BACK, _UNFINISHED, _SKIPPED, _FAILED):
        s.counts[JUDGED, claim] += 1
    back = slot.stored > offset
    if back:
        goes_back(s, q, time, actor, client, path, offset)
        # Who was told this just before may have asked after it, by another clock.
        row = s.rows[note(s, _ANSWERS, RETRACTION, q, time)]
        row.offset, row.until, row.actor = offset, offset + 1, committer(s, q, actor)
    if client and terms.assign and terms.revoke:
        _only_owners(s, q, time, actor, path, offset)
    if back or time - slot.noted_time >= terms.step:
        row = s.rows[note(s, NO_CLAIM, Note.OFFSET, q, time)]
        row.actor, row.value, row.expected, row.since = actor, offset, path, max(slot.stored_time, terms.begin)
        row.until = slot.log_end
        slot.noted_time = time
    _store(s, q, time, actor, path, offset)
    if client and path == Path.PIGGYBACK:
        at = window_of(s, q, actor)
        if at >= 0:
            s.windows[q, at].carries = 0
    return True


@part
def _store(s: Any, q: int, time: int, actor: int, path: Path, offset: int) -> None:
    slot, terms = s.slots[q], s.terms[0]
    if time - slot.recent_time > terms.short:
        slot.recent, slot.recent_time = slot.stored, time
    if time - slot.earlier_time > IN_FLIGHT:
        slot.earlier, slot.earlier_time = slot.stored, time
    if time - slot.lowest_time > QUERY_LIMIT:
        slot.lowest_before, slot.lowest, slot.lowest_time = slot.lowest, slot.stored, time
    if time - slot.floor_time > PERSISTED:
        slot.floor_before, slot.floor, slot.floor_time = slot.floor, slot.stored, time
    slot.lowest, slot.floor = min(slot.lowest, offset), min(slot.floor, offset)
    slot.stored, slot.stored_time, slot.stored_actor, slot.stored_path = offset, time, actor, path
    slot.stored_end = slot.log_end


@part
def reset(s: Any, q: int, time: int, actor: int, offset: int) -> bool:
    """An operator sets the offset (OF-30); False as for :func:`commit`."""
    slot = s.slots[q]
    slot.reset_to, slot.reset_time = offset, time
    return commit(s, q, time, actor, _A_BROKER, Path.RESET, offset)


@part
def remove(s: Any, q: int, time: int, actor: int) -> None:
    """The broker no longer has an offset: whoever asks for it from now on begins where its settings say (OF-21)."""
    slot = s.slots[q]
    if slot.stored >= 0:
        slot.back_from, slot.back_to, slot.back_time = slot.stored, 0, time
        slot.back_actor, slot.back_reason = actor, Regression.RESET
        slot.stored = slot.lowest = slot.floor = UNKNOWN
        slot.stored_time = time


@part
def _correction(s: Any, q: int, offset: int) -> Any:
    """PL-19: an answer that sends a client to the beginning of the queue skips messages, unless there was a reset."""
    slot = s.slots[q]
    is_reset = slot.reset_to == offset or slot.flags & BROADCASTING != 0
    return int64(0) if is_misled(s, q, offset) and not is_reset else int64(Jump.CORRECTION)


@part
def correct(s: Any, q: int, time: int, actor: int, offset: int) -> bool:
    """The client corrects an illegal offset (PL-23); False as for :func:`commit`."""
    slot = s.slots[q]
    if slot.low < 0:
        begin(s, q, offset, SURE)
    if offset > slot.low and not pass_over(s, q, time, actor, offset, _correction(s, q, offset)):
        return False
    slot.correct_to, slot.correct_time = offset, time
    return True


# Which offsets are passed


@part
def pass_over(s: Any, q: int, time: int, actor: int, until: int, jump: int) -> bool:
    """The low offset moves up to ``until``, whatever lies between; ``jump`` is the reason, 0 for none.

    Returns False if rows or ranges run out; the low offset is then as far as everything was checked.
    """
    slot = s.slots[q]
    unseen = UNKNOWN  # where a run of undelivered offsets begins
    looked = UNKNOWN  # the last range that was checked
    offset = slot.low
    while offset < until:
        if s.used[0] + ROOM > len(s.rows) or s.rooms[0].past + ROOM > len(s.past):
            _never_delivered(s, q, time, actor, unseen, offset, jump)
            slot.low = offset
            return False
        at = slot.ranges
        covered = at >= 0 and s.ranges[at].begin <= offset
        if covered and (s.ranges[at].end <= offset or s.ranges[at].count == 0):
            offset = min(max(s.ranges[at].end, offset), until)
            if s.ranges[at].end > until:
                break
            drop_first(s, q, MessageStatus.FILTERED)
            continue
        if covered and at != looked:
            looked = at
            if jump == 0:
                _of_range(s, q, time, actor, at, offset, until)
        there = skip_missing(s, q, offset, until)
        flags = s.cells[find(s, q, offset)].flags if there == offset else 0
        if covered or flags & (Flag.DELIVERED | Flag.DONE):
            _never_delivered(s, q, time, actor, unseen, offset, jump)
            unseen = UNKNOWN
            if flags & Flag.DELIVERED and flags & Flag.DONE == 0 and jump == 0:
                _unfinished(s, q, time, actor, offset)
            offset = offset + 1 if there == offset else min(there, s.ranges[at].end)
        else:
            if unseen < 0:
                unseen = offset
            offset = max(there, offset + 1)
            if at >= 0:
                offset = min(offset, s.ranges[at].begin)
    _never_delivered(s, q, time, actor, unseen, until, jump)
    set_low(slot, until, time)
    advance(s, q, time)
    return True


@part
def _of_range(s: Any, q: int, time: int, actor: int, at: int, offset: int, until: int) -> None:
    """What became of a range that was partly filtered, and not delivered; which offsets it consists of is not known."""
    item = s.ranges[at]
    if item.left == UNCOUNTED or item.left == 0:
        return
    # Messages that may still come above the stored offset.
    above = undelivered(s, q, until, item.end) if until < item.end else 0
    missing = item.left - above
    if missing > 0:
        _skip_row(s, q, time, actor, offset, min(item.end, until), missing)
        item.left = UNCOUNTED


@part
def _never_delivered(s: Any, q: int, time: int, actor: int, begin_: int, end: int, jump: int) -> None:
    """Undelivered offsets were passed; none if ``begin_`` is UNKNOWN."""
    slot, terms = s.slots[q], s.terms[0]
    if begin_ < 0:
        return
    if jump:
        row = s.rows[note(s, _SKIPPED, Note.SKIPPED, q, time)]
        row.offset, row.until, row.actor, row.value = begin_, end, actor, jump
        pass_range(s, q, begin_, end, MessageStatus.SKIPPED)
    elif terms.pull_result and terms.deliver and slot.sure:
        _skip_row(s, q, time, actor, begin_, end, end - begin_)
        pass_range(s, q, begin_, end, MessageStatus.LOST)
    # Otherwise nobody knows whether it was filtered.


@part
def _skip_row(s: Any, q: int, time: int, actor: int, begin_: int, end: int, count: int) -> None:
    since = s.terms[0].begin
    at = window_of(s, q, actor)
    if at >= 0 and s.windows[q, at].until == ALWAYS and 0 <= s.windows[q, at].start <= begin_:
        since = s.windows[q, at].since  # messages below its start may have been delivered in an earlier window
    row = s.rows[finding(s, _SKIPPED, VIOLATION, CERTAIN, q, time)]
    row.offset, row.until, row.actor, row.value, row.since = begin_, end, actor, count, since
    _passed(s, q, time, begin_, end)


@part
def _unfinished(s: Any, q: int, time: int, actor: int, offset: int) -> None:
    terms = s.terms[0]
    cell = s.cells[find(s, q, offset)]
    claim = _UNFINISHED
    if cell.flags & (Flag.FAILED | Flag.SUSPENDED | Flag.REFUSED):
        claim = _FAILED
        if not terms.send_back:
            return
    elif not terms.result:
        return
    row = s.rows[finding(s, claim, VIOLATION, CERTAIN, q, time)]
    row.offset, row.until, row.since = offset, offset + 1, cell.time
    row.actor, row.other, row.value = actor, cell.actor, cell.flags
    _passed(s, q, time, offset, offset + 1)


@part
def _passed(s: Any, q: int, time: int, begin_: int, end: int) -> None:
    slot = s.slots[q]
    if time - slot.passed_time > s.terms[0].widest:
        slot.passed_from, slot.passed_to = begin_, end
    slot.passed_from, slot.passed_to = min(slot.passed_from, begin_), max(slot.passed_to, end)
    slot.passed_time = time


@hot
def retract(s: Any, q: int, time: int, actor: int, offset: int, end: int, claim: int) -> None:
    """What a commit missed about ``offset`` … ``end`` - 1 happens now: by another clock, perhaps before it."""
    slot = s.slots[q]
    if time - slot.passed_time <= s.terms[0].widest and slot.passed_from < end and offset < slot.passed_to:
        row = s.rows[note(s, claim, RETRACTION, q, time)]
        row.offset, row.until, row.actor = offset, end, actor


@part
def first_start(s: Any, q: int, time: int, actor: int, low: int) -> None:
    """The queue begins at ``low``, and the group, for which nothing was stored, started above it."""
    slot = s.slots[q]
    # A broadcasting client that comes later is not expected to receive earlier messages (G8).
    if slot.started_new > low and not slot.flags & BROADCASTING:
        row = s.rows[note(s, _SKIPPED, Note.SKIPPED, q, time)]
        row.offset, row.until, row.actor, row.value = low, slot.started_new, actor, Jump.FIRST_START
        pass_range(s, q, low, slot.started_new, MessageStatus.SKIPPED)
    slot.started_new = UNKNOWN


@part
def _only_owners(s: Any, q: int, time: int, actor: int, path: Path, offset: int) -> None:
    terms = s.terms[0]
    settle(s, q, time)
    at = touch(s, q, actor, time)
    window = s.windows[q, at]
    s.counts[JUDGED, _OWNERS] += 1
    until = window.until
    if s.slots[q].flags & ORDERLY and window.path == Path.REMOVAL:
        # RB-33: a queue whose listener runs stays in the table, with its offset, until a later pass.
        until = time if window.running > 0 else max(until, window.returned)
    if until == ALWAYS or (window.implied != VISIT and time - until <= terms.rounds):
        return
    if is_about_to_take(s, q, actor, time):
        return  # RB-40: it is about to take the queue, and has the answer in memory already, which is sent as all is
    since = terms.begin if window.implied == VISIT else window.until
    doubt = 0
    over = time - until - terms.rounds
    if window.implied != VISIT and over <= apart(s.order, actor, committer(s, q, actor)):
        doubt |= Doubt.SKEW
    if window.implied == VISIT and not (terms.pull or terms.pull_result):
        doubt |= Doubt.EVIDENCE
    row = s.rows[finding(s, _OWNERS, VIOLATION, doubt, q, time)]
    row.offset, row.until, row.since, row.actor, row.value = offset, offset + 1, since, actor, path
