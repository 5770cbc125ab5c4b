"""Logs, joined files and other recordings beside those of agents: what happened once is told once."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rocketproof.lab.capture import keep_capture
from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.conformance import conform
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.errors import TraceError
from rocketproof.traces.explain.source_lines import locations, pieces
from rocketproof.traces.io import Trace, open_trace
from rocketproof.traces.recorders.beside import TOLD
from rocketproof.traces.recorders.captured import CapturedTrace
from rocketproof.traces.samples import FOLDER

from ...agents import at, client, read, split_into_recordings, write

DEAD = "failures-to-dead-letter-5.3.3"
NEWS = {"kind": "deliver", "client": "c2", "group": "orders", "topic": "order", "broker": "broker-a", "queue": 0}


def answers(trace: Trace) -> tuple[list[tuple[str, str, int, int]], list[tuple[object, ...]], dict[str, int], int]:
    """Verdicts, findings, fates of messages and mismatches of a trace."""
    result = check_locally(trace, settings=Settings())
    verdicts = [(str(v.claim.id), str(v.verdict), v.judged, v.violated) for v in result.verdicts]
    rows = sorted(map(tuple, result.rows.tolist()))
    return verdicts, rows, {str(fate): count for fate, count in result.messages.items()}, len(conform(trace).mismatches)


def dead_letters_in_a_log(sample: Path, log: Path) -> int:
    """What the brokers of a recording log of its dead letters; how many these are."""
    lines = []
    for batch in open_trace([sample]).sorted_batches():
        for event in batch.to_pylist():
            if event["kind"] == "dead_letter":
                when = datetime.fromtimestamp(event["time"] // 1000, UTC) + timedelta(hours=8)
                lines.append(
                    f"{when:%Y-%m-%d %H:%M:%S} INFO SendMessageThread_1 - send msg to DLQ {event['topic']}, owner=0, "
                    f"originalTopic=order, consumerId={event['group']}, msgUniqKey={event['key']}, storeTimestamp=1\n"
                )
    log.write_text("".join(lines), encoding="utf-8")
    return len(lines)


def hook(path: Path, events: list[dict[str, Any]]) -> None:
    """What a hook of another team has written."""
    header = {"rocketproof_trace": 1, "source": "a hook", "evidence": ["deliver", "result"]}
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *events)), encoding="utf-8")


def test_a_log_of_brokers_with_agents_says_nothing_new(tmp_path: Path) -> None:
    sample = FOLDER / f"{DEAD}.jsonl.zst"
    deaths = split_into_recordings(sample, tmp_path / "raw")
    assert dead_letters_in_a_log(sample, tmp_path / "broker.log") > 0
    alone, beside = (open_trace(paths, deaths=deaths) for paths in ([tmp_path / "raw"], [tmp_path]))
    assert beside.left_out == (f"{tmp_path}/broker.log: other files, which are read, tell all of it and more.",)
    assert answers(alone) == answers(beside)


@pytest.mark.parametrize("late", [0, 5_000])
@pytest.mark.parametrize("sample", [DEAD, "kill-9-mid-batch-5.3.3"])
def test_the_joined_file_beside_its_parts_says_nothing_new(tmp_path: Path, sample: str, late: int) -> None:
    deaths = split_into_recordings(FOLDER / f"{sample}.jsonl.zst", tmp_path / "raw")
    first = min((tmp_path / "raw").glob("client-*"))
    header, events = read(first)
    write(first.parent, first.name, [{**event, "time": event["time"] + late} for event in events], **header)
    alone = open_trace([tmp_path / "raw"], deaths=deaths)
    keep_capture([tmp_path / "raw"], out=tmp_path / "joined.jsonl.zst", deaths=deaths)
    beside = open_trace([tmp_path], deaths=deaths)
    assert [type(source) for source in beside.sources] == [CapturedTrace]
    assert answers(alone) == answers(beside)


def test_who_has_no_agent_is_read_from_other_files(tmp_path: Path) -> None:
    own = [at(1000 * n, "deliver", **client("c1"), offset=n) for n in range(4)]
    write(tmp_path, "client-1-orders.jsonl", own)
    again = [{**event, "micros": 7} for event in own]
    hook(tmp_path / "hook.jsonl", [*again[:2], {**NEWS, "time": own[0]["time"] + 2, "offset": 9}, *again[2:]])
    trace = open_trace([tmp_path])
    events = [event for batch in trace.sorted_batches() for event in batch.to_pylist()]
    assert [(e["client"], e["offset"]) for e in events if e["kind"] == "deliver"] == [
        ("c1", 0), ("c1", 1), ("c1", 2), ("c2", 9), ("c1", 3)]  # fmt: skip
    assert trace.skipped[TOLD] == 4
    every = [(piece.file, piece.first + n) for piece in pieces(trace) for n in range(len(piece.batch))]
    cited = locations(trace, every)
    assert [str(cited[one]) for one in every if one[0] == 1] == [f"{tmp_path}/hook.jsonl:4"]


def test_a_log_that_names_only_the_process_id_tells_of_the_process_with_the_agent(tmp_path: Path) -> None:
    own = [at(1000 * n, "deliver", **{**client("c1"), "client": "10.0.0.7@4242#81"}, offset=n) for n in range(4)]
    write(tmp_path, "client-4242-orders.jsonl", own)
    names = ("4242", "42", "4242")
    hook(tmp_path / "hook.jsonl", [{**event, "client": name} for event, name in zip(own, names, strict=False)])
    trace = open_trace([tmp_path])
    events = [event for batch in trace.sorted_batches() for event in batch.to_pylist()]
    assert [e["client"] for e in events if e["kind"] == "deliver"].count("42") == 1
    assert trace.skipped[TOLD] == 2


def test_what_an_agent_does_not_record_or_not_at_that_time_counts(tmp_path: Path) -> None:
    own = [at(1000 * n, "deliver", **client("c1"), offset=n) for n in range(4)]
    write(tmp_path, "client-1-orders.jsonl", own)
    later = {**own[0], "time": own[-1]["time"] + 5_000, "offset": 4}
    memory = {**own[0], "kind": "commit_memory", "offset": 5}
    hook(tmp_path / "hook.jsonl", [memory, later])
    events = [event for batch in open_trace([tmp_path]).sorted_batches() for event in batch.to_pylist()]
    told = [(event["kind"], event["offset"]) for event in events if event["kind"] != "gap"]
    assert told == [("deliver", 0), ("commit_memory", 5), *(("deliver", n) for n in (1, 2, 3, 4))]


def test_what_only_some_recorded_members_would_record_is_read_from_other_files(tmp_path: Path) -> None:
    """The hook names no clients, so its events may be those of the member that records fewer kinds."""
    calls = [
        (at(1000 * n, "deliver", offset=n), at(1000 * n + 500, "result", result="ok", offset=n)) for n in (0, 1, 2)
    ]
    for number, kinds in enumerate((["deliver", "result"], ["deliver"])):
        own = [{**event, **client(f"c{number}")} for call in calls for event in call if event["kind"] in kinds]
        lists = at(0, "rebalance", client=f"c{number}", group="orders", topic="order", members=["c0", "c1"])
        write(tmp_path, f"client-{number}-orders.jsonl", [lists, *own], evidence=[*kinds, "rebalance"])
    told = [event | {name: NEWS[name] for name in ("group", "topic", "broker", "queue")} for event in calls[1]]
    hook(tmp_path / "hook.jsonl", [{**event, "micros": 7} for event in told])
    trace = open_trace([tmp_path])
    read_from_hook = [e["kind"] for batch in trace.sorted_batches() for e in batch.to_pylist() if e["micros"] == 7]
    assert (read_from_hook, trace.skipped[TOLD]) == (["result"], 1)


CALL = {"group": "orders", "topic": "order", "broker": "broker-a", "queue": 0, "offset": 3, "attempt": 0}
FAILED = (
    "2026-11-25 10:00:0{second},000 WARN ConsumeMessageThread_orders_1 - consumeMessage exception: "
    "RuntimeException Group: {group} Msgs: [MessageExt [brokerName=broker-a, queueId=0, storeSize=180, queueOffset=3, "
    "sysFlag=0, bornTimestamp=1, bornHost=/10.0.0.1:1, storeTimestamp=2, storeHost=/10.0.0.2:10911, msgId=OFFSETID, "
    "commitLogOffset=16, bodyCRC=1, reconsumeTimes=0, preparedTransactionOffset=0, toString()=Message{{topic='order', "
    "flag=0, properties={{MIN_OFFSET=0, UNIQ_KEY=K1}}, body=[65], transactionId='null'}}]] MQ: MessageQueue "
    "[topic=order, brokerName=broker-a, queueId=0]\n"
)


def begun(second: int) -> int:
    return 1000 * int(datetime(2026, 11, 25, 10, 0, second, tzinfo=UTC).timestamp())


def logged(path: Path, *lines: str) -> None:
    """The log of the client of one process, which consumes in two groups."""
    queue = "MessageQueue [topic=order, brokerName=broker-a, queueId=0]"
    stored = f"ClientId: 10.0.0.5@4242#81 updateConsumeOffsetToBroker {queue} 1\n"
    named = [f"2026-11-25 10:00:01,000 INFO t - [persistAll] Group: {group} {stored}" for group in GROUPS]
    path.write_text("".join([*named, *lines]), encoding="utf-8")


GROUPS = ("orders", "bills")


def test_a_call_that_a_hook_and_a_log_tell_is_one(tmp_path: Path) -> None:
    calls = [("deliver", 3), ("result", 4), ("deliver", 8), ("result", 9)]
    told = [{"time": begun(at), "kind": kind, "client": "10.0.0.5@4242#81", **CALL} for kind, at in calls]
    hook(tmp_path / "hook.jsonl", [{**one, "result": "exception"} if one["kind"] == "result" else one for one in told])
    # The hook is of one group, and begins in the middle.
    in_time = (FAILED.format(second=4, group=group) for group in GROUPS)
    logged(tmp_path / "rocketmq_client.log", FAILED.format(second=1, group="orders"), *in_time)
    trace = open_trace([tmp_path], options={"zone": "UTC"})
    events = [event for batch in trace.sorted_batches() for event in batch.to_pylist() if event["kind"] == "result"]
    assert [(event["time"] - begun(0), event["group"]) for event in events] == [
        (1_000, "orders"), (4_000, "orders"), (4_000, "bills"), (9_000, "orders")]  # fmt: skip
    assert trace.skipped[TOLD] == 1


def test_empty_notes_in_a_folder_take_no_evidence_away(tmp_path: Path) -> None:
    write(tmp_path, "client-1-orders.jsonl", [at(5, "client_start", client="c", group="orders")])
    (tmp_path / "gc.log").touch()
    trace = open_trace([tmp_path])
    assert (trace.problems.count, trace.left_out) == (0, (f"{tmp_path}/gc.log: there is nothing in it.",))


def test_an_empty_recording_does(tmp_path: Path) -> None:
    write(tmp_path, "client-1-orders.jsonl", [at(5, "client_start", client="c", group="orders")])
    (tmp_path / "client-2-orders.jsonl").touch()
    assert [str(one.kind) for one in open_trace([tmp_path]).problems.kept] == ["no events in a file"]


def test_an_empty_file_that_is_named_is_told(tmp_path: Path) -> None:
    (tmp_path / "gc.log").touch()
    with pytest.raises(TraceError, match="nothing in it"):
        open_trace([tmp_path / "gc.log"])
