"""``rocketproof samples``: what it prints, and that a sample that is not as expected is not passed over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.commands.samples import DIFFERENT, add, check_samples
from rocketproof.errors import InputError
from rocketproof.lab.run import TRACE
from rocketproof.traces.samples import samples

EVENTS: list[dict[str, Any]] = [
    {"rocketproof_trace": 1, "source": "test", "groups": {"g": {}}},
    *(
        {"time": 1_000 * n, "kind": kind, "client": "c", "group": "g", "topic": "t", "broker": "b", "queue": 0}
        | ({"offset": n // 2, "key": f"K{n // 2}", "attempt": 0})
        | ({"result": "ok"} if kind == "result" else {})
        for n, kind in enumerate(["deliver", "result"] * 4)
    ),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one sample, made from what looks like a run of the lab."""
    run = tmp_path / "runs" / "steady-5.3.3"
    run.mkdir(parents=True)
    (run / TRACE).with_suffix("").write_text("".join(json.dumps(event) + "\n" for event in EVENTS), encoding="utf-8")
    (run / TRACE).with_suffix("").rename(run / TRACE)  # what is in a file tells how it is packed
    (tmp_path / "samples").mkdir()
    assert add([str(run)], to=tmp_path / "samples") == 0
    return tmp_path / "samples"


def test_a_run_becomes_a_sample_with_its_numbers(folder: Path) -> None:
    (sample,) = samples(folder)
    assert (sample.name, sample.scenario, sample.release) == ("steady-5.3.3", "steady", "5.3.3")
    assert sample.title == "Steady consumption by two clients"
    assert (sample.measured["events"], sample.measured["deliveries"]) == (8, 4)
    assert sample.measured["statuses"] == {"ACKNOWLEDGED": 4}
    assert (sample.conformance["events"], sample.conformance["mismatches"]) == (8, 0)


def test_what_is_as_expected_is_a_line_of_the_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert check_samples([], folder=folder) == 0
    head, line, _, summary = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["scenario", "release", "events", "deliveries"]
    assert line.split() == ["steady", "5.3.3", "8", "4", "0", "0", "0", "0", "0"]
    assert summary.startswith("1 real run checked: all as expected; ")


def test_what_is_not_as_expected_is_told_and_fails(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder / "steady-5.3.3.json"
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts["measured"]["deliveries"] = 5
    facts["conformance"]["mismatches"] = 1
    path.write_text(json.dumps(facts), encoding="utf-8")
    capsys.readouterr()
    assert check_samples(["steady"], folder=folder) == DIFFERENT
    lines = capsys.readouterr().out.splitlines()
    assert lines[3:6] == [
        "steady-5.3.3: not as expected",
        "  deliveries is 4, expected 5",
        "  mismatches is 0, expected 1",
    ]
    assert lines[-1].startswith("1 real run checked: 1 not as expected; ")


def test_the_numbers_come_as_json_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert check_samples(["steady-5.3.3"], to_json="-", folder=folder) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["sample"], told["measured"]["deliveries"], told["differences"]) == ("steady-5.3.3", 4, [])


def test_a_name_that_is_none_is_a_mistake(folder: Path) -> None:
    with pytest.raises(InputError, match="there is no sample 'stedy'"):
        check_samples(["stedy"], folder=folder)


def test_a_folder_that_is_no_run_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run of the lab"):
        add([str(tmp_path)], to=tmp_path)
