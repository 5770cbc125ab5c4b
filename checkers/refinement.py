"""Refine: whether each step of a machine is one of a more permissive machine, or changes nothing there.

Finite configurations are searched exhaustively: every transition between reachable states is mapped, and pairs of
mapped states are looked up among the steps of the abstract machine. Configurations with any number of something are
tried by one induction step in Z3, for every action instance from every state inside the domains that the given
invariants allow.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3

from ..model.kernel import Instance, lower
from ..model.kernel.native import CodeCache, compile_machine
from ..model.kernel.plain import PlainMachine, StateTuple, evaluator
from ..model.kernel.refinement import Refinement
from ..properties.property import Property
from ..properties.verdict import Verdict
from .engines import REFINE
from .liveness.graph import Graph, reachable_graph
from .prove import WORK
from .prove.solving import Effort, Solver
from .prove.transition import Transition
from .result import Result
from .run import Run, counted, differences, replay

_NOTHING = "every step is a stutter, so the mapping says nothing"


def check_refinement(
    name: str,
    refinement: Refinement,
    *,
    max_states: int | None = None,
    max_seconds: float | None = None,
    max_bytes: int | None = None,
    cache: CodeCache | None = None,
) -> Result:
    """Search a finite configuration for a step without counterpart.

    VIOLATED comes with a shortest run whose last step has none (or no step: the initial states differ). HOLDS needs
    every reachable state; a search that was cut is UNKNOWN, and so is a mapping under which nothing ever happens.

    Raises:
        ModelError: a configuration is infinite, or the mapping does not fit.
    """
    started = time.perf_counter()
    concrete, abstract = lower(refinement.concrete), PlainMachine(lower(refinement.abstract))
    mapped = evaluator(concrete, refinement.terms(abstract.lowered))
    graph = reachable_graph(
        compile_machine(concrete, cache=cache), max_states=max_states, max_seconds=max_seconds, max_bytes=max_bytes
    )
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
        explanation = graph.limit or _NOTHING
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
    """The images of all states, each once; of steps that change it: first transition, image before, image after."""
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
    """The steps of the abstract machine, found when they are asked for."""

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
    return replay(PlainMachine(graph.native.lowered), [*steps, int(graph.instances[transition])])


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


# --- any number of something ------------------------------------------------------------------------------------------


def prove_refinement(
    name: str, refinement: Refinement, *, invariants: Sequence[Property] = (), work: int = WORK
) -> Result:
    """Show by induction, for all sizes, that every step has a counterpart; HOLDS or UNKNOWN.

    ``invariants`` are ALWAYS properties of the concrete machine; that they hold is for :func:`prove` to show, and is
    said in the bounds. Counterparts are single steps, whose parameters are those of the concrete step.
    """
    started = time.perf_counter()
    effort = Effort(work)
    proof = _Proof(refinement, invariants, effort)
    gaps = list(proof.gaps())
    lacking = f"; given {counted(len(invariants), 'invariant')}" if invariants else ""
    return Result(
        property=name,
        verdict=Verdict.UNKNOWN if gaps else Verdict.HOLDS,
        engine=REFINE,
        bounds="not shown inductive" if gaps else f"all steps from all states; inductive{lacking}",
        seconds=time.perf_counter() - started,
        explanation="\n".join(gaps),
        figures={"questions": effort.questions, "work": effort.used},
    )


@dataclass(frozen=True)
class _Step:
    """A possible counterpart: when it may be taken, and what it makes of each abstract cell, in concrete terms."""

    guard: Any
    after: tuple[Any, ...]


class _Proof:
    """One induction step, from any concrete state."""

    def __init__(self, refinement: Refinement, invariants: Sequence[Property], effort: Effort) -> None:
        self._concrete = lower(refinement.concrete, {item.id: item.holds for item in invariants})
        self._abstract = lower(refinement.abstract)
        self._image = refinement.terms(self._abstract)
        self._pairs = [(cell.symbol, term) for cell, term in zip(self._abstract.cells, self._image, strict=True)]
        self._effort = effort

    def gaps(self) -> Iterator[str]:
        """What is not shown, one line for each action instance; nothing when all is."""
        if not self._begins_alike():
            yield "it is not shown to begin where the abstract machine begins"
        transition = Transition(self._concrete)
        solver = Solver(finite_domain=False)
        solver.add(*self._concrete.assumptions, *self._abstract.assumptions, transition.at(transition.inside, 0))
        solver.add(*(transition.says(name, 0, truth=True) for name in self._concrete.predicates))
        for instance in self._concrete.instances:
            if not self._changes_image(instance):
                continue
            solver.push()
            taken = z3.And(instance.guard, *instance.definitions, *self._nothing_matches(instance))
            solver.add(transition.at(taken, 0))
            answer = self._effort.ask(solver, share=0.25)
            solver.pop()
            if answer != z3.unsat:
                reason = self._effort.reason if answer == z3.unknown else "some state, if reachable, has none"
                yield f"{instance.label} is not shown to have a counterpart: {reason}"

    def _begins_alike(self) -> bool:
        values = [(cell.symbol, _initial(cell)) for cell in self._concrete.cells]
        solver = Solver(finite_domain=False)
        solver.add(*self._concrete.assumptions, *self._abstract.assumptions)
        wrong = [
            z3.Not(_equal(z3.substitute(term, *values), _initial(cell)))
            for cell, term in zip(self._abstract.cells, self._image, strict=True)
        ]
        solver.add(z3.Or(wrong))
        return bool(self._effort.ask(solver) == z3.unsat)

    def _after(self, instance: Instance) -> list[Any]:
        updates = [(self._concrete.cells[number].symbol, value) for number, value in instance.updates.items()]
        return [z3.substitute(term, *updates) for term in self._image] if updates else self._image

    def _changes_image(self, instance: Instance) -> bool:
        return any(not after.eq(before) for after, before in zip(self._after(instance), self._image, strict=True))

    def _nothing_matches(self, instance: Instance) -> Iterator[Any]:
        after = self._after(instance)
        yield z3.Not(z3.And([_equal(new, old) for new, old in zip(after, self._image, strict=True)]))
        for step in self._counterparts(instance):
            same = [_equal(new, made) for new, made in zip(after, step.after, strict=True)]
            yield z3.Not(z3.And(step.guard, *same))

    def _counterparts(self, instance: Instance) -> Iterator[_Step]:
        """Abstract steps with the parameters of a concrete one; those with values of their own are left out."""
        given = instance.symbols[: sum(value is None for value in instance.arguments.values())]
        for other in self._abstract.instances:
            if other.definitions:
                continue
            wanted = other.symbols[: sum(value is None for value in other.arguments.values())]
            for choice in itertools.product(given, repeat=len(wanted)):
                pairs = [*self._pairs, *zip(wanted, choice, strict=True)]
                after = tuple(
                    z3.substitute(other.updates[number], *pairs) if number in other.updates else term
                    for number, term in enumerate(self._image)
                )
                yield _Step(z3.substitute(other.guard, *pairs), after)


def _initial(cell: Any) -> Any:
    value = z3.BoolVal(bool(cell.initial)) if cell.family.is_bool else z3.IntVal(cell.initial)
    bound = [z3.FreshInt(dim.label) for dim, item in zip(cell.family.dims, cell.index, strict=True) if item is None]
    return z3.Lambda(bound, value) if bound else value


def _equal(first: Any, second: Any) -> Any:
    if first.eq(second):
        return z3.BoolVal(True)
    if not z3.is_array(first):
        return first == second
    sort = first.sort()
    bound = [z3.FreshInt("at") for _ in range(_arity(sort))]
    return z3.ForAll(bound, z3.Select(first, *bound) == z3.Select(second, *bound))


def _arity(sort: Any) -> int:
    count = 0
    while True:
        try:
            sort.domain_n(count)
        except z3.Z3Exception:
            return count
        count += 1
