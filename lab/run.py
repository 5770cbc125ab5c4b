"""Running a scenario: a cluster of its own, the steps, the recordings as one trace, and the outcome."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ..traces.errors import TraceError
from ..traces.io import open_trace
from .capture import keep_capture
from .clients import Operator, Setup
from .cluster import Cluster
from .errors import LabError
from .faults import Stage
from .maven import Toolchain
from .outcome import Outcome, judge
from .scenario import Scenario

TRACE, OUTCOME = "trace.jsonl.zst", "outcome.json"
"""Files of a run: what was captured, and its outcome."""


@dataclass(frozen=True, kw_only=True)
class Runner:
    """Runs scenarios, each in a cluster of its own."""

    toolchain: Toolchain  # Java and Maven
    release: str  # release of RocketMQ
    out: Path | None = None  # folder for the results, with a folder NAME-RELEASE for each run; None to keep nothing
    keep: bool = False  # also keep recordings and logs of each run
    say: Callable[[str], None] = print  # called with each progress message, one line at a time

    def run(self, scenario: Scenario) -> Outcome:
        """Run a scenario and judge it. When this returns or raises, nothing is running any more.

        Raises:
            LabError: something did not start, or a step could not be done.
        """
        if self.release not in scenario.releases:
            raise LabError(f"scenario {scenario.name} runs on {', '.join(scenario.releases)}, not on {self.release}.")
        folder = Path(tempfile.mkdtemp(prefix=f"rocketproof-{scenario.name}-"))
        try:
            outcome = self._run(scenario, folder)
        except (LabError, TraceError) as error:
            kept = self._keep(scenario, folder)
            raise LabError(f"{error}\nLogs of the run: {kept}") if kept else error from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return outcome

    def _run(self, scenario: Scenario, folder: Path) -> Outcome:
        self.say(f"{scenario.name} on RocketMQ {self.release}: {scenario.title}")
        capture = folder / "capture"
        capture.mkdir()
        stage = self._play(scenario, folder, capture)
        self._take_logs(scenario, folder / "clients", capture)
        trace = folder / TRACE
        complete = scenario.end == "drained"
        joined = keep_capture([capture], out=trace, deaths=stage.deaths, complete=complete)
        raw = open_trace([capture], deaths=stage.deaths)
        raw.header = replace(raw.header, complete=complete)
        outcome = judge(
            trace, raw, scenario, self.release, left_out=joined.left_out, problems=map(str, joined.problems)
        )
        (folder / OUTCOME).write_text(json.dumps(outcome.as_json(), indent=2) + "\n", encoding="utf-8")
        self._keep(scenario, folder)
        return outcome

    def _play(self, scenario: Scenario, folder: Path, capture: Path) -> Stage:
        setup = Setup(toolchain=self.toolchain, release=self.release, folder=folder / "clients", capture=capture)
        with ExitStack() as cleaning:
            cluster = cleaning.enter_context(
                Cluster.up(
                    self.toolchain,
                    release=scenario.cluster.release or self.release,
                    brokers=scenario.cluster.brokers,
                    home=folder / "cluster",
                    settings=scenario.cluster.settings,
                    properties=scenario.cluster.properties,
                    capture=capture if scenario.cluster.recorded else None,
                    clock_ms=scenario.cluster.clock_ms,
                )
            )
            operator = Operator.start(setup, cluster.namesrv)
            cleaning.callback(operator.process.kill)
            stage = Stage(
                scenario=scenario, setup=setup, cluster=cluster, operator=operator, say=self.say, cleaning=cleaning
            )
            stage.prepare()
            for step in scenario.steps:
                stage.do(step)
            if scenario.end == "drained":
                stage.drain()
            self.say(f"{stage.elapsed:6.1f} s  stop the clients")
            stage.stop_all()
            for broker in cluster.brokers:
                broker.stop()
        return stage

    def _take_logs(self, scenario: Scenario, clients: Path, capture: Path) -> None:
        """Use the logs of clients that nothing else has recorded."""
        for name, consumer in scenario.consumers.items():
            if consumer.recorded == "log":
                for log in (clients / (consumer.host or name)).rglob("rocketmqlogs/*.log"):
                    if log.stat().st_size:
                        shutil.copyfile(log, capture / f"{name}-{log.name}")

    def _keep(self, scenario: Scenario, folder: Path) -> Path | None:
        """Copy the files of a run that are to be kept; returns the folder, or None if nothing is kept."""
        if self.out is None:
            return None
        kept = self.out / f"{scenario.name}-{self.release}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        for name in (TRACE, OUTCOME):
            if (folder / name).exists():
                shutil.copyfile(folder / name, kept / name)
        if self.keep or not (folder / OUTCOME).exists():
            for part in ("capture", "clients"):
                if (folder / part).is_dir():  # a run may end before there is any client
                    shutil.copytree(folder / part, kept / part, dirs_exist_ok=True)
            for log in (folder / "cluster").rglob("*.log"):
                shutil.copyfile(log, kept / log.name)
        return kept
