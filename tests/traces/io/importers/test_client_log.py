"""Client logs: every message of the table in the words of 4.9 and 5.x, names from other messages, damage."""

import pytest

from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.format.schema import PULLED
from rocketproof.traces.io.importers import detect
from rocketproof.traces.io.importers.client_log import ClientLog
from rocketproof.traces.io.importers.client_messages import CLIENT_TABLE
from rocketproof.traces.io.importers.message_text import readable_in

C = "10.0.0.5@4242#81"
MQ = "MessageQueue [topic=orders, brokerName=broker-a, queueId=3]"
REQUEST = f"PullRequest [consumerGroup=CG, messageQueue={MQ}, nextOffset=40]"
MESSAGE = (
    "MessageExt [brokerName=broker-a, queueId=3, storeSize=180, queueOffset=41, sysFlag=0, bornTimestamp=1, "
    "bornHost=/10.0.0.1:1, storeTimestamp=2, storeHost=/10.0.0.2:10911, msgId=OFFSETID, commitLogOffset=16, bodyCRC=1, "
    "reconsumeTimes=1, preparedTransactionOffset=0, toString()=Message{topic='orders', flag=0, "
    "properties={MIN_OFFSET=0, UNIQ_KEY=K1}, body=[65, 66], transactionId='null'}]"
)
PLACE = {"group": "CG", "topic": "orders", "broker": "broker-a", "queue": 3}
MESSAGE_FIELDS = PLACE | {"offset": 41, "msg_id": "OFFSETID", "key": "K1", "attempt": 1}
SUBSCRIPTION = (
    "SubscriptionData [classFilterMode=false, topic=orders, subString=a || b, tagsSet=[a, b], codeSet=[97, 98], "
    "subVersion=1700, expressionType=TAG]"
)

