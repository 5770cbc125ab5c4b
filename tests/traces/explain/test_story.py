from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rocketproof.traces.claims.claims import CLAIMS, CODE
from rocketproof.traces.encoding.names import Actor, Names, Slot
from rocketproof.traces.engine.findings import ROW, Doubt
from rocketproof.traces.explain.evidence import Question, collect
from rocketproof.traces.explain.story import CERTAIN, certainty, stories
from rocketproof.traces.format.schema import Group, Header
from rocketproof.traces.io import Trace, open_trace
from rocketproof.traces.io.writing import write_jsonl

Event = dict[str, Any]

SLOT = Slot("G", "Orders", "broker-a", 3)
AT = {"group": "G", "topic": "Orders", "broker": "broker-a", "queue": 3}
STORED = {"topic": "Orders", "broker": "broker-a", "queue": 3}
NOON = 1_700_049_600_000


def at(time: int, kind: str, **fields: Any) -> Event:
    return {"time": NOON + time, "kind": kind, **fields}


EVENTS = [
    at(0, "client_start", client="c1"),
    at(10, "assign", client="c1", **AT, offset=16),
    at(20, "store", **STORED, offset=17, origin=5),
    at(100, "pull_result", client="c1", **AT, offset=16, next=20, count=4, result="found"),
    at(110, "deliver", client="c1", **AT, offset=16, origin=4, attempt=0),
    at(120, "deliver", client="c1", **AT, offset=17, origin=5, attempt=0),
    at(130, "deliver", client="c1", **{**AT, "queue": 4}, offset=17, origin=9, attempt=0),
    at(140, "result", client="c1", **AT, offset=17, origin=5, result="ok"),
    at(200_000, "commit", client="c1", **AT, offset=16, path="periodic"),
    at(400_000, "client_crash", client="c2"),
    at(400_100, "assign", client="c2", **AT, offset=16),
    at(400_200, "deliver", client="c2", **AT, offset=17, origin=5, attempt=0),
]


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    write_jsonl(tmp_path / "t.jsonl", Header(groups={"G": Group()}), EVENTS)
    return open_trace([tmp_path / "t.jsonl"])


def finding(names: Names, claim: str, **values: Any) -> np.ndarray[Any, Any]:
    row = np.zeros(1, ROW)
    row["claim"] = CODE[claim]
    row["slot"], row["actor"], row["other"] = -1, -1, -1
    for name, value in values.items():
        if isinstance(value, Slot):
            value = names.slot(value)
        elif isinstance(value, Actor):
            value = names.actor(value)
        row[name] = value
    return row


def lines(found: Iterable[Any]) -> list[int]:
    return [each.place.number for each in found]


def test_the_message_at_an_offset(trace: Trace) -> None:
    (answer,) = collect(trace, [Question(slot=SLOT, offsets=((17, 18),))], Names())
    assert [each.event["kind"] for each in answer] == ["store", "pull_result", "deliver", "result", "deliver"]
    assert lines(answer) == [4, 5, 7, 9, 13]


def test_moments_of_a_queue_and_of_processes(trace: Trace) -> None:
    question = Question(slot=SLOT, periods=((NOON + 399_000, NOON + 401_000),), actors=(Actor("c2"),))
    (answer,) = collect(trace, [question], Names())
    assert [each.event["kind"] for each in answer] == ["client_crash", "assign"]


def test_when_the_broker_of_a_queue_was_started(tmp_path: Path) -> None:
    runs = [
        at(time, "broker_start", broker=broker)
        for time, broker in ((5, "broker-a"), (6, "broker-b"), (900, "broker-a"))
    ]
    members = at(7, "members", broker="broker-a", group="G", members=["c1"])
    write_jsonl(tmp_path / "t.jsonl", Header(groups={"G": Group()}), [*runs[:2], members, runs[2]])
    question = Question(slot=SLOT, periods=((NOON, NOON + 500),), broker="broker-a")
    (answer,) = collect(open_trace([tmp_path / "t.jsonl"]), [question], Names())
    assert lines(answer) == [2]


