"""Clocks that a header tells are those that were found, and what is none of them is told and passed over."""

import json
from typing import Any

import pytest

from rocketproof.traces.clocks.as_json import MEMBER, clocks_as_json, clocks_of_json, clocks_told
from rocketproof.traces.format.header import Stated
from rocketproof.traces.format.problems import Problems, Trouble
from rocketproof.traces.format.schema import Header

from .cluster import clocks, run


def told(said: Any) -> tuple[Any, list[Trouble]]:
    problems = Problems()
    found = clocks_told(Stated(header=Header(extra={MEMBER: said}), file="a.jsonl"), 1, problems)
    return found, [problem.kind for problem in problems.kept]


@pytest.mark.parametrize("until", [20_000, 10_000])
def test_clocks_are_the_same_again(until: int) -> None:
    found = clocks(run(20, one=lambda at: 700 if at < until else -900))
    said = json.loads(json.dumps(clocks_as_json(found)))
    assert (found.corrects, bool(found.steps)) == (True, until < 20_000)
    assert clocks_of_json(said) == found
    assert told(said) == (found, [])


def test_without_clocks_nothing_is_told() -> None:
    problems = Problems()
    assert clocks_told(Stated(header=Header(), file="a.jsonl"), 1, problems) is None
    assert problems.count == 0


@pytest.mark.parametrize(
    "change",
    [
        {"clocks": 3},
        {"clocks": [{}]},
        {"held_up": "20"},
        {"held_up": 1 << 63},
        {"steps": [[1, 2]]},
        {"steps": [[1, 2, [["one", 0]], [3]]]},
        {"steps": [[1, 2, [[4, 0]], []]]},
    ],
)
def test_what_are_no_clocks_is_a_problem_of_the_header(change: dict[str, Any]) -> None:
    said = clocks_as_json(clocks(run(20, one=lambda _: 700)))
    assert told({**said, **change}) == (None, [Trouble.HEADER])


@pytest.mark.parametrize("runs", [[[1, [], []]], [[1, [2], [3, 4]]], [[1, [2.5], [3]]], [[1, 2, 3]], [7]])
def test_runs_that_cannot_be_are_a_problem_of_the_header(runs: Any) -> None:
    said = clocks_as_json(clocks(run(20, one=lambda _: 700)))
    said["clocks"][0]["runs"] = runs
    assert told(said) == (None, [Trouble.HEADER])


@pytest.mark.parametrize("said", [7, "clocks", [], {}])
def test_other_values_are_a_problem_of_the_header(said: Any) -> None:
    assert told(said) == (None, [Trouble.HEADER])
