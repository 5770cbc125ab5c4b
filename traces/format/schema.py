"""The form of a trace, version 1: one row for each event, in JSONL for people and Parquet for scale.

A JSONL file begins with a line that contains the header; a Parquet file has it in the metadata of its schema under
``rocketproof.header``. Bodies of messages are never stored. Fields not listed here are kept by conversions and ignored
by checks; a field that is null, or missing, was not known.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import pyarrow as pa

from ...model.retry_policy import maximum_sent
from .kinds import Kind

VERSION = 1
"""Version of the schema. A file of a later version is read as far as possible, and the difference is reported."""

HEADER_KEY = "rocketproof.header"
"""Where a Parquet file has the header, as JSON."""

ABSENT = -(2**31)
"""Stands for "not known" in the whole-number columns that monitors read; no field can have this value."""

MOST_ATTEMPTS = 2**31 - 1
"""The largest value of a group's maximum of attempts, and of a timer: Java's largest int."""

_WORD, _TEXTS = pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.string())


@dataclass(frozen=True)
class Field:
    """One column."""

    name: str  # of the column, and of the JSON member
    type: pa.DataType  # of the column
    low: int = 0  # smallest possible value of a whole number; smaller ones are impossible, and reported
    high: int | None = None  # largest possible value, None for the largest of the type


LATEST = 253_402_300_799_999
"""The last millisecond of the year 9999. A later time is damaged, and cannot be shown as a date."""

FIELDS = (
    Field(
        "time", pa.int64(), high=LATEST
    ),  # ms since 1970 UTC, by the clock of the client, or of the broker if there is no client
    Field("seq", pa.int64()),  # order among the events of one recorder
    Field("kind", _WORD),
    Field("result", _WORD),
    Field("path", _WORD),
    Field("client", _WORD),  # id of the consumer, or producer, that acts
    Field("incarnation", pa.int32()),  # which process with that client id
    Field("group", _WORD),
    Field("topic", _WORD),  # as consumed, such as %RETRY%group
    Field("broker", _WORD),
    Field("queue", pa.int32()),
    Field("offset", pa.int64()),  # of the message, or as asked for, answered or written
    Field("next", pa.int64()),  # nextBeginOffset; low-water mark after a removal; offset after a batch
    Field("min", pa.int64()),
    Field("max", pa.int64()),
    Field("count", pa.int32()),  # messages that came; size of the batch; members; events lost
    Field("key", pa.string()),  # unique key: the same for a message and all its retry copies
    Field("origin", pa.int64(), low=-(2**63)),  # of the key, see origin_of
    Field("msg_id", pa.string()),  # offset message id: different for every stored copy
    Field("attempt", pa.int32()),  # reconsumeTimes
    Field("level", pa.int32(), low=-1),  # of a delay, requested or stored
    # When a delayed message is due, ms; since when there is a gap; when an offset query was sent.
    Field("due", pa.int64(), high=LATEST),
    Field("max_attempts", pa.int32(), low=-1),  # maxReconsumeTimes in a send-back
    Field("epoch", pa.int64()),  # which window (ProcessQueue) of that client and queue
    Field("members", _TEXTS),  # client ids, as seen
    Field("queues", _TEXTS),  # as seen, each as broker:id
    Field("assigned", _TEXTS),  # queues that the client gives itself, each as broker:id
    Field("subscriptions", _TEXTS),  # each as topic=expression@version
    Field("detail", pa.string()),  # what else the source says; name of the strategy
    Field("micros", pa.int32(), high=999),  # µs within the millisecond of time
    Field("recorder", _WORD),  # the process that recorded it, with one clock and one order
)
"""All columns, in their order; ``docs/trace-format.md`` describes each, and when it is null."""

ARROW = pa.schema([pa.field(item.name, item.type) for item in FIELDS])
"""The schema of a batch of events."""

BY_NAME: Mapping[str, Field] = {item.name: item for item in FIELDS}


def plain(schema: pa.Schema) -> pa.Schema:
    """The schema with words as texts, for readers that do not support dictionaries."""
    return pa.schema(
        [one.with_type(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in schema]
    )


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value is a text that can be stored: JSON can spell half of a surrogate pair, but UTF-8 cannot."""
    if not isinstance(value, str):
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


_SLAVE = "slave of "


def slave_of(broker: str) -> str:
    """The name that a joined recording uses for the slaves of a broker, which have the same name as their master."""
    return f"{_SLAVE}{broker}"


STATIC = "__syslo__"
"""What the names of brokers begin with that stand for all of a static topic (``MixAll``)."""


def master_of(broker: str) -> str:
    """The broker to which a slave with that name belongs; the broker itself if it is no slave."""
    return broker.removeprefix(_SLAVE)


def is_of_slave(event: Mapping[str, Any]) -> bool:
    """Whether an event was recorded by a slave of a broker."""
    return str(event.get("broker") or "").startswith(_SLAVE)


