"""What is kept of a run that did not come to its end."""

from __future__ import annotations

from pathlib import Path

from rocketproof.lab.maven import Toolchain
from rocketproof.lab.run import Runner
from rocketproof.lab.scenario import load


def test_of_a_cluster_that_did_not_start_the_logs_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    for part in ("capture", "cluster"):
        (folder / part).mkdir(parents=True)
    (folder / "cluster" / "namesrv.log").write_text("no port\n", encoding="utf-8")
    toolchain = Toolchain.__new__(Toolchain)  # nothing is started
    kept = Runner(toolchain=toolchain, release="5.3.3", out=tmp_path / "out")._keep(load("steady"), folder)
    assert kept == tmp_path / "out" / "steady-5.3.3"
    assert sorted(path.name for path in kept.iterdir()) == ["capture", "namesrv.log"]
