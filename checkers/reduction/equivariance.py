"""Proof that the elements of symmetric domains are interchangeable: exchanging two of them and then taking a step gives
the same result as taking the step with exchanged parameters and then exchanging them.

It is enough to show this for neighbours, since their exchanges generate all permutations. Z3 answers for all states
that the domains allow, so a text that orders elements, counts with them or picks the least is found without a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from ...model.kernel import Elements, Instance, Lowered, ModelError

_EFFORT = 5_000_000


@dataclass(frozen=True)
class Exchange:
    """The exchange of two elements of a symmetric domain."""

    elements: Elements
    first: int
    second: int

    def of(self, item: int) -> int:
        """The element that takes the place of a given one."""
        return self.second if item == self.first else self.first if item == self.second else item

    def __str__(self) -> str:
        return f"{self.elements.label}{self.first} and {self.elements.label}{self.second}"


def symmetric_domains(lowered: Lowered) -> tuple[Elements, ...]:
    """The domains whose elements are interchangeable in a finite configuration, properties included.

    Those declared ``symmetric=True`` must be; the others are included if this can be proven.

    Raises:
        ModelError: the initial state, an action or a property treats elements of a domain that is declared symmetric
            differently, or Z3 gave up on the proof; names the text and what the exchange changes.
    """
    found: dict[str, Elements] = {}
    for cell in lowered.cells:
        for dim in cell.family.dims:
            if dim.bounded and dim.size > 1:
                found.setdefault(dim.name, dim)
    symmetric = []
    for elements in found.values():
        objection = next(
            filter(None, (_Proof(lowered, exchange).objection() for exchange in _neighbours(elements))), ""
        )
        if objection and elements.symmetric:
            raise ModelError(objection)
        if not objection:
            symmetric.append(elements)
    return tuple(symmetric)


def _neighbours(elements: Elements) -> Iterator[Exchange]:
    for first in range(elements.size - 1):
        yield Exchange(elements, first, first + 1)


class _Proof:
    def __init__(self, lowered: Lowered, exchange: Exchange) -> None:
        self._lowered = lowered
        self._exchange = exchange
        numbers = {cell.key: number for number, cell in enumerate(lowered.cells)}
        self._image = [
            numbers[(cell.family.name, self._exchanged(cell.index, cell.family.dims))] for cell in lowered.cells
        ]
        self._renaming = [
            (cell.symbol, lowered.cells[image].symbol)
            for cell, image in zip(lowered.cells, self._image, strict=True)
            if cell is not lowered.cells[image]
        ]
        self._instances = {self._identity(item, item.arguments): item for item in lowered.instances}
        self._solver = z3.Solver()
        self._solver.set("rlimit", _EFFORT)
        for cell in lowered.cells:
            if not cell.family.is_bool:
                self._solver.add(cell.family.low <= cell.symbol, cell.symbol <= cell.family.high)

    def objection(self) -> str:
        """What the exchange changes, as an error message; empty if it changes nothing."""
        return next(self._objections(), "")

    def _objections(self) -> Iterator[str]:
        cells = self._lowered.cells
        for cell, image in zip(cells, self._image, strict=True):
            if cell.initial != cells[image].initial:
                yield self._say("the initial state", f"what {cell.label} and {cells[image].label} begin with")
        for predicate in self._lowered.predicates.values():
            yield from self._compare(f"property {predicate.name}", [], [("its value", predicate.term, predicate.term)])
        for instance in self._lowered.instances:
            other = self._instances.get(self._identity(instance, self._exchanged_arguments(instance)))
            if other is None:
                yield self._say(f"action {instance.label}", "the guard, which then can never be true")
                continue
            yield from self._compare(f"action {instance.label}", [], [("the guard", instance.guard, other.guard)])
            yield from self._compare(f"action {instance.label}", [instance.guard], list(self._updates(instance, other)))

    def _updates(self, instance: Instance, other: Instance) -> Iterator[tuple[str, Any, Any]]:
        for number, cell in enumerate(self._lowered.cells):
            image = self._image[number]
            if number in instance.updates or image in other.updates:
                value = instance.updates.get(number, cell.symbol)
                yield (
                    f"the value given to {cell.label}",
                    value,
                    other.updates.get(image, self._lowered.cells[image].symbol),
                )

    def _compare(self, text: str, assumed: list[Any], pairs: list[tuple[str, Any, Any]]) -> Iterator[str]:
        """An objection, unless each first term is equal to its second one after the exchange."""
        open_questions = []
        for what, left, right in pairs:
            renamed = z3.substitute(right, self._renaming)
            if not left.eq(renamed) and not z3.simplify(left).eq(z3.simplify(renamed)):
                open_questions.append((what, left != renamed))
        if not open_questions or self._check(*assumed, z3.Or([question for _, question in open_questions])) == z3.unsat:
            return
        for what, question in open_questions:
            answer = self._check(*assumed, question)
            if answer != z3.unsat:
                yield self._say(text, what if answer == z3.sat else f"perhaps {what}, which could not be proven equal")

    def _check(self, *conditions: Any) -> Any:
        self._solver.push()
        self._solver.add(*conditions)
        answer = self._solver.check()
        self._solver.pop()
        return answer

    def _exchanged(self, index: tuple[int | None, ...], dims: tuple[Elements, ...]) -> tuple[int | None, ...]:
        return tuple(
            self._exchange.of(item) if item is not None and dim.name == self._exchange.elements.name else item
            for item, dim in zip(index, dims, strict=True)
        )

    def _exchanged_arguments(self, instance: Instance) -> Mapping[str, int | None]:
        kinds = instance.action.parameters
        return {
            name: self._exchange.of(value)
            if value is not None and kinds[name].__name__ == self._exchange.elements.name
            else value
            for name, value in instance.arguments.items()
        }

    @staticmethod
    def _identity(instance: Instance, arguments: Mapping[str, int | None]) -> tuple[object, ...]:
        return (instance.action.name, *arguments.values())

    def _say(self, text: str, what: str) -> str:
        name = self._exchange.elements.name
        return (
            f"machine {self._lowered.configuration.machine.name}, {text}: the elements of {name} are not "
            f"interchangeable; to exchange {self._exchange} changes {what}. Compare elements of a symmetric domain "
            f"with same() only, never order them, or leave out symmetric=True of {name}."
        )
