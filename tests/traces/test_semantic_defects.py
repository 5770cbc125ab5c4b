"""Defects that change all that would be different: each is violated where it should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.event_mutants import by_time
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.schema import Header
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import ParquetWriter
from rocketproof.traces.samples import samples, settings_for, settings_of

from .broken import Broken
from .broken_messages import BROKEN_MESSAGES
from .broken_queues import BROKEN_QUEUES
from .limit_defects import LIMITS
from .semantic_defects import DEFECTS, Defect, Events
from .stopped_mechanisms import STOPPED, Stopped

SIZE: dict[str, Any] = {"messages": 400, "queues": 4, "consumers": 2, "seed": 1, "keys": True}
CHURN: dict[str, Any] = {**SIZE, "churn": 4, "duration": 900_000}
PLANS: dict[str, dict[str, Any]] = {
    "simulated": {**SIZE, "failure_rate": 0.1},
    "simulated-orderly": {**SIZE, "group_kind": "orderly"},
    "simulated-orderly-busy": {**SIZE, "messages": 6_000, "duration": 600_000, "group_kind": "orderly", "seed": 12},
    "simulated-deaths": {**SIZE, "messages": 600, "consumers": 3, "seed": 3, "churn": 4, "duration": 900_000},
    "simulated-broadcasting": {**SIZE, "messages": 300, "queues": 2, "group_kind": "broadcasting"},
    "simulated-churn": {**CHURN, "messages": 500, "topics": 2, "consumers": 3, "failure_rate": 0.1, "seed": 5},
    "simulated-orderly-churn": {**CHURN, "group_kind": "orderly", "consumers": 3, "seed": 7},
    "simulated-broadcasting-churn": {**SIZE, "group_kind": "broadcasting", "churn": 3, "duration": 600_000},
    "simulated-reset": {
        **SIZE,
        **{"failure_rate": 0.1, "filtered_rate": 0.1, "broker_restarts": 2, "resets": 2},
        **{"duration": 900_000, "seed": 6},
    },
}


@cache
def right(name: str, folder: Path) -> tuple[Header, pa.Table, Settings]:
    """A right recording."""
    if name in PLANS:
        plan = Plan(out=folder / f"made-{name}", **PLANS[name])
        trace = open_trace([simulate(plan).trace])
        settings = settings_of(trace.header)
    else:
        (sample,) = (each for each in samples() if each.name == name)
        trace = sample.open()
        settings = settings_for(trace, sample.check)
    return trace.header, by_time(trace.batches()), settings


def violated(header: Header, events: Events, schema: pa.Schema, settings: Settings, folder: Path) -> set[str]:
    in_order = sorted(events, key=lambda event: event["time"])
    numbered = [event | {"seq": number} for number, event in enumerate(in_order)]
    path = folder / "changed.parquet"
    with ParquetWriter(path, header) as writer:
        for batch in pa.Table.from_pylist(numbered, schema=schema).to_batches():
            writer.write(batch)
    result = check_locally(open_trace([path]), settings=settings)
    return {answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED}


BROKEN = (*BROKEN_QUEUES, *BROKEN_MESSAGES)
SILENT = (*STOPPED, *LIMITS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("defects")


def found(
    recording: str,
    make: Callable[[Events], Events],
    folder: Path,
    *,
    group: Mapping[str, Any] | None = None,
    timers: Mapping[str, int] | None = None,
) -> set[str]:
    header, table, settings = right(recording, folder)
    if group:
        header = replace(header, groups={name: replace(known, **group) for name, known in header.groups.items()})
    settings = settings.with_timers(replace(header, timers=timers or {}))
    events = [{name: value for name, value in event.items() if value is not None} for event in table.to_pylist()]
    return violated(header, make(events), table.schema, settings, folder)


def test_the_recordings_are_right(folder: Path) -> None:
    for name in sorted({defect.recording for defect in (*DEFECTS, *SILENT, *BROKEN)}):
        header, table, settings = right(name, folder)
        assert (name, violated(header, table.to_pylist(), table.schema, settings, folder)) == (name, set())


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_is_found_by_its_claim(defect: Defect, folder: Path) -> None:
    assert defect.claim in found(defect.recording, defect.make, folder)


@pytest.mark.parametrize("stopped", SILENT, ids=lambda stopped: stopped.name)
def test_a_mechanism_that_stops_is_noticed(stopped: Stopped, folder: Path) -> None:
    assert stopped.claims & found(stopped.recording, stopped.make, folder)


@pytest.mark.parametrize("stopped", [one for one in SILENT if one.twin], ids=lambda stopped: stopped.name)
def test_what_is_silent_for_a_right_reason_is_not(stopped: Stopped, folder: Path) -> None:
    assert stopped.twin is not None
    assert found(stopped.recording, stopped.twin, folder) == set()


@pytest.mark.parametrize("one", BROKEN, ids=lambda one: one.name)
def test_a_mechanism_that_works_in_a_wrong_way_is_found(one: Broken, folder: Path) -> None:
    assert one.claims & found(one.recording, one.make, folder, group=one.group, timers=one.timers)
