"""Refinement: one machine does nothing that another, more permissive one cannot do, under a mapping of their states.

After Abadi and Lamport, "The Existence of Refinement Mappings" (1991). The mapping gives, for each variable of the
abstract machine, its value in a state of the concrete one. Each step of the concrete machine must then be a step of the
abstract one (or a few in a row), or change nothing there: a *stutter*. Whatever always holds in the abstract machine
therefore holds, through the mapping, in the concrete one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from .errors import ModelError, nearest
from .frame import Frame
from .lowered import Cell, Lowered
from .lowering import Lowering
from .machine import Configuration
from .state import State
from .terms import Term, as_bool, as_int

Mapped: TypeAlias = Callable[[Any], Mapping[str, Any]]
"""Of a concrete state: abstract variable → its value, or a function of its indices if it has any.

A variable that is not named has the value of the concrete machine's variable of the same name.
"""


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """The claim that ``concrete`` refines ``abstract``."""

    concrete: Configuration
    abstract: Configuration
    mapping: Mapped  # the values of the abstract machine's variables in a concrete state
    # how many abstract steps in a row one concrete step may stand for; one rebalance pass takes many queues
    steps: int = 1

    def terms(self, abstract: Lowered) -> list[Any]:
        """For each cell of the abstract machine, its value as a Z3 term over the concrete machine's variables.

        Raises:
            ModelError: the mapping names a variable that the abstract machine does not have, leaves one out that the
                concrete machine lacks, or gives a value of another type.
        """
        lowering = Lowering(Frame(self.concrete))
        recording = lowering.record("mapping", read_only=True)
        state = State(lowering)
        values = self.mapping(state)
        families = {cell.family.name for cell in abstract.cells}
        for name in values:
            if name not in families:
                raise ModelError(
                    f"the mapping gives {name!r}, which is no variable of {abstract.configuration}."
                    f"{nearest(name, families)}"
                )
        terms = [self._term(cell, values, lowering) for cell in abstract.cells]
        if recording.symbols:
            raise ModelError("the mapping of a refinement cannot search unbounded domains; bound them.")
        return terms

    def _term(self, cell: Cell, values: Mapping[str, Any], lowering: Lowering) -> Any:
        name = cell.family.name
        dims = zip(cell.family.dims, cell.index, strict=True)
        free = [lowering.fresh(dim.label) for dim, item in dims if item is None]
        symbols = iter(free)
        index = tuple(Term(next(symbols), False) if item is None else item for item in cell.index)
        if name in values:
            value = values[name](*index) if callable(values[name]) else values[name]
        elif name in lowering.frame.families:
            value = lowering.read(name, index)
        else:
            raise ModelError(
                f"the mapping does not give {name!r}, and {self.concrete} has no variable of that name; add it."
            )
        term = as_bool(value) if cell.family.is_bool else as_int(value)
        return z3.Lambda(free, term) if free else term
