"""The graph of a small configuration is the same in every array, whichever form of the machine made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import pytest

from rocketproof.checkers.exploration import Limits
from rocketproof.checkers.liveness.graph import Graph, reachable_graph
from rocketproof.checkers.liveness.small_graph import graph_of, small_graph
from rocketproof.checkers.search import plain_search
from rocketproof.model.examples import bounded_buffer, dining_philosophers, peterson, two_phase_commit
from rocketproof.model.kernel import Configuration, Int, Machine, ModelError, Predicate, State, lower
from rocketproof.model.kernel.native import compile_machine
from rocketproof.properties import examples

INSIDE = {"wants": peterson.first_wants, "inside": examples.first_gets_in.holds}
PETERSON = lower(peterson.machine.configure(), INSIDE)
"""20 states, 34 transitions of 8 instances."""


def assert_same(one: Graph, other: Graph) -> None:
    for item in fields(Graph):
        own, others = getattr(one, item.name), getattr(other, item.name)
        if isinstance(own, np.ndarray):
            assert own.dtype == others.dtype
            np.testing.assert_array_equal(own, others)
        else:
            assert own == others


@pytest.mark.parametrize(
    ("configuration", "predicates", "stop_at"),
    [
        (peterson.machine.configure(), INSIDE, None),
        (peterson.machine.configure(), INSIDE, "inside"),
        (peterson.machine.configure(order="turn_first"), INSIDE, "wants"),
        (dining_philosophers.machine.configure(), {}, None),
        (bounded_buffer.machine.configure(losses=1), {}, None),
        (two_phase_commit.machine.configure(), {}, None),
    ],
    ids=["peterson", "stopped inside", "turn first", "philosophers", "buffer", "commit"],
)
def test_both_forms_make_the_same_graph(
    configuration: Configuration, predicates: Mapping[str, Predicate], stop_at: str | None
) -> None:
    lowered = lower(configuration, predicates)
    small = small_graph(lowered, stop_at=stop_at, limits=Limits())
    assert small is not None
    assert_same(small, reachable_graph(compile_machine(lowered), stop_at=stop_at))


@pytest.mark.parametrize(
    ("limits", "small"),
    [
        (Limits(), True),
        (Limits(states=21), True),
        (Limits(states=20), False),
        (Limits(seconds=0), False),
        (Limits(bytes=2_000), False),
    ],
    ids=str,
)
def test_where_a_limit_is_near_machine_code_says_how_far_it_came(limits: Limits, small: bool) -> None:
    assert (small_graph(PETERSON, stop_at=None, limits=limits) is not None) == small
    limit = {"seconds": "time limit of 0 s reached", "bytes": "memory limit of 0 MiB reached"}
    asked = next((name for name in limit if getattr(limits, name) is not None), "")
    assert graph_of(PETERSON, limits=limits).limit == limit.get(asked, "")


@pytest.mark.parametrize("most", [7, 159])
def test_what_is_not_small_is_left_to_machine_code(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_search, "MOST_STEPS", most)
    assert small_graph(PETERSON, stop_at=None, limits=Limits()) is None
    assert graph_of(PETERSON).states == 20


def test_so_many_steps_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_search, "MOST_STEPS", 160)
    assert small_graph(PETERSON, stop_at=None, limits=Limits()) is not None


def test_a_step_out_of_its_domain_is_an_error() -> None:
    machine = Machine("counter")
    machine.variable("number", Int(0, 3))

    @machine.action
    def count(s: State) -> None:
        s.number += 1

    with pytest.raises(ModelError, match=r"machine counter, action count: writes 4 to number, allowed is 0…3\."):
        small_graph(lower(machine.configure()), stop_at=None, limits=Limits())