MESSAGES = [
    (f"the client factory [{C}] start OK", {"kind": "client_start", "client": C}),
    (f"the client factory [{C}] shutdown OK", {"kind": "client_stop", "client": C}),
    (
        "unregister client[Producer: null Consumer: CG] from broker[broker-a 0 10.0.0.2:10911] success",
        {"kind": "unregister", "group": "CG", "broker": "broker-a"},
    ),
    (
        f"HeartbeatData [clientID={C}, producerDataSet=[], consumerDataSet=[ConsumerData [groupName=CG, "
        "consumeType=CONSUME_PASSIVELY, messageModel=CLUSTERING, consumeFromWhere=CONSUME_FROM_LAST_OFFSET, "
        f"unitMode=false, subscriptionDataSet=[{SUBSCRIPTION}]]]]",
        {
            "kind": "heartbeat",
            "client": C,
            "group": "CG",
            "subscriptions": ["orders=a || b@1700"],
            "detail": "clustering",
        },
    ),
    (
        "the topic[orders] route info changed, old[null] ,new[TopicRouteData [orderTopicConf=null, queueDatas=["
        + ", ".join(
            f"QueueData [brokerName={broker}, readQueueNums={count}, writeQueueNums=4, perm={perm}, topicSysFlag=0]"
            for broker, count, perm in (("broker-b", 2, 6), ("broker-a", 1, 4), ("broker-c", 8, 2))
        )
        + "], brokerDatas=[BrokerData [brokerName=broker-a, brokerAddrs={0=10.0.0.2:10911}]], filterServerTable={}]]",
        {"kind": "route", "topic": "orders", "queues": ["broker-a:0", "broker-b:0", "broker-b:1"]},
    ),
    *(
        (
            f"{begin} result changed. allocateMessageQueueStrategyName=AVG, group=CG, topic=orders, clientId={C}, "
            f"mqAllSize=8, cidAllSize=2, rebalanceResultSize=1, rebalanceResultSet=[{MQ}]",
            {
                "kind": "rebalance",
                "group": "CG",
                "topic": "orders",
                "client": C,
                "assigned": ["broker-a:3"],
                "detail": "AVG",
                "count": 2,
            },
        )
        for begin in ("rebalanced", "client rebalanced")
    ),
    (f"doRebalance, CG, add a new mq, {MQ}", {"kind": "assign", **PLACE}),
    (f"doRebalance, CG, add a new pull request {REQUEST}", {"kind": "pull", **PLACE, "offset": 40}),
    (f"doRebalance, CG, remove unnecessary mq, {MQ}", {"kind": "revoke", **PLACE, "path": "removal"}),
    (
        f"[BUG]doRebalance, CG, remove unnecessary mq, {MQ}, because pull is pause, so try to fixed it",
        {"kind": "revoke", **PLACE, "path": "expired"},
    ),
    (
        f"doRebalance, CG, truncateMessageQueueNotMyTopic remove unnecessary mq, {MQ}",
        {"kind": "revoke", **PLACE, "path": "unsubscribe"},
    ),
    (f"Fix Offset, CG, remove unnecessary mq, {MQ} Droped: true", {"kind": "revoke", **PLACE, "path": "correction"}),
    (f"doRebalance, CG, compute offset failed, {MQ}", {"kind": "offset_query", **PLACE, "result": "error"}),
    (
        "doRebalance, CG orders, get consumer id list failed",
        {"kind": "members", "group": "CG", "topic": "orders", "result": "error"},
    ),
    (
        f"[BUG] ConsumerGroup: CG The consumerId: {C} not in cidAll: [a@1, b@2]",
        {"kind": "members", "group": "CG", "client": C, "members": ["a@1", "b@2"]},
    ),
    (f"the message queue lock OK, CG {MQ}", {"kind": "lock", **PLACE, "result": "ok"}),
    (f"message queue lock Failed, CG {MQ}", {"kind": "lock", **PLACE, "result": "failed"}),
    (f"the message queue locked OK, Group: CG {MQ}", {"kind": "lock", **PLACE, "result": "ok"}),
    (f"the message queue locked Failed, Group: CG {MQ}", {"kind": "lock", **PLACE, "result": "failed"}),
    (f"the message queue unlock OK, Group: CG {MQ}", {"kind": "unlock", **PLACE}),
    (f"unlock messageQueue. group:CG, clientId:{C}, mq:{MQ}", {"kind": "unlock", "client": C, **PLACE}),
    (
        f"the message queue lock expired, so consume later, {MQ}",
        {"kind": "lock_lost", **PLACE, "detail": "lock expired"},
    ),
    (
        f"[persistAll] Group: CG ClientId: {C} updateConsumeOffsetToBroker {MQ} 44",
        {"kind": "commit", **PLACE, "client": C, "offset": 44, "path": "periodic"},
    ),
    (
        f"[persist] Group: CG ClientId: {C} updateConsumeOffsetToBroker {MQ} 45",
        {"kind": "commit", **PLACE, "client": C, "offset": 45, "path": "removal"},
    ),
    (f"load consumer's offset, CG {MQ} 12", {"kind": "file_load", **PLACE, "offset": 12, "result": "ok"}),
    (
        "readLocalOffset Exception, and try to correct",
        {"kind": "file_load", "result": "error", "detail": "readLocalOffset Exception"},
    ),
    (
        "persistAll consumer offset Exception, /home/u/.rocketmq_offsets/x",
        {"kind": "file_persist", "result": "error", "detail": "persistAll consumer offset Exception"},
    ),
    (
        f"the pull request offset illegal, {REQUEST} PullResult [pullStatus=OFFSET_ILLEGAL, nextBeginOffset=52, "
        "minOffset=50, maxOffset=90, msgFoundList=0]",
        {
            "kind": "pull_result",
            **PLACE,
            "offset": 40,
            "next": 52,
            "min": 50,
            "max": 90,
            "count": 0,
            "result": "offset_illegal",
        },
    ),
    (f"fix the pull request offset, {REQUEST}", {"kind": "correct", **PLACE, "offset": 40}),
    (
        f"the subscription is not latest, group=CG, messageQueue={MQ}",
        {"kind": "pull_result", **PLACE, "result": "subscription_not_latest"},
    ),
    (
        f"execute the pull request exception, group=CG, messageQueue={MQ}",
        {"kind": "pull_result", **PLACE, "result": "error"},
    ),
    *(
        (f"{words}, minOffset=1, {REQUEST}", {"kind": "flow_control", **PLACE, "offset": 40, "path": path})
        for words, path in (
            ("the cached message count exceeds the threshold 1000, so do flow control", "count"),
            ("the cached message size exceeds the threshold 100 MiB, so do flow control", "size"),
            ("the queue's messages, span too long, so do flow control", "span"),
            ("pull message later because not locked in broker", "orderly"),
        )
    ),
    (
        f"Failed to send message back, consumerGroup=CG, brokerName=broker-a, mq={MQ}, message={MESSAGE}",
        {"kind": "send_back", **MESSAGE_FIELDS, "path": "request", "result": "failed"},
    ),
    (
        f"Failed to send message back, consumerGroup=CG, brokerName=null, mq=null, message={MESSAGE}",
        {"kind": "send_back", **MESSAGE_FIELDS, "path": "request", "result": "failed"},
    ),
    ("sendMessageBack Exception, CG", {"kind": "send_back", "group": "CG", "path": "request", "result": "failed"}),
    (
        f"sendMessageBack exception, group: CG msg: {MESSAGE}",
        {"kind": "send_back", **MESSAGE_FIELDS, "path": "fallback", "result": "failed"},
    ),
    (
        f"processQueue is dropped without process consume result. messageQueue={MQ}, msgs=[{MESSAGE}]",
        {"kind": "discarded", **MESSAGE_FIELDS},
    ),
    (
        f"consumeMessage exception: boom Group: CG Msgs: [{MESSAGE}] MQ: {MQ}",
        {"kind": "result", **MESSAGE_FIELDS, "result": "exception"},
    ),
    (
        f"consumeMessage return null, Group: CG Msgs: [{MESSAGE}] MQ: {MQ}",
        {"kind": "result", **MESSAGE_FIELDS, "result": "null"},
    ),
    (
        f"consumeMessage Orderly return not OK, Group: CG Msgs: [{MESSAGE}] MQ: {MQ}",
        {"kind": "result", **MESSAGE_FIELDS, "result": "suspend"},
    ),
    (
        "invoke reset offset operation from broker. brokerAddr=10.0.0.2:10911, topic=orders, group=CG, timestamp=17",
        {"kind": "reset", "group": "CG", "topic": "orders", "detail": "17", "path": "reset"},
    ),
]


