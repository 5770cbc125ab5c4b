"""The graph of a small configuration, made in the plain Python form, so that no machine code is needed.

Most claims about whole runs are about a few hundred states, and compiling machine code takes longer than finding these.
Both forms give the same arrays.
"""

from __future__ import annotations

import time
from itertools import accumulate

import numpy as np

from ...model.kernel import Lowered
from ...model.kernel.layout import layout
from ...model.kernel.native import CodeCache, compile_machine
from ...model.kernel.plain import PlainMachine
from ..exploration import NO_LIMITS, Limits
from ..search.plain_search import has_few_steps, is_too_much
from .graph import EDGE_BYTES, STATE_BYTES, Graph, reachable_graph


def graph_of(
    lowered: Lowered, *, stop_at: str | None = None, limits: Limits = NO_LIMITS, cache: CodeCache | None = None
) -> Graph:
    """Search breadth-first and keep all transitions: like :func:`.graph.reachable_graph`, with the same errors."""
    graph = small_graph(lowered, stop_at=stop_at, limits=limits)
    if graph is not None:
        return graph
    return reachable_graph(compile_machine(lowered, cache=cache), stop_at=stop_at, limits=limits)


def small_graph(lowered: Lowered, *, stop_at: str | None, limits: Limits) -> Graph | None:
    """The graph of a small configuration; None if it is not small, or a limit is near.

    Raises:
        ModelError: a step writes outside a declared domain.
    """
    plain, places = PlainMachine(lowered), layout(lowered)
    if not has_few_steps(plain):
        return None
    started, memory = time.perf_counter(), limits.memory()
    numbers, states, parents = {plain.initial: 0}, [plain.initial], [0]
    made: list[int] = []
    targets: list[int] = []
    instances: list[int] = []
    for number, state in enumerate(states):
        late = limits.seconds is not None and time.perf_counter() - started >= limits.seconds
        bytes_used = len(states) * (places.words * 8 + STATE_BYTES) + len(targets) * EDGE_BYTES
        many = limits.states is not None and len(states) >= limits.states
        if late or many or bytes_used > memory or is_too_much(plain, number + 1):
            return None
        before = len(targets)
        if stop_at is None or not plain.holds(stop_at, state):
            for instance, following in plain.successors(state):
                target = numbers.setdefault(following, len(states))
                if target == len(states):
                    states.append(following)
                    parents.append(number)
                targets.append(target)
                instances.append(instance)
        made.append(len(targets) - before)
    holds = [sum(plain.holds(name, state) << bit for bit, name in enumerate(lowered.predicates)) for state in states]
    return Graph(
        lowered,
        places,
        np.array([places.pack(state) for state in states], np.uint64).reshape(len(states), max(1, places.words)),
        np.array(holds, np.int64),
        np.array(parents, np.int32),
        np.fromiter(accumulate(made, initial=0), np.int64),
        np.array(targets, np.int32),
        np.array(instances, np.uint16),
        "",
    )
