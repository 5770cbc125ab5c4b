"""Solving: which Z3 solver answers, how much work it may do, and what it says when it gives up."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import z3

from .canonical import Canonical

_FINITE_DOMAIN_KINDS = frozenset(
    {
        z3.Z3_OP_TRUE,
        z3.Z3_OP_FALSE,
        z3.Z3_OP_AND,
        z3.Z3_OP_OR,
        z3.Z3_OP_NOT,
        z3.Z3_OP_IMPLIES,
        z3.Z3_OP_XOR,
        z3.Z3_OP_ITE,
        z3.Z3_OP_EQ,
        z3.Z3_OP_DISTINCT,
        z3.Z3_OP_ANUM,
        z3.Z3_OP_LE,
        z3.Z3_OP_LT,
        z3.Z3_OP_GE,
        z3.Z3_OP_GT,
        z3.Z3_OP_ADD,
        z3.Z3_OP_SUB,
        z3.Z3_OP_UMINUS,
        z3.Z3_OP_MUL,
        z3.Z3_OP_UNINTERPRETED,
    }
)

WORK = 200_000_000
"""Usual number of Z3 resource units that one check may use: one to two minutes of a processor."""

LARGEST_RLIMIT = 2**32 - 1
"""The largest limit that Z3 accepts."""

_FIRST_TRY = 100_000
"""Z3 resource units of the first try of a question: more than most proofs take, but less than a share of the work."""

_OUT_OF_WORK = ("canceled", "resource limit", "no reason given")
"""Z3's reasons when its resource units are used up; they depend on where it was."""

_LEFT_OPEN = "(incomplete quantifiers)"
"""The reason of a solver that does not search for models when quantifiers leave a question open."""


