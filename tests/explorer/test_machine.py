"""The JavaScript form of a machine is the plain form: the same states, transitions, depths, guards and predicates."""

import random
from importlib import resources
from pathlib import Path

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.simulate import random_run
from rocketproof.explorer.model_data import model_data, traced_with
from rocketproof.explorer.subjects import known_machines
from rocketproof.machine_code.code_cache import user_cache
from rocketproof.model.kernel import Int, Machine, ModelError, State, all_of
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.model.presets import PRESETS, Preset
from rocketproof.properties.claim import Claim
from rocketproof.properties.examples import EXPECTED, Expected
from rocketproof.properties.presets import preset_claims, preset_named

from .node import run_node

LARGE = ("retry", "everything-small")
"""Presets that take longer to trace and to follow."""
TRIED = [pytest.param(preset, id=preset.name, marks=[pytest.mark.slow] * (preset.name in LARGE)) for preset in PRESETS]
SEARCHED = [preset for preset in PRESETS if preset.states <= 5_000_000]
"""Presets that are searched whole."""
WORDS = resources.files("rocketproof.explorer").joinpath("script", "page", "words.mjs")
"""What spells the conditions of guards."""
SMALL = 20_000
"""States up to which the plain form is searched here."""

SEARCH_ALL = """
const search = new Search(new Machine(given));
while (!search.advance(100000));
console.log(JSON.stringify(search.report()));
"""

FOLLOW = """
const { Words } = await import(given.words);
const machine = new Machine(given.model);
const words = new Words(given.model);
const told = given.states.map((state, position) => {
  const s = Int32Array.from(state);
  // Elsewhere than in reachable states an action may write outside a domain.
  const steps = position < given.reached ? machine.model.instances.map((_, number) => machine.step(s, number)) : [];
  return {
    next: steps.map((next) => next && [...next]),
    failing: machine.model.instances.map((_, number) =>
      machine.failing(s, number).map((part) => words.condition(part, (node) => machine.value(node, s)))),
    holds: machine.model.properties.map((property) => machine.predicate(property.holds)(s)),
    valued: machine.model.properties.map((property) => machine.value(property.holds, s)),
  };
});
console.log(JSON.stringify(told));
"""


def plain_search(machine: PlainMachine) -> tuple[int, int, int]:
    """States, transitions and depth of a machine, in the plain form."""
    seen, level, transitions, depth = {machine.initial}, [machine.initial], 0, 0
    while level:
        following = []
        for state in level:
            for _, reached in machine.successors(state):
                transitions += 1
                if reached not in seen:
                    seen.add(reached)
                    following.append(reached)
            assert len(seen) <= SMALL, "too many states for the plain form"
        level, depth = following, depth + bool(following)
    return len(seen), transitions, depth


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda item: item.sized.configuration.machine.name)
def test_every_example_has_the_states_of_the_plain_form(expected: Expected, tmp_path: Path) -> None:
    lowered = traced_with(expected.sized.configuration, [])
    found = run_node(SEARCH_ALL, model_data(lowered), tmp_path)
    assert (found["states"], found["transitions"], found["depth"]) == plain_search(PlainMachine(lowered))
    assert found["complete"]


@pytest.mark.slow
@pytest.mark.parametrize("preset", SEARCHED, ids=lambda preset: preset.name)
def test_a_preset_has_the_states_of_the_machine_code(preset: Preset, tmp_path: Path) -> None:
    # Which are those of the plain form: tests/checkers.
    configuration = preset.configuration()
    known = explore(configuration, idle_actions_allowed=True, cache=user_cache())
    found = run_node(SEARCH_ALL, model_data(traced_with(configuration, [])), tmp_path)
    assert (found["states"], found["complete"]) == (preset.states, True)
    assert (found["transitions"], found["depth"]) == (known.transitions, known.depth)


def test_there_are_presets_that_are_searched_whole() -> None:
    assert {preset.name for preset in SEARCHED} >= {"assignment", "orderly"}


