"""OpenTelemetry spans: names of all versions, what a span tells of a result, queues, files of everything, damage."""

import gzip
import json

import pytest

from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.format.schema import Group
from rocketproof.traces.io.importers import detect
from rocketproof.traces.io.importers.otel_spans import OtelSpans

T = 1_700_000_000_000

NEW = {
    "messaging.system": "rocketmq",
    "messaging.operation.type": "process",
    "messaging.operation.name": "consume",
    "messaging.destination.name": "orders",
    "messaging.consumer.group.name": "billing",
    "messaging.client.id": "10.0.0.9@4242#81",
    "messaging.message.id": "AC1F",
    "messaging.rocketmq.consumption_model": "clustering",
}
"""A call of a listener, by the conventions since 1.27."""

OLD = {
    "messaging.system": "rocketmq",
    "messaging.operation": "process",
    "messaging.destination": "orders",
    "messaging.rocketmq.client_group": "billing",
    "messaging.consumer_id": "billing - 10.0.0.9@4242#81",
    "messaging.message_id": "AC1F",
    "messaging.rocketmq.consumption_model": "clustering",
}
"""The same, by the conventions of 1.9."""

AGENT = {
    "messaging.system": "rocketmq",
    "messaging.operation": "process",
    "messaging.destination.name": "orders",
    "messaging.message.id": "AC1F",
    "messaging.rocketmq.message.tag": "TagA",
    "messaging.rocketmq.broker_address": "10.0.0.2:10911",
    "messaging.rocketmq.queue_id": 3,
    "messaging.rocketmq.queue_offset": 77,
}
"""What the Java agent says of a call of the 4.x client, with its experimental attributes."""

SENT = {
    "messaging.system": "rocketmq",
    "messaging.operation.type": "send",
    "messaging.destination.name": "orders",
    "messaging.message.id": "AC1F",
    "messaging.client.id": "10.0.0.5@7",
}


def value(given):
    if isinstance(given, bool):
        return {"boolValue": given}
    return {"intValue": str(given)} if isinstance(given, int) else {"stringValue": given}


def attributes(given):
    return [{"key": key, "value": value(item)} for key, item in given.items()]


def span(given, begin=T, end=T + 12, **told):
    return {
        "traceId": "0af7",
        "spanId": "b7ad",
        "name": "orders process",
        "kind": 5,
        "startTimeUnixNano": str(begin * 1_000_000 + 999),
        "endTimeUnixNano": str(end * 1_000_000),
        "attributes": attributes(given),
        **told,
    }


def line(*spans, resource=None, scope="io.opentelemetry.rocketmq-client-5.0"):
    told = {"attributes": attributes(resource or {})}
    return json.dumps(
        {"resourceSpans": [{"resource": told, "scopeSpans": [{"scope": {"name": scope}, "spans": spans}]}]}
    )


WHOLE = "\n".join([line(span(SENT, T - 5, T - 2, kind=4)), line(span(NEW), span(OLD, status={"code": 2}))]) + "\n"


def imported(tmp_path, text):
    path = tmp_path / "spans.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    problems = Problems()
    found = OtelSpans().read(path, problems)
    return found, list(found.events), [str(problem) for problem in problems.kept]


def test_a_message_from_its_producer_to_the_end_of_a_call(tmp_path):
    found, events, problems = imported(tmp_path, "\n".join([line(span(SENT, T - 5, T - 2, kind=4)), line(span(NEW))]))
    about = {"client": "10.0.0.9@4242#81", "topic": "orders", "key": "AC1F", "detail": "span 0af7/b7ad"}
    assert problems == []
    assert events == [
        {
            "time": T - 2,
            "kind": Kind.STORE,
            "result": Result.OK,
            "client": "10.0.0.5@7",
            "topic": "orders",
            "key": "AC1F",
            "detail": "span 0af7/b7ad",
            "attempt": 0,
        },
        {"time": T, "kind": Kind.DELIVER, **about, "group": "billing"},
        {"time": T + 12, "kind": Kind.RESULT, "result": Result.OK, **about, "group": "billing"},
        {"time": T + 12, "kind": Kind.GAP, "due": T - 2, "detail": "spans may be sampled, or lost on their way"},
    ]
    assert found.header.evidence == {Kind.STORE, Kind.DELIVER, Kind.RESULT}
    assert found.header.groups == {"billing": Group(mode="clustering")}


def test_older_names_say_the_same(tmp_path):
    assert imported(tmp_path, line(span(OLD)))[1] == imported(tmp_path, line(span(NEW)))[1]
    newest = {key.replace("messaging.rocketmq.", "rocketmq."): told for key, told in NEW.items()}
    found, events, _ = imported(tmp_path, line(span(newest)))
    assert (found.header.groups, len(events)) == ({"billing": Group(mode="clustering")}, 3)
    packed = imported(tmp_path, gzip.compress(line(span(NEW)).encode()))
    assert packed[1] == imported(tmp_path, line(span(NEW)))[1]


