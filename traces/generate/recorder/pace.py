"""Pace: when the steps of a run happen. Machines have no clock, so the recorder runs one.

A step follows the one before it after a moment that is longer than clocks usually differ, so that the order of a run is
the order of its trace for certain. Where a rule measures time, the clock goes on as far as the rule needs: to the due
time of a retry. The brokers of a recorded run have a delay table of their own with short delays. A random run has no
fairness, and would else stand still for hours while one message waits, which is not what happens in a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....model.delay import DelayTable
from ...claims.settings import REBALANCE_PERIOD

BEGIN = 1_767_225_600_000
"""Time of the first event: the beginning of 2026, UTC, ms."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How time passes in a recorded run; all times in ms.

    Attributes:
        begin: time of the first event, since 1970 UTC.
        step: from one step to the next. Where it is not longer than the skew of a check, findings are in doubt.
        turn: how long a turn of a run that goes round for ever takes, one pass of rebalance (RB-1) for each.
        delay: delay of level 1, whole seconds; a message of level n waits n times as long.
    """

    begin: int = BEGIN
    step: int = 100
    turn: int = REBALANCE_PERIOD
    delay: int = 1_000

    def levels(self, count: int) -> str:
        """``messageDelayLevel`` of the brokers of a machine with ``count`` levels."""
        return " ".join(f"{level * self.delay // 1_000}s" for level in range(1, count + 1))

    def table(self, count: int) -> DelayTable:
        """The table that :meth:`levels` writes."""
        return DelayTable.parse(self.levels(count))
