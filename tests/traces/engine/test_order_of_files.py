"""The order of files is no evidence: what two recorders wrote in the same millisecond may be read either way."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from benchmarks.changes import split_files
from benchmarks.recordings import Recording
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.open import files_of
from rocketproof.traces.samples import FOLDER, settings_for

DATA = Path(__file__).parents[1] / "data" / "two-files"


def check(*files: Path) -> CheckResult:
    trace = open_trace(files)
    return check_locally(trace, settings=settings_for(trace, {}))


def violated(result: CheckResult) -> list[str]:
    return [answer.claim.id for answer in result.verdicts if answer.verdict is Verdict.VIOLATED]


@pytest.mark.parametrize("names", ["xy", "yx"])
def test_copies_in_one_file_and_their_causes_in_the_other(names: str) -> None:
    result = check(*(DATA / f"{name}.jsonl.zst" for name in names))
    assert result.events == 2847
    assert violated(result) == ["offset-never-back-without-cause"]


@pytest.mark.parametrize("turn", [1, -1])
def test_a_file_for_each_recorder(turn: int, tmp_path: Path) -> None:
    recording = Recording.read(FOLDER / "failures-to-dead-letter-5.3.3.jsonl.zst")
    (changed,) = split_files(recording, random.Random(1))
    for name, text in changed.files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    result = check(*sorted(tmp_path.iterdir())[::turn])
    assert violated(result) == []
    assert result.verdict("every-copy-has-a-cause").verdict is Verdict.HOLDS


def test_a_file_that_was_rotated_within_a_millisecond(tmp_path: Path) -> None:
    """The later part has the earlier name."""
    recording = Recording.read(FOLDER / "failures-to-dead-letter-5.3.3.jsonl.zst")
    header, *events = recording.text().splitlines(keepends=True)
    (tmp_path / "trace.jsonl.1").write_text("".join([header, *events[:399]]))
    (tmp_path / "trace.jsonl").write_text("".join([header, *events[399:]]))
    assert json.loads(events[398])["time"] == json.loads(events[399])["time"]
    assert violated(check(tmp_path)) == []
    assert [path.name for path in files_of([tmp_path])] == ["trace.jsonl.1", "trace.jsonl"]
