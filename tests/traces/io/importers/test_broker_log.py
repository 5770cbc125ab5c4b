"""Broker logs: every message of the table in the words of 4.9 and 5.x, members by their addresses, damage."""

import pytest

from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.io.importers import detect
from rocketproof.traces.io.importers.broker_log import BROKER_TABLE, BrokerLog

C = "10.0.0.5@4242#81"
T = 1714557600000 - 8 * 3_600_000
MQ = "MessageQueue [topic=orders, brokerName=broker-a, queueId=3]"
PLACE = {"group": "CG", "topic": "orders", "broker": "broker-a", "queue": 3}


def channel(client=C, address="10.0.0.5:50001"):
    return (
        f"ClientChannelInfo [channel=[id: 0x5c, L:/10.0.0.2:10911 - R:/{address}], clientId={client}, "
        "language=JAVA, version=455, lastUpdateTimestamp=1714557600000]"
    )


def consumer(subscription="*", version=1700):
    return (
        "ConsumerData [groupName=CG, consumeType=CONSUME_PASSIVELY, messageModel=CLUSTERING, "
        "consumeFromWhere=CONSUME_FROM_LAST_OFFSET, unitMode=false, subscriptionDataSet=["
        f"SubscriptionData [classFilterMode=false, topic=orders, subString={subscription}, tagsSet=[], codeSet=[], "
        f"subVersion={version}, expressionType=TAG], SubscriptionData [classFilterMode=false, topic=%RETRY%CG, "
        "subString=*, tagsSet=[], codeSet=[], subVersion=1, expressionType=TAG]]]"
    )


def joined(client=C, address="10.0.0.5:50001"):
    return f"new consumer connected, group: CG CONSUME_PASSIVELY CLUSTERING channel: {channel(client, address)}"


def subscribed(address="10.0.0.5:50001", **told):
    return (
        f"ClientManageProcessor: registerConsumer info changed, SDK address={address}, consumerData={consumer(**told)}"
    )


HEARTBEAT = {
    "kind": "heartbeat",
    "client": C,
    "incarnation": 0,
    "group": "CG",
    "subscriptions": ["%RETRY%CG=*@1", "orders=*@1700"],
    "detail": "10.0.0.5:50001",
}
LEFT = {"kind": "unregister", "client": C, "incarnation": 0, "group": "CG", "detail": "10.0.0.5:50001"}
LOCKED = {"kind": "lock", **PLACE, "client": C, "result": "ok"}
REFUSED = {"kind": "lock", **PLACE, "client": C, "result": "failed", "detail": "instead of other@1"}

