"""Refinement by induction: Z3 maps every step from every state that satisfies proven invariants, reachable or not.

The initial states correspond, and each action of the concrete machine is, through the mapping, a step of the abstract
one (or a few in a row) or a stutter. Which steps correspond is not guessed: Z3 gives a state in which none of those
known so far does, the abstract machine is asked for steps from its image to the image after the action, and these are
then tried in all states, until no state is left.

A state for which there are no such steps need not be reachable. Invariants are then searched as for ``prove``, and
those that exclude such states are used. If none does, the verdict is UNKNOWN, with the state: VIOLATED is left to the
search.
"""

from __future__ import annotations

import heapq
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import z3

from ..model.kernel import Instance, ModelError, lower
from ..model.kernel.lowered import Cell
from ..model.kernel.plain import PlainMachine, StateTuple
from ..model.kernel.refinement import Refinement
from ..model.kernel.terms import Term, as_bool
from ..properties.property import Property
from ..properties.verdict import Verdict
from .engines import PROVE
from .prove.induction import state_in_words
from .prove.lemmas import find_invariants
from .prove.methods import induct
from .prove.problem import OBLIGATION_SHARE, TRUE, Problem
from .prove.solving import WORK, Effort, Model, Solver, fits_finite_domain
from .refinement import STUTTERS
from .result import Result
from .run import counted, differences

_MOST_FOLLOWED = 5_000
"""Abstract states whose steps are followed in the search for those that correspond to one concrete step."""

_Path: TypeAlias = "Sequence[tuple[Instance, Sequence[Any]]]"
"""Steps of the abstract machine, with terms for unbounded parameters."""


def prove_refinement(name: str, refinement: Refinement, *, lemmas: Sequence[Property] = (), work: int = WORK) -> Result:
    """HOLDS for all runs of the concrete configuration, or UNKNOWN with the step and the state that stand in the way.

    Args:
        name: of the refinement.
        refinement: the machines and their mapping. An unbounded constant that both have is the same number.
        lemmas: ALWAYS properties of the concrete machine, proven in the same induction.
        work: limit, in Z3 resource units.

    Raises:
        ModelError: the mapping does not fit, or a lemma is no ALWAYS property.
    """
    effort = Effort(work)
    induction = _Induction(refinement, lemmas, effort)
    gap = induction.gap()
    if gap:
        found = [item.property for item in find_invariants(refinement.concrete, effort.part(0.5), known=lemmas)]
        if found:
            induction = _Induction(refinement, found, effort)
            gap = induction.gap()
    if not gap and not induction.paths:
        gap = STUTTERS
    used = sorted(induction.used)
    how = "not shown inductive" if gap else "inductive"
    with_invariants = f" with {counted(len(used), 'invariant')}" if used else ""
    return Result(
        property=name,
        verdict=Verdict.UNKNOWN if gap else Verdict.HOLDS,
        engine=PROVE,
        bounds=f"{induction.problem.scope}; {how}{with_invariants}",
        seconds=effort.seconds,
        explanation=gap or "\n".join(f"invariant: {item}" for item in used),
        figures={"steps": induction.paths, "questions": effort.questions, "work": effort.used},
    )


