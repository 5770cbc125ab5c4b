"""Prove: properties for all runs at once by Z3, or for all runs up to a printed depth.

Three ways, from the strongest claim to the weakest:

* :func:`prove_inductive`: the property holds at the start and every action preserves it;
* :func:`k_induction`: it holds in the first k states of every run, and after any k states in a row where it holds;
* :func:`bounded` model checking: it holds in the first states of every run, up to a depth.

:func:`prove` tries them in this order. Only the first two, or a bounded check that finds every run to end, say HOLDS
of an ALWAYS property: a bounded check without a counterexample is UNKNOWN, with the depth in its bounds.

What a proof rests on. A proof may assume that variables are inside their declared domains, since a write outside is
an error of the machine; so it must also show that no write leaves them. A write that is not shown to stay inside makes
the verdict UNKNOWN; one that leaves it on a replayed run raises :class:`ModelError`, as it does in every engine.
Lemmas are ALWAYS properties that are proven in the same induction, never assumed; a false lemma makes the verdict
UNKNOWN, for it says nothing about the property.

A SOMETIMES property is the negation of an ALWAYS one: a run that reaches it is its witness (HOLDS), a proof that no
run does is VIOLATED.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from ..model.kernel import Check, Configuration, Instance, ModelError, trace
from ..properties.property import Kind, Property
from ..properties.verdict import Verdict
from .result import Result
from .run import story
from .solving import Effort, fits_finite_domain, new_solver
from .transition import Transition
from .witness import NotReplayable, replay_model, replay_to_outside, small_model

ENGINE = "prove"

OBLIGATION_SHARE = 0.25
"""Part of the remaining time that one proof obligation may use, so that a hopeless one leaves some for the others."""

ENDING_SHARE = 0.1
"""Part of the remaining time for asking whether there are longer runs at all."""


def prove(
    configuration: Configuration,
    property: Property,
    *,
    lemmas: Sequence[Property] = (),
    induction_depth: int = 3,
    depth: int = 10,
    timeout_seconds: float = 60.0,
    rlimit: int | None = None,
) -> Result:
    """The strongest answer of induction, k-induction up to ``induction_depth``, and bounded search.

    Induction may use half of the time, the search the rest. ``rlimit`` bounds each question in Z3 resource units.

    Raises:
        ModelError: the machine or the property is written wrongly, or a run writes outside a declared domain.
    """
    induction = k_induction(
        configuration,
        property,
        lemmas=lemmas,
        depth=induction_depth,
        simple_path=True,
        timeout_seconds=timeout_seconds / 2,
        rlimit=rlimit,
    )
    if induction.verdict is not Verdict.UNKNOWN:
        return induction
    left = max(0.0, timeout_seconds - induction.seconds)
    search = bounded(configuration, property, depth=depth, timeout_seconds=left, rlimit=rlimit)
    return Result(
        property=property.id,
        verdict=search.verdict,
        engine=ENGINE,
        bounds=search.bounds,
        seconds=induction.seconds + search.seconds,
        run=search.run,
        explanation="\n".join(text for text in (search.explanation, induction.explanation) if text)
        if search.verdict is Verdict.UNKNOWN
        else search.explanation,
        figures={**search.figures, "questions": induction.figures["questions"] + search.figures["questions"]},
    )


def prove_inductive(
    configuration: Configuration,
    property: Property,
    *,
    lemmas: Sequence[Property] = (),
    timeout_seconds: float = 30.0,
    rlimit: int | None = None,
) -> Result:
    """Initial step and inductive step. UNKNOWN names each action that does not preserve the property or a lemma.

    The state shown with it (a counterexample to induction) need not be reachable, so it is never VIOLATED.

    Raises:
        ModelError: the machine or the property is written wrongly, or a first step writes outside a declared domain.
    """
    return k_induction(configuration, property, lemmas=lemmas, depth=1, timeout_seconds=timeout_seconds, rlimit=rlimit)


def k_induction(
    configuration: Configuration,
    property: Property,
    *,
    lemmas: Sequence[Property] = (),
    depth: int,
    simple_path: bool = False,
    timeout_seconds: float = 30.0,
    rlimit: int | None = None,
) -> Result:
    """Induction over k = 1, 2, … ``depth`` states in a row; the smallest k that succeeds is printed.

    ``simple_path`` demands that the states in a row differ, which is sound as a shortest run repeats none.

    Raises:
        ModelError: as :func:`prove_inductive`.
    """
    if depth < 1:
        raise ModelError(f"prove: k-induction over {depth} states is impossible; give a depth of 1 or more.")
    problem = Problem(configuration, property, lemmas, Effort(timeout_seconds, rlimit))
    search = Search(problem)
    induction = Induction(problem, simple_path=simple_path)
    for k in range(1, depth + 1):
        finding = search.advance()
        if finding is not None:
            return problem.result_of(finding)
        if induction.succeeds(k):
            method = "inductive" if k == 1 else f"{k}-inductive"
            with_lemmas = f" together with {len(lemmas)} lemma{'s'[: len(lemmas) > 1]}" if lemmas else ""
            return problem.proven(f"{problem.scope}; {method}{with_lemmas}", k=k)
    tried = "not shown inductive" if depth == 1 else f"not shown k-inductive for k up to {depth}"
    return problem.unknown(f"{tried}; {problem.first_states(depth - 1)}", induction.explanation())


def bounded(
    configuration: Configuration,
    property: Property,
    *,
    depth: int,
    timeout_seconds: float = 30.0,
    rlimit: int | None = None,
) -> Result:
    """All runs of at most ``depth`` steps, shortest first, so that the run found is a shortest one.

    UNKNOWN when there is none: nothing is claimed of longer runs, unless every run ends before.

    Raises:
        ModelError: as :func:`prove_inductive`.
    """
    if depth < 0:
        raise ModelError(f"prove: a search of {depth} steps is impossible; give a depth of 0 or more.")
    problem = Problem(configuration, property, (), Effort(timeout_seconds, rlimit))
    search = Search(problem)
    for _ in range(depth + 1):
        finding = search.advance()
        if finding is not None:
            return problem.result_of(finding)
    if search.is_over():
        return problem.result_of(Ended(depth))
    return problem.unknown(problem.first_states(depth), "", depth=depth)


