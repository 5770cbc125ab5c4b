"""Coded events as the monitors by queue read them: the columns that are passed to machine code together."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...encoding.coding import Coded


class QueueEvents(NamedTuple):
    """The columns of :class:`~...encoding.coding.Coded` that monitors by queue read."""

    time: Any
    kind: Any
    result: Any
    path: Any
    slot: Any
    actor: Any
    offset: Any
    next: Any
    low: Any
    high: Any
    count: Any
    origin: Any
    attempt: Any
    level: Any
    due: Any

    @staticmethod
    def of(coded: Coded) -> QueueEvents:
        """The columns of coded events."""
        return QueueEvents(*(getattr(coded, name) for name in QueueEvents._fields))
