"""Repeated deliveries, grouped by their cause: many of them mostly have one origin.

A client that starts a queue at an older offset is given everything above it: a thousand deliveries, but one window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model.history import Cause
from ..engine.findings import Note
from ..engine.result import REPEATS, CheckResult

WORDS = {
    Cause.NONE: "no cause was found",
    Cause.FAILED_SEND_BACK: "it could not be sent back",
    Cause.STORED_BUT_REFUSED: "it was sent back, and the answer was lost",
    Cause.REBALANCE: "its queue changed hands before its offset was stored",
    Cause.OVERLAP: "two clients had its queue at once",
    Cause.CRASH: "its client died before its offset was stored",
    Cause.SHUTDOWN: "its client stopped before its offset was stored",
    Cause.TIMEOUT: "its listener took longer than consumeTimeout",
    Cause.OFFSET_WENT_BACK: "the stored offset of its queue went back",
    Cause.RESET: "the offset of its queue was reset",
    Cause.BROKER_RESTART: "its broker restarted with an older offset",
    Cause.SCHEDULE_REPLAY: "the schedule topic delivered its retry again",
    Cause.SENT_TWICE: "it was sent back twice",
    Cause.SUSPENDED: "its listener suspended the queue",
    Cause.OFFSET_CORRECTED: "the offset of its queue was illegal and was corrected",
}
"""Why a message is delivered again, in words; the complete list of :class:`~model.history.Cause`."""


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """All deliveries that were repeated for one cause."""

    cause: Cause  # the cause
    count: int  # number of deliveries
    windows: int  # number of windows in which they were: of ownerships of a queue from one position on
    queues: int  # number of queues, counted for each group
    first: int  # time of the first of them, ms since 1970; ``last``: of the last
    last: int


def repeated_rows(result: CheckResult) -> Any:
    """The rows of repeated deliveries."""
    return result.rows[np.isin(result.rows["claim"], REPEATS) & (result.rows["note"] == Note.NONE)]


def repetitions(result: CheckResult) -> tuple[Repetition, ...]:
    """Repeated deliveries by cause: those without a cause first, then the most frequent.

    A check keeps a limited number of rows for each claim; deliveries beyond it are not counted here.
    """
    rows, found = repeated_rows(result), []
    for cause in np.unique(rows["cause"]):
        own = rows[rows["cause"] == cause]
        found.append(
            Repetition(
                cause=Cause(int(cause)),
                count=len(own),
                windows=len(np.unique(own[["slot", "actor", "expected"]])),
                queues=len(np.unique(own["slot"])),
                first=int(own["time"].min()),
                last=int(own["time"].max()),
            )
        )
    return tuple(sorted(found, key=lambda item: (item.cause is not Cause.NONE, -item.count, item.cause)))
