"""Tables: what a simulated cluster is made of, what happens when, and how both are written and grow."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....model.allocation import MessageQueue
from ...encoding.names import DEAD_LETTER_PREFIX, RETRY_PREFIX
from ...format.kinds import Kind, Path, Result, codes
from .agenda import larger
from .catalogue import PLACE, Claim
from .first_world import first_world
from .plan import BROADCASTING, Plan
from .rows import WHOLE, C
from .world import FAR, OWNED, QUEUE, add, note

GROUP = "orders"
OTHER_TOPIC = "payments"
"""A topic that the group does not consume, except for a member that is misconfigured (A2)."""

_KIND, _RESULT, _PATH = codes(Kind), codes(Result), codes(Path)


class Tables:
    """Processes, queues, cells and windows are numbers: their positions in the world's tables."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan  # what is simulated
        self.random = random.Random(plan.seed)  # for decisions that are made here, and not in the world
        self.clients: list[str] = []  # client ids
        letters = (chr(ord("a") + n) if n < 26 else f"z{n}" for n in range(plan.brokers))
        self.brokers = [f"broker-{letter}" for letter in letters]  # names
        own = ["orders"] if plan.topics == 1 else [f"orders-{n}" for n in range(plan.topics)]
        self.own_topics = own
        # names; the last two are the retry topic and the dead-letter topic
        self.topics = [*own, OTHER_TOPIC, RETRY_PREFIX + GROUP, DEAD_LETTER_PREFIX + GROUP]
        self.queues: list[MessageQueue] = []  # all queues
        for topic in own:
            for n in range(plan.queues):
                self.queues.append(MessageQueue(topic, self.brokers[n % plan.brokers], n // plan.brokers))
        self.queues.append(MessageQueue(OTHER_TOPIC, self.brokers[0], 0))
        self.retry_queues = range(len(self.queues), len(self.queues) + plan.brokers)
        self.queues += [MessageQueue(RETRY_PREFIX + GROUP, broker, 0) for broker in self.brokers]
        self.place_of = {queue: n for n, queue in enumerate(self.queues)}
        self.lists: dict[int, Mapping[str, Any]] = {}  # the lists of single rows, by position of the row
        self.owned: dict[int, dict[int, int]] = {}  # windows of each live process, by queue
        self._cells: dict[tuple[int, int], int] = {}
        self._events: list[tuple[int, int, Callable[[], object]]] = []
        self._count = 0
        self._windows = 0
        # its tables; a new object whenever one of them grows
        self.world = first_world(
            plan,
            topics=self.topics,
            brokers=self.brokers,
            queues=self.queues,
            retry_queues=self.retry_queues,
            margin=self.margin,
            rng=self.random,
        )
        self._free_rings = list(range(len(self.world.done)))

    # Time.

    @property
    def now(self) -> int:
        """Ms since the start."""
        return int(self.world.all[0]["now"])

    def at(self, time: int, action: Callable[[], object]) -> None:
        """Schedule ``action`` at a time."""
        self._count += 1
        heapq.heappush(self._events, (time, self._count, action))

    def after(self, delay: int, action: Callable[[], object]) -> None:
        """Schedule ``action`` for later."""
        self.at(self.now + delay, action)

    @property
    def next_event(self) -> int:
        """When the next action happens."""
        return self._events[0][0]

    def act(self) -> None:
        """Execute the next action."""
        heapq.heappop(self._events)[2]()

    # Rows.

    def row(self, kind: Kind, *, process: int | None = None, queue: int | None = None, **fields: Any) -> int:
        """A row; ``fields`` are words, whole numbers or lists, by their names in the schema."""
        rows = self.world.rows
        i = int(add(self.world, _KIND[kind]))
        if process is not None:
            rows[C.client, i] = self.world.processes[process]["client"]
            rows[C.incarnation, i] = self.world.processes[process]["incarnation"]
        if queue is not None:
            place = self.world.queues[queue]
            rows[C.topic, i], rows[C.broker, i], rows[C.queue, i] = place["topic"], place["broker"], place["id"]
        words: Mapping[str, Callable[[Any], int]]
        words = {"result": _RESULT.__getitem__, "path": _PATH.__getitem__, "topic": self.topics.index, "broker": int}
        for name in words.keys() & fields:
            rows[getattr(C, name), i] = words[name](fields.pop(name))
        if fields.pop("grouped", True):
            rows[C.group, i] = 0
        for name in [name for name in fields if name in WHOLE]:
            rows[getattr(C, name), i] = fields.pop(name)
        if fields:
            self.lists[i] = fields
        return i

    # What there is.

    def client(self, number: int) -> int:
        """The client id of a number, as a code."""
        while len(self.clients) <= number:
            n = len(self.clients)
            self.clients.append(f"10.0.{n // 250}.{n % 250 + 1}@{4711 + n}")
        return number

    def cell(self, process: int, queue: int) -> int:
        """Where the offset of a queue is stored: at the broker, or in a broadcasting group with each client."""
        client = int(self.world.processes[process]["client"]) if self.plan.group_kind == BROADCASTING else 0
        found = self._cells.get((client, queue))
        if found is None:
            found = self._cells[client, queue] = len(self._cells)
            if found == len(self.world.cells):
                self.world = self.world._replace(cells=doubled(self.world.cells))
            self.world.cells[found] = (self.world.queues[queue]["broker"], -1, -1, -1, 0, -1, 0, 0, 0, 0)
        return found

    def cells(self) -> list[tuple[tuple[int, int], int]]:
        """All cells: client (0 except for broadcasting), queue, and number."""
        return list(self._cells.items())

    def _open(self, process: int, queue: int, cell: int, start: int, memory: int) -> int:
        w = self._windows
        self._windows += 1
        if w == len(self.world.windows):
            self.world = self.world._replace(windows=doubled(self.world.windows))
        if not self._free_rings:
            rings = len(self.world.done)
            self.world = self.world._replace(done=doubled(self.world.done))
            self._free_rings = list(range(rings, 2 * rings))
        window = self.world.windows[w]
        window["process"], window["queue"], window["cell"] = process, queue, cell
        window["ring"] = self._free_rings.pop()
        window["stage"], window["opened"], window["closed"] = OWNED, self.now, -1
        for name in ("start", "base", "top", "next", "begun"):
            window[name] = start
        window["begun_before"], window["astray"] = FAR, 0
        window["memory"], window["sent"], window["sent_at"] = memory, memory, self.now
        window["hung"], window["next_parked"] = -1, -1
        window["sibling"] = self.world.processes[process]["first"]
        self.world.processes[process]["first"] = w
        window["before"] = self.world.cells[cell]["window"]
        self.world.cells[cell]["window"] = w
        self.owned[process][queue] = w
        return w

    def grow(self) -> None:
        """Enlarge the tables that are about to be full."""
        world = self.world
        if 2 * world.all[0]["events"] > len(world.agenda):
            world = world._replace(agenda=larger(world.agenda))
        if world.all[0]["full"]:
            world.all[0]["full"] = 0
            world = world._replace(
                copies=doubled(world.copies),
                retry=doubled(world.retry, axis=1),
            )
        self.world = world

    def note(self, what: int, *, claim: Claim | None = None, cause: int = 0, queue: int = -1, process: int = -1,
             offset: int = -1, until: int = -1, time: int | None = None) -> None:  # fmt: skip
        """Write a fact, valid now or at ``time``; see :func:`world.note`."""
        place = -1 if claim is None else PLACE[claim]
        note(self.world, what, place, cause, queue, process, offset, until, 0, 0)
        if time is not None:
            self.world.facts[self.world.all[0]["facts"] - 1]["time"] = time

    def add_queue(self, topic: str, broker: int) -> int:
        """A new queue, which no client knows yet."""
        name = self.brokers[broker]
        number = 1 + max(q.queue_id for q in self.queues if q.topic == topic and q.broker_name == name)
        queue = MessageQueue(topic, name, number)
        place = self.place_of[queue] = len(self.queues)
        self.queues.append(queue)
        table = np.append(self.world.queues, np.zeros(1, QUEUE))
        table[place] = (self.topics.index(topic), broker, number, 0, 0, -1)
        self.world = self.world._replace(queues=table)
        return place

    @property
    def margin(self) -> int:
        """Rows that one event or action may make."""
        return 4 * len(self.queues) * (1 + len(self.clients)) + 4_096


def doubled(table: Any, axis: int = 0) -> Any:
    """The table with twice the capacity."""
    return np.concatenate([table, np.zeros_like(table)], axis=axis)
