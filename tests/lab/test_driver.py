"""The driver: it answers in JSON, tells mistakes, and does not outlive whoever started it."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from rocketproof.lab.clients import ARTIFACTS, HEAP_MB, MAIN
from rocketproof.lab.maven import DEFAULT_RELEASE, Toolchain
from rocketproof.lab.process import java_command

NOWHERE = "127.0.0.1:1"
SECONDS = 120

pytestmark = pytest.mark.lab


def driver(toolchain: Toolchain, *arguments: str, commands: str = "") -> tuple[int, list[dict[str, Any]]]:
    """Run a driver on these commands; its exit code and its answers."""
    command = java_command(
        toolchain,
        DEFAULT_RELEASE,
        MAIN,
        artifacts=ARTIFACTS,
        jars=[toolchain.jar("driver")],
        heap_mb=HEAP_MB,
        arguments=arguments,
    )
    done = subprocess.run(command, input=commands, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_mistakes_are_answers(toolchain: Toolchain) -> None:
    assert driver(toolchain, "consumer") == (2, [{"error": "usage: Driver consumer|producer|admin {JSON}"}])
    code, answers = driver(toolchain, "broker", "{}")
    assert code == 1
    assert "no role broker; there are consumer, producer and admin" in answers[0]["error"]
    code, answers = driver(toolchain, "consumer", '{"group": 7}')
    assert code == 1
    assert "group must be a text, not 7" in answers[0]["error"]
    code, answers = driver(toolchain, "consumer", '{"group": "g"')
    assert code == 1
    assert "wanted more at character 13" in answers[0]["error"]


def test_commands_are_answered_with_their_ids_until_the_input_ends(toolchain: Toolchain) -> None:
    settings = json.dumps({"namesrv": NOWHERE, "note": 'quote " and \\ and \u00e9'})
    commands = '{"do": "dance", "id": 5}\n\n{"do": "topic", "name": "t", "brokers": [], "id": 6}\n'
    code, answers = driver(toolchain, "admin", settings, commands=commands)
    assert answers[0] == {"ready": "admin"}
    assert answers[1] == {"id": 5, "error": "java.lang.IllegalArgumentException: no command dance"}
    assert answers[2] == {"id": 6, "done": "t"}
    assert code == 3  # it was not stopped, its input came to an end


def test_a_word_is_a_command(toolchain: Toolchain) -> None:
    code, answers = driver(toolchain, "admin", json.dumps({"namesrv": NOWHERE}), commands="stop\n")
    assert (code, answers[-1]) == (0, {"stopped": "admin"})
