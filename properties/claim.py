"""Claims: the rows of a suite, each a property with the configuration, the engine and the verdict it must have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ..model.kernel import UNBOUNDED, Machine
from .property import Property
from .verdict import Verdict

Constants: TypeAlias = dict[str, int | str]
"""Where a configuration differs from the defaults of its machine."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One property of one configuration.

    Attributes:
        property: what is claimed.
        machine: the machine about which it is claimed.
        constants: where the configuration differs from the defaults.
        expected: HOLDS, or VIOLATED for an expected finding: a popular belief that is false as stated.
        lesson: what a user learns from it, one sentence.
        lemmas: what a proof may prove along with it; other engines do not need them.
    """

    property: Property
    machine: Machine
    constants: Mapping[str, int | str] = field(default_factory=dict)
    expected: Verdict = Verdict.HOLDS
    lesson: str = ""
    lemmas: tuple[Property, ...] = ()


def claim_about(machine: Machine, property: Property, constants: Mapping[str, int | str], lesson: str = "") -> Claim:
    """The claim that ``property`` holds; with a ``lesson``, the claim that it is a popular belief, and does not
    hold.
    """
    expected = Verdict.VIOLATED if lesson else Verdict.HOLDS
    return Claim(property=property, machine=machine, constants=constants, expected=expected, lesson=lesson)


def claims_of(machine: Machine, asked: Iterable[tuple[Mapping[str, int | str], Iterable[Property]]]) -> Iterator[Claim]:
    """The claims that properties hold for a machine, each in the configuration that is listed with it."""
    for constants, properties in asked:
        for property in properties:
            yield claim_about(machine, property, constants)


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """The claim that each action of a machine happens in one of the configurations, so that nothing holds for lack of
    runs.
    """

    machine: Machine  # the machine with these actions
    configurations: tuple[Mapping[str, int | str], ...]  # where they may happen, as constants
    id: str = "every-action-happens"
    statement: str = "Every action of the machine happens in some configuration of the suite."
    rules: tuple[str, ...] = ()


def coverage(claims: Iterable[Claim]) -> Iterator[Coverage]:
    """The coverage claims of a suite, one for each machine."""
    machines: dict[str, tuple[Machine, list[Mapping[str, int | str]]]] = {}
    for claim in claims:
        if UNBOUNDED not in claim.constants.values():
            machines.setdefault(claim.machine.name, (claim.machine, []))[1].append(claim.constants)
    for machine, configurations in machines.values():
        yield Coverage(machine=machine, configurations=tuple(configurations))
