"""Properties of each client, queue or the like: one text, evaluated for every one of them, or for some."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Concatenate, Protocol

from ..model.kernel import BoolLike, Domain
from .property import Kind, Property, S


class Maker(Protocol):
    """``@maker("its-id", "RB-30")`` makes a property of a text and of its docstring, which is the statement."""

    def __call__(self, id: str, *rules: str) -> Callable[[Callable[Concatenate[S, ...], BoolLike]], Property[S]]:
        """The decorator of the text."""
        ...


def always(*domains: type[Domain], assuming: tuple[str, ...] = ()) -> Maker:
    """What is true of every element of some domains, in every state: the text is given the state and the elements."""
    return partial(_declared, Kind.ALWAYS, domains, assuming)


def sometimes(*domains: type[Domain]) -> Maker:
    """What is true of some element, in some state: a witness."""
    return partial(_declared, Kind.SOMETIMES, domains, ())


def _declared(
    kind: Kind, domains: tuple[type[Domain], ...], assuming: tuple[str, ...], id: str, *rules: str
) -> Callable[[Callable[Concatenate[S, ...], BoolLike]], Property[S]]:
    def declare(text: Callable[Concatenate[S, ...], BoolLike]) -> Property[S]:
        def holds(s: S) -> BoolLike:
            return _over(s.exists if kind is Kind.SOMETIMES else s.forall, domains, partial(text, s))

        statement = " ".join((inspect.getdoc(text) or "").split())
        return Property(id=id, statement=statement, kind=kind, holds=holds, assuming=assuming, rules=rules)

    return declare


def _over(
    quantify: Callable[..., BoolLike], domains: tuple[type[Domain], ...], holds: Callable[..., BoolLike]
) -> BoolLike:
    if not domains:
        return holds()
    first, *rest = domains
    return quantify(first, lambda item: _over(quantify, tuple(rest), partial(holds, item)))