def old(message, at="2024-05-01 10:00:00,250"):
    return f"{at} INFO RocketmqClient - {message}\n"


def new(message, at="2024-05-01 10:00:00.250", process=4242):
    return f"{at} INFO  [{process}] [RebalanceService] [o.a.r.c.i.c.RebalanceImpl#f:12] - {message}\n"


def imported(tmp_path, text, **options):
    path = tmp_path / "rocketmq_client.log"
    path.write_text(text)
    problems = Problems()
    found = ClientLog(**options).read(path, problems)
    return found, list(found.events), problems


# What tells the client and the group of messages that do not.
NAMING = f"[persistAll] Group: CG ClientId: {C} updateConsumeOffsetToBroker {MQ} 1"
T_UTC, T_CHINA = 1714557600250, 1714557600250 - 8 * 3_600_000


@pytest.mark.parametrize(("layout", "time"), [(old, T_UTC), (new, T_CHINA)])
@pytest.mark.parametrize(("message", "expected"), MESSAGES)
def test_every_message_in_both_layouts(tmp_path, layout, time, message, expected):
    _, events, problems = imported(tmp_path, layout(NAMING) + layout(message))
    assert problems.count == 0
    nobody = expected["kind"] == "route" or (expected["kind"].startswith("file") and "group" not in expected)
    client = {} if nobody else {"client": C}
    told = {name: value for name, value in events[1].items() if name != "group" or value is not None}
    if expected["kind"].startswith("file") and not client:
        del told["client"]
    assert told == {"time": time, **client, **expected}


def test_a_group_whose_application_pulls_is_told(tmp_path):
    """Lite pull consumers, and the pull consumers of old: what they do with offsets is theirs."""
    heartbeat = next(message for message, expected in MESSAGES if expected["kind"] == "heartbeat")
    for word, listener in (("PASSIVELY", "concurrently"), ("ACTIVELY", PULLED)):
        found, _, _ = imported(tmp_path, old(NAMING) + old(heartbeat.replace("PASSIVELY", word)))
        assert found.header.groups["CG"].listener == listener


