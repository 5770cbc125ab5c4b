"""Consumer groups of a deployment, their members and the settings of ``DefaultMQPushConsumer``.

Every setting of a group may also be given for a single member, where it takes precedence.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import StringConstraints

from .clients import LANGUAGES, Language
from .fields import NAME_SAYS, GroupName, Table, TopicName, setting

StrategyName = Literal["AVG", "AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "CONSISTENT_HASH"]
InnerStrategy = Literal["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"]
QueueRange = Annotated[str, StringConstraints(pattern=r"^[^/]+/[^/]+/\d+(-\d+)?$")]
OFF = -1


class Consumer(Table):
    """Settings of one consumer, and facts about its listener."""

    client_language: Literal["java", "spring", "go", "cpp", "python", "grpc"] = setting(
        "java", "Which client it is; where its defaults differ from the Java client's, they apply."
    )
    client_version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$")] = setting(
        LANGUAGES["java"].newest,
        "Release of the client; for a client other than Java's, the newest one if not given.",
        says="a release, such as 4.9.8",
    )
    message_model: Literal["CLUSTERING", "BROADCASTING"] = setting(
        "CLUSTERING", "Whether the members divide the messages, or each member gets all.", source="ST-2"
    )
    listener: Literal["concurrently", "orderly"] = setting(
        "concurrently", "`MessageListenerConcurrently` or `MessageListenerOrderly`.", source="ST-2"
    )
    subscriptions: dict[TopicName, str] = setting(
        {}, "For each topic the tags that are wanted: `a || b`, or `*` for all.", source="EN-9"
    )
    sql_subscriptions: dict[TopicName, str] = setting(
        {}, "For each topic the SQL92 expression, for `MessageSelector.bySql`.", source="FI-2"
    )
    consume_from_where: Literal["CONSUME_FROM_LAST_OFFSET", "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_TIMESTAMP"] = (
        setting("CONSUME_FROM_LAST_OFFSET", "Where a queue without stored progress starts.", source="RB-40")
    )
    consume_timestamp: Annotated[str, StringConstraints(pattern=r"^\d{14}$")] | None = setting(
        None,
        "For CONSUME_FROM_TIMESTAMP, as yyyyMMddHHmmss; RocketMQ's default is 30 minutes before the consumer object "
        "was made.",
        source="ST-2",
        says="a time as yyyyMMddHHmmss",
    )
    allocate_message_queue_strategy: StrategyName = setting("AVG", "How queues are divided.", source="RB-27")
    virtual_node_cnt: int = setting(10, "CONSISTENT_HASH: places of each client on the ring.", source="RB-26", ge=0)
    consumeridcs: list[str] | None = setting(None, "MACHINE_ROOM: rooms whose queues are divided.", source="RB-24")
    nearby_strategy: InnerStrategy = setting(
        "AVG", "MACHINE_ROOM_NEARBY: the strategy that divides the queues of one room.", source="RB-25"
    )
    machine_room: str | None = setting(
        None, "MACHINE_ROOM_NEARBY: room that the resolver names for this client.", source="RB-25"
    )
    message_queues: list[QueueRange] | None = setting(
        None,
        "CONFIG: the configured queues, as `topic/broker/0` or `topic/broker/0-3`.",
        source="RB-23",
        says="a list of texts such as orders/broker-a/0 or orders/broker-a/0-3",
    )
    instance_name: str = setting(
        "DEFAULT",
        "Second part of the client id. In CLUSTERING the default is replaced at start: by the pid up to 4.8, by the "
        "pid and the nano time from 4.9.0.",
        source="EN-7",
        min_length=1,
    )
    instance_name_changes: bool = setting(
        False,
        "Whether each start gives another `instance_name`, such as one with a time, a pid or a random part.",
        source="OF-10",
    )
    unit_name: str = setting("", "Third part of the client id, if not empty.", source="EN-6")
    consume_thread_min: int = setting(20, "Listener threads.", source="ST-2", ge=1, le=1000)
    consume_thread_max: int = setting(20, "Has no effect beyond the minimum.", source="ST-2", ge=1, le=1000)
    consume_concurrently_max_span: int = setting(
        2000,
        "Largest distance between two cached offsets of a queue before pulling waits.",
        source="ST-2",
        ge=1,
        le=65535,
    )
    pull_threshold_for_queue: int = setting(
        1000, "Cached messages of a queue before pulling waits.", source="ST-2", ge=1, le=65535
    )
    pull_threshold_size_for_queue: int = setting(
        100, "Cached bytes of a queue before pulling waits.", unit="MiB", source="ST-2", ge=1, le=1024
    )
    pull_threshold_for_topic: int = setting(
        OFF, "Cached messages of all queues of a member; -1 is off.", source="ST-2", ge=-1, le=6553500
    )
    pull_threshold_size_for_topic: int = setting(
        OFF, "Cached bytes of all queues of a member; -1 is off.", unit="MiB", source="ST-2", ge=-1, le=102400
    )
    pull_interval: int = setting(0, "Pause between two pulls of a queue.", unit="ms", source="ST-2", ge=0, le=65535)
    pull_batch_size: int = setting(32, "Most messages of one pull.", source="ST-2", ge=1, le=1024)
    consume_message_batch_max_size: int = setting(
        1, "Most messages in one call of the listener.", source="ST-2", ge=1, le=1024
    )
    pop_invisible_time: int = setting(
        60000, "Pop mode: how long a message is hidden.", unit="ms", source="ST-2", ge=5000, le=300000
    )
    pop_batch_nums: int = setting(32, "Pop mode: most messages of one pop.", source="ST-2", ge=1, le=32)
    max_reconsume_times: int = setting(
        -1, "Retries before a message is a dead letter; -1 means 16, for an orderly listener without end.", source="G5"
    )
    suspend_current_queue_time_millis: int = setting(
        1000, "How long an orderly queue waits after a failure; used within 10 and 30000.", unit="ms", source="OR-7"
    )
    consume_timeout: int = setting(
        15, "How long a concurrent listener may run before the message is sent back.", unit="min", source="PQ-9", ge=1
    )
    await_termination_millis_when_shutdown: int = setting(
        0, "How long a shutdown waits for running listeners.", unit="ms", source="ST-8", ge=0
    )
    pull_max_idle_time: int = setting(
        120000,
        "Time without a pull after which a queue is dropped and taken anew: system property "
        "`rocketmq.client.pull.pullMaxIdleTime`.",
        unit="ms",
        source="PQ-11",
        ge=1,
    )
    lock_interval: int = setting(
        20000,
        "Period in which an orderly client renews its locks: system property `rocketmq.client.rebalance.lockInterval`.",
        unit="ms",
        source="OR-9",
        ge=1,
    )
    lock_max_live_time: int = setting(
        30000,
        "How long an orderly client trusts a lock after its renewal: system property "
        "`rocketmq.client.rebalance.lockMaxLiveTime`.",
        unit="ms",
        source="PQ-10",
        ge=1,
    )
    unlock_delay_time_mills: int = setting(
        20000,
        "Time since its last renewal after which a dropped orderly queue is unlocked by force (5.2.0 and later): "
        "system property `rocketmq.client.unlockDelayTimeMills`.",
        unit="ms",
        source="RB-33",
        ge=0,
    )
    rebalance_wait_interval: int = setting(
        20000,
        "Period of rebalance: system property `rocketmq.client.rebalance.waitInterval`.",
        unit="ms",
        source="RB-1",
        ge=1,
    )
    poll_name_server_interval: int = setting(
        30000, "Period in which routes are asked for.", unit="ms", source="ST-3", ge=1
    )
    heartbeat_broker_interval: int = setting(30000, "Period of heartbeats.", unit="ms", source="ST-4", ge=1)
    persist_consumer_offset_interval: int = setting(
        5000, "Period in which offsets are sent to brokers.", unit="ms", source="ST-3", ge=1
    )
    slowest_listener_millis: int | None = setting(
        None, "The longest time that a listener call is expected to take, if known.", unit="ms", ge=1
    )
    delay_level_when_next_consume: int = setting(
        0, "Delay level that the listener sets for a failed message: 0 lets the broker decide.", source="CC-14", ge=-1
    )
    listener_sets_ack_index: bool = setting(
        False, "Whether the listener sets `ackIndex` of its context.", source="CC-10"
    )
    listener_may_return_null: bool = setting(
        False, "Whether the listener may end without a status, or throw, after it has done its work.", source="CC-7"
    )
    idempotent: bool = setting(
        True, "Whether the listener does no harm when it gets a message twice. RocketMQ requires that.", source="G3"
    )
    unsubscribes_at_runtime: list[TopicName] = setting(
        [], "Topics that members unsubscribe from while they run.", source="RB-36"
    )

    @property
    def language(self) -> Language:
        """What is known about the client."""
        return LANGUAGES[self.client_language]

    @property
    def java(self) -> tuple[int, ...] | None:
        """The release of the Java client that runs; None if none does."""
        return self.language.java_of(self.client_version)

    @property
    def retries(self) -> bool:
        """Whether its failed messages go to the retry topic."""
        return self.message_model == "CLUSTERING" and self.listener == "concurrently"

    @property
    def locks(self) -> bool:
        """Whether it locks its queues at the brokers, and divides them with other members."""
        return self.message_model == "CLUSTERING" and self.listener == "orderly"

    @property
    def broadcasts(self) -> bool:
        """Whether it gets all messages."""
        return self.message_model == "BROADCASTING"

    def java_before(self, *release: int) -> bool:
        """Whether a Java client older than a given release runs."""
        return self.java is not None and self.java < release

    @property
    def keeps_name(self) -> bool:
        """Whether the client has the same instance name after a restart."""
        return not self.instance_name_changes and "${" not in self.instance_name


class Member(Consumer):
    """A member of a group: a process, or several identical ones."""

    name: str = setting(..., "The name that findings use for it.", min_length=1)
    instances: int = setting(1, "The number of such processes.", ge=1, le=1024)
    client_ip: str | None = setting(
        None, "Address as the client sees it, if known; the first part of the client id.", source="EN-6", min_length=1
    )
    pid: int | None = setting(None, "Process id as the client sees it, if known.", source="EN-7", ge=1)


class Group(Consumer):
    """A consumer group."""

    name: GroupName = setting(
        ..., "Name of the group; not `DEFAULT_CONSUMER`.", source="ST-2", says=f"up to 255 {NAME_SAYS}"
    )
    members: list[Member] = setting(..., "Its members.", min_length=1)
    planned_members: int | None = setting(None, "How many members there will be, if a change is planned.", ge=1)
    first_start: bool = setting(False, "Whether the group has no stored progress yet.", source="RB-40")
    created: bool = setting(False, "Whether the group was created at the brokers by an administrator.", source="EN-12")
    consume_broadcast_enable: bool = setting(
        True, "Broker: whether the group may consume by BROADCASTING.", source="EN-12"
    )
    retry_queue_nums: int = setting(1, "Broker: retry queues of the group on each broker.", source="EN-12")
    retry_max_times: int = setting(
        16, "Broker: retries before a message is a dead letter; the client's value wins over it.", source="EN-12"
    )

    def settings_of(self, member: Member) -> Consumer:
        """The settings of a member: its own, otherwise the group's."""
        names = set(Consumer.model_fields)
        own = {name: getattr(member, name) for name in names & member.model_fields_set}
        shared = {name: getattr(self, name) for name in names & self.model_fields_set}
        given = {**shared, **own}
        client = LANGUAGES[given.get("client_language", "java")]
        return Consumer.model_construct(
            _fields_set=set(given), **{"client_version": client.newest, **client.defaults, **given}
        )
