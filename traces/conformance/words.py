"""Words: the state of a behaviour in RocketMQ's terms, and the actions that are possible in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ...model.consume_queue import Message
from ...model.kernel import Action
from ...model.membership import Consumer
from ...model.process_queue import Orphan, Stage
from ...model.route import Queue
from . import texts
from .behaviour import Behaviour


def enabled(b: Behaviour, c: int, offset: int | None) -> tuple[str, ...]:
    """The actions that the machine allows ``c``, with the message at ``offset`` if one is needed."""
    m = b.clamped(offset)
    return tuple(
        name
        for name, action in b.direct.actions.items()
        if (arguments := _arguments(action, c, m, b.count)) is not None and b.allows(name, arguments)
    )


def describe(b: Behaviour, c: int | None) -> str:
    """The state in RocketMQ's terms, for all clients or for one client and the broker."""
    words = [f"{b.sides[one].name}: {_client(b, one)}" for one in (range(len(b.sides)) if c is None else (c,))]
    stored = b.told(b.stored_offset(c or 0))
    words.append(f"stored offset {stored}, log end known {b.told(b.get('log_end', texts.Q))}")
    if b.locks:
        words.append(f"lock {b.lock_holder()}")
    return "; ".join(words)


def _client(b: Behaviour, c: int) -> str:
    live = [m for m in sorted(b.sides[c].live) if m < b.count]
    by_stage: dict[Stage, list[int]] = defaultdict(list)
    for m in live:
        if b.stage(c, m) is not Stage.ABSENT:
            by_stage[b.stage(c, m)].append(m)
    owned = "owns the queue" if b.owns(c) else "does not own the queue"
    held = [f"{stage.name.lower()} {_spans(b, found)}" for stage, found in sorted(by_stage.items())]
    running = [m for m in live if b.orphan(c, m) is not Orphan.NONE]
    if running:
        held.append(f"of dropped windows {_spans(b, running)}")
    position = f"next pull from {b.told(b.get('next_offset', c, texts.Q))}" if b.owns(c) else ""
    memory = f"in-memory offset {b.told(b.memory(c))}"
    return ", ".join(filter(None, [owned, position, memory, *held]))


def _spans(b: Behaviour, offsets: Iterable[int]) -> str:
    spans: list[list[int]] = []
    for offset in offsets:
        if spans and offset == spans[-1][1] + 1:
            spans[-1][1] = offset
        else:
            spans.append([offset, offset])
    return " ".join(b.told(low) if low == high else f"{b.told(low)}–{b.told(high)}" for low, high in spans)


def _arguments(action: Action, c: int, m: int | None, count: int) -> dict[str, int] | None:
    """Arguments of an action for one client and message; None if it needs more than these."""
    arguments: dict[str, int] = {}
    for name, kind in action.parameters.items():
        if kind is Consumer:
            arguments[name] = c
        elif kind is Queue:
            arguments[name] = texts.Q
        elif kind is Message and m is not None and m < count:
            arguments[name] = m
        elif kind is bool:
            arguments[name] = False
        else:
            return None
    return arguments
