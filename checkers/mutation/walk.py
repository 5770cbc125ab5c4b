"""The walk: two machines side by side: do they have the same labelled runs, except for steps that change nothing?

An instance has at most one next state, so two machines have the same labelled runs if, from their initial states on and
after all common steps, the same instances are possible. The states may still differ in cells that nothing ever reads. A
step that leaves a state unchanged is visible to no property, and is ignored in both machines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..liveness.graph import Graph


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Where two machines part: after some common steps, one of them can take a step that the other cannot.

    Attributes:
        steps: labels of the common steps.
        only_right, only_wrong: labels of the steps that are then possible in only one of the two.
    """

    steps: tuple[str, ...]
    only_right: tuple[str, ...]
    only_wrong: tuple[str, ...]


def apart(right: Graph, wrong: Graph) -> Apart | None:
    """A shortest run after which different steps are possible; None if all labelled runs are the same."""
    labels: dict[str, int] = {}
    sides = []
    for graph in (right, wrong):
        numbers = [labels.setdefault(item.label, len(labels)) for item in graph.lowered.instances]
        sides.append((graph, np.array(numbers or [0], np.int64)))
    names = list(labels)
    left, other = (_Side(graph, numbers, len(names)) for graph, numbers in sides)
    size = np.int64(wrong.states)
    known = np.zeros(1, np.int64)
    front = np.zeros(1, np.int64)
    came: list[tuple[Any, Any, Any]] = []
    while len(front):
        here, there = front // size, front % size
        (mine, targets, moves), (its, its_targets, its_moves) = left.steps(here), other.steps(there)
        alike, at, its_at = np.intersect1d(mine, its, assume_unique=True, return_indices=True)
        only_mine, only_its = mine[moves & ~np.isin(mine, its)], its[its_moves & ~np.isin(its, mine)]
        if len(only_mine) or len(only_its):
            return _told(names, came, front, only_mine, only_its)
        sources, labels_alike = np.divmod(alike, len(names))
        pairs, first = np.unique(targets[at] * size + its_targets[its_at], return_index=True)
        new = ~np.isin(pairs, known, assume_unique=True)
        came.append((front, front[sources[first[new]]], labels_alike[first[new]]))
        front = pairs[new]
        known = np.union1d(known, front)
    return None


class _Side:
    def __init__(self, graph: Graph, numbers: Any, labels: int) -> None:
        self._starts = graph.starts
        self._targets = graph.targets
        self._labels = numbers[graph.instances]
        self._number = max(1, labels)

    def steps(self, states: Any) -> tuple[Any, Any, Any]:
        """For the given states, their steps: position of the state and label as one number, target, and whether it
        changes anything.
        """
        first, last = self._starts[states], self._starts[states + 1]
        sizes = last - first
        sources = np.repeat(np.arange(len(states)), sizes)
        ends = np.cumsum(sizes)
        edges = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes) + np.repeat(first, sizes)
        targets = self._targets[edges].astype(np.int64)
        return sources * self._number + self._labels[edges], targets, targets != states[sources]


def _told(names: list[str], came: list[tuple[Any, Any, Any]], front: Any, only_mine: Any, only_its: Any) -> Apart:
    place = int(min([*only_mine, *only_its])) // len(names)
    steps: list[str] = []
    at, fronts = front[place], front
    for before, sources, labels in reversed(came):
        position = int(np.flatnonzero(fronts == at)[0])
        steps.append(names[int(labels[position])])
        at, fronts = sources[position], before
    mine, its = (
        tuple(sorted(names[step % len(names)] for step in only.tolist() if step // len(names) == place))
        for only in (only_mine, only_its)
    )
    return Apart(steps=tuple(reversed(steps)), only_right=mine, only_wrong=its)
