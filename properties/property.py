"""Properties: what must hold of a machine, stated once for every engine.

A property is written as a text, like an action: the docstring is the statement, and the text is evaluated for all
elements of the domains with which its parameters are annotated (for some of them, if it is a witness)::

    @always("one-listener-a-message", "G1")
    def one_listener(s: GroupState, q: Queue, m: Message) -> BoolLike:
        \"\"\"No two listeners have the same message at the same time.\"\"\"
        return _listeners(s, q, m) <= 1
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Generic, TypeAlias

from ..model.kernel import BoolLike, Configuration, Domain, ModelError, State, all_of
from ..model.kernel.domains import parameter_domains

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    S = TypeVar("S", bound=State, contravariant=True, default=Any)
else:
    from typing import TypeVar

    S = TypeVar("S")


class Kind(enum.StrEnum):
    """What a property says about the runs of a machine.

    ALWAYS: every reachable state satisfies it. SOMETIMES: some reachable state does (a witness that a situation is
        possible). EVENTUALLY: on every fair run, each state where ``after`` holds is followed by (or is) one where
        ``holds`` does. SETTLES: on every fair run, ``holds`` is true from some point on for ever. THEOREM: a statement
        about rules, without a machine.
    """

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    EVENTUALLY = "eventually"
    SETTLES = "settles"
    THEOREM = "theorem"


@dataclass(frozen=True, kw_only=True)
class Property(Generic[S]):
    """A statement about the states or runs of a machine.

    Most are written as texts, with one of the decorators below. ``Property[Votes](…)`` makes one whose statement or
    predicate is computed, about states of the class ``Votes``.

    Attributes:
        id: short name with dashes, used on the command line.
        statement: one sentence a user of RocketMQ understands.
        kind: how it quantifies over states.
        holds: the predicate (the goal, for ``EVENTUALLY``).
        after: for ``EVENTUALLY`` only: the states from which on the goal must be reached; None means the initial state.
        assuming: conditions under which it is claimed, in words.
        rules: ids of the rules of RocketMQ on which it rests, such as ``RB-30``.
    """

    id: str
    statement: str
    kind: Kind
    holds: Callable[[S], BoolLike]
    after: Callable[[S], BoolLike] | None = None
    assuming: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.after is not None and self.kind is not Kind.EVENTUALLY:
            raise ModelError(f"property {self.id}: 'after' belongs to an EVENTUALLY property, this one is {self.kind}.")
        if self.kind is Kind.THEOREM:
            raise ModelError(f"property {self.id}: a statement without a machine is a Theorem, not a Property.")

    def once_begun(self, configuration: Configuration) -> Property[S]:
        """For a machine that can begin in several ways: nothing is owed, and no goal counts as reached, before it has
        begun.
        """
        if self.kind is not Kind.EVENTUALLY or not configuration.machine.chooses(configuration.constants):
            return self
        goal, after = self.holds, self.after
        return replace(
            self,
            holds=lambda s: all_of(s.begun, goal(s)),
            after=None if after is None else lambda s: all_of(s.begun, after(s)),
        )


Text: TypeAlias = Callable[Concatenate[S, ...], BoolLike]
"""What a property says: given the state, and an element for each further parameter."""


def always(id: str, *rules: str, assuming: tuple[str, ...] = ()) -> Callable[[Text[S]], Property[S]]:
    """Decorator: what is true in every reachable state; the statement is the docstring.

    Args:
        id: short name with dashes.
        rules: ids of the rules of RocketMQ on which it rests.
        assuming: conditions under which it is claimed, in words.

    Raises:
        ModelError: a parameter after the state is not annotated with a domain.
    """
    return partial(_declared, Kind.ALWAYS, id, rules, assuming, None)


def sometimes(id: str, *rules: str, assuming: tuple[str, ...] = ()) -> Callable[[Text[S]], Property[S]]:
    """Decorator: what is true of some elements in some reachable state; arguments as for :func:`always`."""
    return partial(_declared, Kind.SOMETIMES, id, rules, assuming, None)


def settles(id: str, *rules: str, assuming: tuple[str, ...] = ()) -> Callable[[Text[S]], Property[S]]:
    """Decorator: what is true from some point on for ever; arguments as for :func:`always`."""
    return partial(_declared, Kind.SETTLES, id, rules, assuming, None)


def eventually(
    id: str, *rules: str, after: Callable[[Any], BoolLike] | None = None, assuming: tuple[str, ...] = ()
) -> Callable[[Text[S]], Property[S]]:
    """Decorator: the goal that every fair run reaches from each state where ``after`` holds, and from the initial state
    if there is no ``after``; other arguments as for :func:`always`.
    """
    return partial(_declared, Kind.EVENTUALLY, id, rules, assuming, after)


def _declared(
    kind: Kind,
    id: str,
    rules: tuple[str, ...],
    assuming: tuple[str, ...],
    after: Callable[[Any], BoolLike] | None,
    text: Text[S],
) -> Property[S]:
    domains = tuple(parameter_domains(text, f"property {id}", Domain).values())

    def holds(s: S) -> BoolLike:
        return _over(s.exists if kind is Kind.SOMETIMES else s.forall, domains, partial(text, s))

    return Property(
        id=id,
        statement=" ".join((inspect.getdoc(text) or "").split()),
        kind=kind,
        holds=holds,
        after=after,
        assuming=assuming,
        rules=rules,
    )


def _over(
    quantify: Callable[..., BoolLike], domains: Sequence[type[Domain]], holds: Callable[..., BoolLike]
) -> BoolLike:
    if not domains:
        return holds()
    first, *rest = domains
    return quantify(first, lambda item: _over(quantify, rest, partial(holds, item)))
