"""Parsing blocks at once and parsing line by line must tell the same of any bytes."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.schema import ARROW
from rocketproof.traces.io import EXTRA, jsonl, open_trace

from ..recordings import HEADER, delivery, text

PARTS = [
    b"\n",
    b"\r\n",
    b" ",
    b"{",
    b"}",
    b"null",
    b'{"time": 1, "kind": "pull"}',
    b'"offset": -1',
    b'"time": 1.0,',
    b'"extra": {},',
    b'"time": null,',
    b'"kind": "levitate",',
    b"\xff",
    b"\0",
    b"9" * 20,
    b"\\ud800",
    b"[1, {}]",
    b"NaN",
    b",",
    b'"',
]
edits = st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(PARTS), st.integers(0, 3)), min_size=1, max_size=4)


def read(path: Path) -> tuple[Any, list[str]]:
    try:
        trace = open_trace([path], format="jsonl")
        events = [row for batch in trace.batches((*ARROW.names, EXTRA)) for row in batch.to_pylist()]
    except TraceError as error:
        return str(error), []
    return events, [str(problem) for problem in trace.problems.kept]


@given(edits=edits, extra=st.booleans())
def test_both_ways_of_parsing_agree(edits: list[tuple[int, bytes, int]], extra: bool) -> None:
    data = text(*(delivery(number, **({"zone": 1} if extra else {})) for number in range(6))).encode()
    for place, part, removed in edits:
        at = place % (len(data) + 1)
        data = data[:at] + part + data[at + removed :]
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        path = Path(name) / "a.jsonl"
        path.write_bytes(text(HEADER).encode() + data)
        patch.setattr(jsonl.JsonLines._block, "__kwdefaults__", {"finer": (300, 1)})
        at_once = read(path)
        patch.setattr(jsonl, "_at_once", lambda *_, **__: None)
        assert read(path) == at_once
