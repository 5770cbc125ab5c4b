"""A fixed sample of the damaged inputs of ``python -m benchmarks fuzz``."""

from pathlib import Path

import pytest

from benchmarks.fuzz import tried
from benchmarks.fuzz_inputs import bases, damaged

SAMPLE = range(240)
MENDED = (790, 1026)
"""Inputs that did harm once."""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_no_damaged_input_does_harm(part: int, tmp_path: Path) -> None:
    assert {seed: what for seed in SAMPLE[part::8] if (what := tried(seed, tmp_path))} == {}


@pytest.mark.parametrize("seed", MENDED)
def test_what_did_harm_does_none(seed: int, tmp_path: Path) -> None:
    assert tried(seed, tmp_path) == ""


def test_an_input_follows_from_its_seed() -> None:
    assert damaged(7) == damaged(7)
    assert {damaged(seed)[0].partition(".")[0] for seed in SAMPLE} == {name.partition(".")[0] for name in bases()}
    assert {Path(damaged(seed)[0]).suffix for seed in SAMPLE} == {
        ".gz",
        ".zst",
        ".parquet",
        ".jsonl",
        ".log",
        ".txt",
        ".json",
    }