class Solver:
    """A Z3 solver with fixed seeds in a context of its own, so that earlier questions hardly change its answers.

    It works by translation to SAT if ``finite_domain`` allows it; otherwise it is Z3's default solver. Quantifiers are
    first instantiated only with the terms at hand, which proves many questions in milliseconds, whatever the seed; only
    for those left open, models are searched. A Z3 solver that was stopped in the middle of a question may crash the
    process in a later one (seen with Z3 5.4.0), so after an "unknown" the same constraints go to a new solver.
    """

    def __init__(self, *, finite_domain: bool) -> None:
        self._context = z3.Context()
        self._finite_domain = finite_domain
        self._own = _into(self._context)
        self._scopes: list[list[Any]] = [[]]
        self._model: Model | None = None
        self.work = 0  # Z3 resource units used so far
        self._earlier = 0
        self._solver = self._new(searches_models=False)

    def add(self, *constraints: Any) -> None:
        """Demand the constraints (of the main context) until the matching :meth:`pop`."""
        for constraint in constraints:
            self._scopes[-1].append(constraint)
            self._solver.add(self._own(constraint))

    def push(self) -> None:
        """Begin a scope."""
        self._scopes.append([])
        self._solver.push()

    def pop(self, scopes: int = 1) -> None:
        """Drop the latest scopes."""
        del self._scopes[-scopes:]
        self._solver.pop(scopes)

    def model(self) -> Model:
        """The model of the question just answered "sat"."""
        assert self._model is not None
        return self._model

    def check(self, *, rlimit: int, models: bool = True) -> tuple[Any, str]:
        """Z3's answer, and its reason if that is "unknown"; without ``models`` it never searches for one.

        ``rlimit`` is in Z3 resource units, 1 or more; :attr:`work` then says how many were used.
        """
        before = self.work
        answer, reason = self._try(rlimit)
        if answer == z3.unknown:
            left = rlimit - (self.work - before)
            if models and reason == _LEFT_OPEN and left > 0:
                self._solver = self._again(searches_models=True, seed=0)
                answer, reason = self._ask(left)
                if answer == z3.sat:
                    self._model = Model(self._solver.model(), self._own)
            self._solver = self._again(searches_models=False)
        elif answer == z3.sat:
            self._model = Model(self._solver.model(), self._own)
        return answer, reason

    def core(self, facts: Mapping[str, Any], *, rlimit: int) -> set[str] | None:
        """Which of the named facts, added for this question only, make it "unsat"; None if they do not."""
        self._solver = self._again(searches_models=False, seed=0)
        self._solver.push()
        names = {f"fact {number}": name for number, name in enumerate(facts)}
        marks = [z3.Bool(mark, ctx=self._context) for mark in names]
        for mark, fact in zip(marks, facts.values(), strict=True):
            self._solver.add(z3.Implies(mark, self._own(fact)))
        self._solver.set("rlimit", min(rlimit, LARGEST_RLIMIT))
        answer = self._solver.check(*marks)
        core = {names[str(mark)] for mark in self._solver.unsat_core()} if answer == z3.unsat else None
        self.work = self._earlier + units(self._solver)
        self._solver.pop()
        if answer == z3.unknown:
            self._solver = self._again(searches_models=False)
        return core

    def _try(self, rlimit: int) -> tuple[Any, str]:
        """Ask with one seed after the other, with growing limits of work: with most seeds a proof is found soon.

        The first try, with the terms as they are, is the fastest; if it does not end, the question is asked in
        canonical terms, so that a hard proof hardly depends on what else the process has asked.
        """
        begun = self.work
        answer, reason = self._ask(rlimit if self._finite_domain else min(rlimit, _FIRST_TRY))
        seed, most = 0, _FIRST_TRY
        while _is_out_of_work(reason) and not self._finite_domain and (left := rlimit - (self.work - begun)) > 0:
            self._solver = self._again(searches_models=False, seed=seed)
            answer, reason = self._ask(min(left, most))
            seed, most = seed + 1, most if seed % 2 == 0 else 2 * most
        return answer, reason

    def _ask(self, rlimit: int) -> tuple[Any, str]:
        self._solver.set("rlimit", min(rlimit, LARGEST_RLIMIT))
        answer = check(self._solver)
        self.work = self._earlier + units(self._solver)
        return answer

    def _again(self, *, searches_models: bool, seed: int | None = None) -> Any:
        # In a context that contains terms already, Z3 would number those of the question by what was built before.
        self._context, self._earlier = z3.Context(), self.work
        self._own = _into(self._context) if seed is None else Canonical(self._context, seed=seed).term
        solver = self._new(searches_models=searches_models, seed=seed or 0)
        for number, constraints in enumerate(self._scopes):
            if number:
                solver.push()
            solver.add(*map(self._own, constraints))
        return solver

    def _new(self, *, searches_models: bool, seed: int = 0) -> Any:
        if self._finite_domain:
            solver = z3.SolverFor("QF_FD", ctx=self._context)
        else:
            solver = z3.Solver(ctx=self._context)
            solver.set("smt.random_seed", seed)
            solver.set("smt.mbqi", searches_models)
        solver.set("random_seed", seed)
        return solver


def check(solver: Any) -> tuple[Any, str]:
    """Put the question of a Z3 solver: the answer and, when that is "unknown", the reason on one line.

    Raises:
        KeyboardInterrupt: the user pressed Ctrl-C meanwhile, which Z3 would report as a reason for "unknown".
    """
    answer = solver.check()
    reason = " ".join(str(solver.reason_unknown()).split()) if answer == z3.unknown else ""
    if reason == "interrupted from keyboard":
        raise KeyboardInterrupt
    return answer, reason


def _into(context: Any) -> Callable[[Any], Any]:
    """Translation of terms into this context, whichever one the solver uses later."""

    def translated(term: Any) -> Any:
        return term.translate(context)

    return translated


def _is_out_of_work(reason: str) -> bool:
    return any(said in reason for said in _OUT_OF_WORK)


def units(solver: Any) -> int:
    """Z3 resource units used so far in the context of a Z3 solver."""
    return int(solver.statistics().get_key_value("rlimit count"))


