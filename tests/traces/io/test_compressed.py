"""Packed files, whole and broken off."""

import gzip
import random
from pathlib import Path

import pyarrow as pa
import pytest

from rocketproof.traces.io import Problems, open_trace
from rocketproof.traces.io.compressed import blocks_of, lines_of, order_of, pieces_of

from ..recordings import HEADER, delivery, offsets, text, told


def packed(data: bytes, codec: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as out:
        out.write(data)
    return bytes(sink.getvalue())


def incompressible(count: int) -> bytes:
    return random.Random(1).randbytes(count).hex().encode()


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_packing_is_told_by_content(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "trace"
    path.write_bytes(packed(text(HEADER, *map(delivery, range(100))).encode(), codec))
    trace = open_trace([path])
    assert offsets(trace.batches()) == list(range(100))
    assert trace.problems.count == 0


def test_files_packed_one_after_another_are_one(tmp_path: Path) -> None:
    path = tmp_path / "trace.gz"
    path.write_bytes(gzip.compress(text(HEADER, delivery(1)).encode()) + gzip.compress(text(delivery(2)).encode()))
    assert offsets(open_trace([path]).batches()) == [1, 2]


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_everything_before_a_break_is_read(tmp_path: Path, codec: str) -> None:
    data = incompressible(300_000)
    whole = packed(data, codec)
    path = tmp_path / "cut"
    path.write_bytes(whole[: len(whole) * 2 // 3])
    problems = Problems()
    read = b"".join(pieces_of(path, problems))
    assert data.startswith(read)
    # zstd unpacks blocks of 128 KiB; what is cut off of one costs all of it.
    assert len(data) * 2 // 3 - len(read) < (1_000 if codec == "gzip" else 131_072)
    assert [(problem.line, problem.kind.name) for problem in problems.kept] == [(0, "TRUNCATED")]


def test_a_break_is_told_beside_the_line_it_cuts(tmp_path: Path) -> None:
    whole = gzip.compress(text(HEADER, *map(delivery, range(2_000))).encode())
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(whole[: len(whole) // 2])
    trace = open_trace([path])
    read = offsets(trace.batches())
    list(trace.batches())
    assert read == list(range(len(read)))
    assert 900 < len(read) < 1_100
    assert told(trace) == [(0, "TRUNCATED"), (len(read) + 2, "DAMAGED")]


def test_rubbish_behind_a_packed_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress(text(HEADER, delivery(1)).encode()) + b"rubbish")
    trace = open_trace([path])
    assert offsets(trace.batches()) == [1]
    assert told(trace) == [(0, "TRUNCATED")]


@pytest.mark.parametrize("size", [1, 7, 100, 10_000])
def test_blocks_are_whole_lines_with_their_numbers(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rocketproof.traces.io.compressed._PIECE", 13)
    path = tmp_path / "a"
    lines = ["a" * (number % 40) for number in range(200)]
    path.write_text("\n".join(lines))
    read = []
    for first, block in blocks_of(path, Problems(), size=size):
        assert block.endswith(b"\n")
        read += list(enumerate(block.decode().split("\n")[:-1], first))
    assert read == list(enumerate(lines, 1))


def test_lines_of_a_log_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress("first\r\nzweite Übung\nlast".encode("latin-1")))
    assert list(lines_of(path, Problems())) == [(1, "first"), (2, "zweite �bung"), (3, "last")]


@pytest.mark.parametrize(
    ("one", "other", "order"),
    [(b"abc", b"abc", 0), (b"ab", b"abc", -1), (b"abc", b"ab", 1), (b"abc", b"abd", None), (b"", b"a", -1)],
)
def test_one_file_may_be_the_beginning_of_another(one: bytes, other: bytes, order: int | None, tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "other.gz"
    first.write_bytes(one)
    second.write_bytes(gzip.compress(other))
    assert order_of(first, second) == order
