"""Collecting: the message trace, stored messages and samples of a running cluster become files of a folder."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..format.header import header_json
from ..format.kinds import Kind
from ..format.schema import Header
from ..io.importers.message_trace import FIELD, RECORD
from .folder import Folder
from .questions import TRACE_TOPIC, Cluster, Queue
from .queues import Limits, Reading
from .remoting import ClusterError
from .samples import Event, Sampling, line
from .stored import UNIQUE_KEY, Stored

TRACE, MESSAGES, SAMPLES, GAPS = "message-trace.jsonl", "messages.jsonl", "samples.jsonl", "gaps.jsonl"
GROWING = (TRACE, MESSAGES, SAMPLES)
"""Files of a folder to which lines are appended; the gaps are rewritten each time."""

RETRY, DEAD = "%RETRY%", "%DLQ%"

_SAVE_SIZE, _SAVE_SECONDS = 1 << 20, 2.0

# Positions of the group, or the topic, in records of the message trace (TR-1 … TR-9).
_GROUP_AT = {"SubBefore": 3, "SubAfter": 8}
_TOPIC_AT = {"Pub": 4, "EndTransaction": 4}


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What is to be collected. A folder can only be continued with the same values."""

    groups: tuple[str, ...] = ()  # consumer groups
    topics: tuple[str, ...] = ()  # topics to collect, besides those that the groups consume
    trace_topic: str = TRACE_TOPIC  # the topic to which clients send their message trace; empty to leave it out
    messages: bool = False  # whether to read which messages the topics, the retry and the dead-letter topics hold

    def as_told(self) -> dict[str, Any]:
        """The values in the words of the options."""
        return {
            "--group": sorted(self.groups),
            "--topic": sorted(self.topics),
            "--trace-topic": self.trace_topic,
            "--messages": self.messages,
        }


@dataclass(kw_only=True)
class Collected:
    """The result of a run."""

    written: Counter[str] = field(default_factory=Counter)  # lines that were added to each file
    left_out: Counter[str] = field(default_factory=Counter)  # what was received and not written, by what it is
    notes: list[str] = field(default_factory=list)  # what the user should know, such as a topic that does not exist
    unread: dict[Queue, str] = field(default_factory=dict)  # queues that were not read to their end, with the reason
    lost: int = 0  # messages that were deleted before they were read
    samples: int = 0  # how often groups were sampled


