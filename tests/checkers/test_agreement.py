"""The engines must agree: on small configurations of every machine the same verdict from all of them.

``explore`` has seen every state, so its answer is the yardstick. Another engine may not know, but it must not disagree,
and where it finds a run it must be as good as it claims: the bounded search of ``prove`` finds a shortest one.
"""

import dataclasses
import functools
from pathlib import Path

import pytest

from rocketproof.checkers.catalogue import all_rows
from rocketproof.checkers.explore import explore
from rocketproof.checkers.export import promela
from rocketproof.checkers.liveness import check_eventually
from rocketproof.checkers.prove import bounded, prove_inductive
from rocketproof.checkers.reduction import Reduction
from rocketproof.checkers.reduction.equivariance import symmetric_domains
from rocketproof.checkers.result import Result
from rocketproof.checkers.simulate import simulate
from rocketproof.checkers.spin import run_spin, spin_available
from rocketproof.model.kernel import UNBOUNDED, Configuration, lower, not_
from rocketproof.properties.claim import Claim
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

STEPS = 4
"""Length of runs up to which the bounded search looks."""

QUICK = 200
"""States up to which a configuration is asked about in the default tier; larger ones are in the longer one."""


@dataclasses.dataclass
class Group:
    """A small configuration with its properties about states."""

    name: str
    states: int
    configuration: Configuration
    properties: list[Property]

    @functools.cached_property
    def answers(self) -> dict[str, Result]:
        """What the yardstick says, searched for once."""
        found = explore(self.configuration, self.properties, idle_actions_allowed=True)
        assert found.complete
        assert found.states == self.states
        return {result.property: result for result in found.results}


def catalogue() -> dict[str, tuple[Configuration, list[Property]]]:
    """By name, every finite configuration of the catalogue."""
    groups: dict[str, tuple[Configuration, dict[str, Property]]] = {}
    for row in all_rows():
        about_states = isinstance(row.subject, Claim) and row.subject.property.kind in (Kind.ALWAYS, Kind.SOMETIMES)
        if about_states and UNBOUNDED not in row.constants.values():
            configuration = row.subject.machine.configure(**row.constants)
            name = "-".join(filter(None, [row.machine, *row.configuration.split()]))
            groups.setdefault(name, (configuration, {}))[1][row.id] = row.subject.property
    return {name: (configuration, list(found.values())) for name, (configuration, found) in groups.items()}


LISTED = [line.split() for line in Path(__file__).with_name("agreement.txt").read_text().splitlines()[1:]]
CATALOGUE = catalogue()
GROUPS = [Group(name, int(states), *CATALOGUE[name]) for states, name in LISTED if name in CATALOGUE]

ALL = pytest.mark.parametrize(
    "group",
    [
        pytest.param(
            group, id=group.name, marks=[pytest.mark.slow] * (group.states > QUICK or "copies=3" in group.name)
        )
        for group in GROUPS
    ],
)


def test_every_configuration_that_is_listed_is_in_the_catalogue() -> None:
    missing = [name for _, name in LISTED if name not in CATALOGUE]
    assert missing == [], "put another configuration of the same machine into agreement.txt"
    assert {group.configuration.machine.name for group in GROUPS} == {
        configuration.machine.name for configuration, _ in CATALOGUE.values()
    }


@ALL
def test_bounded_search_finds_the_same_shortest_runs(group: Group) -> None:
    for name, result in group.answers.items():
        item = next(item for item in group.properties if item.id == name)
        answer = bounded(group.configuration, item, depth=STEPS)
        if result.run is not None and len(result.run) <= STEPS:
            assert answer.verdict is result.verdict
            assert answer.run is not None
            assert len(answer.run) == len(result.run)
        else:
            assert answer.verdict in (Verdict.UNKNOWN, result.verdict)
            assert answer.run is None


@ALL
def test_induction_does_not_contradict(group: Group) -> None:
    for name, result in group.answers.items():
        item = next(item for item in group.properties if item.id == name)
        assert prove_inductive(group.configuration, item).verdict in (Verdict.UNKNOWN, result.verdict)


@ALL
def test_simulation_does_not_contradict(group: Group) -> None:
    yardstick = group.answers
    for answer in simulate(group.configuration, group.properties, runs=30, steps=20):
        result = yardstick[answer.property]
        assert answer.verdict in (Verdict.UNKNOWN, result.verdict)
        if answer.run is not None:
            assert result.run is not None
            assert len(answer.run) >= len(result.run)


@ALL
def test_liveness_reaches_the_same_states(group: Group) -> None:
    """A debt that nothing can pay is owed exactly where the state that incurs it can be reached."""
    for name, result in group.answers.items():
        item = next(item for item in group.properties if item.id == name)
        always = item.kind is Kind.ALWAYS
        incurs = (lambda s, holds=item.holds: not_(holds(s))) if always else item.holds
        debt = dataclasses.replace(item, kind=Kind.EVENTUALLY, after=incurs, holds=lambda s: False)
        reached = check_eventually(group.configuration, debt).verdict is Verdict.VIOLATED
        assert reached is (result.run is not None)


@pytest.mark.slow
@ALL
def test_reductions_change_no_answer(group: Group) -> None:
    def answers(asked: list[Property], deadlocks: bool, reduce: Reduction) -> list[tuple[Verdict, int | None]]:
        found = explore(group.configuration, asked, deadlocks=deadlocks, idle_actions_allowed=True, reduce=reduce)
        return [(item.verdict, None if item.run is None else len(item.run)) for item in found.results]

    properties = group.properties
    lowered = lower(group.configuration, {item.id: item.holds for item in properties})
    both = Reduction.SYMMETRY | Reduction.PARTIAL_ORDER if symmetric_domains(lowered) else Reduction.PARTIAL_ORDER
    questions = [(properties, False, both), (properties, True, both), (properties[:1], False, Reduction.PARTIAL_ORDER)]
    for asked, deadlocks, reduce in questions:
        assert answers(asked, deadlocks, reduce) == answers(asked, deadlocks, Reduction.NONE)


@pytest.mark.slow
@pytest.mark.skipif(not spin_available(), reason="spin or a C compiler is missing")
@ALL
def test_spin_counts_and_judges_the_same(group: Group, tmp_path: Path) -> None:
    configuration = group.configuration
    always = {item.id: item.holds for item in group.properties if item.kind is Kind.ALWAYS}
    found = explore(configuration, idle_actions_allowed=True)
    counted = run_spin(promela(lower(configuration)), workdir=tmp_path, optimize="-O1")
    assert (counted.states, counted.transitions) == (found.states, found.transitions)
    for name, holds in always.items():
        yardstick = group.answers[name]
        if yardstick.run is not None and len(yardstick.run) == 0:
            continue  # assertions stand after steps; a state that is wrong from the start makes no step
        text = promela(lower(configuration, {name: holds}), invariants=(name,))
        judged = run_spin(text, workdir=tmp_path, optimize="-O1")
        assert (judged.errors > 0) is (yardstick.verdict is Verdict.VIOLATED)
