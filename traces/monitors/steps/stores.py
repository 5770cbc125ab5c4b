"""A broker stores messages in a queue, each at the next offset."""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.steps import Misstep
from ...encoding.names import DEAD_LETTER_TOPIC, RETRY_TOPIC
from ...format.kinds import Kind
from .polls import reached
from .state import APART, BITS, LATER_QUEUE, OF_ANOTHER, SHOWN, UNKNOWN, note_misstep

COPIES = RETRY_TOPIC | DEAD_LETTER_TOPIC
"""Flags of topics of copies."""


@part
def stored(t: Any, n: int, kind: Kind, offset: int, attempt: int) -> None:
    """A broker stores a message."""
    line = t.lines[n]
    now = line.last
    is_copy = t.flags[line.slot] & COPIES != 0
    if kind == Kind.STORE:
        if attempt > 0 and not is_copy:
            note_misstep(t, n, Misstep.FIRST_COUNT, now, offset, attempt)
    elif kind == Kind.DEAD_LETTER:
        if t.flags[line.slot] & DEAD_LETTER_TOPIC == 0 or t.flags[line.slot] & OF_ANOTHER:
            note_misstep(t, n, Misstep.OTHER_TOPIC, now, offset, UNKNOWN)
        elif t.flags[line.slot] & LATER_QUEUE:
            note_misstep(t, n, Misstep.NOT_FIRST_QUEUE, now, offset, UNKNOWN)
    elif attempt > 0 and (not is_copy or t.flags[line.slot] & OF_ANOTHER):
        note_misstep(t, n, Misstep.OTHER_TOPIC, now, offset, UNKNOWN)
    if offset == 0 and line.end > 0:
        # Its topic was deleted and created again, or a thread was delayed since the very beginning.
        line.beginning, line.end, line.missing = max(line.beginning, line.end), UNKNOWN, 0
        line.told_at, line.shown, line.showing, line.showing_at = now, UNKNOWN, UNKNOWN, now
        return
    if now - line.showing_at > SHOWN:
        line.shown, line.shown_at = line.showing, line.showing_at
        line.showing, line.showing_at = line.end, now
    if line.end >= 0 and offset > line.end:
        if line.missing == 0:
            line.first_missing, line.filled, line.end_at = line.end, 0, now
        line.missing += offset - line.end
    behind = offset - line.first_missing
    if line.missing > 0 and 0 <= behind < BITS:
        is_filled = line.filled & (int64(1) << behind) != 0
        line.filled |= int64(1) << behind
    else:
        is_filled = line.missing == 0 or behind < 0
    if line.end >= 0 and offset < line.end:
        if is_filled:
            note_misstep(t, n, Misstep.STORED_TWICE, line.told_at, offset, line.end)
        else:
            line.missing -= 1
    while line.missing > 0 and line.filled & 1:
        line.first_missing, line.filled = line.first_missing + 1, line.filled >> 1
    if line.missing > 0 and now - line.end_at > APART:
        note_misstep(t, n, Misstep.NOT_STORED, line.told_at, line.first_missing, line.end)
        line.missing = 0
    if line.missing == 0:
        line.told_at = now
    line.end = max(line.end, offset + 1)
    reached(line)
