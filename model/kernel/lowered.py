"""Lowered configurations: the cells, action instances and predicates that lowering gives, all as Z3 terms."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .declarations import Action, Variable
from .domains import Elements, Int
from .errors import ModelError
from .machine import Configuration
from .terms import BoolLike, IntLike, all_of

CellKey: TypeAlias = tuple[str, tuple[int | None, ...]]
"""Identity of a cell: name of the family and index."""


@dataclass(frozen=True)
class Family:
    """A declared variable in one configuration.

    Attributes:
        dims: its index domains (a ``SetOf`` variable has its member domain as last one).
        low, high: range of its values, truth values being 0 and 1; ``high`` None when open or not a number.
        limit: the upper end as declared: ``high``, or a term over unbounded constants; None when open.
        member_of: the member domain of a ``SetOf`` variable.
    """

    variable: Variable
    dims: tuple[Elements, ...]
    is_bool: bool
    low: int
    high: int | None
    limit: IntLike | None
    enumeration: type[enum.IntEnum] | None = None
    member_of: Elements | None = None

    def contains(self, value: IntLike) -> BoolLike:
        """Whether ``value`` is in the range."""
        return all_of(self.low <= value, True if self.limit is None else value <= self.limit)

    def value(self, number: int) -> bool | int:
        """A number of the range as texts read it: a truth value, a member or the number itself."""
        return bool(number) if self.is_bool else number if self.enumeration is None else self.enumeration(number)

    @property
    def allowed(self) -> str:
        """The range in words, and where its upper end comes from."""
        high = self.variable.kind.high if isinstance(self.variable.kind, Int) and self.high is not None else None
        said = f" ({high})" if isinstance(high, str) else " (computed from the constants)" if callable(high) else ""
        return f"{self.low}…{'' if self.limit is None else self.limit}{said}"

    @property
    def name(self) -> str:
        """Name of the variable."""
        return self.variable.name

    def show(self, value: int) -> str:
        """A value as the machine's author would write it."""
        if self.is_bool:
            return "true" if value else "false"
        if self.enumeration is not None:
            return self.enumeration(value).name
        return str(value)


@dataclass(frozen=True)
class Cell:
    """One variable of the lowered state: a member of a family at fixed bounded indices."""

    family: Family
    # a number for each bounded index, None for each unbounded one (``symbol`` is then an array over these)
    index: tuple[int | None, ...]
    symbol: Any  # Z3 constant that stands for the value before an action
    initial: int  # value in the initial state (for an array, the value at every index)

    @property
    def key(self) -> CellKey:
        """Identity of the cell."""
        return (self.family.name, self.index)

    @property
    def label(self) -> str:
        """Name with index, such as ``owns[c0, q1]``."""
        if not self.index:
            return self.family.name
        parts = (
            f"{dim.label}{item}" if item is not None else "…"
            for dim, item in zip(self.family.dims, self.index, strict=True)
        )
        return f"{self.family.name}[{', '.join(parts)}]"

    @property
    def is_array(self) -> bool:
        """Whether the cell stands for unboundedly many values."""
        return None in self.index


@dataclass(frozen=True)
class Check:
    """A condition under which one write of an action stays inside the declared domain; ``label`` names it as text."""

    label: object
    allowed: str
    condition: Any
    value: Any


@dataclass(frozen=True)
class Instance:
    """An action with its bounded parameters filled in."""

    number: int  # position among all instances of the configuration
    action: Action
    arguments: Mapping[str, int | None]  # parameter → value; None where it is symbolic (unbounded)
    label: str  # text such as ``pull(c0, q1)``
    tells: str  # sentence for stories
    guard: Any  # Z3 truth value: when it may happen
    updates: Mapping[int, Any]  # cell number → Z3 expression of its next value (cells not named keep theirs)
    checks: tuple[Check, ...]  # conditions for its writes to stay inside their domains
    symbols: tuple[Any, ...] = ()  # Z3 constants that stand for unbounded parameters and auxiliary values
    definitions: tuple[Any, ...] = ()  # constraints on ``symbols``


@dataclass(frozen=True)
class LoweredPredicate:
    """A property of states as a Z3 truth value, with the definitions of its auxiliary symbols and its text."""

    name: str
    term: Any
    text: Callable[..., BoolLike]
    symbols: tuple[Any, ...] = ()
    definitions: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Lowered:
    """A configuration as Z3 terms: everything the engines start from."""

    configuration: Configuration
    cells: tuple[Cell, ...]  # the state, in declaration order
    instances: tuple[Instance, ...]  # the actions that exist
    predicates: Mapping[str, LoweredPredicate]  # name → property of states
    assumptions: tuple[Any, ...]  # constraints on unbounded constants

    @property
    def is_finite(self) -> bool:
        """Whether every variable and parameter has finitely many values."""
        return self.unbounded_reason() is None

    def unbounded_reason(self) -> str | None:
        """Name what makes the configuration infinite, or None."""
        for cell in self.cells:
            if cell.is_array:
                return f"variable {cell.family.name} ranges over an unbounded domain"
            if cell.family.high is None:
                return f"variable {cell.label} has no upper bound"
        for instance in self.instances:
            if instance.symbols:
                return f"action {instance.action.name} has a parameter of an unbounded domain"
        return None

    def require_finite(self, engine: str) -> None:
        """Raise :class:`ModelError` when ``engine`` cannot work on this configuration because it is infinite."""
        reason = self.unbounded_reason()
        if reason is not None:
            raise ModelError(
                f"{engine} needs a finite configuration, but in {self.configuration} {reason}; "
                "give the constant a number, or the variable a bound, or use the engine 'prove'."
            )

    def initial_state(self) -> tuple[int, ...]:
        """The initial state, one integer for each cell (finite configurations)."""
        return tuple(cell.initial for cell in self.cells)

    def show_state(self, state: tuple[int, ...]) -> dict[str, str]:
        """Write a state as cell label → value."""
        return {cell.label: cell.family.show(value) for cell, value in zip(self.cells, state, strict=True)}
