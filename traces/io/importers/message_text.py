"""Messages (``MessageExt#toString``), which occur in several log lines, and heartbeats as Java prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ...encoding.names import RETRY_PREFIX
from ...format.whole_number import whole_number
from .protocol import Event

QUEUE = r"MessageQueue \[topic=(?P<topic>[^,]+), brokerName=(?P<broker>[^,]+), queueId=(?P<queue>\d+)\]"
"""A queue as ``MessageQueue#toString`` prints it (EN-4), as named groups."""

_MESSAGE = re.compile(
    r"MessageExt \[brokerName=(?P<broker>[^,]+), queueId=(?P<queue>\d+), storeSize=-?\d+, queueOffset=(?P<offset>\d+), "
    r".*?, msgId=(?P<msg_id>[^,]+), .*?reconsumeTimes=(?P<attempt>\d+), .*?topic='(?P<topic>[^']+)'"
    r"(?:.*?properties=\{(?P<properties>.*?)\}, body=)?"
)
_OF_ROUTE = re.compile(r"QueueData \[brokerName=([^,]+), readQueueNums=(\d{1,9}), writeQueueNums=\d+, perm=(\d{1,9}),")
_PERM_READ = 4
_MOST_QUEUES = 10_000
"""Maximum number of queues of a topic: a line alone does not justify more."""
_KEY = re.compile(r"(?:^|, )UNIQ_KEY=([^,}]+)")
_RETRIED = re.compile(r"(?:^|, )RETRY_TOPIC=")
_QUEUES = re.compile(QUEUE.replace("?P<topic>", "").replace("?P<broker>", "").replace("?P<queue>", ""))


def messages_in(text: str, *, group: str | None = None) -> Iterator[Event]:
    """The fields of every message printed in a text, in its order: queue, offset, ids, attempt and topic.

    A retry copy is printed with the topic of the message, but with queue and offset in the retry topic, whose name
    contains the group; if the group is not known, the place is left out.
    """
    for part in text.split("MessageExt [")[1:]:
        found = _MESSAGE.match("MessageExt [" + part)
        if found is None:
            continue
        event: Event = {name: found[name] for name in ("broker", "topic", "msg_id") if found[name] != "null"}
        event |= {name: whole_number(found[name]) for name in ("queue", "offset", "attempt")}
        key = _KEY.search(found["properties"] or "")
        if key:
            event["key"] = key[1]
        if _RETRIED.search(found["properties"] or ""):
            if group:
                event["topic"] = RETRY_PREFIX + group
            else:
                del event["queue"], event["offset"]
        yield event


def readable_in(text: str) -> list[str]:
    """The queues that a client may read according to a route printed in a text, as broker:id, ordered by broker and
    id.

    ``TopicRouteData#toString``; interpreted as by ``MQClientInstance#topicRouteData2TopicSubscribeInfo`` (EN-2).
    """
    found = {broker: int(count) for broker, count, perm in _OF_ROUTE.findall(text) if int(perm) & _PERM_READ}
    queues = (f"{broker}:{queue}" for broker, count in sorted(found.items()) for queue in range(count))
    return list(islice(queues, _MOST_QUEUES))


def queues_in(text: str) -> list[str]:
    """Every queue printed in a text, as broker:id, ordered by broker and id."""
    found = sorted({(broker, whole_number(queue)) for _, broker, queue in _QUEUES.findall(text)})
    return [f"{broker}:{queue}" for broker, queue in found]


_CONSUMER = re.compile(r"ConsumerData \[groupName=([^,]+), consumeType=(\w+), messageModel=(\w+),")
_SUBSCRIPTION = re.compile(
    r"SubscriptionData \[classFilterMode=\w+, topic=([^,]+), subString=(.*?), tagsSet=\[.*?\], codeSet=\[.*?\], "
    r"subVersion=(\d+), expressionType=\w+\]"
)


@dataclass(frozen=True, kw_only=True)
class ConsumerText:
    """One group in a heartbeat."""

    group: str  # its name
    mode: str  # ``clustering`` or ``broadcasting``
    pulls: bool  # whether its application pulls (``CONSUME_ACTIVELY``), instead of having a listener
    subscriptions: list[str]  # each as topic=expression@version, sorted


def consumers_in(text: str) -> Iterator[ConsumerText]:
    """Every group of a printed heartbeat."""
    for part in text.split("ConsumerData [")[1:]:
        found = _CONSUMER.match("ConsumerData [" + part)
        if found:
            told = sorted(f"{topic}={words}@{version}" for topic, words, version in _SUBSCRIPTION.findall(part))
            yield ConsumerText(
                group=found[1],
                mode=found[3].lower(),
                pulls=found[2] == "CONSUME_ACTIVELY",
                subscriptions=told,
            )