MESSAGES = [
    (subscribed(), HEARTBEAT),
    (f"heartBeatV2 {subscribed()}", HEARTBEAT),
    (f"registerConsumer info changed {consumer()} 10.0.0.5:50001", HEARTBEAT),
    (f"unregister a consumer[CG] from consumerGroupInfo {channel()}", LEFT),
    (
        f"NETTY EVENT: remove not active channel[{channel()}] from ConsumerGroupInfo groupChannelTable, "
        "consumer group: CG",
        LEFT | {"path": "expired"},
    ),
    (
        "SCAN: remove expired channel from ConsumerManager consumerTable. channel=10.0.0.5:50001, consumerGroup=CG",
        LEFT | {"path": "expired"},
    ),
    (
        "PULL_OFFSET_MOVED:correction offset. topic=orders, groupId=CG, requestOffset=7, newOffset=50, "
        "suggestBrokerId=0",
        {
            "kind": "pull_result",
            "group": "CG",
            "topic": "orders",
            "offset": 7,
            "next": 50,
            "result": "offset_illegal",
        },
    ),
    (
        "The broker's subscription is not latest, group: CG *",
        {"kind": "pull_result", "group": "CG", "result": "subscription_not_latest"},
    ),
    (
        "the consumer's subscription not exist, group: CG, topic:orders",
        {"kind": "pull_result", "group": "CG", "topic": "orders", "result": "subscription_not_exist"},
    ),
    (
        "send msg to DLQ %DLQ%CG, owner=0, originalTopic=orders, consumerId=CG, msgUniqKey=K1, storeTimestamp=17145",
        {"kind": "dead_letter", "group": "CG", "topic": "%DLQ%CG", "key": "K1", "detail": "orders"},
    ),
    (
        "RebalanceLockManager#tryLockBatch: lock a message which has not been locked yet, "
        f"group=CG, clientId={C}, mq={MQ}",
        LOCKED,
    ),
    (
        "RebalanceLockManager#tryLockBatch: try to lock a expired message queue, "
        f"group=CG, mq={MQ}, old client id=other@1, new client id={C}",
        LOCKED | {"detail": "instead of other@1"},
    ),
    (
        "RebalanceLockManager#tryLockBatch: message queue has been locked by other client, "
        f"group=CG, mq={MQ}, locked client id=other@1, current client id={C}",
        REFUSED,
    ),
    (
        f"RebalanceLockManager#unlockBatch: unlock mq, group=CG, clientId={C}, mqs={MQ}",
        {"kind": "unlock", **PLACE, "client": C},
    ),
    (f"tryLockBatch, message queue not locked, I got it. Group: CG NewClientId: {C} {MQ}", LOCKED),
    (
        f"tryLock, message queue lock expired, I got it. Group: CG OldClientId: other@1 NewClientId: {C} {MQ}",
        LOCKED | {"detail": "instead of other@1"},
    ),
    (
        f"tryLockBatch, message queue locked by other client. Group: CG OtherClientId: other@1 NewClientId: {C} {MQ}",
        REFUSED,
    ),
    (f"unlockBatch, Group: CG {MQ} {C}", {"kind": "unlock", **PLACE, "client": C}),
    (
        "[reset-offset] reset offset started by 10.0.0.9:1. topic=orders, group=CG, timestamp=17, isForce=true",
        {"kind": "reset", "group": "CG", "topic": "orders", "detail": "17", "path": "reset"},
    ),
    (
        "load /root/store/config/consumerOffset.json OK",
        {"kind": "file_load", "result": "ok", "detail": "/root/store/config/consumerOffset.json"},
    ),
    (
        "load /root/store/config/delayOffset.json failed, and try to load backup file",
        {"kind": "file_load", "result": "error", "detail": "/root/store/config/delayOffset.json"},
    ),
    (
        "persist file /root/store/config/consumerOffset.json exception",
        {"kind": "file_persist", "result": "error", "detail": "/root/store/config/consumerOffset.json"},
    ),
    (
        "The broker[broker-a, 10.0.0.2:10911] boot success. serializeType=JSON",
        {"kind": "broker_start", "broker": "broker-a", "detail": "10.0.0.2:10911"},
    ),
    ("Shutdown hook over, consuming total time(ms): 140", {"kind": "broker_stop"}),
    (
        "Finish to change to master brokerName=broker-a",
        {"kind": "role_change", "broker": "broker-a", "result": "master"},
    ),
    (
        "Finish to change to slave brokerName=broker-a brokerId=1",
        {"kind": "role_change", "broker": "broker-a", "result": "slave"},
    ),
]
WENT_BACK = (
    "[NOTIFYME]update consumer offset less than store. clientHost=10.0.0.5:50001, key=orders@CG, queueId=3, "
    "requestOffset=40, storeOffset=44"
)
ADDED = "subscription changed, add new topic, group: CG SubscriptionData [topic=orders, subString=*, tagsSet=[]]"


def changed(before, after):
    old, new = (f"SubscriptionData [topic=orders, subString={one}, tagsSet=[]]" for one in (before, after))
    return f"subscription changed, group: CG OLD: {old} NEW: {new}"


def log(*messages, at="2024-05-01 10:00:00"):
    return "".join(f"{at} INFO ClientManageThread_3 - {message}\n" for message in messages)


def imported(tmp_path, text, **options):
    path = tmp_path / "broker.log"
    path.write_text(text)
    problems = Problems()
    found = BrokerLog(**options).read(path, problems)
    return found, list(found.events), problems


def test_a_group_whose_application_pulls_is_told(tmp_path):
    for word, listener in (("PASSIVELY", "concurrently"), ("ACTIVELY", "pull")):
        found, _, _ = imported(tmp_path, log(joined(), subscribed().replace("PASSIVELY", word)))
        assert found.header.groups["CG"].listener == listener


@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_every_message(tmp_path, message, expected):
    _, events, problems = imported(tmp_path, log(joined(), message))
    assert problems.count == 0
    assert events == [{"time": T, **expected}]


