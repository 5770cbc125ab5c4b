"""What consumers say in heartbeats, as Java prints it (``ConsumerData#toString``, ``SubscriptionData#toString``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_CONSUMER = re.compile(r"ConsumerData \[groupName=([^,]+), consumeType=(\w+), messageModel=(\w+),")
_SUBSCRIPTION = re.compile(
    r"SubscriptionData \[classFilterMode=\w+, topic=([^,]+), subString=(.*?), tagsSet=\[.*?\], codeSet=\[.*?\], "
    r"subVersion=(\d+), expressionType=\w+\]"
)


@dataclass(frozen=True, kw_only=True)
class ConsumerText:
    """One group in a heartbeat.

    Attributes:
        group: its name.
        mode: ``clustering`` or ``broadcasting``.
        pulls: whether its application pulls (``CONSUME_ACTIVELY``), instead of a listener that is called.
        subscriptions: each as topic=expression@version, sorted.
    """

    group: str
    mode: str
    pulls: bool
    subscriptions: list[str]


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
