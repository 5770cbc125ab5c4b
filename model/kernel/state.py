"""State: what an action or property text sees of a machine, and how it writes.

Reads always give the value *before* the action (simultaneous update); writes go to the state after it. Later writes
of one action win over earlier ones where their indices may coincide; writing the very same cell twice is an error.
A symbolic index outside its domain reads as False, or as the lowest value; writing there is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from .declarations import Constants, Lifetime, earlier
from .domains import Domain, Elements, MemberSet, empty_set, full_set
from .errors import ModelError
from .terms import BoolLike, IntLike, ite


class Interpreter(Protocol):
    """What gives the reads and writes of a text their meaning; ``lowering`` gives it in terms."""

    path: list[BoolLike]
    """The conditions under which the text currently writes."""

    @property
    def constants(self) -> Constants:
        """The constants of the configuration."""
        ...

    def replacement(self, definition: str) -> Callable[..., Any] | None:
        """The text that the machine uses in the place of a definition, if any."""
        ...

    def elements(self, domain: type[Domain]) -> Elements:
        """The elements of a domain in the configuration."""
        ...

    def living_in(self, lifetime: Lifetime) -> list[tuple[str, Any]]:
        """Names of the variables that live in something, each with the value that it has once that ends."""
        ...

    def lookup(self, name: str) -> Any:
        """Value of a variable or constant, or a view of a family."""
        ...

    def read(self, name: str, index: tuple[IntLike, ...]) -> Any:
        """Value before the action at ``index``; a view or a set when indices are missing."""
        ...

    def assign(self, name: str, index: tuple[IntLike, ...], value: Any) -> None:
        """Write a value, or a function of the missing indices if there are any."""
        ...

    def require(self, conditions: Iterable[BoolLike]) -> None:
        """Add guards."""
        ...

    def quantify(self, domain: type[Domain], holds: Callable[[Any], BoolLike], *, universal: bool) -> BoolLike:
        """Whether a condition is true of every element, or of some element."""
        ...

    def count(self, domain: type[Domain], holds: Callable[[Any], BoolLike]) -> IntLike:
        """Number of elements for which a condition is true."""
        ...

    def least(self, domain: type[Domain], holds: Callable[[Any], BoolLike], default: IntLike) -> IntLike:
        """The smallest element for which a condition is true."""
        ...


class State:
    """The state of a machine: ``s.x`` and ``s.family[i, j]`` read, assignments write the next state.

    ``s.family[i] = value`` with fewer indices than the family has assigns all remaining indices; the value may be a
    function of the missing indices: ``s.owns[c] = lambda q: s.share[c, q]``.
    """

    __slots__ = ("_interpreter",)

    _interpreter: Interpreter
    begun: BoolLike
    """Whether a machine with several ways to begin has begun."""

    def __init__(self, interpreter: Interpreter) -> None:
        object.__setattr__(self, "_interpreter", interpreter)

    if not TYPE_CHECKING:  # What there is to read and write is told by the classes of ``declared``.

        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return self._interpreter.lookup(name)

        def __setattr__(self, name: str, value: Any) -> None:
            self._interpreter.assign(name, (), value)

    @property
    def was(self) -> Self:
        """The state before the last step, of which only what the machine remembers can be read."""
        return cast(Self, Earlier(self))

    @property
    def constants(self) -> Constants:
        """The constants of the configuration (they can also be read as ``s.name``)."""
        return self._interpreter.constants

    def replacement(self, definition: str) -> Callable[..., Any] | None:
        """The text that this machine uses in the place of a definition, if any."""
        return self._interpreter.replacement(definition)

    def require(self, *conditions: BoolLike) -> None:
        """Enable the action only where all ``conditions`` hold."""
        self._interpreter.require(conditions)

    @contextmanager
    def when(self, condition: BoolLike) -> Iterator[None]:
        """Make the writes inside the block only where ``condition`` holds."""
        self._interpreter.path.append(condition)
        try:
            yield
        finally:
            self._interpreter.path.pop()

    def forall(self, domain: type[Domain], holds: Callable[[Any], BoolLike]) -> BoolLike:
        """Whether ``holds`` is true of every element of ``domain``."""
        return self._interpreter.quantify(domain, holds, universal=True)

    def exists(self, domain: type[Domain], holds: Callable[[Any], BoolLike]) -> BoolLike:
        """Whether ``holds`` is true of some element of ``domain``."""
        return self._interpreter.quantify(domain, holds, universal=False)

    def count(self, domain: type[Domain], holds: Callable[[Any], BoolLike]) -> IntLike:
        """Number of elements of ``domain`` (a bounded one) of which ``holds`` is true."""
        return self._interpreter.count(domain, holds)

    def least(self, domain: type[Domain], holds: Callable[[Any], BoolLike], *, default: IntLike) -> IntLike:
        """The smallest element of which ``holds`` is true, or ``default`` if there is none."""
        return self._interpreter.least(domain, holds, default)

    def reset(self, lifetime: Lifetime, *index: IntLike, ended: Callable[..., BoolLike] | None = None) -> None:
        """Reset everything that lives in something that has ended to its initial value.

        Args:
            lifetime: what ends, such as windows.
            index: the first of its indices: whose windows end.
            ended: which of them end, as a function of the other indices; all of them if not given.
        """
        reset(self, self._interpreter.living_in(lifetime), index, len(lifetime.domains), ended)

    def elements(self, domain: type[Domain]) -> Elements:
        """The elements of ``domain`` in this configuration."""
        return self._interpreter.elements(domain)

    def empty(self, domain: type[Domain]) -> MemberSet:
        """The empty set over ``domain``."""
        return empty_set(self.elements(domain))

    def full(self, domain: type[Domain]) -> MemberSet:
        """The set of all elements of ``domain``."""
        return full_set(self.elements(domain))


class Earlier:
    """The state before the last step: ``x`` is the variable ``was_x``."""

    def __init__(self, s: Any) -> None:
        self._now = s

    def __getattr__(self, name: str) -> Any:
        return getattr(self._now, earlier(name))


def reset(
    s: Any,
    living: list[tuple[str, Any]],
    index: tuple[IntLike, ...],
    domains: int,
    ended: Callable[..., BoolLike] | None,
) -> None:
    """What :meth:`State.reset` does, in any form of a state: to all variables in ``living``, which has that many
    domains.
    """
    given = domains - len(index)
    for name, first in living:
        if ended is None:
            getattr(s, name)[index] = first
            continue

        def value(*rest: IntLike, name: str = name, first: Any = first) -> Any:
            return ite(ended(*rest[:given]), first, getattr(s, name)[(*index, *rest)])

        getattr(s, name)[index] = value


class FamilyView:
    """A family of variables, possibly with its first indices already given."""

    __slots__ = ("_interpreter", "_name", "_prefix")

    def __init__(self, interpreter: Interpreter, name: str, prefix: tuple[IntLike, ...] = ()) -> None:
        self._interpreter = interpreter
        self._name = name
        self._prefix = prefix

    def __getitem__(self, index: Any) -> Any:
        return self._interpreter.read(self._name, self._prefix + _as_tuple(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._interpreter.assign(self._name, self._prefix + _as_tuple(index), value)

    def __bool__(self) -> bool:
        raise ModelError(f"{self._name} is a family, not a value; index it: {self._name}[…].")

    def __eq__(self, other: object) -> bool:
        return bool(self)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self._name}[{', '.join(map(str, self._prefix))}, …]"


def _as_tuple(index: Any) -> tuple[IntLike, ...]:
    return index if isinstance(index, tuple) else (index,)
