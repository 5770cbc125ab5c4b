"""Delay levels: the table of a broker, when a delayed message is due, and where delivery continues after a restart.

A delayed message, and every retry is one, waits in the topic ``SCHEDULE_TOPIC_XXXX``, in the queue of its level (DL-2).
Its due time is written into the index when it is stored, by the broker's clock and the table of that day (DL-3). One
position for each level says how far delivery has come (DL-4). All times are in milliseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .kernel import BoolLike, ConfigurationError, IntLike, ite, maximum, minimum, rule
from .retry_policy import FIRST_LEVEL

DEFAULT_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
"""``messageDelayLevel`` of a broker that is not configured otherwise."""

UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
"""Number of milliseconds in each unit."""

MOST_LEVELS = 1_000
"""Maximum number of levels in a table. Each is a queue of the broker; the default table has 18."""

LONGEST_DELAY = 100 * 365 * UNITS["d"]
"""The longest delay of a level, chosen so that a time plus a delay fits into a 64-bit number."""

LONGEST_DIGITS = 18

UNKNOWN_LEVEL_DELAY = 1_000
"""DL-3: delay of a level that the table does not have (``DefaultMessageStore#computeDeliverTimestamp``)."""

SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"
"""The topic in which delayed messages wait; the queue of a level is the level less 1."""

_ENTRY = re.compile(r"\+?(\d+)([smhd])", re.ASCII)


@dataclass(frozen=True)
class DelayTable:
    """The delay levels of a broker."""

    delays: tuple[int, ...]  # delay of level 1, 2 … in milliseconds

    def __post_init__(self) -> None:
        if not self.delays:
            raise ConfigurationError("a delay table needs at least one level, such as '10s'.")

    @classmethod
    def parse(cls, text: str) -> DelayTable:
        """The table of a ``messageDelayLevel`` (DL-1: ``ScheduleMessageService#parseDelayLevel``).

        Raises:
            ConfigurationError: an entry that a broker cannot read, a negative delay or one of more than 100 years, or
                more than :data:`MOST_LEVELS` levels.
        """
        # Split as the broker does: at every single blank, ignoring empty strings at the end.
        entries = text.rstrip(" ").split(" ")
        if len(entries) > MOST_LEVELS:
            raise ConfigurationError(f"messageDelayLevel has {len(entries):,} levels; {MOST_LEVELS:,} are possible.")
        delays = []
        for level, entry in enumerate(entries, start=1):
            found = _ENTRY.fullmatch(entry)
            if found is None:
                raise ConfigurationError(_unreadable(text, level, entry))
            if len(found[1]) > LONGEST_DIGITS or int(found[1]) * UNITS[found[2]] > LONGEST_DELAY:
                raise ConfigurationError(f"messageDelayLevel: level {level} is {entry[:30]}, longer than 100 years.")
            delays.append(int(found[1]) * UNITS[found[2]])
        return cls(tuple(delays))

    @property
    def levels(self) -> int:
        """The highest level."""
        return len(self.delays)

    @property
    def is_monotone(self) -> bool:
        """Whether every level is at least as long as the one before it."""
        return all(shorter <= longer for shorter, longer in zip(self.delays, self.delays[1:], strict=False))

    def delay(self, level: IntLike) -> IntLike:
        """Milliseconds that a message of ``level`` waits; 1000 for a level that the table does not have (DL-3)."""
        result: IntLike = UNKNOWN_LEVEL_DELAY
        for number, delay in enumerate(self.delays, start=1):
            result = ite(level == number, delay, result)
        return result

    def retry_delay(self, times: IntLike) -> IntLike:
        """Milliseconds before the next try of a message that failed at count ``times``, sent back by request 36 with
        level 0.
        """
        return self.delay(stored_level(FIRST_LEVEL + times, self.levels))

    def distinct_retries(self) -> int:
        """Number of retries that have a level of their own; all later ones wait as long as the last level says."""
        return max(self.levels - FIRST_LEVEL + 1, 0)


def _unreadable(text: str, level: int, entry: str) -> str:
    if not entry:
        where = f"level {level} is empty: entries are separated by exactly one blank"
    elif entry.startswith("-"):
        where = f"level {level} is {entry[:30]!r}, a negative delay, which a broker would accept and deliver at once"
    else:
        where = f"level {level} is {entry[:30]!r}"
    shown = text if len(text) <= 200 else f"{text[:200]}…"
    return (
        f"messageDelayLevel {shown!r}: {where}. An entry is a whole number and one of s, m, h, d, such as 10s or 2h; "
        "a broker that cannot read an entry does not start."
    )


@rule
def stored_level(level: IntLike, levels: IntLike) -> IntLike:
    """DL-2: the level at which a message is stored: the highest one if it asks for a higher one (``HookUtils``)."""
    return minimum(level, levels)


@rule
def due_time(stored: IntLike, delay: IntLike) -> IntLike:
    """DL-3: when a message stored at ``stored`` is due (``CommitLog#checkMessageAndReturnSize``)."""
    return stored + delay


@rule
def corrected_due_time(due: IntLike, now: IntLike, delay: IntLike) -> IntLike:
    """DL-5: a message whose due time is later than that of any message stored now counts as due at once.

    ``ScheduleMessageService.DeliverDelayedMessageTimerTask#correctDeliverTimestamp``; ``delay`` is the current delay of
    the level.
    """
    return ite(due > now + delay, now, due)


@rule
def is_due(due: IntLike, now: IntLike, delay: IntLike) -> BoolLike:
    """DL-5: whether the head of a level is delivered at ``now``."""
    return corrected_due_time(due, now, delay) <= now


@rule
def loaded_position(saved: IntLike, low: IntLike, high: IntLike) -> IntLike:
    """DL-4: where delivery of a level continues after a start: the saved position, clamped to the range of the index.

    ``ScheduleMessageService#correctDelayOffset``, since 4.9.3. ``low`` is the offset of the first entry, ``high`` the
    offset after the last.
    """
    return minimum(maximum(saved, low), high)
