"""Time zones: recorders whose times may be off by whole quarters of an hour, as those of a host in another zone are.

Causal pairs show how far a clock is off if they bound it on both sides. A log whose times are in another zone than
assumed is suspicious even if they do not: all its messages take an hour to arrive, or its events are an hour away from
everything else.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..encoding.names import Actor
from .clocks import Clock, Step

QUARTER = 900_000
"""Zones differ by multiples of this, ms."""

FURTHEST = 26 * 3_600_000
"""No two zones are further apart, ms: UTC-12 and UTC+14."""

NEAR = 5_000
"""The shortest of many ways takes no longer than this, and clocks are off by no more, ms."""

SEVERAL = 3
"""So many causal pairs that all leave a quarter of an hour open are no coincidence."""

Span = tuple[int, int]
"""Time of the first and of the last event, ms."""


def in_other_zones(clocks: Mapping[Actor, Clock], spans: Mapping[Actor, Span]) -> list[Step]:
    """A step over the whole recording for each recorder whose times may be in another time zone.

    Args:
        clocks: clocks of the recorders.
        spans: when they recorded.
    """
    if not spans:
        return []
    begin, end = min(first for first, _ in spans.values()), max(last for _, last in spans.values())
    found = []
    for actor, span in sorted(spans.items(), key=lambda item: str(item[0])):
        clock = clocks.get(actor) or Clock(recorder=actor, pairs=0)
        if clock.uncertainty is not None:
            continue
        off = _left_open(clock) or _away(span, [other for one, other in spans.items() if one.name != actor.name], clock)
        if off:
            told = f"its times are about {off // 60_000} min from those of others, as in another time zone"
            found.append(Step.of_one(actor, begin, end, told))
    return found


def _left_open(clock: Clock) -> int:
    """The whole quarters of an hour that all its pairs leave open, ms, if the shortest is hardly longer; or 0."""
    if clock.pairs < SEVERAL or clock.closest is None:
        return 0
    off = clock.closest // QUARTER * QUARTER
    return off if 0 < off <= FURTHEST and clock.closest - off < NEAR else 0


def _away(span: Span, others: list[Span], clock: Clock) -> int:
    """The fewest quarters of an hour that would bring it among the others, ms, if it lies wholly outside them, and its
    clock may be off by as much; or 0.
    """
    if not others:
        return 0
    begin, end = min(first for first, _ in others), max(last for _, last in others)
    if end < span[0]:
        off, most = -(-(span[1] - end - NEAR) // QUARTER) * QUARTER, clock.fast
        fits = span[0] - off >= begin - NEAR
    elif span[1] < begin:
        off, most = -(-(begin - span[0] - NEAR) // QUARTER) * QUARTER, clock.slow
        fits = span[1] + off <= end + NEAR
    else:
        return 0
    return off if fits and 0 < off <= min(FURTHEST, FURTHEST if most is None else most) else 0
