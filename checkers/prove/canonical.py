"""Canonical terms: the same question in the same form, whatever was built before it.

Z3 orders the operands of sums and equations by when a term of that form was first built in the process, so the form of
a question, and with it the work of a proof, would depend on what else the process has checked.
"""

from __future__ import annotations

import hashlib
from typing import Any

import z3

_COMMUTATIVE = frozenset({z3.Z3_OP_AND, z3.Z3_OP_OR, z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT, z3.Z3_OP_ADD, z3.Z3_OP_MUL})


class Canonical:
    """Rebuilds terms in a context of its own, with the operands of commutative operators ordered by their content.

    Args:
        context: the Z3 context of the rebuilt terms.
        seed: orders of different seeds have nothing in common.
    """

    def __init__(self, context: Any, *, seed: int = 0) -> None:
        self._context = context
        self._salt = str(seed)
        # Z3 gives the number of a term that is gone to another one, so each is kept beside its number.
        self._known: dict[int, tuple[Any, bytes, Any]] = {}
        self._operators: dict[int, tuple[Any, str, Any]] = {}

    def term(self, term: Any) -> Any:
        """The term, rebuilt."""
        waiting = [term]
        while waiting:
            top = waiting[-1]
            parts = [top.body()] if z3.is_quantifier(top) else top.children()
            missing = [part for part in parts if part.get_id() not in self._known]
            if missing:
                waiting.extend(reversed(missing))
                continue
            waiting.pop()
            if top.get_id() not in self._known:
                self._known[top.get_id()] = (top, *self._rebuilt(top, [self._known[part.get_id()] for part in parts]))
        return self._known[term.get_id()][2]

    def _rebuilt(self, term: Any, parts: list[tuple[Any, bytes, Any]]) -> tuple[bytes, Any]:
        if not parts:
            text = f"{term} of {term.sort()}" if z3.is_var(term) else term.sexpr()
            return self._digest(text, []), term.translate(self._context)
        if z3.is_quantifier(term):
            sorts = [term.var_sort(number) for number in range(term.num_vars())]
            head = f"{'forall' if term.is_forall() else 'exists' if term.is_exists() else 'lambda'} {sorts}"
            return self._digest(head, [parts[0][1]]), self._quantified(term, sorts, parts[0][2])
        decl = term.decl()
        if decl.kind() in _COMMUTATIVE:
            parts = sorted(parts, key=lambda part: part[1])
        if decl.get_id() not in self._operators:
            own = z3.Z3_translate(decl.ctx.ref(), decl.as_ast(), self._context.ref())
            self._operators[decl.get_id()] = (decl, decl.sexpr(), z3.FuncDeclRef(own, self._context))
        _, text, own = self._operators[decl.get_id()]
        own_parts = (z3.Ast * len(parts))(*(part[2].as_ast() for part in parts))
        made = z3.Z3_mk_app(self._context.ref(), own.ast, len(parts), own_parts)
        return self._digest(text, [part[1] for part in parts]), z3.z3._to_expr_ref(made, self._context)

    def _quantified(self, like: Any, sorts: list[Any], body: Any) -> Any:
        # Translating the quantifier would bring its body along in the form that it has there.
        context, count = self._context.ref(), len(sorts)
        own = [z3.Var(0, sort).translate(self._context).sort() for sort in sorts]
        of = (z3.Sort * count)(*(sort.ast for sort in own))
        names = (z3.Symbol * count)(*(z3.Z3_mk_int_symbol(context, number) for number in range(count)))
        if like.is_lambda():
            made = z3.Z3_mk_lambda(context, count, of, names, body.as_ast())
        else:
            given = (like.is_forall(), like.weight(), 0, (z3.Pattern * 0)(), count, of, names, body.as_ast())
            made = z3.Z3_mk_quantifier(context, *given)
        return z3.z3._to_expr_ref(made, self._context)

    def _digest(self, head: str, parts: list[bytes]) -> bytes:
        return hashlib.blake2b(b"".join(parts) + head.encode(), digest_size=16, salt=self._salt.encode()).digest()
