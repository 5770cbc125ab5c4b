"""Reading ahead gives the same items, raises what went wrong, and leaves no thread behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from rocketproof.traces.io.read_ahead import read_ahead


def test_the_same_items_in_the_same_order() -> None:
    assert list(read_ahead(iter(range(1000)), most=2)) == list(range(1000))
    assert list(read_ahead(iter(()))) == []


def test_one_item_is_made_at_a_time() -> None:
    def items() -> Iterator[int]:
        for item in range(3):
            time.sleep(0.01)
            yield item

    assert list(read_ahead(items())) == [0, 1, 2]


def test_what_goes_wrong_is_raised_after_the_items_before_it() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken")

    given = read_ahead(items())
    assert next(given) == 1
    with pytest.raises(ValueError, match="broken"):
        next(given)


def test_who_stops_early_leaves_no_thread() -> None:
    before = threading.active_count()
    given = read_ahead(iter(range(10**9)))
    assert next(given) == 0
    given.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
