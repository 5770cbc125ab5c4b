"""How a report writes times, durations, counts and queues."""

from __future__ import annotations

from datetime import UTC, datetime

from ...encoding.names import Slot

_UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"))


def utc(ms: int) -> str:
    """A time in ms since 1970, such as ``2026-03-01 12:00:03.120``, in UTC."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(sep=" ", timespec="milliseconds")[:-6]
    except (OverflowError, ValueError, OSError):  # a trace may contain any number
        return f"{ms} ms"


def span(ms: int) -> str:
    """A duration in its two largest units, such as ``2 h 5 min``, ``1.5 s`` or ``20 ms``."""
    sign, ms = ("-" if ms < 0 else ""), abs(ms)
    for place, (size, unit) in enumerate(_UNITS):
        if ms >= size:
            smaller, its_unit = _UNITS[place + 1] if place + 1 < len(_UNITS) else (1000, "s")
            rest = ms % size // smaller
            return f"{sign}{ms // size} {unit}" + (f" {rest} {its_unit}" if rest else "")
    return f"{sign}{ms / 1000:.3f}".rstrip("0").rstrip(".") + " s" if ms >= 1000 else f"{sign}{ms} ms"


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 event``, ``1,200 events``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def queue(slot: Slot) -> str:
    """A queue without its group, such as ``Orders@broker-a:3``; only the topic if there is no queue."""
    if slot.queue < 0:
        return slot.topic or "whole group"
    return f"{slot.topic}@{slot.broker}:{slot.queue}" + (f" at {slot.who}" if slot.client else "")