def test_a_line_with_an_impossible_time_is_told_and_the_others_are_counted(tmp_path):
    lines = [old(NAMING), old("something else"), old(NAMING).replace("10:00:00", "10:00:60"), "  at java.lang\n"]
    found, events, problems = imported(tmp_path, "".join(lines) + old("the client factory [x] blows up"))
    assert (len(events), problems.kept[0].line, problems.count) == (1, 3, 1)
    assert found.skipped == {"other message": 1, "continuation": 1, "message in an unknown form": 1}


def test_every_row_has_its_message():
    """A row that no sample fits would be a row nobody knows to be right."""
    texts = [message for message, _ in MESSAGES] + [EXPIRED, *UNEVENTFUL]
    for row in CLIENT_TABLE.rows:
        fitting = [text for text in texts if row.contains in text and row.pattern.search(text)]
        assert fitting, row.contains


EXPIRED = "send expire msg back. topic=orders, msgId=K1, storeHost=/10.0.0.2:10911, queueId=3, queueOffset=41"
UNEVENTFUL = [
    f"doRebalance, CG, add a new mq failed, {MQ}, because lock failed",
    f"[BUG]doRebalance, CG, try remove unnecessary mq, {MQ}, because pull is pause, so try to fixed it",
    "the consumer [CG] start beginning. messageModel=BROADCASTING, isUnitMode=false",
    "Load local offset store file exception",
    "resume this consumer, CG",
]


def test_an_expired_message_is_sent_back(tmp_path):
    _, events, _ = imported(tmp_path, old(NAMING) + old(EXPIRED))
    common = {"time": T_UTC, "client": C, "group": "CG", "topic": "orders", "key": "K1", "queue": 3, "offset": 41}
    assert events[1:] == [
        common | {"kind": "expire"},
        common | {"kind": "send_back", "path": "expired", "result": "ok", "level": 3},
    ]


def test_5x_tells_twice_that_a_queue_was_not_pulled(tmp_path):
    text = "".join(new(m) for m in (NAMING, UNEVENTFUL[1], f"doRebalance, CG, remove unnecessary mq, {MQ}"))
    found, events, _ = imported(tmp_path, text)
    assert [(event["kind"], event["path"]) for event in events] == [("commit", "periodic"), ("revoke", "expired")]
    assert found.skipped == {"told by other messages": 1}


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("exception", "null", ["exception"]),
        ("exception", "suspend", ["exception"]),
        ("null", "exception", ["null", "exception"]),
        ("suspend", "suspend", ["suspend", "suspend"]),
    ],
)
def test_the_status_of_a_call_that_threw_an_exception_is_no_second_result(tmp_path, first, second, told):
    of = {expected["result"]: message for message, expected in MESSAGES if expected["kind"] == "result"}
    found, events, _ = imported(tmp_path, old(NAMING) + old(of[first]) + old(of[second]))
    assert [event["result"] for event in events if event["kind"] == Kind.RESULT] == told
    assert found.skipped == ({"told by other messages": 1} if len(told) == 1 else {})


def test_a_producer_is_no_member_of_any_group(tmp_path):
    producer = "10.0.0.5@PID_CLIENT_INNER_TRACE_PRODUCER"
    messages = [NAMING, f"the client factory [{producer}] start OK", f"the client factory [{C}] start OK"]
    found, events, _ = imported(tmp_path, "".join(map(new, messages)))
    assert [event["kind"] for event in events] == ["commit", "client_start"]
    assert found.skipped == {"start or end of a client that consumes in no group": 1}


def test_an_offset_that_is_stored_to_mend_an_illegal_one(tmp_path):
    illegal = next(message for message, expected in MESSAGES if expected.get("result") == "offset_illegal")
    persist = f"[persist] Group: CG ClientId: {C} updateConsumeOffsetToBroker {MQ} 52"
    text = "".join(old(m) for m in (illegal, persist, f"fix the pull request offset, {REQUEST}", persist))
    _, events, _ = imported(tmp_path, text)
    assert [event["path"] for event in events if event["kind"] == Kind.COMMIT] == ["correction", "removal"]


