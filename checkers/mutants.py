"""Mutants: every known bug is put into the model in turn, and the property that must notice it is judged.

A mutant is *killed* if its property is violated with it, by a run that was replayed, and holds without it in the same
configuration. If a limit was reached, the result is unknown, and never counts as survived. Something that looks like a
bug but is none must be *explained*: the naive property is violated in the correct machine, and the exact one holds
there.
"""

from __future__ import annotations

import enum
import importlib
import pkgutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .. import model
from ..model.kernel import (
    Configuration,
    Explanation,
    Machine,
    ModelError,
    Mutant,
    Predicate,
    Rule,
    nearest,
    readable,
)
from ..model.kernel.native import CodeCache
from ..properties.claim import Claim
from ..properties.property import Kind, Property
from ..properties.theorem import Theorem
from ..properties.verdict import Verdict
from .engines import OF_RUNS
from .exploration import Limits
from .explore import explore
from .known_bugs import KNOWN_BUGS, LEFT_OUT, in_order, known_id
from .liveness import check_all_eventually
from .result import Result
from .suite import Row
from .theorems import prove_theorem

USUAL_LIMITS = Limits(states=30_000_000)
"""Limits for each search: in states and not in seconds, so that the answer is the same on a busy machine."""


class Status(enum.StrEnum):
    """What became of an entry. The first three are as they should be.

    KILLED: its property notices it. EXPLAINED: the naive property fails without any bug, and the exact one holds.
        LEFT_OUT: the model cannot express it. SURVIVED: the property holds nevertheless (or the naive one does).
        CANNOT_TELL: the property is also violated without the bug (or the exact one is). UNKNOWN: a limit was reached.
        MISSING: nothing is declared.
    """

    KILLED = "killed"
    EXPLAINED = "explained"
    LEFT_OUT = "left out"
    SURVIVED = "survived"
    CANNOT_TELL = "cannot tell"
    UNKNOWN = "unknown"
    MISSING = "missing"


AS_EXPECTED = (Status.KILLED, Status.EXPLAINED, Status.LEFT_OUT)


@dataclass(frozen=True, kw_only=True)
class MachineMutant:
    """A mutant of a machine, with the property that must kill it and the others that are claimed about the machine."""

    machine: Machine
    mutant: Mutant
    killer: Property
    others: tuple[Property, ...] = ()

    @property
    def id(self) -> str:
        """Id of the mutant."""
        return self.mutant.id


@dataclass(frozen=True, kw_only=True)
class RuleMutant:
    """A mutant of a rule, with the theorem that must kill it, and all theorems."""

    rule: Rule[..., Any]
    mutant: Mutant
    theorem: Theorem
    theorems: tuple[Theorem, ...] = ()

    @property
    def id(self) -> str:
        """Id of the mutant."""
        return self.mutant.id


@dataclass(frozen=True, kw_only=True)
class Surprise:
    """An explanation of a machine, with its two properties."""

    machine: Machine
    explanation: Explanation
    naive: Property
    exact: Property

    @property
    def id(self) -> str:
        """Id of the known surprise."""
        return self.explanation.id


@dataclass(frozen=True, kw_only=True)
class Undeclared:
    """A known bug that cannot be tried."""

    id: str
    slug: str  # what goes wrong
    status: Status  # LEFT_OUT; or MISSING if there is no mutant, or no claim has the property that it names
    reason: str  # why


Entry: TypeAlias = MachineMutant | RuleMutant | Surprise | Undeclared


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What became of an entry."""

    entry: Entry  # what was tried
    status: Status  # the answer
    # what the engine found with the bug in place; for an explanation, about the naive property
    mutated: Result | None = None
    original: Result | None = None  # what it found without the bug; for an explanation, about the exact property
    seconds: float = 0.0  # time for both
    # the reason if there are no results: an error of the mutated text, or why the bug is left out
    explanation: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether nothing needs to be fixed."""
        return self.status in AS_EXPECTED


def slug_of(entry: Entry) -> str:
    """What goes wrong, in a few words joined by hyphens."""
    match entry:
        case MachineMutant() | RuleMutant():
            return entry.mutant.slug
        case Surprise():
            return entry.explanation.slug
        case Undeclared():
            return entry.slug


