"""A process sets the in-memory offset of a queue to marks of its window, and stores no more than that."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import part
from ...claims.steps import Misstep
from ...encoding.names import BROADCASTING, ORDERLY
from ...format.kinds import Path
from ..terms import NEVER
from .limits import sent_to_broker
from .state import APART, LATE, MARKS, UNKNOWN, note_misstep

ROUNDS = 8
"""How often a client may fail in its periodic storing of offsets: a broker may be away, or its thread delayed."""

LEFT_OUT = 4
"""How often a client may store the offsets of other queues and not that of one, as the records may be late."""

UNPACED = 36
"""The same for one that was not seen to store that often: its interval may be longer by this factor."""


@part
def tell_if_forgotten(t: Any, n: int, offset: int) -> None:
    """Check whether the in-memory offset was never set for a message that left the window long ago."""
    line = t.lines[n]
    is_calm = line.last - line.owed_at > LATE and line.last - line.resumed > LATE
    if (
        line.owed > line.idle
        and is_calm
        and line.has == 1
        and not line.batched
        and not line.unmarked
        and not line.cleaned
    ):
        note_misstep(t, n, Misstep.NOT_REMEMBERED, line.owed_at, offset, line.low)


@part
def stand(t: Any, line: Any, offset: int) -> None:
    """The in-memory offset is ``offset`` from now on: only an operator, or a broker, moves it back."""
    now = line.last
    if offset < line.present or line.present < 0:
        line.stood = line.stands = min(line.stood, offset)
        line.stands_at = now
    elif now - line.stands_at > LATE + t.terms[0].widest:
        line.stood, line.stands, line.stands_at = line.stands, offset, now
    line.present, line.present_at = offset, now


@part
def stood(t: Any, line: Any) -> Any:
    """The in-memory offset of some time ago, as brokers record commits late that wait there; -1: not known."""
    late = LATE + t.terms[0].widest
    if line.last - line.present_at > late:
        return line.present
    return line.stands if line.last - line.stands_at > late else line.stood


@part
def set_in_memory(t: Any, n: int, offset: int) -> None:
    """The in-memory offset is set: to a low-water mark, or to what the broker or an operator sent."""
    line = t.lines[n]
    line.sets = 1
    unheard = not (line.fresh or t.terms[0].complete) or t.flags[line.slot] & BROADCASTING
    told = line.unmarked or (line.window == 0 and unheard)
    told = told or offset in (line.brought, line.mended)
    # OF-31: a client that resets sets the offset before it takes the queue again, and the answer of a query is set at
    # once.
    is_early = line.has != 1 or line.last - max(line.taken_at, line.answered_at) <= LATE
    told = told or (is_early and offset in (line.answer, line.reset_to))
    # OF-1: it never goes back, and a broadcasting client may keep it from one window of a queue to the next.
    told = told or (t.flags[line.slot] & BROADCASTING and offset == line.memory >= line.low)
    # OF-3: when it takes a queue again, it sets what its file holds: 4.9 writes no correction there.
    told = told or (t.flags[line.slot] & BROADCASTING and line.has != 1 and offset <= line.sent)
    marked = False
    # OR-7: the one thread of an orderly queue sets what it has just removed, which has two marks.
    latest = 2 if t.flags[line.slot] & ORDERLY else MARKS
    for place in range(max(line.marks - latest, 0), line.marks):
        marked = marked or line.mark[place % MARKS] == offset
    # There may have been more marks than are kept since the thread that sets it was delayed.
    is_late = latest == MARKS and line.last - line.mark_at[line.marks % MARKS] <= APART
    marked = marked or (is_late and offset <= line.low)
    # A thread whose window has just ended may still set it.
    is_owed = line.owed > 0 or not line.fresh or line.batched or line.last - line.left_at <= LATE
    # PQ-9: when the listener of a cleaned message returns, the mark is set, although nothing leaves the window.
    is_owed = is_owed or line.strays > 0
    if line.owed > 0:
        line.owed, line.owed_at = line.owed - 1, line.last
        if line.idle > 0 and (offset <= line.present or line.owed < line.idle):
            line.idle -= 1
    if not told and not (marked and is_owed):
        note_misstep(t, n, Misstep.NOT_IN_WINDOW, line.last, offset, line.low)
    if line.behind < 0 and offset > max(line.sent, line.answer):
        line.behind, line.behind_at = offset, line.last
    line.memory = max(line.memory, offset)
    stand(t, line, offset)
    found = t.missteps[n, Misstep.BEYOND_MEMORY]
    if found.time != NEVER and line.last - found.time <= t.terms[0].widest and found.offset <= line.memory:
        found.time = NEVER


@part
def tell_if_passed_over(t: Any, n: int) -> None:
    """Check whether an in-memory offset was not stored for some rounds; :mod:`...engine.rounds` looks at the others."""
    line = t.lines[n]
    is_own = line.has == 1 and line.mended < 0 and t.flags[line.slot] & BROADCASTING == 0 and not t.waits[line.slot]
    if is_own and line.behind >= 0 and line.last - line.behind_at > LEFT_OUT * t.terms[0].persist:
        note_misstep(t, n, Misstep.PASSED_OVER, line.behind_at, line.behind, UNKNOWN)


@part
def keep(t: Any, n: int, offset: int) -> None:
    """An offset is stored at the broker, or in the file of a broadcasting client."""
    line = t.lines[n]
    tell_if_passed_over(t, n)
    line.sent = max(line.sent, offset)
    t.waits[line.slot] = False
    if offset >= line.behind >= 0:
        line.behind, line.behind_at = line.memory if line.memory > offset else UNKNOWN, line.last
    if offset >= line.unstored:
        line.unstored = UNKNOWN


@part
def commit(t: Any, n: int, offset: int, path: Path) -> None:
    """The in-memory offset is sent to the broker, or written to the file."""
    line = t.lines[n]
    line.sets = 1
    keep(t, n, offset)
    if line.has == 0 and line.left_at - line.behind_at <= APART:
        line.unstored = UNKNOWN
    tell_if_forgotten(t, n, offset)
    if path == Path.PERIODIC:
        # A client that was not seen to do so twice may have another, unknown interval.
        passed = line.last - line.persisted_at
        line.paced |= line.persisted_at != NEVER and t.terms[0].persist <= 2 * passed <= 4 * t.terms[0].persist
        line.persisted_at = line.last
    elif path == Path.PIGGYBACK:
        sent_to_broker(t, n, offset)
        if offset == 0:
            note_misstep(t, n, Misstep.SENT_NOTHING, line.last, offset, UNKNOWN)
    if path == Path.PIGGYBACK and line.has == 1 and line.taken_at != NEVER:
        since = max(line.persisted_at, line.taken_at, line.quiet, line.vain)  # nor does a commit come through then
        longest = ROUNDS * t.terms[0].persist + LATE if line.paced else UNPACED * t.terms[0].persist
        if line.last - since > longest:
            note_misstep(t, n, Misstep.NOT_PERSISTED, since, offset, UNKNOWN)
    is_read = path in (Path.PERIODIC, Path.REMOVAL, Path.SHUTDOWN)  # a pull may be sent long after it has read it
    if is_read and line.has == 1 and line.mended < 0 and offset < stood(t, line):
        note_misstep(t, n, Misstep.OLD_OFFSET, line.last, offset, stood(t, line))
    if path == Path.SHUTDOWN:
        note_misstep(t, n, Misstep.NO_SHUTDOWN, line.last, offset, UNKNOWN)
    elif path == Path.REMOVAL and line.has == 1 and line.removing == NEVER and t.flags[line.slot] & ORDERLY == 0:
        if line.last - line.left_at > LATE:  # otherwise it may be from the window before
            line.removing = line.last
    elif line.removing != NEVER and line.last - line.removing > LATE:
        note_misstep(t, n, Misstep.NO_REMOVAL, line.removing, offset, UNKNOWN)
    # The thread that sets the in-memory offset may be recorded later than the one that stores it.
    sets = offset <= line.low and line.marks > 0 and line.last - line.mark_at[(line.marks - 1) % MARKS] <= APART
    if line.memory >= 0 and offset > line.memory and not sets and t.flags[line.slot] & BROADCASTING == 0:
        note_misstep(t, n, Misstep.BEYOND_MEMORY, line.last, offset, line.memory)
