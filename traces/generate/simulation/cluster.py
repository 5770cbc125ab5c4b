"""The cluster: the processes of a group, how they share the queues, and the world on which they act."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....model.allocation import Averagely, AveragelyByCircle, ConsistentHash, MessageQueue, Strategy, sorted_ids
from ....model.history import Cause
from ...claims.settings import HEARTBEAT_PERIOD, LOCK_LIFE, PERSIST_PERIOD, REBALANCE_PERIOD
from ...encoding.names import RETRY_PREFIX
from ...format.kinds import Kind, Path, Result, codes
from .agenda import put
from .commits import commit
from .plan import BROADCASTING, ORDERLY, Plan
from .tables import GROUP, Tables, doubled
from .world import CLEAN, CLOSED, DRAINING, PERSIST, PULL

LOCK_PERIOD = 20_000
FIRST_PULL, LOCK_AGAIN, UNBALANCED = 500, 500, 1_000
LET_GO_AGAIN = 100

_STRATEGIES: Mapping[str, Callable[[], Strategy]] = {
    "AVG": Averagely,
    "AVG_BY_CIRCLE": AveragelyByCircle,
    "CONSISTENT_HASH": ConsistentHash,
}
_PATH = codes(Path)


class Cluster(Tables):
    """A group at work."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.strategy = _STRATEGIES[plan.strategy]()
        self.route: dict[str, list[MessageQueue]] = {}  # queues of each topic that clients know, sorted
        for queue in sorted(self.queues):
            self.route.setdefault(queue.topic, []).append(queue)
        self.members: list[int] = []  # processes that the brokers know, in the order in which they came
        self.subscribed: dict[int, list[str]] = {}  # topics of each process
        self.expressions: dict[int, str] = {}
        # when which queue was owned: (cell, process, since, until), for ownerships that have ended
        self.owners: list[tuple[int, int, int, int]] = []
        self.locks: dict[int, tuple[int, int]] = {}
        self.closing = False
        # What mutants change in a rebalance: an old view, another answer, topics left out, queues not taken.
        self.frozen: dict[int, list[str]] = {}
        self.blocked: set[tuple[int, int]] = set()
        # Queues that processes give up while a listener runs, which delays their next pass (RB-33).
        self._leaving: set[tuple[int, int]] = set()
        self.first_topic_only: set[int] = set()
        self.wrong_answer: Callable[[int, str, list[MessageQueue]], list[MessageQueue]] | None = None
        self.wrong_start: Callable[[int, int], int | None] | None = None
        self._incarnations: dict[int, int] = {}
        self._processes = 0
        self._pass: dict[int, int] = {}

    # Processes.

    def start(self, client: int, *, topics: Sequence[str] | None = None, expression: str = "") -> int:
        """ST-1: a process with a client id starts and joins the group; returns its number."""
        process = self._processes
        self._processes += 1
        if process == len(self.world.processes):
            self.world = self.world._replace(processes=doubled(self.world.processes))
        incarnation = self._incarnations.get(client, 0)
        self._incarnations[client] = incarnation + 1
        self.world.processes[process] = (self.client(client), incarnation, 1, -1)
        self.owned[process] = {}
        retry = [] if self.plan.group_kind == BROADCASTING else [RETRY_PREFIX + GROUP]
        self.subscribed[process] = [*(self.own_topics if topics is None else topics), *retry]
        # FI-1: messages that nobody asks for are filtered by an expression.
        self.expressions[process] = expression or ("paid" if self.plan.filtered_rate else "*")
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
        """ST-8: an orderly shutdown, which waits for no listener call (C4); nothing if the process is already gone."""
        if process not in self.members:
            return
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

    def client_ids(self) -> set[int]:
        """The client ids of the members."""
        return {int(self.world.processes[process]["client"]) for process in self.members}

    def _heartbeat(self, process: int) -> None:
        if not self.world.processes[process]["alive"]:
            return
        said = [f"{t}={'*' if t.startswith(RETRY_PREFIX) else self.expressions[process]}@1"
                for t in self.subscribed[process]]  # fmt: skip
        self.row(Kind.HEARTBEAT, process=process, subscriptions=said)
        self.after(HEARTBEAT_PERIOD, lambda: self._heartbeat(process))

    def _membership(self, changed: int) -> None:
        """ST-4, ST-7: the brokers notify the other clients, which occasionally miss the notification."""
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

        def next_pass() -> None:
            if self._pass[process] == number:
                self.balance(process)

        if any(leaving == process for leaving, _ in self._leaving):
            self.after(LET_GO_AGAIN, next_pass)
            return
        again = REBALANCE_PERIOD
        topics = self.subscribed[process]
        for topic in topics[:1] if process in self.first_topic_only else topics:
            again = min(again, self._balance_topic(process, topic))
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
        """RB-30 step 3: a process takes a queue. Returns when to try again, which is sooner if it could not."""
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
            # OF-21: for a young queue, whose first message is still in memory, the broker answers 0.
            start = memory = max(stored, 0)
            self.row(Kind.OFFSET_QUERY, process=process, queue=queue, result=Result.OK, offset=start)
        self.row(Kind.ASSIGN, process=process, queue=queue, offset=start)
        w = self._open(process, queue, cell, start, memory)
        self.world.windows[w]["astray"] = astray
        put(self.world, self.now + FIRST_PULL, PULL, w, 0, 0)
        return REBALANCE_PERIOD

    def revoke(
        self, process: int, queue: int, path: Path, cause: Cause = Cause.REBALANCE, *, waits: bool = True
    ) -> None:
        """RB-32, RB-33: a process gives up a queue; a concurrent group does not wait for calls, an orderly one does,
        unless a bug (E3) keeps it from waiting.
        """
        w = self.owned[process][queue]
        commit(self.world, w, _PATH[Path.REMOVAL])
        self.close(process, queue, w, cause)
        self._let_go(process, queue, w, path, waits=waits)

    def _let_go(self, process: int, queue: int, w: int, path: Path, *, waits: bool = True) -> None:
        if not self.world.processes[process]["alive"]:
            return
        if self.plan.group_kind == ORDERLY:
            window = self.world.windows[w]
            if waits and window["running"] and window["hung"] != -3:
                self._leaving.add((process, queue))
                self.after(LET_GO_AGAIN, lambda: self._let_go(process, queue, w, path))
                return
            self._leaving.discard((process, queue))
            self._unlock(process, queue)
        self.row(Kind.REVOKE, process=process, queue=queue, path=path)

    def close(self, process: int, queue: int, w: int, cause: Cause) -> None:
        """A window ends; messages that it leaves unfinished are repeated for ``cause``."""
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

    # Locks of orderly groups.

    def _lock(self, process: int, queue: int) -> bool:
        """OR-1: the lock of a queue lasts 60 s from its last renewal."""
        holder, since = self.locks.get(queue, (-1, 0))
        free = holder in (-1, process) or self.now - since > LOCK_LIFE
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


def _texts(queues: Sequence[MessageQueue]) -> list[str]:
    return [f"{queue.broker_name}:{queue.queue_id}" for queue in queues]
