"""Writing: what is written is read again, and nothing half written has the name of a trace."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.kinds import Path as Way
from rocketproof.traces.format.schema import ARROW, FIELDS, Group, Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.io.events import SPANS, WORDS, batch_of
from rocketproof.traces.io.stray_times import strays_of
from rocketproof.traces.io.writing import JsonlWriter, ParquetWriter, conformed, convert, write_jsonl

from ..recordings import delivery, offsets, rows

texts = st.text(st.characters(codec="utf-8"), max_size=6)


def values(name: str, type_: pa.DataType) -> st.SearchStrategy[Any]:
    if name in SPANS:
        return st.integers(*SPANS[name])
    if name in WORDS:
        return st.sampled_from(sorted(WORDS[name]))
    return st.lists(texts, max_size=3) if pa.types.is_list(type_) else texts


events = st.fixed_dictionaries(
    {"time": values("time", pa.int64()), "kind": values("kind", pa.string()), "seq": values("seq", pa.int64())},
    optional={
        field.name: values(field.name, field.type) for field in FIELDS if field.name not in ("time", "kind", "seq")
    },
)
unknown = st.dictionaries(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=3).map("x".__add__),
    st.none() | st.booleans() | st.integers() | texts | st.lists(st.integers(), max_size=2),
    max_size=2,
)
headers = st.builds(
    Header,
    source=texts,
    evidence=st.frozensets(st.sampled_from(Kind)),
    delays=st.sampled_from(["", "1s 5s", "10m"]),
    release=texts,
    groups=st.dictionaries(
        texts,
        st.builds(
            Group,
            mode=st.sampled_from(["clustering", "broadcasting"]),
            listener=st.sampled_from(["concurrently", "orderly"]),
            max_attempts=st.none() | st.integers(-(2**31) + 1, 2**31 - 1),
            strategy=texts,
        ),
        max_size=2,
    ),
    complete=st.booleans(),
    extra=unknown,
)


@given(
    header=headers,
    given_events=st.lists(st.tuples(events, unknown), min_size=1, max_size=5),
    suffix=st.sampled_from(["", ".gz", ".zst"]),
)
def test_jsonl_and_parquet_say_the_same(
    header: Header, given_events: list[tuple[dict[str, Any], dict[str, Any]]], suffix: str
) -> None:
    lines = [{**event, **more} for event, more in given_events]
    assume(not len(strays_of([batch_of([event for event, _ in given_events])])))  # which are left out
    with tempfile.TemporaryDirectory() as name:
        first = Path(name) / f"a.jsonl{suffix}"
        # A member that is null is the same as none.
        assert write_jsonl(first, header, lines) == len(lines)
        trace = open_trace([first])
        assert trace.header == header
        assert rows(trace.batches()) == [event for event, _ in given_events]
        assert convert(trace, Path(name) / "b.parquet") == len(lines)
        again = open_trace([Path(name) / "b.parquet"])
        assert again.header == header
        assert rows(again.batches()) == [event for event, _ in given_events]
        assert convert(again, Path(name) / "c.jsonl") == len(lines)
        read = [json.loads(line) for line in (Path(name) / "c.jsonl").read_bytes().split(b"\n")[1:-1]]
        assert read == [{key: value for key, value in line.items() if value is not None} for line in lines]
        assert trace.problems.count == again.problems.count == 0


def test_row_groups_have_their_size_and_batches_any(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.parquet"
    with ParquetWriter(path, Header(), rows_in_group=10) as writer:
        for start in range(0, 25, 7):
            writer.write(batch_of([delivery(number) for number in range(start, min(start + 7, 25))]))
    metadata = pq.read_metadata(path)
    assert [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)] == [10, 10, 5]
    assert writer.rows == 25
    assert offsets(open_trace([path]).batches()) == list(range(25))


def test_words_stay_dictionaries_and_numbers_differences(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    with ParquetWriter(path, Header()) as writer:
        for client in "ab":
            writer.write(batch_of([delivery(number, client=client, origin=5) for number in range(3)]))
    group = pq.read_metadata(path).row_group(0)
    encodings = {group.column(at).path_in_schema: group.column(at).encodings for at in range(group.num_columns)}
    assert set(encodings["time"]) == {"RLE", "DELTA_BINARY_PACKED"}
    assert set(encodings["client"]) == {"PLAIN", "RLE", "RLE_DICTIONARY"}
    assert set(encodings["origin"]) == {"PLAIN", "RLE"}
    assert group.column(0).compression == "LZ4"


def test_a_file_has_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_text("old")
    writer = ParquetWriter(path, Header())
    writer.write(batch_of([delivery(1)]))
    assert path.read_text() == "old"
    writer.close()
    assert offsets(open_trace([path]).batches()) == [1]
    assert [file.name for file in tmp_path.iterdir()] == ["a.parquet"]


def write_all(writer: ParquetWriter, batches: Any) -> None:
    with writer:
        for batch in batches:
            writer.write(batch)


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    def failing() -> Any:
        yield batch_of([delivery(1)])
        raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        write_jsonl(tmp_path / "a.jsonl", Header(), failing())
    with pytest.raises(ValueError, match="stop"):
        write_all(ParquetWriter(tmp_path / "a.parquet", Header()), failing())
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file" / "a.parquet", tmp_path / "file" / "a.jsonl"):
        with pytest.raises(TraceError, match=rf"{path.name}: cannot be written: "):
            ParquetWriter(path, Header()) if path.suffix == ".parquet" else write_jsonl(path, Header(), [])


def test_columns_are_completed_and_converted() -> None:
    given = pa.record_batch({"kind": ["pull"], "time": pa.array([3], pa.int32()), "other": [1]})
    batch = conformed(given)
    assert batch.schema == ARROW
    assert rows([batch]) == [{"time": 3, "kind": "pull"}]
    with pytest.raises(TraceError, match="column queue is int64, int32 is needed"):
        conformed(pa.record_batch({"time": [1], "kind": ["pull"], "queue": [2**31]}))


def test_all_words_can_be_written(tmp_path: Path) -> None:
    words = [{"time": 1, "kind": str(kind)} for kind in Kind]
    words += [{"time": 1, "kind": "result", "result": str(result)} for result in Result]
    words += [{"time": 1, "kind": "commit", "path": str(way)} for way in Way]
    write_jsonl(tmp_path / "a.jsonl", Header(), words)
    trace = open_trace([tmp_path / "a.jsonl"])
    assert [{**row, "seq": 0} for row in rows(trace.batches())] == [{**word, "seq": 0} for word in words]
    assert trace.problems.count == 0
    assert os.listdir(tmp_path) == ["a.jsonl"]


@pytest.mark.parametrize("kind", [ParquetWriter, JsonlWriter])
def test_a_file_that_cannot_be_completed_leaves_nothing(
    kind: type[ParquetWriter | JsonlWriter], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError("no room")

    writer = kind(tmp_path / "a", Header())
    writer.write(batch_of([delivery(1)]))
    monkeypatch.setattr(writer, "_finish", full)
    with pytest.raises(OSError, match="no room"):
        writer.close()
    assert list(tmp_path.iterdir()) == []
