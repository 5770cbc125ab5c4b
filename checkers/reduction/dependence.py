"""Dependence between steps, from the terms of a lowered configuration.

Two steps *accord* when in every state in which both can happen they can happen in either order, to the same result. A
step *enables* a condition when in some state the condition is false and after the step it is true. Both are decided by
the cells that are read and written if that is enough, by what random walks have shown, and otherwise by Z3 over all
states that the domains allow. If Z3 gives up, steps count as not according and as enabling, which is always safe.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import z3
from numpy.typing import NDArray

from ...model.kernel import Instance, Lowered
from ...model.kernel.native import CodeCache

_EFFORT = 200_000
"""Limit for one question, in Z3's own units, so that the answer is the same on every machine."""


@dataclass(frozen=True)
class Dependence:
    """Dependence between the instances of a configuration."""

    # ``disturbs[t, u]``: instances ``t`` and ``u`` do not accord (symmetric; nothing disturbs itself)
    disturbs: NDArray[np.bool_]
    enables: NDArray[np.bool_]  # ``enables[a, t]``: instance ``t`` may make atom ``a`` true


class Analysis:
    """Decides the dependence in one configuration."""

    def __init__(self, lowered: Lowered) -> None:
        self._lowered = lowered
        self._cells = {cell.symbol.get_id(): number for number, cell in enumerate(lowered.cells)}
        self._reads_of: dict[int, frozenset[int]] = {}
        self._alive: list[Any] = []
        self._updates = [self._simple(instance) for instance in lowered.instances]
        self._writes = [frozenset(updates) for updates in self._updates]
        self._guard_reads = [self.reads(instance.guard) for instance in lowered.instances]
        self._reads = [
            frozenset().union(guard, *(self.reads(value) for value in updates.values()))
            for guard, updates in zip(self._guard_reads, self._updates, strict=True)
        ]
        self._solver = z3.Solver()
        self._solver.set("rlimit", _EFFORT)
        for cell in lowered.cells:
            if not cell.family.is_bool:
                self._solver.add(cell.family.low <= cell.symbol, cell.symbol <= cell.family.high)
        self.questions = 0

    def dependence(self, atoms: Sequence[Any], disturbed: NDArray[np.bool_], enabled: NDArray[np.bool_]) -> Dependence:
        """Decide for all pairs; ``disturbed`` and ``enabled`` are what walks have shown already."""
        count = len(self._lowered.instances)
        disturbs, enables = disturbed.copy(), enabled.copy()
        for first in range(count):
            for second in range(first):
                if not disturbs[first, second] and not self.accord(first, second):
                    disturbs[first, second] = disturbs[second, first] = True
        for number, atom in enumerate(atoms):
            reads = self.reads(atom)
            for instance in range(count):
                if not enables[number, instance] and reads & self._writes[instance]:
                    enables[number, instance] = self._may_enable(atom, instance)
        return Dependence(disturbs, enables)

    def reads(self, term: Any) -> frozenset[int]:
        """Numbers of the cells a term depends on."""
        known = self._reads_of.get(term.get_id())
        if known is not None:
            return known
        self._alive.append(term)
        stack = [term]
        while stack:
            current = stack[-1]
            identity = current.get_id()
            if identity in self._reads_of:
                stack.pop()
                continue
            children = current.children()
            self._alive.extend(children)
            waiting = [child for child in children if child.get_id() not in self._reads_of]
            if waiting:
                stack.extend(waiting)
                continue
            own = frozenset({self._cells[identity]} if identity in self._cells else ())
            self._reads_of[identity] = own.union(*(self._reads_of[child.get_id()] for child in children))
            stack.pop()
        return self._reads_of[term.get_id()]

    def accord(self, first: int, second: int) -> bool:
        """Whether the two instances accord in every state that the domains allow."""
        apart = not (
            self._writes[first] & (self._reads[second] | self._writes[second])
            or self._writes[second] & self._reads[first]
        )
        if apart:
            return True
        one, other = self._lowered.instances[first], self._lowered.instances[second]
        same = []
        if self._writes[first] & self._guard_reads[second]:
            same.append(self._after(first, other.guard))
        if self._writes[second] & self._guard_reads[first]:
            same.append(self._after(second, one.guard))
        for cell in sorted(self._writes[first] | self._writes[second]):
            symbol = self._lowered.cells[cell].symbol
            value, other_value = self._updates[first].get(cell, symbol), self._updates[second].get(cell, symbol)
            left, right = self._after(first, other_value), self._after(second, value)
            if not left.eq(right):
                same.append(left == right)
        if not same:
            return True
        return self._never(one.guard, other.guard, z3.Not(z3.And(same)))

    def _may_enable(self, atom: Any, number: int) -> bool:
        return not self._never(self._lowered.instances[number].guard, z3.Not(atom), self._after(number, atom))

    def _after(self, number: int, term: Any) -> Any:
        """The value of ``term`` after instance ``number``, as a term over the state before it."""
        written = self._writes[number] & self.reads(term)
        if not written:
            return term
        updates = self._updates[number]
        return z3.substitute(term, [(self._lowered.cells[cell].symbol, updates[cell]) for cell in sorted(written)])

    def _never(self, *conditions: Any) -> bool:
        """Whether no state satisfies all ``conditions``; also False if Z3 does not know."""
        self.questions += 1
        self._solver.push()
        self._solver.add(*conditions)
        answer = self._solver.check()
        self._solver.pop()
        return bool(answer == z3.unsat)

    def _simple(self, instance: Instance) -> dict[int, Any]:
        updates = {}
        for number, value in instance.updates.items():
            simple = z3.simplify(value)
            if not simple.eq(self._lowered.cells[number].symbol):
                updates[number] = simple
        return updates


def load(cache: CodeCache | None, key: str, instances: int, atoms: int) -> Dependence | None:
    """What :func:`store` has stored under ``key``."""
    content = cache.load(key) if cache is not None else None
    if content is None:
        return None
    bits = np.unpackbits(np.frombuffer(content, np.uint8), count=instances * (instances + atoms)).astype(np.bool_)
    split = instances * instances
    return Dependence(bits[:split].reshape(instances, instances), bits[split:].reshape(atoms, instances))


def store(cache: CodeCache | None, key: str, dependence: Dependence) -> None:
    """Store a result."""
    if cache is not None:
        bits = np.concatenate([dependence.disturbs.ravel(), dependence.enables.ravel()])
        cache.store(key, np.packbits(bits).tobytes())


def key_of(lowered: Lowered, atoms: Sequence[Any]) -> str:
    """A text that differs whenever the dependence may."""
    digest = hashlib.sha256(f"dependence {z3.get_version_string()} {_EFFORT}".encode())
    for cell in lowered.cells:
        digest.update(f"{cell.symbol} {cell.family.low} {cell.family.high} {cell.initial}\n".encode())
    for instance in lowered.instances:
        digest.update(instance.guard.sexpr().encode())
        for number, value in instance.updates.items():
            digest.update(f"{number} {value.sexpr()}\n".encode())
    for atom in atoms:
        digest.update(f"{atom.sexpr()}\n".encode())
    return digest.hexdigest()
