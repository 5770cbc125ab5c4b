"""``rocketproof simulate``: options become a plan, mistakes one line, and half a trace never stays."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketproof.commands import simulate
from rocketproof.traces.generate.simulation import MUTANTS, Plan, Summary
from rocketproof.traces.io import open_trace

from ..command import run


def test_it_says_what_was_made_and_how_to_check_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "new" / "trace"
    options = ["--messages", "3e2", "--consumers", 2, "--queues", 4, "--mutant", "B7", "--format", "jsonl", "--keys"]
    code, out, err = run(capsys, "simulate", *options, "--failure-rate", 0.2, "--seed", 5, "--out", folder)
    assert (code, err) == (0, "")
    truth = json.loads((folder / "truth.json").read_text())
    assert (truth["mutant"], truth["seed"], truth["messages"], truth["finished"]) == ("B7", 5, 300, True)
    lines = out.splitlines()
    assert lines[0].startswith(f"{truth['events']:,} events of 300 messages, ")
    assert lines[0].endswith(f"s of the cluster (seed 5): {folder}/trace.jsonl")
    assert [tuple(line.split()) for line in lines[1:-2]] == [
        (f"{count:,}", fact) for fact, count in truth["facts"].items()
    ]
    assert truth["facts"]["violation:offset-never-past-unfinished"] == 3
    assert lines[-2:] == [
        f"what was injected: {folder}/truth.parquet",
        f"check it: rocketproof check {folder}/trace.jsonl",
    ]
    assert run(capsys, "check", folder / "trace.jsonl", "--report", folder / "report")[0] == 1
    trace = open_trace([folder])  # what the kit itself lays beside a trace makes nothing unknown
    assert (trace.problems.count, len(trace.left_out)) == (0, 9)
    assert sum(map(len, trace.batches(["key"]))) == truth["events"]
    assert trace.header.source == "rocketproof simulate, seed 5, mutant B7"


def test_every_value_goes_into_the_plan(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plans: list[Plan] = []

    def plan_only(plan: Plan, progress: Callable[[int, int], None]) -> Summary:
        plans.append(plan)
        there = plan.out / "trace.parquet"
        return Summary(trace=there, truth=there, events=0, messages=0, span=0, finished=False, facts={})

    monkeypatch.setattr(simulate, "simulate", plan_only)
    values = {
        "messages": 1_000,
        "consumers": 3,
        "queues": 6,
        "topics": 2,
        "brokers": 3,
        "group_kind": "orderly",
        "strategy": "CONSISTENT_HASH",
        "failure_rate": 0.5,
        "retry_failure_rate": 0.25,
        "filtered_rate": 0.125,
        "max_attempts": -1,
        "refusal_rate": 0.0,
        "churn": 4,
        "broker_restarts": 5,
        "resets": 6,
        "corrections": 7,
        "timeouts": 8,
        "rate": 900,
        "mutant": "E3",
        "mutant_places": 9,
        "seed": 10,
        "format": "jsonl",
        "delays": "1s 2s",
    }
    written = [text for name, value in values.items() for text in (f"--{name.replace('_', '-')}", value)]
    times = ["--consume-timeout", "30s", "--duration", "2h", "--keys"]
    code, out, _ = run(capsys, "simulate", *written, *times, "--out", tmp_path / "new")
    assert code == 0
    assert "messages were still being processed when it ended" in out.splitlines()
    wanted = {**values, "consume_timeout": 30_000, "duration": 7_200_000, "keys": True, "out": tmp_path / "new"}
    assert {name: getattr(plans[0], name) for name in wanted} == wanted
    left = {name for name in vars(plans[0]) if name not in wanted}
    assert left == {"rows", "start", "release"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--messages", "0"], "--messages '0' is not a number."),
        (["--failure-rate", "1.5"], "--failure-rate is 1.5; it is a share, from 0 to below 1."),
        (["--consumers", "0"], "--consumers is 0; a simulated run needs at least 1."),
        (["--group-kind", "pop"], "--group-kind is 'pop'; possible: concurrently, orderly, broadcasting."),
        (["--brokers", "17"], "16 queues cannot be spread over 17 brokers; use fewer brokers."),
        (["--delays", "soon"], "--delays: messageDelayLevel 'soon': level 1 is 'soon'."),
        (["--duration", "5"], "--duration '5' is no time."),
        (["--mutant", "Z9"], "there is no mutant 'Z9' of a simulated cluster. 'simulate --list' shows all."),
        (["--mutant", "E3"], "mutant E3 needs --group-kind orderly."),
        (["--format", "csv"], "--format is 'csv'; possible: parquet, jsonl."),
    ],
)
def test_what_is_impossible_is_said_in_words_of_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, "simulate", *arguments, "--out", tmp_path / "new")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert err.startswith(f"rocketproof: {message}")
    assert not (tmp_path / "new").exists()


def test_the_folder_must_be_new(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    for out, message in {
        tmp_path: f"--out {tmp_path} exists already and is not an empty folder; name a new one.",
        tmp_path
        / "notes.txt": f"--out {tmp_path}/notes.txt exists already and is not an empty folder; name a new one.",
        tmp_path / "notes.txt" / "x": f"cannot write to {tmp_path}/notes.txt/x: {tmp_path}/notes.txt is a file, and a "
        "folder is needed.",
    }.items():
        assert run(capsys, "simulate", "--messages", 10, "--out", out) == (3, "", f"rocketproof: {message}\n")
    missing = "rocketproof: --out is missing: name a new folder for the trace.\n"
    assert run(capsys, "simulate", "--messages", 10) == (3, "", missing)
    assert (tmp_path / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("existed", [True, False])
def test_half_a_trace_does_not_stay(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, existed: bool
) -> None:
    folder = tmp_path / "trace"
    if existed:
        folder.mkdir()

    def interrupted(plan: Plan, progress: Callable[[int, int], None]) -> Summary:
        plan.out.mkdir(exist_ok=True)
        (plan.out / "trace.parquet").write_text("half")
        progress(400, 1_000)
        progress(700, 1_000)
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("the run went on")

    monkeypatch.setattr(simulate, "simulate", interrupted)
    code, out, err = run(capsys, "simulate", "--messages", "1e3", "--out", folder)
    assert (code, out) == (2, "")
    left = f"interrupted, nothing is left in {folder}: 700 of 1,000 messages produced"
    assert err == f"rocketproof: {left}\n"
    assert folder.exists() is existed
    assert not existed or not list(folder.iterdir())


def test_a_full_disk_is_no_defect(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(plan: Plan, progress: Callable[[int, int], None]) -> Summary:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(simulate, "simulate", full)
    code, _, err = run(capsys, "simulate", "--out", tmp_path / "new")
    assert (code, err) == (3, f"rocketproof: cannot write to {tmp_path}/new: No space left on device.\n")


def test_the_list_has_every_mutant(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "simulate", "--list")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == list(MUTANTS)
    assert lines[0] == f"A1   {MUTANTS['A1'].what}"
