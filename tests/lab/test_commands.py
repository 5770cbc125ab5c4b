"""The commands up, status and down: a cluster outlives its command, and a command that is ended leaves nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.lab.cluster import clear
from rocketproof.lab.process import processes_with

pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("toolchain")]

COMMAND = [sys.executable, "-m", "rocketproof", "lab"]


def mark(home: Path) -> str:
    return f"-Drocketproof.lab={home}"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A folder for a cluster, which is ended whatever the test does."""
    folder = tmp_path / "home"
    yield folder
    clear(folder)


def done(*arguments: object) -> tuple[int, str, str]:
    """A command of the lab in a process of its own."""
    finished = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    return finished.returncode, finished.stdout, finished.stderr


def test_a_cluster_outlives_its_command_and_is_looked_at_and_ended(home: Path) -> None:
    code, out, error = done("up", "--home", home)
    assert (code, error) == (0, "")
    assert out.startswith(f"RocketMQ 5.3.3 is up in {home}\n")
    assert f"end it: rocketproof lab down --home {home}\n" in out
    code, out, _ = done("status", "--home", home)
    assert code == 0
    assert out.count("  answers  ") == 2
    namesrv, _broker = processes_with(mark(home))
    os.kill(namesrv, signal.SIGKILL)
    code, out, _ = done("status", "--home", home)
    assert code == 1
    assert (out.count("  ended  "), out.count("  answers  ")) == (1, 1)
    assert "\nnamesrv: the end of its log\n" in out
    code, out, _ = done("down", "--home", home)
    assert (code, out) == (0, f"the cluster in {home} has ended, and its folder is removed\n")
    assert processes_with(mark(home)) == []
    assert not home.exists()


def starting(home: Path) -> subprocess.Popen[str]:
    """``lab up``, as soon as it has started a process."""
    command = subprocess.Popen([*COMMAND, "up", "--home", str(home)], stderr=subprocess.PIPE, text=True)
    while command.poll() is None and not processes_with(mark(home)):
        time.sleep(0.02)
    assert command.poll() is None
    return command


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_start_leaves_nothing(home: Path, number: signal.Signals) -> None:
    command = starting(home)
    command.send_signal(number)
    _, error = command.communicate()
    assert (command.returncode, error) == (2, "rocketproof: interrupted; nothing is left of the cluster\n")
    assert processes_with(mark(home)) == []
    assert not home.exists()


def test_what_a_killed_start_leaves_is_ended_by_down(home: Path) -> None:
    command = starting(home)
    command.kill()
    command.communicate()
    assert len(processes_with(mark(home))) == 1
    assert done("down", "--home", home)[0] == 0
    assert processes_with(mark(home)) == []
    assert not home.exists()