def may_change_master(event: Mapping[str, Any]) -> bool:
    """Whether an event shows that a broker process got a role, or starts as a slave: the master may have changed."""
    return event["kind"] == Kind.ROLE_CHANGE or (event["kind"] == Kind.BROKER_START and is_of_slave(event))


def origin_of(key: str) -> int:
    """The origin of a unique key: the first 8 bytes of its BLAKE2b digest, as a signed number."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little", signed=True)


BOTH = "both"
"""The listener, or the mode, of a group whose members have different ones."""

BOTH_LISTENERS = "some of its members listen orderly, and others concurrently"
BOTH_MODES = "some of its members consume in broadcasting, and others in clustering"

PULLED = "pull"
"""The listener of a group that has none: its application pulls messages itself (lite pull, ``CONSUME_ACTIVELY``)."""

BY_APPLICATION = "its application pulls, and may set offsets as it likes (consumeType CONSUME_ACTIVELY)"

BY_BROKERS = "BROKER"
"""The strategy of a group whose queues are divided by brokers: ``DefaultMQPushConsumer#isClientRebalance`` is false
(5.x), or some of its members take messages by pop.
"""

DIVIDED_BY_BROKERS = "brokers divide its queues (clientRebalance=false), or some of its members take messages by pop"


@dataclass(frozen=True, kw_only=True)
class Group:
    """What is known about a consumer group besides its events.

    Attributes:
        mode: ``clustering`` or ``broadcasting``; each client of a broadcasting group has offsets of its own. ``both``
            if its members differ; it is then not judged.
        listener: ``concurrently`` or ``orderly``, or ``both`` likewise; ``pull`` if its application pulls, which is not
            judged either.
        max_attempts: ``maxReconsumeTimes`` as configured; -1 is the default of the listener; None: not stated. The
            highest one, if its members differ.
        lowest_max_attempts: the lowest one, if its members differ.
        strategy: name of the allocation strategy, such as AVG; ``BROKER`` if brokers divide the queues.
        consume_timeout: the longest ``consumeTimeout`` of its members, ms; None: that of the header's timers.
    """

    mode: str = "clustering"
    listener: str = "concurrently"
    max_attempts: int | None = None
    lowest_max_attempts: int | None = None
    strategy: str = "AVG"
    consume_timeout: int | None = None

    @property
    def differs(self) -> str:
        """Why the group is not judged: its members differ in a setting that nearly all rules depend on, or it is an
        unsupported one; empty if judged.
        """
        if self.mode == BOTH:
            return BOTH_MODES
        if self.strategy == BY_BROKERS:
            return DIVIDED_BY_BROKERS
        if self.listener == PULLED:
            return BY_APPLICATION
        return BOTH_LISTENERS if self.listener == BOTH else ""

    @property
    def maximum(self) -> int:
        """SB-2, OR-8: the maximum number of retries; if none is stated, the default of an unconfigured group.

        ``DefaultMQPushConsumerImpl#getMaxReconsumeTimes``, ``ConsumeMessageOrderlyService#getMaxReconsumeTimes``.
        """
        return self.maximum_of(self.max_attempts)

    @property
    def lowest_maximum(self) -> int:
        """The lowest maximum number of retries of any member."""
        return self.maximum if self.lowest_max_attempts is None else self.maximum_of(self.lowest_max_attempts)

    def maximum_of(self, configured: int | None) -> int:
        """The maximum number of retries of a member that is configured with this number."""
        configured = -1 if configured is None else configured
        if configured == -1 and self.listener == "orderly":
            return MOST_ATTEMPTS
        return int(maximum_sent(configured))


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
"""Timers of a deployment that a header may state, named as in the settings of a check; ms."""


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a trace says about itself."""

    version: int = VERSION  # version of the schema
    source: str = ""  # what recorded it, in words
    # kinds that the source would have recorded had they happened. The absence of a listed kind is evidence. Empty:
    # nothing is known, and kinds that occur count as recorded
    evidence: frozenset[Kind] = frozenset()
    delays: str = ""  # ``messageDelayLevel`` of the brokers; empty if it is not known, and the default is then assumed
    release: str = "5.3.3"  # release of RocketMQ, such as 5.3.3; selects the rules that differ
    timers: Mapping[str, int] = field(default_factory=dict)  # those of TIMERS that differ from RocketMQ's defaults, ms
    groups: Mapping[str, Group] = field(default_factory=dict)  # what is known about groups, by name
    # the trace begins with the first event of its groups: nothing that concerns them came before
    complete: bool = False
    # kinds of ``evidence`` that a client does not record of a group, by client id and group
    lacking: Mapping[tuple[str, str], frozenset[Kind]] = field(default_factory=dict)
    extra: Mapping[str, object] = field(default_factory=dict)  # members of the header that this version does not know

    @property
    def broadcasting(self) -> frozenset[str]:
        """The groups in which every client has offsets of its own."""
        return frozenset(name for name, group in self.groups.items() if group.mode == "broadcasting")
