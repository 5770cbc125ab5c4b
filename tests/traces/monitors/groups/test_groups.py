from __future__ import annotations

import random

from rocketproof.traces.claims.claim import Monitor
from rocketproof.traces.claims.claims import CLAIMS, CODE
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.context import Context
from rocketproof.traces.format.coverage import evidence_mask
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.monitors.groups.groups import GroupMonitor

from .group_events import Event, Judged, event, heartbeat, rebalance, start, stop


def calm_group(members: int = 4, rounds: int = 10) -> list[Event]:
    """A group that starts at once, balances two topics, and stops."""
    names = [f"10.0.0.{number}@7" for number in range(members)]
    events = []
    for number, name in enumerate(names):
        end = rounds * 20_000 + number
        events += [start(number, name), event(end - 1, Kind.UNREGISTER, name), stop(end, name)]
        for pass_ in range(rounds):
            time = pass_ * 20_000 + 100 + number
            events.append(heartbeat(time, name, f"T=*@{number}", f"U=TagA || TagB@{number}"))
            events += [rebalance(time, name, names, topic=topic) for topic in ("T", "U")]
    return events


def test_a_calm_group_violates_nothing() -> None:
    judged = Judged(calm_group())
    assert judged.violated == []
    by_group = [claim.id for claim in CLAIMS if claim.monitor is Monitor.GROUPS]
    assert {claim: judged.judged(claim) for claim in by_group} == {
        "one-process-for-each-client-id": 4,
        "same-subscriptions": 40,
        "allocation-as-the-strategy-says": 80,
        "views-agree": 80,
        "every-topic-is-balanced": 8,
        "processes-act-in-order": 4,
        "shares-are-taken": 4,
        "every-queue-is-readable": 0,
    }


def test_nothing_is_judged_without_events() -> None:
    context = Context.of(ContextEvents.of([]), begin=0, end=0, evidence=evidence_mask(frozenset(Kind)))
    outcome = GroupMonitor(names=Names(), settings=Settings(), context=context).finish()
    assert len(outcome.rows) == 0
    assert outcome.judged.sum() == 0


def test_the_order_of_events_of_one_time_does_not_matter() -> None:
    events = calm_group(3, 3)
    events += [rebalance(90_000 + n, f"10.0.0.{n}@7", ["10.0.0.1@7"], assigned=["b:0"]) for n in range(3)]
    whole = Judged(events, end=300_000)
    for seed in range(3):
        mixed = random.Random(seed).sample(events, len(events))
        again = Judged(mixed, end=300_000)
        assert (again.outcome.violated == whole.outcome.violated).all()
        assert again.rows("allocation-as-the-strategy-says") == whole.rows("allocation-as-the-strategy-says")
    assert whole.outcome.violated[CODE["allocation-as-the-strategy-says"]] == 3
