from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from rocketproof.model.delay import DEFAULT_LEVELS, DelayTable, stored_level
from rocketproof.model.retry_policy import is_dead_letter, retry_level
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import ARROW, origin_of
from rocketproof.traces.generate.simulation import Plan, simulate
from rocketproof.traces.io import open_trace

FAULTS: dict[str, Any] = {
    "messages": 12_000,
    "queues": 6,
    "consumers": 3,
    "churn": 6,
    "broker_restarts": 2,
    "resets": 2,
    "corrections": 2,
    "timeouts": 2,
    "filtered_rate": 0.1,
    "seed": 7,
}


def made(out: Path, **plan: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Any]:
    summary = simulate(Plan(out=out, **plan))
    return pq.read_table(summary.trace).to_pylist(), pq.read_table(summary.truth).to_pylist(), summary


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Any]:
    return made(tmp_path_factory.mktemp("faulty"), **FAULTS)


def of(events: list[dict[str, Any]], *kinds: Kind) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] in kinds]


def place(event: dict[str, Any]) -> tuple[str, str, int]:
    return event["topic"], event["broker"], event["queue"]


def test_the_file_is_in_order_and_says_what_it_is(faulty: Any) -> None:
    events, _, summary = faulty
    assert summary.finished
    assert len(events) == summary.events
    assert [event["seq"] for event in events] == list(range(len(events)))
    times = [event["time"] for event in events]
    assert times == sorted(times)
    trace = open_trace([summary.trace])
    assert trace.header.complete
    assert trace.header.groups["orders"].max_attempts == 3
    assert {event["kind"] for event in events} <= {str(kind) for kind in trace.header.evidence}
    assert pq.read_schema(summary.trace).names == ARROW.names


def test_every_message_is_delivered_or_filtered_out(faulty: Any) -> None:
    events, _, summary = faulty
    stored = {event["origin"] for event in of(events, Kind.STORE)}
    assert len(stored) == len(of(events, Kind.STORE)) == FAULTS["messages"]
    delivered = {event["origin"] for event in of(events, Kind.DELIVER)}
    assert delivered <= stored
    said = json.loads((summary.truth.parent / "truth.json").read_text())
    assert len(stored - delivered) == said["filtered"] == 1173


def test_members_ask_by_an_expression_where_messages_are_filtered_out(faulty: Any) -> None:
    events, _, _ = faulty
    told = {text for event in of(events, Kind.HEARTBEAT) for text in event["subscriptions"]}
    assert told == {"orders=paid@1", "%RETRY%orders=*@1"}


def test_every_delivered_message_succeeds_or_becomes_a_dead_letter(faulty: Any) -> None:
    events, truth, _ = faulty
    delivered = {event["origin"] for event in of(events, Kind.DELIVER)}
    succeeded = {event["origin"] for event in of(events, Kind.RESULT) if event["result"] in ("ok", "timeout")}
    dead = {event["origin"] for event in of(events, Kind.DEAD_LETTER)}
    assert delivered == succeeded | dead
    assert dead == {fact["origin"] for fact in truth if fact["cause"] == "DEAD_LETTERED"}
    assert len(dead) == 11


def test_repeated_deliveries_are_those_of_the_truth(faulty: Any) -> None:
    events, truth, _ = faulty
    seen: Counter[Any] = Counter()
    again: Counter[Any] = Counter()
    for event in of(events, Kind.DELIVER):
        where = (*place(event), event["offset"])
        if seen[where]:
            again[(*where, event["time"], event["client"])] += 1
        seen[where] += 1
    told = [fact for fact in truth if fact["what"] == "repeated"]
    assert again == Counter((*place(f), f["offset"], f["time"], f["client"]) for f in told)
    assert not [fact for fact in told if fact["cause"] is None]
    assert Counter(fact["cause"] for fact in told) == {
        "REBALANCE": 116,
        "OVERLAP": 34,
        "RESET": 107,
        "SHUTDOWN": 49,
        "OFFSET_CORRECTED": 8,
        "FAILED_SEND_BACK": 2,
    }


def test_offsets_go_back_only_where_the_truth_says_so(faulty: Any) -> None:
    events, truth, _ = faulty
    stored: dict[Any, int] = {}
    back = []
    for event in of(events, Kind.COMMIT, Kind.RESET):
        if event["offset"] < stored.get(place(event), 0):
            back.append((*place(event), event["offset"], event["time"]))
        stored[place(event)] = event["offset"]
    told = [fact for fact in truth if fact["what"] == "decreased"]
    assert sorted(back) == sorted((*place(f), f["offset"], f["time"]) for f in told)
    assert Counter(fact["cause"] for fact in told) == {"BROKER_RESTART": 4, "RESET": 2, "CORRECTED": 2}


def test_what_is_filtered_out_is_passed_by_the_stored_offsets_as_well(tmp_path: Path) -> None:
    events, _, _ = made(tmp_path, messages=20, queues=2, consumers=1, filtered_rate=0.9)
    assert len(of(events, Kind.DELIVER)) < 5
    ends = {place(event): event["offset"] + 1 for event in of(events, Kind.STORE)}
    stored = {place(event): event["offset"] for event in of(events, Kind.COMMIT)}
    assert {where: offset for where, offset in stored.items() if where in ends} == ends


