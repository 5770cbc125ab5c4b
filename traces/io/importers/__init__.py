"""Importers: recordings in other forms than the kit's own, each recognised by its content."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from ...errors import TraceError
from .protocol import Event, Imported, Importer

__all__ = [
    "Event",
    "Imported",
    "Importer",
    "all_importers",
    "detect",
    "importer",
]


@cache
def all_importers() -> tuple[Importer, ...]:
    """All importers, in the order in which they are tried. Their tables are made only when needed."""
    from .broker_log import BrokerLog
    from .chaos_history import ChaosHistory
    from .client_log import ClientLog
    from .consumer_offset import ConsumerOffset
    from .listener_log import ListenerLog
    from .message_trace import MessageTrace
    from .otel_spans import OtelSpans

    return MessageTrace(), OtelSpans(), ListenerLog(), ClientLog(), BrokerLog(), ConsumerOffset(), ChaosHistory()


def detect(head: str, name: str) -> Importer | None:
    """The importer for a file that begins with ``head`` and is called ``name``; None if no importer recognises it."""
    return next((importer for importer in all_importers() if importer.detects(head, name)), None)


def importer(name: str, **options: Any) -> Importer:
    """The importer called ``name``, with options of its own, such as ``zone`` of logs.

    Raises:
        TraceError: there is no such importer, or it has no such option.
    """
    found = next((each for each in all_importers() if each.name == name), None)
    if found is None:
        raise TraceError(
            f"There is no importer {name!r}. Possible: {', '.join(each.name for each in all_importers())}."
        )
    possible = sorted(found.options)
    unknown = sorted(set(options) - set(possible))
    if unknown:
        raise TraceError(
            f"The importer {name} has no option {unknown[0]!r}. Possible: {', '.join(possible) or 'none at all'}."
        )
    return replace(found, **options)
