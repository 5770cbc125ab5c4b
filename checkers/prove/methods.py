"""Prove: properties for all runs at once by Z3, or for all runs up to a printed depth.

Three ways, from the strongest claim to the weakest:

* :func:`prove_inductive`: the property holds at the start and every action preserves it;
* :func:`k_induction`: it holds in the first k states of every run, and after any k states in a row where it holds;
* :func:`bounded` model checking: it holds in the first states of every run, up to a depth.

:func:`prove` tries them in this order. Only the first two, or a bounded search that shows that every run ends, answer
HOLDS for an ALWAYS property: a bounded search without a counterexample is UNKNOWN, with the depth in its bounds.

What a proof rests on. A proof may assume that variables are inside their declared domains, since a write outside is an
error of the machine; so it must also show that no write leaves them. A write that is not shown to stay inside makes the
verdict UNKNOWN; one that leaves it on a replayed run raises :class:`ModelError`, as it does in every engine. Lemmas are
ALWAYS properties that are proven in the same induction, never assumed; a false lemma makes the verdict UNKNOWN, for it
says nothing about the property.

If induction fails, lemmas are searched (``lemmas.py``).

A SOMETIMES property is the negation of an ALWAYS one: a run that reaches it is its witness (HOLDS), a proof that no run
does is VIOLATED.

Constants may be ``UNBOUNDED``; a proof is then for every number. Solvers rarely refute such a claim, so counterexamples
are searched with small numbers first; a run for one number refutes the claim for every number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...model.kernel import Configuration, ConfigurationError, ModelError, lower
from ...properties.property import Kind, Property
from ...properties.verdict import Verdict
from ..engines import PROVE
from ..questions import check_question
from ..result import Result
from ..run import counted
from .bounded_search import Search
from .induction import Induction
from .lemmas import find_lemmas
from .problem import Ended, Problem
from .solving import WORK, Effort

SMALL_NUMBERS = (1, 2, 3)
"""Numbers for all unbounded constants with which runs are searched first."""


def prove(
    configuration: Configuration,
    property: Property,
    *,
    lemmas: Sequence[Property] = (),
    induction_depth: int = 3,
    search_depth: int = 10,
    work: int = WORK,
    rlimit: int | None = None,
) -> Result:
    """The strongest answer of induction over up to ``induction_depth`` states and a search of ``search_depth``
    steps.

    If induction fails, lemmas are searched (see ``lemmas.py``), and named in the explanation.

    An unbounded configuration is tried by plain induction, then with small numbers, where runs are found more easily.
    Induction may use half of the remaining ``work``, the search the rest; ``rlimit`` bounds each question. Both are Z3
    resource units, so that the answer is the same on a busy machine.

    Raises:
        ModelError: the machine or the property is written wrongly, or a run writes outside a declared domain.
    """
    check_question(PROVE, configuration, [property], Kind.ALWAYS, Kind.SOMETIMES)
    effort = Effort(work, rlimit)
    if configuration.unbounded:
        # Solvers give up late if a question with quantifiers has no proof, so lemmas are searched after a short
        # attempt.
        first = _attempt(configuration, property, lemmas, effort.part(0.25 if lemmas else 0.02))
        if first.verdict is not Verdict.UNKNOWN:
            return first
        found = _with_found_lemmas(configuration, property, lemmas, effort.part(0.25))
        if found is not None:
            return found
        if not lemmas:
            first = _attempt(configuration, property, (), effort.part(0.25))
            if first.verdict is not Verdict.UNKNOWN:
                return first
        found = _search_small_numbers(configuration, property, search_depth, effort)
        if found is not None:
            return found
    induction = _induction(configuration, property, lemmas, induction_depth, True, effort.part(0.5))
    if induction.verdict is not Verdict.UNKNOWN:
        return induction
    if not configuration.unbounded:
        found = _with_found_lemmas(configuration, property, lemmas, effort.part(0.5))
        if found is not None:
            return found
    search = _search(configuration, property, search_depth, effort)
    if search.verdict is not Verdict.UNKNOWN:
        return search
    return replace(
        search,
        bounds=f"{search.bounds}; {induction.bounds.partition(';')[0]}",
        explanation="\n".join(text for text in (search.explanation, induction.explanation) if text),
    )


def _with_found_lemmas(
    configuration: Configuration, property: Property, known: Sequence[Property], effort: Effort
) -> Result | None:
    """A proof with lemmas that were found; its explanation names them, so that they can be kept."""
    lemmas = find_lemmas(configuration, property, effort, known=known) if property.kind is Kind.ALWAYS else []
    if not lemmas:
        return None
    result = _attempt(configuration, property, [item.property for item in lemmas], effort)
    if result.verdict is not Verdict.HOLDS:
        return None
    found = [item for item in lemmas if item.text]
    told = ["lemmas that were found, each with its predicate, to be kept:"] if found else []
    told.extend(f"    {item.property.statement}\n        {item.text}" for item in found)
    return replace(result, explanation="\n".join(told))


def prove_together(
    configuration: Configuration,
    properties: Sequence[Property],
    *,
    lemmas: Sequence[Property] = (),
    search_depth: int = 10,
    work: int = WORK,
) -> list[Result]:
    """Like :func:`prove`, for several ALWAYS properties: all of them and the lemmas are first tried in one
    induction.

    Properties that this does not prove are then tried one at a time, so that a false one does not spoil the others. A
    lemma may be one of the properties.

    Raises:
        ModelError: as for :func:`prove`.
    """
    effort = Effort(work)
    if len(properties) > 1:
        wanted = _without(properties, *lemmas)
        first, *others = [*wanted, *lemmas]
        problem = Problem(configuration, first, others, effort.part(0.5), properties=len(wanted))
        result, _ = induct(problem, 1, False)
        if result.verdict is Verdict.HOLDS:
            return [replace(result, property=item.id) for item in properties]
    results = []
    for number, item in enumerate(properties):
        rest = _without(lemmas, item)
        share = effort.left // (len(properties) - number)
        result = prove(configuration, item, lemmas=rest, search_depth=search_depth, work=share)
        effort.spend(int(result.figures["work"]))
        results.append(result)
    return results


def _without(properties: Sequence[Property], *left_out: Property) -> list[Property]:
    names = {item.id for item in left_out}
    return [item for item in properties if item.id not in names]


def prove_inductive(
    configuration: Configuration,
    property: Property,
    *,
    lemmas: Sequence[Property] = (),
    work: int = WORK,
    rlimit: int | None = None,
) -> Result:
    """Initial step and inductive step. UNKNOWN names each action that does not preserve the property or a lemma.

    The state shown with it (a counterexample to induction) need not be reachable, so it is never VIOLATED.

    Raises:
        ModelError: the machine or the property is written wrongly, or a first step writes outside a declared domain.
    """
    return _induction(configuration, property, lemmas, 1, False, Effort(work, rlimit))


def k_induction(
    configuration: Configuration,
    property: Property,
    *,
    lemmas: Sequence[Property] = (),
    depth: int,
    simple_path: bool = False,
    work: int = WORK,
    rlimit: int | None = None,
) -> Result:
    """Induction over k = 1, 2, … ``depth`` states in a row; the smallest k that succeeds is printed.

    ``simple_path`` demands that the states in a row differ, which is sound as a shortest run repeats none.

    Raises:
        ModelError: as for :func:`prove_inductive`.
    """
    if depth < 1:
        raise ModelError(f"prove: k-induction over {depth} states is impossible; give a depth of 1 or more.")
    return _induction(configuration, property, lemmas, depth, simple_path, Effort(work, rlimit))


def bounded(
    configuration: Configuration,
    property: Property,
    *,
    depth: int,
    work: int = WORK,
    rlimit: int | None = None,
) -> Result:
    """All runs of at most ``depth`` steps, shortest first, so that the run found is a shortest one.

    UNKNOWN if there is none: nothing is claimed about longer runs, unless every run ends before.

    Raises:
        ModelError: as for :func:`prove_inductive`.
    """
    if depth < 0:
        raise ModelError(f"prove: a search of {depth} steps is impossible; give a depth of 0 or more.")
    effort = Effort(work, rlimit)
    return _search_small_numbers(configuration, property, depth, effort) or _search(
        configuration, property, depth, effort
    )


def _induction(
    configuration: Configuration,
    property: Property,
    lemmas: Sequence[Property],
    depth: int,
    simple_path: bool,
    effort: Effort,
) -> Result:
    result, gave_up = induct(Problem(configuration, property, lemmas, effort), depth, simple_path)
    if not gave_up:
        return result
    hints = _gaps_with_small_numbers(configuration, property, lemmas, effort)
    return replace(result, explanation="\n".join([result.explanation, *hints]))


def _attempt(configuration: Configuration, property: Property, lemmas: Sequence[Property], effort: Effort) -> Result:
    """Plain induction; if it fails nobody reads why, so no hints are looked for."""
    return induct(Problem(configuration, property, lemmas, effort), 1, False)[0]


def induct(problem: Problem, depth: int, simple_path: bool) -> tuple[Result, bool]:
    """The result, and whether it is UNKNOWN because the solver gave up."""
    search = Search(problem)
    induction = Induction(problem, simple_path=simple_path)
    for k in range(1, depth + 1):
        finding = search.advance()
        if finding is not None:
            result = problem.result_of(finding)
            return replace(result, explanation="\n".join([result.explanation, *induction.gaps]).strip()), False
        if induction.succeeds(k):
            method = "inductive" if k == 1 else f"{k}-inductive"
            lemmas = len(problem.claims) - problem.properties
            with_lemmas = f" together with {counted(lemmas, 'lemma')}" if lemmas else ""
            return problem.proven(f"{problem.scope}; {method}{with_lemmas}", k=k), False
        if induction.solver_gave_up:
            break
    tried = "not shown inductive" if k == 1 else f"not shown k-inductive for k up to {k}"
    result = problem.unknown(f"{tried}; {problem.first_states(k - 1)}", "\n".join(induction.gaps))
    return result, induction.solver_gave_up


def _search(configuration: Configuration, property: Property, depth: int, effort: Effort) -> Result:
    problem = Problem(configuration, property, (), effort)
    search = Search(problem)
    for _ in range(depth + 1):
        finding = search.advance()
        if finding is not None:
            return problem.result_of(finding)
    if search.is_over():
        return problem.result_of(Ended(depth))
    return problem.unknown(problem.first_states(depth), "", depth=depth)


def _search_small_numbers(
    configuration: Configuration, property: Property, depth: int, effort: Effort
) -> Result | None:
    """A run that decides an unbounded configuration, found with small constants; None if there is none."""
    for small in _small_configurations(configuration):
        result = _search(small, property, depth, effort.part(0.25))
        if result.run is not None:
            return replace(result, bounds=f"{result.bounds}; found for {small}")
    return None


def _gaps_with_small_numbers(
    configuration: Configuration, property: Property, lemmas: Sequence[Property], effort: Effort
) -> list[str]:
    """Where the inductive step fails with small numbers: a hint at why the solver did not find the general proof."""
    for small in _small_configurations(configuration):
        problem = Problem(small, property, lemmas, effort)
        induction = Induction(problem, simple_path=False)
        if not induction.succeeds(1):
            return [f"{small}: {gap}" for gap in induction.gaps]
    return []


def _small_configurations(configuration: Configuration) -> list[Configuration]:
    if not configuration.unbounded:
        return []
    machine = configuration.machine
    found = []
    for number in SMALL_NUMBERS:
        constants = dict(configuration.constants)
        constants.update({name: machine.constants[name].nearest(number) for name in configuration.unbounded})
        try:
            small = machine.configure(**constants)
            lower(small)
        except (ConfigurationError, ModelError):
            continue  # such a number is too small or too large for this machine
        if small not in found:
            found.append(small)
    return found
