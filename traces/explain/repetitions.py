"""Deliveries that came again, put together by what they come from: many of them mostly have one beginning.

A client that begins a queue anew at an older offset is given all that lies above: a thousand deliveries, one window.
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
    Cause.BROKER_RESTART: "its broker was started again with an older offset",
    Cause.SCHEDULE_REPLAY: "the schedule topic delivered its retry again",
    Cause.SENT_TWICE: "it was sent back twice",
    Cause.SUSPENDED: "its listener suspended the queue",
    Cause.OFFSET_CORRECTED: "the offset of its queue was illegal and was corrected",
}
"""Why a message is delivered again, in words; the closed list of :class:`~model.history.Cause`."""


@dataclass(frozen=True, kw_only=True)
class Repetition:
    """All deliveries that came again for one cause.

    Attributes:
        cause: the cause.
        count: how many deliveries.
        windows: of how many windows: a client that had taken a queue, from one position on.
        queues: of how many queues, each for each group.
        first: time of the first of them, ms since 1970; ``last``: of the last.
    """

    cause: Cause
    count: int
    windows: int
    queues: int
    first: int
    last: int


def repeated_rows(result: CheckResult) -> Any:
    """The rows of deliveries that came again."""
    return result.rows[np.isin(result.rows["claim"], REPEATS) & (result.rows["note"] == Note.NONE)]


def repetitions(result: CheckResult) -> tuple[Repetition, ...]:
    """Deliveries that came again, by cause, those without a cause first, then the most frequent.

    A check keeps a limited number of rows of each claim; of what is beyond, nothing is counted here.
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
