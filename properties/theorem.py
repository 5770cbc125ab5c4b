"""Theorems: statements about rules, for every number of queues, consumers and whatever else they mention.

The assumption and the claim are ordinary functions of the theorem's parameters, written like rules. With terms for
parameters they become a question for Z3. With plain numbers they compute, so that a case found by the solver can be
tried again without it. With numbers for the sizes and terms for the rest, quantifiers unfold, and the question is
finite.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import z3

from ..model.kernel import BoolLike, IntLike, ModelError, Term, all_of, any_of, implies, not_, same, total
from ..model.kernel.terms import as_bool, as_int

R = TypeVar("R")

Case: TypeAlias = Mapping[str, Any]
"""Parameter → its value: a number or a term; for a symbol a Python function of numbers or of terms."""


@dataclass(frozen=True)
class Relation:
    """A parameter that is any relation over whole numbers, called like a function with a truth value."""

    arity: int = 1


@dataclass(frozen=True)
class Function:
    """A parameter that is any function from whole numbers to whole numbers."""

    arity: int = 1


@dataclass(frozen=True, kw_only=True)
class Theorem:
    """A statement about rules. Its parameters are those that its functions name; each function gets the ones it
    names.
    """

    id: str  # short name with dashes, used on the command line
    statement: str  # one sentence a user of RocketMQ understands
    claim: Callable[..., BoolLike]  # what holds
    # what is assumed about the parameters. If it is plainly false, the claim is not computed, so a claim that divides
    # by a size needs "size >= 1" here
    given: Callable[..., BoolLike] = lambda: True
    # parameters that give the size of a case, whole numbers from 0; the smallest case has the least sum
    sizes: tuple[str, ...] = ("queues", "consumers")
    # parameters that are relations or functions; the others are whole numbers
    symbols: Mapping[str, Relation | Function] = field(default_factory=dict)
    tells: Callable[..., str] | None = None  # what is wrong in a failing case, in words, from plain values
    covers: str = "every number of queues and consumers"  # what a proof covers, in words
    rules: tuple[str, ...] = ()  # ids of the rules of RocketMQ on which it rests, such as ``RB-21``

    def __post_init__(self) -> None:
        for name in (*self.sizes, *self.symbols):
            if name not in self.parameters:
                raise ModelError(f"theorem {self.id}: {name} is no parameter; they are {', '.join(self.parameters)}.")

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of all parameters: the sizes first, then in the order in which the assumption and the claim name
        them.
        """
        named = (*inspect.signature(self.given).parameters, *inspect.signature(self.claim).parameters)
        return tuple(dict.fromkeys((*(size for size in self.sizes if size in named), *named)))

    @property
    def numbers(self) -> tuple[str, ...]:
        """Names of the parameters that are whole numbers."""
        return tuple(name for name in self.parameters if name not in self.symbols)

    def case(self, known: Mapping[str, int]) -> dict[str, Any]:
        """All parameters: the numbers in ``known`` as given, the rest as unknowns with the parameter's name."""
        return {name: known[name] if name in known else self._unknown(name) for name in self.parameters}

    def assumption(self, case: Case) -> BoolLike:
        """Whether the case is one the theorem speaks about."""
        return _apply(self.given, case)

    def conclusion(self, case: Case) -> BoolLike:
        """Whether the claim holds in the case."""
        return _apply(self.claim, case)

    def fails(self, case: Case) -> bool:
        """Whether a case of plain values contradicts the theorem; computed, without a solver."""
        return bool(self.assumption(case)) and not bool(self.conclusion(case))

    def tell(self, case: Case) -> str:
        """Describe a case of plain values in words."""
        if self.tells is not None:
            return str(_apply(self.tells, case))
        return ", ".join(f"{name} = {case[name]}" for name in self.numbers)

    def declaration(self, name: str) -> Any:
        """The relation or function ``name`` as a Z3 declaration."""
        symbol = self.symbols[name]
        sort = z3.BoolSort() if isinstance(symbol, Relation) else z3.IntSort()
        return z3.Function(name, *[z3.IntSort()] * symbol.arity, sort)

    def _unknown(self, name: str) -> Any:
        if name not in self.symbols:
            return Term(z3.Int(name), False)
        declaration, is_bool = self.declaration(name), isinstance(self.symbols[name], Relation)
        return lambda *arguments: Term(declaration(*[as_int(argument) for argument in arguments]), is_bool)


