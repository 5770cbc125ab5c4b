"""Groups that are judged in shares: together, the shares say what a monitor of all groups says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.context_events import ContextEvents
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.encoding.store_counts import StoreCounts
from rocketproof.traces.engine.context import Context
from rocketproof.traces.engine.gathering import gather
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace
from rocketproof.traces.monitors.groups.group_shares import GroupShare
from rocketproof.traces.monitors.groups.groups import GroupMonitor
from rocketproof.traces.recorders.members import members_of

from .group_events import context_of, heartbeat, rebalance

NONE = StoreCounts()
NUMBERS = ("claim", "since", "time", "value", "expected", "until", "late", "doubt")


def said(context: Context, stores: StoreCounts, shares: int) -> tuple[Any, ...]:
    """Findings by names, and counts, of all shares together."""
    rows: Counter[tuple[Any, ...]] = Counter()
    counts, passed_over = np.zeros((3, 0), np.int64), Counter[str]()
    for number in range(shares):
        names = Names(None, members_of(context.events))
        share = GroupShare(number, shares)
        monitor = GroupMonitor(names=names, settings=Settings(), context=context, share=share)
        monitor.stores(stores)
        outcome = monitor.finish()
        for row in outcome.rows:
            who = [None if row[name] < 0 else names.actors[row[name]] for name in ("actor", "other")]
            what = [
                int(row[name]) for name in ("claim", "since", "time", "value", "expected", "until", "late", "doubt")
            ]
            rows[names.slots[row["slot"]], *who, *what] += 1
        found = np.array([outcome.judged, outcome.violated, outcome.doubtful])
        counts = counts + found if counts.size else found
        passed_over.update(outcome.passed_over)
    return rows, counts.tolist(), passed_over


def of_several_groups(context: Context, groups: int) -> Context:
    """The same with copies of each group; processes of brokers are the same for all of them."""
    events = []
    for event in context.events:
        for number in range(groups):
            copied = {**event}
            for name in ("client", "group"):
                copied[name] = event[name] and f"{event[name]}-{number}"
            if event["members"]:
                copied["members"] = [f"{member}-{number}" for member in event["members"]]
            if not number or event["client"] or event["group"]:
                events.append(copied)
    return replace(context, events=ContextEvents.of(events).by_time())


@pytest.mark.parametrize(("mutant", "rows"), [("", 0), ("A1", 3), ("A5", 6)])
def test_shares_together_say_what_one_monitor_says(tmp_path: Path, mutant: str, rows: int) -> None:
    simulate(Plan(out=tmp_path, messages=3_000, topics=2, churn=8, broker_restarts=2, mutant=mutant, seed=2))
    gathered = gather(open_trace([tmp_path / "trace.parquet"]), memory=1 << 28)
    context, stores = of_several_groups(gathered.scan.context, 3), gathered.stores()
    whole = said(context, stores, 1)
    assert whole[0].total() == rows
    assert [said(context, stores, shares) == whole for shares in (2, 3, 5)] == [True, True, True]


def test_groups_with_a_common_client_are_in_one_share() -> None:
    events = [heartbeat(time, name, "T=*", group=group) for time, name, group in PAIRS]
    context = context_of(events)
    shares = [{event["group"] for event in GroupShare(number, 3).of(context.events)} for number in range(3)]
    assert shares == [{"g", "h"}, {"i"}, set()]


PAIRS = ((0, "c1", "g"), (1, "c2", "g"), (2, "c2", "h"), (3, "c3", "i"))


def test_what_brokers_say_is_in_every_share_and_judged_in_the_first() -> None:
    events = [heartbeat(time, name, "T=*", group=group) for time, name, group in PAIRS]
    events += [{"kind": Kind.BROKER_START, "time": time, "broker": "b"} for time in (10, 20)]
    events += [{"kind": Kind.MEMBERS, "time": 30, "broker": "b", "group": "i", "members": ["c3"]}]
    context = context_of(events)
    assert [len(GroupShare(number, 2).of(context.events)) for number in range(2)] == [3 + 2 + 1, 1 + 2 + 1]
    whole = said(context, NONE, 1)
    assert whole[0].total() == 1  # it starts twice
    assert said(context, NONE, 2) == whole


def test_passes_that_name_no_group_are_known_to_all() -> None:
    """A damaged line of one client tells another one that a topic has queues, which it leaves out."""
    events = [heartbeat(n * 30_000, "c2", "T=*", "U=*", group="") for n in range(9)]
    events += [rebalance(n * 20_000 + 5, "c2", ["c2"], topic="U", group="") for n in range(14)]
    events += [heartbeat(7, "c1", "T=*", group="g"), rebalance(40, "c1", ["c1"], group="")]
    context = context_of(events)
    whole = said(context, NONE, 1)
    assert whole[0].total() == 1
    assert said(context, NONE, 2) == whole
