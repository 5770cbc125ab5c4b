"""Refine: whether each step of a machine is also a step of a more permissive machine, or changes nothing there.

Finite configurations are searched exhaustively: every transition between reachable states is mapped, and pairs of
mapped states are looked up among the steps of the abstract machine.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

import numpy as np

from ..model.kernel import lower
from ..model.kernel.native import CodeCache
from ..model.kernel.plain import PlainMachine, StateTuple, evaluator
from ..model.kernel.refinement import Refinement
from ..properties.verdict import Verdict
from .engines import REFINE
from .exploration import NO_LIMITS, Limits
from .liveness.graph import Graph
from .liveness.small_graph import graph_of
from .result import Result
from .run import Run, counted, differences, replay

STUTTERS = "every step is a stutter, so the mapping says nothing"
"""Why a refinement under which nothing ever happens is not shown."""


def check_refinement(
    name: str,
    refinement: Refinement,
    *,
    limits: Limits = NO_LIMITS,
    cache: CodeCache | None = None,
) -> Result:
    """Search a finite configuration for a step without counterpart.

    VIOLATED comes with a shortest run whose last step has none (or no step: the initial states differ). HOLDS needs
    every reachable state; a search that was cut short is UNKNOWN, and so is a mapping under which nothing ever happens.

    Raises:
        ModelError: a configuration is infinite, or the mapping does not fit.
    """
    started = time.perf_counter()
    concrete, abstract = lower(refinement.concrete), PlainMachine(lower(refinement.abstract))
    mapped = evaluator(concrete, refinement.terms(abstract.lowered))
    graph = graph_of(concrete, limits=limits, cache=cache)
    steps = _Steps(abstract, refinement.steps)
    images, pairs = _mapped_pairs(graph, mapped)
    run, explanation = None, ""
    if images[0] != abstract.initial:
        run = replay(PlainMachine(concrete), [])
        changes = differences(abstract.lowered, abstract.initial, images[0])
        explanation = "it begins where the abstract machine does not:\n" + "\n".join(f"    {line}" for line in changes)
    else:
        for transition, before, after in pairs:
            if not steps.lead(images[before], images[after]):
                run = _run_through(graph, transition)
                explanation = _no_counterpart(run, abstract, images[before], images[after], refinement.steps)
                break
    verdict = Verdict.VIOLATED if run is not None else Verdict.UNKNOWN if graph.limit or not pairs else Verdict.HOLDS
    if verdict is Verdict.UNKNOWN and not explanation:
        explanation = graph.limit or STUTTERS
    searched = f"{counted(graph.states, 'state')}, {counted(graph.transitions, 'transition')}"
    found = f"{counted(len(pairs), 'different step')} of {refinement.abstract.machine.name}"
    return Result(
        property=name,
        verdict=verdict,
        engine=REFINE,
        bounds=f"{graph.limit + ': ' if graph.limit else 'all '}{searched}; {found}",
        seconds=time.perf_counter() - started,
        run=run,
        explanation=explanation,
        figures={"states": graph.states, "transitions": graph.transitions, "steps": len(pairs), "images": len(images)},
    )


def _mapped_pairs(graph: Graph, mapped: Any) -> tuple[list[StateTuple], list[tuple[int, int, int]]]:
    """The images of all states, each once; and for each kind of step that changes the image: first transition, image
    before, image after.
    """
    numbers: dict[StateTuple, int] = {}
    image = np.empty(graph.states, np.int64)
    for number in range(graph.states):
        image[number] = numbers.setdefault(mapped(graph.state(number)), len(numbers))
    sources = np.repeat(image[: graph.followed], np.diff(graph.starts))
    targets = image[graph.targets]
    changing = np.flatnonzero(sources != targets)
    keys = sources[changing] * len(numbers) + targets[changing]
    different, first = np.unique(keys, return_index=True)
    order = np.argsort(first)
    return list(numbers), [
        (int(changing[first[place]]), int(different[place] // len(numbers)), int(different[place] % len(numbers)))
        for place in order
    ]


class _Steps:
    """The steps of the abstract machine, found on demand."""

    def __init__(self, machine: PlainMachine, most: int) -> None:
        self._machine = machine
        self._most = most
        self._known: dict[StateTuple, frozenset[StateTuple]] = {}

    def lead(self, before: StateTuple, after: StateTuple) -> bool:
        """Whether a few steps lead from one state to the other."""
        reached = frozenset([before])
        for _ in range(self._most):
            reached = frozenset(itertools.chain.from_iterable(map(self._after, reached)))
            if after in reached:
                return True
        return False

    def _after(self, state: StateTuple) -> frozenset[StateTuple]:
        if state not in self._known:
            self._known[state] = frozenset(following for _, following in self._machine.successors(state))
        return self._known[state]


def _run_through(graph: Graph, transition: int) -> Run:
    """A shortest run that ends with a transition."""
    path = graph.path_to(graph.source(transition))
    steps = [graph.instance_between(before, after) for before, after in itertools.pairwise(path)]
    return replay(PlainMachine(graph.lowered), [*steps, int(graph.instances[transition])])


def _no_counterpart(run: Run, abstract: PlainMachine, before: StateTuple, after: StateTuple, steps: int) -> str:
    lowered = abstract.lowered
    possible = ", ".join(lowered.instances[number].label for number in abstract.enabled(before)) or "nothing"
    lines = [
        f"step {len(run)}, {run.lowered.instances[run.steps[-1]].label}, has no counterpart: no "
        f"{'step' if steps == 1 else f'{steps} steps'} of {lowered.configuration.machine.name} can do",
        *(f"    {line}" for line in differences(lowered, before, after)),
        f"there it can do: {possible}",
    ]
    return "\n".join(lines)
