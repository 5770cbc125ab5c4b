"""The stage of a run: everything that runs, and the steps that start it, stop it, and make it fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from ..traces.recorders.processes import Death
from .clients import ConsumerProcess, Operator, Setup, now_ms
from .cluster import Cluster
from .errors import LabError
from .proxy import Network
from .scenario import Scenario, Step, Until

POLL_SECONDS = 0.05
DRAINED_SECONDS = 0.3
"""Seconds between two looks at the progress of a group, which must be at the end both times."""

Say = Callable[[str], None]
"""Called with each progress message, one line at a time."""


@dataclass(kw_only=True)
class Stage:
    """Everything that runs for a scenario. Leaving its :attr:`cleaning` ends all of it."""

    scenario: Scenario
    setup: Setup  # setup of the clients
    cluster: Cluster  # name server and brokers
    operator: Operator  # makes topics and sends messages
    say: Say  # called with each progress message
    cleaning: ExitStack  # the context in which everything ends
    clients: dict[str, ConsumerProcess] = field(default_factory=dict)  # running consumers, by name
    deaths: list[Death] = field(default_factory=list)  # processes that were killed
    _launched: dict[str, ConsumerProcess] = field(default_factory=dict)
    _networks: dict[str, Network] = field(default_factory=dict)
    _sending: list[int] = field(default_factory=list)
    _stopping: list[ConsumerProcess] = field(default_factory=list)
    _sent: dict[str, int] = field(default_factory=dict)
    _readable: dict[str, int] = field(default_factory=dict)
    _begin: float = field(default_factory=time.monotonic)

    def prepare(self) -> None:
        """Make topics and group, and launch the processes of all consumers, as a JVM takes its time to start."""
        self._launched = {name: self._launch(name) for name in self.scenario.consumers}
        for name, topic in self.scenario.topics.items():
            self._topic(name, topic.read, topic.write)
        retry_queues = self.scenario.retry_queues
        for group in self.scenario.groups:
            self.operator.group(group, retry_queues=retry_queues, brokers=self._addresses)
        for client in self._launched.values():
            client.loaded()
        self._begin = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the first step."""
        return time.monotonic() - self._begin

    def do(self, step: Step) -> None:
        """Do a step when its time has come.

        Raises:
            LabError: it cannot be done, or the event for which it waits does not happen.
        """
        time.sleep(max(0.0, step.at - self.elapsed))
        if step.after is not None:
            self._wait_until(step.after)
        self.say(f"{self.elapsed:6.1f} s  {_told(step)}")
        steps: Mapping[str, Callable[[Step], None]] = {
            "start": self._start,
            "stop": self._stop,
            "kill": self._kill,
            "pause": lambda step: self._client(step.client).process.pause(),
            "resume": lambda step: self._client(step.client).process.resume(),
            "cut": lambda step: self._networks[step.client].cut(self.cluster.brokers[step.broker].name),
            "heal": lambda step: self._networks[step.client].heal(self.cluster.brokers[step.broker].name),
            "send": self._send,
            "topic": lambda step: self._topic(step.topic, step.read, step.write),
            "reset": self._reset,
            "restart-broker": self._restart,
            "wait": lambda step: time.sleep(step.seconds),
            "drain": lambda _step: self.drain(),
        }
        steps[step.do](step)

    def drain(self) -> None:
        """Wait until everything that was sent is consumed, and nothing is delayed.

        Raises:
            LabError: this does not happen in time.
        """
        self._finish_sending()
        self._finish_stopping()
        look = self._heard if self._broadcasting else self._consumed
        before = ""
        last = "nothing was seen"
        while self.elapsed < self.scenario.patience:
            self._check_alive()
            left = look()
            if not left and before == "drained":
                return
            before = "" if left else "drained"
            last = left or last
            time.sleep(DRAINED_SECONDS)
        raise LabError(f"{self.scenario.name}: not drained within {self.scenario.patience:g} s: {last}.")

    def stop_all(self) -> None:
        """Stop all clients at the same time, so that none takes the queues that another one leaves."""
        self._finish_sending()
        time.sleep(self.scenario.settle)
        for network in self._networks.values():
            for broker in self.cluster.brokers:
                network.heal(broker.name)
        self._stopping += [self._ask_to_stop(name) for name in [*self.clients]]
        self._finish_stopping()

    @property
    def _addresses(self) -> list[str]:
        return [broker.address for broker in self.cluster.brokers]

    @property
    def _broadcasting(self) -> bool:
        return any(each.mode == "broadcasting" for each in self.scenario.consumers.values())

    def _client(self, name: str) -> ConsumerProcess:
        try:
            return self.clients[name]
        except KeyError:
            raise LabError(f"{self.scenario.name}: consumer {name!r} does not run at this step.") from None

    def _start(self, step: Step) -> None:
        name = step.client
        if name in self.clients:
            raise LabError(f"{self.scenario.name}: consumer {name!r} runs already at this step.")
        client = self._launched.pop(name, None)
        if client is None:  # it is started again
            client = self._launch(name)
            client.loaded()
        client.start()
        self.clients[name] = client

    def _launch(self, name: str) -> ConsumerProcess:
        client = ConsumerProcess.launch(
            self.setup,
            name,
            self.scenario.consumers[name],
            group=self.scenario.group_of(name),
            topics=self.scenario.topics_of(name),
            namesrv=self._namesrv(name),
        )
        self.cleaning.callback(client.process.kill)
        return client

    def _namesrv(self, client: str) -> str:
        """The name server for a client; its own one if its network will be cut."""
        if not any(step.do == "cut" and step.client == client for step in self.scenario.steps):
            return self.cluster.namesrv
        if client not in self._networks:
            brokers = {broker.name: broker.address for broker in self.cluster.brokers}
            network = Network(namesrv=self.cluster.namesrv, brokers=brokers)
            self.cleaning.callback(network.close)
            self._networks[client] = network
        return self._networks[client].namesrv

    def _ask_to_stop(self, name: str) -> ConsumerProcess:
        client = self._client(name)
        del self.clients[name]
        client.ask_to_stop()
        return client

    def _stop(self, step: Step) -> None:
        client = self._ask_to_stop(step.client)
        if step.background:
            self._stopping.append(client)
        else:
            client.stopped()

    def _finish_stopping(self) -> None:
        while self._stopping:
            self._stopping.pop(0).stopped()

    def _kill(self, step: Step) -> None:
        process = self._client(step.client).process
        process.kill()
        self.deaths.append(Death(pid=process.pid, time=now_ms()))
        del self.clients[step.client]

    def _send(self, step: Step) -> None:
        first = self._sent.get(step.topic, 0)
        self._sent[step.topic] = first + step.count
        command = {"do": "send", "topic": step.topic, "count": step.count, "first": first, "rate": step.rate}
        number = self.operator.tell({**command, "tags": step.tags, "queues": step.queues, "batch": step.batch})
        self._sending.append(number)
        if not step.background:
            self._finish_sending()

    def _finish_sending(self) -> None:
        while self._sending:
            answer = self.operator.answer(self._sending.pop(0), self.scenario.patience)
            if answer["failed"]:
                raise LabError(f"{self.scenario.name}: {answer['failed']} messages could not be sent.")

    def _topic(self, name: str, read: int, write: int) -> None:
        self._readable[name] = read
        self.operator.topic(name, read=read, write=write, brokers=self._addresses)

    def _reset(self, step: Step) -> None:
        self.operator.ask(do="reset", topic=step.topic, group=self.scenario.group, timestamp=step.timestamp)

    def _restart(self, step: Step) -> None:
        broker = self.cluster.brokers[step.broker]
        broker.stop(kill=step.crash)
        if step.crash:
            self.deaths.append(Death(pid=broker.process.pid, time=now_ms()))
        broker.start()

    def _wait_until(self, until: Until) -> None:
        while self.elapsed < self.scenario.patience:
            self._check_alive()
            status = self._client(until.client).status()
            enough = all(status[what] >= getattr(until, what) for what in ("deliveries", "succeeded", "messages"))
            if enough and until.queues in (-1, status["queues"]):
                return
            time.sleep(POLL_SECONDS)
        wanted = ", ".join(f"{what} {value}" for what, value in until.model_dump(exclude_defaults=True).items())
        raise LabError(f"{self.scenario.name}: it did not come to this in {self.scenario.patience:g} s: {wanted}.")

    def _consumed(self) -> str:
        """What is left to consume, in words."""
        for group in self.scenario.groups:
            topics = [*self.scenario.topics_of_group(group), f"%RETRY%{group}"]
            try:
                progress = self.operator.progress(group, topics=topics, brokers=self._addresses)
            except LabError as error:  # a broker that is starting, or busy, does not answer now
                if not self.operator.process.alive():
                    raise
                return str(error)
            left = progress.behind(self._readable)
            if left:
                name = left[0]
                stored, offset = progress.queues[name]
                return f"{group}: {len(left)} queues are behind, {name} at {offset} of {stored}"
            if progress.delayed:
                return f"{progress.delayed} messages are delayed"
        return ""

    def _heard(self) -> str:
        """What a broadcasting client has not received, in words."""
        for name, client in self.clients.items():
            status = client.status()
            if status["messages"] < sum(self._sent.values()) or status["running"]:
                return f"{name} has heard {status['messages']} messages of {sum(self._sent.values())}"
        return ""

    def _check_alive(self) -> None:
        for name, client in self.clients.items():
            if not client.process.alive():
                raise LabError(f"consumer {name} ended by itself. The end of its log:\n{client.process.tail()}")


def _told(step: Step) -> str:
    """A step in words."""
    if step.do == "send":
        return f"send {step.count} messages to {step.topic}"
    if step.do == "restart-broker":
        return f"{'crash and start' if step.crash else 'restart'} broker {step.broker}"
    if step.do in ("cut", "heal"):
        return f"{step.do} {step.client} {'from' if step.do == 'cut' else 'and'} broker {step.broker}"
    if step.do == "topic":
        return f"change {step.topic} to {step.read} queues to read and {step.write} to write"
    if step.do == "wait" and step.after and not step.seconds:
        return f"{step.after.client} is where it should be"
    return " ".join(filter(None, [step.do, step.client, step.topic, f"{step.seconds:g} s" if step.seconds else ""]))
