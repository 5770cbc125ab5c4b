"""One search on several threads finds what one thread does: the same numbers, and the very same runs."""

from dataclasses import replace
from pathlib import Path

import pytest

from rocketproof.checkers.exploration import Exploration, Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.run import story
from rocketproof.checkers.search import machine_limits, parallel_search, plain_search, table_search
from rocketproof.checkers.search.machine_limits import cores, half_of_memory
from rocketproof.model.examples import EXAMPLES
from rocketproof.model.kernel import Configuration, ModelError, State
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

from ..test_explore import Place, always, counter, sometimes

SMALL = [sized.configuration for example in EXAMPLES.values() for sized in example.configurations.values()]


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of a few states are wide enough, and chunks are small, so that there are many of both; in machine code."""
    monkeypatch.setattr(plain_search, "MOST_STEPS", 0)
    monkeypatch.setattr(table_search, "NARROW", 3)
    monkeypatch.setattr(parallel_search, "PART", 64)


def compared(found: Exploration) -> object:
    """All that must not depend on the number of threads."""
    results = [(item.property, item.verdict, item.run and story(item.run), item.figures) for item in found.results]
    return replace(found, results=(), seconds=0, compile_seconds=0, bytes_per_state=0), results


@pytest.mark.parametrize("threads", [2, 3, 5])
@pytest.mark.parametrize("configuration", SMALL, ids=str)
def test_examples(configuration: Configuration, threads: int) -> None:
    one = explore(configuration, deadlocks=True, idle_actions_allowed=True, threads=1)
    several = explore(configuration, deadlocks=True, idle_actions_allowed=True, threads=threads)
    assert compared(several) == compared(one)


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_runs_and_the_index_that_grows(threads: int) -> None:
    items = [
        always("near", lambda s: s.number[0] + s.number[1] < 40),
        always("far", lambda s: s.number[2] + s.number[1] < 99),
        sometimes("never", lambda s: s.number[2] > 50),
        sometimes("corner", lambda s: (s.number[0] == 50) & (s.number[1] == 50) & (s.number[2] == 50)),
    ]
    found = explore(counter(50).configure(places=3), items, deadlocks=True, threads=threads)
    assert (found.states, found.transitions, found.depth) == (51**3, 3 * 50 * 51**2, 150)
    assert [(item.verdict, item.run and len(item.run)) for item in found.results] == [
        (Verdict.VIOLATED, 40),
        (Verdict.VIOLATED, 99),
        (Verdict.VIOLATED, None),
        (Verdict.HOLDS, 150),
        (Verdict.VIOLATED, 150),
    ]
    assert compared(found) == compared(explore(counter(50).configure(places=3), items, deadlocks=True, threads=1))


@pytest.mark.parametrize("limits", [Limits(states=20_000), Limits(bytes=600_000)])
def test_limits_end_it_at_the_same_state(limits: Limits) -> None:
    item = always("far", lambda s: s.number[0] < 50)
    one, several = (explore(counter(50).configure(places=3), [item], limits=limits, threads=n) for n in (1, 2))
    assert (several.states, several.limit) == (one.states, one.limit)
    assert not several.complete
    assert compared(several) == compared(one)


def test_a_write_outside_a_domain_is_told() -> None:
    machine = counter(3)

    @machine.action(tells="{p} jumps")
    def jump(s: State, p: Place) -> None:
        s.require(s.number[p] == 2)
        s.number[p] += 2

    with pytest.raises(ModelError, match="jump"):
        explore(machine.configure(places=5), threads=2)


def test_a_search_that_stops_when_decided_stops_at_the_same_state() -> None:
    item = Property(id="one", statement="one", kind=Kind.SOMETIMES, holds=lambda s: s.number[0] == 9)
    one, several = (explore(counter(20).configure(places=3), [item], stop_when_decided=True, threads=n) for n in (1, 4))
    assert (several.states, several.depth) == (one.states, one.depth)


def test_a_container_may_have_less_than_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    all_cores, all_memory = cores(), half_of_memory()
    monkeypatch.setattr(machine_limits, "_CGROUP", tmp_path)
    monkeypatch.setattr(machine_limits.os, "sched_getaffinity", lambda _: set(range(8)))
    assert cores() == 8
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert (cores(), half_of_memory() >= all_memory) == (8, True)
    (tmp_path / "cpu.max").write_text("150000 100000\n")
    (tmp_path / "memory.max").write_text("1048576\n")
    assert (cores(), half_of_memory()) == (1, 524288)
    assert all_cores >= 1
