"""Shares: the queues and messages of a trace, divided among several folds that all read all of its events.

Queues are judged independently of each other, and so are messages. A fold that handles a share of them therefore needs
no other fold, and all folds together find what a single one would; if memory is short, they can run one after another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...machine_code.compiled import constant, entry, hot, int64
from .coding import UNKNOWN_KIND, Coded

_NO_QUEUE = constant(-1)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)


@dataclass(frozen=True)
class Share:
    """One of ``count`` shares, counted from 0."""

    number: int
    count: int

    def of_queues(self, coded: Coded) -> Coded:
        """The events for a fold by queue: those whose queue belongs to another share have no slot."""
        return self._chosen(coded, "slot", coded.slot, _NO_QUEUE)

    def of_messages(self, coded: Coded) -> Coded:
        """The events for a fold by message: those whose message belongs to another share have no kind."""
        return self._chosen(coded, "kind", coded.origin, UNKNOWN_KIND)

    def _chosen(self, coded: Coded, name: str, keys: Any, other: int) -> Coded:
        """The events, with ``other`` in a column wherever the key belongs to another share."""
        if self.count == 1:
            return coded
        values = getattr(coded, name)
        out = np.empty_like(values)
        _keep(keys, values, self.number, self.count, other, out)
        return replace(coded, **{name: out})


@entry
def _keep(keys: Any, values: Any, number: int, count: int, other: int, out: Any) -> None:
    for i in range(len(out)):
        out[i] = values[i] if _share_of(keys[i], count) == number else other


@hot
def _share_of(key: int, count: int) -> Any:
    mixed = np.uint64(key) * _MIX
    return int64(((mixed >> _HALF) * np.uint64(count)) >> _HALF)
