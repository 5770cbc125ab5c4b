"""Bounded search: the states after 0, 1, 2 … steps of all runs at once (bounded model checking)."""

from __future__ import annotations

from typing import Any

import z3

from .problem import Claim, Ended, Finding, Found, GaveUp, Problem
from .solving import Model
from .witness import small_model

ENDING_SHARE = 0.1
"""Share of the remaining work for asking whether there are longer runs at all."""


class Search:
    """Bounded model checking, one state of the run at a time."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._position = 0
        self._solver = problem.new_solver()
        self._solver.add(*problem.transition.start(), problem.transition.domain(0))

    def advance(self) -> Finding | None:
        """Decide the states after the next number of steps (first those after 0 steps); None if nothing is wrong."""
        problem, transition, position = self._problem, self._problem.transition, self._position
        if position > 0 and self.is_over():
            return Ended(position - 1)
        for claim in problem.claims:
            finding = self._look_for(claim, transition.says(claim.name, position, truth=not claim.truth))
            if finding is not None:
                return finding
            self._solver.add(transition.says(claim.name, position, truth=claim.truth))
        if problem.risky:
            leaves = [
                z3.And(transition.taken(position, instance), transition.leaves(position, check))
                for instance, check in problem.risky
            ]
            finding = self._look_for(None, z3.Or(leaves))
            if finding is not None:
                return finding
        self._position += 1
        self._solver.add(transition.step(position), transition.domain(position + 1))
        return None

    def is_over(self) -> bool:
        """Whether no run is long enough to have states that are not decided yet."""
        return bool(self._problem.effort.ask(self._solver, share=ENDING_SHARE) == z3.unsat)

    def _look_for(self, claim: Claim | None, wrong: Any) -> Finding | None:
        problem, solver = self._problem, self._solver
        solver.push()
        solver.add(wrong)
        answer = problem.effort.ask(solver)
        if answer == z3.sat:
            model = small_model(solver, problem.transition, problem.effort)
            steps = self._position + (claim is None)
            return Found(claim, self._position, self._first_run(model, steps) if problem.lowered.is_finite else model)
        if answer == z3.unknown:
            return GaveUp(self._position)
        solver.pop()
        return None

    def _first_run(self, model: Model, steps: int) -> Model:
        """Of all runs that answer the question, the one whose actions come first in the order of the machine.

        The run that is shown therefore does not depend on the solver (unless the limit of work is reached).
        """
        solver, transition = self._solver, self._problem.transition
        for position in range(steps):
            choice = transition.choice(position)
            earlier = True
            while earlier and model.number(choice) > 0:
                solver.push()
                solver.add(choice < model.number(choice))
                earlier = self._problem.effort.ask(solver, share=0.1) == z3.sat
                if earlier:
                    model = solver.model()
                solver.pop()
            solver.add(choice == model.number(choice))
        return model
