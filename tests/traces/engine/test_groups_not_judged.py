"""Groups that cannot be judged are named with the reason, and nothing about them violates or holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.conformance.conform import conform
from rocketproof.traces.engine.recorded import (
    BY_POP,
    IN_FILES,
    KEPT_BY_BROKER,
    NO_CLIENT,
    OTHER_RETRIES,
    STATIC_TOPIC,
    WITH_LOCKS,
)
from rocketproof.traces.explain.report.sections import not_judged
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import BOTH_LISTENERS, BOTH_MODES
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import FOLDER

from .test_verdicts_from_coverage import DATA, check, lines_of, written

OF_BROKERS = {"store", "delay_store", "delay_deliver", "dead_letter", "commit", "members"}


def renamed(event: dict[str, Any], group: str) -> dict[str, Any]:
    """The event as one of another group, on other queues and of other clients."""
    old = event.get("group") or ""
    topic = str(event.get("topic") or "")
    return {
        **event,
        "group": group,
        "topic": topic.replace(old, group) if topic.startswith("%") else f"{topic}-{group}",
        "client": f"{event['client']}x" if event.get("client") else None,
    }


def test_a_group_of_which_only_brokers_tell_is_not_judged(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    events = [json.loads(line) for line in lines[1:]]
    others = [renamed(event, "other") for event in events if event.get("group") and event["kind"] in OF_BROKERS]
    merged = sorted([*events, *others], key=lambda event: int(event["time"]))
    for event in merged:
        event.pop("seq", None)
    path = written(tmp_path / "merged.jsonl", [lines[0], *map(json.dumps, merged)])
    alone, both = check(DATA / "a6.jsonl.zst"), check(path)
    assert both.coverage.not_judged == {"other": NO_CLIENT}
    assert not_judged(both) == [f"group other: {NO_CLIENT}"]
    assert [each.verdict for each in both.verdicts] == [each.verdict for each in alone.verdicts]
    groups = {both.names.slots[slot].group for slot in both.violations["slot"].tolist() if slot >= 0}
    assert "other" not in groups
    assert both.messages == alone.messages


def test_what_a_log_of_a_broker_tells_of_clients_records_none_of_them(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    begin = json.loads(lines[1])
    beats = {"time": begin["time"], "kind": "heartbeat", "client": "x", "group": "other", "subscriptions": ["t=*@1"]}
    stored = {"time": begin["time"], "kind": "store", "topic": "%RETRY%other", "broker": "b", "queue": 0, "offset": 0}
    written(tmp_path / "a6.jsonl", [*lines, json.dumps(stored)])
    log = {"rocketproof_trace": 1, "source": "broker log", "evidence": ["heartbeat", "unregister", "lock"]}
    written(tmp_path / "log.jsonl", [json.dumps(log), json.dumps(beats)])
    assert check(tmp_path).coverage.not_judged == {"other": NO_CLIENT}
    written(tmp_path / "log.jsonl", [json.dumps({**log, "evidence": ["heartbeat", "assign"]}), json.dumps(beats)])
    assert check(tmp_path).coverage.not_judged == {}


def test_a_group_that_pops_is_not_judged_for_that_reason(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    time = json.loads(lines[1])["time"]
    popped = [
        {"time": time, "kind": "commit", "group": "popping", "topic": "orders", "broker": "b", "queue": 0, "offset": 7},
        {"time": time, "kind": "store", "topic": "%RETRY%popping_orders", "broker": "b", "queue": 0, "offset": 0},
    ]
    found = check(written(tmp_path / "popped.jsonl", [*lines, *map(json.dumps, popped)]))
    assert found.coverage.not_judged == {"popping": BY_POP, "popping_orders": BY_POP}
    assert not_judged(found) == [f"groups popping, popping_orders: {BY_POP}"]
    assert found.verdict("allocation-as-the-strategy-says").verdict is Verdict.VIOLATED


def test_a_group_whose_name_begins_with_that_of_another_does_not_pop_for_that_reason(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    time = json.loads(lines[1])["time"]
    stored = {"time": time, "kind": "commit", "topic": "t", "broker": "b", "queue": 0, "offset": 7}
    names = ("billing", "billing_5")
    others = [json.dumps({**stored, "group": name}) for name in names]
    found = check(written(tmp_path / "both.jsonl", [*lines, *others]))
    assert found.coverage.not_judged == dict.fromkeys(names, NO_CLIENT)


@pytest.mark.parametrize(
    ("sample", "why"), [("broadcast-5.3.3", IN_FILES), ("orderly-hand-over-5.3.3", WITH_LOCKS), ("steady-5.3.3", "")]
)
def test_a_group_is_not_judged_if_only_its_events_say_what_kind_it_is(sample: str, why: str, tmp_path: Path) -> None:
    header, *events = lines_of(f"{sample}.jsonl.zst", FOLDER)
    said = {name: value for name, value in json.loads(header).items() if name != "groups"}
    found = check(written(tmp_path / "unnamed.jsonl", [json.dumps(said), *events]))
    assert found.coverage.not_judged.get("lab", "") == why
    assert [verdict.claim.id for verdict in found.verdicts if verdict.verdict is Verdict.VIOLATED] == []


def test_what_brokers_keep_for_a_broadcasting_group_is_no_group_whose_clients_are_missing(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    kept = {"kind": "commit", "group": "all@broadcast", "topic": "orders", "broker": "b", "queue": 0, "offset": 7}
    found = check(
        written(tmp_path / "kept.jsonl", [*lines, json.dumps({"time": json.loads(lines[1])["time"], **kept})])
    )
    assert found.coverage.not_judged == {"all@broadcast": KEPT_BY_BROKER}


def test_where_no_group_can_be_judged_nothing_is_said(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    kept = [line for line in lines[1:] if json.loads(line)["kind"] in OF_BROKERS]
    found = check(written(tmp_path / "brokers.jsonl", [lines[0], *kept]))
    assert {each.verdict for each in found.verdicts} == {Verdict.NOT_OBSERVABLE}
    assert found.verdicts[0].why.startswith("no group can be judged; ")


def test_a_group_of_which_less_is_recorded_is_held_to_less(tmp_path: Path) -> None:
    lines = lines_of("b7.jsonl.zst")
    header = json.loads(lines[0])
    (group,) = header["groups"]
    hooked = {Kind.DELIVER, Kind.RESULT}
    events = [event for event in map(json.loads, lines[1:]) if event.get("group") and event["kind"] in hooked]
    of_hook = [renamed(event, "hooked") for event in events]
    written(tmp_path / "whole.jsonl", lines)
    hook = {**header, "evidence": sorted(hooked), "groups": {"hooked": header["groups"][group]}}
    written(tmp_path / "hook.jsonl", map(json.dumps, [hook, *of_hook]))
    whole, both = check(DATA / "b7.jsonl.zst"), check(tmp_path)
    assert both.coverage.recorded_of("hooked") == sum(1 << list(Kind).index(kind) for kind in hooked)
    assert [each.verdict for each in both.verdicts] == [each.verdict for each in whole.verdicts]
    (said,) = not_judged(both)
    assert said.startswith("of group hooked what rests on client_start, ")


@pytest.mark.parametrize("pulls", [False, True])
def test_what_was_not_recorded_of_the_only_group_may_excuse_a_finding(tmp_path: Path, pulls: bool) -> None:
    """A complete recording without any pull lacks the pulls: that a message comes again neither violates nor holds."""
    who = {"client": "one", "group": "g"}
    queue = {**who, "topic": "t", "broker": "b", "queue": 0}
    message = {**queue, "offset": 1, "key": "K", "attempt": 0}
    answer = {"kind": "pull_result", **queue, "offset": 1, "next": 2, "count": 1, "result": "found"}
    events = [
        {"time": 1_000, "kind": "client_start", **who},
        {"time": 1_001, "kind": "assign", **queue, "offset": 1},
        *([{"time": 1_003, "kind": "pull", **queue, "offset": 1}, {"time": 1_004, **answer}] if pulls else []),
        {"time": 1_100, "kind": "deliver", **message},
        {"time": 1_150, "kind": "result", **message, "result": "ok"},
        {"time": 3_000, "kind": "deliver", **message},
        {"time": 3_050, "kind": "result", **message, "result": "ok"},
    ]
    header = {"rocketproof_trace": 1, "evidence": sorted(set(Kind) - {Kind.GAP}), "complete": True, "groups": {"g": {}}}
    found = check(written(tmp_path / "trace.jsonl", map(json.dumps, [header, *events])))
    answered = found.verdict("every-duplicate-has-a-cause")
    expected = (Verdict.VIOLATED, 1, 0) if pulls else (Verdict.NOT_OBSERVABLE, 0, 1)
    assert (answered.verdict, answered.violated, answered.doubtful) == expected


def test_a_group_that_consumes_a_static_topic_is_not_judged(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    (group,) = check(DATA / "a6.jsonl.zst").coverage.groups
    known = next(json.loads(line) for line in lines[1:] if '"assign"' in line)
    static = {**known, "topic": "static", "broker": "__syslo__global__", "queue": 3}
    found = check(written(tmp_path / "static.jsonl", [*lines, json.dumps(static)]))
    assert found.coverage.not_judged == {group: STATIC_TOPIC}
    assert not {answer.verdict for answer in found.verdicts} & {Verdict.VIOLATED, Verdict.HOLDS}


@pytest.mark.parametrize(
    ("differs", "why"), [({"listener": "orderly"}, BOTH_LISTENERS), ({"mode": "broadcasting"}, BOTH_MODES)]
)
def test_a_group_whose_members_differ_is_not_judged(tmp_path: Path, differs: dict[str, str], why: str) -> None:
    lines = lines_of("a6.jsonl.zst")
    (group,) = check(DATA / "a6.jsonl.zst").coverage.groups
    header = json.loads(lines[0])
    other = {**header, "groups": {group: {**header["groups"].get(group, {}), **differs}}}
    half = len(lines) // 2
    one = written(tmp_path / "one.jsonl", lines[:half])
    two = written(tmp_path / "two.jsonl", [json.dumps(other), *lines[half:]])
    assert check(one, two).coverage.not_judged == {group: why}
    assert not conform(open_trace([one, two])).mismatches


def test_a_claim_that_a_hole_leaves_open_for_one_group_holds_for_the_others(tmp_path: Path) -> None:
    lines = lines_of("a6.jsonl.zst")
    (group,) = check(DATA / "a6.jsonl.zst").coverage.groups
    events = [json.loads(line) for line in lines[1:]]
    header = json.loads(lines[0])
    header["groups"] = {**header.get("groups", {}), "other": header.get("groups", {}).get(group, {})}
    others = [renamed(event, "other") for event in events if event.get("group")]
    gap = {"time": events[-1]["time"], "due": events[0]["time"], "kind": "gap", "group": "other", "client": "x"}
    merged = sorted([*events, *others, gap], key=lambda event: int(event["time"]))
    for event in merged:
        event.pop("seq", None)
    found = check(written(tmp_path / "merged.jsonl", [json.dumps(header), *map(json.dumps, merged)]))
    answer = found.verdict("offset-never-past-unfinished")
    assert (answer.verdict, answer.holds_for) == (Verdict.UNKNOWN, (group,))
    assert answer.why.startswith(f"it HOLDS for group {group}; for other: what might violate this may be lost")


def test_a_group_that_consumes_the_retries_of_another_one_is_not_judged(tmp_path: Path) -> None:
    # It is given a message once for each retry of the other group, with counts that it has not made.
    lines = lines_of("a6.jsonl.zst")
    (group,) = check(DATA / "a6.jsonl.zst").coverage.groups
    time = json.loads(lines[1])["time"]
    read = {"topic": f"%RETRY%{group}", "broker": "b", "queue": 0, "client": "c9", "group": "by-hand", "key": "K"}
    given = [
        {"time": time + count, "kind": kind, "offset": count, "attempt": count, **read, **how}
        for count in (1, 2)
        for kind, how in (("deliver", {}), ("result", {"result": "ok"}))
    ]
    found = check(written(tmp_path / "read.jsonl", [*lines, *map(json.dumps, given)]))
    assert found.coverage.not_judged == {"by-hand": OTHER_RETRIES}
    assert list(found.coverage.groups) == [group]
