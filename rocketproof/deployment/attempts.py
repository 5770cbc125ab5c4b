"""How often a failing message is delivered, and when: the combined effect of a delay table and a maximum.

The numbers are those of the model's rules (``model/retry_policy.py``, ``model/delay.py``), called with whole numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..model.delay import DelayTable, stored_level
from ..model.retry_policy import is_dead_letter, maximum_sent, retry_level

MANY = 1000
"""Number of retries that are listed individually; further ones wait as long as the last of these."""


@dataclass(frozen=True)
class Retry:
    """One retry of the fault-free chain (SB-20)."""

    number: int  # 1 for the first
    asked: int  # the requested delay level
    level: int  # the level that it gets: no level lies beyond the table (DL-2)
    wait: int  # its delay in milliseconds


def maximum_of(max_reconsume_times: int) -> int:
    """Number of retries that a concurrent consumer requests: -1 means 16; other negative values mean none (SB-2)."""
    maximum = maximum_sent(max_reconsume_times)
    assert isinstance(maximum, int)
    return max(0, maximum)


def retries(max_reconsume_times: int, table: str, *, chosen_level: int = 0) -> tuple[Retry, ...]:
    """The retries of a message that always fails, up to its dead letter, or the first :data:`MANY` of them. The
    listener asks for ``chosen_level`` each time; 0 leaves it to the broker.
    """
    levels = DelayTable.parse(table)
    maximum = maximum_of(max_reconsume_times)
    chain: list[Retry] = []
    while len(chain) < MANY and not is_dead_letter(len(chain), maximum, chosen_level):
        asked = int(retry_level(len(chain), chosen_level))
        level = int(stored_level(asked, levels.levels))
        chain.append(Retry(len(chain) + 1, asked, level, int(levels.delay(level))))
    return tuple(chain)


def waited(chain: tuple[Retry, ...], maximum: int) -> str:
    """How long a chain takes, in words."""
    left = (maximum - len(chain)) * chain[-1].wait if chain else 0
    return duration(sum(retry.wait for retry in chain) + left)


def duration(milliseconds: int) -> str:
    """A time in words: ``4 h 45 min 40 s``."""
    seconds, left = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"), (left, "ms"))
    return " ".join(f"{number:,} {unit}" for number, unit in parts if number) or "0 s"
