"""Messages of queues, read from where the last run ended to the present end of the queues, within limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .questions import PULL_OFFSET_MOVED, PULL_RETRY_IMMEDIATELY, Cluster, Queue
from .remoting import SUCCESS, ClusterError
from .stored import Stored, messages_of

_AGAIN = 3
"""How often a broker may ask for an immediate retry without returning anything."""


@dataclass(kw_only=True)
class Limits:
    """What one run may read at most, and what it has read."""

    messages: int  # maximum number of messages
    size: int  # maximum number of bytes, as received
    seconds: float  # maximum duration
    read: int = 0  # number of messages read
    received: int = 0  # number of bytes received
    _began: float = field(default_factory=time.monotonic)

    def reached(self) -> str:
        """The limit that has been reached, in words; empty if none has."""
        if self.read >= self.messages:
            return f"{self.messages:,} messages"
        if self.received >= self.size:
            return f"{self.size:,} bytes"
        return f"{self.seconds:g} seconds" if time.monotonic() - self._began >= self.seconds else ""


@dataclass(kw_only=True)
class Reading:
    """How far queues were read."""

    since: int  # messages stored before are left out, ms by the clocks of the brokers
    until: int | None = None  # messages stored then or later are left out; None for no end
    next: dict[Queue, int] = field(default_factory=dict)  # for each queue, the offset to continue at
    last: dict[Queue, int] = field(default_factory=dict)  # for each queue, when the last message read was stored, ms
    lost: dict[Queue, int] = field(default_factory=dict)  # how many messages were deleted before they were read
    unread: dict[Queue, str] = field(default_factory=dict)  # queues that could not be read to their end, and why

    def read(
        self,
        cluster: Cluster,
        queues: Sequence[Queue],
        limits: Limits,
        take: Callable[[Queue, Stored], None],
        after: Callable[[], None],
    ) -> None:
        """Read all queues in turns, so that a limit cuts off the latest messages of each queue, not whole queues.

        ``take`` is called with each message of the window, ``after`` after each answer, once its messages have been
        taken.

        Raises:
            ClusterError: a broker does not answer, or refuses.
        """
        ends = {queue: cluster.end(queue) for queue in queues}
        for queue in queues:
            self.unread.pop(queue, None)
            if queue not in self.next:
                self.next[queue] = max(cluster.begin(queue), cluster.offset_at(queue, self.since) if ends[queue] else 0)
            if ends[queue] < self.next[queue]:
                self.unread[queue] = f"it ends at {ends[queue]}, before {self.next[queue]}, where reading would go on"
        left = [queue for queue in queues if self.next[queue] < ends[queue]]
        self.unread.update(dict.fromkeys(left, "the run ended before"))
        again: dict[Queue, int] = {}
        while left:
            for queue in list(left):
                if limit := limits.reached():
                    self.unread.update(dict.fromkeys(left, f"the limit of {limit} is reached"))
                    return
                if not self._pull(cluster, queue, ends[queue], limits, take, again):
                    left.remove(queue)
                after()

    def _pull(
        self,
        cluster: Cluster,
        queue: Queue,
        end: int,
        limits: Limits,
        take: Callable[[Queue, Stored], None],
        again: dict[Queue, int],
    ) -> bool:
        """Pull once; returns whether there is more to read."""
        at = before = self.next[queue]
        answer = cluster.pull(queue, at)
        limits.received += len(answer.body)
        told = answer.fields.get("nextBeginOffset", "")
        following = min(int(told), end) if told.isdecimal() else at
        if answer.code == SUCCESS:
            try:
                messages = list(messages_of(answer.body))
            except ValueError as error:
                raise ClusterError(
                    f"broker {queue.broker}, {queue.topic} queue {queue.id} offset {at}: {error}."
                ) from None
            for message in messages:
                if message.offset >= end or (self.until is not None and message.time >= self.until):
                    del self.unread[queue]
                    return False
                if message.offset >= at:
                    limits.read += 1
                    at, self.last[queue] = message.offset + 1, message.time
                    self.next[queue] = at
                    if message.time >= self.since:
                        take(queue, message)
        elif answer.code == PULL_OFFSET_MOVED and following > at:
            self.lost[queue] = self.lost.get(queue, 0) + following - at
        if max(at, following) == before:
            again[queue] = again.get(queue, 0) + 1
            if answer.code != PULL_RETRY_IMMEDIATELY or again[queue] >= _AGAIN:
                self.unread[queue] = f"the broker gives nothing from {at} on"
                return False
        self.next[queue] = max(at, following)
        if self.next[queue] < end:
            return True
        del self.unread[queue]
        return False

    def kept(self) -> dict[str, Any]:
        """How far queues were read, as a JSON value."""
        rows = [
            [queue.topic, queue.broker, queue.id, offset, self.last.get(queue), self.lost.get(queue, 0)]
            for queue, offset in sorted(self.next.items())
        ]
        return {"since": self.since, "queues": rows}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Restore the state from such a value.

        Raises:
            KeyError, TypeError, ValueError: it is damaged.
        """
        self.since = int(kept["since"])
        for topic, broker, number, offset, last, lost in kept["queues"]:
            queue = Queue(topic=topic, broker=broker, id=number)
            self.next[queue] = int(offset)
            if last is not None:
                self.last[queue] = int(last)
            if lost:
                self.lost[queue] = int(lost)
