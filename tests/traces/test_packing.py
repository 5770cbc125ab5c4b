"""Packed events come out as they were put in, from memory and from the file, and take less room."""

from __future__ import annotations

import tempfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.traces.coding import Coded
from rocketproof.traces.errors import TraceError
from rocketproof.traces.packing import Shelf, pack
from rocketproof.traces.schema import ABSENT

TYPES = {
    "time": np.int64,
    "kind": np.uint8,
    "result": np.uint8,
    "path": np.uint8,
    "slot": np.int32,
    "actor": np.int32,
    "offset": np.int64,
    "next": np.int64,
    "low": np.int64,
    "high": np.int64,
    "count": np.int32,
    "origin": np.int64,
    "attempt": np.int32,
    "level": np.int32,
    "due": np.int64,
    "max_attempts": np.int32,
}


def coded(values: dict[str, list[int]], length: int) -> Coded:
    """Events whose other columns are 0."""
    columns: dict[str, Any] = {name: np.array(values.get(name, [0] * length), type_) for name, type_ in TYPES.items()}
    return Coded(**columns)


def assert_equal(found: Coded, expected: Coded) -> None:
    for item in fields(Coded):
        one, other = getattr(found, item.name), getattr(expected, item.name)
        assert one.dtype == other.dtype, item.name
        assert one.tolist() == other.tolist(), item.name
        assert not one.flags.writeable


@st.composite
def columns(draw: st.DrawFn) -> Coded:
    length = draw(st.integers(0, 40))
    values = {}
    for name, type_ in TYPES.items():
        span = np.iinfo(type_)
        # Few values far apart, small ones, and what is absent: every form of a packed column occurs.
        low, high = draw(st.sampled_from([(0, 0), (0, 200), (-3, 60_000), (int(span.min), int(span.max))]))
        some = st.integers(max(low, int(span.min)), min(high, int(span.max)))
        absent = st.just(ABSENT) if span.min <= ABSENT else some
        one = draw(st.sampled_from([some, st.one_of(absent, absent, absent, absent, some)]))
        values[name] = draw(st.lists(one, min_size=length, max_size=length))
    return coded(values, length)


@given(columns())
def test_unpacked_events_are_the_same(events: Coded) -> None:
    assert_equal(pack(events).unpack(), events)


def test_each_column_takes_as_little_room_as_it_can() -> None:
    length = 100_000
    near = [1_767_225_600_000 + place // 10 for place in range(length)]
    rare = [ABSENT] * length
    rare[77] = 2**40
    packed = pack(coded({"time": near, "due": rare, "origin": list(range(length))}, length))
    # Two bytes of time, eight of origin, which are not looked at, and nearly nothing of all others.
    assert 10 * length <= packed.nbytes <= 10 * length + 100
    assert_equal(packed.unpack(), coded({"time": near, "due": rare, "origin": list(range(length))}, length))


@pytest.mark.parametrize("memory", [0, 150, 1 << 20])
def test_a_shelf_keeps_what_has_room_and_the_rest_in_a_file(memory: int) -> None:
    shelf = Shelf(memory)
    some = [coded({"origin": [place, 5, -place]}, 3) for place in range(20)]
    kept = [shelf.put(pack(events)) for events in some]
    in_file = [item for item in kept if isinstance(item, int)]
    assert len(in_file) == (0 if memory == 1 << 20 else 20 - memory // 24)
    for _ in range(2):
        for item, events in zip(kept, some, strict=True):
            assert_equal(shelf.take(item).unpack(), events)
    shelf.close()


def test_a_folder_that_takes_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(TraceError) as told:
        Shelf(0).put(pack(coded({}, 3)))
    assert str(told.value) == (
        f"what does not fit in memory cannot be kept in {tmp_path / 'missing'}: No such file or directory. "
        "Make room there, or name another folder in TMPDIR."
    )
