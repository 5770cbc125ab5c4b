"""The direct form of a machine: one state, which its texts change with plain numbers; nothing is lowered or unrolled.

Other forms unroll every action over all its parameters, so their cost grows with the configuration. Here the text of an
action is run when the action is taken, and only values that differ from the usual one are stored. A configuration with
millions of messages therefore costs no more than one with two, and a single long run can be followed through it.
Computing all successors of many states is left to ``plain`` and ``native``.
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
    """A configuration in one of its states, which steps change. What was changed can be undone."""

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
        self.frame = Families(configuration)  # what the configuration declares
        known = self.frame.constants
        # the actions that exist in this configuration, by name
        self.actions: Mapping[str, Action] = {
            name: action
            for name, action in configuration.machine.actions.items()
            if action.when(known) and (action.budget is None or known[action.budget] != 0)
        }
        # the values of each family, by name
        self.values: dict[str, Values] = {name: Values(self, family) for name, family in self.frame.families.items()}
        self._state = DirectState(self)
        self._remembered = configuration.machine.remembers(known)
        self._varied: dict[tuple[tuple[str, int | str], ...], Constants] = {}
        self.ranges: dict[str, Sequence[int]] = {}  # by domain, the elements that texts look at, if these are not all
        self.changed: set[str] = set()  # names of the variables that the last step has changed
        self._log: list[tuple[dict[Any, Any], Any, Any]] = []
        self._pending: list[tuple[Values, tuple[int, ...], int]] = []
        self._title: Callable[[], str] = str
        self._read_only = True
        self.restart()

    # --- the state ----------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Return to the initial state; nothing can be undone then."""
        self._log.clear()
        self.ranges.clear()
        for values in self.values.values():
            values.restart()

    def get(self, name: str, *index: int) -> int:
        """The value of a variable.

        Raises:
            ModelError: the configuration has no such variable, or the variable has other indices.
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
        """The state in the shape that the other forms use: one whole number for each cell."""
        return tuple(int(values.at(index)) for values in self.values.values() for index in values.places())

    def become(self, flat: Iterable[int]) -> None:
        """Go to a state of the shape that :meth:`flat` returns; nothing can be undone then."""
        self.restart()
        cells = [(values, index) for values in self.values.values() for index in values.places()]
        for (values, index), value in zip(cells, flat, strict=True):
            values.set(index, bool(value) if values.is_bool else value)
        self._log.clear()

    def mark(self) -> int:
        """A mark to which :meth:`undo` can go back."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Undo every change since a mark."""
        while len(self._log) > mark:
            known, key, before = self._log.pop()
            if before is _MISSING:
                known.pop(key, None)
            else:
                known[key] = before

    def forget(self) -> None:
        """Declare that nothing done so far will be undone."""
        self._log.clear()

    def focus(self, **domains: Sequence[int] | None) -> None:
        """Restrict the texts to these elements of the named domains, for reads and writes, in this order; None: all
        elements.

        This saves time in a long queue. The caller must know that no text would find, or change, anything at the other
        elements.
        """
        for name, items in domains.items():
            if items is None:
                self.ranges.pop(name, None)
            else:
                self.ranges[name] = items

    # --- steps --------------------------------------------------------------------------------------------------

    def step(self, name: str, *, varied: Mapping[str, int | str] | None = None, **arguments: int) -> bool:
        """Take an action. Returns False if it is not enabled; nothing changes then.

        Args:
            name: name of the action.
            varied: constants that have another value for this step only; the state space must not depend on them.
            arguments: arguments of the action.

        Raises:
            ModelError: there is no such action here, it writes outside a declared domain, or, with the varied
                constants, other variables would exist or other values be possible.
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
        """Like :meth:`step`, with any text in the place of an action, and with the arguments that it understands."""
        self._begin(lambda: f"text {_call(getattr(text, '__name__', 'without a name'), arguments)}", read_only=False)
        try:
            text(self._state, **arguments)
            self.frame.configuration.machine.end_step(self._state, self._remembered)
        except NotEnabled:
            return False
        self._commit()
        return True

    def ask(self, text: Text, **arguments: Any) -> Any:
        """The value that a text computes from the state, which it must not change."""
        self._begin(lambda: f"property {getattr(text, '__name__', '')}", read_only=True)
        return text(self._state, **arguments)

    def enabled(self, name: str, **arguments: int) -> bool:
        """Whether an action is enabled."""
        mark = self.mark()
        enabled = self._take(name, arguments, {})
        self.undo(mark)
        return enabled

    def choices(self, name: str) -> Iterator[dict[str, int]]:
        """All arguments that an action can have, enabled or not, in the order that the other forms use."""
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
        """All ``(label, next state)`` pairs of the state, in the order that the other forms use."""
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
        """Texts read the values from before the step: their writes take effect once they have run to the end."""
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
        """Record a write; missing indices mean all elements."""
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
        """Record the write of one value if it changes anything; the value must belong to its variable's type."""
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
        """The elements of a domain that texts look at."""
        found = self.ranges.get(elements.name)
        if found is None:
            return range(elements.size)
        return found

    def where(self) -> str:
        """The machine and the text that is run: the beginning of every error message."""
        return f"machine {self.frame.configuration.machine.name}, {self._title()}"


def _call(name: str, arguments: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value}' for key, value in arguments.items())})" if arguments else name


def _shape(family: Family | None) -> object:
    return None if family is None else (family.dims, family.low, family.high)
