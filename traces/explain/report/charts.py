"""What the drawings of a report share: the time axis, colours, and bars.

Drawings are SVG. Positions on the time axis are percentages, so a drawing fits any width, and is zoomed by making its
inner drawing wider than the outer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from .words import utc

COLOURS = 10
"""Number of colours for clients in the style sheet: the classes ``k0`` … ``k9``."""

_STEPS = tuple(
    size * factor
    for size, factors in (
        (1, (1, 2, 5, 10, 20, 50, 100, 200, 500)),
        (1000, (1, 2, 5, 10, 15, 30)),
        (60_000, (1, 2, 5, 10, 15, 30)),
        (3_600_000, (1, 2, 3, 6, 12)),
        (86_400_000, (1, 2, 7, 14, 30, 90, 365)),
    )
    for factor in factors
)
_MOST_TICKS = 6


@dataclass(frozen=True)
class Axis:
    """The time axis."""

    begin: int  # its first moment, ms since 1970; ``end``: its last one
    end: int

    def place(self, time: int) -> float:
        """The position of a moment, in percent from the left."""
        return 100 * (min(max(time, self.begin), self.end) - self.begin) / max(self.end - self.begin, 1)

    def ticks(self) -> list[tuple[float, str]]:
        """Round moments, each with its position and its time of day in UTC, or its date."""
        length = max(self.end - self.begin, 1)
        step = next((step for step in _STEPS if length / step <= _MOST_TICKS), _STEPS[-1] * (length // _STEPS[-1] or 1))
        times = range(-(-self.begin // step) * step, self.end + 1, step)
        return [(self.place(when), _label(when, step)) for when in times][: 2 * _MOST_TICKS]

    def draw(self) -> Markup:
        """The axis with its labels, as a row of its own."""
        labels = [
            Markup('<line x1="{0}%" x2="{0}%" y1="0" y2="5"/><text x="{0}%" y="16">{1}</text>').format(
                percent(place), label
            )
            for place, label in self.ticks()
        ]
        return Markup('<svg class="axis" data-begin="{}" data-end="{}">{}</svg>').format(
            self.begin, self.end, Markup("").join(labels)
        )


def _label(when: int, step: int) -> str:
    date, _, clock = utc(when).partition(" ")
    if step >= 86_400_000:
        return date
    return clock if step < 1000 else clock[:8] if step < 60_000 else clock[:5]


def percent(place: float) -> str:
    """A percentage with as many digits as a screen can resolve."""
    return f"{place:.3f}".rstrip("0").rstrip(".")


def strip(inside: Iterable[Markup], *, height: int, css: str = "strip") -> Markup:
    """A drawing along the time axis that can be zoomed."""
    return Markup('<svg class="{}" height="{}"><svg class="zoomed" width="100%" height="{}">{}</svg></svg>').format(
        css, height, height, Markup("").join(inside)
    )


def box(begin: float, end: float, *, top: float, height: float, css: str, tip: str) -> Markup:
    """A bar from one position to another; never too narrow to be seen."""
    return Markup('<rect class="{}" x="{}%" width="{}%" y="{}" height="{}"><title>{}</title></rect>').format(
        css, percent(begin), percent(max(end - begin, 0.15)), percent(top), percent(height), tip
    )


def mark(place: float, *, y: float, css: str, tip: str, radius: float = 4) -> Markup:
    """A dot."""
    return Markup('<circle class="{}" cx="{}%" cy="{}" r="{}"><title>{}</title></circle>').format(
        css, percent(place), percent(y), percent(radius), tip
    )


def bars(counts: Sequence[tuple[str, int]], *, css: Mapping[str, str] | None = None) -> Markup:
    """Counts as horizontal bars with their names and numbers, in the given order."""
    most, total = max((count for _, count in counts), default=0), sum(count for _, count in counts)
    rows = [
        Markup(
            '<tr><th scope="row">{}</th><td class="number">{}</td><td class="share">{}</td>'
            '<td class="bar"><svg height="14"><rect class="{}" width="{}%" height="14" rx="2"/></svg></td></tr>'
        ).format(
            name, f"{count:,}", share(count, total), (css or {}).get(name, "k0"), percent(max(100 * count / most, 0.3))
        )
        for name, count in counts
        if count
    ]
    return Markup('<table class="bars">{}</table>').format(Markup("").join(rows))


def share(count: int, total: int) -> str:
    """A part of a whole in percent; a small part is not rounded to 0, nor a large one to 100."""
    part = 100 * count / max(total, 1)
    if count and part < 0.1:
        return "< 0.1 %"
    if count < total and part > 99.9:
        return "> 99.9 %"
    return f"{part:.1f} %".replace(".0 %", " %")


def legend(entries: Iterable[tuple[str, str]]) -> Markup:
    """The meaning of colours: pairs of a class and a text."""
    entry = Markup('<li><svg width="12" height="12"><rect class="{}" width="12" height="12" rx="2"/></svg> {}</li>')
    return Markup('<ul class="legend">{}</ul>').format(
        Markup("").join(entry.format(css, text) for css, text in entries)
    )


def told(*lines: str) -> str:
    """The text of a tooltip."""
    return "\n".join(line for line in lines if line)
