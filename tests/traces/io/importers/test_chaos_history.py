"""Chaos histories: producers, consumers, both widths, damage."""

from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.io.importers import detect
from rocketproof.traces.io.importers.chaos_history import ChaosHistory

T = 1_700_000_000_000
SENT = (
    "SendResult [sendStatus=SEND_OK, msgId=KEY7, offsetMsgId=OFFSETID, "
    "messageQueue=MessageQueue [topic=chaos, brokerName=n1, queueId=2], queueOffset=41]"
)
RECEIVED = "receive status [ msgId = KEY7, topic = chaos, group = CG, queueId = 2, queueOffset = 41]"


def line(*fields):
    return "\t".join(str(field) for field in fields) + "\n"


REQUEST = line(0, "enqueue", "REQUEST", 7, "null", T, "null")
STORED = line(0, "enqueue", "RESPONSE", "SUCCESS", 7, "null", T + 5, 5, SENT, 0)
CONSUMED = line(1, "dequeue", "RESPONSE", "SUCCESS", 7, "null", T + 9, 0, RECEIVED, 9)


def imported(tmp_path, text):
    path = tmp_path / "2024-chaos-history-file"
    path.write_text(text)
    problems = Problems()
    found = ChaosHistory().read(path, problems)
    return found, list(found.events), problems


def test_a_message_from_producer_to_consumer(tmp_path):
    fault = line("fault", "random-kill", "start", T + 1)
    found, events, problems = imported(tmp_path, REQUEST + fault + STORED + CONSUMED)
    assert problems.count == 0
    place = {"topic": "chaos", "broker": "n1", "queue": 2, "offset": 41, "key": "KEY7", "msg_id": "OFFSETID"}
    got = {"time": T + 9, "client": "consumer-1", "group": "CG", "detail": "value 7", **place}
    assert events == [
        {
            "time": T,
            "kind": Kind.STORE,
            "result": Result.OK,
            "client": "producer-0",
            "attempt": 0,
            "detail": "value 7",
            **place,
        },
        {**got, "kind": Kind.DELIVER},
        {**got, "kind": Kind.RESULT, "result": Result.OK},
    ]
    assert found.skipped == {"request": 1, "fault": 1}
    assert found.header.evidence == {Kind.STORE, Kind.DELIVER, Kind.RESULT}
    assert not found.header.complete


def test_the_broker_is_known_although_the_consumer_was_faster(tmp_path):
    _, events, _ = imported(tmp_path, CONSUMED + STORED)
    assert [event["broker"] for event in events] == ["n1", "n1", "n1"]


def test_a_copy_at_another_place_is_not_given_the_broker_of_the_first(tmp_path):
    _, events, _ = imported(tmp_path, STORED + CONSUMED.replace("queueOffset = 41", "queueOffset = 43"))
    assert events[1]["offset"] == 43
    assert "broker" not in events[1]


def test_narrow_lines_of_early_releases(tmp_path):
    text = (
        line(0, "enqueue", "REQUEST", 7, "null", T)
        + line(0, "enqueue", "RESPONSE", "UNKNOWN", 7, "null", T + 5, 5)
        + line(1, "dequeue", "RESPONSE", "SUCCESS", 7, "null", T + 9, 0)
    )
    _, events, problems = imported(tmp_path, text)
    assert problems.count == 0
    assert [(event["kind"], event.get("result"), event["key"], event.get("group")) for event in events] == [
        (Kind.STORE, Result.ERROR, "7", None),
        (Kind.DELIVER, None, "7", "ChaosTest_ConsumerGroup"),
        (Kind.RESULT, Result.OK, "7", "ChaosTest_ConsumerGroup"),
    ]


def test_it_is_complete_when_every_consumer_found_nothing_in_the_end(tmp_path):
    empty = line(1, "dequeue", "RESPONSE", "FAILURE", "null", "null", T + 99, 3, "null", 0)
    found, _, _ = imported(tmp_path, STORED + CONSUMED + empty)
    assert found.header.complete
    assert found.skipped == {"nothing to dequeue": 1}
    assert not imported(tmp_path, empty + CONSUMED)[0].header.complete
    assert not imported(tmp_path, empty + CONSUMED.replace("1\tdequeue", "2\tdequeue", 1))[0].header.complete


def test_damage_is_counted_and_located(tmp_path):
    text = STORED + CONSUMED[:40] + "\n" + STORED.replace(str(T + 5), "soon") + "\nhello\n"
    _, events, problems = imported(tmp_path, text)
    assert len(events) == 1
    assert [problem.line for problem in problems.kept] == [2, 3, 5]
    assert problems.kept[2].what == "no line of a history: 'hello'"


def test_histories_are_detected():
    assert detect(REQUEST, "any").name == "chaos-history"
    assert detect(CONSUMED, "any").name == "chaos-history"
    assert detect(line("fault", "random-kill", "start", T), "any") is None
