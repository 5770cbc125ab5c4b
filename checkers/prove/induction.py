"""Induction: the inductive step over one or more states in a row."""

from __future__ import annotations

import z3

from ...model.kernel import Instance
from .problem import OBLIGATION_SHARE, Claim, Problem, Target
from .solving import Model, Solver
from .witness import small_model

IMPLIED_SHARE = 0.01
"""Share of the remaining work for asking whether a claim is implied by the others."""


class Induction:
    """The inductive step over k states in a row.

    An obligation is one action instance with one claim it must preserve, or one write it must keep inside its domain.
    What is proven from k states stays proven from more. A claim that the others imply in each single state is no
    obligation; with an unbounded number of messages this saves most of the work.
    """

    def __init__(self, problem: Problem, *, simple_path: bool) -> None:
        self._problem = problem
        self._simple_path = simple_path
        self.gaps: list[str] = []  # what the latest attempt could not prove, action by action
        self.solver_gave_up = False  # whether the solver did not decide some of it
        self._claims = self._independent_claims() if problem.lowered.configuration.unbounded else list(problem.claims)
        self._open: list[tuple[Instance, Target]] = []
        for instance in problem.lowered.instances:
            self._open.extend((instance, check) for owner, check in problem.risky if owner is instance)
            self._open.extend((instance, claim) for claim in self._claims)

    def succeeds(self, k: int) -> bool:
        """Whether every obligation is proven from ``k`` states in a row."""
        problem, transition, last = self._problem, self._problem.transition, k - 1
        solver = problem.new_solver()
        solver.add(*problem.lowered.assumptions)
        for position in range(k):
            solver.add(transition.domain(position))
            solver.add(*(transition.says(claim.name, position, truth=claim.truth) for claim in self._claims))
            if position < last:
                solver.add(transition.step(position))
                # Steps that leave a domain are obligations of their own, so here none does.
                solver.add(*(transition.stays_inside(position, *write) for write in problem.risky))
        if self._simple_path:
            solver.add(*(transition.differ(first, second) for second in range(k) for first in range(second)))
        self.gaps = []
        self.solver_gave_up = False
        still_open = []
        for instance, target in self._open:
            if not self._discharge(solver, last, instance, target):
                still_open.append((instance, target))
        self._open = still_open
        return not self._open

    def _independent_claims(self) -> list[Claim]:
        """The claims without those properties that the remaining ones imply, found one after the other."""
        problem, transition = self._problem, self._problem.transition
        kept = list(problem.claims)
        for claim in problem.claims[: problem.properties]:
            others = [other for other in kept if other is not claim]
            solver = problem.new_solver()
            solver.add(*problem.lowered.assumptions)
            solver.add(*(transition.says(other.name, 0, truth=other.truth) for other in others))
            solver.add(transition.says(claim.name, 0, truth=not claim.truth))
            for also in ((), (transition.domain(0),)):  # which is seldom needed, and keeps the solver busy
                solver.add(*also)
                if problem.effort.ask(solver, share=IMPLIED_SHARE, models=False) == z3.unsat:
                    kept = others
                    break
        return kept

    def _discharge(self, solver: Solver, last: int, instance: Instance, target: Target) -> bool:
        problem, transition = self._problem, self._problem.transition
        if isinstance(target, Claim):
            fails = transition.says_after(target.name, last, instance, truth=not target.truth)
            if fails is None:
                return True
            kept = [transition.stays_inside(last, *write) for write in problem.risky if write[0] is instance]
            subject = (
                f"{instance.label} is not shown to preserve {'the absence of ' * (not target.truth)}{target.name!r}"
            )
        else:
            fails = transition.leaves(last, target)
            kept = []
            subject = f"{instance.label} is not shown to stay inside the domain of {target.label} ({target.allowed})"
        solver.push()
        solver.add(transition.taken(last, instance), fails, *kept)
        answer = problem.effort.ask(solver, share=OBLIGATION_SHARE)
        if answer == z3.unknown:
            self.solver_gave_up = True
            self.gaps.append(f"{subject}: {problem.effort.reason}")
        elif answer == z3.sat:
            model = small_model(solver, transition, problem.effort)
            self.gaps.append(f"{subject}; it may happen (if reachable) in: {state_in_words(problem, model, last)}")
        solver.pop()
        return bool(answer == z3.unsat)


def state_in_words(problem: Problem, model: Model, position: int) -> str:
    """A state of a model, without what is at its lowest value."""
    shown = problem.transition.shown(model, position)
    return ", ".join(f"{label}={value}" for label, value in shown.items()) or "everything at its lowest value"
