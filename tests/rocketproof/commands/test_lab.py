"""The commands below ``rocketproof lab``: what they are, and mistakes; tests/lab runs them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from ..command import run


def test_without_a_command_it_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "lab")
    assert code == 0
    for command in ("up", "down", "status", "run", "scenarios", "capture", "table"):
        assert f"\n  {command} " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["up", "--release", "5"],
            "there is no release '5' in the lab; there are 5.3.3, 5.5.0, 4.9.8, 5.1.4, 4.9.4, 4.7.1.",
        ),
        (["up", "--brokers", "0"], "a cluster of the lab has 1 or 2 brokers, not 0."),
        (["up", "--set", "x"], "--set 'x' is not NAME=VALUE."),
        (["up", "--capture", __file__], f"cannot write to {__file__}: {__file__} is a file, and a folder is needed."),
        (["status"], "no cluster of the lab was started with the folder HOME."),
        (["capture", "out.jsonl"], "no cluster of the lab was started with the folder HOME."),
    ],
)
def test_a_mistake_is_one_line_and_3(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], message: str
) -> None:
    home = tmp_path / "home"
    code, out, error = run(capsys, "lab", *arguments, "--home", home)
    assert (code, out) == (3, "")
    assert error == f"rocketproof: {message}\n".replace("HOME", str(home))
    assert not home.exists()


def test_without_java_one_line_says_what_to_install(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    code, out, error = run(capsys, "lab", "up", "--home", tmp_path / "home")
    assert (code, out) == (3, "")
    assert error.splitlines() == [
        "rocketproof: the lab needs a JDK, 17 or newer, and there is none in the path; "
        "on Debian and Ubuntu: apt-get install openjdk-17-jdk-headless maven."
    ]


def test_nothing_to_end_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert run(capsys, "lab", "down", "--home", home) == (0, f"no cluster runs in {home}\n", "")


def test_the_usual_folder_is_of_this_user(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run(capsys, "lab", "down") == (0, f"no cluster runs in {tmp_path}/rocketproof-lab-{os.getuid()}\n", "")
