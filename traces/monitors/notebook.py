"""The notebook of a monitor in plain Python: rows as they are found, and counts of judged instances."""

from __future__ import annotations

import numpy as np

from ..claims.claims import CODE
from ..encoding.names import Actor, Names, Slot
from ..engine.findings import ROW, Doubt
from .fold import MOST_KEPT, Outcome
from .notes import DOUBTFUL, JUDGED, VIOLATED, Notes, outcome_of, tally

NO_QUEUE = -1
"""Queue id of a slot that stands for a whole group, or for a topic in a group; its broker is empty."""


class Notebook:
    """Collects findings.

    Attributes:
        names: codes of slots and actors.
    """

    def __init__(self, *, names: Names) -> None:
        self.names = names
        self._rows: dict[int, list[tuple[int, ...]]] = {}
        self._counts = tally()

    def judge(self, claim: str, instances: int = 1) -> None:
        """Record that this many instances of a claim were judged."""
        self._counts[JUDGED, CODE[claim]] += instances

    def violation(
        self,
        claim: str,
        *,
        slot: Slot,
        since: int,
        time: int,
        actor: Actor | None = None,
        other: Actor | None = None,
        value: int = 0,
        expected: int = 0,
        until: int = 0,
        late: int = 0,
        doubt: Doubt = Doubt.NONE,
    ) -> None:
        """Record a violation.

        Args:
            claim: its id.
            slot: the queue, or a slot without a queue, see :func:`whole`.
            since: when it began, ms.
            time: when it ended or was seen last, ms.
            actor: the process concerned.
            other: the other process concerned.
            value: what was seen.
            expected: what should have been seen.
            until: end of a range of offsets, excluded.
            late: for how long it had been too late by ``time``, ms.
            doubt: why it may be no violation.
        """
        code = CODE[claim]
        self._counts[DOUBTFUL if doubt else VIOLATED, code] += 1
        kept = self._rows.setdefault(code, [])
        if len(kept) < MOST_KEPT:
            kept.append(
                (
                    code,
                    0,
                    0,
                    int(doubt),
                    self.names.slot(slot),
                    0,
                    0,
                    until,
                    since,
                    time,
                    -1 if actor is None else self.names.actor(actor),
                    -1 if other is None else self.names.actor(other),
                    value,
                    expected,
                    late,
                )
            )

    def outcome(self) -> Outcome:
        """The recorded findings. It has no statuses: messages are not judged here."""
        rows = np.array([row for kept in self._rows.values() for row in kept], ROW)
        return outcome_of(Notes(rows, np.array([len(rows)]), self._counts))


def whole(group: str, topic: str = "") -> Slot:
    """The slot that stands for a group as a whole, or for a topic in it."""
    return Slot(group, topic, "", NO_QUEUE)
