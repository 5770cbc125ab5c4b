"""The drawing of stored offsets: one for each queue, with its decreases and jumps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from ...encoding.names import Slot
from ...engine.findings import Note
from ...engine.result import CheckResult
from ..timelines import Oddity, OffsetPoint, offset_points
from .charts import Axis, mark, strip, told
from .words import utc

SHOWN = 6
"""Maximum number of queues that are shown at once."""

MOST = 60
"""Maximum number of queues that are drawn."""

_HEIGHT = 90
_MOST_POINTS = 300


@dataclass(frozen=True)
class Course:
    """The stored offset of one queue over time."""

    slot: Slot  # the queue
    points: Sequence[OffsetPoint]  # the stored offsets, by time; at least one
    ends: Sequence[int]  # the known end of the queue at each of these times; 0 if it was not known

    @property
    def lowest(self) -> int:
        """The smallest offset of the drawing."""
        return min(point.value for point in self.points)

    @property
    def highest(self) -> int:
        """The largest offset of the drawing, including known ends of the queue."""
        return max(*(point.value for point in self.points), *self.ends)

    def count(self, oddity: Oddity) -> int:
        """Number of points with this oddity."""
        return sum(point.oddity is oddity for point in self.points)


def courses(result: CheckResult, *, most: int = MOST) -> tuple[list[Course], int]:
    """The courses of the most interesting queues, violations before decreases; and the number of all such queues."""
    slots = len(result.names.slots)
    notes = result.rows[result.rows["note"] == Note.OFFSET]
    notes = notes[np.lexsort([notes["time"], notes["slot"]])]
    slot, value = notes["slot"], notes["value"]
    back = np.flatnonzero((slot[1:] == slot[:-1]) & (value[1:] < value[:-1])) + 1
    decreases = np.bincount(slot[back], minlength=slots)
    of_queues = result.violations["slot"]
    violations = np.bincount(of_queues[of_queues >= 0], minlength=slots)
    followed = np.unique(slot)
    worst_first = sorted(followed.tolist(), key=lambda s: (-violations[s], -decreases[s], result.names.slots[s]))
    chosen = [
        _course(code, result, notes[slice(*np.searchsorted(slot, [code, code + 1]))]) for code in worst_first[:most]
    ]
    return chosen, len(followed)


def _course(code: int, result: CheckResult, notes: Any) -> Course:
    rows = result.rows
    skips = rows[(rows["note"] == Note.SKIPPED) & (rows["slot"] == code)]
    points = offset_points(np.concatenate([notes, skips]), result.names)
    return Course(result.names.slots[code], points, np.maximum(notes["until"], 0).tolist())


def draw(course: Course, axis: Axis) -> Markup:
    """Draw the course as steps, the end of the queue above it, and oddities as dots."""
    points = _thinned(list(zip(course.points, course.ends, strict=True)))
    low, high = course.lowest, course.highest

    def y(offset: int) -> float:
        return _HEIGHT - 8 - (_HEIGHT - 16) * (offset - low) / max(high - low, 1)

    drawn = [
        _steps([(axis.place(point.time), y(end)) for point, end in points if end], "log-end"),
        _steps([(axis.place(point.time), y(point.value)) for point, _ in points], "stored"),
    ]
    for point, end in points:
        css, radius = (point.oddity.replace(" ", "-"), 4.5) if point.oddity else ("point", 2)
        drawn.append(mark(axis.place(point.time), y=y(point.value), css=css, tip=_tip(point, end), radius=radius))
    return strip(drawn, height=_HEIGHT, css="strip tall")


def _steps(positions: Sequence[tuple[float, float]], css: str) -> Markup:
    if not positions:
        return Markup("")
    (x, y), *rest = positions
    path = f"M{10 * x:.1f} {y:.1f}" + "".join(f"H{10 * x:.1f}V{y:.1f}" for x, y in rest)
    return Markup(
        '<svg viewBox="0 0 1000 {0}" preserveAspectRatio="none" width="100%" height="{0}">'
        '<path class="{1}" d="{2}H1000"/></svg>'
    ).format(_HEIGHT, css, path)


def _thinned(points: Sequence[tuple[OffsetPoint, int]]) -> list[tuple[OffsetPoint, int]]:
    """A selection from many points: the first and the last, and every odd one together with its predecessor."""
    every = -(-len(points) // _MOST_POINTS)
    last = len(points) - 1
    return [
        point
        for place, point in enumerate(points)
        if place % every == 0 or place == last or point[0].oddity or points[place + 1][0].oddity
    ]


def _tip(point: OffsetPoint, end: int) -> str:
    by = f"by {point.writer}" if point.writer else ""
    way = f"({point.path})" if point.path else ""
    return told(
        " ".join(filter(None, [f"{point.value:,}", by, way])),
        point.oddity,
        utc(point.time),
        f"end of the queue: {end:,}" if end else "",
    )
