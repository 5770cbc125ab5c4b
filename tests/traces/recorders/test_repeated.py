"""Events that a trace has twice count once, whatever way they came there; equal events that were counted apart stay."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.io import Trace, open_trace
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.io.writing import convert
from rocketproof.traces.recorders.repeated import REPEATED, Repeated
from rocketproof.traces.samples import FOLDER

from ...agents import at, client, write

SAMPLE = FOLDER / "kill-9-mid-batch-5.3.3.jsonl.zst"


def verdicts(trace: Trace) -> tuple[CheckResult, list[tuple[str, int, int, int]]]:
    result = check_locally(trace, settings=Settings())
    return result, [(str(one.verdict), one.judged, one.violated, one.doubtful) for one in result.verdicts]


@pytest.fixture(scope="module")
def plain() -> tuple[int, list[tuple[str, int, int, int]]]:
    result, said = verdicts(open_trace([SAMPLE]))
    return result.events, said


@pytest.mark.parametrize(
    "form", ["twice in one file", "each line twice", "some lines later", "another form", "parquet"]
)
def test_a_trace_given_twice_is_the_trace(
    tmp_path: Path, form: str, plain: tuple[int, list[tuple[str, int, int, int]]]
) -> None:
    convert(open_trace([SAMPLE]), tmp_path / "one.jsonl")
    header, *lines = (tmp_path / "one.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    given = [tmp_path / "one.jsonl"]
    again = len(lines)
    if form == "twice in one file":
        given[0].write_text("".join([header, *lines, *lines]), encoding="utf-8")
    elif form == "each line twice":
        given[0].write_text("".join([header, *(line for line in lines for _ in "12")]), encoding="utf-8")
    elif form == "some lines later":
        given[0].write_text("".join([header, *lines, *lines[::7]]), encoding="utf-8")
        again = len(lines[::7])
    else:
        given.append(tmp_path / "other.parquet")
        convert(open_trace([given[0]]), given[1])
    trace = open_trace(given)
    result, said = verdicts(trace)
    assert (result.events, said) == plain
    assert trace.skipped[REPEATED] == again
    assert result.skipped[REPEATED] == again


def test_a_file_with_the_bytes_of_another_one_is_read_once(
    tmp_path: Path, plain: tuple[int, list[tuple[str, int, int, int]]]
) -> None:
    shutil.copyfile(SAMPLE, tmp_path / "a.jsonl.zst")
    convert(open_trace([SAMPLE]), tmp_path / "b.jsonl")
    shutil.copyfile(tmp_path / "b.jsonl", tmp_path / "c.jsonl")
    trace = open_trace([tmp_path / "b.jsonl", tmp_path / "c.jsonl"])
    assert trace.files == (str(tmp_path / "b.jsonl"),)
    assert trace.left_out == (f"{tmp_path / 'c.jsonl'}: the same as {tmp_path / 'b.jsonl'}, which is read.",)
    assert verdicts(trace)[1] == plain[1]


def test_a_copy_of_a_raw_capture_is_the_capture(tmp_path: Path) -> None:
    one = write(tmp_path / "a", "client-1-orders.jsonl", [at(5, "pull", **client("c"), offset=1)])
    (tmp_path / "b").mkdir()
    shutil.copyfile(one, tmp_path / "b" / one.name)
    assert open_trace([tmp_path]).rows == 1


def counts(tmp_path: Path, *events: dict[str, object]) -> int:
    path = write(tmp_path, "trace.jsonl", [])
    lines = [path.read_text(encoding="utf-8"), *(f"{event}\n".replace("'", '"') for event in events)]
    path.write_text("".join(lines), encoding="utf-8")
    return sum(map(len, open_trace([path]).sorted_batches()))


PULL = {"time": 5, "kind": "pull", "client": "c", "group": "g", "topic": "t", "broker": "b", "queue": 0, "offset": 1}
COPY = {"time": 5, "kind": "delay_store", "broker": "b", "topic": "%RETRY%g", "key": "k", "attempt": 1, "level": 3}


def test_equal_events_that_were_counted_apart_are_two(tmp_path: Path) -> None:
    assert counts(tmp_path, {**PULL, "seq": 1}, {**PULL, "seq": 2}) == 2
    assert counts(tmp_path, {**PULL, "seq": 1}, {**PULL, "seq": 1}) == 1


def test_where_nobody_counted_two_at_one_offset_are_one_and_others_may_be_two(tmp_path: Path) -> None:
    assert counts(tmp_path, PULL, PULL, {**PULL, "offset": 2}) == 2
    assert counts(tmp_path, COPY, COPY) == 2  # two messages of a batch


def test_a_moment_that_goes_on_over_many_batches() -> None:
    """Batches are small where pieces are put together: what came before may be several batches back."""
    events = [{"time": 5, "seq": seq, "kind": "deliver", "queue": 0, "offset": seq} for seq in (0, 1, 2, 0, 2, 3)]
    repeated = Repeated(thorough=True)
    kept = [repeated.drop(batch_of([event]), True).column("seq").to_pylist() for event in events]
    assert kept == [[0], [1], [2], [], [], [3]]
    assert repeated.count == 2
