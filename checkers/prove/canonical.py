"""Canonical terms: the same question always in the same form, whatever was built before it.

Z3 orders operands by when a term was first built in the process, and symbols by when their name was first used in it,
so the form of a question, and with it the work of a proof, would depend on what else the process has checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import z3

_COMMUTATIVE = frozenset({z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT, z3.Z3_OP_ADD, z3.Z3_OP_MUL})


class Canonical:
    """Rebuilds terms in a context of its own: operands of commutative operators ordered by content, symbols numbered.
    Orders of different seeds have nothing in common.
    """

    def __init__(self, context: Any, *, seed: int = 0) -> None:
        self._context = context
        self._salt = str(seed)
        # Z3 reuses the number of a deleted term, so each term is kept beside its number.
        self._kept: list[Any] = []
        self._digests: dict[int, bytes] = {}
        self._parts: dict[int, list[Any]] = {}
        self._built: dict[int, Any] = {}
        self._names: dict[int, str] = {}
        self._operators: dict[int, Any] = {}

    def term(self, term: Any) -> Any:
        """The term, rebuilt."""
        for top in _parts_first(term, self._digests, _parts):
            self._note(top)
        # Only now, as terms are numbered in the order in which they are built.
        for top in _parts_first(term, self._built, lambda top: self._parts[top.get_id()]):
            parts = [self._built[part.get_id()] for part in self._parts[top.get_id()]]
            self._built[top.get_id()] = self._rebuilt(top, parts)
        return self._built[term.get_id()]

    def _note(self, term: Any) -> None:
        """The digest of a term, and its parts in the order of their digests."""
        parts = _parts(term)
        if z3.is_app(term) and term.decl().kind() in _COMMUTATIVE:
            parts.sort(key=lambda part: self._digests[part.get_id()])
        if z3.is_quantifier(term):
            kind = "forall" if term.is_forall() else "exists" if term.is_exists() else "lambda"
            head = f"{kind} {_sorts(term)}"
        elif z3.is_var(term):
            head = f"{term} of {term.sort()}"
        else:
            head = self._name(term) if parts else term.sexpr()
        content = b"".join(self._digests[part.get_id()] for part in parts) + head.encode()
        self._kept.append(term)
        self._parts[term.get_id()] = parts
        self._digests[term.get_id()] = hashlib.blake2b(content, digest_size=16, salt=self._salt.encode()).digest()

    def _rebuilt(self, term: Any, parts: list[Any]) -> Any:
        if z3.is_var(term) or (not parts and term.decl().kind() != z3.Z3_OP_UNINTERPRETED):
            return term.translate(self._context)
        if z3.is_quantifier(term):
            return self._quantified(term, _sorts(term), parts[0])
        own = (z3.Ast * len(parts))(*(part.as_ast() for part in parts))
        made = z3.Z3_mk_app(self._context.ref(), self._operator(term).ast, len(parts), own)
        return z3.z3._to_expr_ref(made, self._context)

    def _name(self, term: Any) -> str:
        """The operator of a term, with its sorts."""
        decl = term.decl()
        if decl.get_id() not in self._names:
            self._kept.append(decl)
            self._names[decl.get_id()] = decl.sexpr()
        return self._names[decl.get_id()]

    def _operator(self, term: Any) -> Any:
        decl = term.decl()
        if decl.get_id() not in self._operators:
            if decl.kind() == z3.Z3_OP_UNINTERPRETED:
                sorts = [self._sort(decl.domain(number)) for number in range(decl.arity())]
                of = (z3.Sort * len(sorts))(*(sort.ast for sort in sorts))
                name = z3.Z3_mk_int_symbol(self._context.ref(), len(self._operators))
                made = z3.Z3_mk_func_decl(self._context.ref(), name, len(sorts), of, self._sort(decl.range()).ast)
            else:
                made = z3.Z3_translate(decl.ctx.ref(), decl.as_ast(), self._context.ref())
            self._operators[decl.get_id()] = z3.FuncDeclRef(made, self._context)
        return self._operators[decl.get_id()]

    def _sort(self, sort: Any) -> Any:
        return z3.Var(0, sort).translate(self._context).sort()

    def _quantified(self, like: Any, sorts: list[Any], body: Any) -> Any:
        # Translating the quantifier would keep its body in the form that it has in the other context.
        context, count = self._context.ref(), len(sorts)
        own = [self._sort(sort) for sort in sorts]
        of = (z3.Sort * count)(*(sort.ast for sort in own))
        names = (z3.Symbol * count)(*(z3.Z3_mk_int_symbol(context, number) for number in range(count)))
        if like.is_lambda():
            made = z3.Z3_mk_lambda(context, count, of, names, body.as_ast())
        else:
            given = (like.is_forall(), like.weight(), 0, (z3.Pattern * 0)(), count, of, names, body.as_ast())
            made = z3.Z3_mk_quantifier(context, *given)
        return z3.z3._to_expr_ref(made, self._context)


def _parts(term: Any) -> list[Any]:
    return [term.body()] if z3.is_quantifier(term) else term.children()


def _sorts(quantifier: Any) -> list[Any]:
    return [quantifier.var_sort(number) for number in range(quantifier.num_vars())]


def _parts_first(term: Any, done: Mapping[int, Any], parts_of: Callable[[Any], list[Any]]) -> Iterator[Any]:
    """The terms inside a term that are not ``done``, and itself, each after its parts; the caller handles each."""
    waiting = [term]
    while waiting:
        top = waiting[-1]
        missing = [] if top.get_id() in done else [part for part in parts_of(top) if part.get_id() not in done]
        if missing:
            waiting.extend(reversed(missing))
            continue
        waiting.pop()
        if top.get_id() not in done:
            yield top
