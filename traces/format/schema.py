"""The form of a trace, version 1: one event a row, in JSONL for people and Parquet for scale.

A JSONL file begins with a line that holds the header; a Parquet file has it in the metadata of its schema under
``rocketproof.header``. Bodies of messages are never stored. Fields beyond those listed here are kept by conversions and
ignored by checks; a field that is null, or not there, was not known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

import pyarrow as pa

from .kinds import Kind

VERSION = 1
"""Version of the schema. A file of a later version is read as far as it goes, and the difference is reported."""

HEADER_KEY = "rocketproof.header"
"""Where a Parquet file has the header, as JSON."""

ABSENT = -(2**31)
"""What stands for "not known" in whole-number columns that monitors read; no field can have this value."""

_WORD = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, kw_only=True)
class Field:
    """One column.

    Attributes:
        name: of the column, and of the JSON member.
        type: of the column.
        low: smallest possible value of a whole number; smaller ones are impossible, and reported.
        high: largest possible value, None for the largest of the type.
        meaning: what it says, with the unit.
        absent: when it is null.
        source: where RocketMQ shows it.
    """

    name: str
    type: pa.DataType
    meaning: str
    absent: str
    source: str
    low: int = 0
    high: int | None = None


LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999. A later time is a damaged one, and cannot be shown as a date."""

_ALWAYS = "never"
_BROKER = "of an event of a broker"

FIELDS = (
    Field(
        name="time",
        type=pa.int64(),
        meaning="when it happened, ms since 1970 UTC, by the clock of the client, or of the broker if client is null",
        absent=_ALWAYS,
        source="every log line, message-trace record and hook",
        high=LATEST,
    ),
    Field(
        name="seq",
        type=pa.int64(),
        meaning="order among the events of one recorder; events with equal time are ordered by it",
        absent="the place in the file counts instead",
        source="the recorder",
    ),
    Field(name="kind", type=_WORD, meaning="what happened", absent=_ALWAYS, source="the table of kinds"),
    Field(name="result", type=_WORD, meaning="how it ended", absent="nothing to tell", source="the table of results"),
    Field(name="path", type=_WORD, meaning="on which way, or why", absent="not known", source="the table of paths"),
    Field(
        name="client",
        type=_WORD,
        meaning="client id of the consumer (or producer) that acts",
        absent=_BROKER,
        source="ClientConfig#buildMQClientId",
    ),
    Field(
        name="incarnation",
        type=pa.int32(),
        meaning="which process of that client id, counted from 0",
        absent="taken to be 0",
        source="the recorder; two at a time are a clash (A1)",
    ),
    Field(
        name="group",
        type=_WORD,
        meaning="consumer group",
        absent="of what a producer or broker does for all groups, such as store",
        source="consumerGroup",
    ),
    Field(
        name="topic",
        type=_WORD,
        meaning="topic as consumed, such as %RETRY%group",
        absent="of processes",
        source="EN-2",
    ),
    Field(name="broker", type=_WORD, meaning="broker name", absent="of client processes", source="brokerName"),
    Field(name="queue", type=pa.int32(), meaning="queue id", absent="no single queue is meant", source="queueId"),
    Field(
        name="offset",
        type=pa.int64(),
        meaning="queue offset of the message, or the offset that is asked for, answered or written",
        absent="not known, or nothing of that kind",
        source="queueOffset, commitOffset",
    ),
    Field(
        name="next",
        type=pa.int64(),
        meaning="pull_result: nextBeginOffset; removed: the low-water mark after it; deliver: offset after the batch",
        absent="of other kinds",
        source="PullResult, ProcessQueue#removeMessage",
    ),
    Field(name="min", type=pa.int64(), meaning="pull_result: minOffset", absent="of other kinds", source="PullResult"),
    Field(name="max", type=pa.int64(), meaning="pull_result: maxOffset", absent="of other kinds", source="PullResult"),
    Field(
        name="count",
        type=pa.int32(),
        meaning="pull_result: messages that came; deliver: size of the batch; gap: events lost",
        absent="of other kinds",
        source="PullResult#msgFoundList",
    ),
    Field(
        name="key",
        type=pa.string(),
        meaning="the unique key: the same for a message and all its retry copies",
        absent="not known, or left out to save room: then origin identifies the message",
        source="property UNIQ_KEY, EN-13",
    ),
    Field(
        name="origin",
        type=pa.int64(),
        low=-(2**63),
        meaning="64-bit hash of the unique key (see origin_of), what monitors join by",
        absent="made from key",
        source="the recorder",
    ),
    Field(
        name="msg_id",
        type=pa.string(),
        meaning="offset message id: another one for every stored copy",
        absent="not known",
        source="MessageExt#getMsgId of a broker, EN-13",
    ),
    Field(
        name="attempt",
        type=pa.int32(),
        meaning="reconsumeTimes: 0 of the first delivery; of a copy that is stored: the count it is stored with",
        absent="not known, or of an event that is not of one message",
        source="MessageExt#getReconsumeTimes",
    ),
    Field(
        name="level",
        type=pa.int32(),
        low=-1,
        meaning="delay level: asked for by send_back (0 leaves it to the broker, -1 gives up), stored by delay_store",
        absent="of other kinds",
        source="delayLevel, DELAY",
    ),
    Field(
        name="due",
        type=pa.int64(),
        meaning="delay_store: when it is to be delivered, ms since 1970 by the broker's clock; gap: since when",
        absent="of other kinds",
        source="tagsCode of the index of the schedule topic, DL-3",
        high=LATEST,
    ),
    Field(
        name="max_attempts",
        type=pa.int32(),
        low=-1,
        meaning="maxReconsumeTimes that a send_back names",
        absent="of other kinds",
        source="request 36",
    ),
    Field(
        name="epoch",
        type=pa.int64(),
        meaning="which window (ProcessQueue) of that client and queue, counted by the recorder",
        absent="not known",
        source="the recorder",
    ),
    Field(
        name="members",
        type=pa.list_(pa.string()),
        meaning="rebalance, members: client ids, as seen",
        absent="of other kinds",
        source="GET_CONSUMER_LIST_BY_GROUP",
    ),
    Field(
        name="queues",
        type=pa.list_(pa.string()),
        meaning="rebalance, route: queues as seen, each as broker:id",
        absent="of other kinds",
        source="topicSubscribeInfoTable",
    ),
    Field(
        name="assigned",
        type=pa.list_(pa.string()),
        meaning="rebalance: queues the client gives itself, each as broker:id",
        absent="of other kinds",
        source="AllocateMessageQueueStrategy#allocate",
    ),
    Field(
        name="subscriptions",
        type=pa.list_(pa.string()),
        meaning="heartbeat: what is consumed, each as topic=expression@version",
        absent="of other kinds",
        source="SubscriptionData",
    ),
    Field(
        name="detail",
        type=pa.string(),
        meaning="what else the source says, in words; rebalance: name of the strategy",
        absent="nothing else",
        source="the source",
    ),
    Field(
        name="micros",
        type=pa.int32(),
        meaning="µs within the millisecond of time",
        absent="the clock is not as fine, or was not read so",
        source="the recorder",
        high=999,
    ),
    Field(
        name="recorder",
        type=_WORD,
        meaning="which process recorded it, with one clock and one order; any name",
        absent="taken from the file, the client and the kind",
        source="written where recordings are joined",
    ),
)
"""All columns, in their order."""

