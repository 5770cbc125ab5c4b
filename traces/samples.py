"""Samples: traces of real runs of RocketMQ that come with the kit, and what a check of each must find.

Each is a trace in compressed JSONL, with a JSON file of the same name beside it: what was run, the settings of its
check, and the resulting numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .claims.settings import Settings
from .engine.local import check_locally
from .engine.measured import Measured, measure
from .errors import TraceError
from .format.schema import Header
from .io import Trace, open_trace
from .io.writing import convert

FOLDER = Path(__file__).parent / "samples"
"""The folder of the samples."""

TRACE, FACTS = ".jsonl.zst", ".json"
"""Suffixes of the two files of a sample."""


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A trace of a real run.

    Attributes:
        name: name of its files: scenario and release.
        scenario: what was run.
        release: release of RocketMQ.
        title: what happens, in a few words.
        check: settings of the check that differ from the usual ones, ms, by name; see
            :class:`.claims.settings.Settings`.
        measured: the resulting numbers, by name; see :class:`.engine.measured.Measured`.
        conformance: how far the model follows it, by name.
        folder: where its files are.
    """

    name: str
    scenario: str
    release: str
    title: str
    check: Mapping[str, int]
    measured: Mapping[str, Any]
    conformance: Mapping[str, Any]
    folder: Path = FOLDER

    @property
    def path(self) -> Path:
        """The trace."""
        return self.folder / f"{self.name}{TRACE}"

    @property
    def facts(self) -> dict[str, Any]:
        """The content of the file beside the trace."""
        return {
            "scenario": self.scenario,
            "release": self.release,
            "title": self.title,
            "check": dict(self.check),
            "measured": dict(self.measured),
            "conformance": dict(self.conformance),
        }

    def open(self) -> Trace:
        """The trace, opened; the first reading problem raises an error.

        Raises:
            TraceError: it does not exist, or is damaged.
        """
        return open_trace([self.path], strict=True)


def samples(folder: Path = FOLDER) -> tuple[Sample, ...]:
    """All samples, by scenario, then with the newest release first.

    Raises:
        TraceError: there are none, or one of the two files of a sample is missing, or has the wrong content.
    """
    traces = {path.name.removesuffix(TRACE) for path in folder.glob(f"*{TRACE}")}
    facts = {path.stem for path in folder.glob(f"*{FACTS}")}
    for name in sorted(traces ^ facts):
        missing = TRACE if name in facts else FACTS
        raise TraceError(f"sample {name}: there is no {folder / f'{name}{missing}'}; a sample has both.")
    if not traces:
        raise TraceError(f"{folder}: no samples here; an installation of the kit has them.")
    found = [_read(folder, name) for name in facts]
    return tuple(sorted(found, key=lambda one: (one.scenario, _newest_first(one.release))))


def _newest_first(release: str) -> tuple[int, ...]:
    return tuple(-int(part) for part in release.split("."))


def _read(folder: Path, name: str) -> Sample:
    path = folder / f"{name}{FACTS}"
    try:
        return Sample(name=name, folder=folder, **json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise TraceError(f"{path}: {error}; a sample needs what its neighbours have.") from None


def settings_for(trace: Trace, check: Mapping[str, Any]) -> Settings:
    """The settings for checking a trace of a scenario: delay levels come from the trace, differences from ``check``."""
    return replace(settings_of(trace.header), **check)


def settings_of(header: Header) -> Settings:
    """The usual settings, with the timers and delay levels stated in a header."""
    return Settings().with_timers(header).with_delays(header.delays)


def measured_again(sample: Sample) -> Measured:
    """The numbers of a sample, from its trace.

    Raises:
        TraceError: the trace cannot be read.
    """
    trace = sample.open()
    return measure(check_locally(trace, settings=settings_for(trace, sample.check)))


def conformance_again(sample: Sample) -> dict[str, Any]:
    """How far the model follows a sample, by name.

    Raises:
        TraceError: the trace cannot be read.
    """
    from .conformance import conform

    found = conform(sample.open())
    return {
        "events": found.events,
        "followed": found.followed,
        "passed_over": dict(sorted(found.passed_over.items())),
        "mismatches": len(found.mismatches),
    }


def differences(expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """Differences between the numbers of a sample and those of its trace, each in words."""
    told = []
    for name in dict.fromkeys([*expected, *found]):
        one, other = (json.loads(json.dumps(each.get(name))) for each in (expected, found))
        if one != other:
            told.append(f"{name} is {other}, expected {one}")
    return told


def keep(trace: Trace, facts: Mapping[str, Any], *, name: str, folder: Path = FOLDER) -> None:
    """Make a trace a sample, with these facts; an existing sample with that name is replaced."""
    convert(trace, folder / f"{name}{TRACE}")
    write_facts(facts, name=name, folder=folder)


def write_facts(facts: Mapping[str, Any], *, name: str, folder: Path = FOLDER) -> None:
    """Write the facts of a sample: the attributes of :class:`Sample` except name and folder."""
    text = json.dumps(facts, indent=1, ensure_ascii=False)
    (folder / f"{name}{FACTS}").write_text(text + "\n", encoding="utf-8")
