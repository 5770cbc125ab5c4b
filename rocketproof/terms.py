"""The vocabulary of a machine's text: domains, unbounded constants, and functions that combine terms.

A value read from a :class:`rocketproof.State` is a term, whose value is not known while the text is read. These
functions do with terms what ``and``, ``or``, ``not``, ``if`` and ``sum`` do with values.
"""

from __future__ import annotations

from .model.kernel import (
    UNBOUNDED,
    BoolLike,
    Domain,
    Int,
    IntLike,
    Mutant,
    SetOf,
    all_of,
    any_of,
    constant,
    implies,
    ite,
    maximum,
    minimum,
    not_,
    same,
    total,
    variable,
)

__all__ = [
    "UNBOUNDED",
    "BoolLike",
    "Domain",
    "Int",
    "IntLike",
    "Mutant",
    "SetOf",
    "all_of",
    "any_of",
    "constant",
    "implies",
    "ite",
    "maximum",
    "minimum",
    "not_",
    "same",
    "total",
    "variable",
]
