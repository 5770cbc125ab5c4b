"""Partial-order reduction: exact counts, the same answers, runs as short, and what each of its conditions is for."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rocketproof.checkers.search.compiled_search as compiled_search_module
from rocketproof.checkers.exploration import Exploration, Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.reduction import Reduction
from rocketproof.checkers.reduction.partial_order import PartialOrder
from rocketproof.model.kernel import (
    Configuration,
    Domain,
    Int,
    Machine,
    ModelError,
    State,
    all_of,
    any_of,
    ite,
    minimum,
    not_,
)
from rocketproof.model.kernel.native import CodeCache
from rocketproof.properties.examples import EXPECTED, Expected
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

BOTH = Reduction.SYMMETRY | Reduction.PARTIAL_ORDER


class Worker(Domain, size="workers", label="w"):
    pass


def workers(steps: int) -> Machine:
    """Workers that have nothing to do with each other."""
    machine = Machine("workers")
    machine.constant("workers", 3, low=1)
    machine.variable("done", Int(0, steps), Worker)

    @machine.action
    def work(s: State, w: Worker) -> None:
        s.require(s.done[w] < steps)
        s.done[w] += 1

    return machine


def always(name: str, holds: Any) -> Property:
    return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=holds)


def sometimes(name: str, holds: Any) -> Property:
    return Property(id=name, statement=name, kind=Kind.SOMETIMES, holds=holds)


def answers(found: Exploration) -> list[tuple[Verdict, int | None]]:
    return [(result.verdict, None if result.run is None else len(result.run)) for result in found.results]


def compared(
    configuration: Configuration,
    properties: Sequence[Property] = (),
    *,
    deadlocks: bool = False,
    reduce: Reduction = Reduction.PARTIAL_ORDER,
) -> tuple[Exploration, Exploration]:
    """The whole and the reduced search, after their answers have been found the same."""
    whole = explore(configuration, properties, deadlocks=deadlocks, idle_actions_allowed=True)
    reduced = explore(configuration, properties, deadlocks=deadlocks, idle_actions_allowed=True, reduce=reduce)
    assert answers(reduced) == answers(whole)
    return whole, reduced


def test_independent_workers_take_turns_in_one_order_only() -> None:
    finished = sometimes("finished", lambda s: s.forall(Worker, lambda w: s.done[w] == 4))
    whole, reduced = compared(workers(4).configure(), [finished])
    assert (whole.states, whole.transitions) == (125, 300)
    assert (reduced.states, reduced.transitions, reduced.depth) == (13, 12, 12)
    assert answers(reduced) == [(Verdict.HOLDS, 12)]


def test_only_the_worker_that_is_asked_about_works() -> None:
    first = always("first", lambda s: s.done[0] < 3)
    _, reduced = compared(workers(4).configure(), [first])
    assert (reduced.states, reduced.transitions) == (4, 3)  # nothing is followed after the answer is found
    held = always("held", lambda s: s.done[0] <= 4)
    _, reduced = compared(workers(4).configure(), [held])
    assert (reduced.states, reduced.transitions) == (1, 0)  # no step can make it false


def test_deadlocks_are_kept_where_they_are_asked_for() -> None:
    whole, reduced = compared(workers(4).configure(), deadlocks=True)
    assert (whole.states, reduced.states) == (125, 13)
    assert answers(reduced) == [(Verdict.VIOLATED, 12)]


def test_a_busy_bystander_does_not_keep_others_from_working() -> None:
    """The ignoring problem: one may not follow for ever a step that disturbs nobody."""
    machine = workers(3)
    machine.variable("lamp", bool)

    @machine.action
    def blink(s: State) -> None:
        s.lamp = not_(s.lamp)

    done = always("not-done", lambda s: s.done[0] < 3)
    whole, reduced = compared(machine.configure(workers=1), [done])
    assert (whole.states, reduced.states) == (8, 4)
    _, reduced = compared(machine.configure(workers=1), [done], deadlocks=True)
    assert answers(reduced) == [(Verdict.VIOLATED, 3), (Verdict.HOLDS, None)]


def test_counts_and_text_of_bounds_say_that_they_are_reduced() -> None:
    found = explore(workers(4).configure(), deadlocks=True, reduce=Reduction.PARTIAL_ORDER)
    assert found.bounds == "all 13 states, 12 transitions, depth 12 (with partial-order reduction)"
    assert found.idle_actions == ()


def test_with_nothing_to_keep_it_is_refused() -> None:
    with pytest.raises(ModelError, match="keeps what is asked, but nothing is; give properties, or deadlocks=True"):
        explore(workers(4).configure(), reduce=Reduction.PARTIAL_ORDER)


def test_a_limit_leaves_the_verdict_unknown() -> None:
    item = always("low", lambda s: s.count(Worker, lambda w: s.done[w] == 9) < 3)
    found = explore(workers(9).configure(), [item], reduce=Reduction.PARTIAL_ORDER, limits=Limits(states=10))
    assert found.results[0].verdict is Verdict.UNKNOWN
    assert "limit of 10 states" in found.results[0].bounds


def test_both_reductions_together() -> None:
    configuration = workers(4).configure(workers=4)
    some = always("not-two", lambda s: s.count(Worker, lambda w: s.done[w] == 4) < 2)
    states = [compared(configuration, [some], reduce=item)[1].states for item in (Reduction.SYMMETRY, BOTH)]
    assert states == [70, 39]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda item: item.name)
def test_examples_have_the_same_answers(expected: Expected) -> None:
    properties = [item for item in expected.properties if item.kind in (Kind.ALWAYS, Kind.SOMETIMES)]
    for deadlocks in (False, True):
        whole, reduced = compared(expected.sized.configuration, properties, deadlocks=deadlocks)
        assert reduced.states <= whole.states


# What each condition of the method is for: without it, the answer is wrong.


class Crippled(PartialOrder):
    """The reduction without one of its conditions."""

    missing = ""

    def __init__(self, *args: Any, deadlocks: bool, cache: CodeCache | None = None) -> None:
        super().__init__(*args, deadlocks=deadlocks, cache=cache)
        sets = self.tables.sets.copy()
        instances = len(self.tables.guards)
        if self.missing == "targets":
            self.tables = self.tables._replace(targets=np.zeros(0, np.int64))
        if self.missing == "enabling":
            for guard in self.tables.guards:
                sets[instances + guard] = 0
        if self.missing == "dependence":
            sets[:instances] = 0
        if self.missing == "deadlocks":
            self.tables = self.tables._replace(deadlocks=False)
        self.tables = self.tables._replace(sets=sets)


def chain() -> Machine:
    """``start`` makes ``finish`` possible; ``spoil`` makes it impossible."""
    machine = Machine("chain")
    machine.constant("workers", 1)
    machine.variable("started", bool)
    machine.variable("spoiled", bool)
    machine.variable("finished", bool)

    @machine.action
    def start(s: State) -> None:
        s.require(not_(s.started))
        s.started = True

    @machine.action
    def finish(s: State) -> None:
        s.require(s.started)
        s.finished = True

    return machine


def race() -> Machine:
    """Two writers of one cell, the order of which matters to the second cell."""
    machine = Machine("race")
    machine.variable("cell", Int(0, 2))
    machine.variable("copy", Int(0, 2))
    machine.variable("copied", bool)

    @machine.action
    def write(s: State) -> None:
        s.require(s.cell == 0)
        s.cell = 2

    @machine.action
    def copy_it(s: State) -> None:
        s.require(not_(s.copied))
        s.copied = True
        s.copy = s.cell

    return machine


FINISHED = sometimes("finished", lambda s: s.finished)
COPIED = sometimes("copied-late", lambda s: s.copy == 2)


@pytest.mark.parametrize(
    ("missing", "machine", "properties", "deadlocks", "wrong"),
    [
        ("targets", workers(3), [sometimes("three", lambda s: s.done[0] == 3)], False, Verdict.VIOLATED),
        ("enabling", chain(), [FINISHED], False, Verdict.VIOLATED),
        ("dependence", race(), [COPIED], False, Verdict.VIOLATED),
        ("deadlocks", workers(3), [], True, Verdict.HOLDS),
    ],
    ids=lambda item: item if isinstance(item, str) else "",
)
def test_each_condition_is_needed(
    monkeypatch: pytest.MonkeyPatch,
    missing: str,
    machine: Machine,
    properties: list[Property],
    deadlocks: bool,
    wrong: Verdict,
) -> None:
    configuration = machine.configure()
    right = compared(configuration, properties, deadlocks=deadlocks)[1].results[0].verdict
    monkeypatch.setattr(compiled_search_module, "PartialOrder", Crippled)
    monkeypatch.setattr(Crippled, "missing", missing)
    found = explore(configuration, properties, deadlocks=deadlocks, reduce=Reduction.PARTIAL_ORDER)
    assert found.results[0].verdict is wrong
    assert wrong is not right


# Random machines, whose steps depend on each other in all ways there are.


class Cell(Domain, size=4, label="x"):
    pass


def tangle(seed: int) -> tuple[Configuration, list[Property]]:
    """A machine with four small cells and a few actions that read and write some of them."""
    chance = random.Random(seed)
    machine = Machine("tangle")
    machine.variable("x", Int(0, 2), Cell)
    for number in range(7):
        home = number % 4
        near = (home + 1) % 4
        tested = [(home, chance.randrange(3), chance.random() < 0.25)]
        if chance.random() < 0.5:
            tested.append((near, chance.randrange(3), chance.random() < 0.25))
        join = all_of if chance.random() < 0.6 else any_of
        written = [(home, chance.choice(("set", "next", "next", "up")), chance.randrange(4))]
        if chance.random() < 0.3:
            written.append((near, chance.choice(("set", "copy", "choose")), chance.randrange(4)))
        machine.action(_action(f"act_{number}", tested, join, written))
    wanted = [(chance.randrange(3), chance.randrange(3)) for _ in range(2)]
    properties = [
        sometimes("pair", lambda s: all_of(s.x[0] == wanted[0][0], s.x[1] == wanted[0][1])),
        always("either", lambda s: any_of(s.x[2] != wanted[1][0], s.x[3] != wanted[1][1], s.x[0] == 1)),
    ]
    return machine.configure(), properties


def _action(name: str, tested: Any, join: Any, written: Any) -> Any:
    def action(s: State) -> None:
        s.require(join(s.x[cell] == value if equal else s.x[cell] != value for cell, value, equal in tested))
        for cell, way, other in written:
            match way:
                case "set":
                    s.x[cell] = other % 3
                case "next":
                    s.x[cell] = ite(s.x[cell] < 2, s.x[cell] + 1, 0)
                case "up":
                    s.x[cell] = minimum(s.x[cell] + 1, 2)
                case "copy":
                    s.x[cell] = s.x[other]
                case _:
                    s.x[cell] = ite(s.x[other] == 1, s.x[cell], 2)

    action.__name__ = name
    return action


SEEDS = range(20)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_machines_have_the_same_answers(seed: int) -> None:
    configuration, properties = tangle(seed)
    compared(configuration, properties[seed % 2 :], deadlocks=seed % 3 == 0)


def test_random_machines_are_reduced() -> None:
    found = [compared(tangle(seed)[0], tangle(seed)[1][:1]) for seed in SEEDS]
    assert (sum(whole.states for whole, _ in found), sum(reduced.states for _, reduced in found)) == (500, 89)
