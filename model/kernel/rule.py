"""Rules: pure decision functions, with one text that serves plain integers, proofs and machine code.

A rule is an ordinary function over whole numbers and truth values, written with operators and the helpers of ``terms``.
Called with integers it computes; called with terms it builds an expression; :meth:`Rule.native` compiles it. A known
bug of a rule is a *mutant* beside it (see ``mutant.py``); :meth:`Rule.mutated` puts it in the rule's place.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, ParamSpec, TypeVar

import z3

from .errors import ConfigurationError, ModelError, nearest
from .mutant import Mutant
from .terms import Term, as_bool, as_int

P = ParamSpec("P")
R = TypeVar("R")

_REPLACED: ContextVar[Mapping[Any, Callable[..., Any]]] = ContextVar("_REPLACED")


class Rule(Generic[P, R]):
    """A pure decision function, made with the decorator :func:`rule`."""

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.name = function.__name__
        self.parameters: tuple[str, ...] = tuple(inspect.signature(function).parameters)
        self.mutants: dict[str, Mutant] = {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute a value, or build a term."""
        replaced = _REPLACED.get(None)
        function: Callable[P, R] = self._function if replaced is None else replaced.get(self, self._function)
        return function(*args, **kwargs)

    def mutant(self, mutant: str, slug: str, *, killed_by: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Declare a mutant: the decorated function is a wrong text of this rule; ``killed_by`` is a theorem's id."""

        def declare(function: Callable[P, R]) -> Callable[P, R]:
            if mutant in self.mutants:
                raise ModelError(f"rule {self.name} has two mutants {mutant}; rename one.")
            given = tuple(inspect.signature(function).parameters)
            if given != self.parameters:
                raise ModelError(
                    f"mutant {mutant}: its parameters are {', '.join(given)}; those of rule {self.name} are "
                    f"{', '.join(self.parameters)}."
                )
            self.mutants[mutant] = Mutant(
                id=mutant,
                slug=slug,
                killed_by=killed_by,
                replaces=self.name,
                function=function,
                doc=inspect.getdoc(function) or "",
            )
            return function

        return declare

    @contextmanager
    def mutated(self, mutant: str) -> Iterator[Callable[[], int]]:
        """Inside the block, everything that calls this rule gets a mutant's answer. Yields a counter of those calls.

        Code compiled before (:meth:`native`), and tables made from earlier answers, do not change.

        Raises:
            ConfigurationError: there is no such mutant.
        """
        if mutant not in self.mutants:
            raise ConfigurationError(f"rule {self.name} has no mutant {mutant!r}.{nearest(mutant, self.mutants)}")
        wrong = self.mutants[mutant].function
        assert wrong is not None
        calls = 0

        def counted(*args: Any, **kwargs: Any) -> Any:
            nonlocal calls
            calls += 1
            return wrong(*args, **kwargs)

        before = _REPLACED.set({**_REPLACED.get({}), self: counted})
        try:
            yield lambda: calls
        finally:
            _REPLACED.reset(before)

    def term(self) -> tuple[tuple[Any, ...], Any]:
        """The rule over fresh Z3 integers: ``(symbols, expression)``."""
        symbols = tuple(z3.Int(name) for name in self.parameters)
        call: Callable[..., Any] = self
        result = call(*(Term(symbol, False) for symbol in symbols))
        is_bool = isinstance(result, bool) or (isinstance(result, Term) and result.is_bool)
        return symbols, as_bool(result) if is_bool else as_int(result)

    @functools.cached_property
    def native(self) -> Callable[..., int]:
        """The rule as machine code: a function of 64-bit integers, truth values being 0 and 1."""
        from .native import compile_term

        return compile_term(*self.term())


def rule(function: Callable[P, R]) -> Rule[P, R]:
    """Declare a rule."""
    return Rule(function)