def test_a_reset_stores_offsets_and_drops_queues_after_its_pause(tmp_path):
    reset = next(message for message, expected in MESSAGES if expected["kind"] == "reset")
    persist = f"[persist] Group: CG ClientId: {C} updateConsumeOffsetToBroker {MQ} 7"
    other = persist.replace("orders", "else")
    lines = [(reset, 0), (persist, 8), (persist, 10), (persist, 10), (other, 10), (persist, 21)]
    assert told_of_resets(tmp_path, lines) == [
        ("reset", "reset", "orders", None),
        ("commit", "removal", "orders", 7),
        ("reset", "reset", "orders", 7),
        ("commit", "reset", "orders", 7),
        ("revoke", "reset", "orders", None),
        ("commit", "reset", "orders", 7),  # the second one of an orderly listener
        ("commit", "removal", "else", 7),
        ("commit", "removal", "orders", 7),
    ]


def test_resets_that_several_brokers_pass_on_wait_for_each_other(tmp_path):
    reset = next(message for message, expected in MESSAGES if expected["kind"] == "reset")
    persist = f"[persist] Group: CG ClientId: {C} updateConsumeOffsetToBroker {MQ} 7"
    add = f"doRebalance, CG, add a new mq, {MQ}"
    lines = [(reset, 0), (reset.replace("timestamp=17", "timestamp=18"), 1), (persist, 10), (add, 11), (persist, 31)]
    assert told_of_resets(tmp_path, lines) == [
        ("reset", "reset", "orders", None),
        ("reset", "reset", "orders", None),
        ("reset", "reset", "orders", 7),
        ("commit", "reset", "orders", 7),
        ("revoke", "reset", "orders", None),
        ("assign", None, "orders", None),
        ("reset", "reset", "orders", 7),
        ("commit", "reset", "orders", 7),
        ("revoke", "reset", "orders", None),
    ]


def test_a_reset_is_over_when_the_client_resumes(tmp_path):
    reset = next(message for message, expected in MESSAGES if expected["kind"] == "reset")
    persist = f"[persist] Group: CG ClientId: {C} updateConsumeOffsetToBroker {MQ} 7"
    resume = "resume this consumer, CG"
    lines = [(reset, 0), (reset.replace("=17", "=18"), 1), (resume, 11), (persist, 12), (resume, 21), (persist, 22)]
    assert told_of_resets(tmp_path, lines)[2:] == [
        ("reset", "reset", "orders", 7),
        ("commit", "reset", "orders", 7),
        ("revoke", "reset", "orders", None),
        ("commit", "removal", "orders", 7),
    ]


def told_of_resets(tmp_path, lines):
    at = "2024-05-01 10:00:{}.250".format
    _, events, _ = imported(tmp_path, "".join(new(message, at=at(f"{second:02}")) for message, second in lines))
    return [(event["kind"], event.get("path"), event["topic"], event.get("offset")) for event in events]


def rebalanced(client, topic="orders", members=2):
    return (
        f"client rebalanced result changed. allocateMessageQueueStrategyName=AVG_BY_CIRCLE, group=CG, topic={topic}, "
        f"clientId={client}, mqAllSize=8, cidAllSize={members}, rebalanceResultSize=1, rebalanceResultSet=[{MQ}]"
    )


def test_the_client_of_a_round_is_the_one_that_is_named_at_its_end(tmp_path):
    add, remove = f"doRebalance, CG, add a new mq, {MQ}", f"doRebalance, CG, remove unnecessary mq, {MQ}"
    full = f"the cached message count exceeds the threshold 1000, so do flow control, {REQUEST}"
    messages = [add, rebalanced("a@1"), full, add, rebalanced("b@2"), remove, rebalanced("a@1"), full, remove]
    _, events, _ = imported(tmp_path, "".join(map(new, messages)))
    assert [(event["kind"], event["client"]) for event in events] == [
        ("assign", "a@1"),
        ("rebalance", "a@1"),
        ("flow_control", "a@1"),
        ("assign", "b@2"),
        ("rebalance", "b@2"),
        ("revoke", "a@1"),
        ("rebalance", "a@1"),
        ("flow_control", "a@1"),
        ("revoke", "a@1"),
    ]


