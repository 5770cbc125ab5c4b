"""Opening: which files of which form are read, in which order, and what is an error."""

import gzip
import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from rocketproof.traces.errors import TraceError
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import Problems, importers, open_trace
from rocketproof.traces.io.events import batch_of
from rocketproof.traces.io.importers.protocol import Event, Imported, Importer
from rocketproof.traces.io.writing import ParquetWriter

from ..recordings import HEADER, delivery, offsets, text, told, write


@dataclass(frozen=True, kw_only=True)
class Diary(Importer):
    """An importer of lines such as ``diary 7``: a delivery of that offset."""

    name: str = "diary"

    def detects(self, head: str, name: str) -> bool:
        return head.startswith("diary") or name == "diary.txt"

    def read(self, path: Path, problems: Problems) -> Imported:
        skipped: Counter[str] = Counter()
        return Imported(
            header=Header(source="a diary", evidence=frozenset({Kind.PULL})),
            events=self._events([path], problems, skipped),
            skipped=skipped,
        )

    def _events(self, paths: Sequence[Path], problems: Problems, skipped: Counter[str]) -> Iterator[Event]:
        for path in paths:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                word, _, rest = line.partition(" ")
                if word != "diary":
                    skipped["weather"] += 1
                elif rest.isdigit():
                    yield {"time": 5, "kind": "deliver", "offset": int(rest)}
                else:
                    problems.add(str(path), number, f"{rest} is no number")


@dataclass(frozen=True, kw_only=True)
class Series(Diary):
    """The same for several files at once."""

    name: str = "series"
    reads_series = True

    def read_series(self, paths: Sequence[Path], problems: Problems) -> Imported:
        return Imported(header=Header(), events=self._events(paths, problems, Counter()))


def parquet(path: Path, *numbers: int) -> Path:
    with ParquetWriter(path, Header(source="parquet", evidence=frozenset({Kind.COMMIT}))) as writer:
        writer.write(batch_of([delivery(number) for number in numbers]))
    return path


def test_a_folder_is_read_in_the_order_of_names(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "_temporary").mkdir()
    write(tmp_path / "c.jsonl", HEADER, delivery(5))
    write(tmp_path / "b" / "z.jsonl", HEADER, delivery(4))
    parquet(tmp_path / "b" / "part-0.parquet", 2, 3)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text(HEADER, delivery(1)).encode()))
    write(tmp_path / "_temporary" / "x.jsonl", HEADER, delivery(9))
    write(tmp_path / ".hidden.jsonl", HEADER, delivery(9))
    (tmp_path / "_SUCCESS").touch()
    write(tmp_path / "README.md", "Notes")
    trace = open_trace([tmp_path])
    assert offsets(trace.batches()) == [1, 2, 3, 4, 5]
    assert [Path(file).name for file in trace.files] == ["a.gz", "part-0.parquet", "z.jsonl", "c.jsonl"]
    assert [note.split(": ")[0] for note in trace.left_out] == [str(tmp_path / "README.md")]
    assert trace.header.evidence == {Kind.DELIVER, Kind.RESULT, Kind.COMMIT}
    assert trace.header.source == "test; parquet"
    assert (trace.rows, trace.time_range, trace.problems.count) == (None, None, 0)


def test_the_folder_of_broadcasting_offsets_is_not_hidden(tmp_path: Path) -> None:
    folder = tmp_path / ".rocketmq_offsets" / "10.0.0.2@DEFAULT" / "CG"
    folder.mkdir(parents=True)
    queue = '{"brokerName":"broker-a","queueId":0,"topic":"orders"}'
    (folder / "offsets.json").write_text(f'{{"offsetTable":{{{queue}:12}}}}')
    assert [Path(file).name for file in open_trace([tmp_path]).files] == ["offsets.json"]


