"""Equal by proof: Z3 proves that wrong steps are the original ones, in every state that the claims of a suite allow.

If the original machine has too many states to visit each, everything that its suite claims still holds in all of them.
If no state inside the domains, in which all of that holds, distinguishes a wrong step from the original one, then no
state that the original machine reaches does; and the wrong machine, which begins in the same state, never leaves these
states.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import z3

from ...model.kernel import Lowered
from ...model.kernel.lowered import Instance
from ..prove.solving import Solver, fits_finite_domain
from .steps import remembered

WORK = 4_000_000
"""Z3 resource units for all questions about one mutant in one configuration."""

Pair = tuple[Instance | None, Instance | None]
"""Original and wrong instance with the same label; None if one does not exist."""


def proved_equal(
    lowered: Lowered, invariants: Sequence[Any], pairs: Sequence[Pair], matters: Set[int], *, work: int = WORK
) -> bool:
    """Whether Z3 proves that the steps of each pair are equal, under ``invariants``, within ``work`` resource units.

    Cells whose numbers are not in ``matters`` may differ, as nothing reads them; a step that changes nothing else
    counts as none.
    """
    ranges = [
        z3.And(cell.family.low <= cell.symbol, cell.symbol <= cell.family.limit)
        for cell in lowered.cells
        if not cell.family.is_bool
    ]
    questions = [_differs(lowered, *pair, matters) for pair in pairs]
    facts = [*ranges, *invariants]
    solver = Solver(finite_domain=fits_finite_domain([*facts, *questions]))
    solver.add(*facts)
    for question in questions:
        if solver.work >= work:
            return False
        solver.push()
        solver.add(question)
        answer, _ = solver.check(rlimit=work - solver.work)
        solver.pop()
        if answer != z3.unsat:
            return False
    return True


def _differs(lowered: Lowered, right: Instance | None, wrong: Instance | None, matters: Set[int]) -> Any:
    """That a step changes something in only one machine, leads to another state, or leaves a domain."""
    moves = matters - remembered(lowered)
    if right is None or wrong is None:
        only = right or wrong
        assert only is not None
        return z3.And(only.guard, _changes(lowered, only, moves))
    elsewhere = []
    for number in sorted((right.updates.keys() | wrong.updates.keys()) & matters):
        kept = lowered.cells[number].symbol
        elsewhere.append(right.updates.get(number, kept) != wrong.updates.get(number, kept))
    outside = [z3.Not(check.condition) for check in wrong.checks]
    return z3.Or(
        z3.And(right.guard, z3.Not(wrong.guard), _changes(lowered, right, moves)),
        z3.And(wrong.guard, z3.Not(right.guard), _changes(lowered, wrong, moves)),
        z3.And(right.guard, wrong.guard, z3.Or(*elsewhere)),
        z3.And(wrong.guard, z3.Or(*outside)),
    )


def _changes(lowered: Lowered, instance: Instance, cells: Set[int]) -> Any:
    """That a step would change one of the given cells."""
    return z3.Or(
        *(lowered.cells[number].symbol != value for number, value in instance.updates.items() if number in cells)
    )