def entries(rows: Iterable[Row], rules: Iterable[Rule[..., Any]] | None = None) -> list[Entry]:
    """All entries, in the order of their ids: what the machines and rules declare, and the known bugs without a
    mutant.

    Args:
        rows: the catalogue: its claims say which machines there are and what is claimed about them, its theorems what
            is claimed about rules.
        rules: the rules; None for all of the model.

    Raises:
        ModelError: one id is declared twice.
    """
    subjects = [row.subject for row in rows]
    claims = [subject for subject in subjects if isinstance(subject, Claim)]
    theorems = {subject.id: subject for subject in subjects if isinstance(subject, Theorem)}
    found: dict[str, Entry] = {}
    for entry in (*_of_machines(claims), *_of_rules(all_rules() if rules is None else rules, theorems)):
        if entry.id in found:
            raise ModelError(f"{entry.id} is declared twice; call one of them {entry.id}-… and some words.")
        found[entry.id] = entry
    declared = {known_id(name) for name in found}
    for name, slug in KNOWN_BUGS.items():
        if name not in declared and name in LEFT_OUT:
            found[name] = Undeclared(id=name, slug=slug, status=Status.LEFT_OUT, reason=LEFT_OUT[name])
        elif name not in declared:
            found[name] = Undeclared(id=name, slug=slug, status=Status.MISSING, reason="no mutant is declared for it")
    return sorted(found.values(), key=lambda entry: in_order(entry.id))


def all_rules() -> Iterator[Rule[..., Any]]:
    """Every rule that some module of the model declares, each once."""
    seen: set[int] = set()
    for module in pkgutil.walk_packages(model.__path__, f"{model.__name__}."):
        for item in vars(importlib.import_module(module.name)).values():
            if isinstance(item, Rule) and id(item) not in seen:
                seen.add(id(item))
                yield item


@dataclass
class Trials:
    """Runs engines on machines with and without a bug; answers about the latter are kept, as they are needed often."""

    limits: Limits = USUAL_LIMITS  # limits of each search
    cache: CodeCache | None = None  # keeps compiled code between runs
    _known: dict[object, Result] = field(default_factory=dict)

    def answer(self, entry: Entry) -> Answer:
        """Try one entry."""
        started = time.perf_counter()
        if isinstance(entry, Undeclared):
            return Answer(entry=entry, status=entry.status, explanation=entry.reason)
        try:
            mutated, original = self._both(entry)
        except ModelError as error:
            told = f"the text of the mutant is wrong: {error}"
            return Answer(entry=entry, status=Status.UNKNOWN, seconds=time.perf_counter() - started, explanation=told)
        return Answer(
            entry=entry,
            status=_status(entry, mutated.verdict, original.verdict),
            mutated=mutated,
            original=original,
            seconds=time.perf_counter() - started,
        )

    def _both(self, entry: MachineMutant | RuleMutant | Surprise) -> tuple[Result, Result]:
        match entry:
            case MachineMutant():
                machine = entry.machine.mutated(entry.id)
                if not about(machine.configure(**entry.mutant.wrong_constants), [entry.killer]):
                    raise ModelError(f"{entry.killer.id} speaks of something that does not exist in its configuration.")
                (mutated,) = self.check(machine, entry.mutant.wrong_constants, [entry.killer], stop_early=True)
                (original,) = self.original(entry.machine, entry.mutant.constants, [entry.killer])
            case RuleMutant():
                with entry.rule.mutated(entry.id):
                    mutated = prove_theorem(entry.theorem)
                original = self.original_theorem(entry.theorem)
            case Surprise():
                constants = entry.explanation.constants
                (mutated,) = self.original(entry.machine, constants, [entry.naive])
                (original,) = self.original(entry.machine, constants, [entry.exact])
        return mutated, original

    def check(
        self,
        machine: Machine,
        constants: Mapping[str, int | str],
        properties: Sequence[Property],
        *,
        stop_early: bool = False,
    ) -> list[Result]:
        """Judge properties of one configuration: those about states by one search, those about whole runs by
        another.

        Raises:
            ModelError: a text is written wrongly, or a step leaves the declared domains.
        """
        configuration = machine.configure(**constants)
        about_states = [item for item in properties if item.kind not in OF_RUNS]
        found: dict[str, Result] = {}
        if about_states:
            results: Sequence[Result] = explore(
                configuration,
                about_states,
                limits=self.limits,
                stop_when_decided=stop_early,
                threads=1,
                idle_actions_allowed=True,
                cache=self.cache,
            ).results
            found.update((item.id, result) for item, result in zip(about_states, results, strict=True))
        about_runs = [item for item in properties if item.kind in OF_RUNS]
        if about_runs:
            results = check_all_eventually(configuration, about_runs, limits=self.limits, cache=self.cache)
            found.update((item.id, result) for item, result in zip(about_runs, results, strict=True))
        return [found[item.id] for item in properties]

    def original(
        self, machine: Machine, constants: Mapping[str, int | str], properties: Sequence[Property]
    ) -> list[Result]:
        """Like :meth:`check`, for a machine without a bug; answers that are known already are not computed again."""
        where = machine.name, tuple(sorted(constants.items()))
        new = [item for item in properties if (where, item.id) not in self._known]
        for item, result in zip(new, self.check(machine, constants, new), strict=True):
            self._known[where, item.id] = result
        return [self._known[where, item.id] for item in properties]

    def original_theorem(self, theorem: Theorem) -> Result:
        """The proof of a theorem about the rules as they are."""
        if theorem.id not in self._known:
            self._known[theorem.id] = prove_theorem(theorem)
        return self._known[theorem.id]