def test_a_file_is_read_once_and_wherever_it_is_named(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.jsonl", HEADER, delivery(1)), write(tmp_path / "b.jsonl", HEADER, delivery(2))
    assert offsets(open_trace([second, first, tmp_path, second]).batches()) == [1, 2]


def test_sizes_of_several_parquet_files_add_up(tmp_path: Path) -> None:
    parquet(tmp_path / "a.parquet", 7, 8)
    parquet(tmp_path / "b.parquet", 2)
    trace = open_trace([tmp_path])
    assert (trace.rows, trace.time_range) == (3, (2_000, 8_000))


@pytest.mark.parametrize("address", ["s3a://bucket/day", "hdfs://name/day", "gs://bucket/day", "https://host/day"])
def test_addresses_are_told_from_files_that_are_not_there(address: str) -> None:
    scheme = address.partition(":")[0]
    for given in (address, Path(address)):
        with pytest.raises(TraceError, match=f"^{scheme}: addresses are not read, only files. Copy it to a folder"):
            open_trace([given])


def test_files_of_this_machine_have_addresses_too(tmp_path: Path) -> None:
    (tmp_path / "day 1").mkdir()
    path = write(tmp_path / "day 1" / "a.jsonl", HEADER, delivery(1))
    for address in (path.as_uri(), f"file:{path}", f"file://localhost{path.parent}"):
        assert offsets(open_trace([address]).batches()) == [1]
    with pytest.raises(TraceError, match=r"^file://other/a: names the machine other; .* file:///path\.$"):
        open_trace(["file://other/a"])


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["none"], "none: there is no such file or folder"),
        (["empty.jsonl"], r"empty\.jsonl: no events can be read\. .*nothing in it"),
        (["folder"], "folder: no files in it"),
        (["notes.txt"], "notes.txt: its content has no known format. Known are jsonl, parquet"),
        (["notes"], r"notes: no trace in 1 files\. .*other\.txt: its content has no known format"),
        ([], "no trace was given"),
    ],
)
def test_nothing_to_read_is_an_error(tmp_path: Path, paths: list[str], message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes").mkdir()
    (tmp_path / "empty.jsonl").touch()
    write(tmp_path / "notes.txt", "Notes")
    write(tmp_path / "notes" / "other.txt", "Notes")
    with pytest.raises(TraceError, match=message):
        open_trace([tmp_path / path for path in paths])


def test_an_archive_and_the_log_of_another_program_leave_no_hole(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", HEADER, delivery(1))
    (tmp_path / "service.jsonl").write_text('{"ts": 1, "msg": "started"}\n' * 2)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.write(path)
        archive.writestr("README", "notes")
    trace = open_trace([tmp_path])
    assert (told(trace), len(trace.left_out)) == ([], 2)


def test_an_empty_file_among_others_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    write(tmp_path / "b.jsonl", HEADER)
    parquet(tmp_path / "c.parquet")
    write(tmp_path / "d.jsonl", HEADER, delivery(1))
    trace = open_trace([tmp_path])
    assert offsets(trace.batches()) == [1]
    assert told(trace) == [(0, "EMPTY")] * 3


def test_a_core_dump_beside_recordings_is_none_and_other_bytes_may_be_one(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", HEADER, delivery(1))
    (tmp_path / "core.4711").write_bytes(b"\x7fELF\x02\x01\x01\0" + bytes(range(256)))
    (tmp_path / "java_pid7.hprof").write_bytes(b"JAVA PROFILE 1.0.2\0" + bytes(range(256)))
    trace = open_trace([tmp_path])
    assert (len(trace.left_out), told(trace)) == (2, [])
    (tmp_path / "b").write_bytes(bytes(range(256)))
    assert told(open_trace([tmp_path])) == [(0, "UNKNOWN_FORMAT")]


def test_a_packed_log_beside_recordings_is_none_and_other_packed_files_may_be_one(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", HEADER, delivery(1))
    (tmp_path / "app.log.2026-01-01.0.gz").write_bytes(gzip.compress(b"01/01/2026 10:00:00 [main] INFO Started\n" * 9))
    trace = open_trace([tmp_path])
    assert (len(trace.left_out), told(trace)) == (1, [])
    (tmp_path / "b.gz").write_bytes(gzip.compress(b'{"deliveries": '))
    (tmp_path / "c.gz").write_bytes(gzip.compress(bytes(range(256))))
    (tmp_path / "d.gz").write_bytes(gzip.compress(b"Started")[:9])
    assert told(open_trace([tmp_path])) == [(0, "UNKNOWN_FORMAT")] * 3


def test_packed_parquet_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet.gz"
    path.write_bytes(gzip.compress(parquet(tmp_path / "a.parquet", 1).read_bytes()))
    with pytest.raises(TraceError, match="Parquet packed with gzip; unpack it"):
        open_trace([path])


def test_a_compressed_copy_of_a_file_is_left_out(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", HEADER, delivery(1))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(first.read_bytes()))
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(first.read_bytes(), compresslevel=1))
    write(tmp_path / "d.jsonl", HEADER, delivery(1), delivery(2))
    trace = open_trace([tmp_path])
    assert offsets(trace.batches()) == [1, 1, 2]
    assert list(trace.left_out) == [
        f"{tmp_path / name}: the same as {first}, which is read." for name in ("b.jsonl.gz", "c.jsonl.gz")
    ]


def test_a_copy_that_was_made_before_a_file_was_complete_is_left_out(tmp_path: Path) -> None:
    whole = write(tmp_path / "b.jsonl", HEADER, *map(delivery, range(100)))
    (tmp_path / "a.jsonl").write_bytes(whole.read_bytes()[:5_000])
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(whole.read_bytes()[:6_000]))
    trace = open_trace([tmp_path])
    assert offsets(trace.batches()) == list(range(100))
    told_of = [f"{tmp_path / name}: the beginning of {whole}, which is read." for name in ("a.jsonl", "c.jsonl.gz")]
    assert list(trace.left_out) == told_of
    assert told(trace) == []


def test_headers_that_contradict_each_other(tmp_path: Path) -> None:
    first = {**HEADER, "release": "4.9.8", "groups": {"g": {"mode": "clustering"}}, "complete": True}
    second = {**HEADER, "release": "5.3.3", "groups": {"g": {"mode": "broadcasting"}, "h": {}}, "delays": "1s"}
    write(tmp_path / "a.jsonl", first, delivery(1))
    write(tmp_path / "b.jsonl", second, delivery(2))
    write(tmp_path / "c.jsonl", HEADER, delivery(3))
    trace = open_trace([tmp_path])
    assert told(trace) == [(0, "DISAGREE")]  # several releases are nothing unusual
    assert (trace.header.release, trace.header.delays, trace.header.complete) == ("4.9.8", "1s", False)
    assert trace.header.groups == {"g": Group(mode="both"), "h": Group()}


def test_brokers_with_different_delay_levels_state_none_for_all(tmp_path: Path) -> None:
    for n, levels in enumerate(("1s 5s", "1s 5s", "2s 4s")):
        write(tmp_path / f"{n}.jsonl", {**HEADER, "delays": levels}, delivery(n))
    trace = open_trace([tmp_path])
    assert told(trace) == [(0, "DISAGREE")]
    assert trace.header.delays == ""


def test_an_importer_reads_what_it_detects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "all_importers", lambda: (Diary(),))
    monkeypatch.setattr(importers, "detect", lambda head, name: Diary() if Diary().detects(head, name) else None)
    write(tmp_path / "a.txt", "diary 7", "diary x", "rain", "diary 8")
    write(tmp_path / "b.jsonl", HEADER, delivery(9))
    trace = open_trace([tmp_path])
    assert trace.header.evidence == {Kind.PULL, Kind.DELIVER, Kind.RESULT}
    for _ in range(2):
        assert offsets(trace.batches()) == [7, 8, 9]
        assert [value for batch in trace.batches(["seq"]) for value in batch.column("seq").to_pylist()] == [1, 2, 2]
    assert told(trace) == [(2, "DAMAGED")]
    assert trace.skipped == {"weather": 1}


def test_an_importer_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "all_importers", lambda: (Diary(),))
    path = write(tmp_path / "a.txt", "rain", "diary 7")
    assert offsets(open_trace([path], format="diary").batches()) == [7]
    with pytest.raises(TraceError, match="no format dairy; there are auto, jsonl, parquet, diary"):
        open_trace([path], format="dairy")


def test_files_of_a_series_are_read_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importers, "all_importers", lambda: (Series(),))
    for name, line in (("a", "diary 1"), ("c", "diary 3"), ("d", "diary x")):
        write(tmp_path / name, line)
    write(tmp_path / "b.jsonl", HEADER, delivery(2))
    trace = open_trace([tmp_path])
    assert [len(file.split(", ")) for file in trace.files] == [3, 1]
    assert offsets(trace.batches()) == [1, 3, 2]
    assert [(Path(problem.file).name, problem.line) for problem in trace.problems.kept] == [("d", 1)]


def test_one_path_needs_no_list(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", HEADER, delivery(1))
    assert (
        [one.path for one in open_trace(str(path)).sources] == [one.path for one in open_trace(path).sources] == [path]
    )


def test_a_folder_that_cannot_be_listed_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.jsonl", HEADER, delivery(1))
    closed = tmp_path / "closed"
    closed.mkdir()
    listed = os.scandir

    def scandir(path: str) -> object:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)
    trace = open_trace([tmp_path])
    assert told(trace) == [(0, "UNREADABLE")]
    assert [str(one) for one in trace.problems.kept] == [
        f"{closed}: file cannot be read: the folder cannot be listed: Permission denied"
    ]