class _Induction:
    """One attempt, with given invariants.

    Attributes:
        problem: the concrete machine with its invariants.
        paths: how many ways of following a concrete step were tried.
        used: the invariants that excluded a state.
    """

    def __init__(self, refinement: Refinement, invariants: Sequence[Property], effort: Effort) -> None:
        self.problem = Problem(refinement.concrete, TRUE, invariants, effort)
        self.paths = 0
        self.used: dict[str, None] = {}
        self._invariants = [item.id for item in invariants]
        self._effort = effort
        self._abstract = lower(refinement.abstract)
        self._images = refinement.terms(self._abstract)
        self._machine = PlainMachine(self._abstract) if self._abstract.is_finite else None
        self._most_steps = refinement.steps
        texts = [term for item in self._abstract.instances for term in (item.guard, *item.updates.values())]
        finite = self.problem.finite_domain and self._machine is not None
        self._finite_domain = finite and fits_finite_domain([*self._images, *texts])

    def gap(self) -> str:
        """What is not shown, in words; empty if nothing is missing."""
        result, _ = induct(self.problem, 1, False)
        if result.verdict is not Verdict.HOLDS:
            return f"the invariants are not shown to hold: {result.bounds}\n{result.explanation}".strip()
        return self._gap_at_start() or next(filter(None, map(self._gap_of, self.problem.lowered.instances)), "")

    def _gap_at_start(self) -> str:
        transition = self.problem.transition
        solver = self._solver()
        initial = [_initial(cell) for cell in self._abstract.cells]
        solver.add(*transition.start(), transition.at(self._differ(self._images, initial), 0))
        answer = self._effort.ask(solver, share=OBLIGATION_SHARE)
        if answer == z3.sat:
            return "it begins where the abstract machine does not"
        return "" if answer == z3.unsat else f"the beginning: {self._effort.reason}"

    def _gap_of(self, instance: Instance) -> str:
        problem, transition = self.problem, self.problem.transition
        cells = problem.lowered.cells
        updates = [(cells[number].symbol, value) for number, value in instance.updates.items()]
        after = [z3.substitute(image, *updates) for image in self._images]
        if all(old.eq(new) for old, new in zip(self._images, after, strict=True)):
            return ""
        solver = self._solver()
        solver.add(transition.domain(0), transition.taken(0, instance))
        solver.add(*(transition.stays_inside(0, *write) for write in problem.risky if write[0] is instance))
        solver.add(*(transition.says(name, 0, truth=True) for name in self.used))
        solver.add(transition.at(self._differ(self._images, after), 0))
        answer = self._effort.ask(solver, share=OBLIGATION_SHARE)
        if answer != z3.unsat and self._machine is None:
            for step in self._single_steps(instance):
                self._try(solver, step, after)
            answer = self._effort.ask(solver, share=OBLIGATION_SHARE)
        while answer == z3.sat and self._machine is not None:
            model = solver.model()
            path = self._path(model, after)
            if path is not None:
                self._try(solver, path, after)
            else:
                excluding = self._excluding(model)
                if excluding is None:
                    return self._no_counterpart(instance, model, after)
                self.used[excluding] = None
                solver.add(transition.says(excluding, 0, truth=True))
            answer = self._effort.ask(solver, share=OBLIGATION_SHARE)
        if answer == z3.unsat or self._excluded(solver):
            return ""
        if answer == z3.sat:
            return self._no_counterpart(instance, solver.model(), after)
        return f"{instance.label}: {self._effort.reason}"

    def _excluding(self, model: Model) -> str | None:
        """An invariant that is false in a model."""
        says = self.problem.transition.says
        return next((name for name in self._invariants if not model.number(says(name, 0, truth=True))), None)

    def _excluded(self, solver: Solver) -> bool:
        """Whether the invariants leave nothing of a question; those that are needed for it are used from then on."""
        facts = {name: self.problem.transition.says(name, 0, truth=True) for name in self._invariants}
        core = self._effort.core(solver, facts, share=OBLIGATION_SHARE) if facts else None
        self.used.update(dict.fromkeys(name for name in facts if core and name in core))
        return core is not None

    def _solver(self) -> Solver:
        solver = Solver(finite_domain=self._finite_domain)
        solver.add(*self.problem.lowered.assumptions, *self._abstract.assumptions)
        return solver

    # --- abstract steps -------------------------------------------------------------------------------------------

    def _try(self, solver: Solver, path: _Path, after: Sequence[Any]) -> None:
        """Demand a state from whose image these steps are impossible, or do not lead to ``after``."""
        self.paths += 1
        values, guards = list(self._images), []
        for instance, arguments in path:
            given = [(cell.symbol, value) for cell, value in zip(self._abstract.cells, values, strict=True)]
            auxiliary = [z3.Int(f"{symbol} of path {self.paths}") for symbol in instance.symbols[len(arguments) :]]
            given += zip(instance.symbols, (*arguments, *auxiliary), strict=True)
            guards.append(z3.substitute(instance.guard, *given))
            solver.add(*(self._now(z3.substitute(item, *given)) for item in instance.definitions))
            for number, value in instance.updates.items():
                values[number] = z3.substitute(value, *given)
        solver.add(self._now(z3.Or(z3.Not(z3.And(guards)), self._differ(values, after))))

    def _single_steps(self, concrete: Instance) -> Iterator[_Path]:
        """Every step of an unbounded abstract machine, with parameters of the concrete step for its own."""
        parameters = [symbol for symbol, _ in zip(concrete.symbols, _unbounded(concrete), strict=False)]
        for instance in self._abstract.instances:
            for arguments in itertools.product(parameters, repeat=len(_unbounded(instance))):
                yield [(instance, arguments)]

    def _path(self, model: Model, after: Sequence[Any]) -> _Path | None:
        """Steps of the abstract machine between two images in a model; None if there are none, or none is found."""
        assert self._machine is not None
        begin, end = (tuple(model.number(self._now(term)) for term in terms) for terms in (self._images, after))
        waiting: list[tuple[int, int, StateTuple, tuple[int, ...]]] = [(0, 0, begin, ())]
        fewest = {begin: 0}
        order = itertools.count(1)
        for _ in range(_MOST_FOLLOWED):
            if not waiting:
                break
            _, _, state, path = heapq.heappop(waiting)
            if state == end and path:
                return [(self._abstract.instances[number], ()) for number in path]
            for number, following in _successors(self._machine, state) if len(path) < self._most_steps else ():
                if len(path) + 1 < fewest.get(following, self._most_steps + 1):
                    fewest[following] = len(path) + 1
                    missing = sum(map(operator.ne, following, end))
                    heapq.heappush(waiting, (missing, next(order), following, (*path, number)))
        return None

    def _differ(self, left: Sequence[Any], right: Sequence[Any]) -> Any:
        """Some variable of the abstract machine has different values."""
        pairs = zip(self._abstract.cells, left, right, strict=True)
        return z3.Or([_unequal(cell, one, other, self.paths) for cell, one, other in pairs if not one.eq(other)])

    def _now(self, term: Any) -> Any:
        return self.problem.transition.at(term, 0)

    def _no_counterpart(self, instance: Instance, model: Model, after: Sequence[Any]) -> str:
        """The step, what it changes in the abstract machine, and the state."""
        lines = [f"{instance.label} may have no counterpart in {self._abstract.configuration.machine.name}"]
        if self._machine is not None:
            images = [tuple(model.number(self._now(term)) for term in terms) for terms in (self._images, after)]
            lines += [f"    {change}" for change in differences(self._abstract, *images)]
        return "\n".join([*lines, f"it may happen (if reachable) in: {state_in_words(self.problem, model, 0)}"])