def test_every_row_has_its_message():
    """A row that no sample fits would be a row nobody knows to be right."""
    texts = [message for message, _ in MESSAGES] + [joined(), WENT_BACK, ADDED, changed("*", "paid")]
    for row in BROKER_TABLE.rows:
        fitting = [text for text in texts if row.contains in text and row.pattern.search(text)]
        assert fitting, row.contains


def test_an_offset_that_went_back_tells_both_values(tmp_path):
    _, events, _ = imported(tmp_path, log(WENT_BACK), broker="broker-a")
    assert events == [
        {"time": T, "kind": "commit", **PLACE, "offset": 44, "detail": "what was stored so far"},
        {"time": T, "kind": "commit", **PLACE, "offset": 40, "detail": "from 10.0.0.5:50001"},
    ]


def test_the_name_of_the_broker_comes_from_its_start(tmp_path):
    start = "The broker[broker-b, 10.0.0.3:10911] boot success. serializeType=JSON"
    assert imported(tmp_path, log(WENT_BACK, start))[1][0]["broker"] == "broker-b"
    assert "broker" not in imported(tmp_path, log(WENT_BACK))[1][0]


def test_one_client_id_at_two_hosts_is_two_processes(tmp_path):
    messages = [
        joined("same", "10.0.0.5:1"),
        subscribed("10.0.0.5:1", subscription="a"),
        joined("same", "10.0.0.6:1"),
        subscribed("10.0.0.6:1", subscription="b"),
        # A new connection from the first host is the first process again.
        joined("same", "10.0.0.5:2"),
        subscribed("10.0.0.5:2", subscription="a", version=1800),
        f"unregister a consumer[CG] from consumerGroupInfo {channel('same', '10.0.0.6:1')}",
    ]
    _, events, _ = imported(tmp_path, log(*messages))
    assert [(event["kind"], event["incarnation"]) for event in events] == [
        ("heartbeat", 0),
        ("heartbeat", 1),
        ("heartbeat", 0),
        ("unregister", 1),
    ]
    assert [event["subscriptions"][1] for event in events[:3]] == ["orders=a@1700", "orders=b@1700", "orders=a@1800"]


def test_a_client_that_joined_before_the_log_begins(tmp_path):
    found, events, problems = imported(tmp_path, log("anything at all", subscribed()))
    assert (events, problems.count) == ([], 0)
    assert found.skipped == {"other message": 1, "message about a client that joined before the log begins": 1}


def test_a_client_that_connects_anew_does_not_leave_with_its_old_connection(tmp_path):
    old, new = "10.0.0.5:1", "10.0.0.5:2"
    leaves = [f"unregister a consumer[CG] from consumerGroupInfo {channel(C, address)}" for address in (old, new)]
    messages = [joined(C, old), subscribed(old), joined(C, new), subscribed(new), *leaves]
    found, events, _ = imported(tmp_path, log(*messages))
    assert [(event["kind"], event["detail"]) for event in events] == [
        ("heartbeat", old),
        ("heartbeat", new),
        ("unregister", new),
    ]
    assert found.skipped["end of a connection of a client that has a later one"] == 1


def test_who_has_not_left_has_sent_heartbeats_to_the_end(tmp_path):
    gone = "10.0.0.6:1"
    messages = [joined(), subscribed(), joined("other", gone), subscribed(gone)]
    leave = f"unregister a consumer[CG] from consumerGroupInfo {channel('other', gone)}"
    text = log(*messages) + log(leave, at="2024-05-01 10:01:00") + log("the end", at="2024-05-01 10:30:00")
    _, events, _ = imported(tmp_path, text)
    assert [(event["kind"], event["client"], event["time"] - T) for event in events] == [
        ("heartbeat", C, 0),
        ("heartbeat", "other", 0),
        ("unregister", "other", 60_000),
        ("heartbeat", C, 30 * 60_000 - 130_000),
    ]
    assert events[3]["subscriptions"] == HEARTBEAT["subscriptions"]


