"""Defects that change all that would be different: each is violated where it should be."""

from __future__ import annotations

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
from rocketproof.traces.samples import samples, settings_for

from .semantic_defects import DEFECTS, Defect, Events

PLANS: dict[str, dict[str, Any]] = {
    "simulated": {"failure_rate": 0.1},
    "simulated-orderly": {"group_kind": "orderly"},
}


@cache
def right(name: str, folder: Path) -> tuple[Header, pa.Table, Settings]:
    """A right recording."""
    if name in PLANS:
        plan = Plan(out=folder / f"made-{name}", messages=400, queues=4, consumers=2, seed=1, keys=True, **PLANS[name])
        trace, settings = open_trace([simulate(plan).trace]), Settings()
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


def found(defect: Defect, folder: Path) -> set[str]:
    header, table, settings = right(defect.recording, folder)
    events = [{name: value for name, value in event.items() if value is not None} for event in table.to_pylist()]
    return violated(header, defect.make(events), table.schema, settings, folder)


def test_the_recordings_are_right(folder: Path) -> None:
    for name in {defect.recording for defect in DEFECTS}:
        header, table, settings = right(name, folder)
        assert (name, violated(header, table.to_pylist(), table.schema, settings, folder)) == (name, set())


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_is_found_by_its_claim(defect: Defect, folder: Path) -> None:
    assert defect.claim in found(defect, folder)
