"""Problems: what a proof or a bounded search has to show, as constraints, and the results made from its findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from ...model.kernel import Check, Configuration, Instance, ModelError, State, lower
from ...properties.property import Kind, Property
from ...properties.verdict import Verdict
from ..engines import PROVE
from ..questions import check_question
from ..result import Result
from ..run import Run, counted, holds, story
from .solving import Effort, Model, Solver, fits_finite_domain
from .transition import Transition
from .witness import NotReplayable, replay_model, replay_to_outside

OBLIGATION_SHARE = 0.25
"""Share of the remaining work that one proof obligation may use, so that a hopeless one leaves some for the others."""

TRUE: Property[State] = Property(id="true", statement="Nothing is claimed.", kind=Kind.ALWAYS, holds=lambda _: True)
"""What invariants are proven for that are needed elsewhere."""


@dataclass(frozen=True)
class Claim:
    """A predicate that must have the same truth value in all states."""

    name: str
    truth: bool


Target: TypeAlias = "Claim | Check"


@dataclass(frozen=True)
class Found:
    """A state after ``length`` steps in which a claim fails, or (``claim`` None) whose next step leaves a domain."""

    claim: Claim | None
    length: int
    model: Model


@dataclass(frozen=True)
class Ended:
    """No run has more than ``length`` steps, and nothing is wrong in any state."""

    length: int


@dataclass(frozen=True)
class GaveUp:
    """The states after ``length`` steps could not be decided; those before are fine."""

    length: int


Finding: TypeAlias = "Found | Ended | GaveUp"


class Problem:
    """What is to be shown, with the machine as constraints; makes the results.

    Attributes:
        claims: the property, and what is proven along with it.
        properties: number of claims, from the first, that are wanted for themselves; the rest are lemmas.
    """

    def __init__(
        self,
        configuration: Configuration,
        property: Property,
        lemmas: Sequence[Property],
        effort: Effort,
        *,
        properties: int = 1,
    ) -> None:
        check_question(PROVE, configuration, [property], Kind.ALWAYS, Kind.SOMETIMES)
        _check_lemmas(property, lemmas)
        self.property = property
        self.effort = effort
        self.predicates = {item.id: item.holds for item in (property, *lemmas)}
        self.lowered = lower(configuration, self.predicates)
        self.transition = Transition(self.lowered)
        self.never = property.kind is Kind.SOMETIMES
        self.claims = [Claim(property.id, not self.never), *(Claim(lemma.id, True) for lemma in lemmas)]
        self.properties = properties
        self.finite_domain = self.lowered.is_finite and fits_finite_domain(self.transition.terms)
        self.risky = [(instance, check) for instance in self.lowered.instances for check in self._risky(instance)]

    @property
    def scope(self) -> str:
        """What a proof covers, in words."""
        free = [f"{name} ≥ {low}" for name, low in self.transition.unbounded_constants().items()]
        unlimited = self.lowered.configuration.unlimited
        return "".join(
            [
                "all runs",
                f", for all {' and '.join(free)}" if free else "",
                f", any number of {', '.join(unlimited)}" if unlimited else "",
            ]
        )

    def new_solver(self) -> Solver:
        """A solver fit for these terms."""
        return Solver(finite_domain=self.finite_domain)

    def _risky(self, instance: Instance) -> list[Check]:
        """The writes for which the domains and the guard alone do not show that they stay inside their domains."""
        if not instance.checks:
            return []
        solver = self.new_solver()
        solver.add(*self.lowered.assumptions, self.transition.domain(0), self.transition.taken(0, instance))
        return [check for check in instance.checks if not _refutes(self, solver, self.transition.leaves(0, check))]

    # --- results --------------------------------------------------------------------------------------------------

    def proven(self, bounds: str, **figures: int) -> Result:
        """The claim holds in all states."""
        explanation = "proven: no run ever reaches it" if self.never else ""
        return self._result(Verdict.VIOLATED if self.never else Verdict.HOLDS, bounds, explanation, figures)

    def unknown(self, bounds: str, explanation: str, **figures: int) -> Result:
        """Nothing is shown."""
        return self._result(Verdict.UNKNOWN, bounds, explanation, figures)

    def first_states(self, steps: int) -> str:
        """What a search that found nothing has shown, in words."""
        where = f"the first {counted(steps, 'step')}" if steps else "the initial state"
        return f"{'no witness' if self.never else 'no violation'} in {where}"

    def result_of(self, finding: Finding) -> Result:
        """What a finding of the search means for the property; runs are replayed here."""
        if isinstance(finding, Ended):
            return self.proven(
                f"{self.scope}; every run ends within {counted(finding.length, 'step')}", depth=finding.length
            )
        if isinstance(finding, GaveUp):
            reason = self.effort.reason
            return self.unknown(f"{self._states_before(finding.length)}; then {reason}", reason)
        try:
            return self._result_of_run(finding)
        except NotReplayable as why:
            text = f"the solver found a run of {counted(finding.length, 'step')}, which cannot be replayed: {why}"
            return self.unknown(self._states_before(finding.length), text)

    def _states_before(self, length: int) -> str:
        return self.first_states(length - 1) if length else "nothing is shown"

    def _result_of_run(self, found: Found) -> Result:
        if found.claim is None:
            raise replay_to_outside(found.model, self.transition, found.length)
        run, machine = replay_model(found.model, self.transition, found.length, self.predicates)
        if holds(machine, found.claim.name, run.states[-1]) is found.claim.truth:
            raise ModelError(
                f"prove: the solver and its replay disagree about {found.claim.name!r} after:\n{story(run)}"
            )
        if found.claim is not self.claims[0]:
            text = f"the lemma {found.claim.name!r} does not hold:\n{story(run)}"
            return self.unknown(f"a lemma fails after {counted(found.length, 'step')}", text)
        bounds = f"{'witness' if self.never else 'counterexample'} of {counted(found.length, 'step')}, none shorter"
        if not self.lowered.is_finite:
            bounds += f"; found for {machine.lowered.configuration}"
        verdict = Verdict.HOLDS if self.never else Verdict.VIOLATED
        return self._result(verdict, bounds, "", {"depth": found.length}, run)

    def _result(
        self, verdict: Verdict, bounds: str, explanation: str, figures: dict[str, int], run: Run | None = None
    ) -> Result:
        return Result(
            property=self.property.id,
            verdict=verdict,
            engine=PROVE,
            bounds=bounds,
            seconds=self.effort.seconds,
            run=run,
            explanation=explanation,
            figures={**figures, "questions": self.effort.questions, "work": self.effort.used},
        )


def _refutes(problem: Problem, solver: Solver, constraint: Any) -> bool:
    solver.push()
    solver.add(constraint)
    answer = problem.effort.ask(solver, share=OBLIGATION_SHARE)
    solver.pop()
    return bool(answer == z3.unsat)


def _check_lemmas(property: Property, lemmas: Sequence[Property]) -> None:
    for lemma in lemmas:
        if lemma.kind is not Kind.ALWAYS:
            raise ModelError(
                f"prove: the lemma {lemma.id!r} says '{lemma.kind}'; a lemma must be an 'always' property."
            )
    names = [property.id, *(lemma.id for lemma in lemmas)]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"prove: {name!r} is given twice among property and lemmas; give each its own id.")
