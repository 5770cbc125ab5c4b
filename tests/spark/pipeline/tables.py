"""Recordings for tests of the pipeline, and what tables and checks of them say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from rocketproof.spark.pipeline import Table, answers_of, mine_table
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import settings_of

from ..engines import answer


def simulated(folder: Path, **options: Any) -> list[dict[str, Any]]:
    """The header of a simulated trace, and its events."""
    plan = {"messages": 400, "consumers": 3, "queues": 4, "format": "jsonl", **options}
    path = simulate(Plan(out=folder, **plan)).trace
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path: Path, lines: Sequence[Any]) -> Path:
    """A JSONL file; texts are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def mined(table: Table, spark: Any, *, skew: int = 50, **options: Any) -> Any:
    """A run of mining on the usual terms."""
    return mine_table(
        lambda: spark, table, terms=lambda trace: replace(settings_of(trace.header), skew=skew), **options
    )


def said(table: Table, cluster: str = "default") -> dict[str, Any]:
    """All that the last run says of a cluster, see ``engines.answer``."""
    (answered,) = answers_of(table, cluster=cluster)
    _, result = answered.result()
    return _unordered(answer(result))


def checked(paths: Sequence[Path], *, skew: int = 50) -> dict[str, Any]:
    """The same of a check of files."""
    trace = open_trace(paths)
    return _unordered(answer(check_locally(trace, settings=replace(settings_of(trace.header), skew=skew))))


def _unordered(whole: dict[str, Any]) -> dict[str, Any]:
    count, by_kind, kept = whole["problems"]
    return {**whole, "problems": (count, by_kind, sorted(kept, key=str))}


def rows(table: Table, run: str, name: str) -> list[dict[str, Any]]:
    """The rows of a table of a run, without the version of the input."""
    paths = sorted((table.folder / run / name).rglob("*.parquet"))
    return [row for path in paths for row in pq.ParquetFile(path).read().drop_columns(["version"]).to_pylist()]
