"""The example of docs/spark.md runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.spark.blocks import BLOCK_ROWS
from rocketproof.traces.generate.simulation import Plan, simulate

TEXT = (Path(__file__).parents[2] / "docs" / "spark.md").read_text(encoding="utf-8")


def test_the_example_runs(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    simulate(Plan(out=tmp_path, messages=2_000, consumers=3, queues=8, mutant="B2"))
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    # The folder of the running session is where the tests were begun.
    code = code.replace('"trace.parquet"', repr(str(tmp_path / "trace.parquet"))).replace(
        '"found"', repr(str(tmp_path / "found"))
    )
    names: dict[str, Any] = {}
    exec(compile(code, "docs/spark.md", "exec"), names)
    assert names["mined"].verdict("offset-never-back-without-cause") is Verdict.VIOLATED
    assert capsys.readouterr().out.count("offset-never-back...") == 1 + 3
    assert sorted(path.name for path in (tmp_path / "found").iterdir()) == ["findings", "verdicts"]


def test_the_size_of_a_block_is_told() -> None:
    assert f"{BLOCK_ROWS:,} events of a partition" in " ".join(TEXT.split())