def test_members_whose_heartbeats_are_not_logged_consume_what_the_latest_one_says(tmp_path):
    other, dynamic = "10.0.0.6:1", consumer().replace("topic=orders", "topic=dynamic")
    more = subscribed(version=1800).replace(
        "subscriptionDataSet=[", "subscriptionDataSet=[" + dynamic[dynamic.index("Sub") :]
    )
    joins = log(joined(), subscribed(), joined("other", other), subscribed(other, subscription="paid"))

    def said(*later):
        _, events, _ = imported(tmp_path, joins + log(more, at="2024-05-01 10:01:00") + "".join(later))
        beats = [event for event in events if event["client"] == "other" and event["kind"] == "heartbeat"]
        return [(event["time"] - T, [one for one in event["subscriptions"] if "RETRY" not in one]) for event in beats]

    first = (0, ["orders=paid@1700"])
    agreed = (60_000, ["dynamic=*@1700", "orders=paid@1700"])
    end = log("the end", at="2024-05-01 10:03:00")
    assert said(log("the end", at="2024-05-01 10:01:30")) == [first]
    assert said(end) == [first, agreed]
    # It takes the topic out again with its next heartbeat: they differ.
    assert said(log(subscribed(other), at="2024-05-01 10:01:29"), end) == [first, (89_000, ["orders=*@1700"])]
    leave = f"SCAN: remove expired channel from ConsumerManager consumerTable. channel={other}, consumerGroup=CG"
    assert said(log(leave, at="2024-05-01 10:02:30"), end) == [first]


def test_who_has_changed_an_expression_is_not_logged(tmp_path):
    text = log(joined(), subscribed(), joined("other", "10.0.0.6:1"))
    assert imported(tmp_path, text + log(changed("*", "*"), ADDED))[0].header.lacking == {}
    lacking = imported(tmp_path, text + log(changed("*", "paid")))[0].header.lacking
    assert lacking == {(client, "CG"): {Kind.HEARTBEAT} for client in (C, "other")}


def test_the_header(tmp_path):
    header = imported(tmp_path, log(joined(), subscribed(), MESSAGES[10][0], WENT_BACK))[0].header
    assert header.source == "broker log (broker.log), times as GMT+8"
    assert header.evidence == {Kind.HEARTBEAT, Kind.LOCK}
    assert (header.groups["CG"].mode, header.groups["CG"].listener) == ("clustering", "orderly")


def test_what_is_no_event_is_counted_and_damage_is_located(tmp_path):
    text = (
        log("register broker to name server OK", ADDED, WENT_BACK[:60])
        + "java.io.IOException: no space\n\tat a.b(C.java:1)\n"
        + log(WENT_BACK, at="2024-05-01 25:00:00")
    )
    found, events, problems = imported(tmp_path, text)
    assert events == []
    assert found.skipped == {
        "other message": 1,
        "told by other messages": 1,
        "message in an unknown form": 1,
        "continuation": 2,
    }
    assert [(problem.line, problem.what) for problem in problems.kept] == [
        (6, "2024-05-01 25:00:00 is no date and time")
    ]


def test_broker_logs_are_detected(tmp_path):
    assert detect(log("anything"), "any").name == "broker-log"


def test_the_log_of_a_broker_on_standard_output_is_known_by_its_settings(tmp_path):
    lines = ["brokerName=broker-a", joined(), subscribed()]
    text = "".join(f"2024-05-01 18:00:00.00{at} INFO  HeartbeatThread_1 - {line}\n" for at, line in enumerate(lines))
    assert detect(text, "any").name == "broker-log"
    assert detect(text.replace("brokerName", "listenPort"), "any") is None
    found, (beat,), _ = imported(tmp_path, text)
    assert found.header.source == "broker log (broker.log), times as UTC"
    assert beat == {"time": T + 16 * 3_600_000 + 2, **HEARTBEAT}


@pytest.mark.parametrize(("stored", "time"), [(143, 143), (-2_000, -2_000), (5_000, 0), (-90_000, 0)])
def test_a_dead_letter_has_the_time_at_which_it_was_stored(tmp_path, stored, time):
    # The line has whole seconds: what was delivered in the part of the second before it is no delivery after it.
    told = (
        "send msg to DLQ %DLQ%CG, owner=null, originalTopic=orders, consumerId=CG, msgUniqKey=K1, "
        f"storeTimestamp={T + stored}"
    )
    assert [event["time"] - T for event in imported(tmp_path, log(told))[1]] == [time]
