"""Message-trace data: all types and widths of records, all forms of input, and what is broken in practice."""

import base64
import gzip
import json

import pytest

from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.io.importers import detect
from rocketproof.traces.io.importers.message_trace import MessageTrace

T = 1_700_000_000_000
# Address 10.0.0.9, process 4242, then class loader, time and counter, as MessageClientIDSetter lays them out.
CALL = "0A000009" + "1092" + "6D06D69C" + "00000001" + "0000"
OTHER = "0A000009" + "1092" + "6D06D69C" + "00000002" + "0001"
KEY = "0A000005" + "0007" + "6D06D69C" + "00000000" + "0000"

PUB = ["Pub", T, "DefaultRegion", "PG", "orders", KEY, "TagA", "k-17", "10.0.0.2:10911", 64, 3, 0, "OFFSETID", "true"]
BEFORE = ["SubBefore", T + 10, "DefaultRegion", "CG", CALL, KEY, 0, "k-17"]
AFTER = ["SubAfter", CALL, KEY, 12, "false", "k-17", 4, T + 22, "CG"]


def body(*records, end="\x02"):
    return "".join("\x01".join(str(field) for field in record) + end for record in records)


def imported(tmp_path, text, name="trace.txt"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    problems = Problems()
    found = MessageTrace().read(path, problems)
    return found, list(found.events), problems


def test_a_message_from_its_producer_to_the_end_of_a_call(tmp_path):
    found, events, problems = imported(tmp_path, body(PUB, BEFORE, AFTER))
    assert problems.count == 0
    assert events == [
        {
            "time": T,
            "kind": Kind.STORE,
            "result": Result.OK,
            "client": "10.0.0.5@7",
            "topic": "orders",
            "key": KEY,
            "msg_id": "OFFSETID",
            "attempt": 0,
            "detail": "producer group PG, to 10.0.0.2:10911, 3 ms",
        },
        {
            "time": T + 10,
            "kind": Kind.DELIVER,
            "client": "10.0.0.9@4242",
            "group": "CG",
            "topic": "orders",
            "key": KEY,
            "attempt": 0,
            "detail": f"call {CALL}",
        },
        {
            "time": T + 22,
            "kind": Kind.RESULT,
            "result": Result.LATER,
            "client": "10.0.0.9@4242",
            "group": "CG",
            "topic": "orders",
            "key": KEY,
            "attempt": 0,
            "detail": f"call {CALL}",
        },
        {"time": T + 22, "kind": Kind.GAP, "due": T, "detail": "message traces may lose records (TR-2)"},
    ]
    assert found.header.evidence == {Kind.STORE, Kind.DELIVER, Kind.RESULT}


def test_the_evidence_is_what_kinds_of_records_are_there(tmp_path):
    assert imported(tmp_path, body(PUB))[0].header.evidence == {Kind.STORE}
    assert imported(tmp_path, body(AFTER))[0].header.evidence == {Kind.DELIVER, Kind.RESULT}


WHOLE = body(PUB, BEFORE, AFTER)
FORMS = {
    "a body": WHOLE,
    "a body a line": body(PUB) + "\n" + body(BEFORE, AFTER) + "\n",
    "hexadecimal": body(PUB).encode().hex() + "\n" + body(BEFORE, AFTER).encode().hex().upper(),
    "base64": base64.b64encode(WHOLE.encode()).decode(),
    "json": json.dumps({"bornHost": "/10.0.0.9:51000", "body": WHOLE}),
    "json of base64": json.dumps({"bornHost": None, "body": base64.b64encode(WHOLE.encode()).decode()}),
    "packed": gzip.compress(WHOLE.encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_input_give_the_same(tmp_path, form):
    _, events, problems = imported(tmp_path, FORMS[form])
    assert problems.count == 0
    assert events == imported(tmp_path, WHOLE)[1]
    if form != "packed":
        assert detect(FORMS[form], "x").name == "message-trace"


@pytest.mark.parametrize(
    ("kind", "record", "result"),
    [
        ("13 fields", [*PUB[:12], "true"], Result.OK),
        ("14 fields", PUB, Result.OK),
        ("15 fields", [*PUB, "10.0.0.5:1234"], Result.OK),
        ("not stored safely", [*PUB[:13], "false"], Result.FAILED),
    ],
)
def test_all_widths_of_pub(tmp_path, kind, record, result):
    _, events, problems = imported(tmp_path, body(record))
    assert problems.count == 0
    assert (events[0]["kind"], events[0]["result"]) == (Kind.STORE, result)
    assert events[0]["msg_id"] == (None if kind == "13 fields" else "OFFSETID")


@pytest.mark.parametrize(
    ("fields", "time"),
    [
        (AFTER[:6], T + 34),  # 12 ms for each of the two messages of the call
        (AFTER[:7], T + 34),
        ([*AFTER[:7], ""], T + 34),  # to a cloud channel, 5.x
        (AFTER, T + 22),
    ],
)
def test_all_widths_of_sub_after(tmp_path, fields, time):
    second = ["SubBefore", T + 10, "DefaultRegion", "CG", CALL, "B" * 32, 0, ""]
    _, events, problems = imported(tmp_path, body(BEFORE, second, fields))
    assert problems.count == 0
    result = events[2]
    assert (result["time"], result["group"], result["result"]) == (time, "CG", Result.LATER)


def test_unterminated_records_to_a_cloud_channel(tmp_path):
    text = body(AFTER[:7], ["SubAfter", OTHER, KEY, 1, "true", "", 0], end="\x01") + body(BEFORE)
    before_other = ["SubBefore", T + 90, "DefaultRegion", "CG", OTHER, KEY, 1, ""]
    _, events, problems = imported(tmp_path, text + body(before_other))
    assert problems.count == 0
    assert [(event["kind"], event["time"]) for event in events[:-1]] == [
        (Kind.RESULT, T + 22),
        (Kind.RESULT, T + 91),
        (Kind.DELIVER, T + 10),
        (Kind.DELIVER, T + 90),
    ]
    assert [event["attempt"] for event in events[:-1]] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("success", "code", "result"),
    [
        ("true", 0, Result.OK),
        ("true", 1, Result.TIMEOUT),
        ("false", 1, Result.LATER),
        ("false", 2, Result.EXCEPTION),
        ("false", 3, Result.NULL),
        ("false", 4, Result.LATER),
    ],
)
def test_how_a_call_ended(tmp_path, success, code, result):
    record = [*AFTER[:4], success, "", code, T + 22, "CG"]
    assert imported(tmp_path, body(record))[1][0]["result"] == result


def test_a_result_without_its_delivery(tmp_path):
    _, events, problems = imported(tmp_path, body(AFTER))
    assert (problems.count, events[0]["attempt"], events[0]["topic"]) == (0, None, None)
    _, events, problems = imported(tmp_path, body(PUB, AFTER[:7]))
    assert len(events) == 2
    assert problems.kept[0].what == "record 2 (SubAfter): without time, and its SubBefore is not in the file"


def test_empty_fields_and_nulls(tmp_path):
    before = ["SubBefore", T, "null", "CG", CALL, KEY, 2, ""]
    _, events, problems = imported(tmp_path, body(before, [*PUB[:12], "null", "true"]))
    assert problems.count == 0
    assert (events[0]["attempt"], events[1]["msg_id"]) == (2, None)


def test_transactions_and_recalls(tmp_path):
    half = [*PUB[:11], 1, *PUB[12:]]
    ended = ["EndTransaction", T + 5, "R", "PG", "orders", KEY, "t", "k", "10.0.0.2:10911", 2, "TX1"]
    found, events, problems = imported(
        tmp_path,
        body(
            half,
            [*ended, "COMMIT_MESSAGE", "false"],
            [*ended, "ROLLBACK_MESSAGE", "true"],
            ["Recall", T, "R", "PG", "orders", KEY, "true"],
        ),
    )
    assert problems.count == 0
    assert [(event["kind"], event["time"]) for event in events] == [(Kind.STORE, T + 5), (Kind.GAP, T + 5)]
    assert found.skipped == {
        "half message: stored for consumers only when its transaction is committed": 1,
        "transaction ended with ROLLBACK_MESSAGE": 1,
        "recall of a delayed message": 1,
    }


def test_a_delayed_message_waits_first(tmp_path):
    assert imported(tmp_path, body([*PUB[:11], 3, *PUB[12:]]))[1][0]["kind"] == Kind.DELAY_STORE


def test_a_record_sent_twice_is_one_call(tmp_path):
    found, events, _ = imported(tmp_path, WHOLE + "\n" + WHOLE)
    assert len(events) == 4
    assert found.skipped == {"repeated record": 3}


def test_a_call_begins_before_it_ends_in_whatever_order_its_records_came(tmp_path):
    _, events, _ = imported(tmp_path, body(PUB, [*AFTER[:7], T + 10, "CG"], BEFORE))
    assert [event["kind"] for event in events][:3] == [Kind.STORE, Kind.DELIVER, Kind.RESULT]


def test_two_calls_with_one_message_are_two_deliveries(tmp_path):
    again = ["SubBefore", T + 50, "DefaultRegion", "CG", OTHER, KEY, 0, "k-17"]
    found, events, _ = imported(tmp_path, body(BEFORE, again))
    assert [event["kind"] for event in events] == [Kind.DELIVER, Kind.DELIVER, Kind.GAP]
    assert not found.skipped


def test_where_a_trace_was_born_is_the_address_of_its_client(tmp_path):
    local = "7F000001" + CALL[8:]
    before = ["SubBefore", T, "R", "CG", local, KEY, 0, ""]
    _, events, _ = imported(tmp_path, json.dumps({"bornHost": "/10.0.0.77:51000", "body": body(before)}))
    assert events[0]["client"] == "10.0.0.77@4242"
    strange = ["SubBefore", T, "R", "CG", "request-1", KEY, 0, ""]
    _, events, _ = imported(tmp_path, json.dumps({"bornHost": "/10.0.0.77:51000", "body": body(strange)}))
    assert events[0]["client"] == "10.0.0.77"
    assert imported(tmp_path, body(strange))[1][0]["client"] == "unknown"


def test_damage_is_counted_and_located(tmp_path):
    lines = [
        body(PUB),
        body(["SubBefore", "soon", "R", "CG", CALL, KEY, 0, ""], BEFORE),
        body(["SubAfter", CALL, KEY, 12]),
        "nothing of the kind",
        body(PUB, ["Sub", T]),
        body(AFTER)[:-20],
    ]
    _, events, problems = imported(tmp_path, "\n".join(lines), "damaged")
    assert [event["kind"] for event in events] == [Kind.STORE, Kind.DELIVER, Kind.RESULT, Kind.GAP]
    assert [(problem.line, problem.what) for problem in problems.kept] == [
        (2, "record 2 (SubBefore): time is 'soon', not a whole number"),
        (3, "record 4 (SubAfter): 4 fields, at least 6 are needed"),
        (4, "no message-trace body"),
        (5, "record 6: unknown type 'Sub'"),
    ]
