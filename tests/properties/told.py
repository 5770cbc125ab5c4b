"""Outcomes of a suite, as tests compare them: their sizes, and the stories of their runs."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rocketproof.checkers.run import story
from rocketproof.checkers.suite import Outcome


def in_full(outcome: Outcome) -> str:
    """The configuration of a row."""
    return outcome.row.configuration


def told(
    outcomes: Sequence[Outcome], name: str, configuration: str, *, spelled: Callable[[Outcome], str] = in_full
) -> str:
    """The story of the row of a property in a configuration, ``spelled`` as the test spells it."""
    for outcome in outcomes:
        if (outcome.row.id, spelled(outcome)) == (name, configuration):
            assert outcome.result.run is not None
            return story(outcome.result.run)
    raise AssertionError(f"no row {name} {configuration}")


def sizes(outcomes: Iterable[Outcome], *, spelled: Callable[[Outcome], str] = in_full) -> list[tuple[Any, ...]]:
    """Property, configuration, states, transitions, and steps of the run if there is one, of each row."""
    return [
        (
            outcome.row.id,
            spelled(outcome),
            outcome.result.figures.get("states"),
            outcome.result.figures.get("transitions"),
            None if outcome.result.run is None else len(outcome.result.run),
        )
        for outcome in outcomes
    ]
