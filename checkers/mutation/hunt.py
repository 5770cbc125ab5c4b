"""The hunt: searches a wrong machine for the first row of the suite whose answer changes, and stops there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from ...model.kernel import ModelError
from ...model.kernel.native import NativeMachine
from ...properties.property import Kind
from ...properties.verdict import Verdict
from ..engines import OF_RUNS
from ..exploration import Limits
from ..liveness import violating_lasso
from ..liveness.graph import Graph, reachable_graph
from ..search import loop as search
from ..search.native_calls import NOT_FOUND
from .ground import Question

_FIRST_PAUSE = 4096


class How(StrEnum):
    """What is different about a row with a wrong machine."""

    VIOLATED = "violated"
    FINDING_GONE = "finding gone"
    WITNESS_GONE = "witness gone"
    OUTSIDE = "leaves a domain"
    NEVER = "never happens"


@dataclass(frozen=True, kw_only=True)
class Kill:
    """A row that gives another answer."""

    row: str  # id of the property, or of the coverage row if an action never happens
    how: str  # what is different, in words: one of How, or what cannot be computed


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a hunt found."""

    kills: tuple[Kill, ...]  # the rows that change, in the order found; empty if all answers are the same
    complete: bool  # whether everything was searched; otherwise the absence of a kill means nothing
    taken: frozenset[str] = frozenset()  # names of the actions that happened


def hunt(native: NativeMachine, questions: Sequence[Question], *, max_states: int, near: Any = ()) -> Found:
    """Judge the rows of one configuration, those about states first, until one changes.

    The search begins in the initial state and in packed states ``near`` a difference, which the machine can reach.
    """
    states = [item for item in questions if item.property.kind not in OF_RUNS]
    found = _States(native, states, max_states, near).run()
    if not found.complete or found.kills:
        return found
    whole_runs = [item for item in questions if item.property.kind in OF_RUNS]
    return _whole_runs(native, whole_runs, found.taken, max_states)


class _States:
    """A breadth-first search that checks from time to time what it has found."""

    def __init__(self, native: NativeMachine, questions: Sequence[Question], max_states: int, near: Any) -> None:
        self._native = native
        self._questions = questions
        self._bits = [native.predicates.index(item.goal) for item in questions]
        self._limit = max_states
        self._asked = search.Asked(
            successors=native.successors,
            properties=native.properties,
            watched=sum(1 << bit for bit in self._bits),
            inverted=sum(
                1 << bit for bit, item in zip(self._bits, questions, strict=True) if item.property.kind is Kind.ALWAYS
            ),
            terminal=0,
        )
        words = max(1, native.layout.words)
        fan = max(1, len(native.lowered.instances))
        initial = np.array([native.layout.pack(native.lowered.initial_state()) or (0,)], np.uint64)
        begin = np.concatenate([initial, np.array(near, np.uint64).reshape(-1, words)])
        rows = max_states + fan * search.BLOCK + len(begin)
        self._space = search.space_of(begin, rows=rows, fan=fan, predicates=max(self._bits, default=-1) + 1)
        self._room = search.room_of(fan, words)
        search.watch_first(self._asked, self._space)

    def run(self) -> Found:
        """Search until a row that must hold is violated, to the end, or to the limit."""
        pause = _FIRST_PAUSE
        while True:
            status = search.advance(self._asked, self._space, self._room, pause, False, None)
            if violated := self._violated():
                return Found(kills=violated, complete=False)
            if status == search.WROTE_OUTSIDE:
                label = self._native.lowered.instances[int(self._space.control[search.WRONG_INSTANCE])].action.name
                return Found(kills=(Kill(row=label, how=How.OUTSIDE),), complete=False)
            if status == search.DONE:
                return Found(kills=self._missing(), complete=True, taken=self._actions())
            if status == search.SLOTS_FULL:
                self._space = self._space._replace(slots=np.zeros(len(self._space.slots) * 4, np.uint32))
                search.index(self._space.table, int(self._space.control[search.COUNT]), self._space.slots, 0, 1)
            if status == search.TABLE_FULL or self._space.control[search.COUNT] >= self._limit:
                return Found(kills=(), complete=False)
            pause *= 2

    def _violated(self) -> tuple[Kill, ...]:
        return tuple(
            Kill(row=item.row.id, how=How.VIOLATED)
            for bit, item in zip(self._bits, self._questions, strict=True)
            if item.property.kind is Kind.ALWAYS
            and item.row.expected is Verdict.HOLDS
            and self._space.found[bit] != NOT_FOUND
        )

    def _missing(self) -> tuple[Kill, ...]:
        changes = []
        for bit, item in zip(self._bits, self._questions, strict=True):
            seen = self._space.found[bit] != NOT_FOUND
            if item.property.kind is Kind.ALWAYS and item.row.expected is Verdict.VIOLATED and not seen:
                changes.append(Kill(row=item.row.id, how=How.FINDING_GONE))
            if item.property.kind is Kind.SOMETIMES and seen != (item.row.expected is Verdict.HOLDS):
                changes.append(Kill(row=item.row.id, how=How.VIOLATED if seen else How.WITNESS_GONE))
        return tuple(changes)

    def _actions(self) -> frozenset[str]:
        instances = self._native.lowered.instances
        return frozenset(item.action.name for item, count in zip(instances, self._space.taken, strict=False) if count)


def _whole_runs(native: NativeMachine, questions: Sequence[Question], taken: frozenset[str], max_states: int) -> Found:
    """The first row about whole runs that changes: a fair run now violates a row that held, or none does any more."""
    whole: Graph | None = None
    for item in questions:
        # Whatever follows a goal that must be reached once does not matter.
        ends = item.property.kind is Kind.EVENTUALLY and item.property.after is None
        try:
            if ends:
                graph = reachable_graph(native, stop_at=item.goal, limits=Limits(states=max_states))
            else:
                graph = whole = whole or reachable_graph(native, limits=Limits(states=max_states))
        except ModelError:
            return Found(kills=(Kill(row=item.row.id, how=How.OUTSIDE),), complete=False)
        if graph.limit:
            return Found(kills=(), complete=False, taken=taken)
        if violates(graph, item) != (item.row.expected is Verdict.VIOLATED):
            how = How.FINDING_GONE if item.row.expected is Verdict.VIOLATED else How.VIOLATED
            return Found(kills=(Kill(row=item.row.id, how=how),), complete=False)
    return Found(kills=(), complete=True, taken=taken)


def violates(graph: Graph, item: Question, unfair: str = "") -> bool:
    """Whether some fair run violates a row about whole runs if one action is not fair."""
    return violating_lasso(graph, item.property, goal=item.goal, after=item.after, unfair=unfair) is not None
