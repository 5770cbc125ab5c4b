"""What runs in other people's pipelines names commands, options, targets and files that are there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer

from rocketproof import cli
from rocketproof.deployment.description import TABLES

ROOT = Path(__file__).parents[2]
PIPELINES = [ROOT / "action.yml", ROOT / ".pre-commit-hooks.yaml", *sorted(ROOT.glob(".github/workflows/*.yml"))]


def options(command: str) -> set[str]:
    """The options of a command."""
    found = typer.main.get_command(cli.app).commands[command]  # type: ignore[attr-defined]
    return {name for parameter in found.params for name in parameter.opts}


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda path: path.name)
def test_commands_and_options_are_those_of_the_kit(pipeline: Path) -> None:
    text = pipeline.read_text(encoding="utf-8")
    named: set[str] = set()
    for command, rest in re.findall(r"\brocketproof (verify|check|samples)\b(.*)", text):
        named |= {command}
        assert set(re.findall(r"--[a-z-]+", rest)) <= options(command), rest
    for array in re.findall(r"options\+?=\((.*)\)", text):
        assert set(re.findall(r"--[a-z-]+", array)) <= options("verify"), array
    assert named or pipeline.name == "release.yml" or "make" in text or ".ci/run" in text


def test_targets_of_make_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    asked = {name for path in PIPELINES for name in re.findall(r"\bmake ([a-z-]+)", path.read_text(encoding="utf-8"))}
    assert asked == {"dist", "test-all"}
    assert asked <= targets


def test_what_is_left_out_of_the_image_is_not_needed_for_the_wheel() -> None:
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    packages = {"model", "properties", "machine_code", "checkers", "traces", "spark", "lab", "explorer", "rocketproof"}
    linked = [path.resolve().relative_to(ROOT).parts[0] for name in packages for path in (ROOT / name).rglob("*")]
    assert {"docs", *packages} == set(linked)  # lessons and rules are links into the documents
    assert not set(linked) & set(left_out)


def test_the_action_knows_a_deployment_by_its_tables() -> None:
    pattern = re.search(r"grep -qE '(.*)' \"\$CONFIG\"", (ROOT / "action.yml").read_text(encoding="utf-8"))
    assert pattern is not None
    assert [table for table in TABLES if not re.match(pattern[1], f"[[{table}]]")] == []
    assert not re.match(pattern[1], "[verify]")


def test_actions_of_others_are_pinned_to_a_commit_with_its_version_beside() -> None:
    used = [line for path in PIPELINES for line in path.read_text(encoding="utf-8").splitlines() if "uses:" in line]
    assert used
    for line in used:
        assert re.search(r"uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line


def script(name: str) -> str:
    """The script of one step of the action."""
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    found = re.search(rf"- name: {name}\n.*?      run: \|\n((?:        [^\n]*\n)+)", text, re.DOTALL)
    assert found is not None, name
    return textwrap.dedent(found[1])


def step(name: str, folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run one step as a job does; the command is that of this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script(name)],
        cwd=folder,
        env={**os.environ, **inputs, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_checks_a_deployment(tmp_path: Path) -> None:
    (tmp_path / "rocketproof.toml").write_text(
        '[[topics]]\nname = "orders"\n[[groups]]\nname = "g"\nmembers = [{ name = "m" }]\n'
        'subscriptions = { orders = "a || b" }\n[verify]\nproperties = ["A3"]\n'
    )
    done = step("Check the deployment or the machines", tmp_path, CONFIG="rocketproof.toml", FAIL_ON="error")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "rocketproof.sarif").exists()
    assert (tmp_path / "rocketproof.xml").exists()


def test_the_action_checks_the_traces_of_a_deployment_with_findings_too() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert re.search(r"- name: Check the recorded runs\n *if: .*&& !cancelled\(\)\n", text)


def test_the_action_checks_each_trace_of_a_list(tmp_path: Path) -> None:
    sample = ROOT / "traces" / "samples" / "steady-5.3.3.jsonl.zst"
    (tmp_path / "with a blank.jsonl.zst").write_bytes(sample.read_bytes())
    done = step("Check the recorded runs", tmp_path, TRACES="\nwith a blank.jsonl.zst\n\n")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "rocketproof-traces.xml").exists()
    assert (tmp_path / "rocketproof-report" / "index.html").exists()
