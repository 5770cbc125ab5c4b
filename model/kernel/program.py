"""Straight-line code: Z3 terms as numbered operations with known value ranges, the common start of all code generators.

Equal subterms become one node. Every node knows the range its value can have, from the declared domains of the
variables; comparisons that are decided by the ranges become constants, so checks that cannot fail cost nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from .errors import ModelError


class Op(enum.Enum):
    """Operations. DIV and MOD are 0 unless the divisor is positive; all others have their usual meaning."""

    CONST = "const"
    CELL = "cell"
    ADD = "+"
    MUL = "*"
    DIV = "//"
    MOD = "%"
    LE = "<="
    EQ = "=="
    NOT = "not"
    AND = "and"
    OR = "or"
    ITE = "ite"


@dataclass(frozen=True, slots=True)
class Node:
    """One operation.

    Attributes:
        args: numbers of the operand nodes, all smaller than this node's own number.
        value: the constant, or the number of the cell read.
        low, high: range of the result, truth values being 0 and 1.
        is_bool: whether the result is a truth value.
    """

    op: Op
    args: tuple[int, ...]
    value: int
    low: int
    high: int
    is_bool: bool


class Program:
    """Nodes of any number of terms over the same cells, shared where equal."""

    def __init__(self, symbols: Sequence[tuple[Any, int, int]]) -> None:
        """Make an empty program over cells given as ``(Z3 constant, low, high)``."""
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._terms: dict[int, int] = {}
        self._alive: list[Any] = []
        for number, (symbol, low, high) in enumerate(symbols):
            self._alive.append(symbol)
            self._terms[symbol.get_id()] = self._node(Op.CELL, (), number, low, high, z3.is_bool(symbol))

    def add(self, term: Any) -> int:
        """Add a term; returns the number of the node that holds its value.

        Raises:
            ModelError: the term has an operation that is not executable, such as a quantifier or an array.
        """
        # Z3's own simplification would order operands by what the process built before, and cached code would not be
        # found again.
        self._alive.append(term)
        stack: list[tuple[Any, list[Any] | None]] = [(term, None)]
        while stack:
            current, children = stack.pop()
            identity = current.get_id()
            if identity in self._terms:
                continue
            if children is None:
                if not z3.is_app(current):
                    raise ModelError(f"this term cannot be executed, it has a quantifier: {current}")
                children = current.children()
                self._alive.extend(children)
                waiting = [child for child in children if child.get_id() not in self._terms]
                if waiting:
                    stack.append((current, children))
                    stack.extend((child, None) for child in waiting)
                    continue
            self._terms[identity] = self._convert(current, tuple(self._terms[child.get_id()] for child in children))
        return self._terms[term.get_id()]

    def needed(self, roots: Iterable[int]) -> list[int]:
        """Numbers of all nodes the roots depend on, themselves included, operands before their users."""
        seen: set[int] = set()
        stack = list(roots)
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                stack.extend(self.nodes[number].args)
        return sorted(seen)

    def _convert(self, term: Any, args: tuple[int, ...]) -> int:
        kind = term.decl().kind()
        if kind == z3.Z3_OP_ANUM:
            return self._constant(term.as_long(), is_bool=False)
        if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE):
            return self._constant(int(kind == z3.Z3_OP_TRUE), is_bool=True)
        if kind == z3.Z3_OP_ITE:
            return self._ite(*args)
        if kind == z3.Z3_OP_NOT:
            return self._not(args[0])
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            return self._join(Op.AND if kind == z3.Z3_OP_AND else Op.OR, args)
        if kind == z3.Z3_OP_IMPLIES:
            return self._join(Op.OR, (self._not(args[0]), args[1]))
        if kind == z3.Z3_OP_EQ:
            return self._equal(*args)
        if kind in (z3.Z3_OP_DISTINCT, z3.Z3_OP_XOR):
            pairs = [(a, b) for position, a in enumerate(args) for b in args[position + 1 :]]
            return self._join(Op.AND, tuple(self._not(self._equal(a, b)) for a, b in pairs))
        if kind == z3.Z3_OP_LE:
            return self._less_equal(args[0], args[1])
        if kind == z3.Z3_OP_GE:
            return self._less_equal(args[1], args[0])
        if kind == z3.Z3_OP_LT:
            return self._not(self._less_equal(args[1], args[0]))
        if kind == z3.Z3_OP_GT:
            return self._not(self._less_equal(args[0], args[1]))
        if kind == z3.Z3_OP_ADD:
            return self._sum(args)
        if kind == z3.Z3_OP_SUB:
            return self._sum((args[0], *(self._product((self._constant(-1, is_bool=False), arg)) for arg in args[1:])))
        if kind == z3.Z3_OP_UMINUS:
            return self._product((self._constant(-1, is_bool=False), args[0]))
        if kind == z3.Z3_OP_MUL:
            return self._product(args)
        if kind == z3.Z3_OP_IDIV:
            return self._quotient(*args)
        if kind == z3.Z3_OP_MOD:
            return self._remainder(*args)
        raise ModelError(f"this term cannot be executed: {term} ({term.decl().name()})")

    def _node(self, op: Op, args: tuple[int, ...], value: int, low: int, high: int, is_bool: bool) -> int:
        node = Node(op, args, value, low, high, is_bool)
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def _constant(self, value: int, *, is_bool: bool) -> int:
        return self._node(Op.CONST, (), value, value, value, is_bool)

    def _truth(self, op: Op, args: tuple[int, ...]) -> int:
        return self._node(op, args, 0, 0, 1, True)

    def _known(self, number: int) -> int | None:
        node = self.nodes[number]
        return node.low if node.low == node.high else None

    def _not(self, arg: int) -> int:
        known = self._known(arg)
        if known is not None:
            return self._constant(1 - known, is_bool=True)
        node = self.nodes[arg]
        return node.args[0] if node.op is Op.NOT else self._truth(Op.NOT, (arg,))

    def _join(self, op: Op, args: tuple[int, ...]) -> int:
        neutral = 1 if op is Op.AND else 0
        rest = []
        for arg in args:
            known = self._known(arg)
            if known is None:
                rest.append(arg)
            elif known != neutral:
                return self._constant(1 - neutral, is_bool=True)
        if not rest:
            return self._constant(neutral, is_bool=True)
        return rest[0] if len(rest) == 1 else self._truth(op, tuple(rest))

    def _ite(self, condition: int, yes: int, no: int) -> int:
        known = self._known(condition)
        if known is not None:
            return yes if known else no
        if yes == no:
            return yes
        left, right = self.nodes[yes], self.nodes[no]
        low, high = min(left.low, right.low), max(left.high, right.high)
        return self._node(Op.ITE, (condition, yes, no), 0, low, high, left.is_bool)

    def _equal(self, left: int, right: int) -> int:
        a, b = self.nodes[left], self.nodes[right]
        if left == right:
            return self._constant(1, is_bool=True)
        if a.high < b.low or b.high < a.low:
            return self._constant(0, is_bool=True)
        for known, other in ((left, right), (right, left)):
            if self.nodes[other].is_bool and self._known(known) is not None:
                return other if self._known(known) else self._not(other)
        return self._truth(Op.EQ, (left, right))

    def _less_equal(self, left: int, right: int) -> int:
        a, b = self.nodes[left], self.nodes[right]
        if left == right or a.high <= b.low:
            return self._constant(1, is_bool=True)
        if a.low > b.high:
            return self._constant(0, is_bool=True)
        return self._truth(Op.LE, (left, right))

    def _sum(self, args: tuple[int, ...]) -> int:
        parts = [self.nodes[arg] for arg in args]
        return self._node(Op.ADD, args, 0, sum(p.low for p in parts), sum(p.high for p in parts), False)

    def _product(self, args: tuple[int, ...]) -> int:
        low = high = 1
        for arg in args:
            node = self.nodes[arg]
            corners = [low * node.low, low * node.high, high * node.low, high * node.high]
            low, high = min(corners), max(corners)
        return self._node(Op.MUL, args, 0, low, high, False)

    def _quotient(self, left: int, right: int) -> int:
        a, b = self.nodes[left], self.nodes[right]
        if b.high <= 0:
            return self._constant(0, is_bool=False)
        divisors = (max(b.low, 1), b.high)
        corners = [bound // divisor for bound in (a.low, a.high) for divisor in divisors]
        if b.low <= 0:
            corners.append(0)
        return self._node(Op.DIV, (left, right), 0, min(corners), max(corners), False)

    def _remainder(self, left: int, right: int) -> int:
        a, b = self.nodes[left], self.nodes[right]
        if b.high <= 0:
            return self._constant(0, is_bool=False)
        high = min(a.high, b.high - 1) if a.low >= 0 else b.high - 1
        return self._node(Op.MOD, (left, right), 0, 0, high, False)
