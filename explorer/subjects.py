"""What can be explored by name: machines, presets, properties and known bugs, each a configuration with its claims."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import z3

from ..checkers.catalogue import all_rows
from ..checkers.mutants import Entry as KnownBug
from ..checkers.mutants import MachineMutant, Surprise, entries
from ..model.assignment import roomy_assignment
from ..model.kernel import Configuration, ConfigurationError, Machine, nearest, readable
from ..model.kernel.lowered import Lowered
from ..model.presets import PRESETS
from ..properties.claim import Claim
from ..properties.presets import preset_claims
from ..properties.verdict import Verdict
from .model_data import Data, model_data, traced_with
from .page import Entry

Constants = Mapping[str, int | str]


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A configuration to explore.

    Attributes:
        id: the name that the user gave.
        title, doc: for the page.
        claims: claims about this very configuration.
        others: claims about other configurations of the machine, which may not hold here.
        hunt: id of the property of interest; empty if there is none.
        note: its status in the catalogue.
    """

    id: str
    title: str
    doc: str
    configuration: Configuration
    claims: tuple[Claim, ...] = ()
    others: tuple[Claim, ...] = ()
    hunt: str = ""
    note: str = ""


def subject(name: str, constants: Constants | None = None) -> Subject:
    """The machine, preset, property or known bug with a name, with some constants changed, and every claim that applies
    to it.

    Raises:
        ConfigurationError: there is nothing with that name, or a constant is not possible.
    """
    return _with_others(named(name, constants))


def named(name: str, constants: Constants | None = None) -> Subject:
    """Like :func:`subject`, with only the claims about this very configuration: faster for configurations with many
    queues.

    Raises:
        ConfigurationError: there is nothing with that name, or a constant is not possible.
    """
    changes = dict(constants or {})
    machines = known_machines()
    presets = {preset.name: preset for preset in PRESETS}
    claims = {claim.property.id: claim for claim in reversed(_finite_claims())}
    if name in presets:
        preset = presets[name]
        configuration = _stepped(preset.machine, {**preset.constants, **changes})
        own = tuple(preset_claims(preset))
        return Subject(id=name, title=name, doc=preset.doc, configuration=configuration, claims=own)
    if name.replace("-", "_") in machines:
        configuration = _stepped(machines[name.replace("-", "_")], changes)
        title = configuration.brief()
        return Subject(id=name, title=title, doc=configuration.machine.doc, configuration=configuration)
    if name in claims:
        return of_claim(claims[name], changes)
    bugs = {bug.id: bug for bug in entries(all_rows())}
    if name in bugs:
        return of_bug(bugs[name], changes)
    bug = bugs.get(name.partition("~")[2])
    if isinstance(bug, MachineMutant) and name == f"{bug.machine.name}~{bug.id}":
        # A machine with a bug in it, as pages and copied tests name it: constants are given relative to the usual ones.
        found = of_bug(bug)
        configuration = found.configuration.machine.configure(**changes)
        return replace(found, id=name, configuration=configuration)
    if any(row.id == name for row in all_rows()):
        raise ConfigurationError(
            f"{name} is no property of a finite machine, so there is nothing to step through; verify {name} tells it."
        )
    possible = [*presets, *machines, *claims, *bugs]
    raise ConfigurationError(
        f"there is no machine, preset, property, known bug or file {name!r}.{nearest(name, possible)} "
        f"Presets are {', '.join(presets)}; 'verify --list' shows properties, 'mutants --list' known bugs."
    )


def is_known(name: str) -> bool:
    """Whether there is a machine, preset, property or known bug with that name."""
    try:
        named(name)
    except ConfigurationError:
        return False
    return True


def _stepped(machine: Machine, constants: Constants) -> Configuration:
    """A configuration for runs that are stepped through, which may be larger than one that is searched."""
    given = roomy_assignment if machine.name == roomy_assignment.name else machine
    return given.configure(**constants)


def of_claim(claim: Claim, changes: Constants | None = None) -> Subject:
    """The configuration that a claim is about."""
    configuration = _stepped(claim.machine, {**claim.constants, **(changes or {})})
    return Subject(
        id=claim.property.id,
        title=claim.property.id,
        doc=claim.property.statement,
        configuration=configuration,
        claims=(claim,),
        hunt=claim.property.id,
        note="an expected finding" if claim.expected is Verdict.VIOLATED else "",
    )


