"""The direct form of a machine: its texts run on plain numbers, with nothing traced or unrolled before.

Other forms unroll every action over all its parameters, so what they cost grows with the configuration. Here an action
is its text, and it is run when it is asked for: a configuration with thousands of messages costs no more to build than
one with two, and a single long run can be followed through it. All successors of many states are the business of
``plain`` and ``native``.
"""

from __future__ import annotations

import copy
import enum
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from .declarations import Action, Constants
from .domains import Domain, MemberSet
from .errors import ModelError, nearest
from .frame import Frame
from .machine import Configuration
from .state import FamilyView, State
from .terms import all_of
from .traced import Family

DirectState: TypeAlias = Mapping[str, tuple[int, ...]]
"""A state: name of a variable → its values, those of the last index next to each other."""

Text: TypeAlias = Callable[..., Any]
"""An action or a predicate: called with a :class:`State` and arguments."""


class Direct:
    """A configuration whose actions are run as they are written.

    States are never changed; a step gives a new one, which shares with the old one what the action did not write.

    Attributes:
        frame: what the configuration declares.
        initial: the initial state.
    """

    def __init__(self, configuration: Configuration) -> None:
        """Prepare a configuration.

        Raises:
            ModelError: a constant that sizes something is unbounded (budgets may be).
        """
        if configuration.unbounded:
            raise ModelError(
                f"the direct form needs numbers, but in {configuration} {', '.join(configuration.unbounded)} is "
                "unbounded; give it a number, or use the engine 'prove'."
            )
        self.frame = _Families(configuration)
        self._focus: Mapping[str, Sequence[int]] = {}
        self.initial: DirectState = MappingProxyType(self.frame.initial())
        known = self.frame.constants
        self._actions = {
            name: action
            for name, action in configuration.machine.actions.items()
            if action.when(known) and (action.budget is None or known[action.budget] != 0)
        }

    @property
    def actions(self) -> Mapping[str, Action]:
        """The actions that exist here, by name."""
        return self._actions

    def varied(self, **constants: int | str) -> Direct:
        """The same states under other constants: what a text reads of these is different, and nothing else.

        Raises:
            ModelError: with these constants other variables would exist, or other values be possible.
        """
        here = self.frame.configuration
        other = Direct(Configuration(here.machine, Constants({**here.constants, **constants})))
        other._focus = self._focus
        changed = [name for name in {*other.frame.families, *self.frame.families} if self._shape(name, other)]
        if changed:
            raise ModelError(f"{constants} would change the states of {here}: {', '.join(sorted(changed))}.")
        return other

    def focused(self, **domains: Sequence[int]) -> Direct:
        """The same machine whose texts look at, and write to, these elements of the named domains only, in this order.

        This saves time in a long queue. The caller knows that no text would find, or change, anything at the others.
        """
        other = copy.copy(self)
        other._focus = {**self._focus, **domains}
        return other

    def _shape(self, name: str, other: Direct) -> bool:
        mine, others = self.frame.families.get(name), other.frame.families.get(name)
        if mine is None or others is None:
            return True
        return (mine.dims, mine.low, mine.high) != (others.dims, others.low, others.high)

    def step(self, state: DirectState, name: str, **arguments: int) -> DirectState | None:
        """The state after an action, or None where it is not enabled.

        Raises:
            ModelError: there is no such action here, or it writes outside a declared domain.
        """
        action = self._actions.get(name)
        if action is None:
            machine = self.frame.configuration.machine.name
            raise ModelError(f"machine {machine} has no action {name!r} here.{nearest(name, self._actions)}")
        left = f"{action.budget}_left"
        budget = left if left in self.frame.families else ""
        return _Run(self.frame, self._focus, state, f"action {_call(name, arguments)}").apply(
            action.function, arguments, budget
        )

    def enabled(self, state: DirectState, name: str, **arguments: int) -> bool:
        """Whether an action can happen in ``state``."""
        return self.step(state, name, **arguments) is not None

    def run(self, state: DirectState, text: Text, **arguments: Any) -> DirectState | None:
        """As :meth:`step`, with any text in the place of an action; its arguments may be anything it understands."""
        title = f"text {_call(getattr(text, '__name__', 'without a name'), arguments)}"
        return _Run(self.frame, self._focus, state, title).apply(text, arguments, "")

    def ask(self, state: DirectState, text: Text, **arguments: Any) -> Any:
        """What a text says of ``state``, which it must not change."""
        title = f"property {getattr(text, '__name__', '')}"
        return _Run(self.frame, self._focus, state, title, read_only=True).value(text, arguments)

    def get(self, state: DirectState, name: str, *index: int) -> int:
        """The value of a variable.

        Raises:
            ModelError: there is no such variable here, or it has other indices.
        """
        family = self.frame.families.get(name)
        if family is None or len(index) != len(family.dims):
            raise ModelError(f"there is no variable {name}{list(index)} here.{nearest(name, self.frame.families)}")
        place = _place(family, index)
        return family.low if place is None else state[name][place]

    def has(self, name: str) -> bool:
        """Whether there is a variable of this name in this configuration."""
        return name in self.frame.families

    def choices(self, name: str) -> Iterator[dict[str, int]]:
        """All arguments an action could have, enabled or not, in the order of the other forms."""
        kinds = self._actions[name].parameters
        values: list[Iterable[int]] = []
        for kind in kinds.values():
            if issubclass(kind, Domain):
                values.append(range(self.frame.elements(kind).size))
            else:
                values.append((False, True) if kind is bool else list(kind))
        for choice in itertools.product(*values):
            yield dict(zip(kinds, choice, strict=True))

    def successors(self, state: DirectState) -> Iterator[tuple[str, DirectState]]:
        """All ``(label, next state)`` pairs of ``state``, in the order of the other forms."""
        for name in self._actions:
            for arguments in self.choices(name):
                following = self.step(state, name, **arguments)
                if following is not None:
                    yield _call(name, arguments), following

    def flat(self, state: DirectState) -> tuple[int, ...]:
        """The state as the other forms have it: one whole number for each cell."""
        return tuple(int(value) for name in self.frame.families for value in state[name])


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})" if arguments else name


