"""A RocketMQ cluster on this machine: a name server and one or two brokers, each a JVM, all in one folder."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from .brokers import (
    BROKER_PORTS,
    BROKER_PROPERTIES,
    BROKER_SETTINGS,
    NAMESRV_PREFIX,
    SERVER_PROPERTIES,
    broker_file,
    check_settings,
    namesrv_file,
    write_logging,
)
from .errors import LabError
from .maven import Toolchain, check_release
from .ports import LOOPBACK, free_ports
from .process import Process, end_all, java_command, processes_with
from .remoting import broker_answers, brokers_known

BROKER_NAMES = ("broker-a", "broker-b")
START_SECONDS = 90.0
"""How long a part may take until it answers, s."""

STOP_SECONDS = 60.0
"""How long a broker may take to end by itself, s; a 5.x broker on an idle machine takes about 13."""

_STATE = "lab.json"
_MARK = "rocketproof.lab"
_NAMESRV = "namesrv"
_NAMESRV_MAIN = "org.apache.rocketmq.namesrv.NamesrvStartup"
_BROKER_MAIN = "org.apache.rocketmq.broker.BrokerStartup"
_SERVERS = ("rocketmq-broker", "rocketmq-namesrv")
_NAMESRV_HEAP, _BROKER_HEAP = 128, 384
"""MiB."""

_ASK_SECONDS = 2.0
_POLL_SECONDS = 0.1


class Broker:
    """A broker of the cluster."""

    def __init__(self, name: str, address: str, process: Process, cluster: Cluster) -> None:
        self.name = name  # ``brokerName``
        self.address = address  # ``127.0.0.1:port``, where clients reach it
        self.process = process  # its JVM, a new one after each restart
        self._cluster = cluster

    def stop(self, *, kill: bool = False) -> None:
        """End it as an operator would (SIGTERM), or with ``kill``, like a crash."""
        if kill:
            self.process.kill()
        else:
            self.process.stop(STOP_SECONDS)

    def start(self) -> None:
        """Start it again with the same files and ports; returns when it answers and the name server knows it.

        Raises:
            LabError: this does not happen.
        """
        self.process = self._cluster.start_process(self.name, self.process.command)
        self._cluster.save()
        self._cluster.wait_for(self)

    def answers(self) -> bool:
        """Whether it answers now."""
        return _answered(lambda: broker_answers(self.address, timeout=_ASK_SECONDS))

    def restart(self, *, kill: bool) -> None:
        """End it and start it again, see :meth:`stop` and :meth:`start`."""
        self.stop(kill=kill)
        self.start()


@dataclass(frozen=True, kw_only=True)
class PartStatus:
    """The status of a part of the cluster."""

    name: str  # ``namesrv``, or the name of a broker
    address: str  # the address on which it listens
    pid: int  # id of its process, even if it has ended
    state: str  # ``answers``, ``does not answer`` or ``ended``
    log: Path


class Cluster:
    """A running cluster; leaving its context takes it down."""

    def __init__(self, *, release: str, home: Path, namesrv: str, capture: Path | None = None) -> None:
        self.release = release  # release of RocketMQ
        self.capture = capture  # folder to which its brokers record, if they do
        self.home = home  # the folder that contains all its files: settings, logs, messages
        self.namesrv = namesrv  # address of the name server, for clients
        self.brokers: list[Broker] = []  # its brokers, in the order of their names
        self.namesrv_process: Process | None = None  # the JVM of the name server; None before it is started

    @classmethod
    def up(
        cls,
        toolchain: Toolchain,
        *,
        release: str,
        brokers: int = 1,
        home: Path,
        settings: Mapping[str, str] | None = None,
        capture: Path | None = None,
        properties: Mapping[str, str] | None = None,
        clock_ms: Sequence[int] = (),
        tell: Callable[[str], None] = lambda _: None,
    ) -> Cluster:
        """Start a cluster; returns when every part answers. If anything goes wrong, nothing of it is left.

        Args:
            toolchain: Java and Maven.
            release: one of :data:`~rocketproof.lab.maven.RELEASES`.
            brokers: number of brokers, 1 or 2.
            home: a folder that does not exist or is empty.
            settings: settings of the brokers, such as ``messageDelayLevel``; those that begin with ``namesrv.`` are for
                the name server.
            capture: folder to which the lab's agent in the brokers records; without it, nothing is recorded.
            properties: system properties of the brokers.
            clock_ms: how far the time stamps of the brokers' agents are ahead, by broker.
            tell: called with progress messages.

        Raises:
            LabError: an argument is impossible, or a part did not answer.
        """
        check_request(release=release, brokers=brokers, settings=settings or {})
        capture = capture.resolve() if capture is not None else None
        tell(f"RocketMQ {release} and what it needs, from Maven")
        toolchain.classpath(release, *_SERVERS)
        agent = toolchain.jar("agent") if capture is not None else None
        home = _new_home(home)
        namesrv_port, *ports = free_ports((0,), *[BROKER_PORTS] * brokers)
        cluster = cls(release=release, home=home, namesrv=f"{LOOPBACK}:{namesrv_port}", capture=capture)
        try:
            cluster.save()  # from here on, `down` can find the cluster
            cluster._start(toolchain, ports, settings or {}, properties or {}, agent, clock_ms, tell)
        except BaseException:
            cluster.down()
            raise
        return cluster

    def _start(
        self,
        toolchain: Toolchain,
        ports: list[int],
        settings: Mapping[str, str],
        properties: Mapping[str, str],
        agent: Path | None,
        clock_ms: Sequence[int],
        tell: Callable[[str], None],
    ) -> None:
        common = {**self.java_properties(), **SERVER_PROPERTIES, **write_logging(self.home)}
        namesrv_settings = self.home / "namesrv.properties"
        namesrv_port = int(self.namesrv.rpartition(":")[2])
        namesrv_settings.write_text(
            namesrv_file(port=namesrv_port, folder=self.home / "namesrv", settings=settings), encoding="utf-8"
        )
        tell(f"the name server at {self.namesrv}")
        self.namesrv_process = self.start_process(
            _NAMESRV,
            java_command(
                toolchain,
                self.release,
                _NAMESRV_MAIN,
                artifacts=_SERVERS,
                heap_mb=_NAMESRV_HEAP,
                properties=common,
                arguments=("-c", str(namesrv_settings)),
            ),
        )
        self.save()
        self.namesrv_process.wait_for(self._namesrv_answers, "answer", START_SECONDS, every=_POLL_SECONDS)
        clocks = [*clock_ms, *[0] * (len(ports) - len(clock_ms))]
        for name, port, clock in zip(BROKER_NAMES, ports, clocks, strict=False):
            file = self.home / f"{name}.properties"
            store = self.home / "store" / name
            store.mkdir(parents=True)
            file.write_text(
                broker_file(name=name, port=port, namesrv=self.namesrv, store=store, settings=settings),
                encoding="utf-8",
            )
            command = java_command(
                toolchain,
                self.release,
                _BROKER_MAIN,
                artifacts=_SERVERS,
                heap_mb=_BROKER_HEAP,
                properties={**common, **BROKER_PROPERTIES, **properties},
                agent=agent,
                agent_options=f"dir={self.capture},clock={clock}" if self.capture is not None else "",
                arguments=("-c", str(file)),
            )
            process = self.start_process(name, command)
            self.brokers.append(Broker(name, f"{LOOPBACK}:{port}", process, self))
            self.save()
        for broker in self.brokers:
            tell(f"{broker.name} at {broker.address}")
            self.wait_for(broker)
        self._check_taken(settings)

    def java_properties(self) -> dict[str, str]:
        """System properties for every JVM that belongs to this cluster, including clients.

        They keep its files below :attr:`home`, and let :meth:`down` find it whoever started it.
        """
        temporary = self.home / "tmp"
        temporary.mkdir(exist_ok=True)
        return {
            "java.io.tmpdir": str(temporary),
            _MARK: str(self.home),
            "user.home": str(self.home),
        }

    def start_process(self, name: str, command: tuple[str, ...] | list[str]) -> Process:
        """Start a process in :attr:`home`, with its log there."""
        return Process.start(name, command, folder=self.home, env={"ROCKETMQ_HOME": str(self.home)})

    def wait_for(self, broker: Broker, timeout: float = START_SECONDS) -> None:
        """Wait until a broker answers and the name server knows it.

        Raises:
            LabError: this does not happen, or the name server ended meanwhile.
        """

        def registered() -> bool:
            if self.namesrv_process is not None:
                _check_alive(self.namesrv_process)
            return _answered(lambda: brokers_known(self.namesrv, timeout=_ASK_SECONDS)[broker.name] == broker.address)

        what = f"register with the name server {self.namesrv}"
        broker.process.wait_for(registered, what, timeout, every=_POLL_SECONDS)
        broker.process.wait_for(broker.answers, "answer", timeout, every=_POLL_SECONDS)

    def status(self) -> list[PartStatus]:
        """The present status of each part."""
        parts: list[PartStatus] = []
        if self.namesrv_process is not None:
            parts.append(_status(self.namesrv_process, self.namesrv, self._namesrv_answers()))
        for broker in self.brokers:
            parts.append(_status(broker.process, broker.address, broker.answers()))
        return parts

    def _namesrv_answers(self) -> bool:
        return _answered(lambda: brokers_known(self.namesrv, timeout=_ASK_SECONDS) is not None)

    def down(self) -> None:
        """End every process of the cluster, including clients that carry its properties, and remove its folder.

        With :attr:`capture`, processes get time to end by themselves, so that they write everything that they have
        recorded.
        """
        if self.capture is not None:
            namesrv = self.namesrv_process.pid if self.namesrv_process is not None else 0
            # The name server goes last: brokers and clients would wait for its answer when they unregister.
            end_all([pid for pid in processes_with(self._mark()) if pid != namesrv], timeout=STOP_SECONDS)
        end_all(processes_with(self._mark()), timeout=0)
        for process in self._processes():
            process.alive()  # collects its exit status, so that the system forgets it
        shutil.rmtree(self.home, ignore_errors=True)
        if self.home.exists():
            raise LabError(f"{self.home} cannot be removed; no process of the cluster is left.")

    def save(self) -> None:
        """Write down the state of the cluster, for :meth:`load`."""
        addresses = {broker.name: broker.address for broker in self.brokers}
        state = {
            "release": self.release,
            "namesrv": self.namesrv,
            "capture": str(self.capture) if self.capture is not None else None,
            "parts": [
                {
                    "name": process.name,
                    "address": addresses.get(process.name, self.namesrv),
                    "pid": process.pid,
                    "command": process.command,
                }
                for process in self._processes()
            ],
        }
        new = self.home / f"{_STATE}.tmp"
        new.write_text(json.dumps(state), encoding="utf-8")
        new.replace(self.home / _STATE)

    @classmethod
    def load(cls, home: Path) -> Cluster:
        """The cluster that :meth:`up` started with this folder, in whichever process.

        Raises:
            LabError: there is none.
        """
        home = home.resolve()
        try:
            state: dict[str, Any] = json.loads((home / _STATE).read_text(encoding="utf-8"))
            capture = Path(state["capture"]) if state["capture"] else None
            cluster = cls(release=state["release"], home=home, namesrv=state["namesrv"], capture=capture)
            for part in state["parts"]:
                process = Process.adopt(part["name"], part["pid"], part["command"], folder=home)
                if part["name"] == _NAMESRV:
                    cluster.namesrv_process = process
                else:
                    cluster.brokers.append(Broker(part["name"], part["address"], process, cluster))
        except FileNotFoundError:
            raise LabError(f"no cluster of the lab was started with the folder {home}.") from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise LabError(f"{home / _STATE} cannot be read ({error}); it is not what the lab wrote.") from None
        return cluster

    def _processes(self) -> list[Process]:
        own = [self.namesrv_process] if self.namesrv_process is not None else []
        return [*own, *(broker.process for broker in self.brokers)]

    def _mark(self) -> str:
        return f"-D{_MARK}={self.home}"

    def _check_taken(self, settings: Mapping[str, str]) -> None:
        """Compare the given settings with those that the parts report."""
        for name, value in settings.items():
            process = self.namesrv_process if name.startswith(NAMESRV_PREFIX) else self.brokers[0].process
            assert process is not None
            plain = name.removeprefix(NAMESRV_PREFIX)
            log = process.log.read_text(encoding="utf-8", errors="replace")
            taken = re.findall(rf"^.* - {re.escape(plain)}=(.*)$", log, re.MULTILINE)
            if not taken and plain not in BROKER_SETTINGS:
                raise LabError(f"{process.name} of RocketMQ {self.release} has no setting {plain!r}.")
            if taken and not any(_same(value, each) for each in taken):
                raise LabError(f"{process.name} does not take {plain}={value}: it runs with {taken[0]!r}.")

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.down()


def check_request(*, release: str, brokers: int, settings: Mapping[str, str]) -> None:
    """Check, as far as possible in advance, whether :meth:`Cluster.up` can start a cluster.

    Raises:
        LabError: it cannot.
    """
    check_release(release)
    check_settings(settings)
    if not 1 <= brokers <= len(BROKER_NAMES):
        raise LabError(f"a cluster of the lab has 1 or {len(BROKER_NAMES)} brokers, not {brokers}.")


def clear(home: Path) -> bool:
    """End everything that runs with this folder as its home, whatever became of the command that started it, and remove
    it.

    Returns:
        Whether there was anything.

    Raises:
        LabError: the folder contains something else.
    """
    home = home.resolve()
    if (home / _STATE).is_file():
        Cluster.load(home).down()
        return True
    pids = processes_with(f"-D{_MARK}={home}")
    end_all(pids, timeout=0)
    if home.is_dir() and any(home.iterdir()):
        raise LabError(f"{home} is not the folder of a cluster of the lab: it holds no {_STATE}. Nothing was removed.")
    return bool(pids)


def _new_home(home: Path) -> Path:
    """The folder, created so that only its owner can read it.

    Raises:
        LabError: it contains something.
    """
    if (home / _STATE).exists():
        raise LabError(f"a cluster was started in {home} already; end it with: rocketproof lab down --home {home}")
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        holds_something = any(home.iterdir())
    except OSError as error:
        raise LabError(f"{home} cannot be used as the folder of a cluster: {error.strerror}.") from None
    if holds_something:
        raise LabError(f"{home} holds something already; a cluster needs a new or empty folder.")
    return home.resolve()


def _answered(question: Callable[[], object]) -> bool:
    """Whether a server answers a query, and with a true value."""
    try:
        return bool(question())
    except (OSError, ValueError, KeyError):
        return False


def _check_alive(process: Process) -> None:
    if not process.alive():
        raise LabError(f"{process.name} has ended ({process.how()}). {process.told()}")


def _status(process: Process, address: str, answers: bool) -> PartStatus:
    state = "ended" if not process.alive() else "answers" if answers else "does not answer"
    return PartStatus(name=process.name, address=address, pid=process.pid, state=state, log=process.log)


def _same(given: str, taken: str) -> bool:
    """Whether a setting has the given value, possibly in another notation."""
    try:
        return float(given) == float(taken)
    except ValueError:
        return given.strip().lower() == taken.strip().lower()
