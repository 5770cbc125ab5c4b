"""Claims: the rows of a suite, each a property with the configuration, the engine and the verdict it must have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..model.kernel import Machine
from .property import Property
from .verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One property of one configuration.

    Attributes:
        property: what is claimed.
        machine: the machine it is claimed of.
        constants: the configuration, as far as it differs from the defaults.
        expected: HOLDS, or VIOLATED for an expected finding: a popular belief that is false as it stands.
        lesson: what a user learns from it, one sentence.
    """

    property: Property
    machine: Machine
    constants: Mapping[str, int | str] = field(default_factory=dict)
    expected: Verdict = Verdict.HOLDS
    lesson: str = ""
