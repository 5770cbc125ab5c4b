"""Strongly connected components: networkx is the oracle of the arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rocketproof.checkers.liveness import components
from rocketproof.checkers.liveness.components import OUTSIDE, components_by_arrays, components_by_networkx
from rocketproof.checkers.liveness.graph import reachable_graph
from rocketproof.model.examples import dining_philosophers, peterson, two_phase_commit
from rocketproof.model.kernel import Configuration, lower
from rocketproof.model.kernel.native import compile_machine


def rows(successors: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    starts = np.cumsum([0, *map(len, successors)], dtype=np.int64)
    return starts, np.array([target for row in successors for target in row], np.int32)


@st.composite
def subgraphs(draw: st.DrawFn) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_]]:
    size = draw(st.integers(1, 30))
    successors = st.lists(st.integers(0, size - 1), max_size=4)
    starts, targets = rows(draw(st.lists(successors, min_size=size, max_size=size)))
    inside = draw(st.lists(st.sampled_from((True, True, True, False)), min_size=size, max_size=size))
    return starts, targets, np.array(inside)


@given(subgraphs())
def test_both_ways_agree_on_any_graph(
    subgraph: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.bool_]],
) -> None:
    assert components_by_arrays(*subgraph).tolist() == components_by_networkx(*subgraph).tolist()


@pytest.mark.parametrize("density", [0.5, 1.0, 1.5, 3.0])
def test_both_ways_agree_on_larger_random_graphs(density: float) -> None:
    random = np.random.default_rng(17)
    size = 3_000
    ends = np.sort(random.integers(0, int(size * density) + 1, size - 1))
    starts = np.concatenate(([0], ends, [int(size * density)]))
    targets = random.integers(0, size, int(size * density)).astype(np.int32)
    inside = random.random(size) < 0.95
    found = components_by_arrays(starts, targets, inside)
    assert found.tolist() == components_by_networkx(starts, targets, inside).tolist()
    assert (found == OUTSIDE).tolist() == (~inside).tolist()


@pytest.mark.parametrize(
    ("configuration", "count", "largest"),
    [
        (peterson.machine.configure(), 1, 20),
        (dining_philosophers.machine.configure(philosophers=5), 2, 572),
        (two_phase_commit.machine.configure(), 288, 1),
    ],
    ids=str,
)
def test_both_ways_agree_on_machines(configuration: Configuration, count: int, largest: int) -> None:
    graph = reachable_graph(compile_machine(lower(configuration)))
    everything = np.ones(graph.states, np.bool_)
    found = components_by_arrays(graph.starts, graph.targets, everything)
    assert found.tolist() == components_by_networkx(graph.starts, graph.targets, everything).tolist()
    names, sizes = np.unique(found, return_counts=True)
    assert (len(names), sizes.max()) == (count, largest)


def test_a_component_is_named_by_its_smallest_member() -> None:
    # 4 → 2 → 3 → 4 is a cycle, 0 → 1 lead into it, 5 is outside.
    starts, targets = rows([[1], [2], [3], [4, 5], [2], [0]])
    inside = np.array([True, True, True, True, True, False])
    assert components_by_arrays(starts, targets, inside).tolist() == [0, 1, 2, 2, 2, OUTSIDE]


def test_a_long_cycle_needs_no_recursion() -> None:
    size = 200_000
    starts = np.arange(size + 1, dtype=np.int64)
    targets = np.roll(np.arange(size, dtype=np.int32), -1)
    everything = np.ones(size, np.bool_)
    assert not components_by_arrays(starts, targets, everything).any()
    everything[1_000] = False
    assert len(np.unique(components_by_arrays(starts, targets, everything))) == size


def test_the_number_of_transitions_decides_who_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[str]()
    for name in ("components_by_networkx", "components_by_arrays"):
        monkeypatch.setattr(components, name, lambda *_, name=name: asked.append(name))
    for count in (components.SMALL_TRANSITIONS, components.SMALL_TRANSITIONS + 1):
        components.components(np.array([0, count]), np.zeros(count, np.int32), np.array([True]))
    assert asked == ["components_by_networkx", "components_by_arrays"]
