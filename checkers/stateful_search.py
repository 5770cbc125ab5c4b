"""The engine ``stateful``: Hypothesis drives a machine, with the properties as invariants, and shrinks what it
finds.

Like every Hypothesis test it can find violations, but never prove their absence. In each run some actions are rare,
drawn at its start. This is *swarm testing*: it separates faults that hide each other, and reaches budgets that would
never be used. What is found is shortened, and then only shorter runs are drawn, until none is found.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from hypothesis import Phase

from ..model.kernel import Configuration, Lowered, lower
from ..model.kernel.plain import PlainMachine
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict
from .engines import STATEFUL
from .questions import check_question
from .result import Result
from .run import Run
from .simulate import shortened
from .stateful import PropertyViolated, stateful_machine, violation


def search_stateful(
    configuration: Configuration,
    properties: Sequence[Property],
    *,
    runs: int = 200,
    steps: int = 50,
    seed: int = 0,
    max_seconds: float | None = None,
) -> list[Result]:
    """Let Hypothesis look for runs that violate ``properties`` (kind ALWAYS).

    Whenever one is violated, the others are tested anew without it. A property is VIOLATED, with a short run that was
    replayed, or UNKNOWN. The same arguments give the same results, unless ``max_seconds`` ends the search: nothing
    begins after that time.

    Raises:
        ModelError: the configuration is infinite, or a property has another kind.
    """
    check_question(STATEFUL, configuration, properties, Kind.ALWAYS)
    started = time.perf_counter()
    lowered = lower(configuration, {prop.id: prop.holds for prop in properties})
    machine = PlainMachine(lowered)
    found: dict[str, Run] = {}
    left = list(properties)
    late = False
    while left:
        late = max_seconds is not None and time.perf_counter() - started > max_seconds
        violated = None if late else _violation(lowered, left, seed=seed, runs=runs, steps=steps)
        if violated is None:
            break
        prop = violated.property
        run = shortened(machine, prop, violated.steps)
        while shorter := len(run) > 1 and _violation(lowered, [prop], seed=seed, runs=runs, steps=len(run) - 1):
            run = shortened(machine, prop, shorter.steps)
        found[prop.id] = run
        left.remove(prop)
    limit = f", stopped after {max_seconds:g} seconds" if late else ""
    covered = f"{runs:,} runs of up to {steps:,} steps drawn by Hypothesis (seed {seed}){limit}"
    results = []
    for prop in properties:
        shown = found.get(prop.id)
        results.append(
            Result(
                property=prop.id,
                verdict=Verdict.UNKNOWN if shown is None else Verdict.VIOLATED,
                engine=STATEFUL,
                bounds=f"{'not violated' if shown is None else 'found'} in {covered}",
                seconds=time.perf_counter() - started,
                run=shown,
                figures={"runs": runs},
            )
        )
    return results


def _violation(
    lowered: Lowered, properties: Sequence[Property], *, seed: int, runs: int, steps: int
) -> PropertyViolated | None:
    """What Hypothesis finds, not shrunk.

    It draws ten runs at a time. Later ones it would make from earlier ones, which finds less than runs that have
    nothing in common.
    """
    machine = stateful_machine(lowered, properties)
    found = (
        violation(machine, seed=f"{seed} {begun}", runs=min(10, runs - begun), steps=steps, phases=[Phase.generate])
        for begun in range(0, runs, 10)
    )
    return next(filter(None, found), None)
