"""Small recordings for tests of reading and writing, and what is read of them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from rocketproof.traces.io import Trace

HEADER = {"rocketproof_trace": 1, "source": "test", "evidence": ["deliver", "result"]}


def delivery(number: int, **more: Any) -> dict[str, Any]:
    """One delivery a second, over three queues and two clients."""
    return {
        "time": 1_000 * number,
        "kind": "deliver",
        "client": f"c{number % 2}",
        "group": "g",
        "topic": "t",
        "broker": "b",
        "queue": number % 3,
        "offset": number,
        "key": f"K{number}",
        **more,
    }


def text(*lines: Mapping[str, Any] | str) -> str:
    """Lines of a file: objects as JSON, texts as they are."""
    return "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)


def write(path: Path, *lines: Mapping[str, Any] | str) -> Path:
    """A file with these lines."""
    path.write_text(text(*lines), encoding="utf-8")
    return path


def rows(batches: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    """The events of batches without what is null."""
    return [
        {name: value for name, value in row.items() if value is not None}
        for batch in batches
        for row in batch.to_pylist()
    ]


def offsets(batches: Iterable[pa.RecordBatch]) -> list[int | None]:
    """The column offset of all events."""
    return [value for batch in batches for value in batch.column("offset").to_pylist()]


def told(trace: Trace) -> list[tuple[int, str]]:
    """Line and kind of each problem."""
    return [(problem.line, problem.kind.name) for problem in trace.problems.kept]
