"""Clients of the lab: driver processes that consume, send, and do what an operator does."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import LabError
from .maven import Toolchain
from .process import Process, java_command
from .scenario import Consumer

MAIN = "rocketproof.driver.Driver"
ARTIFACTS = ("rocketmq-client", "rocketmq-tools")
CLIENT_ALONE = ("rocketmq-client",)
"""For a client that writes its own log: with the tools on its class path, a 5.x client would write to their log."""
HEAP_MB = 128
START_SECONDS = 60.0
"""How long a client may take to start, s; a busy machine is slow at that."""
ANSWER_SECONDS = 60.0


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What all clients of a run have in common."""

    toolchain: Toolchain  # Java and jars
    release: str  # release of RocketMQ
    folder: Path  # for logs, and for the home folders of clients
    capture: Path | None  # folder to which agents write; None to run without agents

    def start(
        self,
        role: str,
        name: str,
        settings: Mapping[str, Any],
        properties: Mapping[str, str],
        *,
        release: str = "",
        artifacts: Sequence[str] = ARTIFACTS,
        recorded: bool = False,
        clock_ms: int = 0,
    ) -> Process:
        """Start a driver in a role, under a name that is also that of its folder; the agent's time stamps are
        ``clock_ms`` ahead.

        Raises:
            LabError: the class path cannot be resolved, or a jar does not build.
        """
        home = self.folder / name
        command = java_command(
            self.toolchain,
            release or self.release,
            MAIN,
            artifacts=artifacts,
            jars=[self.toolchain.jar("driver")],
            heap_mb=HEAP_MB,
            properties={"user.home": str(home), **properties},
            agent=self.toolchain.jar("agent") if recorded and self.capture else None,
            agent_options=f"dir={self.capture},clock={clock_ms}",
            arguments=[role, json.dumps(settings)],
        )
        return Process.start(name, command, folder=home, stdin=True)


class _Asked:
    """A driver that answers commands, each answer with the id of its command."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._ids = itertools.count(1)

    def tell(self, command: Mapping[str, Any]) -> int:
        """Send a command, and return its id."""
        number = next(self._ids)
        self.process.say(json.dumps({**command, "id": number}))
        return number

    def answer(self, number: int, timeout: float = ANSWER_SECONDS) -> dict[str, Any]:
        """Wait for the answer to a command.

        Raises:
            LabError: there is no answer, or it is an error.
        """

        def found() -> dict[str, Any] | None:
            return next((answer for answer in self.process.answers() if answer.get("id") == number), None)

        answer: dict[str, Any] = self.process.wait_for(found, "answer", timeout)
        if "error" in answer:
            raise LabError(f"{self.process.name}: {answer['error']}.")
        return answer

    def ask(self, **command: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        return self.answer(self.tell(command))


class ConsumerProcess(_Asked):
    """A consumer and its process."""

    client = ""  # its client id, once it runs

    @classmethod
    def launch(
        cls, setup: Setup, name: str, consumer: Consumer, *, group: str, topics: Mapping[str, str], namesrv: str
    ) -> ConsumerProcess:
        """Launch the process of a consumer, in which, once it is loaded, :meth:`start` starts it without delay."""
        settings = consumer.model_dump(by_alias=True, exclude={"properties"}, exclude_none=True)
        settings |= {"group": group, "topics": dict(topics), "namesrv": namesrv}
        settings |= {"instance": consumer.instance or name, "start": "later"}
        if consumer.recorded == "hook" and setup.capture:
            settings["hook"] = str(setup.capture / f"hook-{name}.jsonl")
        properties = {"rocketmq.client.rebalance.waitInterval": str(consumer.rebalance_ms), **consumer.properties}
        if consumer.host:
            properties["user.home"] = str(setup.folder / consumer.host)
        process = setup.start(
            "consumer",
            name,
            settings,
            properties,
            release=consumer.release,
            artifacts=CLIENT_ALONE if consumer.recorded == "log" else ARTIFACTS,
            recorded=consumer.recorded == "agent",
            clock_ms=consumer.clock_ms,
        )
        return cls(process)

    def loaded(self) -> None:
        """Wait until it can be started.

        Raises:
            LabError: the process failed, or was not ready in time.
        """
        self.process.said("loaded", START_SECONDS)

    def start(self) -> None:
        """Start the consumer once it is loaded, and return when it runs.

        Raises:
            LabError: it does not start.
        """
        self.process.say("start")
        self.client = str(self.process.said("ready", START_SECONDS)["ready"])

    def status(self) -> dict[str, Any]:
        """Calls of its listener so far: deliveries, messages (distinct ones), succeeded, running."""
        return self.ask(do="status")

    def ask_to_stop(self) -> None:
        """Ask it to shut down; :meth:`stopped` waits until it has."""
        self.process.resume()
        self.tell({"do": "stop"})

    def stopped(self) -> None:
        """Wait until it has shut down and its process has ended."""
        self.process.said("stopped", ANSWER_SECONDS)
        self.process.wait_for(lambda: not self.process.alive(), "end", ANSWER_SECONDS)
        self.process.kill()  # closes open files


class Operator(_Asked):
    """The operator of the cluster, which is also a producer."""

    @classmethod
    def start(cls, setup: Setup, namesrv: str) -> Operator:
        """Start it.

        Raises:
            LabError: it does not start.
        """
        process = setup.start("admin", "operator", {"namesrv": namesrv}, {})
        try:
            process.said("ready", START_SECONDS)
        except BaseException:
            process.kill()
            raise
        return cls(process)

    def topic(self, name: str, *, read: int, write: int, brokers: Sequence[str]) -> None:
        """Make a topic, or change its numbers of queues, and wait until its route has them."""
        self.ask(do="topic", name=name, read=read, write=write, brokers=list(brokers))

    def group(self, name: str, *, retry_queues: int, brokers: Sequence[str]) -> None:
        """Make a consumer group."""
        self.ask(do="group", name=name, retry_queues=retry_queues, brokers=list(brokers))

    def progress(self, group: str, *, topics: Sequence[str], brokers: Sequence[str]) -> Progress:
        """The progress of a group on topics."""
        answer = self.ask(do="progress", group=group, topics=list(topics), brokers=list(brokers))
        queues = {name: (each["stored"], each["offset"]) for name, each in answer["queues"].items()}
        return Progress(queues=queues, delayed=answer["delayed"])


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The progress of a group."""

    # by name (topic@broker:id): offset after the last stored message, and stored offset of the group or -1
    queues: Mapping[str, tuple[int, int]]
    delayed: int  # number of messages that wait for their delay

    def behind(self, readable: Mapping[str, int]) -> list[str]:
        """Queues with messages left, except those that nobody can read; of a topic not listed, all are readable."""
        left = []
        for name, (stored, offset) in self.queues.items():
            topic, _, queue = name.partition("@")
            if int(queue.rpartition(":")[2]) < readable.get(topic, 1 << 31) and max(offset, 0) < stored:
                left.append(name)
        return left


def now_ms() -> int:
    """The clock of this machine, ms since 1970, as agents read it."""
    return time.time_ns() // 1_000_000
