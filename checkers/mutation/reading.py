"""Reading: which cells of a machine are ever observed, by a guard, a domain or a row, directly or through other
cells.

Two machines that differ only in other cells have the same labelled runs, and every row gives the same answer for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any

from ...model.kernel import Lowered
from ...model.kernel.lowered import Instance, LoweredPredicate
from ...model.kernel.plain import program_of
from ...model.kernel.program import Op, Program


@dataclass(frozen=True)
class Reading:
    """What some action instances read.

    Attributes:
        read: numbers of the cells that decide whether a step is possible or leaves a domain, or what a row answers.
        written: for each update, the number of its cell, and the numbers of the cells from which the new value is
            computed.
    """

    read: Set[int]
    written: tuple[tuple[int, Set[int]], ...]

    @classmethod
    def of(
        cls, lowered: Lowered, instances: Iterable[Instance], predicates: Iterable[LoweredPredicate] = ()
    ) -> Reading:
        """What these instances, and predicates of the same configuration, read."""
        program = program_of(lowered)
        seen = [item.term for item in predicates]
        written = []
        for instance in instances:
            seen += [instance.guard, *(check.condition for check in instance.checks)]
            written += [(number, cells_of(program, [value])) for number, value in instance.updates.items()]
        return cls(cells_of(program, seen), tuple(written))

    def closed(self, other: Reading) -> set[int]:
        """Numbers of all cells that this reading or the other one ever observes."""
        found = {*self.read, *other.read}
        while True:
            new = {cell for number, cells in (*self.written, *other.written) if number in found for cell in cells}
            if new <= found:
                return found
            found |= new


def cells_of(program: Program, terms: Iterable[Any]) -> set[int]:
    """Numbers of the cells that terms mention."""
    nodes = program.needed([program.add(term) for term in terms])
    return {program.nodes[number].value for number in nodes if program.nodes[number].op is Op.CELL}
