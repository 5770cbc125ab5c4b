"""The timers of a deployment and the deadlines that follow from them, each with its rule. All times are in ms.

The timers are RocketMQ's defaults; a deadline is the worst case that a healthy deployment reaches, not the usual one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...model.delay import DEFAULT_LEVELS, DelayTable
from ..format.releases import keep_offsets
from ..format.schema import Header

REBALANCE_PERIOD = 20_000
"""RB-1: a client rebalances at the latest this long after its last pass (``RebalanceService#waitInterval``)."""

HEARTBEAT_PERIOD = 30_000
"""ST-4: a client sends its subscriptions this often (``ClientConfig#heartbeatBrokerInterval``)."""

IDLE_LIMIT = 120_000
"""PQ-11: a window that has not pulled for this long is dropped (``ProcessQueue#PULL_MAX_IDLE_TIME``)."""

ROUTE_POLL = 30_000
"""ST-3: a client polls routes this often (``ClientConfig#pollNameServerInterval``)."""

PERSIST_PERIOD = 5_000
"""ST-3: a client sends its offsets this often (``ClientConfig#persistConsumerOffsetInterval``)."""

CHANNEL_EXPIRY = 120_000
"""ST-6: a broker forgets a client after this silence (``BrokerConfig#channelExpiredTimeout``)."""

CHANNEL_SCAN = 10_000
"""ST-6: it looks for such clients this often."""

LOCK_LIFE = 60_000
"""OR-1: a broker keeps a lock without renewal for this long (``rocketmq.broker.rebalance.lockMaxLiveTime``)."""

CONSUME_TIMEOUT = 900_000
"""PQ-9: a listener may run for this long, which is checked this often (``consumeTimeout``)."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a check.

    Attributes:
        skew: how far clocks of different processes may be apart.
        rebalance: how often a client rebalances.
        heartbeat: how often it sends its subscriptions; pulls may be refused for an outdated one for this long.
        route_poll: how often it polls routes.
        persist: how often it sends its offsets.
        channel_expiry: silence after which a broker forgets a client.
        lock_life: how long a lock lasts without renewal.
        lock_life_told: whether this was stated for these brokers.
        consume_timeout: how long a listener may run.
        consume_timeout_told: whether this was stated for these clients.
        consume_timeouts: the same for single groups, by name.
        stuck: how long a queue with messages left may stand still.
        late: how long after its due time a delayed message may come.
        flaps: how often one client may take one queue again without any other change.
        delays: the brokers' delay levels.
        delays_told: whether they were stated for these brokers: a recording of clients alone does not show them.
        offsets_kept: whether a broadcasting client keeps in its file the offsets of queues that it does not have.
    """

    skew: int = 50
    rebalance: int = REBALANCE_PERIOD
    heartbeat: int = HEARTBEAT_PERIOD
    route_poll: int = ROUTE_POLL
    persist: int = PERSIST_PERIOD
    channel_expiry: int = CHANNEL_EXPIRY
    lock_life: int = LOCK_LIFE
    lock_life_told: bool = False
    consume_timeout: int = CONSUME_TIMEOUT
    consume_timeout_told: bool = False
    consume_timeouts: Mapping[str, int] = field(default_factory=dict)
    stuck: int = IDLE_LIMIT
    late: int = 60_000
    flaps: int = 3
    delays: DelayTable = field(default_factory=lambda: DelayTable.parse(DEFAULT_LEVELS))
    delays_told: bool = False
    offsets_kept: bool = True

    def with_timers(self, header: Header) -> Settings:
        """These settings, with the timers that the header of a trace states, and what follows from its releases."""
        timers: Mapping[str, Any] = header.timers
        own = {name: group.consume_timeout for name, group in header.groups.items()}
        return replace(
            self,
            **timers,
            lock_life_told=self.lock_life_told or "lock_life" in timers,
            consume_timeout_told=self.consume_timeout_told or "consume_timeout" in timers,
            consume_timeouts={**self.consume_timeouts, **{name: time for name, time in own.items() if time}},
            offsets_kept=keep_offsets(header),
        )

    def of_group(self, group: str) -> Settings:
        """These settings, with the consume timeout of one group."""
        return replace(self, consume_timeout=self.consume_timeouts.get(group, self.consume_timeout))

    @property
    def shortest(self) -> Settings:
        """These settings, with the shortest consume timeout of any group: no deadline of a group is earlier."""
        return replace(self, consume_timeout=min([self.consume_timeout, *self.consume_timeouts.values()]))

    def with_delays(self, delays: str) -> Settings:
        """These settings, with the stated delay levels of the brokers; an empty text states nothing.

        Raises:
            ConfigurationError: they cannot be read.
        """
        return replace(self, delays=DelayTable.parse(delays), delays_told=True) if delays else self

    @property
    def rounds(self) -> int:
        """RB-1: two rounds of rebalance: how long overlaps, gaps and unequal views may last."""
        return 2 * self.rebalance

    @property
    def silent_death(self) -> int:
        """ST-6: the latest time at which a broker notices that a process has died without closing its connection."""
        return self.channel_expiry + CHANNEL_SCAN

    @property
    def new_topic(self) -> int:
        """EN-11, ST-3: how long it takes until a member divides a new topic, such as a retry topic.

        Its route is learnt at the next poll, and then it waits for a rebalance.
        """
        return self.route_poll + self.rounds

    @property
    def refusals(self) -> int:
        """ST-3, PL-16: how long pulls may be refused until the next heartbeat carries the subscription.

        The heartbeat's own request takes a moment, as do those that share a thread with it.
        """
        return self.heartbeat + self.persist

    @property
    def given_late(self) -> int:
        """CC-1: how long a pulled message may wait for a listener while threads of the pool are free.

        A task that the pool refuses comes again after 5 s, and a stopped process goes on where it was.
        """
        return self.stuck // 2

    @property
    def commit_late(self) -> int:
        """ST-3, OF-6: how long the stored offset may stay behind.

        All timers of a client share one thread: a round of heartbeats whose requests time out delays the sending of
        offsets, as does a poll of routes.
        """
        return 2 * self.persist + self.heartbeat + self.rebalance
