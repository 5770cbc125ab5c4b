"""The table of captured runs: what each sample of a real run shows, for the terminal and as Markdown for documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..traces.samples import FOLDER, Sample, conformance_again, differences, measured_again, samples

HEAD = (
    "scenario",
    "release",
    "events",
    "deliveries",
    "again, by cause",
    "unexplained",
    "losses",
    "overlaps",
    "mismatches",
    "violated",
)
"""What the columns show."""

_RIGHT = frozenset({"events", "deliveries", "unexplained", "losses", "mismatches"})
_CODE = frozenset({"scenario", "violated"})


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A sample that was checked."""

    sample: Sample
    measured: Mapping[str, Any]  # its present numbers, by name
    conformance: Mapping[str, Any]  # how far the model follows it now, by name
    seconds: float  # time for both
    differences: Sequence[str]  # differences from what is expected, in words

    @property
    def row(self) -> tuple[str, ...]:
        """Its cells in the table."""
        return row(self.sample.scenario, self.sample.release, self.measured, self.conformance)


def checked(chosen: Iterable[Sample]) -> Iterator[Checked]:
    """Check samples, one after the other.

    Raises:
        TraceError: the trace of one cannot be read.
    """
    for sample in chosen:
        started = time.perf_counter()
        measured, conformance = measured_again(sample).as_json(), conformance_again(sample)
        yield Checked(
            sample=sample,
            measured=measured,
            conformance=conformance,
            seconds=time.perf_counter() - started,
            differences=[*differences(sample.measured, measured), *differences(sample.conformance, conformance)],
        )


def table(folder: Path = FOLDER) -> str:
    """The table of all samples as Markdown, made from their traces.

    Raises:
        TraceError: there are no samples, or one is damaged.
    """
    return "\n".join(as_markdown([one.row for one in checked(samples(folder))]))


def row(scenario: str, release: str, measured: Mapping[str, Any], conformance: Mapping[str, Any]) -> tuple[str, ...]:
    """The cells of a run, from its numbers (``traces.engine.measured.Measured``) and from how far the model follows it,
    if this was determined.
    """
    again = [(cause.lower().replace("_", " "), count) for cause, count in measured["duplicates"].items()]
    return (
        scenario,
        release,
        f"{measured['events']:,}",
        f"{measured['deliveries']:,}",
        ", ".join(f"{count:,} {cause}" for cause, count in sorted(again, key=lambda one: (-one[1], one[0]))) or "0",
        f"{measured['unexplained']:,}",
        f"{measured['losses']:,}",
        _overlaps(measured["overlaps"]),
        f"{conformance['mismatches']:,}" if conformance else "",
        ", ".join(measured["violated"]),
    )


def _overlaps(found: Mapping[str, int]) -> str:
    return f"{found['count']:,}, up to {found['longest']:,} ms" if found["count"] else "0"


def as_text(rows: Sequence[Sequence[str]], head: Sequence[str] = HEAD) -> list[str]:
    """The table as lines of text, with aligned columns."""
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return [
        "  ".join(
            cell.rjust(width) if name in _RIGHT else cell.ljust(width)
            for name, cell, width in zip(head, line, widths, strict=True)
        ).rstrip()
        for line in lines
    ]


def as_markdown(rows: Sequence[Sequence[str]], head: Sequence[str] = HEAD) -> list[str]:
    """The table as lines of Markdown; claims and scenarios are set as code."""
    rule = ["--:" if name in _RIGHT else "---" for name in head]
    marked = [[_marked(name, cell) for name, cell in zip(head, line, strict=True)] for line in rows]
    return [f"| {' | '.join(line)} |" for line in [list(head), rule, *marked]]


def _marked(name: str, cell: str) -> str:
    return ", ".join(f"`{word}`" for word in cell.split(", ")) if name in _CODE and cell else cell
