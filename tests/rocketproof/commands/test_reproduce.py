"""``rocketproof reproduce``: the shortest run that shows a finding, as a test that is executed, and as a scenario."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketproof.commands.record import RecordRequest, record
from rocketproof.deployment.reading import read
from rocketproof.diagnosis.as_scenario import _QUIET
from rocketproof.explorer.page import entries_in
from rocketproof.lab.scenario import load
from rocketproof.model.assignment import assignment
from rocketproof.model.consumption import consumption
from rocketproof.traces.samples import FOLDER

from ..command import run


@pytest.fixture(scope="module")
def b7(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a bug."""
    folder = tmp_path_factory.mktemp("b7") / "new"
    record(RecordRequest(mutant="B7"), str(folder))
    return folder / "trace.jsonl"


def executed(folder: Path) -> str:
    """What pytest says of the file that was written, in its last line."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_incident.py"]
    done = subprocess.run(command, cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[-1].partition(" in ")[0]


def test_a_finding_becomes_a_test_a_scenario_and_a_deployment(
    capsys: pytest.CaptureFixture[str], b7: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "incident"
    code, out, err = run(capsys, "reproduce", b7, "offset-never-past-unfinished", "--out", folder)
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == (
        "offset-never-past-unfinished: 7 steps of the model with B7 commit-ignores-in-flight-batch, "
        "in a configuration as large as the recorded group"
    )
    told = json.loads((folder / "run.json").read_text())
    assert {name: told[name] for name in ("subject", "property", "without_the_bug", "not_in_the_lab")} == {
        "subject": "B7",
        "property": "offset-never-past-unfinished",
        "without_the_bug": "HOLDS",
        "not_in_the_lab": [],
    }
    assert told["steps"][-1] == "commit(c0,q0)"
    assert executed(folder) == "2 passed, 1 xfailed"
    scenario = load(str(folder / "incident.toml"))
    assert (list(scenario.consumers), scenario.consumers["one"].listener) == (["one"], "orderly")
    assert scenario.expect.holds == ["offset-never-past-unfinished"]
    (group,) = read(folder / "rocketproof.toml").description.groups
    assert (group.name, group.listener, group.members[0].instances) == ("billing", "orderly", 1)
    assert "take(c0,q0)~send_pull(c0,q0)~" in json.dumps(entries_in((folder / "run.html").read_text()))


@pytest.mark.slow
def test_why_messages_came_again_in_a_right_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "incident"
    trace = FOLDER / "kill-9-mid-batch-5.3.3.jsonl.zst"
    code, out, _ = run(capsys, "reproduce", trace, "--out", folder)
    assert code == 0
    assert out.startswith("messages came again: CRASH: ")
    assert json.loads((folder / "run.json").read_text())["property"] == "again-crash"
    assert executed(folder) == "1 passed"
    assert [step.do for step in load(str(folder / "incident.toml")).steps if step.do == "kill"] == ["kill"]


def test_what_cannot_be_reproduced_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], b7: Path, tmp_path: Path
) -> None:
    code, out, err = run(capsys, "reproduce", b7, "nothing-skiped", "--out", tmp_path / "a")
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert "nothing-skiped is not a finding in " in err
    assert "Violated: offset-never-past-unfinished; known bugs that explain it: B7" in err
    assert not (tmp_path / "a").exists()
    code, _, err = run(capsys, "reproduce", FOLDER / "steady-5.3.3.jsonl.zst", "--out", tmp_path / "b")
    assert (code, err.count("\n")) == (3, 1)
    assert "nothing is wrong with the recording, and no message came again" in err
    code, _, err = run(capsys, "reproduce", b7, "--out", b7.parent)
    assert (code, err.count("\n")) == (3, 1)


def test_steps_that_clients_take_by_themselves_are_actions_that_there_are() -> None:
    assert _QUIET <= set(consumption.actions) | set(assignment.actions)
