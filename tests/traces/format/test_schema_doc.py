"""docs/trace-format.md says something of every word, field and member, in their order, and its example is a trace."""

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pytest

from rocketproof.traces.clocks.as_json import MEMBER
from rocketproof.traces.format.header import MARK
from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.kinds import Path as Way
from rocketproof.traces.format.schema import BY_NAME, FIELDS, HEADER_KEY, TIMERS, VERSION, Field, Group, Header
from rocketproof.traces.io import open_trace

pytestmark = pytest.mark.quality

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "trace-format.md").read_text(encoding="utf-8")


def table(heading: str) -> list[list[str]]:
    """The cells of the first table behind a heading, or a line, without the titles."""
    _, _, rest = PAGE.partition(f"\n{heading}\n")
    found = re.search(r"(?:^\|.*\|\n)+", rest, re.MULTILINE)
    assert found, heading
    rows = [[cell.strip() for cell in line[1:-1].split(" |")] for line in found[0].splitlines() if "---" not in line]
    assert {len(row) for row in rows} == {len(rows[0])}
    return rows[1:]


def names(rows: Sequence[Sequence[str]]) -> list[str]:
    return [row[0].strip("`") for row in rows]


def type_of(field: Field) -> str:
    if pa.types.is_list(field.type):
        return "texts"
    if not pa.types.is_integer(field.type):
        return "text"
    least = "" if field.low < -(2**31) else f" from {field.low}"
    return f"whole number{least}, {field.type.bit_width} bits"


def test_every_word_is_described_in_order() -> None:
    assert names(table("## Kinds")) == list(Kind)
    assert names(table("## Results")) == [word for word in Result if word]
    assert names(table("## Paths")) == [word for word in Way if word]
    assert all(cell for heading in ("## Kinds", "## Results", "## Paths") for row in table(heading) for cell in row[:2])


def test_fields_of_kinds_are_fields() -> None:
    for *_, further in table("## Kinds"):
        assert {part for item in further.split(", ") for part in item.split(" or ") if part} <= set(BY_NAME)


def test_every_field_is_described_with_its_type() -> None:
    rows = table("## Fields")
    assert [(name, row[1]) for name, row in zip(names(rows), rows, strict=True)] == [
        (field.name, type_of(field)) for field in FIELDS
    ]
    assert all(cell for row in rows for cell in row)


def test_every_member_of_the_header_is_described_with_its_default() -> None:
    rows = table("## Header")
    stated = [item.name for item in fields(Header) if item.name not in ("version", "extra")]
    assert names(rows) == [MARK, *stated, MEMBER]
    told = dict(zip(names(rows), rows, strict=True))
    assert (told[MARK][2], told["release"][2]) == (str(VERSION), Header().release)
    assert re.findall(r"`(\w+)`", told["timers"][1]) == list(TIMERS)
    assert [(name, row[2]) for name, row in zip(names(table("A group has:")), table("A group has:"), strict=True)] == [
        (item.name, str(item.default)) for item in fields(Group)
    ]
    assert f"`{HEADER_KEY}`" in PAGE
    assert f"version {VERSION}." in PAGE


def test_the_example_is_a_trace(tmp_path: Path) -> None:
    example = PAGE.split("```json\n")[1].split("```")[0]
    (tmp_path / "example.jsonl").write_text(example, encoding="utf-8")
    trace = open_trace([tmp_path / "example.jsonl"], strict=True)
    assert [batch.column("kind").to_pylist() for batch in trace.batches()] == [["deliver", "result"]]
    assert trace.header.groups["orders"].listener == "orderly"