def test_a_message_by_its_origin(trace: Trace) -> None:
    (answer,) = collect(trace, [Question(origin=9)], Names())
    assert lines(answer) == [8]


def test_what_another_group_did_with_the_message_is_left_out(tmp_path: Path) -> None:
    copy = {"broker": "broker-a", "queue": 0, "offset": 0, "origin": 5}
    others = [
        at(150, "deliver", client="c9", **{**AT, "group": "H"}, offset=17, origin=5, attempt=0),
        at(160, "store", topic="%RETRY%H", **copy),
        at(170, "store", topic="%RETRY%G", **copy),
    ]
    write_jsonl(tmp_path / "t.jsonl", Header(groups={"G": Group()}), [*EVENTS[:8], *others])
    questions = [Question(origin=5, group="G"), Question(origin=5)]
    answers = collect(open_trace([tmp_path / "t.jsonl"]), questions, Names())
    assert [lines(answer) for answer in answers] == [[4, 7, 9, 12], [4, 7, 9, 10, 11, 12]]


def test_every_question_gets_its_own_answer(trace: Trace) -> None:
    questions = [Question(origin=4), Question(slot=SLOT, offsets=((16, 17),)), Question(origin=99), Question()]
    assert [lines(answer) for answer in collect(trace, questions, Names())] == [[6], [5, 6], [], []]


def test_a_duplicate(trace: Trace) -> None:
    names = Names()
    rows = finding(
        names, "every-duplicate-has-a-cause", slot=SLOT, offset=17, origin=5, actor=Actor("c2"), other=Actor("c1"),
        since=NOON + 120, time=NOON + 400_200,
    )  # fmt: skip
    (story,) = stories(trace, rows, names)
    assert story.title == (
        "Offset 17 of Orders@broker-a:3 was delivered again to c2, and nothing that was recorded explains it"
    )
    assert story.certainty == CERTAIN
    assert [sentence.text for sentence in story.sentences] == [
        "12:00:00.000 c1 starts",
        "12:00:00.010 c1 takes Orders@broker-a:3, from offset 16",
        "12:00:00.020 offset 17 of Orders@broker-a:3 is stored",
        "12:00:00.100 c1 pulls Orders@broker-a:3 from 16: 4 messages, next is 20",
        "12:00:00.120 c1 is given offset 17 of Orders@broker-a:3 (attempt 0)",
        "12:00:00.140 c1 ends offset 17 of Orders@broker-a:3: ok",
        "12:06:40.000 c2 dies",
        "12:06:40.100 c2 takes Orders@broker-a:3, from offset 16",
        "12:06:40.200 c2 is given offset 17 of Orders@broker-a:3 (attempt 0)",
    ]
    assert str(story).splitlines()[-1].endswith("t.jsonl:13]")
    assert story.left_out == 0


def test_the_message_itself_is_told_before_its_surroundings(trace: Trace) -> None:
    names = Names()
    rows = finding(
        names, "every-duplicate-has-a-cause", slot=SLOT, offset=17, origin=5, actor=Actor("c2"), since=NOON + 120,
        time=NOON + 400_200,
    )  # fmt: skip
    (story,) = stories(trace, rows, names, events=4)
    assert lines(story.sentences) == [4, 7, 9, 13]
    assert story.left_out == 4
    assert str(story).splitlines()[-1] == "  … and 4 more events"


def test_only_the_first_findings_of_a_claim_are_told(trace: Trace) -> None:
    names = Names()
    duplicate = finding(names, "every-duplicate-has-a-cause", slot=SLOT, offset=17)
    skipped = finding(names, "nothing-skipped", slot=SLOT, offset=18, until=400, doubt=Doubt.GAP | Doubt.SKEW)
    explained = finding(names, "every-duplicate-has-a-cause", slot=SLOT, offset=16, cause=3)
    told = stories(trace, np.concatenate([skipped, explained, duplicate, duplicate, duplicate]), names, most=2)
    assert [story.claim.id for story in told] == ["every-duplicate-has-a-cause"] * 2 + ["nothing-skipped"]
    assert told[2].title == "The stored offset of Orders@broker-a:3 passed offsets 18 to 399, which nobody was given"
    assert told[2].certainty == certainty(Doubt.GAP | Doubt.SKEW) != CERTAIN


