"""Columns of whole numbers: what is done to all values of them at once is what one would do to each."""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.traces.encoding.columns import Chosen, Column, read_only

Values = list[int | None]


@st.composite
def arrays(draw: st.DrawFn) -> tuple[pa.Array, Values]:
    """An array of Arrow, often a part of a longer one, with long and short runs of nulls."""
    runs = draw(st.lists(st.tuples(st.integers(1, 20), st.none() | st.integers(-100, 100)), min_size=1, max_size=12))
    singles = draw(st.lists(st.none() | st.integers(-(2**31) + 1, 2**31 - 1), max_size=20))
    values: Values = [value for count, value in runs for _ in range(count)] + singles
    first = draw(st.integers(0, len(values) - 1))
    end = draw(st.integers(first + 1, len(values)))
    type_ = draw(st.sampled_from([pa.int32(), pa.int64()]))
    return pa.array(values, type_)[first:end], values[first:end]


@given(arrays())
def test_missing_values_are_filled(array: tuple[pa.Array, Values]) -> None:
    given_, values = array
    column = Column.of(given_)
    assert len(column) == len(values)
    assert column.missing == values.count(None)
    for type_ in (np.int32, np.int64):
        filled = column.filled(-(2**31), type_)
        assert filled.tolist() == [-(2**31) if value is None else value for value in values]
        assert filled.dtype == type_
        assert not filled.flags.writeable


@given(arrays())
def test_all_values_that_are_there_lie_in_the_span(array: tuple[pa.Array, Values]) -> None:
    low, high = Column.of(array[0]).span()
    there = [value for value in array[1] if value is not None]
    assert all(low <= value <= high for value in there)
    if len(there) == len(array[1]):
        assert (low, high) == (min(there), max(there))


@given(arrays())
def test_values_are_picked_and_written_without_a_base(array: tuple[pa.Array, Values]) -> None:
    given_, values = array
    column = Column.of(given_)
    there = [(place, value) for place, value in enumerate(values) if value is not None]
    if column.missing:
        picked, places = np.empty(len(there), column.values.dtype), np.empty(len(there), np.uint32)
        column.pick(picked, places)
        assert list(zip(places.tolist(), picked.tolist(), strict=True)) == there
    out = np.empty(len(values), np.int64)
    column.less(7, 0, out)
    assert out.tolist() == [0 if value is None else value - 7 for value in values]


@given(st.lists(st.none() | st.integers(0, 3), min_size=1, max_size=40))
def test_words_are_looked_up_and_counted(values: Values) -> None:
    column = Column.of(pa.array(values, pa.int32()))
    table = read_only(np.array([10, 11, 12, 13, 99], np.uint8))
    assert column.looked_up(table).tolist() == [99 if value is None else 10 + value for value in values]
    assert column.occurring(5) == [place in values for place in range(5)]


@pytest.mark.parametrize("length", [0, 1, 8, 11])
def test_a_column_of_nothing_is_filled_with_what_stands_for_it(length: int) -> None:
    column = Column.none(length, np.int64)
    assert (len(column), column.missing) == (length, length)
    assert column.filled(-5, np.int64).tolist() == [-5] * length
    assert Column.of(pa.nulls(length, pa.int32())).filled(-5, np.int32).tolist() == [-5] * length
    assert Column.whole(np.empty(0, np.int64)).span() == (0, 0)


def test_a_whole_column_stays_where_it_is() -> None:
    values = np.arange(5)
    column = Column.whole(values)
    assert np.shares_memory(column.filled(0, np.int64), values)
    out = np.empty(5, np.int64)
    column.less(0, 0, out)
    assert out.tolist() == [0, 1, 2, 3, 4]


@given(arrays(), st.randoms(use_true_random=False))
def test_chosen_values_are_a_column_of_them(array: tuple[pa.Array, Values], random: Random) -> None:
    given_, values = array
    absent = -(2**31)
    places = [place for place in range(len(values)) if random.random() < 0.7]
    random.shuffle(places)
    chosen = Chosen.of(Column.of(given_).filled(absent, np.int64), np.array(places, np.int64), absent)
    expected = [values[place] for place in places]
    there = [(place, value) for place, value in enumerate(expected) if value is not None]
    known = [value for _, value in there]
    assert (len(chosen), chosen.missing) == (len(expected), expected.count(None))
    assert chosen.span() == ((min(known), max(known)) if known else (0, 0))
    out = np.empty(len(expected), np.int64)
    chosen.less(7, 0, out)
    assert out.tolist() == [0 if value is None else value - 7 for value in expected]
    picked, at = np.empty(len(there), np.int64), np.empty(len(there), np.uint32)
    chosen.pick(picked, at)
    assert list(zip(at.tolist(), picked.tolist(), strict=True)) == there
