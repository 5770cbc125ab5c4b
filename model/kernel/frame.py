"""The frame of a configuration: its constants, domains, families and cells, before any text is lowered."""

from __future__ import annotations

import enum
import itertools
import math
from typing import Any

import z3

from .declarations import Constants, Lifetime, Variable
from .domains import Domain, Elements, Int, SetOf
from .errors import ConfigurationError, ModelError, nearest
from .lowered import Cell, CellKey, Family
from .machine import Configuration
from .terms import BoolLike, IntLike, Term, as_bool

UNLIMITED = math.inf
"""What a text reads as the value of an unbounded budget: larger than any number."""


class Frame:
    """What a configuration declares."""

    def __init__(self, configuration: Configuration) -> None:
        machine = configuration.machine
        self.configuration = configuration
        self.assumptions: list[Any] = []  # constraints on the unbounded constants
        self.families: dict[str, Family] = {}  # the variables that exist, by name
        self.cells: dict[CellKey, Cell] = {}  # the state, in declaration order
        constants: dict[str, Any] = dict(configuration.constants)
        constants.update(dict.fromkeys(configuration.unlimited, UNLIMITED))
        for name in configuration.unbounded:
            symbol = z3.Int(name)
            constants[name] = Term(symbol, False)
            self.assumptions.append(symbol >= machine.constants[name].low)
        # its constants; unbounded ones are terms, and budgets without limit are ``UNLIMITED``
        self.constants = Constants(constants)
        for variable in machine.variables.values():
            if variable.when(self.constants):
                self._declare(variable)
        budgets = {
            action.budget
            for action in machine.actions.values()
            if action.budget is not None and action.when(self.constants)
        }
        for budget in sorted(budgets):
            self._declare_budget(budget)

    def elements(self, domain: type[Domain]) -> Elements:
        """A domain in this configuration."""
        size: Any = domain.size
        if isinstance(size, str):
            if size not in self.constants:
                raise ModelError(
                    f"domain {domain.__name__} is sized by {size!r}, which is not a constant."
                    f"{nearest(size, self.constants)}"
                )
            size = self.constants[size]
        return Elements(domain.__name__, domain.label, size, domain.symmetric)

    def living_in(self, lifetime: Lifetime) -> list[tuple[str, Any]]:
        """Names of the variables that live in something, each with the value that it has once that ends."""
        families = (family for family in self.families.values() if family.variable.lives_in == lifetime)
        return [(family.name, family.value(family.low)) for family in families]

    def _declare(self, variable: Variable) -> None:
        kind = variable.kind
        dims = tuple(self.elements(domain) for domain in variable.domains)
        if isinstance(kind, SetOf):
            member_of = self.elements(kind.domain)
            family = Family(variable, (*dims, member_of), True, 0, 1, 1, member_of=member_of)
        elif kind is bool:
            family = Family(variable, dims, True, 0, 1, 1)
        elif isinstance(kind, Int):
            low, limit = self._bound(kind.low), None if kind.high is None else self._bound(kind.high)
            high = limit if isinstance(limit, int) else None
            if not isinstance(low, int) or (high is not None and high < low):
                raise ConfigurationError(
                    f"variable {variable.name!r} has no possible value in {self.configuration}: "
                    f"its range is {low}…{limit}."
                )
            family = Family(variable, dims, False, low, high, limit)
        elif isinstance(kind, type) and issubclass(kind, enum.IntEnum):
            values = sorted(kind)
            if [int(value) for value in values] != list(range(len(values))):
                raise ModelError(f"variable {variable.name!r}: the members of {kind.__name__} must be 0, 1, 2 … .")
            top = len(values) - 1
            family = Family(variable, dims, False, 0, top, top, enumeration=kind)
        else:
            raise ModelError(
                f"variable {variable.name!r} has the type {kind!r}; possible: bool, an IntEnum class, Int(…), SetOf(…)."
            )
        self._add(family)

    def _declare_budget(self, name: str) -> None:
        size: Any = self.constants[name]
        if size == UNLIMITED:
            return
        if f"{name}_left" in self.configuration.machine.variables:
            raise ModelError(f"variable {name + '_left'!r} is the counter of the budget {name!r} already; rename one.")
        if size > 0:
            variable = Variable(
                name=f"{name}_left",
                kind=Int(0, name),
                domains=(),
                init=size,
                when=lambda _: True,
                doc=f"{self.configuration.machine.constants[name].doc or name}; so many are left",
            )
            self._add(Family(variable, (), False, 0, int(size), int(size)))

    def _bound(self, bound: Any) -> IntLike | None:
        if isinstance(bound, str) and bound not in self.constants:
            raise ModelError(
                f"a variable is bounded by {bound!r}, which is no constant; Int(0) has no upper bound."
                f"{nearest(bound, self.constants)}"
            )
        value = self.constants[bound] if isinstance(bound, str) else bound(self.constants) if callable(bound) else bound
        if isinstance(value, Term):
            return value
        return None if value == UNLIMITED else int(value)

    def _add(self, family: Family) -> None:
        sort = z3.BoolSort() if family.is_bool else z3.IntSort()
        choices = (range(dim.size) if dim.bounded else (None,) for dim in family.dims)
        self.families[family.name] = family
        for index in itertools.product(*choices):
            free = sum(item is None for item in index)
            # Brackets, as no variable has them in its name: Z3 identifies constants by name.
            items = ",".join("…" if item is None else str(item) for item in index)
            spelled = f"{family.name}[{items}]" if index else family.name
            symbol = z3.Const(spelled, z3.ArraySort(*([z3.IntSort()] * free), sort) if free else sort)
            cell = Cell(family, index, symbol, self._initial(family, index))
            self.cells[cell.key] = cell

    def _initial(self, family: Family, index: tuple[int | None, ...]) -> int:
        init = family.variable.init
        if callable(init):
            # An unbounded index has no value; a text that reads it gets an explanatory error from the term in its
            # place.
            items = (Term(z3.Int("any"), False) if item is None else item for item in index)
            value = init(self.constants, *items)
        else:
            value = family.low if init is None else init
        if isinstance(value, Term):
            raise ModelError(
                f"the initial value of {family.name!r} depends on an unbounded index or constant in "
                f"{self.configuration}; give that constant a number."
            )
        if not isinstance(value, int) or not self._surely(family.contains(value)):
            raise ModelError(
                f"the initial value {value!r} of {family.name!r} is outside its domain {family.allowed} "
                f"in {self.configuration}."
            )
        return int(value)

    def _surely(self, condition: BoolLike) -> bool:
        """Whether ``condition`` holds for all values of the unbounded constants."""
        if not isinstance(condition, Term):
            return bool(condition)
        solver = z3.Solver()
        solver.add(*self.assumptions, z3.Not(as_bool(condition)))
        return bool(solver.check() == z3.unsat)
