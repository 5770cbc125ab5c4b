"""What a check takes for granted: clocks, periods and limits, each with the rule it comes from. All times are in ms."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...model.delay import DEFAULT_LEVELS, DelayTable

REBALANCE_PERIOD = 20_000
"""RB-1: a client rebalances at the latest this long after its last pass (``RebalanceService#waitInterval``)."""

HEARTBEAT_PERIOD = 30_000
"""ST-4: a client tells its subscriptions this often (``ClientConfig#heartbeatBrokerInterval``)."""

IDLE_LIMIT = 120_000
"""PQ-11: a window that has not pulled for so long is dropped (``ProcessQueue#PULL_MAX_IDLE_TIME``)."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The terms of a check.

    Attributes:
        skew: how far clocks of different processes may be apart.
        rounds: two rounds of rebalance: how long overlaps, gaps and unequal views may last.
        stuck: how long a queue with messages left may stand still.
        late: how long after its due time a delayed message may come.
        flaps: how often one client may take one queue again without any other change.
        heartbeat: how long pulls may be refused for an outdated subscription.
        delays: the brokers' delay levels.
    """

    skew: int = 50
    rounds: int = 2 * REBALANCE_PERIOD
    stuck: int = IDLE_LIMIT
    late: int = 60_000
    flaps: int = 3
    heartbeat: int = HEARTBEAT_PERIOD
    delays: DelayTable = field(default_factory=lambda: DelayTable.parse(DEFAULT_LEVELS))
