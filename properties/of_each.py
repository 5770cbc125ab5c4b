"""Properties of each client, queue or the like: one text, evaluated for every one of them, or for some."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from ..model.group import GroupState
from ..model.kernel import BoolLike, Domain
from .property import Kind, Property


class Maker(Protocol):
    """Makes a property: ``holds`` is called with the state and an element of each domain."""

    def __call__(self, name: str, statement: str, holds: Callable[..., BoolLike], *rules: str) -> Property:
        """The property with this name."""
        ...


def always(*domains: type[Domain], assuming: tuple[str, ...] = ()) -> Maker:
    """What is true of every element of some domains, in every state."""
    return partial(_made, Kind.ALWAYS, domains, assuming)


def sometimes(*domains: type[Domain]) -> Maker:
    """What is true of some element, in some state: a witness."""
    return partial(_made, Kind.SOMETIMES, domains, ())


def _made(
    kind: Kind,
    domains: tuple[type[Domain], ...],
    assuming: tuple[str, ...],
    name: str,
    statement: str,
    holds: Callable[..., BoolLike],
    *rules: str,
) -> Property:
    def of_all(s: GroupState) -> BoolLike:
        return _over(s.exists if kind is Kind.SOMETIMES else s.forall, domains, partial(holds, s))

    return Property(id=name, statement=statement, kind=kind, holds=of_all, assuming=assuming, rules=rules)


def _over(
    quantify: Callable[..., BoolLike], domains: tuple[type[Domain], ...], holds: Callable[..., BoolLike]
) -> BoolLike:
    if not domains:
        return holds()
    first, *rest = domains
    return quantify(first, lambda item: _over(quantify, tuple(rest), partial(holds, item)))