class _Families(Frame):
    """A frame that declares variables without a cell for each index."""

    def _add(self, family: Family) -> None:
        self.families[family.name] = family

    def initial(self) -> dict[str, tuple[int, ...]]:
        """The initial values."""
        values = {}
        for name, family in self.families.items():
            indices = itertools.product(*(range(dim.size) for dim in family.dims))
            kind = bool if family.is_bool else int
            if callable(family.variable.init):
                values[name] = tuple(kind(self._initial(family, index)) for index in indices)
            else:
                one = kind(self._initial(family, ()))
                values[name] = tuple(one for _ in indices)
        return values


def _place(family: Family, index: tuple[int, ...]) -> int | None:
    """Where the value at ``index`` stands; None outside the domains."""
    place = 0
    for dim, item in zip(family.dims, index, strict=True):
        size = dim.size
        if not 0 <= item < size:
            return None
        place = place * size + item
    return place


class _Size(int):
    """A number of elements: as a divisor that is 0 it gives 0, as terms do (see ``terms``)."""

    def __rfloordiv__(self, other: int) -> int:
        return other // int(self) if self else 0

    def __rmod__(self, other: int) -> int:
        return other % int(self) if self else 0


class _Members(MemberSet):
    """A set that is read from a variable."""

    def size(self) -> int:
        return _Size(super().size())


class _NotEnabled(Exception):
    """A guard is false."""