def test_a_start_ends_what_the_client_before_did(tmp_path):
    remove = f"doRebalance, CG, remove unnecessary mq, {MQ}"
    add = f"doRebalance, CG, add a new mq, {MQ}"
    messages = [rebalanced("a@1"), remove, "the client factory [b@2] start OK", add, rebalanced("b@2")]
    _, events, _ = imported(tmp_path, "".join(map(old, messages)))
    assert [event["client"] for event in events] == ["a@1", "a@1", "b@2", "b@2", "b@2"]


def test_processes_are_told_apart_by_their_id(tmp_path):
    add = f"doRebalance, CG, add a new mq, {MQ}"
    text = (
        new(add, process=1)
        + new(add, process=2)
        + new(rebalanced("b@2"), process=2)
        + new(rebalanced("a@1"), process=1)
    )
    _, events, _ = imported(tmp_path, text)
    assert [event["client"] for event in events] == ["a@1", "b@2", "b@2", "a@1"]


def test_a_client_that_nothing_names(tmp_path):
    add = f"doRebalance, CG, add a new mq, {MQ}"
    assert imported(tmp_path, new(add))[1][0]["client"] == "4242"
    assert imported(tmp_path, old(add))[1][0]["client"] == "rocketmq_client.log"
    assert imported(tmp_path, old(add), client="me@1")[1][0]["client"] == "me@1"


def test_the_header_tells_groups_zone_and_evidence(tmp_path):
    text = new(UNEVENTFUL[2]) + new(rebalanced(C)) + new(f"message queue lock OK, CG2 {MQ}") + new(NAMING)
    header = imported(tmp_path, text)[0].header
    assert header.source == "client log (rocketmq_client.log), times as GMT+8"
    assert header.release == "5.3.3"
    assert header.evidence == {Kind.LOCK, Kind.COMMIT}
    assert (header.groups["CG"].mode, header.groups["CG"].strategy) == ("broadcasting", "AVG_BY_CIRCLE")
    assert header.groups["CG2"].listener == "orderly"
    assert imported(tmp_path, old(NAMING), zone="+02:00")[0].header.release == "4.9.8"


def test_zero_bytes_in_a_line_are_damage_but_not_before_the_first(tmp_path):
    # A log that is copied and then emptied (logrotate's copytruncate) begins with as many zero bytes as it was long.
    damaged = old(NAMING).replace("updateConsumeOffset", "\0" * 19)
    _, events, problems = imported(tmp_path, "\0" * 300 + old(NAMING) + damaged + old(NAMING))
    assert [event["kind"] for event in events] == ["commit", "commit"]
    assert [(problem.line, problem.what) for problem in problems.kept] == [(2, "zero bytes where text was; left out")]


def test_the_zone_is_an_option(tmp_path):
    assert imported(tmp_path, new(NAMING), zone="UTC")[1][0]["time"] == T_UTC
    assert imported(tmp_path, old(NAMING), zone="Europe/Berlin")[1][0]["time"] == T_UTC - 2 * 3_600_000


def test_the_hour_that_comes_twice_when_daylight_saving_ends_is_told_by_all_lines(tmp_path):
    lines = [(NAMING, "02:10"), ("nothing that is known", "02:55"), (NAMING, "02:20")]
    text = "\n".join(old(message, at=f"2024-10-27 {at}:00,000") for message, at in lines)
    first, second = [event["time"] for event in imported(tmp_path, text, zone="Europe/Berlin")[1]]
    assert second - first == 70 * 60_000


