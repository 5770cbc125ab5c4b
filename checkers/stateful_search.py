"""The engine ``stateful``: Hypothesis drives a machine, with the properties as invariants, and shrinks what it
finds.

Like every Hypothesis test it can find violations, but never prove their absence. Each run avoids some actions, drawn at
its start, as long as others can happen. This is *swarm testing*: it separates faults that hide each other, and reaches
budgets that would never be used.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from ..model.kernel import Configuration, lower
from ..model.kernel.plain import PlainMachine
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict
from .engines import STATEFUL
from .questions import check_question
from .result import Result
from .simulate import short_run
from .stateful import stateful_machine, violation


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

    Whenever one is violated, the others are tested anew without it. A property is VIOLATED, with a shrunk run that was
    replayed, or UNKNOWN. The same arguments give the same results, unless ``max_seconds`` ends the search: nothing
    begins after that time.

    Raises:
        ModelError: the configuration is infinite, or a property has another kind.
    """
    check_question(STATEFUL, configuration, properties, Kind.ALWAYS)
    started = time.perf_counter()
    lowered = lower(configuration, {prop.id: prop.holds for prop in properties})
    machine = PlainMachine(lowered)
    found: dict[str, tuple[int, ...]] = {}
    left = list(properties)
    late = False
    while left:
        late = max_seconds is not None and time.perf_counter() - started > max_seconds
        violated = None if late else violation(stateful_machine(lowered, left), seed=seed, runs=runs, steps=steps)
        if violated is None:
            break
        found[violated.property.id] = violated.steps
        left.remove(violated.property)
    limit = f", stopped after {max_seconds:g} seconds" if late else ""
    covered = f"{runs:,} runs of up to {steps:,} steps drawn by Hypothesis (seed {seed}){limit}"
    results = []
    for prop in properties:
        run = short_run(machine, prop, found[prop.id]) if prop.id in found else None
        results.append(
            Result(
                property=prop.id,
                verdict=Verdict.UNKNOWN if run is None else Verdict.VIOLATED,
                engine=STATEFUL,
                bounds=f"{'not violated' if run is None else 'found'} in {covered}",
                seconds=time.perf_counter() - started,
                run=run,
                figures={"runs": runs},
            )
        )
    return results
