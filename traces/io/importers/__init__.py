"""Importers: recordings in other forms than the kit's own, each recognised by its content."""

from __future__ import annotations

from functools import cache

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


def importer(name: str) -> Importer | None:
    """The importer of files of the form called ``name``; None if there is none."""
    return next((each for each in all_importers() if each.name == name), None)