def about(configuration: Configuration, properties: Sequence[Property]) -> list[Property]:
    """The properties that refer only to things that exist in a configuration."""
    texts: dict[str, Predicate] = {item.id: item.holds for item in properties}
    triggers = {item.id: item.after for item in properties if item.after is not None}
    possible = readable(configuration, texts)
    possible -= triggers.keys() - readable(configuration, triggers)
    return [item for item in properties if item.id in possible]


def _status(entry: Entry, mutated: Verdict, original: Verdict) -> Status:
    if original is Verdict.VIOLATED:
        return Status.CANNOT_TELL
    if mutated is Verdict.HOLDS:
        return Status.SURVIVED
    if mutated is Verdict.VIOLATED and original is Verdict.HOLDS:
        return Status.EXPLAINED if isinstance(entry, Surprise) else Status.KILLED
    return Status.UNKNOWN


def _claimed(claims: Sequence[Claim], machine: Machine) -> dict[str, Property]:
    """The properties claimed about a machine, by id."""
    return {claim.property.id: claim.property for claim in claims if claim.machine.name == machine.name}


def _of_machines(claims: Sequence[Claim]) -> Iterator[Entry]:
    """The mutants and explanations of all machines, each of them once, though parts occur in several machines.

    Each belongs to the first of those machines for which its property is claimed.
    """
    machines = list({claim.machine.name: claim.machine for claim in claims}.values())
    for name in dict.fromkeys(name for machine in machines for name in machine.mutants):
        holders = [machine for machine in machines if name in machine.mutants]
        mutant = holders[0].mutants[name]
        home = _home(holders, claims, mutant.killed_by)
        if home is None:
            yield _unclaimed(name, mutant.slug, holders, claims, mutant.killed_by)
        else:
            yield _machine_mutant(home, mutant, claims)
    for name in dict.fromkeys(name for machine in machines for name in machine.explanations):
        holders = [machine for machine in machines if name in machine.explanations]
        told = holders[0].explanations[name]
        home = _home(holders, claims, told.naive, told.exact)
        if home is None:
            yield _unclaimed(name, told.slug, holders, claims, told.naive, told.exact)
        else:
            known = _claimed(claims, home)
            yield Surprise(machine=home, explanation=told, naive=known[told.naive], exact=known[told.exact])


def _of_rules(rules: Iterable[Rule[..., Any]], theorems: Mapping[str, Theorem]) -> Iterator[Entry]:
    for rule in rules:
        for mutant in rule.mutants.values():
            if mutant.killed_by in theorems:
                theorem = theorems[mutant.killed_by]
                yield RuleMutant(rule=rule, mutant=mutant, theorem=theorem, theorems=tuple(theorems.values()))
            else:
                reason = f"there is no theorem {mutant.killed_by!r}.{_near(mutant.killed_by, theorems)}"
                yield Undeclared(id=mutant.id, slug=mutant.slug, status=Status.MISSING, reason=reason)


def _home(holders: Sequence[Machine], claims: Sequence[Claim], *properties: str) -> Machine | None:
    for machine in holders:
        known = _claimed(claims, machine)
        if all(item in known for item in properties):
            return machine
    return None


def _unclaimed(
    name: str, slug: str, holders: Sequence[Machine], claims: Sequence[Claim], *properties: str
) -> Undeclared:
    known = {item for machine in holders for item in _claimed(claims, machine)}
    missing = next((item for item in properties if item not in known), properties[0])
    where = " or ".join(machine.name for machine in holders)
    reason = f"no property {missing!r} is claimed of {where}.{_near(missing, known)}"
    return Undeclared(id=name, slug=slug, status=Status.MISSING, reason=reason)


def _near(name: str, possible: Iterable[str]) -> str:
    return nearest(name, possible).partition(" Possible:")[0]


def _machine_mutant(machine: Machine, mutant: Mutant, claims: Sequence[Claim]) -> MachineMutant:
    promised = {
        claim.property.id: claim.property
        for claim in claims
        if claim.machine.name == machine.name
        and claim.expected is Verdict.HOLDS
        and claim.property.kind is not Kind.SOMETIMES
        and claim.property.id != mutant.killed_by
    }
    killer = _claimed(claims, machine)[mutant.killed_by]
    return MachineMutant(machine=machine, mutant=mutant, killer=killer, others=tuple(promised.values()))
