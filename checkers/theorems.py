"""Proofs: theorems by Z3, and the smallest case in which a false one fails."""

from __future__ import annotations

import functools
import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from ..model.kernel import BoolLike, not_
from ..model.kernel.terms import as_bool
from ..properties.theorem import Case, Relation, Theorem
from ..properties.verdict import Verdict
from .engines import PROVE
from .prove.canonical import Canonical
from .prove.solving import LARGEST_RLIMIT, WORK, Model, check, units
from .result import Result

# Sum of the sizes up to which a case that the solver found is computed again with plain numbers.
_COMPUTED = 100_000

# Largest value, counted up from 0, that is tried for a number that is no size, to make a failing case easier to read.
_PLAIN_ENOUGH = 16

Entry: TypeAlias = tuple[str, tuple[int, ...]]
"""A relation or function, and the arguments of one of its values."""


def prove_theorem(theorem: Theorem, *, work: int = WORK, largest: int = 10, seed: int = 0) -> Result:
    """Prove ``theorem`` for all values of its parameters, or find the smallest case in which it fails.

    A proof must not be vacuous: some case whose sizes add up to at most ``largest`` has to meet the assumption. A
    failing case counts only if it fails again when computed with plain numbers; otherwise, and when the solver gives
    up, the answer is UNKNOWN with the reason.

    Args:
        theorem: the statement.
        work: Z3 resource units for all questions together, a limit that does not depend on the machine's speed.
        largest: the largest sum of the sizes for which the smallest failing case is searched.
        seed: seed of the solver.
    """
    solver = _Solver(theorem, work, seed)
    start = time.monotonic()

    def result(verdict: Verdict, bounds: str, explanation: str = "", **figures: Any) -> Result:
        seconds = time.monotonic() - start
        return Result(
            property=theorem.id,
            verdict=verdict,
            engine=PROVE,
            bounds=bounds,
            seconds=seconds,
            explanation=explanation,
            figures={"questions": solver.questions, "work": solver.used, **figures},
        )

    answer = solver.ask({}, claim_fails=True)
    if answer.sat is False:
        small = next((sizes for sizes in _sizes(theorem, largest) if solver.ask(sizes, claim_fails=False).sat), None)
        if small is not None:
            return result(Verdict.HOLDS, theorem.covers)
        reason = f"no case with {_sum(theorem)} up to {largest} meets the assumption, so the proof may be about nothing"
        return result(Verdict.UNKNOWN, reason, reason)
    for sizes in _sizes(theorem, largest):
        case = solver.ask(sizes, claim_fails=True).case
        if case is not None and theorem.fails(case):
            case = _plainer(theorem, solver, case)
            return result(Verdict.VIOLATED, _smallest(theorem), theorem.tell(case), case=_shown(theorem, case))
    large = answer.case is not None and sum(answer.case[name] for name in theorem.sizes) > _COMPUTED
    if answer.case is not None and not large and theorem.fails(answer.case):
        case = answer.case
        return result(Verdict.VIOLATED, "a case, not the smallest", theorem.tell(case), case=_shown(theorem, case))
    if large:
        reason = "the solver's counterexample is too large to be computed again with plain numbers"
    elif answer.case is not None:
        reason = (
            "the solver's counterexample does not fail when it is computed with plain numbers: "
            "a witness or formula in the text of the theorem is wrong"
        )
    else:
        reason = f"the solver gave up: {answer.reason}"
    return result(Verdict.UNKNOWN, f"{reason}; no failing case with {_sum(theorem)} up to {largest} found", reason)


def compute(theorem: Theorem) -> None:
    """Compute a theorem for unknown sizes and for small ones, with quantifiers unfolded, to call what it may call."""
    for sizes in ({}, dict.fromkeys(theorem.sizes, 2)):
        case = theorem.case(sizes)
        theorem.assumption(case)
        theorem.conclusion(case)


@dataclass(frozen=True)
class _Answer:
    """The solver's answer: sat (None if it gave up), then a case of plain values, or the reason for giving up."""

    sat: bool | None
    case: Case | None = None
    reason: str = ""