def of_bug(bug: KnownBug, changes: Constants | None = None) -> Subject:
    """The configuration in which a known bug shows.

    Raises:
        ConfigurationError: it is no bug of a machine.
    """
    match bug:
        case MachineMutant():
            machine, killer = bug.machine.mutated(bug.id), bug.killer
            constants: Constants = bug.mutant.wrong_constants
            doc, slug = bug.mutant.doc, bug.mutant.slug
        case Surprise():
            machine, constants, killer = bug.machine, bug.explanation.constants, bug.naive
            doc, slug = bug.explanation.doc, bug.explanation.slug
        case _:
            raise ConfigurationError(f"{bug.id} is no bug of a machine, so there is nothing to step through.")
    configuration = machine.configure(**{**constants, **(changes or {})})
    claim = Claim(property=killer, machine=machine, constants=constants, lesson=" ".join(doc.split()))
    return Subject(
        id=bug.id,
        title=f"{bug.id} {slug}",
        doc=" ".join(doc.split()),
        configuration=configuration,
        claims=(claim,),
        hunt=killer.id,
        note="a known bug",
    )


def known_machines() -> dict[str, Machine]:
    """Every machine of the catalogue and the presets, by name."""
    found = {claim.machine.name: claim.machine for claim in _finite_claims()}
    return {**found, **{preset.machine.name: preset.machine for preset in PRESETS}}


def data_of(given: Subject, *, rules: Mapping[str, tuple[str, str]] | None = None) -> tuple[Lowered, Data]:
    """The configuration as terms, and in the form that the page reads.

    Raises:
        ModelError: the configuration is infinite.
    """
    lowered = traced_with(given.configuration, [*given.claims, *given.others])
    # A claim that refers to nothing in this configuration has the same value in every state, and would only distract.
    others = [claim for claim in given.others if not _known(lowered.predicates[claim.property.id].term)]
    data = model_data(lowered, [*given.claims, *others], rules=rules)
    for told in data["properties"][len(given.claims) :]:
        told["elsewhere"] = True
    return lowered, data


def entry_of(
    given: Subject,
    *,
    rules: Mapping[str, tuple[str, str]] | None = None,
    steps: Iterable[str] | None = None,
    loop: int | None = None,
) -> Entry:
    """The configuration as an entry of a page, possibly with a run."""
    _, data = data_of(given, rules=rules)
    return Entry(
        id=given.id,
        title=given.title,
        doc=given.doc,
        data=data,
        steps=None if steps is None else list(steps),
        loop=loop,
        hunt=given.hunt,
        note=given.note,
    )


def _known(term: object) -> bool:
    simple = z3.simplify(term)
    return bool(z3.is_true(simple) or z3.is_false(simple))


@functools.cache
def _finite_claims() -> tuple[Claim, ...]:
    """Claims of the catalogue about finite configurations."""
    subjects = [row.subject for row in all_rows()]
    claims = [item for item in subjects if isinstance(item, Claim)]
    return tuple(claim for claim in claims if not claim.machine.configure(**claim.constants).unbounded)


def command_for(claim: Claim) -> str:
    """The command that opens the configuration of a claim; empty for a claim that is not in the catalogue."""
    known = next((each for each in _finite_claims() if each.property.id == claim.property.id), None)
    if known is None or known.machine.name != claim.machine.name:
        return ""
    usual = known.machine.configure(**known.constants).constants
    here = claim.machine.configure(**claim.constants).constants
    changed = " ".join(f"{name}={value}" for name, value in here.items() if usual[name] != value)
    return f"rocketproof explore {claim.property.id}{f' --set {changed}' if changed else ''}"


def claims_about(machine: Machine) -> dict[str, Claim]:
    """The claims of the catalogue about configurations of a machine, each property once, by its id."""
    name = machine.name.partition("~")[0]
    found: dict[str, Claim] = {}
    for claim in (row.subject for row in all_rows()):
        if isinstance(claim, Claim) and claim.machine.name == name:
            found.setdefault(claim.property.id, claim)
    return found


def _with_others(given: Subject) -> Subject:
    """Add the claims about other configurations that can also be evaluated in this one."""
    own = {claim.property.id for claim in given.claims}
    found = {key: claim for key, claim in claims_about(given.configuration.machine).items() if key not in own}
    speak = readable(given.configuration, {key: claim.property.holds for key, claim in found.items()})
    after = {key: claim.property.after for key, claim in found.items() if claim.property.after is not None}
    speak -= set(after) - readable(given.configuration, after)
    return replace(given, others=tuple(claim for key, claim in found.items() if key in speak))
