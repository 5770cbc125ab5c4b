"""Classes of states: the variables and constants of a machine, declared once, for the kernel and for type checkers.

    @machine.state
    class Votes(State):
        managers = constant(3, low=1)
        stage = variable(Stage, Manager)

A text over it is a function of ``s: Votes``. A type checker then knows that ``s.stage[r]`` is a number and has one
index, and that ``s.stag`` is a mistake. States of several parts are combined by inheritance. At run time such a class
is only read: every text is given the same kind of state, whatever it is annotated with.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, TypeVarTuple, overload

from .declarations import Constants, Lifetime, always
from .domains import Int, MemberSet, SetOf
from .state import State
from .terms import BoolLike, IntLike

T = TypeVar("T")
D1 = TypeVar("D1")
D2 = TypeVar("D2")
D3 = TypeVar("D3")
Domains = TypeVarTuple("Domains")


@dataclass(frozen=True)
class Declared(Generic[T, *Domains]):
    """A variable or constant in a class of states: how it is declared, and how texts read and write it."""

    what: Literal["constant", "variable"]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    if TYPE_CHECKING:

        @overload
        def __get__(self: Declared[T], s: State, owner: object) -> T: ...
        @overload
        def __get__(self: Declared[T, D1], s: State, owner: object) -> Family1[T]: ...
        @overload
        def __get__(self: Declared[T, D1, D2], s: State, owner: object) -> Family2[T]: ...
        @overload
        def __get__(self: Declared[T, D1, D2, D3], s: State, owner: object) -> Family3[T]: ...
        def __get__(self, s: State, owner: object) -> Any: ...

        @overload
        def __set__(self: Declared[T], s: State, value: T) -> None: ...
        @overload
        def __set__(self: Declared[T, D1], s: State, value: T | Callable[[IntLike], T] | Family1[T]) -> None: ...
        @overload
        def __set__(
            self: Declared[T, D1, D2], s: State, value: T | Callable[[IntLike, IntLike], T] | Family2[T]
        ) -> None: ...
        @overload
        def __set__(
            self: Declared[T, D1, D2, D3], s: State, value: T | Callable[[IntLike, IntLike, IntLike], T] | Family3[T]
        ) -> None: ...
        def __set__(self: Any, s: State, value: Any) -> None: ...


@overload
def variable(
    kind: type[bool],
    /,
    *domains: *Domains,
    init: Any = None,
    when: Callable[[Constants], bool] = always,
    lives_in: Lifetime | None = None,
    doc: str = "",
) -> Declared[BoolLike, *Domains]: ...
@overload
def variable(
    kind: type[enum.IntEnum] | Int,
    /,
    *domains: *Domains,
    init: Any = None,
    when: Callable[[Constants], bool] = always,
    lives_in: Lifetime | None = None,
    doc: str = "",
) -> Declared[IntLike, *Domains]: ...
@overload
def variable(
    kind: SetOf,
    /,
    *domains: *Domains,
    init: Any = None,
    when: Callable[[Constants], bool] = always,
    lives_in: Lifetime | None = None,
    doc: str = "",
) -> Declared[MemberSet, *Domains]: ...
def variable(
    kind: Any,
    /,
    *domains: *Domains,
    init: Any = None,
    when: Callable[[Constants], bool] = always,
    lives_in: Lifetime | None = None,
    doc: str = "",
) -> Any:
    """A variable (or, with ``domains``, a family); see :meth:`Machine.variable`."""
    options = {"init": init, "when": when, "lives_in": lives_in, "doc": doc}
    return Declared("variable", (kind, *domains), options)


@overload
def constant(default: int, *, low: int = 0, high: int | None = None, doc: str = "") -> Declared[IntLike]: ...
@overload
def constant(default: str, *, choices: Iterable[str] | None = None, doc: str = "") -> Declared[str]: ...
def constant(default: int | str, **options: Any) -> Any:
    """A constant; see :class:`Constant`."""
    return Declared("constant", (default,), options)


if TYPE_CHECKING:

    class Family1(Generic[T]):
        """Values with one index."""

        def __getitem__(self, index: IntLike) -> T: ...
        def __setitem__(self, index: IntLike, value: T) -> None: ...

    class Family2(Generic[T]):
        """Values with two indices; with one of them given, those that are left."""

        @overload
        def __getitem__(self, index: IntLike) -> Family1[T]: ...
        @overload
        def __getitem__(self, index: tuple[IntLike, IntLike]) -> T: ...
        def __getitem__(self, index: Any) -> Any: ...

        @overload
        def __setitem__(self, index: IntLike, value: T | Callable[[IntLike], T] | Family1[T]) -> None: ...
        @overload
        def __setitem__(self, index: tuple[IntLike, IntLike], value: T) -> None: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...

    class Family3(Generic[T]):
        """Values with three indices; with some of them given, those that are left."""

        @overload
        def __getitem__(self, index: IntLike) -> Family2[T]: ...
        @overload
        def __getitem__(self, index: tuple[IntLike, IntLike]) -> Family1[T]: ...
        @overload
        def __getitem__(self, index: tuple[IntLike, IntLike, IntLike]) -> T: ...
        def __getitem__(self, index: Any) -> Any: ...

        @overload
        def __setitem__(self, index: IntLike, value: T | Callable[[IntLike, IntLike], T] | Family2[T]) -> None: ...
        @overload
        def __setitem__(
            self, index: tuple[IntLike, IntLike], value: T | Callable[[IntLike], T] | Family1[T]
        ) -> None: ...
        @overload
        def __setitem__(self, index: tuple[IntLike, IntLike, IntLike], value: T) -> None: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