def test_what_is_certain_comes_first_and_every_queue_before_any_again(trace: Trace) -> None:
    names = Names()
    other = Slot("G", "Orders", "broker-a", 4)
    rows = [
        finding(names, "nothing-skipped", slot=SLOT, offset=1, time=NOON, doubt=Doubt.GAP),
        finding(names, "nothing-skipped", slot=SLOT, offset=2, time=NOON + 2),
        finding(names, "nothing-skipped", slot=SLOT, offset=3, time=NOON + 1),
        finding(names, "nothing-skipped", slot=other, offset=4, time=NOON + 9),
    ]
    told = stories(trace, np.concatenate(rows), names)
    assert [story.row["offset"] for story in told] == [3, 4, 2, 1]
    assert [story.certainty == CERTAIN for story in told] == [True, True, True, False]


def test_the_first_queue_of_each_group_comes_before_any_second_one(trace: Trace) -> None:
    names = Names()
    queues = [
        Slot("G", "Orders", "broker-a", 0),
        Slot("G", "Orders", "broker-a", 1),
        Slot("H", "Orders", "broker-a", 0),
    ]
    rows = [
        finding(names, "nothing-skipped", slot=slot, offset=offset, time=NOON + offset)
        for offset, slot in enumerate([*queues, *queues])
    ]
    told = stories(trace, np.concatenate(rows), names)
    assert [story.row["offset"] for story in told] == [0, 2, 1, 3, 5, 4]


def test_a_file_of_offsets_is_told_if_a_restart_read_it(tmp_path: Path) -> None:
    broker = {"broker": "broker-a", "detail": "consumerOffset"}
    events = [
        *(at(n, "file_persist", **broker) for n in (0, 5_000, 10_000)),
        at(11_000, "file_persist", broker="broker-a", detail="delayOffset"),
        at(12_000, "broker_start", broker="broker-a"),
        at(12_100, "file_load", **broker),
        at(15_000, "file_persist", **broker),
        at(16_000, "commit", client="c1", **AT, offset=3, path="periodic"),
    ]
    write_jsonl(tmp_path / "t.jsonl", Header(), events)
    names = Names()
    rows = finding(
        names, "nothing-skipped", slot=SLOT, offset=1, since=NOON + 1, time=NOON + 16_000, actor=Actor("broker-a", -1)
    )
    (story,) = stories(open_trace([tmp_path / "t.jsonl"]), rows, names)
    assert lines(story.sentences) == [4, 6, 7, 9]


def test_what_happens_again_and_again_is_told_once(tmp_path: Path) -> None:
    calm = [at(n, "flow_control", client="c1", **AT, path="count") for n in range(0, 12_000, 1000)]
    late = [at(n, "flow_control", client="c1", **AT, path="count") for n in (14_000, 15_000)]
    stop = at(13_000, "lock_lost", client="c1", **AT)
    write_jsonl(tmp_path / "t.jsonl", Header(), [*calm, stop, *late])
    names = Names()
    rows = finding(names, "every-queue-moves", slot=SLOT, offset=9, since=NOON, time=NOON + 15_000)
    (story,) = stories(open_trace([tmp_path / "t.jsonl"]), rows, names)
    first, lost, again = (sentence.text for sentence in story.sentences)
    assert first.startswith("12:00:00.000 c1 ")
    assert first.endswith("(12 times until 12:00:11.000)")
    assert lost.startswith("12:00:13.000 ")
    assert again.startswith("12:00:14.000 c1 ")
    assert again.endswith("(2 times until 12:00:15.000)")
    assert lines(story.sentences) == [2, 14, 15]
    assert story.left_out == 0
    (short,) = stories(open_trace([tmp_path / "t.jsonl"]), rows, names, events=1)
    assert (lines(short.sentences), short.left_out) == ([2], 3)


