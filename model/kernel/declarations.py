"""Declarations: what a machine is made of, namely constants, variables, actions and conditions between constants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from .domains import Domain, Int, SetOf, ValueType
from .errors import ConfigurationError, ModelError, nearest

UNBOUNDED: Literal["unbounded"] = "unbounded"
"""Value of a constant that stands for *every* number; such a configuration can be proven, not searched.

An unbounded budget means that there is no limit and no counter, so a configuration with it can still be finite.
"""


@dataclass(frozen=True, kw_only=True)
class Constant:
    """A number or word that sizes a configuration.

    Attributes:
        default: value if the configuration does not set it.
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
        """The possible values, in words."""
        if self.choices is not None:
            return "one of " + ", ".join(self.choices)
        if isinstance(self.default, str):
            return "a word"
        return f"a whole number from {self.low}" + (f" to {self.high}" if self.high is not None else " on")

    def nearest(self, number: int) -> int:
        """The allowed number nearest to ``number``."""
        return max(self.low, number if self.high is None else min(number, self.high))

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
        # Set here so that attribute access finds it without the slower __getattr__.
        vars(self).update({name: value for name, value in values.items() if not hasattr(Constants, name)})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_values":
            raise AttributeError(name)
        try:
            return self._values[name]
        except KeyError:
            raise ModelError(f"there is no constant {name!r}.{nearest(name, self._values)}") from None

    def __getitem__(self, name: str) -> int | str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self._values.items())


def earlier(name: str) -> str:
    """Name of the variable that keeps the value of another one before the last step."""
    return f"was_{name}"


def always(_: Constants) -> bool:
    """The condition of everything that no constant switches off."""
    return True


@dataclass(frozen=True)
class Lifetime:
    """Something that begins and ends, such as a window of a queue; what lives in it ends with it."""

    name: str  # what it is
    domains: tuple[type[Domain], ...]  # the domains that index it: there is one for each combination of their elements


@dataclass(frozen=True, kw_only=True)
class Variable:
    """A variable, or a family of variables indexed by domains."""

    name: str
    kind: ValueType | SetOf  # ``bool``, an IntEnum class, ``Int`` or ``SetOf``
    domains: tuple[type[Domain], ...]  # index domains of the family, none for a single variable
    # initial value, or a function ``(constants, *index)`` giving it; sets start with a bool for every element
    init: Any
    when: Callable[[Constants], bool]  # decides from the constants whether the variable exists
    doc: str
    # the lifetime with which it ends; it then returns to its initial value: False, its first member, or its lowest
    # number
    lives_in: Lifetime | None = None

    def with_function(self, name: str, function: Any) -> Variable:
        """The variable with ``function`` where it is declared with the function ``name``: its start, or a bound."""

        def changed(given: Any) -> Any:
            return function if getattr(given, "__name__", "") == name else given

        kind = Int(changed(self.kind.low), changed(self.kind.high)) if isinstance(self.kind, Int) else self.kind
        return replace(self, kind=kind, init=changed(self.init))


@dataclass(frozen=True, kw_only=True)
class Action:
    """A guarded action: its text, what its parameters range over, and when it exists."""

    name: str
    function: Callable[..., None]  # the text, called with a State and the parameters
    parameters: Mapping[str, Any]  # name → Domain, IntEnum class or bool
    # name of the constant that bounds how often it may happen in a run (all instances together), if any
    budget: str | None
    fair: bool  # weakly fair: not enabled forever without being taken (used by liveness only)
    strongly_fair: bool  # moreover not enabled again and again without being taken
    when: Callable[[Constants], bool]
    tells: str  # sentence for stories, with ``{parameter}`` holes
    doc: str


@dataclass(frozen=True)
class Constraint:
    """A condition between constants, and the message for a configuration that breaks it."""

    names: tuple[str, ...]
    holds: Callable[[Constants], bool]
    message: str
