"""Timelines: who had a queue when, and what its stored offset was, with the reason of every end and every oddity.

They are read from the notes of the monitor by queue.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..encoding.names import Actor, Names, Slot
from ..engine.findings import Note
from ..format.kinds import Path
from ..monitors.queues.ownership import End

_PATHS = tuple(Path)

GIVEN_UP: dict[Path, str] = {
    Path.NONE: "given up",
    Path.REMOVAL: "given up by rebalance",
    Path.SHUTDOWN: "given up in an orderly shutdown",
    Path.EXPIRED: "dropped, because it had not pulled for 120 s",
    Path.LOCK: "dropped, because the broker's lock was lost",
    Path.UNSUBSCRIBE: "dropped, because its topic was unsubscribed",
    Path.RESET: "dropped for a reset of the offset",
    Path.CORRECTION: "dropped, because the pull offset was illegal",
}
"""Why a client gives up a queue, in words."""


class Oddity(enum.StrEnum):
    """What is odd about a stored offset."""

    NONE = ""
    DECREASE = "decrease"  # it is smaller than the one before
    JUMP = "jump"  # it passes messages that were not consumed
    BEYOND_END = "beyond the end"  # the queue has no such offset yet


@dataclass(frozen=True, kw_only=True)
class Ownership:
    """A client had a queue for a while."""

    slot: Slot  # the queue
    actor: Actor  # the client
    since: int  # ms; ``until``: ms, the end of the trace if no end was seen
    until: int
    end: End  # how it ended
    path: Path  # why the client gave the queue up, if it did
    start: int  # the offset at which it began; -1 if this is not known

    @property
    def reason(self) -> str:
        """How it ended, in words."""
        if self.end is End.REVOKED:
            return GIVEN_UP.get(self.path, f"given up ({self.path})")
        return {
            End.OPEN: "still had at the end of the trace",
            End.STOPPED: "the client stopped",
            End.CRASHED: "the client died",
            End.AGAIN: "taken again without being given up",
        }[self.end]


@dataclass(frozen=True, kw_only=True)
class OffsetPoint:
    """The stored offset of a queue from a moment on."""

    slot: Slot  # the queue
    time: int  # ms
    value: int  # the offset
    writer: Actor | None  # who wrote it; None if this is not known
    path: Path  # on which path it came
    oddity: Oddity  # what is odd about it


def ownerships(rows: Any, names: Names) -> tuple[Ownership, ...]:
    """Who had which queue, by queue and time."""
    found = []
    for row in rows[rows["note"] == Note.OWNERSHIP]:
        found.append(
            Ownership(
                slot=names.slots[row["slot"]],
                actor=names.actors[row["actor"]],
                since=int(row["since"]),
                until=int(row["time"]),
                end=End(int(row["expected"])),
                path=_path(int(row["value"])),
                start=max(int(row["offset"]), -1),
            )
        )
    return tuple(sorted(found, key=lambda item: (item.slot, item.since, item.until, item.actor)))


def offset_points(rows: Any, names: Names) -> tuple[OffsetPoint, ...]:
    """Stored offsets, by queue and time.

    Steady progress is represented by only some of its points; every decrease is included.
    """
    skips = rows[rows["note"] == Note.SKIPPED]
    skipped = set(zip(skips["slot"].tolist(), skips["time"].tolist(), strict=True))
    found: list[OffsetPoint] = []
    noted = rows[rows["note"] == Note.OFFSET]
    before: Any = None
    for row in noted[np.lexsort([noted["time"], noted["slot"]])]:
        oddity = Oddity.NONE
        if before is not None and before["slot"] == row["slot"] and row["value"] < before["value"]:
            oddity = Oddity.DECREASE
        elif 0 < row["until"] < row["value"]:
            oddity = Oddity.BEYOND_END
        elif (int(row["slot"]), int(row["time"])) in skipped:
            oddity = Oddity.JUMP
        found.append(
            OffsetPoint(
                slot=names.slots[row["slot"]],
                time=int(row["time"]),
                value=int(row["value"]),
                writer=names.actors[row["actor"]] if row["actor"] >= 0 else None,
                path=_path(int(row["expected"])),
                oddity=oddity,
            )
        )
        before = row
    return tuple(sorted(found, key=lambda point: (point.slot, point.time)))


def _path(code: int) -> Path:
    return _PATHS[code] if 0 <= code < len(_PATHS) else Path.NONE
