"""Scenarios: small TOML files that say what to start, what to send, what goes wrong, and what must be found.

Each step follows the one before it. A step waits only for something that happened, or for a time in seconds since the
first step; times in names with ``_ms`` are milliseconds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ..model.history import Cause
from ..model.kernel import nearest
from ..traces.claims.claims import CODE
from ..traces.format.message_status import MessageStatus
from .errors import LabError
from .maven import EARLIER, RELEASES

FOLDER = Path(__file__).parent / "scenarios"
"""The scenarios of the kit."""

CLIENT_STEPS = ("start", "stop", "kill", "pause", "resume", "cut", "heal")
"""Steps that are about a client."""

Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]+$")]
Whole = Annotated[int, Field(ge=0)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Range(_Table):
    """How often something is expected: exactly, or from … to if it depends on timing."""

    low: int
    high: int

    def __contains__(self, value: int) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


def _range(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"low": value, "high": value}
    if isinstance(value, list) and len(value) == 2 and all(isinstance(end, int) for end in value):
        return {"low": value[0], "high": value[1]}
    if isinstance(value, (Range, dict)):
        return value
    raise ValueError("a number, or a list of the lowest and the highest")


Often = Annotated[Range, BeforeValidator(_range)]


class Some(_Table):
    """Messages to which something happens: those whose number is divisible by ``every``, in their first attempts."""

    every: int = Field(ge=1)
    attempts: int = -1
    sleep_ms: Whole = 0
    ending: Annotated[Literal["later", "suspend", "exception", "null"], Field(alias="as")] = "later"


class Behaviour(_Table):
    """What a listener does; see the driver's ``Behaviour``."""

    sleep_ms: Whole = 0
    fail: list[Some] = []
    slow: list[Some] = []


class Consumer(_Table):
    """A consumer, under RocketMQ's own terms; intervals are shorter than RocketMQ's, so that runs are short."""

    instance: str = ""  # instance name, the second half of the client id (EN-6); the consumer's name if not given
    # consumers on one host share a home folder, which holds offsets of broadcasting; each has its own if not given
    host: str = ""
    # the consumer group; that of the scenario if not given
    group: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]*$")] = ""
    release: str = ""  # release of RocketMQ; that of the run if not given
    # by the agent; by a consume-message hook; by RocketMQ's own log of the client; or by nothing
    recorded: Literal["agent", "hook", "log", "nothing"] = "agent"
    clock_ms: int = 0  # how far the time stamps of its agent are ahead of the machine's clock
    topics: dict[str, str] = {}  # topics, each with its expression; all topics of the scenario with ``*`` if not given
    listener: Literal["concurrently", "orderly"] = "concurrently"
    mode: Literal["clustering", "broadcasting"] = "clustering"
    threads: int = 4
    batch: int = 1
    pull_batch: int = 32
    max_attempts: int = -1
    consume_from: Literal["first", "last"] = "first"
    consume_timeout: Annotated[int, Field(ge=1)] = 15  # minutes
    strategy: Literal["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"] = "AVG"
    suspend_ms: int = 1_000
    await_ms: int = 0  # how long a shutdown waits for listeners
    # a concurrent listener acknowledges up to the first message of a batch that fails (``ackIndex``)
    acks: bool = False
    heartbeat_ms: int = 1_000
    persist_ms: int = 1_000
    route_ms: int = 1_000
    rebalance_ms: int = 2_000
    behaviour: Behaviour = Behaviour()
    properties: dict[str, str] = {}  # system properties of its JVM


class Topic(_Table):
    """A topic, with the same queues on each broker."""

    read: Whole = 4
    write: Whole = 4


class Cluster(_Table):
    """The brokers, their configuration, and system properties of their JVMs."""

    brokers: Annotated[int, Field(ge=1, le=2)] = 1
    release: str = ""  # release of RocketMQ; that of the run if not given
    recorded: bool = True  # whether they run with the agent
    clock_ms: list[int] = []  # how far the time stamps of their agents are ahead of the machine's clock, by broker
    settings: dict[str, str] = {}
    properties: dict[str, str] = {}


