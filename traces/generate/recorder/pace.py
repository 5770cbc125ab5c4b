"""Pace: when the steps of a run happen. Machines have no clock, so the recorder runs one.

Each step follows the one before it after a time that is longer than clocks usually differ, so that the order of a run
is certainly the order of its trace. If a rule measures time, the clock advances as far as the rule needs, for example
to the due time of a retry. The brokers of a recorded run have a delay table of their own with short delays: a random
run has no fairness, and would otherwise stand still for hours while one message waits, which does not happen in a
cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

from ....model.delay import DelayTable
from ...claims.settings import REBALANCE_PERIOD

BEGIN = 1_767_225_600_000
"""Time of the first event: the beginning of 2026, UTC, ms."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How time passes in a recorded run; all times in ms."""

    begin: int = BEGIN  # time of the first event, since 1970 UTC
    step: int = 100  # from one step to the next. If it is not longer than the skew of a check, findings are in doubt
    turn: int = REBALANCE_PERIOD  # duration of one turn of a run that repeats for ever: one rebalance pass (RB-1)
    delay: int = 1_000  # delay of level 1, whole seconds; a message of level n waits n times as long

    def levels(self, count: int) -> str:
        """``messageDelayLevel`` of the brokers of a machine with ``count`` levels."""
        return " ".join(f"{level * self.delay // 1_000}s" for level in range(1, count + 1))

    def table(self, count: int) -> DelayTable:
        """The delay table that :meth:`levels` describes."""
        return DelayTable.parse(self.levels(count))
