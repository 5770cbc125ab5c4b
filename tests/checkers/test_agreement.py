"""The engines must agree: on small configurations of every machine the same verdict from all of them.

``explore`` has seen every state, so its answer is the yardstick. Another engine may not know, but it must not disagree,
and where it finds a run it must be as good as it claims: the bounded search of ``prove`` finds a shortest one.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.explore import Limits, explore
from rocketproof.checkers.export import promela
from rocketproof.checkers.liveness import check_eventually
from rocketproof.checkers.prove import bounded, prove_inductive
from rocketproof.checkers.reduction import Reduction
from rocketproof.checkers.reduction.equivariance import symmetric_domains
from rocketproof.checkers.result import Result
from rocketproof.checkers.simulate import simulate
from rocketproof.checkers.spin import run_spin, spin_available
from rocketproof.model.kernel import UNBOUNDED, Configuration, not_, trace
from rocketproof.properties.claim import Claim
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

SMALL = 5000
"""States up to which a configuration is small enough for all engines."""

STEPS = 4
"""Length of runs up to which the bounded search looks."""


MANY = 12
"""Of a machine with more configurations in the catalogue than this, about so many are taken."""


@dataclasses.dataclass(frozen=True)
class Group:
    """A small configuration with its properties about states."""

    name: str
    configuration: Configuration
    properties: list[Property]


def catalogue() -> dict[str, list[Group]]:
    """By machine, every finite configuration of the catalogue."""
    groups: dict[str, dict[str, tuple[Configuration, dict[str, Property]]]] = {}
    for row in all_rows():
        about_states = isinstance(row.subject, Claim) and row.subject.property.kind in (Kind.ALWAYS, Kind.SOMETIMES)
        if about_states and UNBOUNDED not in row.constants.values():
            configuration = row.subject.machine.configure(**row.constants)
            name = "-".join(filter(None, [row.machine, *row.configuration.split()]))
            found = groups.setdefault(row.machine, {}).setdefault(name, (configuration, {}))
            found[1][row.id] = row.subject.property
    return {
        machine: [Group(name, configuration, list(found.values())) for name, (configuration, found) in named.items()]
        for machine, named in groups.items()
    }


def small_groups() -> Iterator[Group]:
    """Every small configuration of the catalogue; of a machine with many, an even sample of them."""
    for groups in catalogue().values():
        for group in groups[:: max(1, len(groups) // MANY)]:
            if explore(group.configuration, limits=Limits(states=SMALL), idle_actions_allowed=True).complete:
                yield group


GROUPS = list(small_groups())

ALL = pytest.mark.parametrize(
    ("configuration", "properties"),
    [pytest.param(group.configuration, group.properties, id=group.name) for group in GROUPS],
)


def explored(configuration: Configuration, properties: list[Property]) -> dict[str, Result]:
    results = explore(configuration, properties, idle_actions_allowed=True).results
    return {result.property: result for result in results}


def test_there_is_something_to_compare() -> None:
    machines = [group.configuration.machine.name for group in GROUPS]
    assert {name: machines.count(name) for name in machines} == {
        "assignment": 9,
        "orderly_lock": 10,
        "consumption": 12,
        "two_phase_commit": 4,
        "peterson": 2,
        "dining_philosophers": 5,
        "bounded_buffer": 5,
    }


@ALL
def test_bounded_search_finds_the_same_shortest_runs(configuration: Configuration, properties: list[Property]) -> None:
    for name, result in explored(configuration, properties).items():
        item = next(item for item in properties if item.id == name)
        answer = bounded(configuration, item, depth=STEPS)
        if result.run is not None and len(result.run) <= STEPS:
            assert answer.verdict is result.verdict
            assert answer.run is not None
            assert len(answer.run) == len(result.run)
        else:
            assert answer.verdict in (Verdict.UNKNOWN, result.verdict)
            assert answer.run is None


@ALL
def test_induction_does_not_contradict(configuration: Configuration, properties: list[Property]) -> None:
    for name, result in explored(configuration, properties).items():
        item = next(item for item in properties if item.id == name)
        assert prove_inductive(configuration, item).verdict in (Verdict.UNKNOWN, result.verdict)


@ALL
def test_simulation_does_not_contradict(configuration: Configuration, properties: list[Property]) -> None:
    yardstick = explored(configuration, properties)
    for answer in simulate(configuration, properties, runs=30, steps=20):
        result = yardstick[answer.property]
        assert answer.verdict in (Verdict.UNKNOWN, result.verdict)
        if answer.run is not None:
            assert result.run is not None
            assert len(answer.run) >= len(result.run)


@ALL
def test_liveness_reaches_the_same_states(configuration: Configuration, properties: list[Property]) -> None:
    """A debt that nothing can pay is owed exactly where the state that incurs it can be reached."""
    for name, result in explored(configuration, properties).items():
        item = next(item for item in properties if item.id == name)
        always = item.kind is Kind.ALWAYS
        incurs = (lambda s, holds=item.holds: not_(holds(s))) if always else item.holds
        debt = dataclasses.replace(item, kind=Kind.EVENTUALLY, after=incurs, holds=lambda s: False)
        reached = check_eventually(configuration, debt).verdict is Verdict.VIOLATED
        assert reached is (result.run is not None)


@pytest.mark.slow
@ALL
def test_reductions_change_no_answer(configuration: Configuration, properties: list[Property]) -> None:
    def answers(asked: list[Property], deadlocks: bool, reduce: Reduction) -> list[tuple[Verdict, int | None]]:
        found = explore(configuration, asked, deadlocks=deadlocks, idle_actions_allowed=True, reduce=reduce)
        return [(item.verdict, None if item.run is None else len(item.run)) for item in found.results]

    traced = trace(configuration, {item.id: item.holds for item in properties})
    both = Reduction.SYMMETRY | Reduction.PARTIAL_ORDER if symmetric_domains(traced) else Reduction.PARTIAL_ORDER
    questions = [(properties, False, both), (properties, True, both), (properties[:1], False, Reduction.PARTIAL_ORDER)]
    for asked, deadlocks, reduce in questions:
        assert answers(asked, deadlocks, reduce) == answers(asked, deadlocks, Reduction.NONE)


@pytest.mark.slow
@pytest.mark.skipif(not spin_available(), reason="spin or a C compiler is missing")
@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_spin_counts_and_judges_the_same(number: int, tmp_path: Path) -> None:
    configuration, properties = GROUPS[number].configuration, GROUPS[number].properties
    always = {item.id: item.holds for item in properties if item.kind is Kind.ALWAYS}
    found = explore(configuration, idle_actions_allowed=True)
    counted = run_spin(promela(trace(configuration)), workdir=tmp_path, optimize="-O1")
    assert (counted.states, counted.transitions) == (found.states, found.transitions)
    yardstick = explored(configuration, [item for item in properties if item.kind is Kind.ALWAYS])
    for name, holds in always.items():
        initially = yardstick[name].run is not None and len(yardstick[name].run or ()) == 0
        if initially:
            continue  # assertions stand after steps; a state that is wrong from the start makes no step
        text = promela(trace(configuration, {name: holds}), invariants=(name,))
        judged = run_spin(text, workdir=tmp_path, optimize="-O1")
        assert (judged.errors > 0) is (yardstick[name].verdict is Verdict.VIOLATED)