class Until(_Table):
    """What a step waits for: a client's listener was called so often, or the client has so many queues."""

    client: str
    # calls that have begun; ``succeeded``: calls that have succeeded; ``messages``: distinct messages
    deliveries: int = 0
    succeeded: int = 0
    messages: int = 0
    queues: int = -1  # exact number of its queues, without those of the retry topic; -1 for any number


class Step(_Table):
    """One thing to do, ``at`` seconds after the first step at the earliest, and when ``after`` has happened."""

    do: Literal[
        "start", "stop", "kill", "pause", "resume", "cut", "heal",
        "send", "topic", "reset", "restart-broker", "wait", "drain",
    ]  # fmt: skip
    at: float = 0
    after: Until | None = None
    client: str = ""  # for steps about a client
    broker: int = 0  # number of a broker, for cut, heal and restart-broker
    crash: bool = False  # restart-broker: kill it instead of stopping it
    background: bool = False  # do not wait until it is done (send, stop)
    topic: str = ""  # for send, topic (change its queues to ``read`` and ``write``) and reset
    read: int = 4
    write: int = 4
    # send: how many messages, ``rate`` a second (0: as fast as possible), ``tags`` in turn, ``queues`` as broker:id,
    # ``batch`` of them in a request (``send(List)``)
    count: int = 0
    rate: int = 0
    tags: list[str] = []
    queues: list[str] = []
    batch: Annotated[int, Field(ge=1)] = 1
    timestamp: int = -1  # reset: to this time, ms; -1 for the end of the queues
    seconds: float = 0  # for wait; a wait may also be for ``after`` alone


class Expect(_Table):
    """What must be found. Claims not listed as violated must not be; counts that are not given are not checked."""

    violated: list[str] = []  # ids of claims that are violated
    holds: list[str] = []  # ids of claims that were judged and hold
    deliveries: Often | None = None  # calls of listeners, one for each message of a batch
    duplicates: dict[str, Often] = {}  # repeated deliveries, by cause; a cause that is not named must not occur
    unexplained: Often = Range(low=0, high=0)  # repeated deliveries without a cause
    losses: Often = Range(low=0, high=0)  # messages that are lost
    statuses: dict[str, Often] = {}  # what became of messages; a status that is not named must not occur
    overlaps: Often | None = None  # times that two clients had one queue
    problems: Often = Range(low=0, high=0)  # problems in the recordings

    @model_validator(mode="after")
    def _known(self) -> Expect:
        for names, known, what in (
            ([*self.violated, *self.holds], set(CODE), "claim"),
            (self.duplicates, set(Cause.__members__), "cause"),
            (self.statuses, set(MessageStatus.__members__), "status"),
        ):
            for name in names:
                if name not in known:
                    raise ValueError(f"no {what} {name!r}; there are {', '.join(sorted(known))}")
        return self


