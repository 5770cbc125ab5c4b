"""Several initial states: a machine that can begin in several ways chooses one of them in its first step.

Before that step nothing has begun: every variable has its declared initial value, and nothing else can happen. These
values must be one of the ways to begin, so that predicates can also be evaluated in this state. Every engine, and the
Promela of an export, therefore still has a single initial state, and one state more than are reachable otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import z3

from .errors import ModelError
from .frame import Frame
from .lowered import Cell, Instance
from .machine import BEGUN


def need_declared_beginning(frame: Frame, instances: Iterable[Instance]) -> None:
    """Raise ModelError unless the declared initial values are one of the ways in which a machine begins.

    This is not checked if variables range over unbounded domains.
    """
    machine, cells = frame.configuration.machine, list(frame.cells.values())
    if not machine.chooses(frame.constants) or any(cell.is_array for cell in cells):
        return
    if not any(_keeps(one, cells, frame.assumptions) for one in instances if one.action.name in machine.beginnings):
        raise ModelError(
            f"machine {machine.name}: none of {', '.join(machine.beginnings)} leaves all declared initial values as "
            f"they are in {frame.configuration}; they must be one of the states in which it begins: give variables "
            "the init= of one."
        )


def _keeps(beginning: Instance, cells: Sequence[Cell], assumptions: Sequence[Any]) -> bool:
    initial = [z3.BoolVal(bool(one.initial)) if one.family.is_bool else z3.IntVal(one.initial) for one in cells]
    solver = z3.Solver()
    solver.add(*assumptions, *(one.symbol == value for one, value in zip(cells, initial, strict=True)))
    solver.add(beginning.guard, *beginning.definitions)
    solver.add(*(new == initial[at] for at, new in beginning.updates.items() if cells[at].family.name != BEGUN))
    return bool(solver.check() == z3.sat)
