"""Raw files of the agents are one trace to everybody who opens them: the same as the joined file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rocketproof.lab.capture import keep_capture
from rocketproof.properties.verdict import Verdict
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.conformance import conform
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.errors import TraceError
from rocketproof.traces.explain.source_lines import locations
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import BY_BROKERS, DIVIDED_BY_BROKERS
from rocketproof.traces.io import Trace, open_trace
from rocketproof.traces.io.writing import convert
from rocketproof.traces.recorders.captured import CapturedTrace
from rocketproof.traces.samples import FOLDER

from ...agents import QUEUE, Line, at, client, split_into_recordings, write

SETTINGS = Settings()


def answers(trace: Trace) -> tuple[list[tuple[str, str, int, int]], list[tuple[object, ...]], int]:
    """Verdicts, findings and mismatches of a trace."""
    result = check_locally(trace, settings=SETTINGS)
    verdicts = [(str(v.claim.id), str(v.verdict), v.judged, v.violated) for v in result.verdicts]
    return verdicts, sorted(map(tuple, result.rows.tolist())), len(conform(trace).mismatches)


@pytest.mark.parametrize("sample", ["scale-out-and-in-5.3.3", "kill-9-mid-batch-5.3.3", "same-client-id-5.3.3"])
def test_raw_files_and_the_joined_file_get_the_same_answers(tmp_path: Path, sample: str) -> None:
    deaths = split_into_recordings(FOLDER / f"{sample}.jsonl.zst", tmp_path / "raw")
    raw = open_trace([tmp_path / "raw"], deaths=deaths)
    assert isinstance(raw.sources[0], CapturedTrace)
    keep_capture([tmp_path / "raw"], out=tmp_path / "joined.jsonl.zst", deaths=deaths)
    joined = open_trace([tmp_path / "joined.jsonl.zst"])
    assert not isinstance(joined.sources[0], CapturedTrace)
    assert answers(raw) == answers(joined)


@pytest.mark.parametrize("name", ["client-7-orders.jsonl", "host-a-client-7-orders.jsonl.gz", "orders.jsonl"])
def test_a_recording_is_told_by_its_name_its_header_and_its_events(tmp_path: Path, name: str) -> None:
    path = write(tmp_path, "client-7-orders.jsonl", [at(5, "client_start", client="c", group="orders")])
    text = path.read_text(encoding="utf-8").replace('"agent"', '"rocketproof agent 1, client of RocketMQ 5.3.3"')
    path.unlink()
    packed = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (tmp_path / name).write_bytes(packed)
    assert isinstance(open_trace([tmp_path]).sources[0], CapturedTrace)
    convert(open_trace([tmp_path]), tmp_path / "out" / "client-7-orders.jsonl")
    assert not isinstance(open_trace([tmp_path / "out"]).sources[0], CapturedTrace)


def test_a_group_whose_queues_brokers_divide_is_not_judged(tmp_path: Path) -> None:
    """A client of 5.x that takes queues and never divides any: ``clientRebalance=false``."""
    start = at(5, "client_start", client="c", group="orders")
    passed = at(8, "rebalance", client="c", group="orders", topic="order", members=["c"], queues=["broker-a:0"])
    takes = [at(10, "assign", **client("c"), offset=0), at(20, "pull", **client("c"))]
    said = {"groups": {"orders": {"strategy": "AVG"}}}

    def why(*events: Line, evidence: list[str] | None = None) -> str:
        write(tmp_path, "client-1-orders.jsonl", events, **said, **({"evidence": evidence} if evidence else {}))
        trace = open_trace([tmp_path])
        return check_locally(trace, settings=SETTINGS).coverage.not_judged.get("orders", "")

    assert why(start, *takes) == DIVIDED_BY_BROKERS
    assert conform(open_trace([tmp_path])).why == f"orders order@broker-a:0: {DIVIDED_BY_BROKERS}"
    assert why(start, passed, *takes) == ""
    assert why(*takes) == ""  # it may have divided them before
    assert why(start, *takes, evidence=["client_start", "assign", "pull"]) == ""
    write(tmp_path, "client-2-orders.jsonl", [start], groups={"orders": {"strategy": "BROKER"}})
    assert open_trace([tmp_path]).header.groups["orders"].strategy == BY_BROKERS
    assert not open_trace([tmp_path]).problems.kept


def test_nor_is_one_for_which_brokers_store_offsets_as_they_do_for_pop(tmp_path: Path) -> None:
    begin = [at(5, "client_start", client="c", group="orders"), at(10, "assign", **client("c"), offset=0)]
    write(tmp_path, "client-1-orders.jsonl", begin, groups={"orders": {"strategy": "AVG"}})
    write(tmp_path, "broker-2-broker-a.jsonl", [at(100 + n, "commit", **QUEUE, offset=n) for n in range(20)])
    assert open_trace([tmp_path]).header.groups["orders"].differs == DIVIDED_BY_BROKERS


def test_the_release_is_that_of_the_clients(tmp_path: Path) -> None:
    write(tmp_path, "broker-2-broker-a.jsonl", [at(1, "broker_start", broker="broker-a")], release="5.5.0")
    for number in (1, 3):
        begin = [at(5, "client_start", client=f"c{number}", group="orders")]
        write(tmp_path, f"client-{number}-orders.jsonl", begin, release="4.9.8")
    assert open_trace([tmp_path]).header.release == "4.9.8"


def test_processes_of_two_hosts_may_have_one_number(tmp_path: Path) -> None:
    for host, begin in (("a", 5), ("b", 9)):
        write(tmp_path / host, "client-1-orders.jsonl", [at(begin, "client_start", client="c", group="orders")])
    (batch,) = open_trace([tmp_path]).batches(("incarnation", "recorder"))
    assert batch.to_pydict() == {"incarnation": [0, 1], "recorder": ["a/client-1", "b/client-1"]}


def test_an_event_of_a_joined_trace_is_found_in_the_file_that_it_was_recorded_in(tmp_path: Path) -> None:
    one = write(tmp_path, "client-1-orders.jsonl", [at(5, "pull", **client("c")), at(20, "pull", **client("c"))])
    other = write(tmp_path, "client-2-orders.jsonl", [at(10, "pull", **client("d"))])
    trace = open_trace([tmp_path])
    assert trace.files == (str(one), str(other))
    found = locations(trace, [(0, 0), (0, 1), (0, 2)])
    assert [str(found[0, event]) for event in range(3)] == [
        f"{one}:2",
        f"{other}:2",
        f"{one}:3",
    ]


def test_lines_that_somebody_has_sorted_are_in_the_order_in_which_they_were_counted(tmp_path: Path) -> None:
    counted = [
        {**at(5, kind, **client("c")), "micros": micros, "seq": seq}
        for seq, (kind, micros) in enumerate([("pull", 9), ("pull_result", 10), ("assign", 9)])
    ]
    header, *lines = write(tmp_path, "client-1-orders.jsonl", counted).read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "client-1-orders.jsonl").write_text("".join([header, lines[2], lines[1], lines[0]]), "utf-8")
    trace = open_trace([tmp_path])
    (batch,) = trace.batches(("kind", "seq"))
    assert batch.column("kind").to_pylist() == ["pull", "pull_result", "assign"]
    found = locations(trace, [(0, 0), (0, 1), (0, 2)])
    assert [str(found[0, event]).rpartition(":")[2] for event in range(3)] == ["4", "3", "2"]


def test_lines_that_stand_in_a_file_again_are_the_same_events(tmp_path: Path) -> None:
    counted = [{**at(5 + seq, kind, **client("c")), "seq": seq} for seq, kind in enumerate(("assign", "pull"))]
    path = write(tmp_path, "client-1-orders.jsonl", counted)
    header, *lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join([header, *lines, *lines]), "utf-8")
    trace = open_trace([tmp_path])
    (batch,) = trace.batches(("kind", "time"))
    assert batch.column("kind").to_pylist() == ["assign", "pull"]
    found = locations(trace, [(0, 0), (0, 1)])
    assert [str(found[0, event]).rpartition(":")[2] for event in range(2)] == ["2", "3"]


def one_call(name: str, *, calls: bool) -> list[Line]:
    """A client that consumes one message; its calls may not be recorded."""
    begin = [at(5_000, "client_start", client=name, group="orders"), at(6_000, "assign", **client(name), offset=0)]
    pulled = at(8_000, "pull_result", **client(name), offset=0, next=1, result="found", count=1)
    called = [
        at(9_000, "deliver", **client(name), offset=0),
        at(9_500, "result", **client(name), offset=0, result="ok"),
    ]
    end = [at(9_900, "removed", **client(name), offset=0, next=1), at(10_000, "commit", **client(name), offset=1)]
    return [*begin, pulled, *(called if calls else []), *end]


KINDS = list(map(str, Kind))
CALLS = ("deliver", "result")


def judged(folder: Path) -> tuple[Verdict, int, str]:
    """What is said of messages that were passed, and never given to anybody."""
    verdicts = check_locally(open_trace([folder]), settings=SETTINGS).verdicts
    (skipped,) = (one for one in verdicts if one.claim.id == "nothing-skipped")
    return skipped.verdict, skipped.violated, skipped.why


def of_next_queue(events: list[Line]) -> list[Line]:
    return [{**event, "queue": 1} if "queue" in event else event for event in events]


def test_what_one_client_does_not_record_is_no_evidence_against_it(tmp_path: Path) -> None:
    """As where OpenTelemetry's agent has changed classes in a way that ours does not understand."""
    without = [kind for kind in KINDS if kind not in CALLS]
    write(tmp_path, "client-1-orders.jsonl", of_next_queue(one_call("d", calls=True)), evidence=KINDS, complete=True)
    write(tmp_path, "client-2-orders.jsonl", one_call("c", calls=False), evidence=without, complete=True)
    assert open_trace([tmp_path]).header.lacking == {("c", "orders"): {Kind.DELIVER, Kind.RESULT}}
    verdict, violated, reason = judged(tmp_path)
    assert (verdict, violated) == (Verdict.UNKNOWN, 0)
    assert "no deliver or result recorded of c" in reason
    (tmp_path / "client-1-orders.jsonl").unlink()
    assert judged(tmp_path)[0] is Verdict.NOT_OBSERVABLE


