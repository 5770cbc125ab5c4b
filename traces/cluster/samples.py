"""What brokers report about groups, polled repeatedly: stored offsets, members, routes; an event for each change.

A sample is no recording: anything that happened between two samples and was undone again is missing. The time from the
first sample to the last is therefore a gap for each group and broker.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..format.kinds import Kind
from ..format.schema import Group
from .questions import Cluster, Members, Queue

Event = dict[str, Any]


def now() -> int:
    """The time of this machine, ms since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(kw_only=True)
class Sampling:
    """The last reported values, to find out what has changed."""

    clock: Callable[[], int] = now  # returns the time, ms
    told: dict[str, Any] = field(default_factory=dict)  # the last reported value of each item, as JSON, by its name
    spans: dict[str, list[int]] = field(default_factory=dict)  # times of the first and last sample, by ``group@broker``
    groups: dict[str, Group] = field(default_factory=dict)  # what is known about groups

    def topics(self, cluster: Cluster, brokers: Sequence[str], group: str) -> list[str]:
        """The topics to which members of a group subscribe, or for which it has offsets; without retry topics."""
        found: set[str] = set()
        for broker in brokers:
            members = cluster.members(broker, group)
            found.update(members.topics if members else ())
            found.update(cluster.topics_of(broker, group))
        return sorted(topic for topic in found if not topic.startswith("%"))

    def sample(
        self, cluster: Cluster, groups: Mapping[str, Sequence[str]], queues: Mapping[str, Sequence[Queue]]
    ) -> list[Event]:
        """Query once; returns events for everything that has changed since the last time.

        ``groups`` has the topics of each group, including retry topics; ``queues`` those of each topic.

        Raises:
            ClusterError: a broker does not answer, or refuses.
        """
        before = dict(self.told)
        try:
            return self._sample(cluster, groups, queues)
        except BaseException:
            self.told = before  # what is recorded as reported but not returned must be reported again
            raise

    def _sample(
        self, cluster: Cluster, groups: Mapping[str, Sequence[str]], queues: Mapping[str, Sequence[Queue]]
    ) -> list[Event]:
        events: list[Event] = []
        brokers = sorted({queue.broker for topic in queues.values() for queue in topic})
        for topic, found in sorted(queues.items()):
            names = [f"{queue.broker}:{queue.id}" for queue in found]
            events += self._changed(f"route {topic}", names, {"kind": Kind.ROUTE, "topic": topic, "queues": names})
        for group, topics in sorted(groups.items()):
            for broker in brokers:
                members = cluster.members(broker, group)
                events += self._members(broker, group, members)
                span = self.spans.setdefault(f"{group}@{broker}", [self.clock()] * 2)
                span[1] = self.clock()
            if self.groups[group].mode == "broadcasting":
                continue  # OF-2: each member keeps its own
            for queue in (queue for topic in topics for queue in queues.get(topic, ())):
                events += self._offset(group, queue, cluster.offset_of(group, queue))
        return events

    def _members(self, broker: str, group: str, members: Members | None) -> list[Event]:
        known = Group(mode="broadcasting" if members and members.broadcasting else "clustering")
        if members or group not in self.groups:
            self.groups[group] = known
        clients = sorted(members.clients) if members else []
        event = {
            "kind": Kind.MEMBERS,
            "broker": broker,
            "group": group,
            "members": clients,
            "detail": f"subscribed, as told last: {', '.join(members.subscriptions)}" if members else "nobody",
        }
        return self._changed(f"members {group} {broker}", [clients, event["detail"]], event)

    def _offset(self, group: str, queue: Queue, offset: int | None) -> list[Event]:
        name = f"offset {group} {queue.topic} {queue.broker} {queue.id}"
        # A broker of 4.x answers 0 if nothing is stored: 0 counts as a value only after another value.
        if offset is None or (offset == 0 and name not in self.told):
            return []
        event = {"kind": Kind.COMMIT, "group": group, "topic": queue.topic, "broker": queue.broker, "queue": queue.id}
        return self._changed(name, offset, event | {"offset": offset})

    def _changed(self, name: str, value: Any, event: Event) -> list[Event]:
        if self.told.get(name) == value:
            return []
        self.told[name] = value
        return [{"time": self.clock(), **event}]

    def gaps(self) -> list[Event]:
        """The times between samples."""
        return [
            {
                "time": last,
                "kind": Kind.GAP,
                "due": first,
                "group": group,
                "broker": broker,
                "detail": "sampled: what happened between two samples is not known",
            }
            for (group, _, broker), (first, last) in sorted(
                (name.rpartition("@"), span) for name, span in self.spans.items()
            )
        ]

    def kept(self) -> dict[str, Any]:
        """The last reported values, as a JSON value."""
        groups = {name: group.mode for name, group in self.groups.items()}
        return {"told": self.told, "spans": self.spans, "modes": groups}

    def restore(self, kept: Mapping[str, Any]) -> None:
        """Restore the state from such a value."""
        self.told, self.spans = dict(kept["told"]), dict(kept["spans"])
        self.groups = {name: Group(mode=mode) for name, mode in kept["modes"].items()}


def line(event: Mapping[str, Any]) -> str:
    """An event as a line of JSON."""
    return json.dumps(event, ensure_ascii=False)