class Model:
    """Values of symbols that satisfy a question, whatever its solver is asked later; ``own`` maps a term of the main
    context to the copy in the model's.
    """

    def __init__(self, model: Any, own: Callable[[Any], Any]) -> None:
        self._model = model
        self._own = own

    def number(self, term: Any) -> int:
        """Value of a truth value or whole number (of the main context); one that the model leaves open counts as 0."""
        value = self._model.eval(self._own(term), model_completion=True)
        return int(z3.is_true(value)) if z3.is_bool(value) else int(value.as_long())


class Effort:
    """Work that all questions of one check share; no time, as a busy machine would change the answers."""

    def __init__(self, work: int = WORK, rlimit: int | None = None) -> None:
        self.work = work  # Z3 resource units for everything
        self.rlimit = rlimit  # Z3 resource units for each single question; None if only the total is limited
        self.reason = ""  # why the latest "unknown" was answered
        self._started = time.perf_counter()
        self._end = work
        self._used = [0]
        self._asked = [0]

    @property
    def questions(self) -> int:
        """Number of questions put to a solver so far."""
        return self._asked[0]

    @property
    def used(self) -> int:
        """Z3 resource units used so far."""
        return self._used[0]

    @property
    def seconds(self) -> float:
        """Time spent since the start."""
        return time.perf_counter() - self._started

    @property
    def left(self) -> int:
        """Z3 resource units left; never negative."""
        return max(0, self._end - self.used)

    def part(self, share: float) -> Effort:
        """The same effort with only ``share`` of the remaining work."""
        part = copy.copy(self)
        part._end = self.used + int(self.left * share)
        return part

    def spend(self, units: int) -> None:
        """Count work that was done elsewhere."""
        self._used[0] += units

    def ask(self, solver: Solver, *, share: float = 1.0, models: bool = True) -> Any:
        """Put one question; answers ``z3.sat``, ``z3.unsat`` or ``z3.unknown`` (then ``reason`` says why).

        ``share`` is the part of the remaining work that this question may use; ``models`` as in :meth:`Solver.check`.
        """
        limit = int(self.left * share)
        if limit < 1:
            self.reason = self._all_used()
            return z3.unknown
        if self.rlimit is not None:
            limit = min(limit, self.rlimit)
        self._asked[0] += 1
        before = solver.work
        answer, said = solver.check(rlimit=limit, models=models)
        self._used[0] += solver.work - before
        if answer == z3.unknown:
            self.reason = self._why(said, limit)
        return answer

    def core(self, solver: Solver, facts: Mapping[str, Any], *, share: float) -> set[str] | None:
        """Like :meth:`Solver.core`, within ``share`` of the remaining work."""
        limit = int(self.left * share)
        if limit < 1:
            return None
        self._asked[0] += 1
        before = solver.work
        core = solver.core(facts, rlimit=limit)
        self._used[0] += solver.work - before
        return core

    def _all_used(self) -> str:
        return f"the limit of {self.work:,} Z3 resource units was hit"

    def _why(self, said: str, limit: int) -> str:
        if self.left <= 0:
            return self._all_used()
        if _is_out_of_work(said):
            return f"the limit of {limit:,} Z3 resource units for this question was hit"
        return f"the solver gave up: {said[:200]}"


def fits_finite_domain(terms: Iterable[Any]) -> bool:
    """Whether Z3's finite-domain solver decides these terms: no division, remainder, array or quantifier in them.

    That solver answers "sat" with a wrong model for a remainder and gives up on a division (Z3 5.4.0). It is five to
    twenty times faster than the default solver on bounded runs, so it is used wherever it is right.
    """
    seen: set[int] = set()
    todo = list(terms)  # the roots keep every subterm alive, so that its id stays its own
    roots = list(todo)
    while todo:
        term = todo.pop()
        if term.get_id() in seen:
            continue
        seen.add(term.get_id())
        if not z3.is_app(term) or term.decl().kind() not in _FINITE_DOMAIN_KINDS:
            return False
        if term.decl().kind() == z3.Z3_OP_UNINTERPRETED and (term.num_args() or z3.is_array(term)):
            return False
        todo.extend(term.children())
    del roots
    return True
