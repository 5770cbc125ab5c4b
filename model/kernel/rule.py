"""Rules: pure decision functions, one text for plain integers, for proofs and for machine code.

A rule is an ordinary function over whole numbers and truth values, written with operators and the helpers of
``terms``. Called with integers it computes; called with terms it builds an expression; :meth:`Rule.native` compiles it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import z3

from .terms import Term, as_bool, as_int

P = ParamSpec("P")
R = TypeVar("R")


class Rule(Generic[P, R]):
    """A pure decision function, made with the decorator :func:`rule`."""

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self.parameters: tuple[str, ...] = tuple(inspect.signature(function).parameters)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Compute, or build a term."""
        return self._function(*args, **kwargs)

    def term(self) -> tuple[tuple[Any, ...], Any]:
        """The rule over fresh Z3 integers: ``(symbols, expression)``."""
        symbols = tuple(z3.Int(name) for name in self.parameters)
        call: Callable[..., Any] = self._function
        result = call(*(Term(symbol, False) for symbol in symbols))
        is_bool = isinstance(result, bool) or (isinstance(result, Term) and result.is_bool)
        return symbols, as_bool(result) if is_bool else as_int(result)

    @functools.cached_property
    def native(self) -> Callable[..., int]:
        """The rule as machine code: a function of 64-bit integers, truth values being 0 and 1."""
        from .native import compile_rule

        return compile_rule(self)


def rule(function: Callable[P, R]) -> Rule[P, R]:
    """Declare a rule."""
    return Rule(function)
