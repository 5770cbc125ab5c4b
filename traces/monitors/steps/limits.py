"""How much a process holds of a queue and gives out at once, and why it puts off pulls or drops the queue."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.steps import Misstep
from ...encoding.names import BROADCASTING, ORDERLY
from ...format.kinds import Path
from ..terms import NEVER
from .state import APART, LEVELS, UNKNOWN, find, note_misstep

UNCOUNTED = 1 << 30
"""Stands for the messages of a pull whose count is not recorded: more than any number that can be judged."""

MOST_HELD, WIDEST_SPAN = 1_000, 2_000
"""``pullThresholdForQueue`` and ``consumeConcurrentlyMaxSpan`` by default (PL-7, PL-9)."""

HIGHEST_LIMIT = 65_535
"""The highest value to which either can be set (ST-2)."""

TARDY, TARDY_IN_A_ROW, TARDY_FOR = 8_000, 5, 60_000
"""A broker looks for due messages 10 times a second (DL-5). When it starts or is held up, some come late; but not so
many in a row, over so long, each by that much; ms.
"""

SWAY = 50
"""By how much the clock of a broker may be set back gradually, ms."""


@part
def put_off(t: Any, n: int, path: Path) -> None:
    """PL-7 … PL-10: a pull is put off."""
    line = t.lines[n]
    is_orderly = t.flags[line.slot] & ORDERLY != 0
    if (path == Path.ORDERLY and not is_orderly) or (path == Path.SPAN and is_orderly):
        note_misstep(t, n, Misstep.OTHER_CONTROL, line.last, UNKNOWN, UNKNOWN)
    is_full = path in (Path.COUNT, Path.SIZE, Path.SPAN)
    if is_full and line.has == 1 and line.fresh and line.late == 0 and line.mended < 0:
        # Each limit is at least 1, and what is held has to exceed it; a single message may have several MiB.
        least = 1 if path == Path.SIZE else 2
        if line.held < least:
            note_misstep(t, n, Misstep.NOTHING_CACHED, line.last, UNKNOWN, max(line.held, int64(0)))


@part
def tell_if_full(t: Any, n: int, offset: int) -> None:
    """PL-7, PL-9: check whether a window is pulled although it holds too much."""
    line = t.lines[n]
    if line.has != 1 or not line.fresh or line.late > 0 or line.mended >= 0:
        return
    much = line.held if MOST_HELD < line.held < UNCOUNTED // 2 else int64(0)
    first = find(t, n, line.low)
    if first >= 0 and t.flags[line.slot] & ORDERLY == 0 and t.items[first].window == line.window:
        span = line.last_held - line.low
        if span > WIDEST_SPAN and not t.items[first].left and not t.items[first].expired:
            much = max(much, span)
    if much > 0:
        note_misstep(t, n, Misstep.TOO_FULL, line.last, offset, much)


@part
def brought(t: Any, n: int, offset: int, after: int, count: int) -> None:
    """A pull brings messages into the window; ``count`` is below 0 if it is not known."""
    line = t.lines[n]
    if line.has == 1 and line.late == 0 and count != 0:
        line.held += count if count > 0 else UNCOUNTED
        # Which messages were filtered out is not recorded: the received ones are at least that many consecutive
        # offsets.
        last = after - 1 if count == after - offset else offset + max(count, int64(1)) - 1
        line.last_held = max(line.last_held, last)


@part
def split(t: Any, n: int, offset: int, after: int, count: int) -> None:
    """CC-1, OR-6: how a pull is cut into calls: all except the last one have the same size, the largest."""
    line = t.lines[n]
    if count < 1 or after < 0:
        return
    is_watched = 0 <= line.watched <= offset < line.watched_end
    # consumeMessageBatchMaxSize can be set while the client runs: each pull is cut by its value at that time.
    may_be_set = line.resized == 0 and not (is_watched and (line.split >= 0 or line.sized_by == line.watched))
    if count > line.most > 0 and may_be_set:
        line.resized, line.most, line.largest = 1, 0, count
    line.largest = max(line.largest, count)
    if is_watched and after != line.split:
        # Of two calls with messages of one pull, the first is not its last one, which may be smaller.
        whole = count if after < line.split else line.split_by
        if line.split >= 0 and 0 < whole < line.most and line.resized == 0 and line.sized_by != line.watched:
            line.resized, line.most, line.largest = 1, 0, max(whole, count)
        if line.split >= 0 and line.most == 0:
            line.most = whole
            if line.largest > max(whole, count) and line.resized == 0:
                # A call of another pull, which was not cut, had more: the size may have been set since the queue was
                # taken, or that call was wrong.
                since = line.taken_at if line.taken_at != NEVER else line.last - 1
                note_misstep(t, n, Misstep.BATCH_ABOVE, since, offset, line.most)
                line.resized, line.largest = 1, max(whole, count)
        if line.split >= 0:
            line.sized_by = line.watched
        if line.split >= 0 and whole != line.most:
            _batch_above(t, n, offset)
        if after > line.split:
            line.split, line.split_by = after, count
    if line.largest > line.most > 0:
        _batch_above(t, n, offset)


@part
def _batch_above(t: Any, n: int, offset: int) -> None:
    """Certain, so it is reported instead of one that is in doubt."""
    found = t.missteps[n, Misstep.BATCH_ABOVE]
    if found.since < found.time:
        found.time = NEVER
    note_misstep(t, n, Misstep.BATCH_ABOVE, t.lines[n].last, offset, t.lines[n].most)


@part
def sent_to_broker(t: Any, n: int, offset: int) -> None:
    """CC-11, PL-14: a broadcasting client sends brokers no offsets with its pulls, and no failed messages."""
    line = t.lines[n]
    if t.flags[line.slot] & BROADCASTING and line.has == 1:
        note_misstep(t, n, Misstep.NO_BROADCAST, line.last, offset, UNKNOWN)


@part
def tell_if_pulled_unlocked(t: Any, n: int, offset: int) -> None:
    """PL-10: check whether a queue is pulled although its lock was refused, and has run out.

    Only a recorded refusal makes a window unlocked: if the request fails, the client continues to pull (OR-9).
    """
    line = t.lines[n]
    is_told = line.told_refused != NEVER and line.last - line.told_refused > APART
    is_told = is_told and (line.unlocked >= line.refused_at or not t.terms[0].lock_lost)
    if is_told and line.has == 1 and line.locked != NEVER and line.last - line.locked > t.terms[0].lock_life:
        note_misstep(t, n, Misstep.PULLED_UNLOCKED, line.refused_at, offset, UNKNOWN)


@part
def mend(t: Any, n: int, offset: int) -> None:
    """PL-23: a process corrects an offset, if it is recorded, that a broker found illegal to the one that it named."""
    line = t.lines[n]
    is_told = line.illegal >= 0 and (line.unmarked or offset in (UNKNOWN, line.illegal))
    if line.pulled and not is_told and (line.fresh or t.terms[0].complete):
        note_misstep(t, n, Misstep.NOTHING_WRONG, line.last, offset, line.illegal)


@part
def move(t: Any, n: int, offset: int, level: int, due: int) -> None:
    """DL-5: a broker takes a message from a delay level."""
    line = t.lines[n]
    if due < 0 or not 0 < level < LEVELS:
        return
    is_late = line.last - due > TARDY
    if not is_late or line.tardy[level] == 0:
        line.tardy_since[level] = line.last
    line.tardy[level] = line.tardy[level] + 1 if is_late else 0
    if line.tardy[level] >= TARDY_IN_A_ROW and line.last - line.tardy_since[level] > TARDY_FOR:
        note_misstep(t, n, Misstep.TARDY, line.tardy_since[level], offset, line.tardy[level])
    if line.due[level] != NEVER and due < line.due[level] - SWAY:
        note_misstep(t, n, Misstep.OUT_OF_TURN, line.due_at[level], offset, line.due[level])
    elif due > line.due[level]:
        line.due[level], line.due_at[level] = due, line.last
