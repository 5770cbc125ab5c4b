"""Strongly connected components: by networkx in small graphs, by Tarjan's algorithm over arrays in large ones.

Both number a component by its smallest member, so equal partitions are equal arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy

SMALL_TRANSITIONS = 20_000
"""Graphs with up to this many transitions are given to networkx: a second implementation, which costs no time here."""

OUTSIDE = -1
"""Component of the states outside the subgraph."""


def components(starts: NDArray[np.int64], targets: NDArray[np.int32], inside: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each state, its component in the subgraph of the states ``inside``, identified by its smallest member.

    Args:
        starts: first transition of each state, and the end of the last one.
        targets: for each transition, the state to which it leads.
        inside: the states of the subgraph, all with known transitions; the others get ``OUTSIDE``.
    """
    by = components_by_networkx if len(targets) <= SMALL_TRANSITIONS else components_by_arrays
    return by(starts, targets, inside)


def components_by_networkx(
    starts: NDArray[np.int64], targets: NDArray[np.int32], inside: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """:func:`components` through networkx."""
    import networkx  # here, as it takes a tenth of the time of a small question; most do not need it

    graph = networkx.DiGraph()
    for source in np.flatnonzero(inside).tolist():
        graph.add_node(source)
        row = targets[starts[source] : starts[source + 1]]
        graph.add_edges_from((source, target) for target in row[inside[row]].tolist())
    found = np.full(len(inside), OUTSIDE, np.int32)
    for members in networkx.strongly_connected_components(graph):
        found[list(members)] = min(members)
    return found


def components_by_arrays(
    starts: NDArray[np.int64], targets: NDArray[np.int32], inside: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """:func:`components` through Tarjan's algorithm, without recursion."""
    size = len(inside)
    visits = _Visits(
        order=np.zeros(size, np.int32),
        low=np.zeros(size, np.int32),
        resume=np.zeros(size, np.int64),
        calls=np.empty(size, np.int32),
        stack=np.empty(size, np.int32),
    )
    found = np.full(size, OUTSIDE, np.int32)
    _tarjan(starts, targets, inside, visits, found)
    return found


class _Visits(NamedTuple):
    """What Tarjan's algorithm keeps for each state, and its two stacks."""

    order: NDArray[np.int32]  # position at which it was visited, from 1 on
    low: NDArray[np.int32]  # earliest visited state that it is known to reach, on the same stack
    resume: NDArray[np.int64]  # next transition to look at
    calls: NDArray[np.int32]  # the states whose visit has begun and not ended
    stack: NDArray[np.int32]  # the states of components that are not complete


@heavy
def _tarjan(starts: Any, targets: Any, inside: Any, visits: Any, found: Any) -> None:
    order, low, resume, calls, stack = visits.order, visits.low, visits.resume, visits.calls, visits.stack
    height = visited = 0
    for root in range(len(inside)):
        if not inside[root] or order[root] != 0:
            continue
        depth = 0
        calls[0] = root
        while depth >= 0:
            state = calls[depth]
            if order[state] == 0:
                visited += 1
                order[state] = low[state] = visited
                resume[state] = starts[state]
                stack[height] = state
                height += 1
            descended = False
            while resume[state] < starts[state + 1]:
                target = targets[resume[state]]
                if inside[target] and order[target] == 0:
                    depth += 1
                    calls[depth] = target
                    descended = True
                    break
                if inside[target] and found[target] == OUTSIDE:
                    low[state] = min(low[state], low[target])
                resume[state] += 1
            if descended:
                continue
            depth -= 1
            if low[state] == order[state]:
                bottom = height - 1
                smallest = state
                while stack[bottom] != state:
                    smallest = min(smallest, stack[bottom])
                    bottom -= 1
                for position in range(bottom, height):
                    found[stack[position]] = smallest
                height = bottom
