"""What was not recorded makes no mismatch: less is followed then, or the answer is UNKNOWN, and says why."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from rocketproof.properties.verdict import Verdict
from rocketproof.traces.conformance import Conformance, conform
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.schema import Header
from rocketproof.traces.io import open_trace
from rocketproof.traces.samples import Sample, samples

from .recorded import event_of, of_events, of_lines, whys

Events = list[dict[str, Any]]

QUICK = {"failures-to-dead-letter-5.3.3", "slow-listener-timeout-5.3.3", "fewer-read-queues-5.3.3"}
"""Samples that are tried every time; the others are slow."""

SHARES = 3
"""Of a slow sample every third of the poorer runs is tried, of the next sample those beside them."""

HOOKS = frozenset({Kind.DELIVER, Kind.RESULT})
LOGS = frozenset({Kind.ASSIGN, Kind.REVOKE, Kind.DELIVER, Kind.RESULT, Kind.CLIENT_START, Kind.CLIENT_STOP})


def content(sample: Sample) -> tuple[Header, Events]:
    """A sample as it was written."""
    trace = sample.open()
    batches = trace.sorted_batches()
    return trace.header, [{k: v for k, v in row.items() if v is not None} for b in batches for row in b.to_pylist()]


def poorer(header: Header, events: Events) -> Iterator[tuple[str, Header, Events]]:
    """The same run with less recorded of it, each time said honestly."""
    for kind in sorted({Kind(event["kind"]) for event in events}):
        less = replace(header, evidence=header.evidence - {kind})
        yield f"without {kind}", less, [event for event in events if event["kind"] != kind]
    for name, kinds in (("hooks", HOOKS), ("logs", LOGS)):
        some = replace(header, evidence=header.evidence & kinds, complete=False)
        yield name, some, [event for event in events if event["kind"] in kinds]
    part = replace(header, complete=False)
    for share in (0.1, 0.3, 0.6):
        yield f"from {share}", part, events[int(share * len(events)) :]
        yield f"up to {share}", part, events[: int(share * len(events))]
    for client in sorted({event["client"] for event in events if "client" in event}):
        yield f"without the file of {client}", part, [event for event in events if event.get("client") != client]
    yield "without the files of brokers", part, [event for event in events if "client" in event]


@pytest.mark.parametrize(
    ("sample", "place"),
    [
        pytest.param(one, place, id=one.name, marks=[] if one.name in QUICK else pytest.mark.slow)
        for place, one in enumerate(samples())
    ],
)
def test_less_evidence_is_no_mismatch(sample: Sample, place: int, tmp_path: Path) -> None:
    first, step = (0, 1) if sample.name in QUICK else (place % SHARES, SHARES)
    for name, header, events in islice(poorer(*content(sample)), first, None, step):
        if not events:
            continue  # a trace without events is none
        answer = of_events(header, events, tmp_path)
        assert (name, answer.mismatches) == (name, ())
        assert answer.verdict is not Verdict.VIOLATED
        assert answer.events == answer.followed + sum(answer.passed_over.values())


WRONG = ("assign c0 offset=0 epoch=1", "pull c0 offset=0 epoch=1", "pull c0 offset=7 epoch=1")
"""A pull that no window would send."""


def test_a_line_that_is_lost_may_be_what_is_missing(tmp_path: Path) -> None:
    assert of_lines(tmp_path, *WRONG).verdict is Verdict.VIOLATED
    path = tmp_path / "run.jsonl"
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([header, *lines[:2], lines[2][:20], *lines[2:]]) + "\n", encoding="utf-8")
    answer: Conformance = conform(open_trace([path]))
    assert (answer.verdict, answer.mismatches, answer.doubtful) == (Verdict.UNKNOWN, (), 1)
    assert len(answer.holes) == 1
    (why,) = [reason for reason in answer.passed_over if reason.startswith("mismatches")]
    assert why.startswith("mismatches that may be explained by what is not recorded: ")


def test_what_is_lost_afterwards_explains_nothing(tmp_path: Path) -> None:
    of_lines(tmp_path, *WRONG, *WRONG[1:])
    path = tmp_path / "run.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines.insert(5, lines[5][:20])
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert conform(open_trace([path])).verdict is Verdict.VIOLATED


def test_a_file_that_breaks_off_leaves_the_rest_unknown(tmp_path: Path) -> None:
    of_lines(tmp_path, *WRONG[:2])
    packed = tmp_path / "run.jsonl.gz"
    data = gzip.compress((tmp_path / "run.jsonl").read_bytes())
    packed.write_bytes(data[:-9])
    answer = conform(open_trace([packed]))
    assert (answer.verdict, answer.mismatches) == (Verdict.UNKNOWN, ())


def test_a_reset_may_be_in_a_gap_of_the_broker(tmp_path: Path) -> None:
    # Within the queue an offset is illegal for one reason only: somebody has reset it.
    told = "result=offset_illegal offset=3 next=1 min=0 max=3 count=0 epoch=1"
    lines = ("assign c0 offset=3 epoch=1", "pull c0 offset=3 epoch=1", f"pull_result c0 {told}")
    assert of_lines(tmp_path, *lines).verdict is Verdict.VIOLATED
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3")
    events = [event_of(number, line) for number, line in enumerate(lines)]
    end = events[-1]["time"] + 1
    for due, broker, verdict in (
        (events[0]["time"], "broker-0", Verdict.UNKNOWN),
        (events[0]["time"], "broker-1", Verdict.VIOLATED),
        (end, "broker-0", Verdict.VIOLATED),
    ):
        gap = {"time": end, "kind": "gap", "broker": broker, "due": due, "detail": "its recording ends early"}
        assert of_events(header, [*events, gap], tmp_path).verdict is verdict, (due, broker)


def test_an_answer_without_a_request_is_wrong_whatever_the_broker_did(tmp_path: Path) -> None:
    found = "result=found offset=0 next=1 min=0 max=3 count=1 epoch=1"
    right = ("assign c0 offset=0 epoch=1", "pull c0 offset=0 epoch=1", f"pull_result c0 {found}")
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3")
    for lines, verdict in (
        (right, Verdict.UNKNOWN),  # where the window begins may rest on what is in the gap
        ((right[0], right[2]), Verdict.VIOLATED),
        ((*right, "pull c0 offset=1 epoch=1", right[2]), Verdict.VIOLATED),
    ):
        events = [event_of(number, line) for number, line in enumerate(lines)]
        end = events[-1]["time"] + 1
        gap = {"time": end, "kind": "gap", "broker": "broker-0", "due": 0, "detail": "its recording begins late"}
        assert (verdict, of_events(header, [*events, gap], tmp_path).verdict) == (verdict, verdict)


@pytest.mark.parametrize(
    ("after", "complete", "wrong"),
    [(0, False, 0), (0, True, 1), (6_000, False, 1)],
    ids=["the end", "the end of what is complete", "it goes on"],
)
def test_a_recording_that_ends_before_a_send_back_is_written_down(
    after: int, complete: bool, wrong: int, tmp_path: Path
) -> None:
    # The broker stores the copy of a second failure; its client would have told of it with the answer.
    place = {"group": "billing", "topic": "Orders", "broker": "broker-0", "key": "A"}
    back = {"time": 1_000, "kind": "send_back", "client": "c0", "queue": 0, "offset": 0, "attempt": 0, **place}
    first = {"time": 1_001, "kind": "delay_store", "attempt": 1, "level": 3, **place, "topic": "%RETRY%billing"}
    second = {**first, "time": 11_002, "attempt": 2, "level": 4}
    later = [{"time": 11_002 + after, "kind": "members", "group": "billing", "broker": "broker-0", "members": []}]
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", complete=complete)
    answer = of_events(header, [{**back, "result": "ok", "path": "request"}, first, second, *later], tmp_path)
    assert len(answer.mismatches) == wrong


def test_what_is_stored_for_one_group_is_not_held_against_what_another_one_sent_back(tmp_path: Path) -> None:
    # Both consume the message, and both fail; of the second one only the broker tells.
    place = {"topic": "Orders", "broker": "broker-0", "key": "A"}
    back = {"time": 1_000, "kind": "send_back", "client": "c0", "queue": 0, "offset": 0, "attempt": 0, **place}
    asked = {**back, "group": "billing", "result": "ok", "path": "request", "level": 1}
    stored = {"time": 1_001, "kind": "delay_store", "attempt": 1, **place}
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", complete=True)
    for group, level, wrong in (("billing", 1, 0), ("billing", 3, 1), ("audit", 3, 0), ("audit", 1, 0)):
        copy = {**stored, "topic": f"%RETRY%{group}", "level": level}
        for named in ({}, {"group": group}):
            assert len(of_events(header, [asked, {**copy, **named}], tmp_path).mismatches) == wrong, (group, level)


def test_when_a_retry_is_due_is_judged_by_levels_that_the_header_tells(tmp_path: Path) -> None:
    place = {"topic": "Orders", "broker": "broker-0", "key": "A", "group": "billing"}
    back = {"time": 1_000, "kind": "send_back", "client": "c0", "queue": 0, "offset": 0, "attempt": 0, **place}
    copy = {"time": 1_001, "kind": "delay_store", "attempt": 1, "level": 3, "due": 5_001, **place}
    events = [{**back, "result": "ok", "path": "request"}, {**copy, "topic": "%RETRY%billing"}]
    for delays, wrong in (("1s 5s 10s", 1), ("1s 2s 4s", 0), ("", 0)):
        header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", complete=True, delays=delays)
        assert len(of_events(header, events, tmp_path).mismatches) == wrong, delays


def test_a_member_that_recorded_nothing_may_have_stored_what_is_found(tmp_path: Path) -> None:
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", complete=True)
    place = {"group": "billing", "topic": "Orders", "broker": "broker-0", "queue": 0, "client": "c0"}
    query = {"time": 1_000, "kind": "offset_query", "result": "ok", "offset": 5, **place}
    begins = {"time": 1_001, "kind": "assign", "offset": 5, **place}
    assert of_events(header, [query, begins], tmp_path).verdict is Verdict.VIOLATED
    members = {"time": 999, "kind": "members", "group": "billing", "broker": "broker-0", "members": ["c0", "c1"]}
    answer = of_events(header, [members, query, begins], tmp_path)
    assert (answer.verdict, answer.doubtful) == (Verdict.UNKNOWN, 1)
    assert "nothing of the member c1" in " ".join(answer.passed_over)


BEGUN = ("assign c0 offset=0 epoch=1", "revoke c0 path=removal epoch=1", "commit c0 offset=0")
"""A window that has come and gone, so that it is known what is stored."""


def test_a_client_with_a_gap_may_have_sent_what_the_broker_stores_of_nobody(tmp_path: Path) -> None:
    header = Header(source="a test", evidence=frozenset(Kind), release="5.3.3", complete=True)
    events = [event_of(number, line) for number, line in enumerate((*BEGUN, "assign c0 offset=0 epoch=2"))]
    stored = {**event_of(9, "commit c0 offset=2"), "client": None}
    assert whys(of_events(header, [*events, stored], tmp_path)) == [
        "the stored offset never had this value, and no client had it in memory"
    ]
    gap = {"time": stored["time"] + 1, "kind": "gap", "client": "c0", "due": stored["time"] - 1, "detail": "cut"}
    assert whys(of_events(header, [*events, stored, gap], tmp_path)) == []


@pytest.mark.parametrize(("offset", "verdict"), [(5, Verdict.HOLDS), (4, Verdict.VIOLATED)])
def test_the_answer_of_a_query_that_is_not_recorded_shows_in_memory(
    offset: int, verdict: Verdict, tmp_path: Path
) -> None:
    header = Header(source="a test", evidence=frozenset(Kind) - {Kind.OFFSET_QUERY}, release="5.3.3", complete=True)
    other = (
        "assign c1 offset=0 epoch=1",
        "reset c1 offset=5",
        "commit c1 offset=5",
        f"commit_memory c0 offset={offset}",
    )
    events = [event_of(number, line) for number, line in enumerate((*BEGUN, *other))]
    answer = of_events(header, events, tmp_path)
    assert answer.verdict is verdict, answer


CALL = (
    "assign c0 offset=0 epoch=1",
    "pull c0 offset=0 epoch=1",
    "pull_result c0 result=found offset=0 next=3 min=0 max=3 count=3 epoch=1",
    *(f"deliver c0 offset={m} count=2 epoch=1" for m in (0, 1)),
    "deliver c0 offset=2 count=1 epoch=1",
    *(f"result c0 result=later offset={m} epoch=1" for m in (0, 1)),
    *(f"send_back c0 result=ok path=request offset={m} epoch=1" for m in (0, 1)),
)
"""A call with two messages that failed, and another one that goes on."""


@pytest.mark.parametrize(
    ("rest", "wrong"),
    [
        (("removed c0 offset=0 next=2 epoch=1",), []),
        (("removed c0 offset=0 next=3 epoch=1",), ["the low-water mark is 1"]),
        (("removed c0 offset=0 next=2 epoch=1", "pull c0 offset=3 epoch=1"), ["the low-water mark is 1"]),
    ],
    ids=["the end", "one runs", "it goes on"],
)
def test_a_recording_that_ends_amid_the_removals_of_a_call(
    rest: tuple[str, ...], wrong: list[str], tmp_path: Path
) -> None:
    assert whys(of_lines(tmp_path, *CALL, *rest)) == wrong


def test_whether_the_file_of_a_broadcasting_member_was_still_there_is_not_told(tmp_path: Path) -> None:
    read = (
        "assign c0 offset=0 epoch=0",
        "pull c0 offset=0 epoch=0",
        "pull_result c0 result=found offset=0 next=1 count=1 epoch=0",
        "deliver c0 offset=0 count=1 epoch=0",
        "result c0 offset=0 result=ok epoch=0",
        "removed c0 offset=0 next=1 epoch=0",
        "commit_memory c0 offset=1",
        "commit c0 offset=1 path=file",
    )
    stop, start = "client_stop c0", "client_start c0 incarnation=1"
    answer = of_lines(tmp_path, *read, stop, start, "assign c0 offset=0 epoch=1 incarnation=1", mode="broadcasting")
    assert (whys(answer), answer.doubtful, answer.verdict) == ([], 1, Verdict.UNKNOWN)
    away = "revoke c0 epoch=0 path=removal", "assign c0 offset=0 epoch=1"
    old = of_lines(tmp_path, *read, *away, mode="broadcasting", release="5.1.4")
    assert (whys(old), old.doubtful, old.verdict) == ([], 1, Verdict.UNKNOWN)
    assert whys(of_lines(tmp_path, *read, *away, mode="broadcasting")) == ["it begins where the store says, at 1"]


@pytest.mark.parametrize(
    ("kinds", "unseen"),
    [
        ("deliver result", ["no revoke or removed or expire events of c0"]),
        ("removed", ["no deliver or result events of c0"]),
        ("deliver result removed", []),
    ],
)
def test_what_a_process_must_have_done_and_never_recorded_explains_what_follows(
    kinds: str, unseen: list[str], tmp_path: Path
) -> None:
    """An agent may not know the classes of a client: nothing leaves a window, or no listener is ever called."""
    of_kind = {"deliver": "", "result": " result=ok", "removed": " next=1"}
    lines = ["assign c0 offset=0 epoch=1", "pull c0 offset=0 epoch=1"]
    lines += ["pull_result c0 result=found offset=0 next=1 count=1 epoch=1"]
    lines += [f"{kind} c0 offset=0 epoch=1{of_kind[kind]}" for kind in kinds.split()]
    answer = of_lines(tmp_path, *lines, "commit_memory c0 offset=1", "unregister c0", "client_stop c0")
    assert whys(answer) == []
    assert [why.partition(": ")[2] for why in answer.passed_over if ": no " in why] == unseen
