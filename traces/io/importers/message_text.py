"""Messages (``MessageExt#toString``), which occur in several log lines, and heartbeats as Java prints them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ...encoding.names import RETRY_PREFIX
from ...format.whole_number import whole_number
from .protocol import Event

_QUEUE = r"MessageQueue \[topic=<topic>, brokerName=<broker>, queueId=<queue>\]"
"""A queue as ``MessageQueue#toString`` prints it (EN-4)."""

_PLACEHOLDER = re.compile(r"(?<!\?P)<(\w+)>(\\?.)?")
_OFFSETS = frozenset({"offset", "next", "max"})
_WHOLE = _OFFSETS | {"queue", "min", "count", "attempt", "level", "due"}


def text_pattern(text: str) -> re.Pattern[str]:
    """The pattern of a message: a regular expression in which ``<offset>`` stands for the field of that name.

    A field is a whole number, with a sign only for an offset, or a word up to the character behind it; at the end of
    the pattern, up to the next space. ``<mq>`` stands for the fields of a queue as Java prints it: the id -1, which pop
    has, is none.
    """
    return re.compile(_PLACEHOLDER.sub(_group, text.replace("<mq>", _QUEUE)))


def _group(found: re.Match[str]) -> str:
    name, behind = found[1], found[2] or " "
    word = r"\S+" if behind == " " else f"[^{behind}]+"
    value = r"-?\d+" if name in _OFFSETS else r"\d+" if name in _WHOLE else word
    return f"(?P<{name}>{value}){found[2] or ''}"


def fields_in(found: re.Match[str]) -> Event:
    """The named groups of a match as fields; the word ``null`` is a null."""
    return {
        name: whole_number(value) if name in _WHOLE else value
        for name, value in found.groupdict().items()
        if value is not None and value != "null"
    }


_MESSAGE = text_pattern(
    r"MessageExt \[brokerName=<broker>, queueId=<queue>, storeSize=-?\d+, queueOffset=<offset>, .*?, msgId=<msg_id>, "
    r".*?reconsumeTimes=<attempt>, .*?topic='<topic>'(?:.*?properties=\{(?P<detail>.*?)\}, body=)?"
)
_OF_ROUTE = re.compile(r"QueueData \[brokerName=([^,]+), readQueueNums=(\d{1,9}), writeQueueNums=\d+, perm=(\d{1,9}),")
_PERM_READ = 4
_MOST_QUEUES = 10_000
"""Maximum number of queues of a topic: a line alone does not justify more."""
_KEY = re.compile(r"(?:^|, )UNIQ_KEY=([^,}]+)")
_RETRIED = re.compile(r"(?:^|, )RETRY_TOPIC=")
_QUEUES = text_pattern("<mq>")


def messages_in(text: str, *, group: str | None = None) -> Iterator[Event]:
    """The fields of every message printed in a text, in its order: queue, offset, ids, attempt and topic.

    A retry copy is printed with the topic of the message, but with queue and offset in the retry topic, whose name
    contains the group; if the group is not known, the place is left out.
    """
    for part in text.split("MessageExt [")[1:]:
        found = _MESSAGE.match("MessageExt [" + part)
        if found is None:
            continue
        event = fields_in(found)
        properties = event.pop("detail", "")
        key = _KEY.search(properties)
        if key:
            event["key"] = key[1]
        if _RETRIED.search(properties):
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
