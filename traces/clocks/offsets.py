"""Offsets: the clocks that explain all causal pairs, with as little correction as possible.

If no correction is needed, none is made. Otherwise the recorder considered right is the one that leaves the least to
correct at the others; these follow one after the other, each corrected as far as the bounds require.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .bounds import FREE, Bounds

NARROW = 200_000
"""A clock with bounds narrower than this is set to their middle; otherwise to the end nearest to no correction, µs.

Held-up threads widen the bounds equally on both sides, and leave their middle where it is.
"""


@dataclass(frozen=True, kw_only=True)
class Stretch:
    """Consecutive pieces of time that one set of steadily running clocks explains."""

    first: int  # its first piece; ``end``: the one after its last
    end: int
    bounds: Any  # pieces × recorders × recorders: the tightest bounds
    offsets: Any  # pieces × recorders, µs


def stretches_of(bounds: Bounds) -> list[tuple[int, int]]:
    """The smallest number of stretches of pieces, each with first and end, that are free of contradictions.

    A clock was set where one ends and the next begins. No piece may contradict itself.
    """
    ends = [0]
    while ends[-1] < len(bounds.direct):
        ends.append(_end_of(bounds, ends[-1]))
    return list(pairwise(ends))


def _end_of(bounds: Bounds, first: int) -> int:
    """The end of the longest stretch that begins with a piece."""
    count = len(bounds.direct)
    if bounds.agree(first, count):
        return count
    return bisect_left(range(count), True, lo=first + 2, key=lambda end: not bounds.agree(first, end)) - 1


def earliest_first(bounds: Bounds, first: int, end: int, least: int) -> int:
    """The earliest piece from which a stretch that ends at ``end`` can start, if not from ``first``."""
    return bisect_left(range(first), True, lo=least, key=lambda piece: bounds.agree(piece, end))


def settled(bounds: Bounds, ends: list[tuple[int, int]], weights: Any, held_up: int = 0) -> list[Stretch]:
    """Offsets for all stretches.

    Args:
        bounds: what pairs imply.
        ends: the stretches.
        weights: number of pairs of each recorder: of two that may be right, the one with more pairs is.
        held_up: how long threads were delayed, which widens the bounds on each side, µs.
    """
    tight = [bounds.within(first, end) for first, end in ends]
    order = _order(np.concatenate(tight), weights)
    return [
        Stretch(first=first, end=end, bounds=one, offsets=_offsets(one, order, NARROW + 2 * held_up))
        for (first, end), one in zip(ends, tight, strict=True)
    ]


def _order(tight: Any, weights: Any) -> list[int]:
    """Recorders: the one considered right first, then those with less to correct before those with more."""
    least, need = None, None
    for root in np.argsort(-weights, kind="stable").tolist():
        low, high = -tight[:, :, root], tight[:, root, :]
        each = np.abs(np.clip(0, low, high)).mean(axis=0)
        if least is None or each.sum() < least:
            least, need = each.sum(), each
            need[root] = -1
    assert need is not None
    return [int(one) for one in np.argsort(need, kind="stable")]


def _offsets(tight: Any, order: list[int], narrow: int) -> Any:
    """Offsets at every moment. Bounds are closed: any choice for one recorder leaves a possible value for the next."""
    offsets = np.zeros(tight.shape[:2], np.int64)
    for at, recorder in enumerate(order):
        known = order[:at]
        if not known:
            continue
        low = (offsets[:, known] - tight[:, recorder, known]).max(axis=1)
        high = (offsets[:, known] + tight[:, known, recorder]).min(axis=1)
        lowest, highest = int(low.max()), int(high.min())
        if lowest <= highest:
            offsets[:, recorder] = _between(lowest, highest, narrow)
        else:
            offsets[:, recorder] = [_between(*pair, narrow) for pair in zip(low.tolist(), high.tolist(), strict=True)]
    return offsets


def _between(low: int, high: int, narrow: int) -> int:
    """The offset within bounds: no correction if that is possible, whole milliseconds if those are."""
    if low <= 0 <= high:
        return 0
    wanted = (low + high) // 2 if high - low <= narrow else (low if low > 0 else high)
    whole = round(wanted, -3)
    return whole if low <= whole <= high else wanted


def left_open(stretches: list[Stretch], hub: int, recorder: int, first: int, last: int) -> tuple[int, int, int]:
    """How far a clock may be behind that of the hub after correction, and ahead of it, at any moment, µs; and the least
    that is left open to one side at some moment.

    Only the pieces ``first`` … ``last`` count.
    """
    slow, fast, closest = 0, 0, FREE
    for one in stretches:
        low, high = max(first, one.first) - one.first, min(last + 1, one.end) - one.first
        if low >= high:
            continue
        apart = (one.offsets[:, recorder] - one.offsets[:, hub])[low:high]
        ahead, behind = one.bounds[low:high, hub, recorder] - apart, one.bounds[low:high, recorder, hub] + apart
        slow, fast = max(slow, int(behind.max())), max(fast, int(ahead.max()))
        closest = min(closest, int(behind.min()), int(ahead.min()))
    return min(slow, FREE), min(fast, FREE), closest
