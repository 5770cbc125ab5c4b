"""Shares of queues and messages: each is in one of them, and all events of it are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from rocketproof.traces.encoding.coding import TYPES, UNKNOWN_KIND, Coded
from rocketproof.traces.encoding.shares import Share

LENGTH = 10_000


def events() -> Coded:
    chance = np.random.default_rng(5)
    drawn: dict[str, Any] = {"slot": chance.integers(-1, 50, LENGTH), "origin": chance.integers(-500, 500, LENGTH)}
    columns = {name: drawn.get(name, np.full(LENGTH, 7)).astype(type_) for name, type_ in TYPES.items()}
    return Coded(**columns)


@pytest.mark.parametrize("count", [2, 3, 7])
def test_every_queue_and_every_message_is_in_one_share(count: int) -> None:
    coded = events()
    shares = [Share(number, count) for number in range(count)]
    slots = np.array([share.of_queues(coded).slot for share in shares])
    assert (np.count_nonzero(slots >= 0, axis=0) == (coded.slot >= 0)).all()
    assert (slots.max(axis=0) == coded.slot).all()
    kinds = np.array([share.of_messages(coded).kind for share in shares])
    assert (np.count_nonzero(kinds == 7, axis=0) == 1).all()
    assert set(np.unique(kinds)) == {7, UNKNOWN_KIND}
    for keys, is_of in ((coded.slot, slots >= 0), (coded.origin, kinds == 7)):
        homes = Counter(
            key for chosen in is_of for key in set(keys[chosen].tolist()) if key != -1 or keys is not coded.slot
        )
        assert set(homes.values()) == {1}
    # None of them has much more than its part.
    assert np.count_nonzero(kinds == 7, axis=1).max() < 1.5 * LENGTH / count


def test_a_single_share_is_everything() -> None:
    coded = events()
    assert Share(0, 1).of_queues(coded) is coded
    assert Share(0, 1).of_messages(coded) is coded
