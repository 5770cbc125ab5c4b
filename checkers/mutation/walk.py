"""The walk: two machines side by side, whether they have the same labelled runs, but for steps that change nothing.

An instance has at most one next state, so two machines have the same labelled runs when from their initial states on,
whatever both do alike, the same instances are possible. States may differ all the same, in what nothing ever reads. A
step that leaves a state as it is can be seen in no property, and is left out of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..liveness.graph import Graph


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Where two machines part: after some steps which both can take, one can take another which the other cannot.

    Attributes:
        steps: labels of the steps that both can take.
        only_right, only_wrong: labels of what is possible in one of them then.
    """

    steps: tuple[str, ...]
    only_right: tuple[str, ...]
    only_wrong: tuple[str, ...]


def apart(right: Graph, wrong: Graph) -> Apart | None:
    """A shortest run after which not the same is possible; None when all labelled runs are the same."""
    labels: dict[str, int] = {}
    sides = []
    for graph in (right, wrong):
        numbers = [labels.setdefault(item.label, len(labels)) for item in graph.native.lowered.instances]
        sides.append(_Side(graph, np.array(numbers or [0], np.int64)))
    left, other = sides
    names = list(labels)
    size = np.int64(wrong.states)
    known = np.zeros(1, np.int64)
    front = np.zeros(1, np.int64)
    came: list[tuple[Any, Any, Any]] = []
    while len(front):
        here, there = front // size, front % size
        (sources, mine, targets), (its_sources, its, its_targets) = left.steps(here), other.steps(there)
        same = len(mine) == len(its) and bool((sources == its_sources).all()) and bool((mine == its).all())
        if not same:
            return _told(names, came, front, (sources, mine), (its_sources, its))
        pairs, first = np.unique(targets * size + its_targets, return_index=True)
        new = ~np.isin(pairs, known, assume_unique=True)
        came.append((front, front[sources[first[new]]], mine[first[new]]))
        front = pairs[new]
        known = np.union1d(known, front)
    return None


class _Side:
    def __init__(self, graph: Graph, numbers: Any) -> None:
        self._starts = graph.starts
        self._targets = graph.targets
        self._labels = numbers[graph.instances]

    def steps(self, states: Any) -> tuple[Any, Any, Any]:
        """For states their steps: position of the state, label, and target, ordered by these."""
        first, last = self._starts[states], self._starts[states + 1]
        sizes = last - first
        sources = np.repeat(np.arange(len(states)), sizes)
        ends = np.cumsum(sizes)
        edges = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes) + np.repeat(first, sizes)
        moves = self._targets[edges] != states[sources]
        edges, sources = edges[moves], sources[moves]
        order = np.lexsort((self._labels[edges], sources))
        edges, sources = edges[order], sources[order]
        return sources, self._labels[edges], self._targets[edges].astype(np.int64)


def _told(names: list[str], came: list[tuple[Any, Any, Any]], front: Any, mine: Any, its: Any) -> Apart:
    one = set(zip(mine[0].tolist(), mine[1].tolist(), strict=True))
    two = set(zip(its[0].tolist(), its[1].tolist(), strict=True))
    place = min(one ^ two)[0]
    steps: list[str] = []
    at, fronts = front[place], front
    for before, sources, labels in reversed(came):
        position = int(np.flatnonzero(fronts == at)[0])
        steps.append(names[int(labels[position])])
        at, fronts = sources[position], before
    return Apart(
        steps=tuple(reversed(steps)),
        only_right=tuple(sorted(names[label] for where, label in one - two if where == place)),
        only_wrong=tuple(sorted(names[label] for where, label in two - one if where == place)),
    )