def test_messages_leave_a_window_after_calls_that_were_not_recorded_though_a_file_says_so(tmp_path: Path) -> None:
    write(tmp_path, "client-1-orders.jsonl", of_next_queue(one_call("d", calls=True)), evidence=KINDS, complete=True)
    write(tmp_path, "client-2-orders.jsonl", one_call("c", calls=False), evidence=KINDS, complete=True)
    verdict, violated, reason = judged(tmp_path)
    assert (verdict, violated) == (Verdict.UNKNOWN, 0)
    assert "no deliver or result recorded of c" in reason


def test_files_of_which_nothing_can_be_read_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, "client-1-orders.jsonl", [at(5, "pull", **client("c"))])
    path.write_text(path.read_text(encoding="utf-8").replace('"time"', '"tme"'), encoding="utf-8")
    with pytest.raises(TraceError, match="no events can be read"):
        open_trace([tmp_path])


@pytest.mark.parametrize("with_broker", [False, True])
def test_that_a_broker_died_is_known_where_brokers_were_recorded(tmp_path: Path, with_broker: bool) -> None:
    write(tmp_path, "client-1-orders.jsonl", [at(0, "client_start", client="one", group="orders")])
    if with_broker:
        write(tmp_path, "broker-2-broker-a.jsonl", [at(0, "broker_start", broker="broker-a")])
    evidence = open_trace([tmp_path]).header.evidence
    assert Kind.CLIENT_CRASH in evidence
    assert (Kind.BROKER_CRASH in evidence) is with_broker
