"""Terms: values of a machine that are not known yet, with the operators a rule needs.

A :class:`Term` wraps one Z3 expression, truth value or whole number. The same rule text works on plain Python values
(it computes) and on terms (it builds an expression to prove or compile), so the helpers here accept both and fold
whatever is already known: ``ite(True, a, b)`` is ``a``, and no Z3 expression is made for it.

Division and remainder are meant for positive divisors; with any other divisor a *term* quotient is 0 and a *term*
remainder is 0, in every engine alike (plain Python integers raise :class:`ZeroDivisionError` as usual).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, TypeAlias, overload

import z3

from .errors import ModelError


class Term:
    """A truth value or whole number over the variables of a machine; operators build larger terms."""

    __slots__ = ("expr", "is_bool")

    def __init__(self, expr: Any, is_bool: bool) -> None:
        self.expr = expr  # the Z3 expression (kept alive by the term: Z3 reuses ids of collected expressions)
        self.is_bool = is_bool  # whether it is a truth value (otherwise a whole number)

    def __bool__(self) -> bool:
        raise ModelError(
            f"the value of {self} is not known while the machine is lowered, so Python cannot branch on it; "
            "use ite(…), implies(…), '&', '|', not_(…) or 's.when(…)' instead of 'if', 'and', 'or', 'not'."
        )

    def __index__(self) -> int:
        raise ModelError(
            f"the value of {self} is not known while the machine is lowered, so Python cannot count with it."
        )

    __int__ = __index__

    def __getitem__(self, index: object) -> NoReturn:
        raise ModelError(
            f"{self} is a value already and has no index {index!r}; all indices of a family stand together: s.x[i, j]."
        )

    def __repr__(self) -> str:
        text = " ".join(str(self.expr).split())
        return text if len(text) <= 120 else text[:117] + "…"

    def __and__(self, other: BoolLike) -> BoolLike:
        return all_of(self, other)

    __rand__ = __and__

    def __or__(self, other: BoolLike) -> BoolLike:
        return any_of(self, other)

    __ror__ = __or__

    def __invert__(self) -> BoolLike:
        return not_(self)

    def __add__(self, other: IntLike) -> IntLike:
        if isinstance(other, int) and other == 0 and not self.is_bool:
            return self
        return Term(as_int(self) + as_int(other), False)

    __radd__ = __add__

    def __sub__(self, other: IntLike) -> IntLike:
        return Term(as_int(self) - as_int(other), False)

    def __rsub__(self, other: IntLike) -> IntLike:
        return Term(as_int(other) - as_int(self), False)

    def __neg__(self) -> IntLike:
        return Term(-as_int(self), False)

    def __mul__(self, other: IntLike) -> IntLike:
        if isinstance(other, int) and other == 1 and not self.is_bool:
            return self
        return Term(as_int(self) * as_int(other), False)

    __rmul__ = __mul__

    def __floordiv__(self, other: IntLike) -> IntLike:
        return _divide(self, other, quotient=True)

    def __rfloordiv__(self, other: IntLike) -> IntLike:
        return _divide(other, self, quotient=True)

    def __mod__(self, other: IntLike) -> IntLike:
        return _divide(self, other, quotient=False)

    def __rmod__(self, other: IntLike) -> IntLike:
        return _divide(other, self, quotient=False)

    def __lt__(self, other: IntLike) -> BoolLike:
        return Term(as_int(self) < as_int(other), True)

    def __le__(self, other: IntLike) -> BoolLike:
        return Term(as_int(self) <= as_int(other), True)

    def __gt__(self, other: IntLike) -> BoolLike:
        return Term(as_int(self) > as_int(other), True)

    def __ge__(self, other: IntLike) -> BoolLike:
        return Term(as_int(self) >= as_int(other), True)

    def __eq__(self, other: object) -> BoolLike:  # type: ignore[override]
        return same(self, other)

    def __ne__(self, other: object) -> BoolLike:  # type: ignore[override]
        return not_(same(self, other))

    __hash__ = None  # type: ignore[assignment]


BoolLike: TypeAlias = bool | Term
"""A Python truth value or a truth-valued :class:`Term`."""

IntLike: TypeAlias = int | Term
"""A Python integer or an integer :class:`Term`."""


def as_bool(value: BoolLike) -> Any:
    """Return ``value`` as a Z3 truth value. Raises :class:`ModelError` for anything that is not one."""
    if isinstance(value, Term) and value.is_bool:
        return value.expr
    if isinstance(value, bool):
        return z3.BoolVal(value)
    raise ModelError(f"expected a truth value, got {_describe(value)}; compare it with something first.")


def as_int(value: IntLike) -> Any:
    """Return ``value`` as a Z3 integer; truth values count as 1 and 0."""
    if isinstance(value, Term):
        return z3.If(value.expr, z3.IntVal(1), z3.IntVal(0)) if value.is_bool else value.expr
    if isinstance(value, int):
        return z3.IntVal(int(value))
    raise ModelError(f"expected a whole number, got {_describe(value)}.")


def not_(value: BoolLike) -> BoolLike:
    """Negation, for plain and symbolic truth values (``~`` on a Python bool is a number, so never use that)."""
    if isinstance(value, Term):
        return Term(z3.Not(as_bool(value)), True)
    if isinstance(value, bool):
        return not value
    raise ModelError(f"expected a truth value, got {_describe(value)}.")


def all_of(*values: BoolLike | Iterable[BoolLike]) -> BoolLike:
    """Conjunction of truth values, given one by one or as iterables; True when there is none."""
    return _join(values, neutral=True)


def any_of(*values: BoolLike | Iterable[BoolLike]) -> BoolLike:
    """Disjunction of truth values, given one by one or as iterables; False when there is none."""
    return _join(values, neutral=False)


def implies(condition: BoolLike, consequence: BoolLike) -> BoolLike:
    """``condition`` ⇒ ``consequence``."""
    return any_of(not_(condition), consequence)


@overload
def ite(condition: BoolLike, yes: BoolLike, no: BoolLike) -> BoolLike: ...
@overload
def ite(condition: BoolLike, yes: IntLike, no: IntLike) -> IntLike: ...
def ite(condition: BoolLike, yes: Any, no: Any) -> Any:
    """``yes`` where ``condition`` holds, else ``no``; both of the same kind."""
    if condition is True:
        return yes
    if condition is False:
        return no
    if not isinstance(condition, Term):
        raise ModelError(f"expected a truth value as condition of ite, got {_describe(condition)}.")
    if yes is no:
        return yes
    if _is_bool(yes) and _is_bool(no):
        if isinstance(yes, bool) and isinstance(no, bool):
            return yes if yes == no else condition if yes else not_(condition)
        return Term(z3.If(as_bool(condition), as_bool(yes), as_bool(no)), True)
    if isinstance(yes, int) and isinstance(no, int) and int(yes) == int(no):
        return yes
    return Term(z3.If(as_bool(condition), as_int(yes), as_int(no)), False)


def same(left: Any, right: Any) -> BoolLike:
    """Equality of two truth values or two whole numbers."""
    if not isinstance(left, Term) and not isinstance(right, Term):
        return bool(left == right)
    if _is_bool(left) and _is_bool(right):
        for known, other in ((left, right), (right, left)):
            if isinstance(known, bool):
                return other if known else not_(other)
        return Term(as_bool(left) == as_bool(right), True)
    return Term(as_int(left) == as_int(right), True)


def minimum(first: IntLike, *others: IntLike) -> IntLike:
    """The smallest of the numbers."""
    result = first
    for other in others:
        result = ite(other < result, other, result)
    return result


def maximum(first: IntLike, *others: IntLike) -> IntLike:
    """The largest of the numbers."""
    result = first
    for other in others:
        result = ite(other > result, other, result)
    return result


def total(values: Iterable[IntLike]) -> IntLike:
    """Sum of numbers; truth values count as 1 and 0."""
    known = 0
    symbolic = []
    for value in values:
        if isinstance(value, Term):
            symbolic.append(as_int(value))
        else:
            known += int(value)
    if not symbolic:
        return known
    if known:
        symbolic.append(z3.IntVal(known))
    return Term(symbolic[0] if len(symbolic) == 1 else z3.Sum(symbolic), False)


def _join(values: tuple[Any, ...], *, neutral: bool) -> BoolLike:
    symbolic = []
    for value in values:
        if value is neutral:
            continue
        if value is (not neutral):
            return value
        for item in value if isinstance(value, Iterable) else (value,):
            if isinstance(item, Term):
                symbolic.append(as_bool(item))
            elif not isinstance(item, bool):
                raise ModelError(f"expected a truth value, got {_describe(item)}; compare it with something first.")
            elif item is not neutral:
                return not neutral
    if not symbolic:
        return neutral
    if len(symbolic) == 1:
        return Term(symbolic[0], True)
    return Term(z3.And(symbolic) if neutral else z3.Or(symbolic), True)


def _divide(left: IntLike, right: IntLike, *, quotient: bool) -> IntLike:
    if isinstance(right, int) and right <= 0:
        return 0
    divided = as_int(left) / as_int(right) if quotient else as_int(left) % as_int(right)
    if isinstance(right, int):
        return Term(divided, False)
    return Term(z3.If(as_int(right) > 0, divided, z3.IntVal(0)), False)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or (isinstance(value, Term) and value.is_bool)


def _describe(value: Any) -> str:
    if isinstance(value, Term):
        return f"the {'truth value' if value.is_bool else 'number'} {value}"
    return "a function" if callable(value) else f"{value!r} ({type(value).__name__})"
