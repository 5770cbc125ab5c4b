"""What goes through the events of groups may be stopped at any place and gone on with: its state is the same then."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.context_folds import ContextFold
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.context import Context
from rocketproof.traces.engine.scan import scan
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace
from rocketproof.traces.monitors.groups.balance import Balance
from rocketproof.traces.monitors.groups.group_steps import GroupSteps
from rocketproof.traces.monitors.groups.runs import Telling, told_by
from rocketproof.traces.monitors.standstills import Standstills

SETTINGS = Settings()
CUTS = 6


def folds(context: Context, names: Names) -> Iterator[ContextFold]:
    """All folds over the events of a context, before the first of them."""
    told = told_by(context.events, SETTINGS.rounds)
    still = Standstills.of(context.events, SETTINGS.rounds)
    yield Telling(SETTINGS.rounds)
    yield Standstills(SETTINGS.rounds)
    yield Balance(told, common=told, still=still, names=names, settings=SETTINGS)
    yield GroupSteps(context, names, SETTINGS)


def until(context: Context, place: int) -> Context:
    """A context of which only the first events are known yet."""
    events = context.events.taken(slice(0, place))
    return replace(context, events=events, end=int(events.times[-1]))


@pytest.mark.parametrize(
    ("mutant", "seed", "again"),
    [
        ("", 1, 2),
        ("A1", 2, 2),
        ("A8", 3, 0),
        *(pytest.param(mutant, 4, 3, marks=pytest.mark.slow) for mutant in ("A2", "A3", "A5")),
        pytest.param("A6", 4, 1, marks=pytest.mark.slow),
    ],
)
def test_a_fold_is_stopped_at_any_place(tmp_path: Path, mutant: str, seed: int, again: int) -> None:
    """Some steps are only judged once something has occurred; if it does later, these begin again."""
    plan = Plan(out=tmp_path, messages=3_000, topics=2, churn=12, broker_restarts=2, mutant=mutant, seed=seed)
    simulate(plan)
    trace = open_trace([tmp_path / "trace.parquet"])
    whole, names = scan(trace).context, Names(trace.header.groups)
    drawn, size = random.Random(seed), len(whole.events)
    begun_again: Counter[str] = Counter()
    for _ in range(CUTS):
        cut = drawn.randrange(1, size)
        known = until(whole, min(size, cut + drawn.randrange(100)))
        for first, then, once in zip(folds(known, names), folds(whole, names), folds(whole, names), strict=True):
            first.take(known.events, (0, cut))
            state: Any = json.loads(json.dumps(first.carried()))
            goes_on = then.carry_on(whole.events, state)
            begun_again[then.name] += not goes_on
            then.take(whole.events, (cut if goes_on else 0, size))
            once.take(whole.events, (0, size))
            assert json.dumps(then.carried()) == json.dumps(once.carried()), (then.name, cut)
    assert +begun_again == +Counter({GroupSteps.name: again})
