"""Transition: one step of a run, as the recorders at all processes see it.

A :class:`Recorder` keeps what recorders count and the machine does not: incarnations of clients, windows, offsets that
are used a second time, commits that are under way. A :class:`Transition` is the state before and after a step, the
parameters of its action, and the means to write events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from ....model.kernel import Constants, Lowered
from ....model.membership import Life
from ....model.offsets import broadcasting
from ...format.kinds import Kind, Path, Result
from ...format.schema import Group
from .cluster import GROUP, RETRY, Cluster
from .pace import Pace

Event = dict[str, Any]
"""One event, with the names of the fields of the schema."""


class View:
    """A state, readable by name of the variable and index; variables that do not exist here read as a default."""

    def __init__(self, cells: Mapping[Any, int], state: tuple[int, ...]) -> None:
        self._cells = cells
        self._state = state

    def __call__(self, name: str, *index: int, default: int = 0) -> int:
        """The value of a variable."""
        place = self._cells.get((name, index))
        return default if place is None else self._state[place]

    def has(self, name: str, *index: int) -> bool:
        """Whether there is such a variable in this configuration."""
        return (name, index) in self._cells


class Recorder:
    """What is known across steps."""

    def __init__(self, lowered: Lowered, pace: Pace) -> None:
        self.constants: Constants = lowered.configuration.constants
        self.cluster = Cluster(self.constants)
        self.pace = pace
        self.cells = {cell.key: number for number, cell in enumerate(lowered.cells)}
        self.time = pace.begin  # the time now, ms since 1970 UTC
        self.events: list[Event] = []  # the events written so far
        self.due: dict[int, int] = {}  # for each retry copy, when it is due
        # for each queue, who sent the delayed commit, and on which path
        self.under_way: dict[int, tuple[int, Path]] = {}
        # for each (client, queue, message), how often it failed in its present window: the client's own count
        self.failed: Counter[tuple[int, int, int]] = Counter()
        # for each (client, queue, message) that could not be sent back, when it is to come again, ms
        self.resubmitted: dict[tuple[int, int, int], int] = {}
        # how often the messages from an offset on were lost and replaced by others, by (queue, offset)
        self.truncations: Counter[tuple[int, int]] = Counter()
        self.dead_letters = 0  # number of dead letters
        self.epochs: Counter[tuple[int, int]] = Counter()
        self.old_epoch: dict[tuple[int, int], int] = {}
        self._ids = {c: self.cluster.client(c) for c in range(self.cluster.clients)}
        self._incarnations: dict[int, int] = {}
        self._started: Counter[str] = Counter()
        self._versions: dict[int, int] = {}

    def view(self, state: tuple[int, ...]) -> View:
        """A state of the run."""
        return View(self.cells, state)

    def starts(self, c: int) -> None:
        """A process starts in the place of ``c``."""
        self._incarnations[c] = self._started[self._ids[c]]
        self._started[self._ids[c]] += 1
        self.renews_subscription(c)

    def renames(self, c: int) -> None:
        """The next process in the place of ``c`` has an address, and therefore a client id, that nobody had before."""
        self._ids[c] = f"{self._ids[c]}+"

    def renews_subscription(self, c: int) -> None:
        """RB-37: the version of a subscription is the time of its last change."""
        self._versions[c] = self.time

    def client_id(self, c: int) -> str:
        """The current client id of ``c``."""
        return self._ids[c]

    def who(self, c: int) -> Event:
        """The current process of ``c``, as fields of an event."""
        return {"client": self._ids[c], "incarnation": self._incarnations.get(c, 0)}

    def subscriptions(self, c: int, *, subscribed: bool, expression: str) -> list[str]:
        """The content of a heartbeat of ``c``; it includes the retry topic only if the machine has its queue."""
        version = self._versions.get(c, self.pace.begin)
        topic = [f"{self.cluster.topic}={expression}@{version}"] if subscribed else []
        retry = [f"{RETRY}=*@{version}"] if self.cluster.has_retry_queue else []
        return topic + retry

    def key(self, q: int, m: int) -> str:
        """The unique key of the message of the topic at offset ``m`` of queue ``q``."""
        lost = self.truncations[q, m]
        return f"q{q}-m{m}" + (f"-{lost}" if lost else "")

    def write(self, kind: Kind, fields: Mapping[str, Any]) -> None:
        """Write one event at the present time."""
        event: Event = {"time": self.time, "seq": len(self.events), "kind": str(kind)}
        words = ((name, str(v) if isinstance(v, Path | Result) else v) for name, v in fields.items())
        event.update((name, value) for name, value in words if value is not None and value != "")
        self.events.append(event)


class Transition:
    """One step: ``before`` and ``after`` it, with the parameters ``c``, ``q``, ``m``, ``k``, ``b`` of its action."""

    def __init__(self, recorder: Recorder, before: View, after: View, arguments: Mapping[str, int | None]) -> None:
        self.recorder = recorder
        self.cluster = recorder.cluster
        self.constants = recorder.constants
        self.before = before
        self.after = after
        self.arguments = {name: int(value) for name, value in arguments.items() if value is not None}

    c = property(lambda self: self.arguments["c"], doc="The client of the action.")
    q = property(lambda self: self.arguments["q"], doc="The queue of the action.")
    m = property(lambda self: self.arguments["m"], doc="The message of the action.")
    k = property(lambda self: self.arguments["k"], doc="The retry copy of the action.")
    b = property(lambda self: self.arguments["b"], doc="The broker of the action.")

    @property
    def clients(self) -> range:
        """All clients."""
        return range(self.cluster.clients)

    @property
    def queues(self) -> range:
        """All queues."""
        return range(self.cluster.queues)

    @property
    def messages(self) -> range:
        """All offsets of a queue; none in a machine that is about queues only."""
        return range(int(self.constants.get("messages", 0)))

    def by_client(self, kind: Kind, c: int, q: int | None = None, **fields: Any) -> None:
        """Client ``c`` writes an event, about queue ``q`` if it is given."""
        at: Event = {} if q is None else {**self.cluster.place(q), "epoch": self.recorder.epochs[c, q] or None}
        self.recorder.write(kind, {**self.recorder.who(c), "group": GROUP, **at, **fields})

    def from_dropped(self, kind: Kind, c: int, q: int, **fields: Any) -> None:
        """Like :meth:`by_client`, about the window over ``q`` that was dropped last."""
        self.by_client(kind, c, q, epoch=self.recorder.old_epoch.get((c, q)), **fields)

    def by_broker(self, kind: Kind, q: int, **fields: Any) -> None:
        """The broker of queue ``q`` writes an event about that queue."""
        self.recorder.write(kind, {**self.cluster.place(q), **fields})

    def of_broker(self, kind: Kind, broker: str, **fields: Any) -> None:
        """A broker writes an event about itself."""
        self.recorder.write(kind, {"broker": broker, **fields})

    def wait_until(self, time: int) -> None:
        """Time advances to ``time``."""
        self.recorder.time = max(self.recorder.time, time)

    def key(self, q: int, m: int) -> str:
        """The unique key of the message at ``m`` of ``q``; for a retry, that of the original message."""
        if self.cluster.is_retry(q):
            return self.root(self.after("content", m))
        return self.recorder.key(q, m)

    def root(self, k: int) -> str:
        """The unique key of retry copy ``k``."""
        number, messages = self.after("root", k), len(self.messages)
        return self.recorder.key(number // messages, number % messages)

    def times(self, q: int, m: int) -> int:
        """The count that is stored with the message at ``m`` of ``q``."""
        return self.before("times", self.before("content", m)) if self.cluster.is_retry(q) else 0

    def attempt(self, c: int, q: int, m: int) -> int:
        """SB-6: the count of the message at ``m`` of ``q`` in the memory of ``c``."""
        return self.times(q, m) + self.recorder.failed[c, q, m]

    def end(self, q: int) -> int:
        """The maximum offset of ``q``, before the step."""
        return self.before("log_end", q, default=len(self.messages))

    def start(self, q: int) -> int:
        """The minimum offset of ``q``, before the step."""
        return self.before("log_start", q)

    def beats(self, c: int) -> None:
        """ST-4: ``c`` announces its subscriptions."""
        subscribed = bool(self.after("subscribed", c, default=not self._never_subscribed(c)))
        told = self.recorder.subscriptions(c, subscribed=subscribed, expression=self.expression(c))
        self.by_client(Kind.HEARTBEAT, c, subscriptions=told)

    def expression(self, c: int) -> str:
        """The expression with which ``c`` was started."""
        k = self.constants
        last = c == self.cluster.clients - 1 and k.get("other_expression", "same") != "same"
        name = "next_expression" if self.after("upgraded", c) else "other_expression" if last else "expression"
        return str(k.get(name, "*"))

    def _never_subscribed(self, c: int) -> bool:
        return bool(self.constants.get("unsubscribed", 0)) and c == self.cluster.clients - 1


def broadcasting_group(k: Constants) -> bool:
    """Whether the group of a configuration consumes by broadcasting."""
    return "mode" in k and broadcasting(k)


def group_of(k: Constants) -> Group:
    """What a header states about the group. If the machine does not follow retries, no maximum is configured."""
    followed = bool(k.get("copies", 0)) or (k.get("listener") == "orderly" and k.give_up == "attempts")
    return Group(
        mode=str(k.get("mode", "clustering")),
        listener=str(k.get("listener", "concurrently")),
        max_attempts=int(k.attempts) if followed else None,
        strategy=str(k.get("strategy", "AVG")),
    )


def alive(view: View, c: int) -> bool:
    """Whether the process of ``c`` runs."""
    return view("life", c, default=Life.UP) in (Life.UP, Life.STOPPING)
