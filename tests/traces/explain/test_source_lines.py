from __future__ import annotations

import gzip
import json
from pathlib import Path

from rocketproof.traces.explain.source_lines import Place, locations, pieces
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import Trace, open_trace
from rocketproof.traces.io.writing import ParquetWriter, write_jsonl

EVENTS = [{"time": time, "seq": 1000 - time, "kind": "deliver", "client": "c"} for time in range(5)]
HEADER = json.dumps({"rocketproof_trace": 1})


def numbers(trace: Trace) -> list[str]:
    """The places of all events."""
    every = [(piece.file, piece.first + at) for piece in pieces(trace, rows=2) for at in range(len(piece.batch))]
    placed = locations(trace, every)
    return [str(placed[each]) for each in every]


def test_lines_of_a_file_with_a_header(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "t.jsonl", Header(), EVENTS)
    assert numbers(open_trace([tmp_path / "t.jsonl"])) == [f"{tmp_path}/t.jsonl:{line}" for line in range(2, 7)]


def test_lines_beside_blank_and_damaged_ones(tmp_path: Path) -> None:
    texts = [json.dumps(event) for event in EVENTS]
    lines = [HEADER, texts[0], "", "{broken", texts[1], json.dumps({"kind": "deliver"}), texts[2], "  ", texts[3]]
    (tmp_path / "t.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    found = numbers(open_trace([tmp_path / "t.jsonl.gz"]))
    assert [place.rpartition(":")[2] for place in found] == ["2", "5", "7", "9"]


def test_lines_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(event) + "\n" for event in EVENTS))
    found = numbers(open_trace([tmp_path / "t.jsonl"]))
    assert [place.rpartition(":")[2] for place in found] == ["1", "2", "3", "4", "5"]


def test_rows_of_several_files(tmp_path: Path) -> None:
    import pyarrow as pa

    from rocketproof.traces.format.schema import ARROW

    for day, name in enumerate(("a.parquet", "b.parquet")):
        events = [{**event, "time": event["time"] + day * 86_400_000} for event in EVENTS[:3]]
        with ParquetWriter(tmp_path / name, Header()) as writer:
            writer.write(pa.RecordBatch.from_pylist(events, schema=ARROW))
    found = numbers(open_trace([tmp_path]))
    assert found == [f"{tmp_path}/{name} row {row}" for name in ("a.parquet", "b.parquet") for row in (1, 2, 3)]


def test_files_that_were_read_together_are_each_named_within_their_folder() -> None:
    place = Place("/rec/a.jsonl, /rec/b.jsonl", 1_203, "event")
    assert place.within("/rec") == "a.jsonl, b.jsonl event 1,203"
    assert str(place) == "/rec/a.jsonl, /rec/b.jsonl event 1,203"
