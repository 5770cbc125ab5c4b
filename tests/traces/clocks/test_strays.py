"""A pair is a stray if other queues contradict it shortly before and shortly after, by both clocks."""

from __future__ import annotations

import numpy as np
import pytest

from rocketproof.traces.clocks.observed import Matched
from rocketproof.traces.clocks.strays import BEYOND, NEAR, without_strays

AT, EARLY = 1_000_000_000, 100_000
BEFORE, AFTER = (-5_010_000, -5_000_000), (5_000_000, 5_010_000)


def kept(*others: tuple[int, int], queue: int = 1, own: tuple[tuple[int, int], ...] = ()) -> list[int]:
    """Of a pair whose effect is too early and of others the opposite way, at so many µs from it, the queues kept.

    ``own``: further pairs of another queue its own way, at so many µs from it, with an effect so many µs too early.
    """
    rows = [(1, 0, 0, 1, AT, AT - EARLY)]
    rows += [(1, 2, 0, 1, AT + from_it, AT + from_it - early) for from_it, early in own]
    rows += [(0, queue, 1, 0, AT - EARLY + earlier, AT + later) for later, earlier in others]
    columns = ("pair", "queue", "earlier", "later", "earlier_time", "later_time")
    given = {name: np.array(column) for name, column in zip(columns, zip(*rows, strict=True), strict=True)}
    matched = Matched(recorders=(), present=np.arange(2), coarse=np.zeros(2), **given)
    found: list[int] = without_strays(matched).queue.tolist()
    return found


def test_what_is_contradicted_before_and_after_is_a_stray() -> None:
    assert kept(BEFORE, AFTER) == [1, 1]


@pytest.mark.parametrize(
    "others",
    [
        (),
        (BEFORE,),
        (AFTER,),
        (BEFORE, (0, 10_000)),
        (BEFORE, (-10_000, 0), (0, 10_000)),
        (BEFORE, (NEAR - 10_000, NEAR)),
        ((-NEAR, -NEAR + 10_000), AFTER),
        ((-5_000_000 - BEYOND, -5_000_000), AFTER),
    ],
)
def test_what_is_not_is_none(others: tuple[tuple[int, int], ...]) -> None:
    assert kept(*others) == [0, *[1] * len(others)]


def test_just_within_the_time_is_enough() -> None:
    assert kept((1 - NEAR, 10_001 - NEAR), (NEAR - 10_001, NEAR - 1)) == [1, 1]


def test_the_same_queue_contradicts_nothing() -> None:
    assert kept(BEFORE, AFTER, queue=0) == [0, 0, 0]


ALIKE, MEANWHILE, FURTHER = (1_000, EARLY), (-2_000, -1_000), (6_000_000, EARLY)


def test_if_several_queues_are_early_together_a_clock_was_set() -> None:
    assert kept(BEFORE, AFTER, own=(ALIKE,)) == [0, 2, 1, 1]


def test_a_queue_that_fits_meanwhile_shows_that_none_was() -> None:
    assert kept(BEFORE, AFTER, own=(ALIKE, MEANWHILE)) == [1, 1]


def test_a_client_that_is_always_early_has_a_defect() -> None:
    assert kept(BEFORE, AFTER, own=(ALIKE, FURTHER)) == [1, 1]
