"""The direct form of a machine: one state, which its texts change on plain numbers, with nothing lowered or unrolled.

Other forms unroll every action over all its parameters, so what they cost grows with the configuration. Here an action
is its text, and it is run when it is asked for; only values that differ from the usual one are kept. So a configuration
with millions of messages costs no more than one with two, and a single long run can be followed through it. All
successors of many states are the business of ``plain`` and ``native``.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from .declarations import Action, Constants
from .direct_state import DirectState, Families, NotEnabled, Values
from .domains import Domain, Elements, MemberSet
from .errors import ModelError, nearest
from .lowered import Family
from .machine import Configuration
from .terms import all_of

Text: TypeAlias = Callable[..., Any]
"""An action or a predicate: called with a state and arguments."""

_MISSING: Any = object()


class Direct:
    """A configuration in one of its states, which steps change. What was changed can be undone.

    Attributes:
        frame: what the configuration declares.
        actions: the actions that exist here, by name.
        values: of the families, by name.
        ranges: the elements of domains that are looked at, where these are not all.
        changed: names of the variables that the last step has changed.
    """

    def __init__(self, configuration: Configuration) -> None:
        """Prepare a configuration, in its initial state.

        Raises:
            ModelError: a constant that sizes something is unbounded (budgets may be).
        """
        if configuration.unbounded:
            raise ModelError(
                f"the direct form needs numbers, but in {configuration} {', '.join(configuration.unbounded)} is "
                "unbounded; give it a number, or use the engine 'prove'."
            )
        self.frame = Families(configuration)
        known = self.frame.constants
        self.actions: Mapping[str, Action] = {
            name: action
            for name, action in configuration.machine.actions.items()
            if action.when(known) and (action.budget is None or known[action.budget] != 0)
        }
        self.values: dict[str, Values] = {name: Values(self, family) for name, family in self.frame.families.items()}
        self._state = DirectState(self)
        self._remembered = configuration.machine.remembers(known)
        self._varied: dict[tuple[tuple[str, int | str], ...], Constants] = {}
        self.ranges: dict[str, Sequence[int]] = {}
        self.changed: set[str] = set()
        self._log: list[tuple[dict[Any, Any], Any, Any]] = []
        self._pending: list[tuple[Values, tuple[int, ...], int]] = []
        self._title: Callable[[], str] = str
        self._read_only = True
        self.restart()

    # --- the state ----------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Begin again in the initial state; there is nothing to undo then."""
        self._log.clear()
        self.ranges.clear()
        for values in self.values.values():
            values.restart()

    def get(self, name: str, *index: int) -> int:
        """The value of a variable.

        Raises:
            ModelError: there is no such variable here, or it has other indices.
        """
        values = self.values.get(name)
        if values is not None and index and len(index) == values.count:
            known: int | None = values.known.get(index, values.usual)
            if known is not None:
                return known
        if values is None or len(index) != values.count:
            raise ModelError(f"there is no variable {name}{list(index)} here.{nearest(name, self.values)}")
        value: int = values.at(index)
        return value

    def has(self, name: str) -> bool:
        """Whether there is a variable of this name in this configuration."""
        return name in self.values

    def flat(self) -> tuple[int, ...]:
        """The state as the other forms have it: one whole number for each cell."""
        return tuple(int(values.at(index)) for values in self.values.values() for index in values.places())

    def become(self, flat: Iterable[int]) -> None:
        """Go to a state as :meth:`flat` gives it; there is nothing to undo then."""
        self.restart()
        cells = [(values, index) for values in self.values.values() for index in values.places()]
        for (values, index), value in zip(cells, flat, strict=True):
            values.set(index, bool(value) if values.is_bool else value)
        self._log.clear()

    def mark(self) -> int:
        """A place to which :meth:`undo` can go back."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Take back everything since then."""
        while len(self._log) > mark:
            known, key, before = self._log.pop()
            if before is _MISSING:
                known.pop(key, None)
            else:
                known[key] = before

    def forget(self) -> None:
        """What was done so far will not be undone."""
        self._log.clear()

    def focus(self, **domains: Sequence[int] | None) -> None:
        """From now on texts look at, and write to, these elements of the named domains only, in this order; None: all.

        This saves time in a long queue. The caller knows that no text would find, or change, anything at the others.
        """
        for name, items in domains.items():
            if items is None:
                self.ranges.pop(name, None)
            else:
                self.ranges[name] = items

    # --- steps --------------------------------------------------------------------------------------------------

    def step(self, name: str, *, varied: Mapping[str, int | str] | None = None, **arguments: int) -> bool:
        """Take an action; False where it is not enabled, then nothing changes.

        Args:
            name: of the action.
            varied: constants that have another value for this step; the states must not depend on them.
            arguments: of the action.

        Raises:
            ModelError: there is no such action here, or it writes outside a declared domain, or with these constants
                other variables would exist, or other values be possible.
        """
        return self._take(name, arguments, varied or {})

    def _take(self, name: str, arguments: Mapping[str, int], varied: Mapping[str, int | str]) -> bool:
        action = self.actions.get(name)
        if action is None:
            machine = self.frame.configuration.machine.name
            raise ModelError(f"machine {machine} has no action {name!r} here.{nearest(name, self.actions)}")
        left = f"{action.budget}_left" if action.budget is not None else ""
        self._begin(lambda: f"action {_call(name, arguments)}", read_only=False)
        try:
            if left in self.values:
                self._state.require(self.get(left) > 0)
                self.assign(left, (), self.get(left) - 1)
            self.frame.configuration.machine.begin_step(self._state, action)
            if varied:
                with self._with(varied):
                    action.function(self._state, **arguments)
            else:
                action.function(self._state, **arguments)
            self.frame.configuration.machine.end_step(self._state, self._remembered)
        except NotEnabled:
            return False
        self._commit()
        return True

    def run(self, text: Text, **arguments: Any) -> bool:
        """As :meth:`step`, with any text in the place of an action; its arguments may be anything it understands."""
        self._begin(lambda: f"text {_call(getattr(text, '__name__', 'without a name'), arguments)}", read_only=False)
        try:
            text(self._state, **arguments)
            self.frame.configuration.machine.end_step(self._state, self._remembered)
        except NotEnabled:
            return False
        self._commit()
        return True

    def ask(self, text: Text, **arguments: Any) -> Any:
        """What a text says of the state, which it must not change."""
        self._begin(lambda: f"property {getattr(text, '__name__', '')}", read_only=True)
        return text(self._state, **arguments)

    def enabled(self, name: str, **arguments: int) -> bool:
        """Whether an action can happen."""
        mark = self.mark()
        enabled = self._take(name, arguments, {})
        self.undo(mark)
        return enabled

    def choices(self, name: str) -> Iterator[dict[str, int]]:
        """All arguments an action could have, enabled or not, in the order of the other forms."""
        kinds = self.actions[name].parameters
        values: list[Iterable[int]] = []
        for kind in kinds.values():
            if issubclass(kind, Domain):
                values.append(range(self.frame.elements(kind).size))
            else:
                values.append((False, True) if kind is bool else list(kind))
        for choice in itertools.product(*values):
            yield dict(zip(kinds, choice, strict=True))

    def successors(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """All ``(label, next state)`` pairs of the state, in the order of the other forms."""
        for name in self.actions:
            for arguments in self.choices(name):
                mark = self.mark()
                if self._take(name, arguments, {}):
                    yield _call(name, arguments), self.flat()
                self.undo(mark)

    def _begin(self, title: Callable[[], str], *, read_only: bool) -> None:
        self._title = title
        self._read_only = read_only
        self._pending.clear()
        self._state.path.clear()

    def _commit(self) -> None:
        """Texts read what was before: what they write counts when they are through."""
        for values, index, value in self._pending:
            if not values.contains(value) or not values.is_inside(index):
                allowed = values.family.allowed
                raise ModelError(f"{self.where()}: writes {value} to {values.name}{list(index)}, allowed is {allowed}.")
        self.changed.clear()
        for values, index, value in self._pending:
            known = values.known
            key: Any = index if values.count else values.name
            self._log.append((known, key, known.get(key, _MISSING)))
            values.set(index, value)
            self.changed.add(values.name)

    @contextmanager
    def _with(self, varied: Mapping[str, int | str]) -> Iterator[None]:
        key = tuple(sorted(varied.items()))
        if key not in self._varied:
            self._varied[key] = self._checked(varied)
        told = vars(self._state)
        before = {name: told[name] for name in varied}
        usual = self._state.constants
        told.update(varied)
        self._state.constants = self._varied[key]
        try:
            yield
        finally:
            told.update(before)
            self._state.constants = usual

    def _checked(self, varied: Mapping[str, int | str]) -> Constants:
        here = self.frame.configuration
        constants = Constants({**here.constants, **varied})
        other = Families(Configuration(here.machine, constants)).families
        mine = self.frame.families
        changed = [name for name in {*other, *mine} if _shape(mine.get(name)) != _shape(other.get(name))]
        if changed:
            raise ModelError(f"{dict(varied)} would change the states of {here}: {', '.join(sorted(changed))}.")
        return Constants({**self.frame.constants, **varied})

    # --- what a state can do --------------------------------------------------------------------------------------

    def assign(self, name: str, index: tuple[int, ...], value: Any) -> None:
        """Note a write, at all indices that are missing."""
        values = self.values.get(name)
        if self._read_only or values is None:
            what = "must not write" if self._read_only else "writes what is no variable here"
            raise ModelError(f"{self.where()}: {what}: {name!r}.")
        if self._state.path and not all_of(*self._state.path):
            return
        given = value.has if isinstance(value, MemberSet) else value
        missing = values.count - len(index)
        if not missing:
            self._note(values, index, given)
        elif missing == 1 and callable(given):
            known, usual = values.known, values.usual
            for item in self.range_of(values.family.dims[-1]):
                value, place = given(item), (*index, item)
                if value is not known.get(place, usual):
                    self._note(values, place, value)
        else:
            rest = values.family.dims[len(index) :]
            for choice in itertools.product(*(self.range_of(dim) for dim in rest)):
                self._note(values, (*index, *choice), given(*choice) if callable(given) else given)

    def _note(self, values: Values, index: tuple[int, ...], value: Any) -> None:
        """Note a write of one value, which must be of its variable's kind, if it changes anything."""
        kind = value.__class__
        if kind is not values.enumeration and (kind is bool) is not values.is_bool:
            wanted = "a truth value" if values.is_bool else "a whole number"
            raise ModelError(f"{self.where()}: {values.name!r} holds {wanted}, but is given {value!r}.")
        if kind is not bool and kind is not int:
            if not isinstance(value, int):
                raise ModelError(f"{self.where()}: {values.name!r} holds a whole number, but is given {value!r}.")
            if isinstance(value, enum.IntEnum) and kind is not values.enumeration:
                holds = values.enumeration.__name__ if values.enumeration else "a plain number"
                raise ModelError(f"{self.where()}: {values.name!r} holds {holds}, but is given {value!r}.")
            value = int(value)
        if values.at(index) != value:
            self._pending.append((values, index, value))

    def range_of(self, elements: Elements) -> Sequence[int]:
        """The elements that are looked at."""
        found = self.ranges.get(elements.name)
        if found is None:
            size: int = elements.size
            return range(size)
        return found

    def where(self) -> str:
        """The machine and the text that is run, as error messages begin."""
        return f"machine {self.frame.configuration.machine.name}, {self._title()}"


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})" if arguments else name


def _shape(family: Family | None) -> object:
    return None if family is None else (family.dims, family.low, family.high)
