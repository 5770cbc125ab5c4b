"""Cluster: the processes of a group, how they share the queues, and the world they work on."""

from __future__ import annotations

import functools
import heapq
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ....model.allocation import Averagely, AveragelyByCircle, ConsistentHash, MessageQueue, Strategy, sorted_ids
from ....model.delay import DelayTable, stored_level
from ....model.history import Cause
from ....model.retry_policy import fallback_gives_up, fallback_level, is_dead_letter, maximum_sent, retry_level
from ...claims.settings import HEARTBEAT_PERIOD, REBALANCE_PERIOD
from ...encoding.names import DEAD_LETTER_PREFIX, RETRY_PREFIX
from ...format.kinds import Kind, Path, Result, codes
from .agenda import larger, new_agenda, put
from .plan import BROADCASTING, ORDERLY, Plan
from .rows import WHOLE, C, new_rows
from .window import commit
from .world import (
    ALL,
    BROKER,
    CELL,
    CLEAN,
    CLOSED,
    COPY,
    DRAINING,
    FACT,
    FAR,
    OWNED,
    PERSIST,
    PROCESS,
    PRODUCE,
    PULL,
    QUEUE,
    RECENT,
    RETRY,
    RULE,
    SAVE,
    SPAN,
    WINDOW,
    World,
    add,
    note,
)

GROUP = "orders"
OTHER_TOPIC = "payments"
"""A topic that the group does not consume, but for a member that is mistaken (A2)."""

LOCK_PERIOD, PERSIST_PERIOD = 20_000, 5_000
FIRST_PULL, LOCK_AGAIN, UNBALANCED = 500, 500, 1_000
LOCK_EXPIRES = 60_000
PRODUCING_FROM = 3_000

_STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    "AVG": Averagely,
    "AVG_BY_CIRCLE": AveragelyByCircle,
    "CONSISTENT_HASH": ConsistentHash,
}
_KIND, _RESULT, _PATH = codes(Kind), codes(Result), codes(Path)


