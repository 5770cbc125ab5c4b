"""What a monitor is: a fold over coded events in the order of time, written once and used by every engine.

A fold keeps its state in arrays, by slot or by message, so that events of many queues may come interleaved (one
process, in the order of time) or one queue after another (a partition of a cluster): the result is the same as long as
the events of one key are in order.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from ..claims.claims import CLAIMS
from ..encoding.coding import Coded
from ..engine.findings import ROW, Note
from ..format.message_status import MessageStatus

MOST_KEPT = 1_000_000
"""Maximum number of rows of one claim that are kept; further ones are only counted."""


Carried = dict[str, Any]
"""The state of a fold between two events: arrays by name. Its parameters, such as settings, are not included."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of a fold.

    Attributes:
        rows: findings, :data:`ROW`, in any order.
        judged: for each claim, how many instances of it were judged; int64, length of CLAIMS.
        violated: for each claim, how many violations without doubt there were, kept or not; int64.
        doubtful: for each claim, how many violations in doubt; int64.
        statuses: for each slot, how many of its messages had each status; int64, slots × statuses. Messages reported
            by another monitor, such as those sent back, are not counted here.
        passed_over: what could not be judged, in words, and how often.
    """

    rows: Any
    judged: Any
    violated: Any
    doubtful: Any
    statuses: Any
    passed_over: Mapping[str, int] = field(default_factory=dict)

    def with_rows(self, rows: Any) -> Outcome:
        """The outcome with other rows, and with their violations in its counts instead of those of its own rows."""
        violated, doubtful = violations_in(rows) - violations_in(self.rows)
        return replace(self, rows=rows, violated=self.violated + violated, doubtful=self.doubtful + doubtful)

    def without(self, explained: Sequence[int]) -> Outcome:
        """The outcome without some findings, by their positions among the rows."""
        return self.with_rows(np.delete(self.rows, explained))


def violations_in(rows: Any) -> Any:
    """For each claim, how many violations some rows contain: those without doubt, and those in doubt; int64."""
    told = rows[(rows["note"] == Note.NONE) & (rows["cause"] == 0)]
    sure = told["doubt"] == 0
    return np.array([np.bincount(told["claim"][which], minlength=len(CLAIMS)) for which in (sure, ~sure)])


class Fold(Protocol):
    """A monitor at work."""

    def feed(self, coded: Coded) -> None:
        """Process the next events."""

    def finish(self) -> Outcome:
        """The result; called once, after the last event."""

    def carried(self) -> Carried:
        """Its present state; the arrays are its own, and change with the next events."""

    def carry_on(self, carried: Carried) -> None:
        """Take over the state of another fold; called before the first event. Codes of names must be the same."""


class FoldOfTables:
    """A fold whose state is a named tuple of arrays.

    Attributes:
        given: names of the arrays that it gets when it is made.
    """

    given: ClassVar[tuple[str, ...]]
    _tables: Any

    def carried(self) -> Carried:
        """See :class:`Fold`."""
        return learnt(self._tables, self.given)

    def carry_on(self, carried: Carried) -> None:
        """See :class:`Fold`."""
        self._tables = self._tables._replace(**carried)


def learnt(tables: Any, given: Collection[str]) -> Carried:
    """The arrays of a named tuple, by name, except those that a fold gets when it is made."""
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
