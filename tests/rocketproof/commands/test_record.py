"""``rocketproof record``: a run of the model becomes a trace that can be checked."""

import errno
import json
from pathlib import Path

import pytest

from rocketproof.commands import record
from rocketproof.traces.io import open_trace

from ..command import run


def events(folder: Path) -> int:
    return sum(map(len, open_trace([folder / "trace.jsonl"]).batches(["kind"])))


def test_a_random_run_follows_from_its_seed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    constants = ["--set", "causes=1", "--set", "failures=2", "--steps", 30]
    traces = {}
    for name, seed, steps in (("a", 3, 17), ("b", 3, 17), ("c", 4, 30)):
        code, out, err = run(capsys, "record", *constants, "--seed", seed, "--out", tmp_path / name)
        assert (code, err) == (0, "")
        assert out.splitlines() == [
            f"a random run of consumption, seed {seed}: {steps} steps, {events(tmp_path / name)} events: "
            f"{tmp_path}/{name}/trace.jsonl",
            f"check it: rocketproof check {tmp_path}/{name}/trace.jsonl",
        ]
        traces[name] = (tmp_path / name / "trace.jsonl").read_text()
    assert traces["a"] == traces["b"] != traces["c"]


@pytest.mark.parametrize("machine", ["assignment", "everything"])
def test_runs_of_other_machines_can_be_recorded(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, machine: str
) -> None:
    code, out, _ = run(capsys, "record", "--machine", machine, "--steps", 20, "--out", tmp_path / "new")
    assert code == 0
    assert out.startswith(f"a random run of {machine}, seed 0: 20 steps, {events(tmp_path / 'new')} events: ")


def test_the_counterexample_of_a_mutant_is_violated_when_it_is_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = run(capsys, "record", "--mutant", "B7", "--out", tmp_path / "new")
    assert code == 0
    assert out.startswith("B7: the shortest run that violates offset-never-past-unfinished: ")
    assert set(json.loads((tmp_path / "new" / "truth.json").read_text())) == {"came again", "offset went back"}
    code, out, _ = run(capsys, "check", tmp_path / "new" / "trace.jsonl", "--property", "offset-never-past-unfinished")
    assert code == 1
    assert out.splitlines()[-1].startswith("1 claim: 1 violated; ")


def test_nothing_is_left_of_a_trace_that_cannot_be_written_to_its_end(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full_disk(path: Path, *_: object) -> None:
        path.write_text("half a line")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(record, "write_jsonl", full_disk)
    code, out, err = run(capsys, "record", "--steps", 5, "--out", tmp_path / "new")
    assert (code, out) == (3, "")
    assert err == f"rocketproof: cannot write to {tmp_path}/new: No space left on device.\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--machine", "orderly_lock"],
            "runs of a machine 'orderly_lock' cannot be recorded. Possible: assignment, consumption, everything.",
        ),
        (["--mutant", "Z9"], "there is no mutant 'Z9' of a machine. "),
        (["--set", "consumers"], "--set 'consumers' is not NAME=VALUE."),
        (["--set", "consumer=3"], "machine consumption has no constant 'consumer'. Did you mean 'consumers' or"),
        (["--steps", "0"], "Invalid value for '--steps': "),
    ],
)
def test_mistakes_are_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, "record", *arguments, "--out", tmp_path / "new")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith(f"rocketproof: {message}")
    assert not (tmp_path / "new").exists()


def test_the_list_names_what_can_be_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "record", "--list")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["B7", "consumption", "commit-ignores-in-flight-batch"] in lines
    assert {machine for _, machine, _ in lines} <= {"assignment", "consumption", "everything"}
    assert "E3" not in {name for name, _, _ in lines}  # of the machine orderly_lock
