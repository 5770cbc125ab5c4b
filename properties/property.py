"""Properties: what must hold of a machine, stated once for every engine."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic

from ..model.kernel import BoolLike, Configuration, ModelError, State, all_of

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

    ``Property[Votes](…)`` is one about states of the class ``Votes``: a type checker then knows what ``s`` has.

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
