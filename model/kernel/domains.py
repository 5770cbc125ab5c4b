"""Domains: the finite sets over which variables, families and parameters range.

Three kinds of values: ``bool``, an :class:`enum.IntEnum` class, and :class:`Int` (a range of whole numbers), plus
:class:`SetOf` for sets of members. A :class:`Domain` is an index set (consumers, queues, messages …) whose size is a
constant of the machine, so that one text serves every configuration, an unbounded one included.
"""

from __future__ import annotations

import enum
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, TypeAlias

from .errors import ModelError
from .terms import BoolLike, IntLike, Term, all_of, any_of, ite, not_, same, total


class Domain(Term):
    """An index set 0 … size-1. Subclass it, never make an instance; elements are plain ints (or terms if unbounded).

    ``class Queue(Domain, size="queues", label="q")`` declares queues ``q0, q1, …``, as many as the constant ``queues``
    says. ``size`` may be a plain integer for a fixed set. The class serves as annotation of action parameters.

    ``symmetric=True`` says that the elements are interchangeable: no text orders them, counts with them or treats one
    of them in its own way. A search may then keep one of all the states that differ by an exchange of elements.
    """

    __slots__ = ()
    size: ClassVar[str | int]
    label: ClassVar[str]
    symmetric: ClassVar[bool]

    def __init_subclass__(cls, *, size: str | int, label: str = "", symmetric: bool = False) -> None:
        super().__init_subclass__()
        cls.size = size
        cls.label = label or cls.__name__[0].lower()
        cls.symmetric = symmetric


@dataclass(frozen=True)
class Int:
    """Whole numbers ``low … high``, both included. A bound may name a constant, or be a function of the constants.

    ``high=None`` leaves the range open: such a variable can be reasoned about by ``prove``, never searched.
    """

    low: Bound = 0
    high: Bound | None = None


Bound: TypeAlias = int | str | Callable[[Any], IntLike]


@dataclass(frozen=True)
class SetOf:
    """Sets of elements of a domain; a variable of this type reads as a :class:`MemberSet`."""

    domain: type[Domain]


ValueType: TypeAlias = type[bool] | type[enum.IntEnum] | Int


@dataclass(frozen=True)
class Elements:
    """A domain in one configuration: its elements, or a symbolic size when it is unbounded."""

    name: str  # name of the domain
    label: str  # prefix for elements in stories
    size: IntLike  # number of elements, a term when unbounded
    symmetric: bool = False  # whether the elements are declared interchangeable

    @property
    def bounded(self) -> bool:
        """Whether the size is a plain integer."""
        return isinstance(self.size, int)

    def contains(self, element: IntLike) -> BoolLike:
        """Whether ``element`` is one of the set."""
        return all_of(0 <= element, element < self.size)


@dataclass(frozen=True)
class MemberSet:
    """A set of domain elements, known by its membership test; operators build new sets."""

    elements: Elements  # the domain it is a set of
    has: Callable[[IntLike], BoolLike]  # the membership test: whether an element belongs to the set

    def add(self, element: IntLike) -> MemberSet:
        """The set with ``element``."""
        return MemberSet(self.elements, lambda other: any_of(same(element, other), self.has(other)))

    def remove(self, element: IntLike) -> MemberSet:
        """The set without ``element``."""
        return MemberSet(self.elements, lambda other: all_of(not_(same(element, other)), self.has(other)))

    def __or__(self, other: MemberSet) -> MemberSet:
        return MemberSet(self.elements, lambda item: any_of(self.has(item), other.has(item)))

    def __and__(self, other: MemberSet) -> MemberSet:
        return MemberSet(self.elements, lambda item: all_of(self.has(item), other.has(item)))

    def __sub__(self, other: MemberSet) -> MemberSet:
        return MemberSet(self.elements, lambda item: all_of(self.has(item), not_(other.has(item))))

    def where(self, condition: BoolLike, otherwise: MemberSet) -> MemberSet:
        """This set where ``condition`` holds, else ``otherwise``."""
        return MemberSet(self.elements, lambda item: ite(condition, self.has(item), otherwise.has(item)))

    def equals(self, other: MemberSet) -> BoolLike:
        """Whether both have the same elements (finite domains)."""
        return all_of(same(self.has(item), other.has(item)) for item in self._items())

    def size(self) -> IntLike:
        """Number of elements (finite domains)."""
        return total(self.has(item) for item in self._items())

    def rank(self, element: IntLike) -> IntLike:
        """Number of elements smaller than ``element``: its index in the sorted set (finite domains)."""
        return total(all_of(self.has(item), item < element) for item in self._items())

    def _items(self) -> range:
        if not self.elements.bounded:
            raise ModelError(
                f"the elements of {self.elements.name} cannot be counted or listed: its size is unbounded here; "
                "quantify with s.forall / s.exists instead."
            )
        return range(self.elements.size)


def empty_set(elements: Elements) -> MemberSet:
    """The set without elements."""
    return MemberSet(elements, lambda _: False)


def full_set(elements: Elements) -> MemberSet:
    """The set of all elements."""
    return MemberSet(elements, lambda _: True)


def parameter_domains(text: Callable[..., object], name: str, *allowed: type) -> dict[str, Any]:
    """The classes with which a text annotates its parameters after the state, whose class may be any.

    Args:
        text: an action, or what a property says.
        name: what it is called in messages.
        allowed: what the classes must be derived from.

    Raises:
        ModelError: an annotation is missing, cannot be found, or is no such class.
    """
    names = list(inspect.signature(text).parameters)[1:]
    given = {parameter: hint for parameter, hint in text.__annotations__.items() if parameter in names}
    try:
        hints = typing.get_type_hints(SimpleNamespace(__annotations__=given), text.__globals__)
    except NameError as error:
        raise ModelError(
            f"{name}: the annotation {error.name!r} cannot be found; declare the domain at module level, or leave out "
            "'from __future__ import annotations' in that file."
        ) from None
    for parameter in names:
        kind = hints.get(parameter)
        if not isinstance(kind, type) or not issubclass(kind, allowed):
            possible = "a Domain class, an IntEnum class or bool" if bool in allowed else "a Domain class"
            raise ModelError(f"{name}: parameter {parameter!r} is annotated {kind!r}; annotate it with {possible}.")
    return {parameter: hints[parameter] for parameter in names}
