"""Runs of scenarios on a real cluster: what they show is what must be found, and nothing is left behind."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import Toolchain
from rocketproof.lab.run import OUTCOME, TRACE, Runner
from rocketproof.lab.scenario import load, parse

BROKEN = """
title = "A step that cannot be done"
shows = "What ran before it is ended."
[topics.orders]
[consumers.one]
[[steps]]
do = "start"
client = "one"
[[steps]]
do = "start"
client = "one"
"""

pytestmark = pytest.mark.lab


def commands_with(part: str) -> list[str]:
    """The commands of all processes that name ``part``, such as a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_text(encoding="utf-8", errors="replace"))
    return [command for command in found if part in command]


@pytest.mark.parametrize("name", ["steady", "failures-to-dead-letter", "graceful-shutdown-slow-listener"])
def test_a_scenario_shows_what_it_must(name: str, toolchain: Toolchain, tmp_path: Path) -> None:
    said: list[str] = []
    scenario = load(name)
    outcome = Runner(toolchain=toolchain, release="5.3.3", out=tmp_path, say=said.append).run(scenario)
    assert outcome.differences == ()
    assert outcome.measured.deliveries == getattr(scenario.expect.deliveries, "low", None)
    assert (outcome.measured.unexplained, outcome.measured.losses, outcome.mismatches) == (0, 0, 0)
    kept = tmp_path / f"{name}-5.3.3"
    assert sorted(path.name for path in kept.iterdir()) == [OUTCOME, TRACE]
    assert json.loads((kept / OUTCOME).read_text(encoding="utf-8"))["met"] is True
    assert said[0].startswith(f"{name} on RocketMQ 5.3.3: ")


def test_a_run_that_fails_leaves_its_logs_and_no_process(toolchain: Toolchain, tmp_path: Path) -> None:
    scenario = parse(BROKEN, name="broken", where="broken.toml")
    with pytest.raises(LabError, match="consumer 'one' runs already at this step") as caught:
        Runner(toolchain=toolchain, release="5.3.3", out=tmp_path, say=lambda _: None).run(scenario)
    kept = tmp_path / "broken-5.3.3"
    assert str(kept) in str(caught.value)
    assert (kept / "clients" / "one" / "one.log").exists()
    assert commands_with("rocketproof-broken-") == []


def test_a_release_that_a_scenario_does_not_run_on(toolchain: Toolchain) -> None:
    scenario = parse('releases = ["4.9.8"]\n' + BROKEN, name="broken", where="broken.toml")
    with pytest.raises(LabError, match=r"scenario broken runs on 4\.9\.8, not on 5\.3\.3"):
        Runner(toolchain=toolchain, release="5.3.3").run(scenario)
