"""DataFrames in, DataFrames out; tasks that fail are tried again, and nothing is found twice."""

from __future__ import annotations

import json
import pickle
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark import TaskContext

from benchmarks.changes import repeated, shifted_clocks
from benchmarks.recordings import Recording
from rocketproof.properties.verdict import Verdict
from rocketproof.spark import Mined, frames, judging, mine, write_findings
from rocketproof.spark.blocks import Row
from rocketproof.spark.frames import Looked
from rocketproof.spark.writing import BEFORE, RUN
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.coding import COLUMNS
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.engine.result import CheckResult
from rocketproof.traces.engine.scanning import SCAN_COLUMNS
from rocketproof.traces.errors import TraceError
from rocketproof.traces.explain.report.tables import FINDINGS
from rocketproof.traces.format.problems import Trouble
from rocketproof.traces.format.schema import ARROW, HEADER_KEY, plain
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER, Sample, samples, settings_of

from .engines import both, findings


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trace")
    return simulate(Plan(out=folder, messages=2_000, consumers=3, queues=8, rows=4_096, mutant="B2", churn=3)).trace


@pytest.fixture(scope="module")
def local(trace: Path) -> CheckResult:
    return check_locally(open_trace([trace]), settings=Settings())


def sorted_findings(table: pa.Table) -> pa.Table:
    return table.cast(FINDINGS).sort_by([(name, "ascending") for name in FINDINGS.names])


def test_a_frame_is_judged_like_its_file(spark: Any, trace: Path, local: CheckResult) -> None:
    mined = mine(spark.read.parquet(str(trace)), open_trace([trace]).header)
    assert mined.answers == local.verdicts
    assert mined.verdict("offset-never-back-without-cause") is Verdict.VIOLATED
    assert (mined.events, mined.messages, mined.left_out) == (local.events, local.messages, local.passed_over)
    assert sorted_findings(mined.findings.toArrow()).equals(findings(local))
    verdicts = mined.verdicts.toArrow().to_pylist()
    assert [row["claim"] for row in verdicts] == [one.claim.id for one in local.verdicts]
    assert [row["verdict"] for row in verdicts] == [str(one.verdict) for one in local.verdicts]