class _Run:
    """Gives a :class:`State` its meaning for one run of a text: the part that ``Tracer`` has in the other forms."""

    def __init__(
        self,
        frame: _Families,
        focus: Mapping[str, Sequence[int]],
        before: DirectState,
        title: str,
        *,
        read_only: bool = False,
    ) -> None:
        self.frame = frame
        self._focus = focus
        self.path: list[bool] = []
        self._before = before
        self._after: dict[str, list[int]] = {}
        self._outside: list[str] = []
        self._title = title
        self._read_only = read_only

    def apply(self, text: Text, arguments: Mapping[str, Any], budget: str) -> DirectState | None:
        """The state after the text; None where a guard of it is false."""
        state = State(self)  # type: ignore[arg-type]  # a tracer by what it can do
        try:
            if budget:
                self.require([self.read(budget, ()) > 0])
                self.assign(budget, (), self.read(budget, ()) - 1)
            text(state, **arguments)
        except _NotEnabled:
            return None
        if self._outside:
            raise ModelError(self._outside[0])
        written = {name: tuple(values) for name, values in self._after.items()}
        return MappingProxyType({**self._before, **written})

    def value(self, text: Text, arguments: Mapping[str, Any]) -> Any:
        """What the text returns."""
        return text(State(self), **arguments)  # type: ignore[arg-type]

    # --- what a State can do -----------------------------------------------------------------------------------

    def lookup(self, name: str) -> Any:
        """Value of a variable or constant, or a view of a family."""
        family = self.frame.families.get(name)
        if family is None:
            if name in self.frame.constants:
                return self.frame.constants[name]
            raise ModelError(f"{self._where()}: there is no variable {name!r} here.{nearest(name, self._names())}")
        if len(family.dims) - (family.member_of is not None) == 0:
            return self.read(name, ())
        return FamilyView(self, name)  # type: ignore[arg-type]

    def read(self, name: str, index: tuple[int, ...]) -> Any:
        """Value before the action at ``index``; outside the domain False, or the lowest one."""
        family = self.frame.families[name]
        missing = len(family.dims) - len(index)
        if not missing:
            place = _place(family, index)
            return self._before[name][place] if place is not None else False if family.is_bool else family.low
        if missing < 0:
            raise ModelError(f"{self._where()}: {name!r} has {len(family.dims)} indices, but is given {len(index)}.")
        if missing == 1 and family.member_of is not None:
            return _Members(family.member_of, lambda item: self.read(name, (*index, item)))
        return FamilyView(self, name, index)  # type: ignore[arg-type]

    def assign(self, name: str, index: tuple[int, ...], value: Any) -> None:
        """Note a write, at all indices that are missing."""
        family = self.frame.families.get(name)
        if self._read_only or family is None:
            what = "must not write" if self._read_only else "writes what is no variable here"
            raise ModelError(f"{self._where()}: {what}: {name!r}.")
        if not all_of(*self.path):
            return
        given = value.has if isinstance(value, MemberSet) else value
        if len(index) == len(family.dims):
            self._store(family, index, given)
            return
        rest = family.dims[len(index) :]
        for choice in itertools.product(*(self._focus.get(dim.name, range(dim.size)) for dim in rest)):
            self._store(family, (*index, *choice), given(*choice) if callable(given) else given)

    def require(self, conditions: Iterable[bool]) -> None:
        """A guard: the text ends where it is false."""
        if self.path:
            raise ModelError(f"{self._where()}: 'require' inside 's.when' would guard the whole action; move it out.")
        if not all_of(conditions):
            raise _NotEnabled

    def quantify(self, domain: type[Domain], holds: Callable[[int], bool], *, universal: bool) -> bool:
        """Ask the elements one after the other, as far as needed."""
        for item in self._range(domain):
            value = holds(item)
            if not isinstance(value, bool):
                raise ModelError(f"{self._where()}: a quantifier asks for a truth value, but is given {value!r}.")
            if value is not universal:
                return not universal
        return universal

    def count(self, domain: type[Domain], holds: Callable[[int], bool]) -> int:
        """Number of elements."""
        return sum(holds(item) for item in self._range(domain))

    def least(self, domain: type[Domain], holds: Callable[[int], bool], default: int) -> int:
        """Smallest element."""
        return next((item for item in self._range(domain) if holds(item)), default)

    def _range(self, domain: type[Domain]) -> Sequence[int]:
        given = self._focus.get(domain.__name__)
        return range(self.frame.elements(domain).size) if given is None else given

    # --- writing -----------------------------------------------------------------------------------------------

    def _store(self, family: Family, index: tuple[int, ...], value: Any) -> None:
        if isinstance(value, bool) != family.is_bool or not isinstance(value, int):
            wanted = "a truth value" if family.is_bool else "a whole number"
            raise ModelError(f"{self._where()}: {family.name!r} holds {wanted}, but is given {value!r}.")
        if isinstance(value, enum.IntEnum) and type(value) is not family.enumeration:
            holds = family.enumeration.__name__ if family.enumeration else "a plain number"
            raise ModelError(f"{self._where()}: {family.name!r} holds {holds}, but is given {value!r}.")
        place = _place(family, index)
        if place is None or not family.contains(value):
            # Kept until the guards are known: what is not enabled writes nothing.
            self._outside.append(
                f"{self._where()}: writes {value} to {family.name}{list(index)}, allowed is {family.allowed}."
            )
            return
        values = self._after.get(family.name)
        if values is None:
            values = self._after[family.name] = list(self._before[family.name])
        values[place] = value if family.is_bool else int(value)

    def _names(self) -> list[str]:
        return [*self.frame.families, *self.frame.constants]

    def _where(self) -> str:
        return f"machine {self.frame.configuration.machine.name}, {self._title}"
