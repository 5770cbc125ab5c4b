"""``lab run`` and ``lab scenarios``: what is listed, what is refused before anything starts, and exit codes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rocketproof.commands import lab_run
from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import Toolchain
from rocketproof.lab.outcome import Outcome
from rocketproof.lab.run import Runner
from rocketproof.lab.scenario import Scenario, names
from rocketproof.output.progress import Interrupted
from rocketproof.traces.engine.measured import Measured, Overlaps

MEASURED = Measured(
    events=9,
    deliveries=4,
    duplicates={},
    unexplained=0,
    losses=0,
    overlaps=Overlaps(count=0, longest=0, total=0),
    statuses={"ACKNOWLEDGED": 4},
    violated=(),
    unknown=(),
    holds=(),
    problems=0,
)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, ...]]:
    """Runs without RocketMQ: what differs, by scenario; nothing for those that are not there."""
    differing: dict[str, tuple[str, ...]] = {}

    def run(runner: Runner, scenario: Scenario) -> Outcome:
        if differing.get(scenario.name) == ("interrupt",):
            raise KeyboardInterrupt
        outcome = Outcome(
            scenario=scenario.name, release=runner.release, measured=MEASURED, verdicts={}, mismatches=0, left_out={}
        )
        return replace(outcome, differences=differing.get(scenario.name, ()))

    monkeypatch.setattr(Runner, "run", run)
    monkeypatch.setattr(
        Toolchain, "find", classmethod(lambda cls: cls(java=Path("java"), maven=Path("mvn"), cache=Path("cache")))
    )
    return differing


def test_all_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert lab_run.list_scenarios() == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line and not line.startswith(" ")]
    assert [line.partition(":")[0] for line in titles] == list(names())
    assert "same-client-id: Two processes with one client id (A1, EN-2, EN-6, RB-21)" in titles


def test_as_expected(runs: dict[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    assert lab_run.run(["steady"]) == 0
    out = capsys.readouterr().out
    assert "steady: as expected" in out
    assert "9 events, 4 deliveries; messages: 4 acknowledged" in out


def test_not_as_expected(runs: dict[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    runs["broadcast"] = ("3 losses, 0 expected",)
    assert lab_run.run(["steady", "broadcast"], release="4.9.8") == 1
    out = capsys.readouterr().out
    assert "NOT AS EXPECTED: 3 losses, 0 expected" in out
    assert "2 scenarios on RocketMQ 4.9.8: not as expected: broadcast" in out


def test_without_names_all_are_run(runs: dict[str, tuple[str, ...]], capsys: pytest.CaptureFixture[str]) -> None:
    assert lab_run.run([]) == 0
    assert f"{len(names())} scenarios on RocketMQ 5.3.3: all as expected" in capsys.readouterr().out


def test_an_interruption_tells_how_far_it_came(runs: dict[str, tuple[str, ...]]) -> None:
    runs["broadcast"] = ("interrupt",)
    with pytest.raises(Interrupted, match="interrupted: 1 of 3 scenarios run"):
        lab_run.run(["steady", "broadcast", "network-cut"])


@pytest.mark.parametrize(
    ("wanted", "options", "told"),
    [
        (["stead"], {}, "there is no scenario 'stead'"),
        (["steady"], {"release": "5.0.0"}, r"5\.0\.0"),
        (["steady"], {"keep": True}, "--keep needs --out DIR"),
    ],
    ids=["name", "release", "keep"],
)
def test_mistakes_are_told_before_anything_starts(
    wanted: list[str], options: dict[str, object], told: str, runs: dict[str, tuple[str, ...]]
) -> None:
    with pytest.raises(LabError, match=told):
        lab_run.run(wanted, **options)  # type: ignore[arg-type]
