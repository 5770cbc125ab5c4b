"""Lemmas that are found: before a proof is given up, statements that hold in small cases and preserve themselves are
tried.

Houdini (Flanagan and Leino, 2001) over clauses of up to three facts about one element of each domain, such as "stage[r]
is not ABORTED, or not prepared_sent[r], or abort_sent". Clauses that fail in a reachable state of a small configuration
are left out at once, and so are those that a shorter one implies; from the others Z3 removes, until nothing changes,
whatever some action does not preserve. The result is only a suggestion: the ordinary induction proves it. No lemmas are
searched if a reachable state of a small configuration contradicts the property itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from ...model.kernel import (
    BoolLike,
    Configuration,
    ConfigurationError,
    Instance,
    ModelError,
    Predicate,
    State,
    any_of,
    lower,
    not_,
    same,
)
from ...model.kernel.domains import Domain
from ...model.kernel.frame import Frame
from ...model.kernel.lowered import Family
from ...model.kernel.plain import PlainMachine, evaluator
from ...properties.property import Kind, Property
from .problem import TRUE, Problem
from .solving import Effort, Solver

SMALL = (1, 2, 3)
"""Numbers for unbounded constants with which clauses are tried on all reachable states."""
_MOST_STATES = 3_000
_MOST_VALUES = 5
_MOST_CLAUSES = 400
_MOST_QUESTIONS = 3_000
_MOST_FACTS = {1: 400, 2: 400, 3: 80}
_SHARE = 0.02
_PROPERTY = "the property"

Place = dict[str, Any]
"""Name of a domain → the element that a clause is about."""


@dataclass(frozen=True)
class _Fact:
    """Something that one variable may say: that it is true, or that it has, or has not, a value.

    Attributes:
        variable: its name.
        words, text: what it says, for people and as Python.
        domains: names of the domains that index the variable.
        holds: whether it is true, at elements of the domains.
    """

    variable: str
    words: str
    text: str
    domains: tuple[str, ...]
    holds: Callable[[State, Place], BoolLike]


@dataclass(frozen=True)
class Lemma:
    """A property that helps to prove another one; ``text`` is its predicate as Python code, for reuse."""

    property: Property
    text: str


def find_lemmas(
    configuration: Configuration, property: Property, effort: Effort, *, known: Sequence[Property] = ()
) -> list[Lemma]:
    """ALWAYS properties with which ``property`` is inductive, as few as are needed; none if they are not found.

    The ``known`` ones are tried as lemmas besides the clauses, such as the other properties of the machine.
    """
    problem, lemmas = _preserved_together(configuration, property, effort, known)
    if problem is None:
        return []
    kept = [item.property.id for item in lemmas]
    if not _preserved(problem, _solver(problem, [property.id, *kept]), property.id):
        return []
    needed = _needed(problem, kept)
    return [item for item in lemmas if item.property.id in needed]


def find_invariants(configuration: Configuration, effort: Effort, *, known: Sequence[Property] = ()) -> list[Lemma]:
    """All clauses, and all of the ``known`` properties, that preserve each other, whatever they may be needed for."""
    return _preserved_together(configuration, TRUE, effort, known)[1]


def _preserved_together(
    configuration: Configuration, property: Property, effort: Effort, known: Sequence[Property]
) -> tuple[Problem | None, list[Lemma]]:
    """The candidates that preserve each other, given the property, and the problem in which they are written."""
    domains, facts = _facts(configuration)
    clauses = _true_in_small_cases(configuration, property, domains, facts)
    if clauses is None:
        return None, []
    lemmas = [*(Lemma(item, "") for item in known), *(_lemma(clause, domains) for clause in clauses)]
    if not lemmas:
        return None, []
    problem = Problem(configuration, property, [item.property for item in lemmas], effort)
    kept = set(_houdini(problem, [item.property.id for item in lemmas]))
    return problem, [item for item in lemmas if item.property.id in kept]


def _facts(configuration: Configuration) -> tuple[dict[str, type[Domain]], list[_Fact]]:
    frame = Frame(configuration)
    domains: dict[str, type[Domain]] = {}
    facts: list[_Fact] = []
    for family in frame.families.values():
        kinds = [*family.variable.domains]
        if family.member_of is not None:
            kinds.append(family.variable.kind.domain)  # type: ignore[union-attr]  # of a SetOf
        names = tuple(kind.__name__ for kind in kinds)
        if len(set(names)) < len(names) or not (family.is_bool or _few(family)):
            continue
        domains.update(zip(names, kinds, strict=True))
        facts.extend(_facts_of(family, names))
    return domains, facts


def _few(family: Family) -> bool:
    return family.high is not None and family.high - family.low < _MOST_VALUES


def _facts_of(family: Family, names: tuple[str, ...]) -> Iterator[_Fact]:
    shown = f"{family.name}[{', '.join(dim.label for dim in family.dims)}]" if names else family.name
    text = _access(family)

    def value(s: State, place: Place) -> Any:
        found = getattr(s, family.name)
        members = names[:-1] if family.member_of is not None else names
        if members:
            found = found[tuple(place[name] for name in members)]
        return found.has(place[names[-1]]) if family.member_of is not None else found

    if family.is_bool:
        yield _Fact(family.name, shown, text, names, value)
        yield _Fact(family.name, f"not {shown}", f"not_({text})", names, lambda s, place: not_(value(s, place)))
        return
    assert family.high is not None
    for number in range(family.low, family.high + 1):
        told = family.show(number)
        named = f"{family.enumeration.__name__}.{told}" if family.enumeration is not None else told

        def has(s: State, place: Place, number: int = number) -> BoolLike:
            return same(value(s, place), number)

        def has_not(s: State, place: Place, number: int = number) -> BoolLike:
            return not_(same(value(s, place), number))

        yield _Fact(family.name, f"{shown} is {told}", f"{text} == {named}", names, has)
        yield _Fact(family.name, f"{shown} is not {told}", f"{text} != {named}", names, has_not)


def _access(family: Family) -> str:
    """How a text reads a variable, with the labels of its domains as names of elements."""
    labels = [dim.label for dim in family.dims]
    members = labels[:-1] if family.member_of is not None else labels
    read = f"s.{family.name}[{', '.join(members)}]" if members else f"s.{family.name}"
    return f"{read}.has({labels[-1]})" if family.member_of is not None else read


def _true_in_small_cases(
    configuration: Configuration, property: Property, domains: dict[str, type[Domain]], facts: Sequence[_Fact]
) -> list[tuple[_Fact, ...]] | None:
    """The shortest clauses that hold in all reachable states of small cases; None if the property itself does not."""
    masks = [0] * len(facts)
    samples = 0
    for small in _small(configuration):
        for holds, row in _samples(small, property, domains, facts):
            if not holds:
                return None
            for number, truth in enumerate(row):
                masks[number] |= truth << samples
            samples += 1
    everywhere = (1 << samples) - 1
    found: list[tuple[int, ...]] = []
    for size, most in _MOST_FACTS.items():
        if len(facts) > most:
            break
        for clause in itertools.combinations(range(len(facts)), size):
            if len({facts[number].variable for number in clause}) < size:
                continue
            mask = 0
            for number in clause:
                mask |= masks[number]
            if mask == everywhere and not any(set(shorter) <= set(clause) for shorter in found):
                found.append(clause)
                if len(found) == _MOST_CLAUSES:
                    break
    return [tuple(facts[number] for number in clause) for clause in found] if samples else []


def _small(configuration: Configuration) -> Iterator[Configuration]:
    machine = configuration.machine
    for number in SMALL if configuration.unbounded else (0,):
        constants = dict(configuration.constants)
        constants.update({name: machine.constants[name].nearest(number) for name in configuration.unbounded})
        try:
            small = machine.configure(**constants)
            if lower(small).is_finite:
                yield small
        except (ConfigurationError, ModelError):
            continue  # too small or too large for this machine


def _samples(
    configuration: Configuration, property: Property, domains: dict[str, type[Domain]], facts: Sequence[_Fact]
) -> Iterator[tuple[bool, tuple[int, ...]]]:
    """For reachable states and elements of the domains, whether the property is true, and which facts are."""
    frame = Frame(configuration)
    sizes = [range(frame.elements(domain).size) for domain in domains.values()]
    places = [dict(zip(domains, choice, strict=True)) for choice in itertools.product(*sizes)]
    if len(places) * len(facts) > _MOST_QUESTIONS:
        return
    predicates: dict[str, Predicate] = {_PROPERTY: property.holds}
    predicates.update(
        (f"{number} {place}", lambda s, fact=fact, at=at: fact.holds(s, at))  # type: ignore[misc]
        for place, at in enumerate(places)
        for number, fact in enumerate(facts)
    )
    lowered = lower(configuration, predicates)
    truths = evaluator(lowered, [predicate.term for predicate in lowered.predicates.values()])
    machine = PlainMachine(lowered)
    seen, waiting = {machine.initial}, [machine.initial]
    for state in waiting:
        holds, *values = truths(state)
        for place in range(len(places)):
            yield bool(holds), tuple(values[place * len(facts) : (place + 1) * len(facts)])
        for _, following in machine.successors(state):
            if following not in seen and len(seen) < _MOST_STATES:
                seen.add(following)
                waiting.append(following)


def _lemma(clause: tuple[_Fact, ...], domains: dict[str, type[Domain]]) -> Lemma:
    wanted = [name for name in domains if any(name in fact.domains for fact in clause)]

    def holds(s: State, names: Sequence[str] = tuple(wanted), place: Place | None = None) -> BoolLike:
        at = place or {}
        if not names:
            return any_of(fact.holds(s, at) for fact in clause)
        first, *rest = names
        return s.forall(domains[first], lambda item: holds(s, tuple(rest), {**at, first: item}))

    words = ", or ".join(fact.words for fact in clause)
    text = clause[0].text if len(clause) == 1 else f"any_of({', '.join(fact.text for fact in clause)})"
    for name in reversed(wanted):
        text = f"s.forall({name}, lambda {domains[name].label}: {text})"
    property = Property(id=words, statement=f"Always {words}.", kind=Kind.ALWAYS, holds=lambda s: holds(s))
    return Lemma(property, f"lambda s: {text}")


def _houdini(problem: Problem, names: Sequence[str]) -> list[str]:
    """The largest subset of ``names`` that preserves itself, given the property."""
    kept = list(names)
    while True:
        solver = _solver(problem, [problem.property.id, *kept])
        lost = {name for name in kept if not _preserved(problem, solver, name)}
        if not lost:
            return kept
        kept = [name for name in kept if name not in lost]


def _solver(problem: Problem, given: Iterable[str]) -> Solver:
    """A solver for a state inside the domains, in which ``given`` holds."""
    solver = problem.new_solver()
    solver.add(*problem.lowered.assumptions, problem.transition.domain(0))
    solver.add(*(problem.transition.says(name, 0, truth=True) for name in given))
    return solver


def _preserved(problem: Problem, solver: Solver, name: str) -> bool:
    """Whether every action preserves ``name`` in the states that a solver describes."""
    for instance, fails in _obligations(problem, name):
        solver.push()
        solver.add(problem.transition.taken(0, instance), fails)
        answer = problem.effort.ask(solver, share=_SHARE, models=False)
        solver.pop()
        if answer != z3.unsat:
            return False
    return True


def _obligations(problem: Problem, name: str) -> Iterator[tuple[Instance, Any]]:
    for instance in problem.lowered.instances:
        fails = problem.transition.says_after(name, 0, instance, truth=False)
        if fails is not None:
            yield instance, fails


def _needed(problem: Problem, kept: Sequence[str]) -> list[str]:
    """A sufficient subset of ``kept``: what the property rests on, what these rest on, and so on."""
    needed: dict[str, None] = {}
    waiting = [problem.property.id]
    while waiting:
        name = waiting.pop()
        rest = [item for item in kept if item != name]
        for instance, fails in _obligations(problem, name):
            solver = _solver(problem, dict.fromkeys([problem.property.id, name]))
            solver.add(problem.transition.taken(0, instance), fails)
            facts = {item: problem.transition.says(item, 0, truth=True) for item in rest}
            core = problem.effort.core(solver, facts, share=_SHARE)
            for item in facts if core is None else sorted(core, key=kept.index):
                if item not in needed:
                    needed[item] = None
                    waiting.append(item)
    return [item for item in kept if item in needed]
