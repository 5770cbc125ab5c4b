"""Fair components: those in which a run may stay for ever while being fair to every action; see ``lasso.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...machine_code.compiled import heavy
from .components import components
from .graph import Graph


def divided(graph: Graph, inside: NDArray[np.bool_], strongly: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each state ``inside``, its component, identified as by :func:`.components.components`.

    States that enable a strongly fair instance which their component never takes are removed, until there are none.
    """
    component = components(graph.starts, graph.targets, inside)
    while strongly.any() and (unfair := not_taken(graph, component, strongly)).any():
        component = components(graph.starts, graph.targets, (component >= 0) & ~unfair)
    return component


def judge_components(
    graph: Graph,
    component: NDArray[np.int32],
    members: NDArray[np.int64],
    is_weak: NDArray[np.bool_],
    is_strong: NDArray[np.bool_],
    again: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each component of ``members``, sorted by component: whether it meets all demands, and whether a run may stay
    in it.

    The caller has ensured that a component takes the strongly fair instances that it enables.
    """
    fair, idle = np.zeros(len(members), np.bool_), np.zeros(len(members), np.bool_)
    enabled_in, served_in = (np.full(len(is_weak), -1, np.int64) for _ in range(2))
    numbers = np.flatnonzero(is_weak)
    _judge(*graph.rows(), component, members, is_weak, is_strong, again, numbers, enabled_in, served_in, fair, idle)
    return fair, idle


@heavy
def _judge(
    starts: Any,
    targets: Any,
    instances: Any,
    component: Any,
    members: Any,
    is_weak: Any,
    is_strong: Any,
    again: Any,
    numbers: Any,
    enabled_in: Any,
    served_in: Any,
    fair: Any,
    idle: Any,
) -> None:
    """Write :func:`judge_components`' answer to ``fair`` and ``idle``.

    ``enabled_in`` is the state in which an instance was last seen enabled, ``served_in`` the component in which it was
    last served.
    """
    first = served = 0
    comes_again = False
    for place in range(len(members)):
        state = members[place]
        name = component[state]
        enabled = 0
        may_stay = again[state]
        for edge in range(starts[state], starts[state + 1]):
            number = instances[edge]
            may_stay &= not is_strong[number]
            if is_weak[number]:
                enabled += 1
                enabled_in[number] = state
                if component[targets[edge]] == name and served_in[number] != name:
                    served_in[number] = name
                    served += 1
        comes_again |= again[state]
        idle[place] = enabled == 0 and may_stay
        if enabled < len(numbers) and served < len(numbers):
            for number in numbers:
                if enabled_in[number] != state and served_in[number] != name:
                    served_in[number] = name
                    served += 1
        if place + 1 == len(members) or component[members[place + 1]] != name:
            fair[first : place + 1] = comes_again and served == len(numbers)
            first = place + 1
            served = 0
            comes_again = False


def not_taken(graph: Graph, component: NDArray[np.int32], is_strong: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each state, whether it enables a strongly fair instance that no transition inside its component takes."""
    members = np.argsort(component, kind="stable")
    unfair = np.zeros(len(component), np.bool_)
    taken_in = np.full(len(is_strong), -1, np.int64)
    _find_unfair(
        *graph.rows(), component, is_strong, members[np.searchsorted(component[members], 0) :], taken_in, unfair
    )
    return unfair


@heavy
def _find_unfair(
    starts: Any,
    targets: Any,
    instances: Any,
    component: Any,
    is_strong: Any,
    members: Any,
    taken_in: Any,
    unfair: Any,
) -> None:
    """Write :func:`not_taken`'s answer to ``unfair``.

    ``members`` are the states sorted by component, ``taken_in`` is the component in which an instance was last seen
    taken.
    """
    first = 0
    while first < len(members):
        name = component[members[first]]
        end = first
        while end < len(members) and component[members[end]] == name:
            state = members[end]
            for edge in range(starts[state], starts[state + 1]):
                if component[targets[edge]] == name:
                    taken_in[instances[edge]] = name
            end += 1
        for place in range(first, end):
            state = members[place]
            for edge in range(starts[state], starts[state + 1]):
                if is_strong[instances[edge]] and taken_in[instances[edge]] != name:
                    unfair[state] = True
        first = end
