"""docs/trace-format.md is made from the schema, says something of every word, and its example is a trace."""

import subprocess
import sys
from pathlib import Path

import pytest

from rocketproof.traces.format import kinds, schema_doc
from rocketproof.traces.format.schema import BY_NAME
from rocketproof.traces.io import open_trace

pytestmark = pytest.mark.quality

PAGE = Path(__file__).resolve().parents[3] / "docs" / "trace-format.md"


def test_the_page_is_up_to_date() -> None:
    fresh = schema_doc.page()
    assert PAGE.read_text(encoding="utf-8") == fresh, (
        "python -m rocketproof.traces.format.schema_doc > docs/trace-format.md"
    )


def test_the_page_is_printed() -> None:
    """A process that imports the schema first, as the command does."""
    command = [sys.executable, "-m", "rocketproof.traces.format.schema_doc"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == PAGE.read_text("utf-8")


def test_every_word_is_described_in_order() -> None:
    assert list(schema_doc.KINDS) == list(kinds.Kind)
    assert list(schema_doc.RESULTS) == [word for word in kinds.Result if word]
    assert list(schema_doc.PATHS) == [word for word in kinds.Path if word]


def test_fields_of_kinds_are_fields() -> None:
    for _, fields, _ in schema_doc.KINDS.values():
        assert {part for item in fields.split(", ") for part in item.split(" or ") if part} <= set(BY_NAME)


def test_the_example_is_a_trace(tmp_path: Path) -> None:
    example = PAGE.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    (tmp_path / "example.jsonl").write_text(example, encoding="utf-8")
    trace = open_trace([tmp_path / "example.jsonl"], strict=True)
    assert [batch.column("kind").to_pylist() for batch in trace.batches()] == [["deliver", "result"]]
    assert trace.header.groups["orders"].listener == "orderly"