def test_stack_traces_and_other_messages_are_counted_and_damage_is_located(tmp_path):
    text = (
        "java.lang.Exception: from a line before the file begins\n"
        + old("execute the pull request exception")
        + "org.apache.rocketmq.client.exception.MQBrokerException: CODE: 25\n\tat x.y(Z.java:1)\n"
        + old(NAMING)
        + old(NAMING, at="2024-05-41 10:00:00,250")
        + old("the message queue lock expired, so consume later, MessageQueue [topic=else, brokerName=b, queueId=0]")
        + old("register consumeMessageHook Hook, mine")
        + old(NAMING)[:70]
    )
    found, events, problems = imported(tmp_path, text)
    assert [(event["kind"], event.get("detail")) for event in events if event["kind"] == Kind.GAP] == [
        ("gap", "lock_lost of no known group")
    ]
    assert [event["kind"] for event in events] == ["commit", "gap"]
    assert found.skipped == {
        "continuation": 3,
        "message in an unknown form": 2,
        "other message": 1,
        "events of no known group, each a gap": 1,
    }
    assert [(problem.line, problem.what) for problem in problems.kept] == [
        (6, "2024-05-41 10:00:00,250 is no date and time")
    ]


def test_of_two_clients_of_a_group_in_one_process_it_is_not_known_who_acts(tmp_path):
    added = f"doRebalance, CG, add a new mq, {MQ}"
    other = NAMING.replace(C, f"{C}1")
    text = "".join(map(old, (NAMING, added, other, added, NAMING, other)))
    found, events, _ = imported(tmp_path, text)
    assert [event["kind"] for event in events] == ["commit", "assign", "commit", "gap", "commit", "commit"]
    assert [(event.get("client"), event["group"], event["topic"]) for event in events[3:4]] == [(None, "CG", "orders")]
    assert found.skipped == {"events of no known client, each a gap": 1}


def test_a_client_that_starts_again_and_has_not_stopped_was_killed(tmp_path):
    starts = f"the client factory [{C}] start OK"
    _, events, _ = imported(tmp_path, "".join(map(old, (starts, NAMING, starts, NAMING))))
    assert [(event["kind"], event.get("incarnation") or 0) for event in events] == [
        *(("client_start", 0), ("commit", 0)),
        *(("client_crash", 0), ("client_start", 1), ("commit", 1)),
    ]


@pytest.mark.parametrize(
    "head",
    [
        "2024-05-01 10:00:00.250|INFO |RebalanceService|RocketmqClient|",
        "2024-05-01 10:00:00.250 INFO  [RebalanceService] [] RocketmqClient - ",
        "2024-05-01 10:00:00,250 [RebalanceService] INFO  [abc,d] RocketmqClient :: ",
        "2024-05-01T10:00:00.250Z INFO RocketmqClient: ",
        "[1031178795459018753] 2024-05-01 10:00:00,250 INFO  [RocketmqClient     ] [RebalanceService] - ",
        "2024-05-01 10:00:00.250 WARN  [RebalanceService] (Slf4jLoggerFactory.java:95) - ",
        "2024-05-01 10:00:00.250 INFO RocketmqClient [RebalanceService] ",
    ],
)
def test_an_application_may_have_a_layout_of_its_own(tmp_path, head):
    text = f"{head}doRebalance, CG, add a new mq, {MQ}\n"
    assert detect(text, "app.log").name == "client-log"
    _, events, problems = imported(tmp_path, text)
    assert problems.count == 0
    assert [(event["time"], event["kind"], event["group"]) for event in events] == [(T_UTC, "assign", "CG")]


def test_a_client_beside_the_tools_of_rocketmq_logs_as_brokers_do():
    line = f"2024-05-01 10:00:00 INFO RebalanceService - doRebalance, CG, add a new mq, {MQ}"
    assert detect(line, "tools_default.log").name == "client-log"


def test_client_logs_are_detected_in_all_layouts():
    spring = f"2024-05-01 10:00:00.250  INFO 7 --- [x] RocketmqClient : doRebalance, CG, add a new mq, {MQ}"
    for text in (old("anything"), new("anything"), spring):
        assert detect(text, "any").name == "client-log"
    assert detect("2024-05-01 10:00:00.250  INFO 7 --- [x] a.b.C : hello", "any") is None


def test_a_route_is_no_reason_to_make_millions_of_queues():
    brokers = ", ".join(
        f"QueueData [brokerName=b{n}, readQueueNums=999999999, writeQueueNums=4, perm=6, x" for n in range(99)
    )
    queues = readable_in(brokers)
    assert (len(queues), queues[0], queues[-1]) == (10_000, "b0:0", "b0:9999")
