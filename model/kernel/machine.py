"""Machines: constants, variables and guarded actions, declared once and sized by a configuration.

A :class:`Machine` is only a declaration. :meth:`Machine.configure` gives its constants values; ``trace`` (see
``trace.py``) turns the result into Z3 terms from which every engine works. What a constant switches off (``when=``)
leaves no variable and no action behind.
"""

from __future__ import annotations

import enum
import inspect
import string
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from .domains import Domain, SetOf, ValueType
from .errors import ConfigurationError, ModelError, nearest
from .state import State

ActionFunction = TypeVar("ActionFunction", bound=Callable[..., None])

UNBOUNDED: Literal["unbounded"] = "unbounded"
"""Value of a constant that stands for *every* number; such a configuration can be proven, not searched."""


@dataclass(frozen=True, kw_only=True)
class Constant:
    """A number or word that sizes a configuration.

    Attributes:
        default: value when the configuration does not say.
        low, high: allowed range of a number, both included; ``high=None`` leaves it open.
        choices: allowed words, for a constant that is a word.
        doc: one line on what it means.
    """

    name: str
    default: int | str
    low: int = 0
    high: int | None = None
    choices: tuple[str, ...] | None = None
    doc: str = ""

    def allowed(self) -> str:
        """Say in words which values are possible."""
        if self.choices is not None:
            return "one of " + ", ".join(self.choices)
        if isinstance(self.default, str):
            return "a word"
        return f"a whole number from {self.low}" + (f" to {self.high}" if self.high is not None else " on")

    def check(self, value: object) -> int | str:
        """Return ``value`` if it is allowed, else raise :class:`ConfigurationError`."""
        if value == UNBOUNDED and isinstance(self.default, int):
            return UNBOUNDED
        if isinstance(self.default, str):
            if isinstance(value, str) and (self.choices is None or value in self.choices):
                return value
        elif isinstance(value, int) and self.low <= value and (self.high is None or value <= self.high):
            return int(value)
        raise ConfigurationError(f"{self.name}={value!r} is not possible; {self.name} is {self.allowed()}.")


class Constants(Mapping[str, "int | str"]):
    """Values of the constants of one configuration, readable as attributes."""

    def __init__(self, values: Mapping[str, int | str]) -> None:
        self._values = MappingProxyType(dict(values))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_values":
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise ModelError(f"there is no constant {name!r}.{nearest(name, self._values)}") from None

    def __getitem__(self, name: str) -> int | str:
        return self._values[name]

    def __iter__(self) -> typing.Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self._values.items())


