"""The world of a simulated cluster before anything happens in it, with the rules of the model that apply to it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....model.allocation import MessageQueue
from ....model.delay import DelayTable, stored_level
from ....model.retry_policy import fallback_gives_up, fallback_level, is_dead_letter, maximum_sent, retry_level
from ...claims.settings import PERSIST_PERIOD
from .agenda import new_agenda, put
from .plan import BROADCASTING, ORDERLY, Plan
from .rows import new_rows
from .world import (
    ALL,
    BROKER,
    CELL,
    COPY,
    FACT,
    PROCESS,
    PRODUCE,
    QUEUE,
    RECENT,
    RETRY,
    RULE,
    SAVE,
    SPAN,
    WINDOW,
    World,
)

PRODUCING_FROM = 3_000
"""Earliest time at which the first messages are produced, ms."""


def first_world(
    plan: Plan,
    *,
    topics: Sequence[str],
    brokers: Sequence[str],
    queues: Sequence[MessageQueue],
    retry_queues: Sequence[int],
    margin: int,
    rng: random.Random,
) -> World:
    """The tables of a world, with the first steps of producers and brokers on its agenda.

    Queues to which messages are produced come first; ``margin``: rows that one event may make; ``rng`` decides when the
    first message of each queue comes.
    """
    a = _settings(plan)
    producing, broadcasting = plan.topics * plan.queues, plan.group_kind == BROADCASTING
    positions = np.zeros(len(queues), QUEUE)
    for n, queue in enumerate(queues):
        broker = brokers.index(queue.broker_name)
        positions[n] = (topics.index(queue.topic), broker, queue.queue_id, n in retry_queues, 0, -1)
    room = 1_024
    windows = 2 * len(queues) * (plan.consumers if broadcasting else 1)
    rings = np.zeros((windows, SPAN), np.uint8)
    world = World(
        all=a,
        agenda=new_agenda(1 << 16),
        rows=new_rows(plan.rows + 4 * margin),
        rules=_rules(plan, int(a["maximum"][0])),
        queues=positions,
        cells=np.zeros(len(queues), CELL),
        processes=np.zeros(64, PROCESS),
        windows=np.zeros(windows, WINDOW),
        done=rings,
        brokers=np.array([(1, queue, 0) for queue in retry_queues], BROKER),
        retry=np.zeros((plan.brokers, room), RETRY),
        copies=np.zeros(room, COPY),
        recent=np.zeros((plan.brokers, 1_024), RECENT),
        facts=np.zeros(plan.rows // 4 + 4 * margin, FACT),
    )
    for place in range(producing):
        first = PRODUCING_FROM + rng.randrange(1, 2 + int(2 * a["gap"][0]))
        put(world, first, PRODUCE, place, 0, 0)
    for broker in range(plan.brokers):
        put(world, PERSIST_PERIOD, SAVE, broker, 0, 0)
    return world


def _settings(plan: Plan) -> Any:
    """Settings that concern everything: the single row of ALL."""
    a = np.zeros(1, ALL)
    producing = plan.topics * plan.queues
    orderly, broadcasting = plan.group_kind == ORDERLY, plan.group_kind == BROADCASTING
    rate = plan.messages / plan.producing
    # So that few messages reach several queues, and the first of them early enough.
    burst = min(31, max(1, 2 * plan.messages // producing))
    lanes = 1 if orderly else 4
    # A call takes so long that all listeners together are busy for less than half of the time.
    calls = rate * (plan.consumers if broadcasting else 1)
    busy = min(producing, plan.consumers * 20) * lanes * (plan.consumers if broadcasting else 1)
    a["gap"] = min((burst + 1) / 2 * producing / rate, plan.producing)
    a["burst"], a["lanes"] = burst, lanes
    a["call"] = max(1, min(40, int(busy / calls * 0.5)))
    a["random"] = a["seed"] = np.uint64(plan.seed * 0x9E3779B97F4A7C15 + 0x1234567 & 0xFFFFFFFFFFFFFFFF)
    a["unproduced"] = plan.messages
    a["orderly"], a["broadcasting"], a["brokers"] = orderly, broadcasting, plan.brokers
    a["maximum"] = plan.max_attempts if orderly else maximum_sent(plan.max_attempts)
    for name in ("failure_rate", "retry_failure_rate", "filtered_rate", "refusal_rate"):
        a[name] = getattr(plan, name)
    if orderly:
        a["retry_failure_rate"] = min(plan.retry_failure_rate, 0.5)
    a["timeout"], a["hangs"] = plan.consume_timeout, plan.timeouts
    a["hang_at"], a["hang_gap"] = plan.producing // 5, plan.producing // 2 // max(1, plan.timeouts)
    a["copy_free"] = -1
    a["levels"] = DelayTable.parse(plan.delays).levels
    return a


def _rules(plan: Plan, maximum: int) -> Any:
    """The results of the model's rules for every count that can occur."""
    table = DelayTable.parse(plan.delays)
    most = maximum if maximum >= 0 else 1 << 30
    rules = np.zeros(max(maximum + 8, table.levels + 1), RULE)
    for n, said in enumerate(rules):
        said["level"] = stored_level(retry_level(n, 0), table.levels)
        said["dead"] = is_dead_letter(n, most, 0)
        said["fallback_level"] = stored_level(fallback_level(n), table.levels)
        said["fallback_dead"] = fallback_gives_up(plan.release, n + 1, most)
        said["delay"] = table.delay(n) if n else 0
    return rules
