"""Random runs: violations are found, shrunk to the shortest length and replayed; nothing found is UNKNOWN."""

import os
import unittest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Verbosity, settings

from rocketproof.checkers.run import replay
from rocketproof.checkers.simulate import random_run, shortened, simulate
from rocketproof.checkers.stateful import KernelStateMachine, PropertyViolated, choices_of, shrink, stateful_machine
from rocketproof.model.examples import bounded_buffer, dining_philosophers, peterson, two_phase_commit
from rocketproof.model.kernel import UNBOUNDED, Domain, Int, Lowered, Machine, ModelError, State, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties import examples
from rocketproof.properties.examples import BOUNDED_BUFFER, EXPECTED, PETERSON, TWO_PHASE_COMMIT, Expected
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

SAFETY = tuple(prop for prop in PETERSON if prop.kind is not Kind.EVENTUALLY)
BUFFER = tuple(prop for prop in BOUNDED_BUFFER if prop.kind is not Kind.EVENTUALLY)


class Counter(Domain, size="counters", label="n"):
    pass


def always(name: str, holds: Any) -> Property:
    return Property(id=name, statement=name, kind=Kind.ALWAYS, holds=holds)


def sometimes(name: str, holds: Any) -> Property:
    return Property(id=name, statement=name, kind=Kind.SOMETIMES, holds=holds)


def counters() -> Machine:
    """Many counters that grow, and one rare switch: an action of one instance against one of many."""
    machine = Machine("counters")
    machine.constant("counters", 200, low=1)
    machine.variable("number", Int(0, 1000), Counter)
    machine.variable("switched", Int(0, 1000))

    @machine.action
    def grow(s: State, n: Counter) -> None:
        s.require(s.number[n] < 1000)
        s.number[n] += 1

    @machine.action
    def switch(s: State) -> None:
        s.require(s.switched < 1000)
        s.switched += 1

    return machine


def traced_with(configuration: Any, *properties: Property) -> Lowered:
    return lower(configuration, {prop.id: prop.holds for prop in properties})


# --- verdicts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: expected.name)
def test_simulation_never_contradicts_what_is_known(expected: Expected) -> None:
    claims = [claim for claim in expected.claims if claim.property.kind is not Kind.EVENTUALLY]
    results = simulate(expected.sized.configuration, [claim.property for claim in claims], runs=60, steps=30)
    machine = PlainMachine(traced_with(expected.sized.configuration, *(claim.property for claim in claims)))
    for claim, result in zip(claims, results, strict=True):
        assert result.property == claim.property.id
        assert result.verdict in (claim.verdict, Verdict.UNKNOWN)
        assert (result.run is None) == (result.verdict is Verdict.UNKNOWN)
        if result.run is not None:
            assert claim.steps is not None
            assert len(result.run) >= claim.steps
            assert replay(machine, result.run.steps).states == result.run.states
            decided = machine.holds(claim.property.id, result.run.states[-1])
            assert decided is (claim.property.kind is Kind.SOMETIMES)