def _always(_: Constants) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable, or a family of variables indexed by domains.

    Attributes:
        kind: ``bool``, an IntEnum class, ``Int`` or ``SetOf``.
        domains: index domains of the family, none for a single variable.
        init: initial value, or a function ``(constants, *index)`` giving it; sets start with a bool for every element.
        when: tells from the constants whether the variable exists.
    """

    name: str
    kind: ValueType | SetOf
    domains: tuple[type[Domain], ...]
    init: Any
    when: Callable[[Constants], bool]
    doc: str


@dataclass(frozen=True, kw_only=True)
class Action:
    """A guarded action: its text, what its parameters range over, and when it exists.

    Attributes:
        function: the text, called with a :class:`State` and the parameters.
        parameters: name → Domain, IntEnum class or bool.
        budget: name of the constant that bounds how often it may happen in a run (all instances together), if any.
        fair: weakly fair: not enabled forever without being taken (used by liveness only).
        tells: sentence for stories, with ``{parameter}`` holes.
    """

    name: str
    function: Callable[..., None]
    parameters: Mapping[str, Any]
    budget: str | None
    fair: bool
    when: Callable[[Constants], bool]
    tells: str
    doc: str


@dataclass(frozen=True)
class Constraint:
    """A condition between constants, with what to say where it is broken."""

    names: tuple[str, ...]
    holds: Callable[[Constants], bool]
    message: str


@dataclass(frozen=True)
class Configuration:
    """A machine with values for all its constants."""

    machine: Machine
    constants: Constants

    def actions(self) -> set[str]:
        """Names of the actions that exist with these constants."""
        return {
            action.name
            for action in self.machine.actions.values()
            if action.when(self.constants) and (action.budget is None or self.constants[action.budget] != 0)
        }

    def __str__(self) -> str:
        return f"{self.machine.name}({', '.join(f'{name}={value}' for name, value in self.constants.items())})"


@dataclass
class Machine:
    """A state machine under declaration. See the module text of ``kernel`` for a whole example.

    Attributes:
        name: lower-case name, used on the command line.
        doc: what the machine is about, one paragraph.
    """

    name: str
    doc: str = ""
    constants: dict[str, Constant] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    constraints: list[Constraint] = field(default_factory=list)

    def constant(
        self,
        name: str,
        default: int | str,
        *,
        low: int = 0,
        high: int | None = None,
        choices: Iterable[str] | None = None,
        doc: str = "",
    ) -> None:
        """Declare a constant; see :class:`Constant`."""
        self._fresh(name)
        constant = Constant(
            name=name,
            default=default,
            low=low,
            high=high,
            choices=tuple(choices) if choices is not None else None,
            doc=doc,
        )
        constant.check(default)
        self.constants[name] = constant

    def constraint(self, *names: str, holds: Callable[[Constants], bool], message: str) -> None:
        """Declare a condition between the constants ``names``; it is not asked where one of them is unbounded."""
        self.constraints.append(Constraint(names, holds, message))

    def variable(
        self,
        name: str,
        kind: ValueType | SetOf,
        *domains: type[Domain],
        init: Any = None,
        when: Callable[[Constants], bool] = _always,
        doc: str = "",
    ) -> None:
        """Declare a variable (or, with ``domains``, a family); ``init`` defaults to False, the first member, or low."""
        self._fresh(name)
        self.variables[name] = Variable(name=name, kind=kind, domains=domains, init=init, when=when, doc=doc)

    @typing.overload
    def action(self, function: ActionFunction, /) -> ActionFunction: ...

    @typing.overload
    def action(
        self,
        /,
        *,
        budget: str | None = None,
        fair: bool = False,
        when: Callable[[Constants], bool] = ...,
        tells: str = "",
    ) -> Callable[[ActionFunction], ActionFunction]: ...

    def action(
        self,
        function: Callable[..., None] | None = None,
        /,
        *,
        budget: str | None = None,
        fair: bool = False,
        when: Callable[[Constants], bool] = _always,
        tells: str = "",
    ) -> Any:
        """Declare an action: a function of the state and of parameters annotated with domains.

        With ``budget="crashes"`` the action happens at most as often as the constant ``crashes`` says; where that is 0
        the action does not exist, and the counter variable ``crashes_left`` neither.
        """

        def declare(text: ActionFunction) -> ActionFunction:
            name = text.__name__
            if name in self.actions:
                raise ModelError(f"machine {self.name} has two actions named {name}; rename one.")
            if budget is not None and budget not in self.constants:
                raise ModelError(
                    f"action {name}: its budget {budget!r} is not a constant.{nearest(budget, self.constants)}"
                )
            parameters = _parameters(text)
            for _, hole, _, _ in string.Formatter().parse(tells):
                if hole is not None and hole not in parameters:
                    raise ModelError(f"action {name}: 'tells' has the hole {{{hole}}}.{nearest(hole, parameters)}")
            self.actions[name] = Action(
                name=name,
                function=text,
                parameters=parameters,
                budget=budget,
                fair=fair,
                when=when,
                tells=tells,
                doc=inspect.getdoc(text) or "",
            )
            return text

        return declare if function is None else declare(function)

    def include(self, *parts: Machine) -> Machine:
        """Add everything the other machines declare; returns this machine.

        Raises:
            ModelError: a name is declared twice.
        """
        for part in parts:
            for name, constant in part.constants.items():
                self._fresh(name)
                self.constants[name] = constant
            for name, variable in part.variables.items():
                self._fresh(name)
                self.variables[name] = variable
            for name, action in part.actions.items():
                if name in self.actions:
                    raise ModelError(f"machine {self.name} has two actions named {name}; rename one.")
                self.actions[name] = action
            self.constraints.extend(part.constraints)
        return self

    def configure(self, **constants: int | str) -> Configuration:
        """Give the constants values; those not named keep their defaults.

        Raises:
            ConfigurationError: an unknown constant or an impossible value.
        """
        for name in constants:
            if name not in self.constants:
                raise ConfigurationError(
                    f"machine {self.name} has no constant {name!r}.{nearest(name, self.constants)}"
                )
        values = {
            name: constant.check(constants.get(name, constant.default)) for name, constant in self.constants.items()
        }
        known = Constants(values)
        for constraint in self.constraints:
            bounded = all(values[name] != UNBOUNDED for name in constraint.names)
            if bounded and not constraint.holds(known):
                given = ", ".join(f"{name}={values[name]}" for name in constraint.names)
                raise ConfigurationError(f"{given} is not possible; {constraint.message}.")
        return Configuration(self, known)

    def _fresh(self, name: str) -> None:
        if not name.isidentifier() or name.startswith("_"):
            raise ModelError(f"machine {self.name}: {name!r} is not a possible name; use letters, digits, underscores.")
        if hasattr(State, name) or hasattr(Constants, name):
            raise ModelError(
                f"machine {self.name}: {name!r} cannot name a constant or variable, a state already has a method of "
                "that name; rename it."
            )
        if name in self.constants or name in self.variables:
            raise ModelError(f"machine {self.name} declares {name!r} twice; rename one.")


def _parameters(text: Callable[..., None]) -> dict[str, Any]:
    names = list(inspect.signature(text).parameters)[1:]
    try:
        hints = typing.get_type_hints(text)
    except NameError as error:
        raise ModelError(
            f"action {text.__name__}: the annotation {error.name!r} cannot be found; declare the domain at module "
            "level, or leave out 'from __future__ import annotations' in that file."
        ) from None
    for name in names:
        kind = hints.get(name)
        if not isinstance(kind, type) or not issubclass(kind, Domain | enum.IntEnum | bool):
            raise ModelError(
                f"action {text.__name__}: parameter {name!r} is annotated {kind!r}; "
                "annotate it with a Domain class, an IntEnum class or bool."
            )
    return {name: hints[name] for name in names}
