"""Packed events come out as they were put in, from memory and from the file, and take less room."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.traces.encoding.coding import TYPES, Coded
from rocketproof.traces.encoding.columns import Column
from rocketproof.traces.encoding.packing import Shelf, pack
from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.schema import ABSENT

Values = dict[str, list[int | None]]


def columns_of(values: Values, length: int) -> dict[str, Column]:
    """Columns of events, in which all others are 0."""
    arrays = {name: pa.array(values.get(name, [0] * length), pa.from_numpy_dtype(TYPES[name])) for name in TYPES}
    return {name: Column.of(array) for name, array in arrays.items()}


def coded(values: Values, length: int) -> Coded:
    """The same events, coded."""
    return Coded(**{name: column.filled(ABSENT, TYPES[name]) for name, column in columns_of(values, length).items()})


def together(some: Iterable[Coded]) -> Coded:
    parts = list(some)
    return Coded(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in TYPES})


def assert_equal(found: Coded, expected: Coded) -> None:
    for item in fields(Coded):
        one, other = getattr(found, item.name), getattr(expected, item.name)
        assert one.dtype == other.dtype, item.name
        assert one.tolist() == other.tolist(), item.name
        assert not one.flags.writeable


@st.composite
def events(draw: st.DrawFn) -> tuple[Values, int]:
    length = draw(st.integers(1, 40))
    values: Values = {}
    for name, type_ in TYPES.items():
        ends = np.iinfo(type_)
        # Few values far apart, small ones, and what is absent: every form of a packed column occurs.
        low, high = draw(st.sampled_from([(0, 0), (0, 200), (-3, 60_000), (int(ends.min), int(ends.max))]))
        some = st.integers(max(low, int(ends.min)), min(high, int(ends.max)))
        absent = st.none() if ends.min <= ABSENT and name != "origin" else some
        one = draw(st.sampled_from([some, st.one_of(absent, some), st.one_of(absent, absent, absent, absent, some)]))
        values[name] = draw(st.lists(one, min_size=length, max_size=length))
    return values, length


@given(events(), st.integers(1, 50))
def test_unpacked_events_are_the_same(given_: tuple[Values, int], rows: int) -> None:
    packed = pack(columns_of(*given_))
    parts = list(packed.unpack(rows))
    assert [len(part) for part in parts[:-1]] == [rows] * (len(parts) - 1)
    assert_equal(together(parts), coded(*given_))


def test_each_column_takes_as_little_room_as_it_can() -> None:
    length = 100_000
    near = [1_767_225_600_000 + place // 10 for place in range(length)]
    rare: list[int | None] = [None] * length
    rare[77] = 2**40
    few = [place % 200 if place % 3 else None for place in range(length)]
    values: Values = {"time": near, "due": rare, "origin": list(range(length)), "attempt": few}
    packed = pack(columns_of(values, length))
    # Two bytes of time, one of the attempt, eight of origin, which are not looked at, and nearly nothing of all others.
    assert 11 * length <= packed.nbytes <= 11 * length + 300
    assert_equal(together(packed.unpack(30_000)), coded(values, length))


@pytest.mark.parametrize("memory", [0, 150, 1 << 20])
def test_a_shelf_keeps_what_has_room_and_the_rest_in_a_file(memory: int) -> None:
    shelf = Shelf(memory)
    some: list[Values] = [{"origin": [place, 5, -place]} for place in range(20)]
    packed = [pack(columns_of(values, 3)) for values in some]
    kept = [shelf.put(one, one.nbytes) for one in packed]
    in_file = [item for item in kept if isinstance(item, int)]
    assert len(in_file) == (0 if memory == 1 << 20 else 20 - memory // 64)
    for _ in range(2):
        for item, values in zip(kept, some, strict=True):
            assert_equal(together(shelf.take(item).unpack(2)), coded(values, 3))
    shelf.close()


def test_a_folder_that_takes_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(TraceError) as told:
        Shelf(0).put(pack(columns_of({}, 3)), 1)
    assert str(told.value) == (
        f"what does not fit in memory cannot be kept in {tmp_path / 'missing'}: No such file or directory. "
        "Make room there, or name another folder in TMPDIR."
    )
