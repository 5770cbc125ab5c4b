"""The reachable graph against the plain Python form, which finds the same states in the same order."""

from __future__ import annotations

from typing import Any

import networkx
import numpy as np
import pytest

from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.liveness.graph import Graph, reachable_graph
from rocketproof.model.examples import bounded_buffer, dining_philosophers, peterson, two_phase_commit
from rocketproof.model.kernel import Configuration, Domain, Int, Machine, ModelError, Predicate, State, lower
from rocketproof.model.kernel.native import compile_machine
from rocketproof.model.kernel.plain import PlainMachine, StateTuple
from rocketproof.properties import examples


class Cell(Domain, size="cells"):
    """A cell of the wide machine."""


def graph_of(configuration: Configuration, predicates: dict[str, Predicate] | None = None, **options: Any) -> Graph:
    return reachable_graph(compile_machine(lower(configuration, predicates)), **options)


def plain_graph(configuration: Configuration) -> tuple[list[StateTuple], list[list[tuple[int, int]]]]:
    """States in breadth-first order, and for each its transitions as (instance, target)."""
    machine = PlainMachine(lower(configuration))
    numbers = {machine.initial: 0}
    states, rows = [machine.initial], list[list[tuple[int, int]]]()
    for state in states:
        rows.append([])
        for instance, following in machine.successors(state):
            if following not in numbers:
                numbers[following] = len(states)
                states.append(following)
            rows[-1].append((instance, numbers[following]))
    return states, rows


def wide() -> Machine:
    """Twelve counters of eight bits: a state takes two words."""
    machine = Machine("wide")
    machine.constant("cells", 12)
    machine.variable("level", Int(0, 255), Cell)

    @machine.action
    def grow(s: State, c: Cell) -> None:
        s.require(s.level[c] < 1)
        s.level[c] += 255

    return machine


@pytest.mark.parametrize(
    ("configuration", "states", "transitions", "depth"),
    [
        (peterson.machine.configure(), 20, 34, 6),
        (peterson.machine.configure(order="turn_first"), 32, 60, 7),
        (dining_philosophers.machine.configure(), 45, 111, 6),
        (bounded_buffer.machine.configure(losses=1), 37, 53, 9),
        (two_phase_commit.machine.configure(), 288, 1145, 10),
        (wide().configure(cells=9), 512, 2304, 9),
    ],
    ids=str,
)
def test_the_graph_is_that_of_the_plain_form(
    configuration: Configuration, states: int, transitions: int, depth: int
) -> None:
    graph = graph_of(configuration)
    found, rows = plain_graph(configuration)
    assert (graph.states, graph.transitions, int(graph.depths().max())) == (states, transitions, depth)
    assert (graph.followed, graph.limit) == (states, "")
    assert [graph.state(number) for number in range(states)] == found
    for number, row in enumerate(rows):
        first, last = graph.starts[number], graph.starts[number + 1]
        pairs = zip(graph.instances[first:last].tolist(), graph.targets[first:last].tolist(), strict=True)
        assert list(pairs) == row


def test_paths_are_shortest_and_are_paths() -> None:
    graph = graph_of(two_phase_commit.machine.configure())
    sources = [graph.source(transition) for transition in range(graph.transitions)]
    oracle = networkx.DiGraph(zip(sources, graph.targets.tolist(), strict=True))
    lengths = networkx.single_source_shortest_path_length(oracle, 0)
    assert graph.depths().tolist() == [lengths[number] for number in range(graph.states)]
    for number in range(graph.states):
        path = graph.path_to(number)
        assert (path[0], path[-1], len(path) - 1) == (0, number, lengths[number])
        assert networkx.is_path(oracle, path)


def test_states_of_several_words_and_a_growing_index() -> None:
    graph = graph_of(wide().configure())
    assert graph.words.shape == (4096, 2)
    assert (graph.states, graph.transitions) == (4096, 12 * 2048)
    assert len(np.unique(graph.words, axis=0)) == 4096
    assert graph_of(dining_philosophers.machine.configure(philosophers=8)).states == 25_889


def test_predicates_are_known_of_every_state() -> None:
    configuration = peterson.machine.configure()
    predicates = {"wants": peterson.first_wants, "inside": examples.first_gets_in.holds}
    graph = graph_of(configuration, predicates)
    machine = PlainMachine(lower(configuration, predicates))
    for name, count in (("wants", 11), ("inside", 3)):
        expected = [machine.holds(name, graph.state(number)) for number in range(graph.states)]
        assert graph.where(name).tolist() == expected
        assert sum(expected) == count


def test_states_where_the_search_stops_are_not_followed() -> None:
    graph = graph_of(peterson.machine.configure(), {"inside": examples.first_gets_in.holds}, stop_at="inside")
    assert (graph.states, graph.followed, graph.transitions, graph.limit) == (15, 15, 21, "")
    assert np.diff(graph.starts)[graph.where("inside")].tolist() == [0, 0]


def test_the_limit_of_states_is_exact() -> None:
    configuration = two_phase_commit.machine.configure()
    _, rows = plain_graph(configuration)
    assert graph_of(configuration, limits=Limits(states=288)).limit == ""
    for limit in (1, 2, 100, 287):
        graph = graph_of(configuration, limits=Limits(states=limit))
        assert graph.states == limit
        assert graph.limit == f"limit of {limit:,} states reached"
        assert graph.followed == next(
            number for number, row in enumerate(rows) if any(target >= limit for _, target in row)
        )
        assert graph.transitions == sum(map(len, rows[: graph.followed]))
    with pytest.raises(ModelError, match="a limit of 0 states leaves no room for the initial one; give 1 or more"):
        graph_of(configuration, limits=Limits(states=0))


def test_the_limits_of_time_and_memory() -> None:
    configuration = two_phase_commit.machine.configure()
    graph = graph_of(configuration, limits=Limits(seconds=0))
    assert (graph.states, graph.followed, graph.limit) == (1, 0, "time limit of 0 s reached")
    # Room for 10,082 states of 104 bytes, or for 174,762 transitions of 6.
    graph = graph_of(two_phase_commit.machine.configure(managers=6), limits=Limits(bytes=2**20))
    assert graph.limit == "memory limit of 1 MiB reached"
    assert 0 < graph.followed < graph.states <= 10_082


def test_a_write_outside_a_domain_is_told_as_the_plain_form_tells_it() -> None:
    machine = Machine("overflowing")
    machine.variable("level", Int(0, 3))

    @machine.action
    def grow(s: State) -> None:
        s.level += 1

    with pytest.raises(ModelError, match=r"machine overflowing, action grow: writes 4 to level, allowed is 0…3\."):
        graph_of(machine.configure())


def test_a_transition_that_is_not_there() -> None:
    graph = graph_of(peterson.machine.configure())
    assert graph.instance_between(0, 1) == 0
    with pytest.raises(ModelError, match="the graph has no transition from state 1 to state 0"):
        graph.instance_between(1, 0)