ARROW = pa.schema([pa.field(item.name, item.type) for item in FIELDS])
"""The schema of a batch of events."""

BY_NAME: Mapping[str, Field] = {item.name: item for item in FIELDS}


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value is a text that can be stored: JSON can spell half of a surrogate pair, and UTF-8 cannot."""
    if not isinstance(value, str):
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def origin_of(key: str) -> int:
    """The origin of a unique key: the first 8 bytes of its BLAKE2b digest, as a signed number."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little", signed=True)


@dataclass(frozen=True, kw_only=True)
class Group:
    """What is known of a consumer group beyond its events.

    Attributes:
        mode: ``clustering`` or ``broadcasting``; each client of a broadcasting group has offsets of its own.
        listener: ``concurrently`` or ``orderly``.
        max_attempts: ``maxReconsumeTimes`` as configured; -1 is the default of 16 (orderly: without end).
        strategy: name of the allocation strategy, such as AVG.
    """

    mode: str = "clustering"
    listener: str = "concurrently"
    max_attempts: int = -1
    strategy: str = "AVG"


TIMERS = (
    "rebalance",
    "heartbeat",
    "route_poll",
    "persist",
    "channel_expiry",
    "lock_life",
    "consume_timeout",
    "stuck",
)
"""Timers of a deployment that a header may state, as the settings of a check call them; ms."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a trace says of itself.

    Attributes:
        version: of the schema.
        source: what recorded it, in words.
        evidence: kinds that the source would have recorded had they happened. Where a kind is listed, its absence is
            evidence. Empty: nothing is known, and kinds that occur count as recorded.
        delays: ``messageDelayLevel`` of the brokers; empty where it is not known, then the default is assumed.
        release: of RocketMQ, such as 5.3.3; decides rules that differ.
        timers: those of :data:`TIMERS` that are not RocketMQ's own, ms.
        groups: what is known of groups, by name.
        complete: the trace begins with the first event of its groups: nothing that concerns them came before.
        extra: members of the header that this version does not know.
    """

    version: int = VERSION
    source: str = ""
    evidence: frozenset[Kind] = frozenset()
    delays: str = ""
    release: str = "5.3.3"
    timers: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, Group] = field(default_factory=dict)
    complete: bool = False
    extra: Mapping[str, object] = field(default_factory=dict)

    @property
    def broadcasting(self) -> frozenset[str]:
        """The groups of which every client has offsets of its own."""
        return frozenset(name for name, group in self.groups.items() if group.mode == "broadcasting")