def forall(low: IntLike, high: IntLike, body: Callable[[Any], BoolLike]) -> BoolLike:
    """Whether ``body`` holds for every number from ``low`` up to but not including ``high``."""
    if isinstance(low, int) and isinstance(high, int):
        return all_of(body(value) for value in range(low, high))
    bound = z3.FreshInt("any")
    value = Term(bound, False)
    return Term(z3.ForAll([bound], as_bool(implies(all_of(low <= value, value < high), body(value)))), True)


def exists(low: IntLike, high: IntLike, body: Callable[[Any], BoolLike], *, witness: IntLike | None = None) -> BoolLike:
    """Whether ``body`` holds for some number from ``low`` up to but not including ``high``.

    Args:
        low: first number.
        high: the number after the last.
        body: what must hold.
        witness: which number it is, for a proof with unknown bounds: the proof then shows that this number satisfies
            ``body``, which is more than is claimed. Use it in claims only; in an assumption it would assume too much.
    """
    if isinstance(low, int) and isinstance(high, int):
        return any_of(body(value) for value in range(low, high))
    if witness is not None:
        return all_of(low <= witness, witness < high, body(witness))
    return not_(forall(low, high, lambda value: not_(body(value))))


def exactly_one(
    low: IntLike, high: IntLike, body: Callable[[Any], BoolLike], *, witness: IntLike | None = None
) -> BoolLike:
    """Whether ``body`` holds for one number of the range and for no other; ``witness`` as in :func:`exists`."""
    if isinstance(low, int) and isinstance(high, int):
        return same(total(body(value) for value in range(low, high)), 1)

    def only(value: IntLike) -> BoolLike:
        return all_of(body(value), forall(low, high, lambda other: implies(body(other), same(other, value))))

    return exists(low, high, only, witness=witness)


def counted(low: IntLike, high: IntLike, body: Callable[[Any], BoolLike], *, formula: IntLike) -> IntLike:
    """How many numbers from ``low`` up to but not including ``high`` satisfy ``body``.

    Args:
        low: first number.
        high: the number after the last.
        body: what is counted.
        formula: the same number, for a proof with unknown bounds, in which nothing can be counted one by one. In a
            claim :func:`formula_counts` must accompany it; without that, an assumption assumes less, which is always
            sound.
    """
    if isinstance(low, int) and isinstance(high, int):
        return total(body(value) for value in range(low, high))
    return formula


def formula_counts(
    low: IntLike,
    high: IntLike,
    body: Callable[[Any], BoolLike],
    *,
    formula: IntLike,
    nth: Callable[[Any], IntLike],
    number: Callable[[Any], IntLike],
) -> BoolLike:
    """That the formula given to :func:`counted` is right; there is nothing to show if the bounds are known.

    It is right if the counted elements can be numbered from 0 up to the formula, in ascending order and without gaps.

    Args:
        low: first number.
        high: the number after the last.
        body: what is counted.
        formula: how many there are.
        nth: number → the element with that number.
        number: element → its number.
    """
    if isinstance(low, int) and isinstance(high, int):
        return True

    def counts(place: IntLike) -> BoolLike:
        return all_of(low <= nth(place), nth(place) < high, body(nth(place)))

    def is_numbered(value: IntLike) -> BoolLike:
        return implies(
            body(value), all_of(0 <= number(value), number(value) < formula, same(nth(number(value)), value))
        )

    return all_of(
        0 <= formula,
        forall(0, formula, counts),
        forall(1, formula, lambda place: nth(place - 1) < nth(place)),
        forall(low, high, is_numbered),
    )


def _apply(function: Callable[..., R], case: Case) -> R:
    return function(**{name: case[name] for name in inspect.signature(function).parameters})
