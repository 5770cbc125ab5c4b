"""Transition relation: states 0, 1, 2 … of a run of a lowered configuration as Z3 constraints.

The relation is built once, over the variables of the machine and their primed twins. It is applied to position ``k`` of
a run by renaming: ``rm_0`` becomes ``rm_0@k``, its twin ``rm_0@(k+1)``, and every auxiliary symbol its own copy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import z3

from ...model.kernel import Cell, Check, Instance, Lowered, LoweredPredicate, Term
from ...model.kernel.terms import as_bool
from .solving import Model

SHOWN_ELEMENTS = 8
"""How many values of each unbounded index of an array a state text shows."""


class Transition:
    """A machine as constraints over numbered states.

    Attributes:
        lowered: the configuration.
        inside: every variable is inside its declared domain, over the variables of the machine.
        terms: everything from which the constraints are built (to choose a solver).
    """

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        self._cells = [cell.symbol for cell in lowered.cells]
        self._primed = [_named(symbol, "'") for symbol in self._cells]
        self._choice = z3.Int("step#")
        self._auxiliary = [self._choice]
        for instance in lowered.instances:
            self._auxiliary.extend(instance.symbols)
        for predicate in lowered.predicates.values():
            self._auxiliary.extend(predicate.symbols)
        inside = [part for cell in lowered.cells for part in _inside(cell)]
        self.inside = _conjunction(*inside)
        self._domain = _conjunction(*inside, *(self._some_choice() if lowered.instances else ()))
        self._relation = self._build_relation()
        self._renaming: dict[int, list[tuple[Any, Any]]] = {}
        self.terms = [self._domain, self._relation, *lowered.assumptions]
        for predicate in lowered.predicates.values():
            self.terms += [predicate.term, *predicate.definitions]
        for instance in lowered.instances:
            self.terms += [check.condition for check in instance.checks]

    def unbounded_constants(self) -> dict[str, int]:
        """Name → lowest value of each constant that stands for every number."""
        configuration = self.lowered.configuration
        return {name: configuration.machine.constants[name].low for name in configuration.unbounded}

    # --- constraints on numbered states --------------------------------------------------------------------------

    def at(self, term: Any, position: int) -> Any:
        """``term``, written over the variables of the machine, for state ``position``."""
        if position not in self._renaming:
            here, there = f"@{position}", f"@{position + 1}"
            self._renaming[position] = [
                *((symbol, _named(symbol, here)) for symbol in (*self._cells, *self._auxiliary)),
                *((primed, _named(cell, there)) for cell, primed in zip(self._cells, self._primed, strict=True)),
            ]
        return z3.substitute(term, *self._renaming[position])

    def start(self) -> list[Any]:
        """State 0 is the initial state, under the assumptions on unbounded constants."""
        return [
            *self.lowered.assumptions,
            *(self.at(_is_initial(cell), 0) for cell in self.lowered.cells),
        ]

    def domain(self, position: int) -> Any:
        """Every variable is inside its declared domain (and the number of the action taken inside its own)."""
        return self.at(self._domain, position)

    def step(self, position: int) -> Any:
        """Some action leads from state ``position`` to the next one."""
        return self.at(self._relation, position)

    def taken(self, position: int, instance: Instance) -> Any:
        """``instance`` is chosen and enabled in state ``position``."""
        here = self._choice == instance.number
        return self.at(_conjunction(here, *_enabled(instance)), position)

    def stays_inside(self, position: int, instance: Instance, check: Check) -> Any:
        """If ``instance`` is the one taken in state ``position``, then ``check`` holds of its write."""
        return self.at(z3.Implies(self._choice == instance.number, check.condition), position)

    def leaves(self, position: int, check: Check) -> Any:
        """``check`` fails of a write in state ``position``."""
        return self.at(z3.Not(check.condition), position)

    def choice(self, position: int) -> Any:
        """The symbol for the number of the instance taken in state ``position``."""
        return self.at(self._choice, position)

    def says(self, name: str, position: int, *, truth: bool) -> Any:
        """The predicate ``name`` is true (or is false) in state ``position``."""
        predicate = self.lowered.predicates[name]
        return self.at(_says(predicate, truth), position)

    def says_after(self, name: str, position: int, instance: Instance, *, truth: bool) -> Any | None:
        """The predicate has that truth after ``instance`` is taken in state ``position``.

        None if it cannot have changed, because the action writes nothing that the predicate reads.
        """
        predicate = self.lowered.predicates[name]
        before = _says(predicate, truth)
        updates = [(self._cells[number], value) for number, value in instance.updates.items()]
        if not updates or z3.substitute(before, *updates).eq(before):
            return None
        fresh = [(symbol, _named(symbol, "'")) for symbol in predicate.symbols]
        return self.at(z3.substitute(before, *updates, *fresh), position)

    def differ(self, first: int, second: int) -> Any:
        """The two states are not the same."""
        return z3.Or([self.at(cell, first) != self.at(cell, second) for cell in self._cells])

    # --- reading models -------------------------------------------------------------------------------------------

    def arguments(self, model: Model, position: int, instance: Instance) -> tuple[int, ...]:
        """Values of all parameters of the instance taken in state ``position``, unbounded ones from the model."""
        symbols = iter(instance.symbols)  # unbounded parameters come first among them, in order
        return tuple(
            model.number(self.at(next(symbols), position)) if value is None else int(value)
            for value in instance.arguments.values()
        )

    def shown(self, model: Model, position: int) -> dict[str, str]:
        """State ``position`` as label → value, after the unbounded constants.

        Lowest values are left out, and of an array all but its first elements.
        """
        constants = {name: str(model.number(z3.Int(name))) for name in self.unbounded_constants()}
        return {**constants, **self._show(model, position)}

    def _show(self, model: Model, position: int) -> dict[str, str]:
        shown = {}
        for cell in self.lowered.cells:
            for label, index in _places(cell, model):
                term = z3.Select(cell.symbol, *index) if index else cell.symbol
                value = model.number(self.at(term, position))
                if value != cell.family.low:
                    shown[label] = cell.family.show(value)
        return shown

    # --- building -------------------------------------------------------------------------------------------------

    def _some_choice(self) -> list[Any]:
        return [0 <= self._choice, self._choice < len(self.lowered.instances)]

    def _build_relation(self) -> Any:
        instances = self.lowered.instances
        parts = self._some_choice()
        for instance in instances:
            parts.append(z3.Implies(self._choice == instance.number, _conjunction(*_enabled(instance))))
        for number, (symbol, primed) in enumerate(zip(self._cells, self._primed, strict=True)):
            value = symbol
            for instance in reversed(instances):
                if number in instance.updates:
                    value = z3.If(self._choice == instance.number, instance.updates[number], value)
            parts.append(primed == value)
        return z3.And(parts)


def _named(symbol: Any, suffix: str) -> Any:
    return z3.Const(f"{symbol}{suffix}", symbol.sort())


def _conjunction(*parts: Any) -> Any:
    return parts[0] if len(parts) == 1 else z3.And(*parts) if parts else z3.BoolVal(True)


def _enabled(instance: Instance) -> tuple[Any, ...]:
    return (instance.guard, *instance.definitions)


def _says(predicate: LoweredPredicate, truth: bool) -> Any:
    return _conjunction(predicate.term if truth else z3.Not(predicate.term), *predicate.definitions)


def _inside(cell: Cell) -> Iterator[Any]:
    family = cell.family
    if family.is_bool:
        return
    bounds = _indices(cell)
    value = z3.Select(cell.symbol, *bounds) if bounds else cell.symbol
    inside = as_bool(family.contains(Term(value, False)))
    yield z3.ForAll(bounds, inside) if bounds else inside


def _is_initial(cell: Cell) -> Any:
    initial = z3.BoolVal(bool(cell.initial)) if cell.family.is_bool else z3.IntVal(cell.initial)
    bounds = _indices(cell)
    if not bounds:
        return cell.symbol == initial
    if len(bounds) == 1:
        return cell.symbol == z3.K(z3.IntSort(), initial)
    return z3.ForAll(bounds, z3.Select(cell.symbol, *bounds) == initial)


def _indices(cell: Cell) -> list[Any]:
    return [z3.Int(f"{cell.symbol}#{place}") for place, item in enumerate(cell.index) if item is None]


def _places(cell: Cell, model: Model) -> Iterator[tuple[str, tuple[int, ...]]]:
    if not cell.is_array:
        yield cell.label, ()
        return
    ranges = []
    for dim, item in zip(cell.family.dims, cell.index, strict=True):
        size = dim.size if isinstance(dim.size, int) else model.number(dim.size.expr)
        ranges.append(range(min(size, SHOWN_ELEMENTS)) if item is None else range(item, item + 1))
    for place in itertools.product(*ranges):
        spelled = ", ".join(f"{dim.label}{item}" for dim, item in zip(cell.family.dims, place, strict=True))
        free = tuple(item for item, fixed in zip(place, cell.index, strict=True) if fixed is None)
        yield f"{cell.family.name}[{spelled}]", free
