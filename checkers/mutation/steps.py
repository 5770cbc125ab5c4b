"""Steps: in which states a wrong step differs from the original one, computed for many states at once.

A wrong step that the original machine does not make under that name is still no different behaviour if the original
machine can reach the same state by another step: a property, which is about states, cannot distinguish the two. A
mutant that only adds such steps is equivalent to the original machine, unless the added step belongs to a fair action,
as fairness depends on names. Budgets are compared in one direction only: with fewer faults left, nothing can happen
that cannot happen with more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3

from ...model.kernel import Lowered
from ...model.kernel.declarations import earlier
from ...model.kernel.lowered import Instance
from ...model.kernel.plain import program_of
from ...model.kernel.program import Program
from .reading import cells_of
from .vectors import Vectors


@dataclass(frozen=True)
class Roots:
    """Nodes of one instance in a program.

    Attributes:
        guard, updates, checks: what it reads and writes.
        moves: the updates except those that only remember the state before; without any of these, nothing changes.
        named: whether it matters which action makes the step.
    """

    guard: int
    updates: Mapping[int, int]
    moves: Mapping[int, int]
    checks: tuple[int, ...]
    named: bool

    @classmethod
    def of(cls, program: Program, instance: Instance | None, matters: Set[int], before: Set[int]) -> Roots | None:
        """The roots for the cells that matter, some of which hold what was ``before``; None for no instance."""
        if instance is None:
            return None
        updates = {number: program.add(value) for number, value in instance.updates.items() if number in matters}
        return cls(
            program.add(instance.guard),
            updates,
            {number: value for number, value in updates.items() if number not in before},
            tuple(program.add(check.condition) for check in instance.checks),
            instance.action.fair,
        )


@dataclass(frozen=True)
class Around:
    """What else the original machine can do."""

    steps: Sequence[Roots]  # all its instances
    budgets: Set[int]  # numbers of the cells that count what is left of a budget, and are read for nothing else

    def reaches(self, vectors: Vectors, root: Roots, size: int) -> Any:
        """For each state, whether the original machine stays in, or reaches, the target of a step with as much of each
        budget left.
        """
        found = self._alike(vectors, {}, root.moves, size)
        for other in self.steps:
            possible = vectors.truth(other.guard) & ~found
            if possible.any():
                found = found | (possible & self._alike(vectors, other.updates, root.updates, size))
        return found

    def _alike(self, vectors: Vectors, one: Mapping[int, int], two: Mapping[int, int], size: int) -> Any:
        alike = np.ones(size, np.bool_)
        for number in one.keys() | two.keys():
            # A cell that a step leaves alone keeps its value; cells are the first nodes of a program, in their order.
            first, second = one.get(number, number), two.get(number, number)
            if first != second:
                left, right = np.asarray(vectors.value(first)), np.asarray(vectors.value(second))
                alike = alike & (left >= right if number in self.budgets else left == right)
        return alike


def pure_budgets(lowered: Lowered, instances: Iterable[Instance]) -> set[int]:
    """Numbers of those budget counters of which texts only read whether any of the budget is left."""
    program = program_of(lowered)
    names = {f"{name}_left" for name in lowered.configuration.machine.budgets}
    counters = {number for number, cell in enumerate(lowered.cells) if cell.family.name in names}
    left = {number: z3.simplify(lowered.cells[number].symbol > 0) for number in counters}
    read = [item.term for item in lowered.predicates.values()]
    for instance in instances:
        parts = instance.guard.children() if z3.is_and(instance.guard) else [instance.guard]
        read += [part for part in parts if not any(part.eq(some) for some in left.values())]
        read += [value for number, value in instance.updates.items() if number not in counters]
    return counters - cells_of(program, read)


def remembered(lowered: Lowered) -> set[int]:
    """Numbers of the cells with values from before the last step: a step that changes only these counts as none."""
    names = {earlier(name) for name in lowered.configuration.machine.remembered}
    return {number for number, cell in enumerate(lowered.cells) if cell.family.name in names}


def differs(vectors: Vectors, right: Roots | None, wrong: Roots | None, around: Callable[[], Around], size: int) -> Any:
    """For each state, whether a step changes something in only one machine, leads to another state, or leaves a
    domain.
    """
    nowhere: Any = np.zeros(size, np.bool_)
    before = vectors.truth(right.guard) if right is not None else nowhere
    after = vectors.truth(wrong.guard) if wrong is not None else nowhere
    found: Any = nowhere
    if right is not None and (only := before & ~after).any():
        found = found | (only & _changes(vectors, right, size))
    if wrong is None:
        return found
    for check in wrong.checks:
        found = found | (after & ~vectors.truth(check))
    if (only := after & ~before).any():
        added = only & _changes(vectors, wrong, size)
        if added.any() and not wrong.named:
            added = added & ~around().reaches(vectors, wrong, size)
        found = found | added
    both = before & after
    if right is not None and both.any():
        for number in right.updates.keys() | wrong.updates.keys():
            kept, written = right.updates.get(number, number), wrong.updates.get(number, number)
            if kept != written:
                found = found | (both & (np.asarray(vectors.value(kept)) != np.asarray(vectors.value(written))))
    return found


def _changes(vectors: Vectors, root: Roots, size: int) -> Any:
    """For each state, whether a step would change a cell that matters."""
    changes = np.zeros(size, np.bool_)
    for number, value in root.moves.items():
        if number != value:
            changes = changes | (np.asarray(vectors.value(number)) != np.asarray(vectors.value(value)))
    return changes
