"""Definitions that a composition may refine, and mutants: known bugs, each one small change of a correct machine.

A *definition* is a named piece of semantics that action texts call. A machine that includes another one may *refine* a
definition (the message layer says there what else happens when a queue is dropped). A *mutant* replaces one definition
or one action by a wrong one, adds an action, or only sets constants (a misconfiguration). It stands beside the text it
breaks, and says which property must notice. An *explanation* names what looks like a bug, but belongs to the machine.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar

if TYPE_CHECKING:
    from .state import State

P = ParamSpec("P")
S = TypeVar("S", bound="State", contravariant=True)
R = TypeVar("R")


class Definition(Generic[S, P, R]):
    """A named definition over the state; a call uses whatever text the machine at hand has in its place."""

    def __init__(self, function: Callable[Concatenate[S, P], R]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = function.__name__

    def __call__(self, s: S, *args: P.args, **kwargs: P.kwargs) -> R:
        """The value of the definition in state ``s``, in the machine to which ``s`` belongs."""
        function: Callable[Concatenate[S, P], R] = s.replacement(self.name) or self.function
        return function(s, *args, **kwargs)


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One known bug as a change of a machine, or of a rule."""

    id: str  # id of the known bug, such as ``D1``; another change for the same bug has words after it, ``E2-timestamp``
    slug: str  # what goes wrong, in a few words joined by hyphens
    killed_by: str  # id of the property (of a rule: of the theorem) that must be violated
    # a configuration in which the bug shows; without the change the property holds there
    constants: Mapping[str, int | str] = field(default_factory=dict)
    # the constants that a misconfiguration sets in addition; the right configuration is ``constants`` alone
    sets: Mapping[str, int | str] = field(default_factory=dict)
    # name of the definition, action or rule that ``function`` replaces; empty if it adds an action, or only sets
    # constants
    replaces: str = ""
    function: Callable[..., Any] | None = None  # the wrong text; None for a misconfiguration
    # sentence for stories, if ``function`` is an action and the sentence of the replaced action would be wrong
    tells: str = ""
    doc: str = ""  # how the bug works, with its source

    @property
    def wrong_constants(self) -> dict[str, int | str]:
        """The configuration with the bug in it."""
        return {**self.constants, **self.sets}


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Something that looks like a bug but is none: it happens in the correct machine, and has to be explained."""

    id: str  # id of the known surprise, such as ``A5``
    slug: str  # what is surprising, in a few words joined by hyphens
    naive: str  # id of the property that one may believe in; it is violated in the correct machine
    exact: str  # id of the property that holds in the same configuration
    constants: Mapping[str, int | str] = field(default_factory=dict)  # the configuration
    doc: str = ""  # why it happens, and what to do about it