@pytest.mark.parametrize(
    ("machine", "constants", "prop", "length"),
    [
        (two_phase_commit.machine, {"impatient": 1}, always("consistent", examples.consistent.holds), 9),
        (peterson.machine, {"order": "turn_first"}, always("exclusive", examples.exclusive.holds), 6),
        (
            dining_philosophers.machine,
            {"philosophers": 5},
            always("not-all-one-fork", examples.not_all_one_fork.holds),
            10,
        ),
        (bounded_buffer.machine, {"losses": 1}, always("complete", examples.complete.holds), 3),
    ],
    ids=["two_phase_commit", "peterson", "dining_philosophers", "bounded_buffer"],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_violation_is_shrunk_to_the_shortest_length(
    machine: Machine, constants: dict[str, Any], prop: Property, length: int, seed: int
) -> None:
    (result,) = simulate(machine.configure(**constants), [prop], seed=seed)
    assert (result.verdict, result.engine) == (Verdict.VIOLATED, "simulate")
    assert result.run is not None
    assert len(result.run) == length
    assert result.bounds.startswith("found in random run ")
    assert f"(seed {seed}), shortened from " in result.bounds
    assert result.bounds.endswith(f" to {length} steps")


def test_no_violation_and_no_witness_are_unknown_and_say_how_much_was_tried() -> None:
    results = simulate(peterson.machine.configure(), SAFETY, runs=50, steps=20, seed=7)
    assert [(result.property, result.verdict) for result in results] == [
        ("exclusive", Verdict.UNKNOWN),
        ("both-wait", Verdict.HOLDS),
        ("both-inside", Verdict.UNKNOWN),
    ]
    assert results[0].bounds == "no violation in 50 random runs of up to 20 steps (seed 7)"
    assert results[2].bounds == "no witness in 50 random runs of up to 20 steps (seed 7)"
    assert results[0].figures == {"runs": 50, "steps": 1000}
    assert results[1].run is not None
    assert len(results[1].run) == 4


def test_each_of_several_violations_is_found() -> None:
    properties = [always(f"below-{n}", lambda s, n=n: s.switched < n) for n in (1, 3, 5)]
    results = simulate(counters().configure(counters=2), properties)
    assert [(r.verdict, r.run and len(r.run)) for r in results] == [(Verdict.VIOLATED, n) for n in (1, 3, 5)]


def test_a_property_that_the_initial_state_decides_needs_no_step() -> None:
    results = simulate(
        counters().configure(counters=1),
        [always("wrong", lambda s: s.switched > 0), sometimes("right", lambda s: s.switched == 0)],
    )
    assert [(r.verdict, r.run and len(r.run)) for r in results] == [(Verdict.VIOLATED, 0), (Verdict.HOLDS, 0)]


def test_deadlocked_runs_end_early_without_error() -> None:
    configuration = bounded_buffer.machine.configure()
    (result,) = simulate(configuration, [always("balanced", examples.balanced.holds)], runs=10, steps=50)
    assert (result.verdict, result.figures) == (Verdict.UNKNOWN, {"runs": 10, "steps": 80})
    run = random_run(PlainMachine(lower(configuration)), 3, 50)
    assert len(run) == 8
    assert run.states[-1][2:4] == (4, 4)


def test_time_can_be_limited() -> None:
    prop = always("small", lambda s: s.switched <= 1000)
    (result,) = simulate(counters().configure(), [prop], runs=10**9, steps=10**6, max_seconds=0.05)
    assert result.verdict is Verdict.UNKNOWN
    assert result.bounds.endswith("random runs of up to 1,000,000 steps (seed 0), stopped after 0.05 seconds")


def test_large_machines_run_and_rare_actions_are_not_drowned() -> None:
    properties = [
        sometimes("switched-often", lambda s: s.switched >= 10),
        sometimes("much-grown", lambda s: s.exists(Counter, lambda n: s.number[n] >= 3)),
    ]
    results = simulate(counters().configure(), properties, runs=100, steps=60)
    assert [(result.verdict, result.run and len(result.run)) for result in results] == [
        (Verdict.HOLDS, 10),
        (Verdict.HOLDS, 3),
    ]


def test_modelling_errors_are_raised_not_hidden() -> None:
    machine = counters()

    @machine.action
    def jump(s: State) -> None:
        s.switched += 500

    fine = always("fine", lambda s: s.switched >= 0)
    with pytest.raises(ModelError, match=r"action jump: writes 1\d\d\d to switched, allowed is 0…1000\."):
        simulate(machine.configure(counters=1), [fine])
    with pytest.raises(ModelError, match="property first-gets-in is of kind eventually; simulate judges 'always' and"):
        simulate(peterson.machine.configure(), PETERSON)
    with pytest.raises(ModelError, match="the plain Python form needs a finite configuration"):
        simulate(two_phase_commit.machine.configure(managers=UNBOUNDED), [TWO_PHASE_COMMIT[0]])


# --- determinism -------------------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_results_and_leaves_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def runs(seed: int) -> list[tuple[str, str, Any]]:
        results = simulate(bounded_buffer.machine.configure(losses=1), BUFFER, runs=20, steps=20, seed=seed)
        return [(result.verdict, result.bounds, result.run and result.run.steps) for result in results]

    assert runs(4) == runs(4)
    assert runs(4) != runs(5)
    assert os.listdir(tmp_path) == []
    assert capsys.readouterr() == ("", "")


def test_random_runs_depend_on_the_seed_alone() -> None:
    machine = PlainMachine(lower(two_phase_commit.machine.configure()))
    runs = [random_run(machine, seed, 30) for seed in range(20)]
    assert [random_run(machine, seed, 30).steps for seed in range(20)] == [run.steps for run in runs]
    assert len({run.steps for run in runs}) == 20
    for run in runs:
        assert replay(machine, run.steps).states == run.states
    assert random_run(machine, "7", 5).steps != random_run(machine, 7, 5).steps


def test_every_action_happens_in_some_random_run() -> None:
    for expected in EXPECTED:
        machine = PlainMachine(lower(expected.sized.configuration))
        taken = {
            machine.lowered.instances[number].action.name
            for seed in range(100)
            for number in random_run(machine, seed, 40).steps
        }
        assert taken == {instance.action.name for instance in machine.lowered.instances}


# --- the Hypothesis state machine --------------------------------------------------------------------------------


def run_under_unittest(machine: type[KernelStateMachine], runs: int, steps: int) -> unittest.TestResult:
    case: Any = machine.TestCase
    case.settings = settings(
        max_examples=runs,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        derandomize=True,
        verbosity=Verbosity.quiet,
    )
    result = unittest.TestResult()
    case("runTest").run(result)
    return result


def test_the_state_machine_is_a_test_case_that_fails_with_a_short_run() -> None:
    prop = always("not-all-one-fork", examples.not_all_one_fork.holds)
    machine = stateful_machine(traced_with(dining_philosophers.machine.configure(), prop), [prop])
    assert machine.__name__ == "DiningPhilosophers"
    result = run_under_unittest(machine, 200, 20)
    assert len(result.failures) == 1
    assert "PropertyViolated: not-all-one-fork does not hold after 6 steps: " in result.failures[0][1]


def test_the_state_machine_passes_where_nothing_is_violated_and_survives_deadlock() -> None:
    balanced = always("balanced", examples.balanced.holds)
    machine = stateful_machine(traced_with(bounded_buffer.machine.configure(), balanced), [balanced])
    assert run_under_unittest(machine, 20, 20).wasSuccessful()


def test_a_property_that_was_not_traced_is_an_error() -> None:
    with pytest.raises(ModelError, match="property consistent is not lowered"):
        stateful_machine(lower(two_phase_commit.machine.configure()), TWO_PHASE_COMMIT)


@pytest.mark.parametrize(
    ("machine", "constants", "prop", "length"),
    [
        (two_phase_commit.machine, {"impatient": 1}, always("consistent", examples.consistent.holds), 9),
        (
            dining_philosophers.machine,
            {"philosophers": 4},
            always("not-all-one-fork", examples.not_all_one_fork.holds),
            8,
        ),
    ],
    ids=["two_phase_commit", "dining_philosophers"],
)
def test_hypothesis_shrinks_from_the_run_it_is_given(
    machine: Machine, constants: dict[str, Any], prop: Property, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lowered = traced_with(machine.configure(**constants), prop)
    plain = PlainMachine(lowered)
    run = next(
        run.steps[:position]
        for run in (random_run(plain, seed, 60) for seed in range(10_000))
        for position, state in enumerate(run.states)
        if not plain.holds(prop.id, state) and position > length + 4
    )
    executed: list[tuple[int, ...]] = []
    monkeypatch.setattr(KernelStateMachine, "teardown", lambda self: executed.append(tuple(self.taken)), raising=True)
    short = shrink(lowered, prop, run)
    assert executed[0] == run
    assert len(shortened(plain, prop, short)) == length
    assert not plain.holds(prop.id, replay(plain, short).states[-1])


def test_choices_are_those_that_hypothesis_draws() -> None:
    machine = stateful_machine(lower(two_phase_commit.machine.configure(managers=2)), [])
    names = {instance.label: instance.number for instance in machine.plain.lowered.instances}
    steps = [names[label] for label in ("prepare(r1)", "hear_prepared(r1)", "abort", "hear_abort(r0)")]
    first = [False, 0, False, 0, *[0] * 7]
    assert choices_of(machine, steps) == [*first, 7021, False, False, 25746, False, False, 42130, False, False, 58514]


def test_a_violation_says_after_which_steps() -> None:
    prop = always("consistent", examples.consistent.holds)
    lowered = traced_with(two_phase_commit.machine.configure(managers=1), prop)
    assert str(PropertyViolated(prop, [0, 2], lowered)) == (
        "consistent does not hold after 2 steps: prepare(r0), hear_prepared(r0)"
    )
