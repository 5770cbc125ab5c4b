"""A recording that goes on is seen as before: the pieces of its time, and the clock that others are held against."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rocketproof.traces.clocks.bounds import STEP, bounds_of
from rocketproof.traces.clocks.clocks import _references
from rocketproof.traces.encoding.names import Actor


def matched(seconds: int) -> Any:
    """A pair each second, of a client and a broker."""
    times = np.arange(seconds + 1, dtype=np.int64) * 1_000_000
    one, other = np.zeros(len(times), np.int32), np.ones(len(times), np.int32)
    coarse = np.zeros(2, np.int64)
    return SimpleNamespace(earlier=one, later=other, earlier_time=times, later_time=times + 1_000, coarse=coarse)


@pytest.mark.parametrize(
    ("seconds", "steps", "pieces"), [(10, 1, 6), (1_023, 1, 512), (1_024, 2, 257), (2_047, 2, 512), (2_048, 4, 257)]
)
def test_pieces_stay_until_a_recording_is_twice_as_long(seconds: int, steps: int, pieces: int) -> None:
    found = bounds_of(matched(seconds))
    assert (found.begin, found.length, len(found.direct)) == (0, steps * STEP, pieces)


@pytest.mark.parametrize(("weights", "hub"), [((9, 8, 10), 1), ((9, 8, 16), 2), ((16, 8, 9), 0)])
def test_the_reference_is_another_one_only_where_it_has_far_more_pairs(weights: tuple[int, ...], hub: int) -> None:
    """With about as many pairs it is a broker, and of two brokers the first by name."""
    pairs = SimpleNamespace(recorders=(Actor("10.0.0.1@4711", 0), Actor("broker-a", -1), Actor("broker-b", -1)))
    bounds = SimpleNamespace(recorders=np.arange(3), direct=np.zeros((1, 3, 3), np.int64))
    assert _references(bounds, np.array(weights), pairs) == [hub] * 3