class _Solver:
    """Asks Z3 about one theorem, within one limit of work."""

    def __init__(self, theorem: Theorem, work: int, seed: int) -> None:
        self.theorem = theorem
        self.questions = 0
        self._context = z3.Context()  # its own: earlier questions, about other theorems, change no answer
        self._own = Canonical(self._context).term
        self._work = work
        self.used = 0
        self._seed = seed

    def ask(
        self, known: Mapping[str, int], *, claim_fails: bool, entries: Mapping[Entry, int] | None = None
    ) -> _Answer:
        """Is there a case with these numbers and table entries that meets the assumption (and fails the claim)?"""
        left = self._work - self.used
        if left <= 0:
            return _Answer(None, reason=f"the limit of {self._work:,} Z3 resource units was hit")
        case = self.theorem.case(known)
        question: list[BoolLike] = [self.theorem.assumption(case)]
        if question[0] is False:
            return _Answer(False)
        if claim_fails:
            question.append(not_(self.theorem.conclusion(case)))
        solver = z3.Solver(ctx=self._context)
        solver.set("rlimit", min(left, LARGEST_RLIMIT))
        solver.set("random_seed", self._seed)
        terms = [as_bool(part) for part in question]
        for (name, arguments), value in (entries or {}).items():
            is_relation = isinstance(self.theorem.symbols[name], Relation)
            terms.append(
                self.theorem.declaration(name)(*arguments) == (z3.BoolVal(bool(value)) if is_relation else value)
            )
        solver.add(*(self._own(term) for term in terms))
        self.questions += 1
        answer, reason = check(solver)
        self.used = units(solver)
        if answer == z3.unsat:
            return _Answer(False)
        if answer == z3.unknown:
            return _Answer(None, reason=reason)
        return _Answer(True, self._plain(known, Model(solver.model(), self._own)))

    def _plain(self, known: Mapping[str, int], model: Model) -> Case:
        """The case of a solver's model, with plain numbers and Python functions of plain numbers."""
        case: dict[str, Any] = {}
        for name in self.theorem.parameters:
            if name in known:
                case[name] = known[name]
            elif name in self.theorem.symbols:
                case[name] = _Table(self.theorem, name, model)
            else:
                case[name] = model.number(z3.Int(name))
        return case


class _Table:
    """A relation or function as in a solver's model; remembers the values that were read."""

    def __init__(self, theorem: Theorem, name: str, model: Model) -> None:
        self._declaration = theorem.declaration(name)
        self._is_relation = isinstance(theorem.symbols[name], Relation)
        self._model = model
        self.values: dict[tuple[int, ...], int | bool] = {}

    def __call__(self, *arguments: int) -> int | bool:
        if arguments not in self.values:
            value = self._model.number(self._declaration(*arguments))
            self.values[arguments] = bool(value) if self._is_relation else value
        return self.values[arguments]


def _sizes(theorem: Theorem, largest: int) -> Iterator[dict[str, int]]:
    """Sizes in the order of their sum; for equal sums, the largest first size comes first."""
    names = theorem.sizes
    for amount in range(largest + 1):
        for values in itertools.product(range(amount, -1, -1), repeat=len(names)):
            if sum(values) == amount:
                yield dict(zip(names, values, strict=True))


def _plainer(theorem: Theorem, solver: _Solver, case: Case) -> Case:
    """A failing case of the same sizes that is easy to read: each number and table entry is as small as possible."""
    known: dict[str, int] = {name: int(case[name]) for name in theorem.sizes}
    entries: dict[Entry, int] = {}

    def settle(now: int, fix: Callable[[int], None]) -> None:
        nonlocal case
        for value in range(min(now, _PLAIN_ENOUGH)):
            fix(value)
            other = solver.ask(known, claim_fails=True, entries=entries).case
            if other is not None and theorem.fails(other):
                case = other
                return
        fix(now)

    for name in theorem.numbers:
        if name not in known:
            settle(int(case[name]), functools.partial(known.__setitem__, name))
    while entry := next((entry for entry in _entries(case) if entry not in entries), None):
        table, arguments = entry
        settle(int(case[table](*arguments)), functools.partial(entries.__setitem__, entry))
    return case


def _entries(case: Case) -> Iterator[Entry]:
    """The table entries of a case that were read."""
    for name, value in case.items():
        if isinstance(value, _Table):
            yield from ((name, arguments) for arguments in sorted(value.values))


def _shown(theorem: Theorem, case: Case) -> dict[str, Any]:
    """A case as figures: numbers, and for relations and functions the values that were read."""
    return {
        name: dict(sorted(value.values.items())) if isinstance(value, _Table) else value for name, value in case.items()
    }


def _sum(theorem: Theorem) -> str:
    return " + ".join(theorem.sizes) if theorem.sizes else "sizes"


def _smallest(theorem: Theorem) -> str:
    return f"smallest {_sum(theorem)}" if theorem.sizes else "one case"