def _unbounded(instance: Instance) -> list[str]:
    return [name for name, value in instance.arguments.items() if value is None]


def _initial(cell: Cell) -> Any:
    value = z3.BoolVal(bool(cell.initial)) if cell.family.is_bool else z3.IntVal(cell.initial)
    for item in reversed(cell.index):
        value = z3.K(z3.IntSort(), value) if item is None else value
    return value


def _unequal(cell: Cell, one: Any, other: Any, question: int) -> Any:
    """Two values of a variable differ; of an array, at an element that exists."""
    if not cell.is_array:
        return one != other
    dims = [dim for dim, item in zip(cell.family.dims, cell.index, strict=True) if item is None]
    items = [z3.Int(f"{dim.label}{place} of {cell.label} in question {question}") for place, dim in enumerate(dims)]
    inside = [as_bool(dim.contains(Term(item, False))) for dim, item in zip(dims, items, strict=True)]
    return z3.And(*inside, z3.Select(one, *items) != z3.Select(other, *items))


def _successors(machine: PlainMachine, state: StateTuple) -> Iterator[tuple[int, StateTuple]]:
    """The steps of a state that may be none of the machine, so that some may leave a domain: these are no steps."""
    for number in machine.enabled(state):
        try:
            following = machine.step(state, number)
        except ModelError:
            continue
        if following is not None:
            yield number, following
