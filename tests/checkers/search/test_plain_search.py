"""A small space is searched without machine code, and all that is said of it is the same."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rocketproof.checkers.exploration import Exploration, Limits
from rocketproof.checkers.explore import explore
from rocketproof.checkers.run import story
from rocketproof.checkers.search import plain_search
from rocketproof.checkers.search.plain_search import search_plainly
from rocketproof.model.kernel import ModelError, lower
from rocketproof.model.kernel.plain import PlainMachine
from rocketproof.properties.examples import EXPECTED, Expected
from rocketproof.properties.property import Kind, Property
from rocketproof.properties.verdict import Verdict

from ..test_explore import always, counter, sometimes


def compared(found: Exploration) -> object:
    """All that must not depend on the form."""
    results = [(item.property, item.verdict, item.bounds, item.run and story(item.run)) for item in found.results]
    return replace(found, results=(), seconds=0, compile_seconds=0, bytes_per_state=0), results


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda item: item.name)
def test_examples_have_the_same_answers(expected: Expected, monkeypatch: pytest.MonkeyPatch) -> None:
    properties = [item for item in expected.properties if item.kind in (Kind.ALWAYS, Kind.SOMETIMES)]
    both = []
    for most in (plain_search.MOST_STEPS, 0):
        monkeypatch.setattr(plain_search, "MOST_STEPS", most)
        found = explore(expected.sized.configuration, properties, deadlocks=True, idle_actions_allowed=True)
        both.append(compared(found))
    assert both[0] == both[1]


CORNER = [always("far", lambda s: s.number[0] < 9), sometimes("corner", lambda s: (s.number[0] + s.number[1]) == 20)]


def plainly(limits: Limits, properties: list[Property] = CORNER) -> plain_search.PlainSearch | None:
    lowered = lower(counter(10).configure(places=2), {item.id: item.holds for item in properties})
    return search_plainly(PlainMachine(lowered), properties, limits, terminal="")


def test_what_was_found() -> None:
    found = plainly(Limits())
    assert found is not None
    assert (found.states, found.transitions, found.depth, found.taken) == (121, 220, 20, [110, 110])
    assert [len(run) for run in (found.run_of(0), found.run_of(1), found.run_to_deadlock()) if run] == [9, 20, 20]


@pytest.mark.parametrize(
    ("limits", "complete"),
    [
        (Limits(states=122), True),
        (Limits(states=121), False),
        (Limits(seconds=60), True),
        (Limits(seconds=0), False),
        (Limits(bytes=121 * 200), True),
        (Limits(bytes=100 * 100), False),
    ],
)
def test_near_a_limit_it_is_left_to_machine_code(limits: Limits, complete: bool) -> None:
    assert (plainly(limits) is not None) == complete


def test_beyond_a_limit_the_answer_is_unknown() -> None:
    found = explore(counter(10).configure(places=2), CORNER, limits=Limits(states=50))
    assert [item.verdict for item in found.results] == [Verdict.VIOLATED, Verdict.UNKNOWN]
    assert found.limit == "limit of 50 states reached"


def test_what_is_larger_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_search, "MOST_STEPS", 2 * 121)
    assert plainly(Limits()) is not None
    monkeypatch.setattr(plain_search, "MOST_STEPS", 2 * 121 - 1)
    assert plainly(Limits()) is None


def test_a_write_outside_a_domain_is_told() -> None:
    with pytest.raises(ModelError, match=r"action increase\(p0\): writes 4 to number\[p0\], allowed is 0…3"):
        explore(counter(3, step=2).configure())


def test_a_tiny_question_loads_nothing_heavy() -> None:
    asked = "['verify', 'one-queue-one-consumer']"
    heavy = "{'numba', 'llvmlite', 'numpy', 'hypothesis', 'pyarrow', 'pandas', 'pyspark'}"
    code = f"""
import sys
from rocketproof.cli import main
try:
    main({asked})
except SystemExit as end:
    print(end.code, sorted({heavy} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert told.stdout.splitlines()[-1] == "0 []"
