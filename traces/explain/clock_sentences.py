"""Sentences about clocks: each recorder's clock compared with the others, and what was corrected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..clocks.clocks import Clock, Clocks


class ClockRow(NamedTuple):
    """A recorder's clock, in words."""

    recorder: str  # the recorder
    ahead: str  # how far it is ahead of the others, which is corrected
    bounds: str  # the bounds of its offset from the reference
    left: str  # the uncertainty that remains after correction
    pairs: int  # number of causal pairs in which it takes part
    drift: str  # how much faster it runs


def corrections(clocks: Clocks) -> list[str]:
    """A sentence for each clock that was corrected, and for each that was set."""
    said = [
        f"the clock of {clock.recorder} is {_ahead(clock)}; corrected" for clock in clocks.clocks.values() if clock.runs
    ]
    return [*said, *(str(step) for step in clocks.steps)]


def clock_rows(clocks: Clocks) -> list[ClockRow]:
    """Each recorder's clock compared with the others."""
    return [
        ClockRow(
            recorder=str(clock.recorder),
            ahead=_ahead(clock) if clock.runs else "as the others",
            bounds=_bounds(clock),
            left=f"±{clock.uncertainty:,} ms" if clock.uncertainty is not None else "not bounded",
            pairs=clock.pairs,
            drift=f"{clock.drift:+.0f} ppm" if round(clock.drift) else "",
        )
        for clock in clocks.clocks.values()
    ]


def as_object(clocks: Clocks) -> dict[str, Any]:
    """Clocks for other programs; times and offsets in µs, uncertainties in ms."""
    return {
        "recorders": [
            {
                "recorder": str(clock.recorder),
                "reference": str(clock.reference) if clock.reference else None,
                "ahead": {"least": clock.correction[0], "most": clock.correction[1]},
                "bounds": {"low": clock.low, "high": clock.high},
                "uncertainty": clock.uncertainty,
                "drift": round(clock.drift, 1),
                "pairs": clock.pairs,
            }
            for clock in clocks.clocks.values()
        ],
        "steps": [
            {
                "since": step.since,
                "until": step.until,
                "recorders": [str(recorder) for recorder in step.recorders],
                "events": list(step.events),
            }
            for step in clocks.steps
        ],
    }


def _ahead(clock: Clock) -> str:
    least, most = clock.correction
    if least == most:
        return _one(least)
    return f"{_one(least)} to {_one(most)}"


def _one(offset: int) -> str:
    return f"{_millis(abs(offset))} ms {'ahead' if offset >= 0 else 'behind'}"


def _bounds(clock: Clock) -> str:
    if clock.recorder == clock.reference:
        return "the others are compared with it"
    known: Sequence[int | None] = (clock.low, clock.high)
    if known == (None, None):
        return "nothing bounds it"
    low, high = (f"{_millis(bound)}" if bound is not None else "?" for bound in known)
    return f"{low} to {high} ms ahead of {clock.reference}"


def _millis(micros: int) -> str:
    return f"{micros / 1000:,.3f}".rstrip("0").rstrip(".")
