"""Readable queues: messages are stored only where some member of the group can read (A13; D8 of a retry topic).

Producers go by the number of write queues, consumers by the number of read queues (EN-5). What is stored in a queue
beyond the second number has no reader, and no member knows that it exists.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..encoding.names import RETRY_PREFIX, Slot
from ..encoding.store_counts import Stored
from ..engine.context import Context
from ..engine.findings import Doubt
from ..format.kinds import Kind
from .notebook import Notebook
from .runs import Told
from .subscriptions import parse_subscription

CLAIM = "every-queue-is-readable"


def judge_readable(told: Told, stores: Mapping[Slot, Stored], *, context: Context, notebook: Notebook) -> None:
    """Note every queue with messages that no member of a consuming group ever saw.

    Args:
        told: what the context tells.
        stores: what was stored in each queue.
        context: the time range.
        notebook: where to note it.
    """
    known: dict[str, dict[str, set[str]]] = {}
    consumed: dict[str, set[str]] = {}
    for group in sorted(told.by_group):
        for run in told.of(group, Kind.REBALANCE, Kind.ROUTE):
            known.setdefault(group, {}).setdefault(run.topic, set()).update(run.queues or ())
        for run in told.of(group, Kind.HEARTBEAT):
            texts = run.subscriptions or ()
            consumed.setdefault(group, set()).update(parse_subscription(text)[0] for text in texts)
    # A route that names no group is one that all its clients know.
    everywhere = known.pop("", {})
    for slot, stored in sorted(stores.items()):
        text = f"{slot.broker}:{slot.queue}"
        for group in [slot.group] if slot.group else sorted(known):
            views = known.get(group, {})
            if not _consumes(group, slot.topic, views, consumed):
                continue
            notebook.judge(CLAIM)
            if text in views.get(slot.topic, ()) or text in everywhere.get(slot.topic, ()):
                continue
            # Without any view of the topic, its passes may just not have been recorded.
            seen = bool(views.get(slot.topic))
            notebook.violation(
                CLAIM,
                slot=Slot(group, slot.topic, slot.broker, slot.queue),
                since=context.begin,
                time=context.end,
                value=stored.messages,
                until=stored.last + 1,
                doubt=Doubt.NONE if seen else Doubt.EVIDENCE,
            )


def _consumes(group: str, topic: str, views: Mapping[str, set[str]], consumed: Mapping[str, set[str]]) -> bool:
    """Whether the group consumes the topic, as far as can be seen."""
    if topic == RETRY_PREFIX + group:
        return bool(views)
    return topic in views or topic in consumed.get(group, ())