def test_the_agent_says_queue_and_offset_and_not_how_a_call_ended(tmp_path):
    text = line(
        span(AGENT),
        resource={"host.name": "h1", "process.pid": 4242, "service.name": "shop"},
        scope="io.opentelemetry.rocketmq-client-4.8",
    )
    found, events, problems = imported(tmp_path, text)
    assert problems == []
    assert events[0] == {
        "time": T,
        "kind": Kind.DELIVER,
        "client": "h1@4242",
        "topic": "orders",
        "broker": "10.0.0.2:10911",
        "queue": 3,
        "offset": 77,
        "key": "AC1F",
        "detail": "span 0af7/b7ad",
    }
    assert [event["kind"] for event in events] == [Kind.DELIVER, Kind.GAP]
    assert found.skipped == {"end of a call that does not say how": 1}
    assert found.header.evidence == {Kind.DELIVER}


THREW = {"status": {"code": "STATUS_CODE_ERROR"}, "events": [{"name": "exception"}]}


@pytest.mark.parametrize(
    ("more", "told", "result"),
    [
        ({}, {"status": {"code": 2}}, Result.LATER),
        ({}, THREW, Result.EXCEPTION),
        ({}, {"status": {"code": 1}}, Result.OK),
        ({"error.type": "timeout"}, {}, Result.LATER),
        ({"messaging.rocketmq.consume_concurrently_status": "RECONSUME_LATER"}, {}, Result.LATER),
        ({"messaging.rocketmq.consume_orderly_status": "SUSPEND_CURRENT_QUEUE_A_MOMENT"}, {}, Result.SUSPEND),
        ({}, {}, None),
    ],
)
def test_how_a_call_ended(tmp_path, more, told, result):
    text = line(span({**AGENT, **more}, **told), scope="io.opentelemetry.rocketmq-client-4.8")
    found, events, _ = imported(tmp_path, text)
    assert [event["result"] for event in events if event["kind"] is Kind.RESULT] == ([result] if result else [])
    assert (Kind.RESULT in found.header.evidence) is (result is not None)


def test_delayed_messages_and_failed_ones(tmp_path):
    delayed = {**SENT, "messaging.rocketmq.message.delay_time_level": 3, "messaging.rocketmq.message.type": "delay"}
    refused = {**SENT, "messaging.rocketmq.send_result": "FLUSH_DISK_TIMEOUT"}
    found, events, _ = imported(tmp_path, line(span(delayed, kind=4), span(refused, kind=4)))
    assert [(event["kind"], event.get("result"), event.get("level")) for event in events[:2]] == [
        (Kind.DELAY_STORE, Result.OK, 3),
        (Kind.STORE, Result.FAILED, None),
    ]
    assert found.header.evidence == {Kind.STORE, Kind.DELAY_STORE}


def test_a_file_of_everything(tmp_path):
    batch = {key: told for key, told in NEW.items() if key != "messaging.message.id"} | {
        "messaging.batch.message_count": 4
    }
    text = [
        line(span({"messaging.system": "kafka"}), span({"http.method": "GET"}, kind=3), span(batch)),
        line(span({**NEW, "messaging.operation.type": "receive"}), span({**NEW, "messaging.operation.type": "settle"})),
        json.dumps({"resourceMetrics": []}),
        line(span(NEW)),
    ]
    found, events, problems = imported(tmp_path, "\n".join(text))
    assert (len(events), problems) == (3, [])
    assert found.skipped == {
        "span of something else": 2,
        "call that names no message, as of a batch": 1,
        "span of the operation receive": 1,
        "span of the operation settle": 1,
        "export of metrics or logs": 1,
    }


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "no JSON: Expecting property name enclosed in double quotes"),
        ("[1]", "no export of spans: an object with resourceSpans is needed"),
        ('{"resourceSpans": [7]}', "an object is needed in a list where something else is"),
        ('{"resourceSpans": [{"scopeSpans": 1}]}', "a list of objects is needed where something else is"),
        (line(span(NEW, startTimeUnixNano="soon")), "span b7ad: startTimeUnixNano is 'soon', not a whole number"),
        (line(span(NEW, endTimeUnixNano=None)), "span b7ad: endTimeUnixNano is None, not a time"),
        (
            line(span({**AGENT, "messaging.rocketmq.queue_id": "x"})),
            "span b7ad: messaging.rocketmq.queue_id is 'x', not a whole number",
        ),
        (
            line(span({**AGENT, "messaging.rocketmq.queue_offset": "9" * 19})),
            f"span b7ad: messaging.rocketmq.queue_offset is {'9' * 19}, which has more than 64 bits",
        ),
    ],
)
def test_what_is_broken_is_told_with_its_line(tmp_path, text, problem):
    _, events, problems = imported(tmp_path, f"{line(span(NEW))}\n{text}\n")
    assert len(events) == 3
    assert [told.rpartition("spans.json:")[2] for told in problems] == [f"2: damaged line: {problem}"]


def test_it_is_told_by_its_content():
    assert detect("\n" + WHOLE, "x").name == "otel-spans"
    assert detect('{"resourceMetrics": []}\n', "x") is None
