"""Fair components: those in which a run may stay for ever while being fair to every action; see ``lasso.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kept_code import kept
from .components import components
from .graph import Graph


def divided(graph: Graph, inside: NDArray[np.bool_], strongly: NDArray[np.bool_]) -> NDArray[np.int32]:
    """For each state ``inside``, its component, identified as by :func:`.components.components`.

    States that enable a strongly fair instance which their component never takes are removed, until there are none.
    """
    component = components(graph.starts, graph.targets, inside)
    while strongly.any() and (unfair := _not_taken(*graph.rows(), component, strongly)).any():
        component = components(graph.starts, graph.targets, (component >= 0) & ~unfair)
    return component


@kept()
def judge_components(
    starts: Any,
    targets: Any,
    instances: Any,
    component: Any,
    members: Any,
    is_weak: Any,
    is_strong: Any,
    again: Any,
) -> Any:
    """For each component of ``members``, sorted by component: whether it meets all demands, and whether a run may stay
    in it.

    The caller has ensured that a component takes the strongly fair instances that it enables.
    """
    numbers = np.flatnonzero(is_weak)
    fair = np.zeros(len(members), np.bool_)
    idle = np.zeros(len(members), np.bool_)
    enabled_in = np.full(len(is_weak), -1, np.int64)  # state in which the instance was last seen enabled
    served_in = np.full(len(is_weak), -1, np.int64)  # component in which it was last served
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
    return fair, idle


@kept()
def _not_taken(starts: Any, targets: Any, instances: Any, component: Any, is_strong: Any) -> Any:
    """For each state, whether it enables a strongly fair instance that no transition inside its component takes."""
    members = np.argsort(component, kind="mergesort")
    unfair = np.zeros(len(component), np.bool_)
    taken_in = np.full(len(is_strong), -1, np.int64)  # component in which the instance was last seen taken
    first = np.searchsorted(component[members], 0)
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
    return unfair
