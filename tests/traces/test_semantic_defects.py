"""Defects that change all that would be different: each is violated where it should be."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.schema import Header
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.generate.trace_mutants import by_time
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.writing import ParquetWriter
from rocketproof.traces.samples import samples, settings_for, settings_of

from .semantic_defects import DEFECTS, Defect, Events
from .stopped_mechanisms import STOPPED, Stopped

SIZE: dict[str, Any] = {"messages": 400, "queues": 4, "consumers": 2, "seed": 1, "keys": True}
PLANS: dict[str, dict[str, Any]] = {
    "simulated": {**SIZE, "failure_rate": 0.1},
    "simulated-orderly": {**SIZE, "group_kind": "orderly"},
    "simulated-deaths": {**SIZE, "messages": 600, "consumers": 3, "seed": 3, "churn": 4, "duration": 900_000},
    "simulated-broadcasting": {**SIZE, "messages": 300, "queues": 2, "group_kind": "broadcasting"},
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("defects")


def found(recording: str, make: Callable[[Events], Events], folder: Path) -> set[str]:
    header, table, settings = right(recording, folder)
    events = [{name: value for name, value in event.items() if value is not None} for event in table.to_pylist()]
    return violated(header, make(events), table.schema, settings, folder)


def test_the_recordings_are_right(folder: Path) -> None:
    for name in sorted({defect.recording for defect in (*DEFECTS, *STOPPED)}):
        header, table, settings = right(name, folder)
        assert (name, violated(header, table.to_pylist(), table.schema, settings, folder)) == (name, set())


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_is_found_by_its_claim(defect: Defect, folder: Path) -> None:
    assert defect.claim in found(defect.recording, defect.make, folder)


@pytest.mark.parametrize("stopped", STOPPED, ids=lambda stopped: stopped.name)
def test_a_mechanism_that_stops_is_noticed(stopped: Stopped, folder: Path) -> None:
    assert stopped.claims & found(stopped.recording, stopped.make, folder)


@pytest.mark.parametrize("stopped", [one for one in STOPPED if one.twin], ids=lambda stopped: stopped.name)
def test_what_is_silent_for_a_right_reason_is_not(stopped: Stopped, folder: Path) -> None:
    assert stopped.twin is not None
    assert found(stopped.recording, stopped.twin, folder) == set()
