"""Other names of fields, as used by exporters that were written for RocketMQ's own classes, not for traces.

A field with another name is ignored, so its event lacks that information, and claims would judge an incomplete event.
The name is therefore reported, together with the field that it seems to mean. A name that is one letter off, and that
the file does not use otherwise, is damage: see :func:`damaged_name`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

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
"""Words of RocketMQ's classes and of exporters, in snake case, with the corresponding field of a trace."""

_READ = BY_NAME.keys() - {"seq", "msg_id", "epoch", "detail", "key", "origin"}
"""Fields on which claims rest."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|-")


def field_meant(name: str) -> str:
    """The field that an unknown name stands for: another spelling of it, or RocketMQ's word; empty if there is none."""
    snake = _HUMP.sub("_", name).lower()
    found = _OF_ROCKETMQ.get(snake, snake)
    return found if found in _READ and name not in BY_NAME else ""


def other_names(given: Iterable[str]) -> dict[str, str]:
    """Of the names in events, those that are ignored, each with the field that it means and no other provides."""
    names = frozenset(given)
    return {name: meant for name in sorted(names - BY_NAME.keys()) if (meant := field_meant(name)) not in {"", *names}}


def near_names(usual: Collection[str]) -> dict[str, str]:
    """Of the names that a file uses regularly, those that are one letter off from a field that it lacks, each with it.

    Another program's own, or a mistake of whoever wrote the file: nothing but a look at the file can tell.
    """
    return {name: field for name in sorted(usual) for field in _one_letter_off(name) if field not in usual}


def damaged_name(given: Collection[str], usual: Collection[str]) -> str:
    """Which name of an event is a damaged one, in words; empty if none is.

    It is one letter off from a field that the event lacks: what the event says is not what was written. Damage strikes
    single lines, so a name that the file uses ``usual``-ly is another program's own.
    """
    for name in given:
        if name not in usual:
            for field in _one_letter_off(name):
                if field not in given:
                    return f"there is no field {name!a}; did you mean {field}?"
    return ""


def may_be_damaged(name: str) -> bool:
    """Whether a name may have been a field of the schema before something happened to it."""
    return any(_one_letter_off(name))


def _one_letter_off(name: str) -> Iterator[str]:
    for field in BY_NAME:
        if len(name) == len(field) and sum(map(str.__ne__, name, field)) == 1 and name not in BY_NAME:
            yield field


def told_near(names: dict[str, str]) -> str:
    """Which names are not read, and what seems meant, in words."""
    return "; ".join(f"field {name!a} is not read; did you mean {field}?" for name, field in names.items())


def told(names: dict[str, str]) -> str:
    """What to do about them, in words."""
    which = ", ".join(f"{name} to {meant}" for name, meant in names.items())
    return f"passed over, as the schema has no such fields; rename {which} (docs/trace-format.md)"
