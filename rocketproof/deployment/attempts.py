"""How often a failing message is delivered, and when: what a delay table and a maximum make of each other."""

from __future__ import annotations

from dataclasses import dataclass

FIRST_RETRY_LEVEL = 3
USUAL_MAXIMUM = 16
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Retry:
    """One retry of the fault-free chain (SB-20).

    Attributes:
        number: 1 for the first.
        asked: the delay level that is asked for.
        level: the level that it gets: no level lies beyond the table (DL-2).
        seconds: its delay.
    """

    number: int
    asked: int
    level: int
    seconds: int


def delays(table: str) -> tuple[int, ...]:
    """The delay of each level in seconds, level 1 first (DL-1: ``ScheduleMessageService#parseDelayLevel``)."""
    return tuple(int(text[:-1]) * _UNITS[text[-1]] for text in table.split(" "))


def maximum_of(max_reconsume_times: int) -> int:
    """Retries of a concurrent consumer: -1 means 16, and less than nothing is none (SB-2, SB-9)."""
    return USUAL_MAXIMUM if max_reconsume_times == -1 else max(0, max_reconsume_times)


def retries(max_reconsume_times: int, table: str, *, fixed_level: int = 0) -> tuple[Retry, ...]:
    """The retries of a message that always fails, up to its dead letter.

    Args:
        max_reconsume_times: as the consumer is configured.
        table: delay table of the broker.
        fixed_level: level that the listener asks for each time; 0 leaves it to the broker, less is a dead letter at once.
    """
    levels = delays(table)
    if fixed_level < 0:
        return ()
    found = []
    for times in range(maximum_of(max_reconsume_times)):
        asked = fixed_level or FIRST_RETRY_LEVEL + times
        level = min(asked, len(levels))
        found.append(Retry(times + 1, asked, level, levels[level - 1]))
    return tuple(found)


def duration(seconds: int) -> str:
    """A time in words: ``4 h 45 min 40 s``."""
    days, rest = divmod(seconds, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    parts = [f"{number} {unit}" for number, unit in ((days, "d"), (hours, "h"), (minutes, "min"), (left, "s")) if number]
    return " ".join(parts) or "0 s"


def milliseconds(number: int) -> str:
    """A number of milliseconds in words."""
    return f"{number} ms" if number % 1000 else duration(number // 1000)
