"""Time stamps: when the events of one recorder were, in its own order, which is certain whatever its clock says.

Threads of a process stamp a little out of order: no event counts as earlier than the one before it. If a clock was set
back, its stamps are continued as if it had not been: only the time that passed while it was set is lost, which the
clocks of others show. A few stamps from long before come from threads that were delayed between a stamp and its line,
as all are while a process is suspended; they are left as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

SET_BACK = 1_000
"""Threads of a process may stamp a little out of order; a larger step back has another reason, ms."""

_LONG_AGO = -(2**62)
_FEW = 1 << 10
_MOST = 64
"""A file whose times go back more often than this was not written by one recorder in its order."""


@dataclass(frozen=True, kw_only=True)
class SetBack:
    """A clock that was set back.

    Attributes:
        row: position of the first event after that.
        at: when that was, µs, as if the clock had continued.
        by: by how much at least, µs.
    """

    row: int
    at: int
    by: int


def in_own_order(stamps: Any) -> tuple[Any, tuple[SetBack, ...]]:
    """Time stamps that go back only for events from long before, and where the clock was set back.

    Args:
        stamps: µs, in the order of the recorder; they are not changed.
    """
    ordered, begin, found, times = stamps.copy(), 0, list[SetBack](), 0
    latest, size = _LONG_AGO, _FEW
    while begin < len(ordered):
        part = ordered[begin : begin + size]
        never_back = np.maximum.accumulate(np.maximum(part, latest))
        back = np.flatnonzero(part < never_back - SET_BACK * 1000)
        stop = int(back[0]) if len(back) else len(part)
        part[:stop] = never_back[:stop]
        begin += stop
        if not len(back):
            latest, size = int(never_back[-1]), 2 * size
            continue
        times += 1
        by = int(never_back[stop]) - int(ordered[begin])
        if times <= _MOST and _goes_on_from_there(ordered, begin, by):
            ordered[begin:] += by
            found.append(SetBack(row=begin, at=int(ordered[begin]), by=by))
            latest = int(ordered[begin])
        else:
            latest = _LONG_AGO
        size = _FEW
    return ordered, tuple(found)


def _goes_on_from_there(stamps: Any, row: int, by: int) -> bool:
    """Whether the stamps after a row advance by SET_BACK (or half the step, if less) before they reach the old time.

    If they never are, any advance is enough.
    """
    size = _FEW
    while True:
        part = stamps[row : row + size]
        again = np.flatnonzero(part >= stamps[row] + by)
        if len(again):
            return bool(int(part[: int(again[0])].max() - part[0]) >= min(by // 2, SET_BACK * 1000))
        if row + size >= len(stamps):
            return bool(part.max() > part[0])
        size *= 2