class Scenario(_Table):
    """A scenario."""

    name: str = ""
    title: str  # what happens, in a few words
    shows: str  # what there is to see, in a sentence or two
    rules: list[str] = []  # ids of rules that it is about; ``bugs``: of known bugs
    bugs: list[str] = []
    releases: list[str] = list(RELEASES)  # RocketMQ releases on which it runs; all of the lab's if not given
    group: Name = "lab"  # the consumer group; ``retry_queues``: number of queues of its retry topic
    retry_queues: int = 1
    cluster: Cluster = Cluster()  # brokers
    topics: dict[Name, Topic]  # by name
    consumers: dict[Name, Consumer]  # by name; ``defaults`` has their common values
    steps: list[Step]  # what to do
    # ``drained``: when everything is consumed and nothing is delayed; ``steps``: when the steps are done
    end: Literal["drained", "steps"] = "drained"
    settle: float = 0  # seconds that pass before the clients are stopped in the end
    patience: float = 180  # seconds after which a run that does not end is given up
    check: dict[str, int] = {}  # settings of the check that differ from the usual ones, see Settings
    expect: Expect = Expect()  # what must be found; ``expect_on`` has what differs on a release
    expect_on: dict[str, dict[str, Any]] = {}

    @model_validator(mode="after")
    def _meant(self) -> Scenario:
        for number, step in enumerate(self.steps, 1):
            clients = ([step.client] if step.do in CLIENT_STEPS else []) + ([step.after.client] if step.after else [])
            for client in clients:
                if client not in self.consumers:
                    raise ValueError(f"step {number}: no consumer {client!r}; there are {', '.join(self.consumers)}")
            if step.do in ("send", "topic", "reset") and step.topic not in self.topics:
                raise ValueError(f"step {number}: no topic {step.topic!r}; there are {', '.join(self.topics)}")
            if step.broker >= self.cluster.brokers:
                raise ValueError(f"step {number}: no broker {step.broker}; they count from 0")
        known = (*RELEASES, *EARLIER)
        parts = [self.cluster.release, *(consumer.release for consumer in self.consumers.values())]
        for release in [*self.releases, *self.expect_on, *filter(None, parts)]:
            if release not in known:
                raise ValueError(f"no release {release!r} in the lab; there are {', '.join(known)}")
        clocks = len(self.cluster.clock_ms)
        if clocks > self.cluster.brokers:
            raise ValueError(f"clock_ms has {clocks} clocks for {self.cluster.brokers} brokers")
        for release in self.expect_on:
            self.expected(release)
        return self

    def expected(self, release: str) -> Expect:
        """What must be found with a release."""
        changes = self.expect_on.get(release, {})
        return Expect.model_validate({**self.expect.model_dump(), **changes}) if changes else self.expect

    def topics_of(self, consumer: str) -> Mapping[str, str]:
        """The subscription of a consumer: topics with expressions."""
        return self.consumers[consumer].topics or dict.fromkeys(self.topics, "*")

    def group_of(self, consumer: str) -> str:
        """The group of a consumer."""
        return self.consumers[consumer].group or self.group

    @property
    def groups(self) -> tuple[str, ...]:
        """All groups, sorted."""
        return tuple(sorted({self.group_of(name) for name in self.consumers}))

    def topics_of_group(self, group: str) -> tuple[str, ...]:
        """The topics to which some consumer of a group subscribes, sorted."""
        of = [self.topics_of(name) for name in self.consumers if self.group_of(name) == group]
        return tuple(sorted({topic for topics in of for topic in topics}))

    @property
    def sent(self) -> int:
        """How many messages its steps send."""
        return sum(step.count for step in self.steps if step.do == "send")


def names() -> tuple[str, ...]:
    """The names of all scenarios of the kit, sorted."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load(name: str) -> Scenario:
    """A scenario of the kit by its name, or a user's by the path of its file.

    Raises:
        LabError: there is none, or the file does not describe a scenario.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        if name.endswith(".toml"):
            raise LabError(f"scenario {name}: there is no such file.") from None
        raise LabError(f"there is no scenario {name!r}.{nearest(name, names())} Or name a .toml file.") from None
    return parse(text, name=path.stem, where=str(path))


def parse(text: str, *, name: str, where: str) -> Scenario:
    """A scenario from the text of its file, which messages call ``where``.

    Raises:
        LabError: the text does not describe a scenario.
    """
    try:
        table = tomllib.loads(text)
        shared = table.pop("defaults", {})
        table["consumers"] = {key: {**shared, **own} for key, own in table.get("consumers", {}).items()}
        return Scenario.model_validate({**table, "name": name})
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{where}: {error}.") from None
    except ValidationError as error:
        raise LabError("\n".join(f"{where}: {_told(dict(each))}" for each in error.errors())) from None


def _told(error: Mapping[str, Any]) -> str:
    place = ".".join(str(part) for part in error["loc"])
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
