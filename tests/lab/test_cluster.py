"""A cluster comes up on every release, comes back after restart and crash, and leaves nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocketproof.lab.cluster import Cluster, _check_alive, clear
from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import RELEASES, Toolchain
from rocketproof.lab.process import Process, processes_with
from rocketproof.lab.remoting import brokers_known
from rocketproof.traces.cluster.questions import Request
from rocketproof.traces.cluster.remoting import ask

NO_TOOLS = Toolchain(java=Path("/none/java"), maven=Path("/none/mvn"), cache=Path("/none"))
RELEASE = RELEASES[0]


def mark(home: Path) -> str:
    return f"-Drocketproof.lab={home}"


def test_what_is_impossible_is_refused_before_anything_starts(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for arguments, message in (
        ({"release": "5.0.0"}, "there is no release '5.0.0' in the lab; there are 5.3.3, 5.5.0, 4.9.8, 5.1.4, "),
        ({"release": RELEASE, "brokers": 3}, "a cluster of the lab has 1 or 2 brokers, not 3."),
        ({"release": RELEASE, "settings": {"listenPort": "1"}}, "listenPort is set by the lab, which needs it;"),
    ):
        with pytest.raises(LabError) as error:
            Cluster.up(NO_TOOLS, home=home, **arguments)  # type: ignore[arg-type]
        assert str(error.value).startswith(message)
        assert not home.exists()


def test_no_cluster_no_load(tmp_path: Path) -> None:
    with pytest.raises(LabError) as error:
        Cluster.load(tmp_path)
    assert str(error.value) == f"no cluster of the lab was started with the folder {tmp_path}."


def test_a_damaged_state_is_told(tmp_path: Path) -> None:
    (tmp_path / "lab.json").write_text('{"release": "5.3.3"}', encoding="utf-8")
    with pytest.raises(LabError, match="it is not what the lab wrote"):
        Cluster.load(tmp_path)


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("text", encoding="utf-8")
    with pytest.raises(LabError, match="is not the folder of a cluster of the lab"):
        clear(tmp_path)
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "text"


def test_nothing_to_end_is_fine(tmp_path: Path) -> None:
    assert clear(tmp_path / "none") is False


def stale(home: Path, *, pid: int) -> None:
    """The folder of a cluster whose name server had this process id."""
    home.mkdir()
    part = {"name": "namesrv", "address": "127.0.0.1:1", "pid": pid, "command": ["java", "Namesrv"]}
    state = {"release": RELEASE, "namesrv": "127.0.0.1:1", "capture": None, "parts": [part]}
    (home / "lab.json").write_text(json.dumps(state), encoding="utf-8")


def test_a_stale_cluster_is_removed_and_a_reused_process_id_spared(tmp_path: Path) -> None:
    home = tmp_path / "home"
    innocent = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        stale(home, pid=innocent.pid)
        assert [part.state for part in Cluster.load(home).status()] == ["ended"]
        assert clear(home) is True
        assert not home.exists()
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


def test_processes_that_no_state_names_are_ended_too(tmp_path: Path) -> None:
    home = tmp_path / "home"
    orphan = Process.start(
        "broker-a", [sys.executable, "-c", "import time; time.sleep(600)", mark(home)], folder=tmp_path / "elsewhere"
    )
    # On a busy machine the new process may not yet show its command line.
    for _ in range(1_000):
        if processes_with(mark(home)):
            break
        time.sleep(0.01)
    assert clear(home) is True
    assert not orphan.alive()
    assert orphan.exit_code == -9


@pytest.mark.lab
@pytest.mark.parametrize("release", RELEASES)
def test_a_cluster_answers_and_leaves_nothing(toolchain: Toolchain, tmp_path: Path, release: str) -> None:
    home = tmp_path / "home"
    with Cluster.up(toolchain, release=release, home=home, settings={"messageDelayLevel": "1s 2s"}) as cluster:
        (broker,) = cluster.brokers
        assert brokers_known(cluster.namesrv) == {"broker-a": broker.address}
        route = ask(cluster.namesrv, Request.GET_ROUTEINFO_BY_TOPIC, {"topic": "SCHEDULE_TOPIC_XXXX"}).json()
        assert [data["brokerName"] for data in route["queueDatas"]] == ["broker-a"]
        assert [part.state for part in cluster.status()] == ["answers", "answers"]
        assert len(processes_with(mark(home))) == 2
    assert processes_with(mark(home)) == []
    assert not home.exists()


@pytest.mark.lab
def test_two_brokers_a_restart_a_crash_and_a_second_look(toolchain: Toolchain, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Cluster.up(toolchain, release="4.9.8", brokers=2, home=home) as cluster:
        first, second = cluster.brokers
        assert brokers_known(cluster.namesrv) == {"broker-a": first.address, "broker-b": second.address}
        pids = [first.process.pid]
        first.restart(kill=False)
        pids.append(first.process.pid)
        first.restart(kill=True)
        pids.append(first.process.pid)
        assert len(set(pids)) == 3
        second.process.kill()
        seen = Cluster.load(home)
        assert [(part.name, part.state) for part in seen.status()] == [
            ("namesrv", "answers"),
            ("broker-a", "answers"),
            ("broker-b", "ended"),
        ]
        with pytest.raises(LabError, match=r"broker-b has ended \(SIGKILL\)\. The end of its log:\n"):
            _check_alive(second.process)
        with pytest.raises(LabError, match=f"end it with: rocketproof lab down --home {home}"):
            Cluster.up(toolchain, release="4.9.8", home=home)
        seen.brokers[1].start()
        assert brokers_known(cluster.namesrv) == {"broker-a": first.address, "broker-b": second.address}
    assert processes_with(mark(home)) == []
    assert not home.exists()


@pytest.mark.lab
@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("messageDelayLevels", "1s", "broker-a of RocketMQ 5.3.3 has no setting 'messageDelayLevels'."),
        ("flushDelayOffsetInterval", "1s", "broker-a does not take flushDelayOffsetInterval=1s: it runs with '10000'."),
    ],
)
def test_a_setting_that_no_broker_takes_is_told(
    toolchain: Toolchain, tmp_path: Path, setting: str, value: str, message: str
) -> None:
    home = tmp_path / "home"
    with pytest.raises(LabError) as error:
        Cluster.up(toolchain, release=RELEASE, home=home, settings={setting: value})
    assert str(error.value) == message
    assert processes_with(mark(home)) == []
    assert not home.exists()


@pytest.mark.lab
def test_a_broker_that_does_not_start_is_told_with_its_log(toolchain: Toolchain, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with pytest.raises(LabError) as error:
        Cluster.up(toolchain, release=RELEASE, home=home, settings={"brokerRole": "SLAVE"})
    told = str(error.value).splitlines()
    assert told[0].startswith("broker-a ended (exit code 253) and did not register with the name server 127.0.0.1:")
    assert "Slave's brokerId must be > 0" in told
    assert processes_with(mark(home)) == []
    assert not home.exists()
