"""The brokers and topics of a deployment."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from ..model.delay import DEFAULT_LEVELS, DelayTable
from ..model.kernel import ConfigurationError
from .fields import NAME_SAYS, VERSION_SAYS, Table, TopicName, Version, setting


def _readable(table: str) -> str:
    try:
        DelayTable.parse(table)
    except ConfigurationError as error:
        raise ValueError(str(error)) from None
    return table


DelayLevels = Annotated[str, AfterValidator(_readable)]


class Broker(Table):
    """A broker name: a master with or without slaves."""

    name: str = setting(..., "The `brokerName`, not the address.", source="EN-3", min_length=1)
    version: Version = setting("5.3.3", "Release the broker runs.", says=VERSION_SAYS)
    message_delay_level: DelayLevels = setting(
        DEFAULT_LEVELS,
        "Delay of each level, level 1 first, with one of the units s m h d; retries use level 3 and up.",
        source="DL-1",
        says="whole numbers with a unit, with one space between them, such as 1s 5s 10s 30s 1m",
    )
    enable_property_filter: bool = setting(False, "Whether the broker evaluates SQL92 expressions.", source="FI-2")
    auto_create_subscription_group: bool = setting(
        True, "Whether a group that was not created is created when its first consumer comes.", source="EN-12"
    )
    lock_max_live_time: int = setting(
        60000,
        "How long a lock of an orderly consumer lives without renewal: system property "
        "`rocketmq.broker.rebalance.lockMaxLiveTime`.",
        unit="ms",
        source="OR-1",
        ge=1,
    )
    machine_room: str | None = setting(
        None,
        "Room that the resolver of MACHINE_ROOM_NEARBY names for this broker. MACHINE_ROOM takes the room from the "
        "broker's name (`room@name`) instead.",
        source="RB-25",
    )


class Topic(Table):
    """A topic, with the same numbers of queues on each of its brokers."""

    name: TopicName = setting(..., "Name of the topic.", says=f"up to 127 {NAME_SAYS}")
    brokers: list[str] | None = setting(None, "Names of the brokers that have it; all of them if not given.")
    read_queue_nums: int = setting(8, "Queues on each broker that consumers read.", source="EN-5", ge=0)
    write_queue_nums: int = setting(8, "Queues on each broker that producers write to.", source="EN-5", ge=0)
    ordered: bool = setting(False, "Whether the order of messages in a queue matters to the consumers.", source="G4")
    tags: list[str] | None = setting(
        None, 'Tags of the messages in the topic, "" for none; used to name messages that no member takes.'
    )
    planned_read_queue_nums: int | None = setting(None, "The next `read_queue_nums`, if a change is planned.", ge=0)
    planned_write_queue_nums: int | None = setting(None, "The next `write_queue_nums`, if a change is planned.", ge=0)
    planned_brokers: list[str] = setting([], "Names of brokers on which the topic will be created.")
