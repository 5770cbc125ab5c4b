"""What a monitor is: a fold over coded events in the order of time, written once and fed by every engine.

A fold keeps its state in arrays, by slot or by message, so that events of many queues may come interleaved (one
process, in the order of time) or one queue after another (a partition of a cluster): the answer is the same as long as
the events of one key are in order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..claims.claims import CLAIMS
from ..encoding.coding import Coded
from ..engine.findings import ROW
from ..format.message_status import MessageStatus

MOST_KEPT = 1_000_000
"""So many rows of one claim are kept; further ones are only counted."""


Carried = dict[str, Any]
"""What a fold knows between two events: arrays by name. What it goes by, such as terms, is not in it."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a fold has to say in the end.

    Attributes:
        rows: findings, :data:`ROW`, in any order.
        judged: for each claim, how many instances of it were looked at; int64, length of CLAIMS.
        violated: for each claim, how many violations without doubt there were, kept or not; int64.
        doubtful: for each claim, how many violations in doubt; int64.
        statuses: for each slot, how many of its messages had which status; int64, slots × statuses. Those told
            by another monitor, such as those sent back, are not counted here.
        passed_over: what could not be judged, in words, and how many there were.
    """

    rows: Any
    judged: Any
    violated: Any
    doubtful: Any
    statuses: Any
    passed_over: Mapping[str, int] = field(default_factory=dict)


class Fold(Protocol):
    """A monitor at work."""

    def feed(self, coded: Coded) -> None:
        """Go on with the next events."""

    def finish(self) -> Outcome:
        """Say what has come out; called once, after the last event."""

    def carried(self) -> Carried:
        """What it knows by now; the arrays are its own, and change with the next events."""

    def carry_on(self, carried: Carried) -> None:
        """Know what another one knew; called before the first event. Codes of names must be those of that one."""


def learnt(tables: Any, given: Collection[str]) -> Carried:
    """The arrays of a named tuple, by name, but those that are given to a fold when it is made."""
    return {name: array for name, array in tables._asdict().items() if name not in given}


def nothing(slots: int) -> Outcome:
    """The outcome of a fold that has seen nothing."""
    zeros = np.zeros(len(CLAIMS), np.int64)
    return Outcome(
        rows=np.empty(0, ROW),
        judged=zeros,
        violated=zeros.copy(),
        doubtful=zeros.copy(),
        statuses=np.zeros((slots, len(MessageStatus)), np.int64),
    )
