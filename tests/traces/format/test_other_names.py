"""Fields of other names are told with the field that is meant; nothing is judged as if they were not there."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.format.other_names import field_meant, near_names, other_names
from rocketproof.traces.format.problems import Trouble
from rocketproof.traces.format.schema import ARROW
from rocketproof.traces.io import Problems, open_trace
from rocketproof.traces.io.compressed import pieces_of
from rocketproof.traces.io.events import EXTRA
from rocketproof.traces.io.jsonl import JsonLines
from rocketproof.traces.io.writing import convert
from rocketproof.traces.samples import FOLDER

SAMPLE = FOLDER / "failures-to-dead-letter-5.3.3.jsonl.zst"
EVENTS = 793


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("queueId", "queue"),
        ("brokerName", "broker"),
        ("Topic", "topic"),
        ("consumerGroup", "group"),
        ("reconsume-times", "attempt"),
        ("queue", ""),
        ("payload", ""),
        ("msgId", ""),
        ("status", ""),
    ],
)
def test_a_name_stands_for_the_field_that_says_the_same(name: str, meant: str) -> None:
    assert field_meant(name) == meant


def test_a_field_that_is_there_is_not_meant() -> None:
    assert other_names(["queue", "queueId", "time", "Kind"]) == {"Kind": "kind"}


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_it_is_told_once_and_leaves_all_claims_unknown(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"trace.{form}"
    if form == "jsonl":
        text = b"".join(pieces_of(SAMPLE, Problems(strict=True)))
        path.write_bytes(text.replace(b'"queue":', b'"queueId":'))
    else:
        convert(open_trace([SAMPLE]), path)
        table = pq.read_table(path)
        pq.write_table(
            table.rename_columns(["queueId" if name == "queue" else name for name in table.schema.names]), path
        )
    trace = open_trace([path])
    result = check_locally(trace, settings=Settings())
    (problem,) = [one for one in trace.problems.kept if one.kind is Trouble.OTHER_NAME]
    assert "rename queueId to queue" in problem.what
    assert {answer.verdict for answer in result.verdicts} <= {Verdict.UNKNOWN, Verdict.NOT_OBSERVABLE}


def _sample(tmp_path: Path, line: int, old: bytes, new: bytes) -> Path:
    """The sample with a word of one line replaced, or of all lines of events if the line is 0."""
    lines = b"".join(pieces_of(SAMPLE, Problems(strict=True))).splitlines(keepends=True)
    changed = [text.replace(old, new) if at and at == (line or at) else text for at, text in enumerate(lines)]
    assert changed != lines
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b"".join(changed))
    return path


@pytest.mark.parametrize("line", [9, 441])
@pytest.mark.parametrize("columns", [ARROW.names, [*ARROW.names, EXTRA]], ids=["checked", "converted"])
def test_a_name_one_letter_off_is_a_damaged_line(line: int, columns: list[str], tmp_path: Path) -> None:
    path, problems = _sample(tmp_path, line, b'"client"', b'"cliemt"'), Problems()
    source = JsonLines(path, problems)
    assert sum(map(len, source.batches(columns, rows=1000))) == EVENTS - 1
    (problem,) = problems.kept
    assert (problem.kind, problem.line) == (Trouble.DAMAGED, line + 1)
    assert "there is no field 'cliemt'; did you mean client?" in problem.what


def test_names_of_another_program_are_allowed_however_near_they_are(tmp_path: Path) -> None:
    path, problems = (
        _sample(tmp_path, 0, b'{"time"', b'{"text": "near to next", "nib": 1, "team": 2, "time"'),
        Problems(),
    )
    assert sum(map(len, JsonLines(path, problems).batches(ARROW.names, rows=1000))) == EVENTS
    assert not problems.count


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_name_one_letter_off_in_the_whole_file_is_told_once_and_changes_nothing(form: str, tmp_path: Path) -> None:
    path = _sample(tmp_path, 0, b'"incarnation"', b'"incarnatiol"')
    if form == "parquet":
        lines, path = path, tmp_path / "trace.parquet"
        convert(open_trace([lines]), path)
        table = pq.read_table(path).drop_columns("incarnation")
        pq.write_table(table.append_column("incarnatiol", pa.nulls(len(table), pa.int32())), path)
    trace = open_trace([path])
    result = check_locally(trace, settings=Settings())
    (problem,) = trace.problems.kept
    assert (problem.kind, problem.line) == (Trouble.NEAR_NAME, 0)
    assert problem.what == "field 'incarnatiol' is not read; did you mean incarnation?"
    assert (result.events, trace.holes()) == (EVENTS, [])


def test_a_name_near_a_field_that_the_file_has_is_not_told() -> None:
    assert near_names(["text", "key"]) == {"text": "next"}
    assert near_names(["text", "next", "kez"]) == {"kez": "key"}
