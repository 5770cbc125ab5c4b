"""The order of events: by time, file, seq and place, however much memory there is."""

import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import open_trace, sorting
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.io.writing import ParquetWriter, write_jsonl

Event = tuple[int, int]  # time and seq

files_of_events = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=12), min_size=1, max_size=5
)


def write(folder: Path, files: list[list[Event]], *, parquet: bool) -> None:
    for number, events in enumerate(files):
        rows: list[dict[str, Any]] = [
            {"time": time, "kind": "deliver", "seq": seq, "queue": number, "offset": place, "client": f"c{place % 3}"}
            for place, (time, seq) in enumerate(events)
        ]
        if parquet:
            with ParquetWriter(folder / f"{number}.parquet", Header(), rows_in_group=4) as writer:
                writer.write(batch_of(rows))
        else:
            write_jsonl(folder / f"{number}.jsonl", Header(), rows)


def expected(files: list[list[Event]]) -> list[tuple[int, int]]:
    """File and place of each event, in order."""
    keys = [(time, file, seq, place) for file, events in enumerate(files) for place, (time, seq) in enumerate(events)]
    return [(file, place) for _, file, _, place in sorted(keys)]


def order(folder: Path, **options: int) -> list[tuple[int, int]]:
    batches = list(open_trace([folder]).sorted_batches(["queue", "offset", "client"], **options))
    read = [row for batch in batches for row in batch.to_pylist()]
    assert all(row["client"] == f"c{row['offset'] % 3}" for row in read)
    assert all(len(batch) <= options.get("rows", 1 << 18) for batch in batches)
    return [(row["queue"], row["offset"]) for row in read]


@given(
    files=files_of_events, parquet=st.booleans(), presorted=st.booleans(), memory=st.sampled_from([1, 3_000, 1 << 30])
)
def test_order_is_the_same_whatever_the_memory(
    files: list[list[Event]], parquet: bool, presorted: bool, memory: int
) -> None:
    files = [sorted(events) for events in files] if presorted else files
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorting, "_PIECE", 3)
        write(Path(name), files, parquet=parquet)
        assert order(Path(name), memory_bytes=memory, rows=5) == expected(files)


@pytest.mark.parametrize("memory", [100_000, 1 << 30])
def test_more_events_than_fit_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    monkeypatch.setattr(sorting, "_PIECE", 500)
    made = random.Random(3)
    files = [[(made.randrange(5_000), place) for place in range(4_000)] for _ in range(3)]
    write(tmp_path, files, parquet=False)
    spilled: list[Path] = []
    monkeypatch.setattr(sorting, "_spilled", lambda path, read=sorting._spilled: (spilled.append(path), read(path))[1])
    assert order(tmp_path, memory_bytes=memory) == expected(files)
    assert (len(spilled) > 3) == (memory == 100_000)
    assert not any(path.exists() for path in spilled)


def test_runs_in_files_are_removed_when_reading_stops_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    (tmp_path / "trace").mkdir()
    write(tmp_path / "trace", [[(9 - number % 10, 0) for number in range(1_000)]], parquet=False)
    batches = open_trace([tmp_path / "trace"]).sorted_batches(rows=10, memory_bytes=1)
    next(batches)
    assert len(list(temporary.iterdir())) == 1
    batches.close()
    assert list(temporary.iterdir()) == []


def test_a_folder_that_takes_nothing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, [[(9 - number % 10, 0) for number in range(1_000)]], parquet=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(TraceError, match=r"cannot be kept in .*/missing: No such file or directory\. Make room there"):
        list(open_trace([tmp_path]).sorted_batches(rows=10, memory_bytes=1))


def test_files_in_order_are_opened_when_they_are_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [[(4 * number + step, step) for step in range(4)] for number in range(20)]
    write(tmp_path, files, parquet=True)
    opened: list[int] = []
    show = sorting._Head.__init__
    monkeypatch.setattr(
        sorting._Head, "__init__", lambda self, place, run: (opened.append(place), show(self, place, run))[1]
    )
    batches = open_trace([tmp_path]).sorted_batches(["time"])
    assert next(batches).column("time").to_pylist() == list(range(4))
    assert len(opened) == 1
    times = [value for batch in batches for value in batch.column("time").to_pylist()]
    assert times == list(range(4, 80))