class Collection:
    """One run that adds to a folder what is new.

    Args:
        cluster: the cluster to query.
        asked: what to collect.
        folder: where to write.
        since: for a new folder: messages stored before are left out, ms. An existing folder continues where it ended.
        until: messages stored then or later are left out, ms; None for no end.
        limits: how much may be read.
        sampling: the sampling of groups.
    """

    def __init__(
        self,
        cluster: Cluster,
        asked: Asked,
        folder: Folder,
        *,
        since: int,
        until: int | None,
        limits: Limits,
        sampling: Sampling | None = None,
    ) -> None:
        self._cluster, self._asked, self._folder, self._limits = cluster, asked, folder, limits
        self._reading = Reading(since=since, until=until)
        self._sampling = sampling or Sampling()
        self._saved = time.monotonic()
        self.collected = Collected()
        self._header = Header()
        self._wanted: frozenset[str] = frozenset()
        if folder.kept is not None:
            try:
                self._reading.restore(folder.kept["reading"])
                self._sampling.restore(folder.kept["sampling"])
            except (KeyError, TypeError, ValueError):
                raise ClusterError(f"{folder.path}: its state is damaged; collect into another folder.") from None

    def run(self, *, watch: float, every: float, sleep: Callable[[float], None] = time.sleep) -> Collected:
        """Read once, and then repeatedly for some time.

        ``watch`` is the duration, 0 to read once; ``every`` is the period of samples, s.

        Raises:
            ClusterError: a server does not answer or refuses; what was read until then is saved.
        """
        end = time.monotonic() + watch
        try:
            brokers = sorted(self._cluster.brokers())
            groups, queues, trace = self._look(brokers)
            self._header = self._facts(brokers)
            while True:
                began = time.monotonic()
                if groups:
                    self._take_samples(groups, queues)
                topics = {topic for several in groups.values() for topic in several} | self._wanted
                read = sorted(topics) if self._asked.messages else []
                messages = [queue for topic in read for queue in queues.get(topic, ())]
                for several, take in ((trace, self._take_trace), (messages, self._take_message)):
                    self._reading.read(self._cluster, several, self._limits, take, self._save_sometimes)
                self._save()
                rest = min(began + every, end) - time.monotonic()
                if time.monotonic() >= end or self._limits.reached():
                    self.collected.unread = dict(self._reading.unread)
                    self.collected.lost = sum(self._reading.lost.values())
                    return self.collected
                sleep(max(0.0, rest))
        except ClusterError:
            if (
                self._folder.waiting or self._folder.kept is not None
            ):  # otherwise the folder is not tied to these options
                self._save()
            raise

    def _look(self, brokers: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, list[Queue]], list[Queue]]:
        """Topics of groups, queues of topics, and the queues of the message trace."""
        asked = self._asked
        groups: dict[str, list[str]] = {}
        for group in asked.groups:
            topics = self._sampling.topics(self._cluster, brokers, group)
            if not topics and not asked.topics:
                raise ClusterError(
                    f"group {group}: no broker knows a member of it, or offsets. Is the name right? For a group that "
                    "has not consumed yet, name its topics (--topic)."
                )
            groups[group] = [*dict.fromkeys((*topics, *asked.topics)), RETRY + group]
        names = {topic for topics in groups.values() for topic in topics} | set(asked.topics)
        names |= {DEAD + group for group in groups}
        queues = {topic: self._cluster.queues(topic) for topic in sorted(names)}
        for topic in asked.topics:
            if not queues[topic]:
                raise ClusterError(f"topic {topic}: the name server does not know it. Is the name right?")
        self._wanted = frozenset(names)
        trace = self._cluster.queues(asked.trace_topic) if asked.trace_topic else []
        if asked.trace_topic and not trace:
            missing = (
                f"the cluster has no topic {asked.trace_topic}, so no message trace: brokers make it with "
                "traceTopicEnable=true, and clients write it with enableMsgTrace; --trace-topic names another one"
            )
            if not groups and not asked.messages:
                raise ClusterError(f"{missing}. Nothing else was asked for (--group, --messages).")
            self.collected.notes.append(missing)
        return groups, {topic: found for topic, found in queues.items() if found}, trace

    def _facts(self, brokers: Sequence[str]) -> Header:
        """What the header of the files states about the cluster."""
        delays = {self._cluster.settings(broker).get("messageDelayLevel", "") for broker in brokers} - {""}
        releases = {self._cluster.release(broker) for broker in brokers} - {""}
        header = Header(delays=min(delays) if len(delays) == 1 else "")
        return replace(header, release=min(releases)) if releases else header

    def _take_samples(self, groups: dict[str, list[str]], queues: dict[str, list[Queue]]) -> None:
        for event in self._sampling.sample(self._cluster, groups, queues):
            self._add(SAMPLES, event, "offsets, members and routes of a running cluster, sampled")
        self.collected.samples += 1

    def _take_trace(self, queue: Queue, message: Stored) -> None:
        try:
            body = message.body().decode()
        except ValueError:
            self.collected.left_out["message of the trace topic whose body cannot be read"] += 1
            return
        records = [record for record in body.split(RECORD) if record]
        wanted = [record for record in records if self._is_wanted(record.split(FIELD))]
        if len(records) > len(wanted):
            self.collected.left_out["record of another group or topic"] += len(records) - len(wanted)
        if wanted:
            told = {
                "bornHost": message.born_host,
                "body": "".join(record + RECORD for record in wanted),
                "broker": queue.broker,
                "queue": queue.id,
                "offset": message.offset,
                "stored": message.time,
            }
            self._folder.add(TRACE, json.dumps(told, ensure_ascii=False))
            self.collected.written[TRACE] += 1

    def _is_wanted(self, fields: Sequence[str]) -> bool:
        """Whether a record of the message trace is of a requested group or topic; old records do not say."""
        group, topic = _GROUP_AT.get(fields[0]), _TOPIC_AT.get(fields[0])
        if group is not None and self._asked.groups:
            return len(fields) <= group or fields[group] in self._asked.groups
        return topic is None or not self._wanted or len(fields) <= topic or fields[topic] in self._wanted

    def _take_message(self, queue: Queue, message: Stored) -> None:
        event: Event = {
            "time": message.time,
            "kind": Kind.STORE,
            "topic": queue.topic,
            "broker": queue.broker,
            "queue": queue.id,
            "offset": message.offset,
            "key": message.properties.get(UNIQUE_KEY),
            "msg_id": message.msg_id,
            "attempt": message.attempt,
        }
        if queue.topic.startswith(RETRY):
            event["kind"] = Kind.DELAY_DELIVER  # DL-8: retries first wait in the schedule topic
        elif queue.topic.startswith(DEAD):
            event = {name: event[name] for name in ("time", "broker", "key", "msg_id", "attempt")}
            event |= {"kind": Kind.DEAD_LETTER, "group": queue.topic.removeprefix(DEAD)}
        self._add(MESSAGES, event, "messages that a running cluster holds")

    def _add(self, name: str, event: Event, source: str) -> None:
        if not self._folder.holds(name):
            self._folder.add(name, json.dumps(self._headed(source), ensure_ascii=False))
        self._folder.add(name, line(event))
        self.collected.written[name] += 1

    def _headed(self, source: str) -> dict[str, Any]:
        told = header_json(self._header)
        return {name: value for name, value in told.items() if value not in ("", [], {})} | {"source": source}

    def _save_sometimes(self) -> None:
        if self._folder.waiting >= _SAVE_SIZE or time.monotonic() - self._saved >= _SAVE_SECONDS:
            self._save()

    def _save(self) -> None:
        gaps = [*self._sampling.gaps(), *self._unread_gaps()]
        groups = {name: {"mode": group.mode} for name, group in sorted(self._sampling.groups.items())}
        head = self._headed("what was not collected") | {"groups": groups}
        text = "".join(f"{each}\n" for each in (line(head), *map(line, gaps)))
        self._folder.save(
            {"reading": self._reading.kept(), "sampling": self._sampling.kept()}, {GAPS: text} if gaps else {}
        )
        self._saved = time.monotonic()

    def _unread_gaps(self) -> list[Event]:
        """What is missing of the messages of topics, and of the message trace: clients may hold it back (TR-2)."""
        clock = self._sampling.clock()
        found = dict(self._reading.unread)
        found |= {
            queue: f"{count:,} messages were deleted before they were read"
            for queue, count in self._reading.lost.items()
        }
        kept_back = [
            {
                "time": clock,
                "kind": Kind.GAP,
                "due": self._reading.since,
                "group": group,
                "detail": "the message trace: clients keep it back for seconds, and may lose it (TR-2)",
            }
            for group in sorted(self._sampling.groups)
        ]
        return kept_back + [
            {
                "time": max(clock, self._reading.last.get(queue, clock)),
                "kind": Kind.GAP,
                "due": self._reading.since,
                "broker": queue.broker,
                "topic": queue.topic,
                "detail": f"queue {queue.id}: {why}",
            }
            for queue, why in sorted(found.items())
            if queue.topic != self._asked.trace_topic
        ]
