"""A machine that may begin in several ways: all engines know all of its initial states, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.export import promela
from rocketproof.checkers.liveness.eventually import check_eventually
from rocketproof.checkers.prove import prove
from rocketproof.checkers.simulate import simulate
from rocketproof.checkers.spin import run_spin, spin_available
from rocketproof.model.kernel import BoolLike, Domain, Int, Machine, ModelError, State, lower, not_, same
from rocketproof.properties.property import Property, always, eventually, settles, sometimes
from rocketproof.properties.verdict import Verdict


class Place(Domain, size="places", label="p"):
    """Where a token may be."""


def hopping(*, even: bool = True, initial: int = 0, fair: bool = True) -> Machine:
    """A token that begins at an even place, loud or not, and hops by two."""
    machine = Machine("hopping")
    machine.constant("places", 6, low=2)
    machine.variable("at", Int(0, lambda k: k.places - 1), init=initial)
    machine.variable("loud", bool)

    @machine.beginning(tells="the token begins at {p}")
    def begin(s: State, p: Place, loud: bool) -> None:
        s.require(p % 2 == 0 if even else True)
        s.at = p
        s.loud = loud

    @machine.action(fair=fair)
    def hop(s: State) -> None:
        s.at = (s.at + 2) % s.places

    @machine.action
    def hush(s: State) -> None:
        s.require(s.loud)
        s.loud = False

    return machine


@always("even")
def even(s: State) -> BoolLike:
    """The token is at an even place."""
    return same(s.at % 2, 0)


@sometimes("odd")
def odd(s: State) -> BoolLike:
    """The token may be at p3."""
    return same(s.at, 3)


@sometimes("loud")
def loud(s: State) -> BoolLike:
    """It may be loud."""
    return s.loud


@eventually("first")
def first(s: State) -> BoolLike:
    """It is at p0 some time."""
    return same(s.at, 0)


@eventually("after", after=lambda s: same(s.at, 0))
def after(s: State) -> BoolLike:
    """From p0 it comes to p4."""
    return same(s.at, 4)


@settles("hushed")
def hushed(s: State) -> BoolLike:
    """It is silent in the end."""
    return not_(s.loud)


def verdicts(machine: Machine, *properties: Property) -> list[Verdict]:
    return [result.verdict for result in explore(machine.configure(), properties).results]


def test_every_initial_state_is_searched_and_no_other() -> None:
    """Three even places, loud or not, and the state before: a hop from each of the six, and three times hush."""
    found = explore(hopping().configure(), [even, odd, loud])
    assert (found.states, found.transitions, found.depth) == (1 + 6, 6 + 6 + 3, 1)
    assert [one.verdict for one in found.results] == [Verdict.HOLDS, Verdict.VIOLATED, Verdict.HOLDS]
    assert verdicts(hopping(even=False), even, odd) == [Verdict.VIOLATED, Verdict.HOLDS]
    (violated,) = explore(hopping(even=False).configure(), [even]).results
    assert violated.run is not None
    assert [violated.run.lowered.instances[step].tells for step in violated.run.steps] == ["the token begins at p1"]


def test_what_is_proven_begins_in_all_ways() -> None:
    assert prove(hopping().configure(), even).verdict is Verdict.HOLDS
    assert prove(hopping(even=False).configure(), even).verdict is Verdict.VIOLATED


def test_random_runs_begin_in_all_ways() -> None:
    assert [one.verdict for one in simulate(hopping(even=False).configure(), [even], runs=50)] == [Verdict.VIOLATED]
    assert [one.verdict for one in simulate(hopping().configure(), [even], runs=50)] == [Verdict.UNKNOWN]


def test_nothing_is_owed_and_nothing_done_before_it_has_begun() -> None:
    """The declared values are those of p0: that does not count for a run that begins at p2."""
    said = [check_eventually(hopping().configure(), one).verdict for one in (first, after, hushed)]
    assert said == [Verdict.HOLDS, Verdict.HOLDS, Verdict.VIOLATED]
    violated = check_eventually(hopping(fair=False).configure(), first)
    assert violated.verdict is Verdict.VIOLATED
    assert violated.run is not None
    assert violated.run.lowered.instances[violated.run.steps[0]].tells in (
        "the token begins at p2", "the token begins at p4",
    )  # fmt: skip


@pytest.mark.skipif(not spin_available(), reason="spin or a C compiler is not installed")
@pytest.mark.parametrize("places", [2, 6, 10])
def test_spin_counts_the_same(places: int, tmp_path: Path) -> None:
    configuration = hopping().configure(places=places)
    found = explore(configuration)
    run = run_spin(promela(lower(configuration)), workdir=tmp_path, optimize="-O0", hash_bits=16, max_depth=10_000)
    assert (found.states, found.transitions) == (1 + places, places + places + places // 2)
    assert (run.states, run.transitions) == (found.states, found.transitions)


def test_parts_that_begin_are_put_together() -> None:
    whole = Machine("whole").include(hopping())
    found = explore(whole.configure(), [even])
    assert (found.states, found.results[0].verdict) == (7, Verdict.HOLDS)
    assert explore(Machine("again").include(whole).configure()).states == 7


def test_the_declared_values_are_a_way_to_begin() -> None:
    with pytest.raises(ModelError, match=r"hopping: none of begin leaves all declared initial values as they are in"):
        lower(hopping(initial=1).configure())
