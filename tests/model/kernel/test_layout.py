"""Packed states: width, words, and the way back."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.model.examples import EXAMPLES
from rocketproof.model.kernel import Int, Machine, ModelError, lower
from rocketproof.model.kernel.layout import Layout, layout

pytestmark = pytest.mark.smoke


def of(*ranges: tuple[int, int]) -> Layout:
    machine = Machine("example")
    for number, (low, high) in enumerate(ranges):
        machine.variable(f"x{number}", Int(low, high))
    return layout(lower(machine.configure()))


def test_a_cell_takes_the_bits_of_its_range() -> None:
    made = of((0, 1), (-3, 4), (5, 5), (0, 8), (-(2**63), 2**63 - 1))
    assert [place.width for place in made.places] == [1, 3, 0, 4, 64]
    assert [place.low for place in made.places] == [0, -3, 5, 0, -(2**63)]
    assert made.words == 2


def test_no_cell_straddles_two_words_and_later_small_ones_fill_the_gaps() -> None:
    made = of((0, 2**40), (0, 2**40), (0, 2**20))
    assert [(place.word, place.shift) for place in made.places] == [(0, 0), (1, 0), (0, 41)]
    assert made.words == 2
    assert made.places[2].mask == (2**21 - 1) << 41


@pytest.mark.parametrize(
    ("example", "configuration", "bits"),
    [("two_phase_commit", "three", 3 * 2 + 2 + 3 + 3 + 2), ("peterson", "right", 7), ("bounded_buffer", "small", 17)],
)
def test_examples_take_few_bits(example: str, configuration: str, bits: int) -> None:
    made = layout(lower(EXAMPLES[example].configurations[configuration].configuration))
    assert (sum(place.width for place in made.places), made.words) == (bits, 1)


def test_too_wide_a_range_is_an_error() -> None:
    with pytest.raises(
        ModelError, match="variable x0 ranges over 0…18446744073709551616, which takes more than 64 bits"
    ):
        of((0, 2**64))


RANGES = st.lists(
    st.tuples(st.integers(-(2**40), 2**40), st.integers(0, 2**45)).map(lambda item: (item[0], sum(item))),
    min_size=1,
    max_size=12,
)


@given(RANGES, st.data())
def test_unpacking_undoes_packing(ranges: list[tuple[int, int]], data: st.DataObject) -> None:
    made = of(*ranges)
    state = tuple(data.draw(st.integers(low, high)) for low, high in ranges)
    words = made.pack(state)
    assert len(words) == made.words
    assert all(0 <= word < 2**64 for word in words)
    assert made.unpack(words) == state


def test_different_states_have_different_words() -> None:
    made = of((0, 3), (-1, 1), (4, 6))
    states = itertools.product(range(4), range(-1, 2), range(4, 7))
    assert len({made.pack(state) for state in states}) == 36
