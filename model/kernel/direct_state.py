"""What texts see of a machine in the direct form: its state, and families of values in it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from .declarations import Constants, Lifetime
from .domains import Domain, Elements, MemberSet, empty_set, full_set
from .errors import ModelError, nearest
from .frame import Frame
from .lowered import Family
from .state import Earlier, reset
from .terms import all_of


class Families(Frame):
    """A frame that declares variables, but makes no cell for each index."""

    def _add(self, family: Family) -> None:
        self.families[family.name] = family

    def initial(self, family: Family, index: tuple[int, ...]) -> int:
        """The initial value of a variable."""
        value = self._initial(family, index)
        return bool(value) if family.is_bool else value


class Holder(Protocol):
    """The owner of the state, to which writes are passed on; see ``direct``."""

    values: dict[str, Values]
    ranges: dict[str, Sequence[int]]

    @property
    def frame(self) -> Families:
        """What the configuration declares."""
        ...

    def assign(self, name: str, index: tuple[Any, ...], value: Any) -> None:
        """Write a value, or a function of the missing indices if there are any."""
        ...

    def range_of(self, elements: Elements) -> Sequence[int]:
        """The elements of a domain that texts look at."""
        ...

    def where(self) -> str:
        """The machine and the text that runs: the beginning of every error message."""
        ...


class NotEnabled(Exception):
    """A guard is false."""


class _Size(int):
    """A number of elements. Division by it gives 0 if it is 0, as it does for terms (see ``terms``)."""

    def __rfloordiv__(self, other: int) -> int:
        return other // int(self) if self else 0

    def __rmod__(self, other: int) -> int:
        return other % int(self) if self else 0


class _Members(MemberSet):
    """A set that is read from a variable."""

    def size(self) -> int:
        return _Size(super().size())


class Values:
    """The values of one family: what texts read and write as ``s.name[index]``."""

    __slots__ = (
        "_direct",
        "count",
        "enumeration",
        "family",
        "high",
        "is_bool",
        "known",
        "low",
        "name",
        "single",
        "sizes",
        "usual",
    )

    def __init__(self, direct: Holder, family: Family) -> None:
        self._direct = direct
        self.family = family
        self.name = family.name
        self.count = len(family.dims)  # how many indices there are
        self.single = not self.count  # whether there is one value only, so no index
        self.sizes: tuple[int, ...] = tuple(int(dim.size) for dim in family.dims)
        self.is_bool = family.is_bool
        self.enumeration = family.enumeration
        self.low, self.high = family.low, family.high
        # values by index, stored only if they differ from the usual one; for a single variable, the values of the
        # state, by name
        self.known: dict[Any, Any] = {}
        self.usual: Any = None  # the initial value, if it is the same at all indices, inside and outside the domains
        outside = False if family.is_bool else family.low
        if not callable(family.variable.init) and direct.frame.initial(family, ()) == outside:
            self.usual = outside

    def at(self, index: tuple[int, ...]) -> Any:
        """The value at an index; outside the domains False, or the lowest value."""
        value = self.known.get(index if self.count else self.name)
        if value is not None:
            return value
        if self.usual is not None:
            return self.usual
        if not self.is_inside(index):
            return False if self.is_bool else self.low
        value = self.known[index] = self._direct.frame.initial(self.family, index)
        return value

    def restart(self) -> None:
        """Reset all values to the initial ones."""
        if self.count:
            self.known.clear()
        else:
            self.known[self.name] = self._direct.frame.initial(self.family, ())

    def set(self, index: tuple[int, ...], value: Any) -> None:
        """Set the value at an index."""
        if not self.count:
            self.known[self.name] = value
        elif value == self.usual:
            self.known.pop(index, None)
        else:
            self.known[index] = value

    def contains(self, value: int) -> bool:
        """Whether a value is in the range of the family."""
        return self.low <= value and (self.high is None or value <= self.high)

    def is_inside(self, index: tuple[int, ...]) -> bool:
        """Whether an index is inside the domains."""
        return all(0 <= item < size for item, size in zip(index, self.sizes, strict=True))

    def places(self) -> Iterator[tuple[int, ...]]:
        """All indices."""
        return itertools.product(*map(range, self.sizes))

    def __getitem__(self, index: Any) -> Any:
        if index.__class__ is not tuple:
            index = (index,)
        if len(index) == self.count:
            value = self.known.get(index, self.usual)
            return self.at(index) if value is None else value
        missing = self.count - len(index)
        if missing < 0:
            where = self._direct.where()
            raise ModelError(f"{where}: {self.name!r} has {self.count} indices, but is given {len(index)}.")
        if missing == 1 and self.family.member_of is not None:
            return _Members(self.family.member_of, lambda item: self[(*index, item)])
        return _Rest(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._direct.assign(self.name, index if index.__class__ is tuple else (index,), value)

    def __bool__(self) -> bool:
        raise ModelError(f"{self.name} is a family, not a value; index it: {self.name}[…].")


class _Rest:
    """A family with its first indices given."""

    def __init__(self, values: Values, given: tuple[int, ...]) -> None:
        self._values = values
        self._given = given

    def __getitem__(self, index: Any) -> Any:
        return self._values[(*self._given, *(index if index.__class__ is tuple else (index,)))]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._values[(*self._given, *(index if index.__class__ is tuple else (index,)))] = value


class DirectState:
    """What texts see as the state: attributes are the constants, families, and the values of single variables."""

    constants: Constants
    path: list[bool]
    _direct: Holder

    def __init__(self, direct: Holder) -> None:
        told = vars(self)
        told["_direct"] = direct
        told["constants"] = direct.frame.constants
        told["path"] = []
        told["replacement"] = direct.frame.configuration.machine.replacements.get
        told.update(direct.frame.constants)
        for name, values in direct.values.items():
            if values.family.member_of is not None and values.count == 1:
                told[name] = values[()]
            elif values.single:
                values.known = told
            else:
                told[name] = values

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        direct: Holder = vars(self)["_direct"]
        names = [*direct.frame.families, *direct.frame.constants]
        raise ModelError(f"{direct.where()}: there is no variable {name!r} here.{nearest(name, names)}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "constants":
            vars(self)[name] = value
        else:
            self._direct.assign(name, (), value)

    @property
    def was(self) -> Earlier:
        """The state before the last step."""
        return Earlier(self)

    def require(self, *conditions: bool) -> None:
        """A guard: the text ends here if it is false."""
        if self.path:
            where = self._direct.where()
            raise ModelError(f"{where}: 'require' inside 's.when' would guard the whole action; move it out.")
        for condition in conditions:
            if condition is not True and not all_of(condition):
                raise NotEnabled

    @contextmanager
    def when(self, condition: bool) -> Iterator[None]:
        """Make the writes inside the block only where ``condition`` holds."""
        self.path.append(condition)
        try:
            yield
        finally:
            self.path.pop()

    def reset(self, lifetime: Lifetime, *index: int, ended: Callable[..., bool] | None = None) -> None:
        """Reset everything that lives in something that has ended; see :meth:`State.reset`."""
        reset(self, self._direct.frame.living_in(lifetime), index, len(lifetime.domains), ended)

    def forall(self, domain: type[Domain], holds: Callable[[int], bool]) -> bool:
        """Whether ``holds`` is true of every element."""
        for item in self._range(domain):
            value = holds(item)
            if value is not True:
                return self._answer(value)
        return True

    def exists(self, domain: type[Domain], holds: Callable[[int], bool]) -> bool:
        """Whether ``holds`` is true of some element."""
        for item in self._range(domain):
            value = holds(item)
            if value is not False:
                return self._answer(value)
        return False

    def count(self, domain: type[Domain], holds: Callable[[int], bool]) -> int:
        """Number of elements of which ``holds`` is true."""
        return sum(holds(item) for item in self._range(domain))

    def least(self, domain: type[Domain], holds: Callable[[int], bool], *, default: int) -> int:
        """The smallest element of which ``holds`` is true, or ``default``."""
        return next((item for item in self._range(domain) if holds(item)), default)

    def elements(self, domain: type[Domain]) -> Elements:
        """The elements of a domain in this configuration."""
        found: Elements = self._direct.frame.elements(domain)
        return found

    def empty(self, domain: type[Domain]) -> MemberSet:
        """The empty set."""
        return empty_set(self.elements(domain))

    def full(self, domain: type[Domain]) -> MemberSet:
        """The set of all elements."""
        return full_set(self.elements(domain))

    def _range(self, domain: type[Domain]) -> Sequence[int]:
        direct = self._direct
        found = direct.ranges.get(domain.__name__)
        return direct.range_of(direct.frame.elements(domain)) if found is None else found

    def _answer(self, value: object) -> bool:
        if not isinstance(value, bool):
            where = self._direct.where()
            raise ModelError(f"{where}: a quantifier asks for a truth value, but is given {value!r}.")
        return value
