"""The frame of a configuration: its constants, domains, families and cells, before any text is traced."""

from __future__ import annotations

import enum
import itertools
from typing import Any

import z3

from .domains import Domain, Elements, Int, SetOf
from .errors import ConfigurationError, ModelError, nearest
from .machine import UNBOUNDED, Configuration, Constants, Variable
from .terms import Term
from .traced import Cell, CellKey, Family


class Frame:
    """What a configuration declares.

    Attributes:
        configuration: the configuration.
        constants: its constants, unbounded ones as terms.
        assumptions: constraints on the unbounded ones.
        families: the variables that exist, by name.
        cells: the state, in declaration order.
    """

    def __init__(self, configuration: Configuration) -> None:
        machine = configuration.machine
        self.configuration = configuration
        self.assumptions: list[Any] = []
        self.families: dict[str, Family] = {}
        self.cells: dict[CellKey, Cell] = {}
        constants: dict[str, Any] = dict(configuration.constants)
        for name, value in configuration.constants.items():
            if value == UNBOUNDED:
                symbol = z3.Int(name)
                constants[name] = Term(symbol, False)
                self.assumptions.append(symbol >= machine.constants[name].low)
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
        size = domain.size
        if isinstance(size, str):
            if size not in self.constants:
                raise ModelError(
                    f"domain {domain.__name__} is sized by {size!r}, which is not a constant."
                    f"{nearest(size, self.constants)}"
                )
            size = self.constants[size]
        return Elements(domain.__name__, domain.label, size, domain.symmetric)

    def _declare(self, variable: Variable) -> None:
        kind = variable.kind
        dims = tuple(self.elements(domain) for domain in variable.domains)
        if isinstance(kind, SetOf):
            member_of = self.elements(kind.domain)
            family = Family(variable, (*dims, member_of), True, 0, 1, member_of=member_of)
        elif kind is bool:
            family = Family(variable, dims, True, 0, 1)
        elif isinstance(kind, Int):
            low, high = self._bound(kind.low), None if kind.high is None else self._bound(kind.high)
            if low is None or (high is not None and high < low):
                raise ConfigurationError(
                    f"variable {variable.name!r} has no possible value in {self.configuration}: "
                    f"its range is {low}…{high}."
                )
            family = Family(variable, dims, False, low, high)
        elif isinstance(kind, type) and issubclass(kind, enum.IntEnum):
            values = sorted(kind)
            if [int(value) for value in values] != list(range(len(values))):
                raise ModelError(f"variable {variable.name!r}: the members of {kind.__name__} must be 0, 1, 2 … .")
            family = Family(variable, dims, False, 0, len(values) - 1, enumeration=kind)
        else:
            raise ModelError(
                f"variable {variable.name!r} has the type {kind!r}; possible: bool, an IntEnum class, Int(…), SetOf(…)."
            )
        self._add(family)

    def _declare_budget(self, name: str) -> None:
        size: Any = self.constants[name]
        if isinstance(size, Term):
            raise ConfigurationError(f"the budget {name!r} must be a number; it cannot be unbounded.")
        if f"{name}_left" in self.configuration.machine.variables:
            raise ModelError(f"variable {name + '_left'!r} is the counter of the budget {name!r} already; rename one.")
        if size > 0:
            variable = Variable(
                name=f"{name}_left",
                kind=Int(0, name),
                domains=(),
                init=size,
                when=lambda _: True,
                doc=f"how many more {name} may happen",
            )
            self._add(Family(variable, (), False, 0, int(size)))

    def _bound(self, bound: Any) -> int | None:
        value = self.constants[bound] if isinstance(bound, str) else bound(self.constants) if callable(bound) else bound
        return None if isinstance(value, Term) or value == UNBOUNDED else int(value)

    def _add(self, family: Family) -> None:
        sort = z3.BoolSort() if family.is_bool else z3.IntSort()
        choices = (range(dim.size) if dim.bounded else (None,) for dim in family.dims)
        self.families[family.name] = family
        for index in itertools.product(*choices):
            free = sum(item is None for item in index)
            # Brackets, as no name of a variable has them: Z3 takes constants of one name for the same.
            items = ",".join("…" if item is None else str(item) for item in index)
            spelled = f"{family.name}[{items}]" if index else family.name
            symbol = z3.Const(spelled, z3.ArraySort(*([z3.IntSort()] * free), sort) if free else sort)
            cell = Cell(family, index, symbol, self._initial(family, index))
            self.cells[cell.key] = cell

    def _initial(self, family: Family, index: tuple[int | None, ...]) -> int:
        init = family.variable.init
        value = init(self.constants, *index) if callable(init) else family.low if init is None else init
        low, high = family.low, family.high
        if not isinstance(value, int) or value < low or (high is not None and value > high):
            top = "" if high is None else high
            raise ModelError(
                f"the initial value {value!r} of {family.name!r} is outside its domain {low}…{top} "
                f"in {self.configuration}."
            )
        return int(value)
