"""Pulls that waited long, and what brokers had stored then; the two are in different folds, and compared at the end.

A broker holds a pull at the end of a queue for 15 s, and answers it as soon as there is a message (PL-22).
"""

from __future__ import annotations

from typing import Any

from ....machine_code.compiled import int64, part
from ...claims.steps import Misstep
from .state import APART, SIGHTS, note_misstep

LONG = 3_000
"""A pull that waited for less has not been delayed, ms."""

AT_ONCE, IN_A_ROW = 100, 50
"""A broker that holds no pulls answers them after 1 s (``shortPollingTimeMills``): this many answers in a row, each
after less than this time on average, ms, are none of such a broker.
"""


@part
def hold(t: Any, n: int, offset: int) -> None:
    """An answer has nothing new at ``offset``; -1: it has something."""
    line = t.lines[n]
    if offset < 0 or offset != line.empty_from or line.last - line.empty_since > AT_ONCE * IN_A_ROW:
        line.empty, line.empty_from, line.empty_since = 0, offset, line.last
    line.empty += 1
    if offset >= 0 and line.empty > IN_A_ROW:
        note_misstep(t, n, Misstep.NOT_HELD, line.empty_since, offset, line.empty)


@part
def waited(line: Any, since: int, offset: int) -> None:
    """A pull from ``offset`` is answered, perhaps with "nothing new": then it goes on with the next one from there."""
    if offset != line.still or since - line.still_at > APART:
        line.still, line.still_since = offset, since
    elif line.still_seen:
        line.sights -= 1
    line.still_at, line.still_seen = line.last, line.last - line.still_since > LONG
    if line.still_seen:
        _see(line, offset, line.still_since)


@part
def reached(line: Any) -> None:
    """A broker has stored a message."""
    last = (line.sights - 1) % SIGHTS
    if line.sights > 0 and line.end < line.sight[last]:
        line.sights = 0  # its topic was created again
    if line.sights == 0 or line.last - line.sight_at[last] > APART:
        _see(line, line.end, line.last)


@part
def _see(line: Any, offset: int, since: int) -> None:
    at = line.sights % SIGHTS
    line.sight[at], line.sight_since[at], line.sight_at[at] = offset, since, line.last
    line.sights += int64(1)
