"""Cluster: what the processes, queues and messages of a machine are called in its traces.

The names of queues sort in the order of the machine's queues, as strategies divide sorted lists (RB-6). With several
brokers, every queue is on a broker with its own name, and broker ``b`` of the machine stands for all those whose number
modulo the number of brokers is ``b``: they restart together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....model.consume_queue import is_retry
from ....model.dead_letter import dead_letter_topic, retry_topic
from ....model.kernel import Constants
from ....model.share import STRATEGIES, ids_of, queues_of

GROUP = "billing"
TOPIC = "Orders"
RETRY, DEAD_LETTERS = retry_topic(GROUP), dead_letter_topic(GROUP)

BY_NAME = frozenset(STRATEGIES) - {"AVG", "AVG_BY_CIRCLE"}
"""Strategies whose answer depends on names, so that the names must be those that the machine assumes."""


class Cluster:
    """The names of one configuration; queues, brokers and clients are given by their number in the machine."""

    def __init__(self, constants: Constants) -> None:
        self.constants = constants
        self.clients = int(constants.consumers)
        self.queues = int(constants.queues)
        self._brokers = int(constants.get("brokers", 1))
        self._by_name = bool(BY_NAME & {constants.get("strategy", ""), constants.get("last_strategy", "")})
        self.topic = queues_of(constants)[0].topic if self._by_name else TOPIC  # what the group consumes

    def place(self, q: int) -> Mapping[str, Any]:
        """Topic, broker and queue id of queue ``q``, as fields of an event."""
        if self.is_retry(q):
            return {"topic": RETRY, "broker": self._broker(q), "queue": 0}
        if self._by_name:
            queue = queues_of(self.constants)[q]
            return {"topic": queue.topic, "broker": queue.broker_name, "queue": queue.queue_id}
        return {"topic": self.topic, "broker": self._broker(q), "queue": 0 if self._brokers > 1 else q}

    @property
    def has_retry_queue(self) -> bool:
        """Whether the last queue is the retry queue of the group."""
        return self.is_retry(self.queues - 1)

    def is_retry(self, q: int) -> bool:
        """Whether queue ``q`` is the retry queue of the group."""
        return is_retry(self.constants, q) if "copies" in self.constants else False

    def of_topic(self) -> range:
        """The queues of the topic without the retry queue."""
        return range(self.queues - self.has_retry_queue)

    def spelled(self, q: int) -> str:
        """Queue ``q`` as written in lists of queues: broker and id."""
        place = self.place(q)
        return f"{place['broker']}:{place['queue']}"

    def brokers_of(self, b: int) -> list[str]:
        """Names that stand for broker ``b`` of the machine; never empty."""
        names = [str(self.place(q)["broker"]) for q in range(self.queues) if q % self._brokers == b]
        return list(dict.fromkeys(names)) or [f"broker-{b}"]

    def all_brokers(self) -> list[str]:
        """Names of all brokers."""
        return list(dict.fromkeys(name for b in range(self._brokers) for name in self.brokers_of(b)))

    def client(self, c: int) -> str:
        """Client id with which ``c`` starts; two clients may have the same (EN-7, A1)."""
        if self.constants.get("shared_file", 0):
            return "c0"
        if "same_id" in self.constants:
            return ids_of(self.constants)[c]
        return f"c{c}"

    def _broker(self, q: int) -> str:
        return f"broker-{q}" if self._brokers > 1 and not self._by_name else "broker-0"
