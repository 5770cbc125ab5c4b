"""The settings for a check of traces that a deployment file states: timers, delay levels, maxima of retries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..deployment.reading import read
from ..errors import InputError
from ..model.delay import DelayTable
from ..traces.claims.settings import Settings
from ..traces.format.schema import Group, Header

MINUTE = 60_000


@dataclass(frozen=True, kw_only=True)
class DeploymentTerms:
    """What a deployment file says about its traces.

    Attributes:
        settings: the timers, each the longest of any member or broker, so that deadlines are worst cases; if consume
            timeouts are stated, that of each group.
        delays: whether the file states the delay levels.
        maxima: ``maxReconsumeTimes`` of the groups for which the file states one.
    """

    settings: Settings = field(default_factory=Settings)
    delays: bool = False
    maxima: Mapping[str, int] = field(default_factory=dict)

    def of_groups(self, header: Header) -> Header:
        """The header of a trace, completed by the stated maxima."""
        groups = {
            name: replace(header.groups.get(name, Group()), max_attempts=n, lowest_max_attempts=None)
            for name, n in self.maxima.items()
        }
        return replace(header, groups={**header.groups, **groups})


def terms_of(config: str) -> DeploymentTerms:
    """The settings that a ``rocketproof.toml`` states.

    Raises:
        InputError: it is missing, has mistakes, or its brokers have different delay levels.
    """
    description = read(Path(config), name=config).description
    levels = {broker.message_delay_level for broker in description.brokers}
    if len(levels) > 1:
        raise InputError(
            f"{config}: its brokers have different delay levels: {'; '.join(sorted(levels))}. A check of traces takes "
            "one table: give that of the brokers that were recorded with --delays and leave --config out."
        )
    members = [group.settings_of(member) for group in description.groups for member in group.members]
    maxima: dict[str, int] = {}
    for group in description.groups:
        stated = {group.settings_of(member).max_reconsume_times for member in group.members}
        if len(stated) == 1 and min(stated) >= 0:
            maxima[group.name] = min(stated)
    stated_timeouts = any("consume_timeout" in member.model_fields_set for member in members)
    timeouts = {
        group.name: MINUTE * max(group.settings_of(member).consume_timeout for member in group.members)
        for group in description.groups
    }
    stated_levels = any("message_delay_level" in broker.model_fields_set for broker in description.brokers)
    settings = Settings(
        rebalance=max(member.rebalance_wait_interval for member in members),
        heartbeat=max(member.heartbeat_broker_interval for member in members),
        route_poll=max(member.poll_name_server_interval for member in members),
        persist=max(member.persist_consumer_offset_interval for member in members),
        consume_timeout=max(timeouts.values()),
        consume_timeout_told=stated_timeouts,
        consume_timeouts=timeouts if stated_timeouts else {},
        stuck=max(member.pull_max_idle_time for member in members),
        lock_life=max(broker.lock_max_live_time for broker in description.brokers),
        lock_life_told=any("lock_max_live_time" in broker.model_fields_set for broker in description.brokers),
        delays=DelayTable.parse(levels.pop()),
        delays_told=stated_levels,
    )
    return DeploymentTerms(settings=settings, delays=stated_levels, maxima=maxima)