@pytest.mark.parametrize("preset", TRIED)
def test_steps_guards_and_predicates_are_those_of_the_plain_form(preset: Preset, tmp_path: Path) -> None:
    claims = list(preset_claims(preset))
    lowered = traced_with(preset.configuration(), claims)
    machine = PlainMachine(lowered)
    chance = random.Random(preset.name)
    reached = [state for seed in range(3) for state in random_run(machine, seed, 40).states[::4]]
    anywhere = [
        tuple(chance.randint(cell.family.low, cell.family.high or 0) for cell in lowered.cells) for _ in range(20)
    ]
    states = reached + anywhere
    given = {"model": model_data(lowered, claims), "words": str(WORDS), "states": states, "reached": len(reached)}
    told = run_node(FOLLOW, given, tmp_path)
    for number, (state, found) in enumerate(zip(states, told, strict=True)):
        holds = [machine.holds(claim.property.id, state) for claim in claims]
        assert (found["holds"], found["valued"]) == (holds, holds)
        enabled = machine.enabled(state)
        assert [step for step, fails in enumerate(found["failing"]) if not fails] == enabled
        if number < len(reached):
            assert all(text for parts in found["failing"] for text in parts), "a part of a guard that nobody can read"
            following = dict(machine.successors(state))
            assert found["next"] == [
                list(following[step]) if step in following else None for step in range(len(lowered.instances))
            ]


def counter(goes_to: int) -> Machine:
    machine = Machine("counter", doc="Counts.")
    machine.variable("n", Int(0, 3), doc="how often it was raised")

    @machine.action(tells="n is raised")
    def raise_it(s: State) -> None:
        s.require(all_of(s.n < goes_to, s.n >= 0))
        s.n = s.n + 1

    return machine


@pytest.mark.parametrize(("goes_to", "error"), [(3, ""), (5, "raise_it writes 4 to n, allowed is 0…3")])
def test_a_write_outside_a_domain_is_an_error(goes_to: int, error: str, tmp_path: Path) -> None:
    # As in the plain form; the text names action, variable and value.
    script = """
    const search = new Search(new Machine(given));
    let told = "";
    try { while (!search.advance(10)); } catch (error) { told = error.message; }
    console.log(JSON.stringify(told));
    """
    assert run_node(script, model_data(traced_with(counter(goes_to).configure(), [])), tmp_path) == error


def test_a_shortest_run_is_found_and_a_limit_ends_a_search(tmp_path: Path) -> None:
    script = """
    const machine = new Machine(given);
    const there = new Search(machine, { goal: (s) => s[0] === 2 });
    const stopped = new Search(machine, { goal: (s) => s[0] === 2, limit: 2 });
    for (const search of [there, stopped]) while (!search.advance(10));
    console.log(JSON.stringify([there.report(), stopped.report()]));
    """
    there, stopped = run_node(script, model_data(traced_with(counter(3).configure(), [])), tmp_path)
    assert (there["found"], there["states"]) == ([0, 0], 3)
    assert (stopped["found"], stopped["states"], stopped["complete"]) == (None, 2, False)


def test_the_guard_is_split_into_its_parts() -> None:
    data = model_data(traced_with(counter(3).configure(), []))
    assert len(data["instances"][0]["guard"]) == 2


def test_an_infinite_configuration_is_refused() -> None:
    machine = counter(3)
    machine.variable("open", Int(0, None))
    with pytest.raises(ModelError, match="counter cannot be stepped through: variable open has no upper bound"):
        traced_with(machine.configure(), [])


def test_the_data_says_what_each_property_teaches() -> None:
    claim = next(iter(preset_claims(preset_named("delivery"))))
    assert isinstance(claim, Claim)
    data = model_data(traced_with(preset_named("delivery").configuration(), [claim]), [claim], rules={"G2": ("a", "b")})
    assert data["properties"][0]["statement"] == claim.property.statement
    assert data["rules"] == {"G2": ["a", "b"]}


def test_every_variable_says_what_it_is() -> None:
    silent = [
        f"{machine.name}.{variable.name}"
        for machine in known_machines().values()
        for variable in machine.variables.values()
        if not (
            variable.doc or (isinstance(variable.kind, type) and variable.kind is not bool and variable.kind.__doc__)
        )
    ]
    assert silent == []
