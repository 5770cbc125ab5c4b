"""Rules without a machine: the theorems that call a text, evaluated again with the wrong text in its place."""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass, field

import z3

from ...model.kernel import ConfigurationError, ModelError
from ...properties.theorem import Theorem
from ...properties.unequal_views import GroupClaim
from ...properties.verdict import Verdict
from ..groups import search_groups
from ..suite import Row
from ..theorems import compute, prove_theorem
from .calls import calls_noted
from .changes import Change

_GROUP_SIZE = 4
_ERRORS = (
    ModelError,
    ConfigurationError,
    TypeError,
    AttributeError,
    LookupError,
    ValueError,
    ArithmeticError,
    RuntimeError,
    AssertionError,
    z3.Z3Exception,
)
"""Exceptions that a wrong text may raise when it is computed."""


@dataclass
class Theorems:
    """Rows about rules, with the functions that each calls.

    Attributes:
        work: Z3 resource units for each proof, so that verdicts do not depend on how busy the machine is.
    """

    rows: list[Row]
    work: int = 20_000_000
    _uses: dict[str, set[types.CodeType]] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Theorems:
        """The rows about rules in a suite."""
        return cls([row for row in rows if isinstance(row.subject, Theorem | GroupClaim)])

    def using(self, change: Change) -> list[Row]:
        """The rows whose answer a change may affect."""
        if change.function is None:
            return []
        return [row for row in self.rows if change.function.__code__ in self._used_by(row)]

    def kill(self, change: Change, row: Row) -> str:
        """How a row changes: ``violated``, ``finding gone``, or what goes wrong; empty if not, or if unknown."""
        try:
            with change.made():
                verdict = self._judge(row)
        except _ERRORS as error:
            return f"cannot be computed: {error}"
        if verdict is Verdict.UNKNOWN or verdict is row.expected:
            return ""
        return "violated" if verdict is Verdict.VIOLATED else "finding gone"

    def _judge(self, row: Row) -> Verdict:
        if isinstance(row.subject, Theorem):
            return prove_theorem(row.subject, work=self.work).verdict
        assert isinstance(row.subject, GroupClaim)
        return search_groups(row.subject, max_queues=_GROUP_SIZE, max_consumers=_GROUP_SIZE).verdict

    def _used_by(self, row: Row) -> set[types.CodeType]:
        if row.id not in self._uses:
            with calls_noted() as noted:
                _build(row)
            self._uses[row.id] = noted
        return self._uses[row.id]


def same_rule(change: Change, *, work: int = 10_000_000) -> bool:
    """Whether Z3 proves the wrong text of a rule equal to the right one, for whole numbers from 0 on."""
    if change.rule is None:
        return False
    try:
        symbols, right = change.rule.term()
        with change.made():
            _, wrong = change.rule.term()
        solver = z3.Solver()
        solver.set("rlimit", work)
        solver.add(*(symbol >= 0 for symbol in symbols), right != wrong)
        return bool(solver.check() == z3.unsat)
    except _ERRORS:
        return False


def _build(row: Row) -> None:
    """Compute a row for small cases and for unknown ones, so that everything it may call is called."""
    if isinstance(row.subject, GroupClaim):
        search_groups(row.subject, max_queues=2, max_consumers=2)
    elif isinstance(row.subject, Theorem):
        compute(row.subject)