def test_files_of_a_scan_are_read_by_tasks(
    spark: Any, trace: Path, local: CheckResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two files in the order of time, with other names for the same codes, no rows are handed over."""
    table, header = pq.read_table(trace), open_trace([trace]).header
    for number, part in enumerate((table.slice(0, 3_000), table.slice(3_000))):
        pq.write_table(part.replace_schema_metadata(), tmp_path / f"part {number}.parquet")
    frame = spark.read.parquet(str(tmp_path))
    monkeypatch.setattr(frames.Frame, "_of_rows", None)
    assert mine(frame, header).answers == local.verdicts
    for other in (frame.where("time > 0"), frame.select("time", "kind"), frame.withColumn("queue", frame["queue"] + 0)):
        with pytest.raises(TypeError, match="not callable"):
            mine(other, header)


def times_read(frame: Any, folder: Path) -> tuple[Any, Callable[[], int]]:
    """A frame of one partition, and how often it was read."""
    notes = folder / "read"

    def noting(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with notes.open("a") as file:
            file.write("read\n")
        yield from batches

    return frame.coalesce(1).mapInArrow(noting, frame.schema), lambda: len(notes.read_text().splitlines())


@pytest.mark.parametrize(("order", "times"), [("as it is", 2), ("one later", 4), ("one without seq", 4)])
def test_a_frame_in_the_order_of_time_is_counted_and_read_once(
    spark: Any, trace: Path, local: CheckResult, tmp_path: Path, order: str, times: int
) -> None:
    table = pq.read_table(trace)
    if order == "one later":
        table = table.take([1, 0, *range(2, len(table))])
    elif order == "one without seq":
        seq = pa.array([None, *table["seq"].to_pylist()[1:]], pa.int64())
        table = table.set_column(table.schema.get_field_index("seq"), "seq", seq)
    frame, read = times_read(spark.createDataFrame(table.cast(plain(table.schema))), tmp_path)
    mined = mine(frame, open_trace([trace]).header)
    assert read() == times
    assert (mined.events, mined.answers) == (local.events, local.verdicts)
    assert sorted_findings(mined.findings.toArrow()).equals(findings(local))


@pytest.mark.parametrize("has_seq", [True, False])
def test_an_event_that_is_repeated_in_the_next_partition_counts_once(spark: Any, has_seq: bool) -> None:
    event = (1_000, 7, "deliver", "g", "t", "b", 0, 5, "c")
    texts = ", ".join(f"{name} string" for name in ("kind", "group", "topic", "broker"))
    schema = f"time long, seq long, {texts}, queue int, offset long, client string"
    frame = spark.createDataFrame(spark.sparkContext.parallelize([event, event], 2), schema)
    assert frame.rdd.glom().map(len).collect() == [1, 1]
    mined = mine(frame if has_seq else frame.drop("seq"))
    assert (mined.events, mined.left_out["repeated events"]) == (1, 1)


def test_little_is_told_about_a_partition() -> None:
    """Of its events, the driver gets the first and the last one, not the batches they were read in."""
    count = 100_000
    columns = {"time": pa.array(range(count)), "kind": pa.array(["deliver"] * count).dictionary_encode()}
    looked, batch = Looked.of(count), pa.RecordBatch.from_pydict(columns)
    wanted = dict.fromkeys((*COLUMNS, *SCAN_COLUMNS, "seq"))
    assert sum(map(len, looked.distinct(iter([batch]), wanted, first=0))) == count
    assert looked.ends[0].column("time").to_pylist() == [0, count - 1]
    assert len(pickle.dumps(looked.ends)) < 20_000


def test_a_source_that_fails_first(spark: Any, trace: Path, local: CheckResult) -> None:
    events = spark.read.parquet(str(trace))

    def failing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        running = TaskContext.get()
        assert running is not None
        for batch in batches:
            yield batch
            if running.attemptNumber() == 0:
                raise OSError("the executor was lost")

    mined = mine(events.mapInArrow(failing, events.schema), open_trace([trace]).header)
    assert mined.answers == local.verdicts
    assert sorted_findings(mined.findings.toArrow()).equals(findings(local))


def test_a_judge_that_fails_first(spark: Any, trace: Path, local: CheckResult, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(rows: Iterable[Row], shared: Any) -> Iterator[bytes]:
        running = TaskContext.get()
        yield from answers(rows, shared)
        if running is not None and running.attemptNumber() == 0:
            raise OSError("the executor was lost")

    answers = judging.answer
    monkeypatch.setattr(judging, "answer", failing)
    mined = mine(spark.read.parquet(str(trace)), open_trace([trace]).header)
    assert mined.answers == local.verdicts
    assert sorted_findings(mined.findings.toArrow()).equals(findings(local))


def test_few_columns_without_a_header(spark: Any) -> None:
    events = spark.createDataFrame(
        [(5, "deliver"), (None, "deliver"), (7, None), (-3, "store")], "time long, kind string"
    )
    mined = mine(events)
    assert mined.events == 1
    assert mined.left_out == {
        "events without time or kind": 3,
        "values of time that are not from 0 to 253402300799999": 1,
        "events that name no message": 1,
    }
    assert {one.verdict for one in mined.answers} <= {Verdict.NOT_OBSERVABLE, Verdict.UNKNOWN}


def test_events_with_an_impossible_incarnation_are_left_out_in_all_forms(spark: Any, tmp_path: Path) -> None:
    plan = Plan(out=tmp_path / "whole", messages=300, consumers=3, queues=8, churn=3)
    table = pq.read_table(simulate(plan).trace)
    events = table.to_pylist()
    of_clients = [place for place, event in enumerate(events) if event["client"]]
    for place in of_clients[40:600:70]:
        events[place]["incarnation"] = -1
    as_parquet, as_lines = tmp_path / "trace.parquet", tmp_path / "trace.jsonl"
    pq.write_table(pa.Table.from_pylist(events, schema=table.schema), as_parquet, row_group_size=500)
    known = [{name: value for name, value in event.items() if value is not None} for event in events]
    header = json.loads(table.schema.metadata[HEADER_KEY.encode()])
    as_lines.write_text("".join(json.dumps(line) + "\n" for line in (header, *known)))

    local, of_lines = both([as_parquet], spark), check_locally(open_trace([as_lines]), settings=Settings())
    assert local.problems.by_kind == of_lines.problems.by_kind == {Trouble.IMPOSSIBLE: 8}
    mined = mine(spark.read.parquet(str(as_parquet)), open_trace([as_parquet]).header)
    assert mined.events == local.events == of_lines.events == len(events) - 8
    assert mined.left_out["events whose incarnation is not from 0 to 2147483647"] == 8
    for answers in (mined.answers, of_lines.verdicts):
        assert [one.verdict for one in answers] == [one.verdict for one in local.verdicts]


@pytest.mark.parametrize(
    ("schema", "row", "said"),
    [
        ("time long", (1,), "the frame has no column kind; there are time."),
        ("time string, kind string", ("1", "deliver"), "column time is string; whole numbers are needed."),
        ("time long, kind int", (1, 1), "column kind is int; texts are needed."),
        ("time long, kind string, queues string", (1, "x", "a"), "column queues is string; a list of texts is needed."),
    ],
)  # fmt: skip
def test_frames_that_are_none(spark: Any, schema: str, row: tuple[Any, ...], said: str) -> None:
    with pytest.raises(TraceError) as caught:
        mine(spark.createDataFrame([row], schema))
    assert str(caught.value) == said


def test_a_frame_without_events(spark: Any) -> None:
    with pytest.raises(TraceError, match="the frame: there are no events to check"):
        mine(spark.createDataFrame([], "time long, kind string"))


@pytest.fixture(scope="module")
def mined(spark: Any, trace: Path) -> Mined:
    return mine(spark.read.parquet(str(trace)), open_trace([trace]).header)


def tables(folder: Path) -> list[pa.Table]:
    return [
        sorted_findings(pq.read_table(folder / "findings")),
        pq.read_table(folder / "verdicts").sort_by("claim"),
    ]


def test_a_second_run_writes_the_same(mined: Mined, local: CheckResult, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    write_findings(mined, str(folder))
    first = tables(folder)
    assert first[0].equals(findings(local))
    write_findings(mined, str(folder))
    assert tables(folder) == first
    assert [path.name for path in tmp_path.iterdir()] == ["found"]
    assert sorted(path.name for path in folder.iterdir()) == ["findings", "verdicts"]


def test_what_killed_runs_have_left_is_taken_away(mined: Mined, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    write_findings(mined, str(folder))
    expected = tables(folder)
    (tmp_path / f".found.{RUN}1" / "findings").mkdir(parents=True)
    # Killed while it took the earlier tables away: these are what there is.
    folder.rename(tmp_path / f".found.{BEFORE}2")
    write_findings(mined, str(folder))
    assert tables(folder) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["found"]


def test_a_run_that_fails_leaves_the_earlier_tables(spark: Any, mined: Mined, tmp_path: Path) -> None:
    folder = tmp_path / "found"
    write_findings(mined, str(folder))
    expected = tables(folder)

    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        raise OSError("no room")

    failing = replace(mined, verdicts=mined.verdicts.mapInArrow(fail, mined.verdicts.schema))
    with pytest.raises(TraceError, match="no room"):
        write_findings(failing, str(folder))
    assert tables(folder) == expected
    write_findings(mined, str(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["found"]


def test_a_folder_with_something_else_is_left_alone(mined: Mined, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(TraceError, match=r"holds notes\.txt, which no earlier run has written"):
        write_findings(mined, str(tmp_path))
    assert (tmp_path / "notes.txt").read_text() == "mine"


def as_frame(spark: Any, path: Path, *, stored: bool = False) -> Any:
    """The lines of a file as a frame, as somebody would read it who has nothing else; ``stored``: from Parquet."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()[1:]]
    names = [name for name in ARROW.names if any(name in line for line in lines)]
    table = pa.Table.from_pylist(
        [{name: line.get(name) for name in names} for line in lines],
        pa.schema([plain(ARROW).field(name) for name in names]),
    )
    if stored:
        pq.write_table(table, path.with_suffix(".parquet"))
    return spark.read.parquet(str(path.with_suffix(".parquet"))) if stored else spark.createDataFrame(table)


def same(spark: Any, path: Path, *, stored: bool = False) -> Mined:
    """What is mined of the lines of a file, after a check of the file has said the same."""
    trace = open_trace([path])
    local = check_locally(trace, settings=settings_of(trace.header))
    mined = mine(as_frame(spark, path, stored=stored), open_trace([path]).header)
    for expected, given in zip(local.verdicts, mined.answers, strict=True):
        assert given.verdict is expected.verdict, given.claim.id
        assert (given.judged, given.violated, given.doubtful) == (expected.judged, expected.violated, expected.doubtful)
    assert (mined.events, mined.messages) == (local.events, local.messages)
    assert sorted_findings(mined.findings.toArrow()).equals(sorted_findings(findings(local)))
    return mined


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("change", ["clocks apart", "repeated lines", "as it is", "damaged"])
def test_changed_lines_are_judged_like_their_file(spark: Any, change: str, stored: bool, tmp_path: Path) -> None:
    recording = Recording.read(FOLDER / "batch-acknowledged-in-part-5.3.3.jsonl.zst")
    text = recording.text()
    if change == "clocks apart":
        changed = next(one for one in shifted_clocks(recording, random.Random(1)) if one.how.startswith("broker"))
        text = changed.files["trace.jsonl"]
    elif change == "repeated lines":
        text = list(repeated(recording, random.Random(1)))[-1].files["trace.jsonl"]
    elif change == "damaged":
        text = text.replace('"attempt": 0', '"attempt": -5', 1).replace('"kind": "result"', '"kind": "resent"', 2)
    path = tmp_path / "trace.jsonl"
    path.write_text(text, "utf-8")
    mined = same(spark, path, stored=stored)
    told = {"clocks apart": 0, "repeated lines": 1, "as it is": 0, "damaged": 2}[change]
    assert len(mined.left_out) == told


@pytest.mark.slow
@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_samples_are_judged_like_their_files(spark: Any, sample: Sample, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(Recording.read(sample.path).text(), "utf-8")
    same(spark, path)
