"""Settings of the monitor by message: the rules of retries as tables for compiled code, and what is known about
queues.

The tables are computed with the rules of ``model/``, so no rule is written down again here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ....model.delay import DelayTable, stored_level
from ....model.retry_policy import (
    EXPIRY_LEVEL,
    fallback_gives_up,
    fallback_level,
    is_dead_letter,
    maximum_sent,
    retry_level,
)
from ...claims.settings import Settings
from ...clocks.order import ORDER, Order
from ...encoding.names import Actor, Names
from ...engine.context import Context, actor_of
from ...format.coverage import EVIDENCE_BIT
from ...format.kinds import BROKER_RUNS, Kind
from ...format.schema import ABSENT, slave_of
from ..standstills import Standstills
from ..terms import TERMS, terms_of

COUNTS = 1024
"""Maxima from this value on count as unlimited: no table goes further."""

NEVER = 1 << 40
"""A count that no message reaches."""

LOWEST_MAXIMUM = 2
"""Tables of maxima begin at minus this value."""

HIGHEST_LEVEL = 62
"""Higher levels count as this one; sets of levels are bits of one number."""

UNKNOWN_SCOPE, PRODUCERS = 0, 1
"""Scopes of deliveries of an unrecorded group, and of messages that producers delay, for all groups."""


GIVEN = np.dtype(
    [
        *TERMS.descr,
        ("bend", np.int64),  # how far two corrected times of one clock may be from their distance by that clock, ms
        ("default", np.int64),  # the maximum if none is configured
        ("expiry_level", np.int64),  # level of a message whose listener runs too long
        ("delayed_dead", np.bool_),  # dead letters made by a fallback wait as a retry would (SB-15, 4.x)
    ]
)
"""The settings of a check, with those of retries."""

OF_A_LEVEL = np.dtype([("delay", np.int64), ("fallback", np.int64)])
"""Delay of a level, ms; the level at which a client with this count stores a fallback."""

OF_A_MAXIMUM = np.dtype([("request", np.int64), ("fallback", np.int64)])
"""Lowest count at which a failure makes a dead letter; lowest count of a fallback that becomes one."""

OF_A_SLOT = np.dtype([("maximum", np.int64), ("scope", np.int32), ("broker", np.int32), ("flags", np.uint8),
                      ("name", np.int32), ("topic", np.int32), ("queue", np.int32), ("stores", np.bool_)])  # fmt: skip
"""The group's maximum, ABSENT if it is not known; the consumer, see :class:`Scopes`; actor code of the broker, -1 if it
never was down; flags, see ``names``; code of the broker's name, and of the topic's, -1 without one; queue id; whether
everything that its broker has stored was recorded.
"""

DOWN = np.dtype([("since", np.int64), ("until", np.int64), ("broker", np.int32), ("saved", np.bool_),
                 ("has_slave", np.bool_)])  # fmt: skip
"""When a broker, by actor code, was down, stood still or changed its role, ms; whether it has its positions afterwards
(DL-4): it was stopped in an orderly way, or stood still; whether a slave of it was recorded, which may act as master
before it has ended.
"""


class Terms(NamedTuple):
    """What compiled code uses. It takes few arguments, so that it compiles quickly.

    Attributes:
        given: GIVEN, one entry.
        request_level: level at which request 36 stores a copy, by count and by requested level (0 …).
        levels: OF_A_LEVEL, by level or count.
        maxima: OF_A_MAXIMUM, by maximum from -LOWEST_MAXIMUM.
        slots: OF_A_SLOT, by slot.
        order: order of events of two processes, see :mod:`...clocks.order`.
        maximum: maximum of each scope, the highest of its members.
        lowest: the lowest one, if the header states them, so that requests are checked against them; ABSENT otherwise.
        down: DOWN, by broker and time.
        ends: when and how processes ended.
        started: whether the trace has the start of each actor.
        brokers: code of the broker's name, by actor; -1 for a client.
    """

    given: Any
    request_level: Any
    levels: Any
    maxima: Any
    slots: Any
    order: Any
    maximum: Any
    lowest: Any
    down: Any
    ends_actor: Any
    ends_time: Any
    ends_how: Any
    started: Any
    brokers: Any


def terms(*, names: Names, settings: Settings, context: Context, release: str) -> Terms:
    """The settings of a check; those of slots and actors are added by :meth:`Scopes.with_names`.

    Releases 4.x have rules of their own for fallbacks.
    """
    version = "4.9.8" if release.startswith("4.") else "5.3.3"
    ends = context.ends(names)
    return Terms(
        given=_given(settings, context, version),
        request_level=_request_levels(settings.delays),
        levels=_levels(settings.delays),
        maxima=_maxima(version),
        slots=np.zeros(0, OF_A_SLOT),
        order=np.zeros(0, ORDER),
        maximum=np.zeros(0, np.int64),
        lowest=np.zeros(0, np.int64),
        down=_down(context, names, settings),
        ends_actor=ends.actor,
        ends_time=ends.time,
        ends_how=ends.how,
        started=np.zeros(0, np.bool_),
        brokers=np.zeros(0, np.int32),
    )


def _given(settings: Settings, context: Context, version: str) -> Any:
    given = np.zeros(1, GIVEN)
    common = terms_of(settings, context)
    for name in TERMS.names or ():
        given[name] = common[name]
    given["bend"] = max((one.bend for one in context.clocks.clocks.values()), default=0)
    given["default"] = maximum_sent(-1)
    given["expiry_level"] = stored_level(EXPIRY_LEVEL, settings.delays.levels)
    given["delayed_dead"] = version == "4.9.8"
    return given


def _levels(table: DelayTable) -> Any:
    rows = [(0, stored_level(fallback_level(0), table.levels))]
    rows += [(delay, stored_level(fallback_level(n), table.levels)) for n, delay in enumerate(table.delays, start=1)]
    return np.array(rows, OF_A_LEVEL)


@cache
def _maxima(version: str) -> Any:
    rules = (partial(is_dead_letter, delay_level=0), partial(fallback_gives_up, version))
    rows, lowest = [], [0] * len(rules)
    for maximum in range(-LOWEST_MAXIMUM, COUNTS + 1):
        lowest = [
            _lowest(partial(rule, maximum=maximum), near=before + 1) for rule, before in zip(rules, lowest, strict=True)
        ]
        rows.append(tuple(lowest))
    return np.array(rows, OF_A_MAXIMUM)


def _request_levels(table: DelayTable) -> Any:
    # The table ends all growth: for its highest count and level, the answer is the highest level.
    some = range(table.levels + 2)
    return np.array([[stored_level(retry_level(n, asked), table.levels) for asked in some] for n in some])


def _lowest(holds: Callable[..., object], *, near: int) -> int:
    """The lowest count from which on ``holds``, which is monotone, is true; NEVER if it is beyond the tables.

    It is searched at ``near`` first: evaluating a rule of the model takes time, and a maximum that is higher by one
    moves most answers by one.
    """
    if 0 < near < COUNTS and holds(times=near) and not holds(times=near - 1):
        return near
    lowest = bisect_left(range(COUNTS), True, key=lambda count: bool(holds(times=count)))
    return lowest if lowest < COUNTS else NEVER


def _down(context: Context, names: Names, settings: Settings) -> Any:
    """When brokers were down, or stood still; a change of role, or a start without a stop, takes no time."""
    rows: list[tuple[int, int, int, bool]] = []
    since: dict[int, tuple[int, bool]] = {}
    for event in context.events.of_kinds(*BROKER_RUNS):
        kind, time = event["kind"], int(event["time"])
        broker = names.actor(actor_of(event))
        if kind in (Kind.BROKER_STOP, Kind.BROKER_CRASH):
            since.setdefault(broker, (time, kind == Kind.BROKER_STOP))
        else:
            begin, saved = since.pop(broker, (time, False))
            # A new master uses positions that it took over a while ago.
            rows.append((begin, time, broker, saved and kind != Kind.ROLE_CHANGE))
    rows += [(begin, max(context.end, begin) + 1, broker, saved) for broker, (begin, saved) in since.items()]
    still = context.events.once(Standstills.of, settings.rounds).of_brokers
    rows += [(begin, until, names.actor(Actor(broker, -1)), True) for broker, begin, until in still]
    brokers = {name for (name,) in context.events.different("broker")}
    return np.array([(*row, slave_of(names.actors[row[2]].name) in brokers) for row in sorted(rows)], DOWN)


class Scopes:
    """Consumers of a message: a group, or one client of a broadcasting group; each has a history of its own."""

    def __init__(self, names: Names, settings: Settings, context: Context) -> None:
        self._names = names
        self._order = Order(context.clocks, settings.skew)
        self._codes: dict[tuple[str, str], int] = {}
        self._maximum: list[int] = [ABSENT, ABSENT]
        self._lowest: list[int] = [ABSENT, ABSENT]
        self._slots: list[tuple[int, ...]] = []
        self._brokers: dict[str, int] = {"": -1}
        self._topics: dict[str, int] = {"": -1}
        is_told = context.complete and context.evidence & EVIDENCE_BIT[Kind.STORE] != 0
        of_brokers = context.events.different("client", "broker") if is_told else ()
        self._stores = {str(broker) for client, broker in of_brokers if not client}
        self._started = {names.actor(actor_of(event)) for event in context.events.of_kinds(Kind.CLIENT_START)}

    def with_names(self, terms: Terms) -> Terms:
        """The settings with all slots and actors that have names so far."""
        names = self._names
        size = len(names.flags)  # the last value that a new slot gets
        if len(terms.slots) == size and len(terms.started) == len(names.actors):
            return terms
        down = {names.actors[code].name: int(code) for code in terms.down["broker"]}
        for code in range(len(self._slots), size):
            slot = names.slots[code]
            scope = self._code(slot.group, slot.who) if slot.group else UNKNOWN_SCOPE
            name = self._broker(slot.broker)
            topic = self._topics.setdefault(slot.topic, len(self._topics))
            broker, flags = down.get(slot.broker, -1), names.flags[code]
            told = slot.broker in self._stores
            self._slots.append((self._maximum[scope], scope, broker, flags, name, topic, slot.queue, told))
        return terms._replace(
            slots=np.array(self._slots, OF_A_SLOT),
            order=self._order.table(names.actors),
            maximum=np.array(self._maximum, np.int64),
            lowest=np.array(self._lowest, np.int64),
            started=np.array([actor in self._started for actor in range(len(names.actors))], np.bool_),
            brokers=np.array([self._broker(one.name) if one.incarnation < 0 else -1 for one in names.actors], np.int32),
        )

    def _broker(self, name: str) -> int:
        return self._brokers.setdefault(name, len(self._brokers))

    def _code(self, group: str, client: str) -> int:
        found = self._codes.get((group, client))
        if found is None:
            found = self._codes[group, client] = len(self._maximum)
            known = self._names.of_groups.get(group)
            self._maximum.append(ABSENT if known is None else known.maximum)
            is_stated = known is not None and known.max_attempts is not None
            self._lowest.append(known.lowest_maximum if known is not None and is_stated else ABSENT)
        return found