class Cluster:
    """A group at work. Processes, queues, cells and windows are numbers: their places in the world's tables.

    Attributes:
        plan: what is simulated.
        world: its tables; another object whenever one of them grows.
        random: for what is decided here, and not in the world.
        clients: client ids.
        topics: names, the retry and the dead-letter topic last but one and last.
        brokers: names.
        queues: all queues.
        route: queues of each topic that clients know of, sorted.
        lists: what single rows say in lists, by place of the row.
        owned: windows of each live process, by queue.
        members: processes that the brokers know of, in the order in which they came.
        subscribed: topics of each process.
        owners: when which queue was owned: (cell, process, since, until), as far as it is over.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.random = random.Random(plan.seed)
        self.clients: list[str] = []
        self.brokers = [f"broker-{letter}" for letter in _letters(plan.brokers)]
        own = ["orders"] if plan.topics == 1 else [f"orders-{n}" for n in range(plan.topics)]
        self.own_topics = own
        self.topics = [*own, OTHER_TOPIC, RETRY_PREFIX + GROUP, DEAD_LETTER_PREFIX + GROUP]
        self.strategy = _STRATEGIES[plan.strategy]()
        self.queues: list[MessageQueue] = []
        for topic in own:
            for n in range(plan.queues):
                self.queues.append(MessageQueue(topic, self.brokers[n % plan.brokers], n // plan.brokers))
        self.queues.append(MessageQueue(OTHER_TOPIC, self.brokers[0], 0))
        self.retry_queues = range(len(self.queues), len(self.queues) + plan.brokers)
        self.queues += [MessageQueue(RETRY_PREFIX + GROUP, broker, 0) for broker in self.brokers]
        self.place_of = {queue: n for n, queue in enumerate(self.queues)}
        self.route: dict[str, list[MessageQueue]] = {}
        for queue in sorted(self.queues):
            self.route.setdefault(queue.topic, []).append(queue)
        self.lists: dict[int, Mapping[str, Any]] = {}
        self.owned: dict[int, dict[int, int]] = {}
        self.members: list[int] = []
        self.subscribed: dict[int, list[str]] = {}
        self.expressions: dict[int, str] = {}
        self.owners: list[tuple[int, int, int, int]] = []
        self.locks: dict[int, tuple[int, int]] = {}
        self.closing = False
        # What mutants do to a rebalance: an old view, another answer, topics left out, queues not taken.
        self.frozen: dict[int, list[str]] = {}
        self.blocked: set[tuple[int, int]] = set()
        self.first_topic_only: set[int] = set()
        self.wrong_answer: Callable[[int, str, list[MessageQueue]], list[MessageQueue]] | None = None
        self.wrong_start: Callable[[int, int], int | None] | None = None
        self._incarnations: dict[int, int] = {}
        self._cells: dict[tuple[int, int], int] = {}
        self._free_rings: list[int] = []
        self._events: list[tuple[int, int, Callable[[], object]]] = []
        self._count = 0
        self._processes = 0
        self._windows = 0
        self._pass: dict[int, int] = {}
        self.world = self._new_world()

    # Time.

    @property
    def now(self) -> int:
        """Ms since the start."""
        return int(self.world.all[0]["now"])

    def at(self, time: int, action: Callable[[], object]) -> None:
        """Let ``action`` happen at a time."""
        self._count += 1
        heapq.heappush(self._events, (time, self._count, action))

    def after(self, delay: int, action: Callable[[], object]) -> None:
        """Let ``action`` happen later."""
        self.at(self.now + delay, action)

    @property
    def next_event(self) -> int:
        """When the next action happens."""
        return self._events[0][0]

    def act(self) -> None:
        """The next action happens."""
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
        if "result" in fields:
            rows[C.result, i] = _RESULT[fields.pop("result")]
        if "path" in fields:
            rows[C.path, i] = _PATH[fields.pop("path")]
        if "topic" in fields:
            rows[C.topic, i] = self.topics.index(fields.pop("topic"))
        if "broker" in fields:
            rows[C.broker, i] = fields.pop("broker")
        if fields.pop("grouped", True):
            rows[C.group, i] = 0
        for name in [name for name in fields if name in WHOLE]:
            rows[getattr(C, name), i] = fields.pop(name)
        if fields:
            self.lists[i] = fields
        return i

    # Processes.

    def client(self, number: int) -> int:
        """The client id of a number, as a code."""
        while len(self.clients) <= number:
            n = len(self.clients)
            self.clients.append(f"10.0.{n // 250}.{n % 250 + 1}@{4711 + n}")
        return number

    def start(self, client: int, *, topics: Sequence[str] | None = None, expression: str = "*") -> int:
        """ST-1: a process with a client id starts and joins the group; its number."""
        process = self._processes
        self._processes += 1
        if process == len(self.world.processes):
            self.world = self.world._replace(processes=_doubled(self.world.processes))
        incarnation = self._incarnations.get(client, 0)
        self._incarnations[client] = incarnation + 1
        self.world.processes[process] = (self.client(client), incarnation, 1, -1)
        self.owned[process] = {}
        retry = [] if self.plan.group_kind == BROADCASTING else [RETRY_PREFIX + GROUP]
        self.subscribed[process] = [*(self.own_topics if topics is None else topics), *retry]
        self.expressions[process] = expression
        self.row(Kind.CLIENT_START, process=process, grouped=False)
        self._heartbeat(process)
        self.members.append(process)
        self._membership(process)
        self.after(20, lambda: self.balance(process))
        put(self.world, self.now + 2 * PERSIST_PERIOD, PERSIST, process, 0, 0)
        if self.plan.timeouts and self.plan.group_kind != ORDERLY:
            put(self.world, self.now + self.plan.consume_timeout, CLEAN, process, 0, 0)
        if self.plan.group_kind == ORDERLY:
            self.after(1_000, lambda: self._renew(process))
        return process

    def stop(self, process: int) -> None:
        """ST-8: an orderly shutdown, which does not wait for listener calls (C4)."""
        windows = list(self.owned[process].items())
        for queue, w in windows:
            self.world.windows[w]["stage"] = DRAINING
            if self.plan.group_kind == ORDERLY:
                self._unlock(process, queue)
            commit(self.world, w, _PATH[Path.SHUTDOWN])
        self.row(Kind.UNREGISTER, process=process)
        self.members.remove(process)
        self._membership(process)
        self.after(8, lambda: self._stopped(process))

    def _stopped(self, process: int) -> None:
        for queue, w in list(self.owned[process].items()):
            self.row(Kind.REVOKE, process=process, queue=queue, path=Path.SHUTDOWN)
            self.close(process, queue, w, Cause.SHUTDOWN)
        self.row(Kind.CLIENT_STOP, process=process, grouped=False)
        self.world.processes[process]["alive"] = 0

    def crash(self, process: int) -> None:
        """The process dies; the broker notices at once that its connection is gone (ST-6)."""
        self.row(Kind.CLIENT_CRASH, process=process, grouped=False)
        for queue, w in list(self.owned[process].items()):
            self.close(process, queue, w, Cause.CRASH)
        self.world.processes[process]["alive"] = 0
        self.members.remove(process)
        self._membership(process)

    def alive(self) -> list[int]:
        """Processes that run, and are not about to stop."""
        return [process for process in self.members if self.world.processes[process]["alive"]]

    def _heartbeat(self, process: int) -> None:
        if not self.world.processes[process]["alive"]:
            return
        said = [f"{t}={'*' if t.startswith(RETRY_PREFIX) else self.expressions[process]}@1"
                for t in self.subscribed[process]]  # fmt: skip
        self.row(Kind.HEARTBEAT, process=process, subscriptions=said)
        self.after(HEARTBEAT_PERIOD, lambda: self._heartbeat(process))

    def _membership(self, changed: int) -> None:
        """ST-4, ST-7: the brokers tell the others, and now and then they do not hear it."""
        names = self.names()
        for broker in range(self.plan.brokers):
            self.row(Kind.MEMBERS, broker=broker, members=names)
        if self.plan.group_kind == BROADCASTING:
            return
        for process in self.members:
            if process != changed and self.random.random() < 0.9:
                self.after(self.random.randint(10, 200), functools.partial(self.balance, process))

    def names(self) -> list[str]:
        """Client ids of the members, sorted as clients sort them."""
        return sorted_ids(self.clients[self.world.processes[process]["client"]] for process in self.members)

    # Queues.

    def balance(self, process: int) -> None:
        """RB-1, RB-30: a pass of a process over all topics."""
        if self.closing or process not in self.members or not self.world.processes[process]["alive"]:
            return
        number = self._pass[process] = self._pass.get(process, 0) + 1
        again = REBALANCE_PERIOD
        topics = self.subscribed[process]
        for topic in topics[:1] if process in self.first_topic_only else topics:
            again = min(again, self._balance_topic(process, topic))

        def next_pass() -> None:
            if self._pass[process] == number:
                self.balance(process)

        self.after(again, next_pass)

    def _balance_topic(self, process: int, topic: str) -> int:
        queues = self.route.get(topic, [])
        own = self.clients[self.world.processes[process]["client"]]
        ids = self.frozen.get(process, self.names())
        said: dict[str, Any] = {"queues": _texts(queues), "detail": self.plan.strategy}
        if self.plan.group_kind == BROADCASTING:
            answer = list(queues)
            said["detail"] = "broadcasting"
        else:
            answer = list(self.strategy.allocate(own, queues, ids))
            said["members"] = ids
        if self.wrong_answer is not None:
            answer = self.wrong_answer(process, topic, answer)
        self.row(Kind.REBALANCE, process=process, topic=topic, assigned=_texts(answer), **said)
        wanted = {self.place_of[queue] for queue in answer}
        owned = self.owned[process]
        for queue in [queue for queue in owned if self.queues[queue].topic == topic and queue not in wanted]:
            self.revoke(process, queue, Path.REMOVAL)
        waits = [self.assign(process, queue) for queue in sorted(wanted) if queue not in owned]
        return min(waits, default=REBALANCE_PERIOD)

    def assign(self, process: int, queue: int) -> int:
        """RB-30 step 3: a process takes a queue; when it tries again, if it could not, else the usual period."""
        if (process, queue) in self.blocked or (-1, queue) in self.blocked:
            return REBALANCE_PERIOD
        place = self.world.queues[queue]
        broadcasting = self.plan.group_kind == BROADCASTING
        if not broadcasting and not self.world.brokers[place["broker"]]["up"]:
            self.row(Kind.OFFSET_QUERY, process=process, queue=queue, result=Result.ERROR)
            return UNBALANCED
        if self.plan.group_kind == ORDERLY and not self._lock(process, queue):
            return LOCK_AGAIN
        cell = self.cell(process, queue)
        stored = int(self.world.cells[cell]["committed"])
        start = None if self.wrong_start is None else self.wrong_start(process, queue)
        astray = start is not None
        if start is not None:
            memory = -1
        elif stored < 0 and (place["retry"] or broadcasting):
            # RB-40: without an offset a retry queue is read from its beginning, a broadcast one from its end.
            self.row(Kind.OFFSET_QUERY, process=process, queue=queue, result=Result.MISSING)
            start, memory = int(place["end"]) if broadcasting else 0, -1
        else:
            # OF-21: of a young queue, whose first message is still in memory, the broker says 0.
            start = memory = max(stored, 0)
            self.row(Kind.OFFSET_QUERY, process=process, queue=queue, result=Result.OK, offset=start)
        self.row(Kind.ASSIGN, process=process, queue=queue, offset=start)
        w = self._open(process, queue, cell, start, memory)
        self.world.windows[w]["astray"] = astray
        put(self.world, self.now + FIRST_PULL, PULL, w, 0, 0)
        return REBALANCE_PERIOD

    def revoke(self, process: int, queue: int, path: Path, cause: Cause = Cause.REBALANCE) -> None:
        """RB-32, RB-33: a process gives up a queue; a concurrent group does not wait for calls, an orderly one does."""
        w = self.owned[process][queue]
        commit(self.world, w, _PATH[Path.REMOVAL])
        self.close(process, queue, w, cause)
        self._let_go(process, queue, w, path)

    def _let_go(self, process: int, queue: int, w: int, path: Path) -> None:
        if not self.world.processes[process]["alive"]:
            return
        if self.plan.group_kind == ORDERLY:
            window = self.world.windows[w]
            if window["running"] and window["hung"] != -3:
                self.after(100, lambda: self._let_go(process, queue, w, path))
                return
            self._unlock(process, queue)
        self.row(Kind.REVOKE, process=process, queue=queue, path=path)

    def give_up_now(self, process: int, queue: int, w: int) -> None:
        """E3: as :meth:`revoke` of an orderly group, without waiting for a call that runs."""
        commit(self.world, w, _PATH[Path.REMOVAL])
        self.close(process, queue, w, Cause.REBALANCE)
        self._unlock(process, queue)
        self.row(Kind.REVOKE, process=process, queue=queue, path=Path.REMOVAL)

    def close(self, process: int, queue: int, w: int, cause: Cause) -> None:
        """A window ends; what it leaves unfinished is repeated for ``cause``."""
        window = self.world.windows[w]
        window["stage"] = CLOSED
        window["how"] = cause
        window["closed"] = self.now
        del self.owned[process][queue]
        self._free_rings.append(int(window["ring"]))
        self.owners.append((int(window["cell"]), process, int(window["opened"]), self.now))
        holder = self.world.processes[process]
        if holder["first"] == w:
            holder["first"] = window["sibling"]
            return
        at = int(holder["first"])
        while self.world.windows[at]["sibling"] != w:
            at = int(self.world.windows[at]["sibling"])
        self.world.windows[at]["sibling"] = window["sibling"]

    def cell(self, process: int, queue: int) -> int:
        """Where the offset of a queue is stored: at the broker, in a broadcasting group with each client."""
        client = int(self.world.processes[process]["client"]) if self.plan.group_kind == BROADCASTING else 0
        found = self._cells.get((client, queue))
        if found is None:
            found = self._cells[client, queue] = len(self._cells)
            if found == len(self.world.cells):
                self.world = self.world._replace(cells=_doubled(self.world.cells))
            self.world.cells[found] = (self.world.queues[queue]["broker"], -1, -1, -1, 0, -1, 0, 0, 0, 0)
        return found

    def cells(self) -> list[tuple[tuple[int, int], int]]:
        """All cells: client (0 but for broadcasting), queue, and number."""
        return list(self._cells.items())

    def _open(self, process: int, queue: int, cell: int, start: int, memory: int) -> int:
        w = self._windows
        self._windows += 1
        if w == len(self.world.windows):
            self.world = self.world._replace(windows=_doubled(self.world.windows))
        if not self._free_rings:
            rings = len(self.world.done)
            self.world = self.world._replace(done=_doubled(self.world.done))
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

    # Locks of orderly groups.

    def _lock(self, process: int, queue: int) -> bool:
        """OR-1: the lock of a queue lasts 60 s from its last renewal."""
        holder, since = self.locks.get(queue, (-1, 0))
        free = holder in (-1, process) or self.now - since > LOCK_EXPIRES
        self.row(Kind.LOCK, process=process, queue=queue, result=Result.OK if free else Result.FAILED)
        if free:
            self.locks[queue] = (process, self.now)
        return free

    def _unlock(self, process: int, queue: int) -> None:
        self.row(Kind.UNLOCK, process=process, queue=queue, result=Result.OK)
        self.locks.pop(queue, None)

    def _renew(self, process: int) -> None:
        if process not in self.members or self.closing:
            return
        for queue in self.owned[process]:
            if self.world.brokers[self.world.queues[queue]["broker"]]["up"]:
                self._lock(process, queue)
        self.after(LOCK_PERIOD, lambda: self._renew(process))

    # The world.

    def grow(self) -> None:
        """Make room in the tables that are about to be full."""
        world = self.world
        if 2 * world.all[0]["events"] > len(world.agenda):
            world = world._replace(agenda=larger(world.agenda))
        if world.all[0]["full"]:
            world.all[0]["full"] = 0
            world = world._replace(
                copies=_doubled(world.copies),
                retry=_doubled(world.retry, axis=1),
            )
        self.world = world

    def note(self, what: int, *, claim: int = -1, cause: int = 0, queue: int = -1, process: int = -1, offset: int = -1,
             until: int = -1, origin: int = 0, attempt: int = 0, time: int | None = None) -> None:  # fmt: skip
        """Write down what is true, now or at ``time``; see :func:`world.note`."""
        note(self.world, what, claim, cause, queue, process, offset, until, origin, attempt)
        if time is not None:
            self.world.facts[self.world.all[0]["facts"] - 1]["time"] = time

    def add_queue(self, topic: str, broker: int) -> int:
        """A new queue, which no client knows of yet."""
        name = self.brokers[broker]
        number = 1 + max(q.queue_id for q in self.queues if q.topic == topic and q.broker_name == name)
        queue = MessageQueue(topic, name, number)
        place = self.place_of[queue] = len(self.queues)
        self.queues.append(queue)
        table = np.append(self.world.queues, np.zeros(1, QUEUE))
        table[place] = (self.topics.index(topic), broker, number, 0, 0, -1)
        self.world = self.world._replace(queues=table)
        return place

    def _new_world(self) -> World:
        plan = self.plan
        a = np.zeros(1, ALL)
        producing = len(self.own_topics) * plan.queues
        orderly, broadcasting = plan.group_kind == ORDERLY, plan.group_kind == BROADCASTING
        rate = plan.messages / plan.producing
        # So that few messages reach several queues, and the first of them in time.
        burst = min(31, max(1, 2 * plan.messages // producing))
        lanes = 1 if orderly else 4
        # A call takes so long that all listeners together are busy less than half of the time.
        calls = rate * (plan.consumers if broadcasting else 1)
        busy = min(producing, plan.consumers * 20) * lanes * (plan.consumers if broadcasting else 1)
        a["gap"] = min((burst + 1) / 2 * producing / rate, plan.producing)
        a["burst"], a["lanes"] = burst, lanes
        a["call"] = max(1, min(40, int(busy / calls * 0.5)))
        a["random"] = a["seed"] = np.uint64(plan.seed * 0x9E3779B97F4A7C15 + 0x1234567 & 0xFFFFFFFFFFFFFFFF)
        a["unproduced"] = plan.messages
        a["orderly"], a["broadcasting"], a["brokers"] = orderly, broadcasting, plan.brokers
        a["maximum"] = plan.max_attempts if orderly else maximum_sent(plan.max_attempts)
        for name in ("failure_rate", "retry_failure_rate", "filtered_rate", "refusal_rate"):
            a[name] = getattr(plan, name)
        if orderly:
            a["retry_failure_rate"] = min(plan.retry_failure_rate, 0.5)
        a["timeout"], a["hangs"] = plan.consume_timeout, plan.timeouts
        a["hang_at"], a["hang_gap"] = plan.producing // 5, plan.producing // 2 // max(1, plan.timeouts)
        a["copy_free"] = -1
        a["levels"] = DelayTable.parse(plan.delays).levels
        queues = np.zeros(len(self.queues), QUEUE)
        for n, queue in enumerate(self.queues):
            broker = self.brokers.index(queue.broker_name)
            queues[n] = (self.topics.index(queue.topic), broker, queue.queue_id, n in self.retry_queues, 0, -1)
        room = 1_024
        windows = 2 * len(self.queues) * (plan.consumers if broadcasting else 1)
        rings = np.zeros((windows, SPAN), np.uint8)
        self._free_rings = list(range(windows))
        world = World(
            all=a,
            agenda=new_agenda(1 << 16),
            rows=new_rows(plan.rows + 4 * self.margin),
            rules=self._rules(int(a["maximum"][0])),
            queues=queues,
            cells=np.zeros(len(self.queues), CELL),
            processes=np.zeros(64, PROCESS),
            windows=np.zeros(windows, WINDOW),
            done=rings,
            brokers=np.array([(1, queue, 0) for queue in self.retry_queues], BROKER),
            retry=np.zeros((plan.brokers, room), RETRY),
            copies=np.zeros(room, COPY),
            recent=np.zeros((plan.brokers, 1_024), RECENT),
            facts=np.zeros(plan.rows // 4 + 4 * self.margin, FACT),
        )
        for place in range(producing):
            first = PRODUCING_FROM + self.random.randrange(1, 2 + int(2 * a["gap"][0]))
            put(world, first, PRODUCE, place, 0, 0)
        for broker in range(plan.brokers):
            put(world, PERSIST_PERIOD, SAVE, broker, 0, 0)
        return world

    @property
    def margin(self) -> int:
        """Rows that one event or action may make."""
        return 4 * len(self.queues) * (1 + len(self.clients)) + 4_096

    def _rules(self, maximum: int) -> Any:
        """The rules of the model for every count that can occur."""
        table = DelayTable.parse(self.plan.delays)
        most = maximum if maximum >= 0 else 1 << 30
        rules = np.zeros(max(maximum + 8, table.levels + 1), RULE)
        for n, said in enumerate(rules):
            said["level"] = stored_level(retry_level(n, 0), table.levels)
            said["dead"] = is_dead_letter(n, most, 0)
            said["fallback_level"] = stored_level(fallback_level(n), table.levels)
            said["fallback_dead"] = fallback_gives_up(self.plan.release, n + 1, most)
            said["delay"] = table.delay(n) if n else 0
        return rules


def _doubled(table: Any, axis: int = 0) -> Any:
    return np.concatenate([table, np.zeros_like(table)], axis=axis)


def _letters(count: int) -> Iterable[str]:
    return (chr(ord("a") + n) if n < 26 else f"z{n}" for n in range(count))


def _texts(queues: Sequence[MessageQueue]) -> list[str]:
    return [f"{queue.broker_name}:{queue.queue_id}" for queue in queues]