def test_passes_before_are_told_only_if_the_member_had_just_started(tmp_path: Path) -> None:
    def saw(time: int, client: str, *members: str) -> Event:
        return at(time, "rebalance", client=client, group="G", topic="Orders", members=members, queues=["b:0"])

    events = [
        at(0, "client_start", client="c2"),
        saw(1, "c1", "c1"),
        saw(2, "c2", "c1", "c2"),
        saw(3, "c1", "c1", "c2"),
        at(10_000, "deliver", client="c1", **AT, offset=17),
        at(10_001, "deliver", client="c2", **AT, offset=17),
    ]
    write_jsonl(tmp_path / "t.jsonl", Header(), events)
    names = Names()
    rows = finding(
        names, "every-duplicate-has-a-cause", slot=SLOT, offset=17, actor=Actor("c2"), other=Actor("c1"),
        since=NOON + 10_000, time=NOON + 10_001,
    )  # fmt: skip
    (story,) = stories(open_trace([tmp_path / "t.jsonl"]), rows, names)
    assert lines(story.sentences) == [2, 4, 5, 6, 7]


def test_nothing_found_is_no_story(trace: Trace) -> None:
    assert stories(trace, np.zeros(0, ROW), Names()) == ()


@pytest.mark.parametrize("claim", [claim.id for claim in CLAIMS])
def test_every_claim_has_a_title(trace: Trace, claim: str) -> None:
    names = Names()
    rows = finding(names, claim, slot=SLOT, offset=17, actor=Actor("c1"), other=Actor("c2"), value=2, expected=1)
    unknown = finding(names, claim, offset=-1)
    other, one = sorted(stories(trace, np.concatenate([rows, unknown]), names), key=lambda story: story.row["slot"])
    assert one.title[0].isupper() or one.title.startswith(("c1 ", "Orders@"))
    assert "{" not in one.title + other.title


def test_a_finding_about_a_group(tmp_path: Path) -> None:
    events = [
        at(0, "heartbeat", client="c1", group="G", subscriptions=["Orders=TagA"]),
        at(5, "heartbeat", client="c2", group="G", subscriptions=["Orders=TagB"]),
        at(6, "heartbeat", client="c2", group="H", subscriptions=["Orders=TagB"]),
        at(7, "rebalance", client="c2", group="G", topic="Else", members=["c1"], queues=["b:0"], assigned=[]),
    ]
    write_jsonl(tmp_path / "t.jsonl", Header(), events)
    names = Names()
    rows = finding(
        names, "same-subscriptions", slot=Slot("G", "Orders", "", -1), actor=Actor("c2"), other=Actor("c1"),
        since=NOON + 5, time=NOON + 60_005,
    )  # fmt: skip
    (story,) = stories(open_trace([tmp_path / "t.jsonl"]), rows, names)
    assert story.title == "Members of group G disagree about Orders for 60.0 s: c2 and c1, for example"
    assert lines(story.sentences) == [2, 3]


def test_what_is_said_again_is_not_told(tmp_path: Path) -> None:
    beats = [at(n, "heartbeat", client="c1", group="G", subscriptions=["Orders=TagA"]) for n in range(0, 9)]
    write_jsonl(tmp_path / "t.jsonl", Header(), [*beats, at(9, "heartbeat", client="c1", group="G", subscriptions=[])])
    names = Names()
    rows = finding(names, "same-subscriptions", slot=Slot("G", "Orders", "", -1), actor=Actor("c1"), since=NOON)
    (story,) = stories(open_trace([tmp_path / "t.jsonl"]), rows, names)
    assert lines(story.sentences) == [2, 11]
    assert story.left_out == 0


def test_evidence_of_many_findings_in_many_batches(tmp_path: Path) -> None:
    events = [at(n, "deliver", client="c1", **AT, offset=n, origin=n + 1) for n in range(3000)]
    write_jsonl(tmp_path / "t.jsonl", Header(), events)
    names = Names()
    questions = [Question(slot=SLOT, offsets=((n, n + 1),)) for n in range(0, 3000, 100)]
    answers = collect(open_trace([tmp_path / "t.jsonl"]), questions, names)
    assert [lines(answer) for answer in answers] == [[n + 2] for n in range(0, 3000, 100)]
