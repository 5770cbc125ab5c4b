"""Other names of fields: what exporters call them that were written for RocketMQ's own classes, not for traces.

A field of another name is passed over, and its event then lacks what it tells, so that claims would judge what is not
there. It is told, with the name that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .schema import BY_NAME

_OF_ROCKETMQ = {
    "queue_id": "queue",
    "queue_offset": "offset",
    "broker_name": "broker",
    "consumer_group": "group",
    "client_id": "client",
    "reconsume_times": "attempt",
    "timestamp": "time",
    "event": "kind",
    "event_type": "kind",
}
"""Words of RocketMQ's classes and of exporters, as snake case, with the field of a trace that says it."""

_READ = BY_NAME.keys() - {"seq", "msg_id", "epoch", "detail", "key", "origin"}
"""Fields that claims rest on."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|-")


def field_meant(name: str) -> str:
    """The field that a name stands for which is none: another spelling of it, or RocketMQ's word; empty without one."""
    snake = _HUMP.sub("_", name).lower()
    found = _OF_ROCKETMQ.get(snake, snake)
    return found if found in _READ and name not in BY_NAME else ""


def other_names(given: Iterable[str]) -> dict[str, str]:
    """Of the names that events have, those that are passed over, each with the field meant that no name gives."""
    names = frozenset(given)
    return {name: meant for name in sorted(names - BY_NAME.keys()) if (meant := field_meant(name)) not in {"", *names}}


def told(names: dict[str, str]) -> str:
    """What is to be done about them, in words."""
    which = ", ".join(f"{name} to {meant}" for name, meant in names.items())
    return f"passed over, as the schema has no such fields; rename {which} (docs/trace-format.md)"