def test_retries_follow_the_rules(faulty: Any) -> None:
    events, truth, _ = faulty
    table = DelayTable.parse(DEFAULT_LEVELS)
    expired = {event["origin"] for event in of(events, Kind.EXPIRE)}
    waiting = of(events, Kind.DELAY_STORE)
    for event in waiting:
        level = stored_level(retry_level(event["attempt"] - 1, 0), table.levels)
        assert event["level"] == level or event["origin"] in expired
        assert event["due"] == event["time"] + table.delay(event["level"])
        assert not is_dead_letter(event["attempt"] - 1, 3, 0)
    assert {event["attempt"] for event in of(events, Kind.DEAD_LETTER)} == {4}
    assert len(expired) == len([fact for fact in truth if fact["cause"] == "TIMEOUT"]) == 1
    moved = of(events, Kind.DELAY_DELIVER)
    due = {(event["origin"], event["attempt"]): event["due"] for event in reversed(waiting)}
    assert all(event["time"] >= due[event["origin"], event["attempt"]] for event in moved)
    assert len(moved) - len(waiting) == len([fact for fact in truth if fact["cause"] == "SCHEDULE_REPLAY"]) == 8
    assert Counter(fact["cause"] for fact in truth if fact["what"] == "copied") == {
        None: 192,
        "SCHEDULE_REPLAY": 8,
        "STORED_BUT_REFUSED": 1,
        "TIMEOUT": 1,
    }


def test_only_owners_act(faulty: Any) -> None:
    events, _, _ = faulty
    owned: set[Any] = set()
    for event in events:
        who = (event["client"], event["incarnation"])
        if event["kind"] == Kind.ASSIGN:
            owned.add((who, place(event)))
        elif event["kind"] == Kind.REVOKE:
            owned.remove((who, place(event)))
        elif event["kind"] == Kind.CLIENT_CRASH:
            owned = {(owner, where) for owner, where in owned if owner != who}
        elif event["kind"] == Kind.DELIVER or (event["kind"] == Kind.COMMIT and event["client"] is not None):
            assert (who, place(event)) in owned
    assert not owned


def test_same_seed_same_trace(tmp_path: Path) -> None:
    plan: dict[str, Any] = {"messages": 2_000, "queues": 4, "consumers": 2, "churn": 2}
    first, _, _ = made(tmp_path / "a", seed=1, **plan)
    second, _, _ = made(tmp_path / "b", seed=1, **plan)
    other, _, _ = made(tmp_path / "c", seed=2, **plan)
    assert first == second
    assert first != other


def test_the_trace_does_not_depend_on_how_much_is_written_at_a_time(tmp_path: Path) -> None:
    plan: dict[str, Any] = {"messages": 3_000, "queues": 4, "consumers": 2, "churn": 3, "broker_restarts": 1}
    first, truth, _ = made(tmp_path / "a", **plan)
    second, same, _ = made(tmp_path / "b", rows=1, **plan)
    assert first == second
    assert truth == same


@pytest.mark.parametrize("messages", [1, 6, 40])
def test_few_messages_are_messages_as_well(messages: int, tmp_path: Path) -> None:
    events, _, summary = made(tmp_path, messages=messages)
    assert summary.finished
    assert summary.messages == len(of(events, Kind.STORE)) == messages
    assert {event["origin"] for event in of(events, Kind.DELIVER)} == {
        event["origin"] for event in of(events, Kind.STORE)
    }


def test_keys_are_those_of_the_origins(tmp_path: Path) -> None:
    summary = simulate(Plan(out=tmp_path, messages=300, queues=2, consumers=2, keys=True, format="jsonl"))
    trace = open_trace([summary.trace])
    rows = [row for batch in trace.batches() for row in batch.to_pylist()]
    keyed = [row for row in rows if row["key"] is not None]
    assert len({row["key"] for row in keyed}) == 300
    assert all(row["origin"] == origin_of(row["key"]) for row in keyed)
    assert trace.problems.count == 0
    assert len(rows) == summary.events


def test_an_orderly_group_has_one_call_at_a_time_in_order(tmp_path: Path) -> None:
    events, truth, _ = made(tmp_path, messages=4_000, queues=4, group_kind="orderly", churn=4, seed=3)
    running: dict[Any, Any] = {}
    last: dict[Any, int] = {}
    for event in events:
        who = (event["client"], event["incarnation"])
        if event["kind"] == Kind.CLIENT_CRASH:
            running = {where: call for where, call in running.items() if call[0] != who}
        elif event["kind"] == Kind.DELIVER:
            assert place(event) not in running
            running[place(event)] = (who, event["offset"])
            assert event["offset"] <= last.get(place(event), -1) + 1
            last[place(event)] = event["offset"]
        elif event["kind"] == Kind.RESULT:
            assert running.pop(place(event)) == (who, event["offset"])
    assert Counter(fact["cause"] for fact in truth if fact["what"] == "repeated") == {"SUSPENDED": 62}


def test_each_broadcasting_client_gets_every_message(tmp_path: Path) -> None:
    events, truth, _ = made(tmp_path, messages=1_000, queues=4, consumers=3, group_kind="broadcasting", seed=3)
    delivered = Counter((event["client"], event["origin"]) for event in of(events, Kind.DELIVER))
    assert len(delivered) == 3_000
    assert set(delivered.values()) == {1}
    assert not of(events, Kind.SEND_BACK, Kind.DELAY_STORE, Kind.DEAD_LETTER)
    failed = [event for event in of(events, Kind.RESULT) if event["result"] != "ok"]
    assert len(failed) == len([fact for fact in truth if fact["cause"] == "DROPPED"]) == 30
