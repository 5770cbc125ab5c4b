"""Conditions as trees of conjunctions and disjunctions, so that the reason why one is false can be followed.

For a false conjunction to become true, any one of its false parts must become true; for a false disjunction, some part
must. A part that cannot be divided further is an atom: a comparison, or a variable that is true or false.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import z3


class Kind(enum.IntEnum):
    """What a node of a condition is."""

    ATOM = 0
    ALL = 1
    ANY = 2


@dataclass(frozen=True)
class Node:
    """A condition, or a part of one."""

    kind: Kind
    term: Any  # the condition as a Z3 truth value
    parts: tuple[int, ...] = ()  # numbers of the nodes of which it consists; empty for an atom


class Conditions:
    """Nodes of any number of conditions, equal parts shared."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._numbers: dict[tuple[int, bool], int] = {}
        self._joined: dict[tuple[Kind, tuple[int, ...]], int] = {}
        self._alive: list[Any] = []  # Z3 reuses the ids of terms to which nothing refers

    def add(self, term: Any, *, wanted: bool = True) -> int:
        """Add the condition that ``term`` is true (false if not ``wanted``); returns the number of its node."""
        simple = z3.simplify(term)
        self._alive.append(simple)
        return self._add(simple, wanted)

    def _add(self, term: Any, wanted: bool) -> int:
        identity = (term.get_id(), wanted)
        known = self._numbers.get(identity)
        if known is None:
            known = self._numbers[identity] = self._make(term, wanted)
        return known

    def _make(self, term: Any, wanted: bool) -> int:
        kind, children = term.decl().kind(), term.children()
        self._alive.extend(children)
        if kind == z3.Z3_OP_NOT:
            return self._add(children[0], not wanted)
        if kind in (z3.Z3_OP_AND, z3.Z3_OP_OR):
            parts = [self._add(child, wanted) for child in children]
            return self._join(Kind.ALL if (kind == z3.Z3_OP_AND) == wanted else Kind.ANY, parts)
        if kind == z3.Z3_OP_IMPLIES:
            parts = [self._add(children[0], not wanted), self._add(children[1], wanted)]
            return self._join(Kind.ANY if wanted else Kind.ALL, parts)
        if kind == z3.Z3_OP_ITE:
            condition, yes, no = children
            taken = self._join(Kind.ALL, [self._add(condition, True), self._add(yes, wanted)])
            other = self._join(Kind.ALL, [self._add(condition, False), self._add(no, wanted)])
            return self._join(Kind.ANY, [taken, other])
        return self._new(Node(Kind.ATOM, term if wanted else z3.Not(term)))

    def _join(self, kind: Kind, parts: list[int]) -> int:
        flat: dict[int, None] = {}
        for part in parts:
            node = self.nodes[part]
            flat.update(dict.fromkeys(node.parts if node.kind is kind else (part,)))
        if len(flat) == 1:
            return next(iter(flat))
        identity = (kind, tuple(flat))
        if identity not in self._joined:
            terms = [self.nodes[part].term for part in flat]
            self._joined[identity] = self._new(
                Node(kind, z3.And(terms) if kind is Kind.ALL else z3.Or(terms), tuple(flat))
            )
        return self._joined[identity]

    def _new(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1
