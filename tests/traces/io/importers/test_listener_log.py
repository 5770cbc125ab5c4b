"""The listener log: seven failing deliveries of one message, and what DEBUG adds."""

import os
from pathlib import Path

import pytest

from rocketproof.traces.format.kinds import Kind, Result
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.io.importers import detect
from rocketproof.traces.io.importers.listener_log import ListenerLog

KEY = "0A00000C2BD418B4AAC23E5A11C60007"


def failure(clock, key, attempt, *, thread="T1", date="2023-03-08"):
    """A failed call, as the container logs it."""
    container = "a.r.s.s.DefaultRocketMQListenerContainer"
    told = f"consume message failed. messageId:{key}, topic:stock, reconsumeTimes:{attempt}"
    return f"{date} {clock}  WARN 11220 --- [{thread}] {container} : {told}\n"


def own(clock, *, thread="T1"):
    """A line that the listener itself writes."""
    return f"2023-03-08 {clock}  INFO 11220 --- [{thread}] com.example.shop.Stock                   : reserve item 7\n"


def debug(clock, told, *, thread="T1"):
    """What the container tells where DEBUG is on."""
    return f"2023-03-08 {clock} DEBUG 11220 --- [{thread}] a.r.s.s.DefaultRocketMQListenerContainer : {told}\n"


CALLS = [
    ("09:15:00.120", "09:15:00.127"),
    ("09:15:10.131", "09:15:10.131"),
    ("09:15:40.140", "09:15:40.141"),
    ("09:16:40.150", "09:16:40.150"),
    ("09:18:40.160", "09:18:40.162"),
    ("09:21:40.171", "09:21:40.171"),
    ("09:25:40.180", "09:25:40.181"),
]
TRACE = "\njava.lang.IllegalStateException: shelf is empty\n\tat com.example.shop.Stock.reserve(Stock.java:20)\n"
LOG = (
    "A note on retries. What the shop's log says:\n\n```log\n"
    + "".join(
        own(began, thread=f"T{attempt}") + failure(ended, KEY, attempt, thread=f"T{attempt}") + TRACE
        for attempt, (began, ended) in enumerate(CALLS)
    )
    + "```\n"
)

SPACING = [10, 30, 60, 120, 180, 240]


def imported(path, importer=None):
    problems = Problems()
    found = (importer or ListenerLog()).read(path, problems)
    return found, list(found.events), problems


def written(tmp_path, text):
    path = tmp_path / "app.log"
    path.write_text(text, encoding="utf-8")
    return path


def waits_in_seconds(events):
    """From each failure to the next delivery, rounded to seconds."""
    delivered = [event["time"] for event in events if event["kind"] == Kind.DELIVER]
    failed = [event["time"] for event in events if event["kind"] == Kind.RESULT]
    return [round((again - before) / 1000) for before, again in zip(failed, delivered[1:], strict=False)]


def test_seven_deliveries_with_their_spacing(tmp_path):
    found, events, problems = imported(written(tmp_path, LOG))
    assert problems.count == 0
    assert [event["kind"] for event in events] == [Kind.DELIVER, Kind.RESULT] * 7
    assert [event["attempt"] for event in events[::2]] == [0, 1, 2, 3, 4, 5, 6]
    assert {event["key"] for event in events} == {KEY}
    assert {event["result"] for event in events[1::2]} == {Result.EXCEPTION}
    assert waits_in_seconds(events) == SPACING
    assert events[0] == {
        "time": 1678266900120,
        "kind": Kind.DELIVER,
        "group": None,
        "client": "11220",
        "topic": "stock",
        "key": KEY,
        "attempt": 0,
    }
    assert events[1]["time"] == 1678266900127
    assert found.header.evidence == {Kind.DELIVER, Kind.RESULT}
    # Prose, an empty line, two fences, and three lines of a stack trace for each call.
    assert found.skipped == {"continuation": 4 + 7 * 3, "other message": 7}


def test_it_is_detected_by_its_content():
    assert detect(LOG, "notes.md").name == "listener-log"
    assert not ListenerLog().detects("2023-03-08 09:15:00.120  INFO 1 --- [main] com.example.Shop : started", "app.log")


def test_a_layout_of_the_application_s_own(tmp_path):
    failed = f"consume message failed. messageId:{KEY}, topic:stock, reconsumeTimes:2"
    head = "2023-03-08 09:15:00.127 WARN  [ConsumeMessageThread_1] [] o.a.r.s.s.DefaultRocketMQListenerContainer :: "
    _, events, problems = imported(written(tmp_path, f"{head}{failed}\n"))
    assert (problems.count, detect(head + failed, "app.log").name) == (0, "listener-log")
    assert [(event["time"], event["kind"], event["attempt"]) for event in events] == [
        (1678266900127, Kind.DELIVER, 2),
        (1678266900127, Kind.RESULT, 2),
    ]


def test_group_client_and_zone_are_options(tmp_path):
    importer = ListenerLog(zone="+08:00", group="stock-group", client="10.0.0.1@shop")
    _, events, _ = imported(written(tmp_path, LOG), importer)
    assert (events[0]["group"], events[0]["client"]) == ("stock-group", "10.0.0.1@shop")
    assert events[0]["time"] == 1678266900120 - 8 * 3_600_000


def test_spring_boot_3_lines_have_a_zone(tmp_path):
    line = (
        "2023-03-08T09:15:00.127+01:00  WARN 7 --- [shop] [Thread_1] a.r.s.s.DefaultRocketMQListenerContainer : "
        f"consume message failed. messageId:{KEY}, topic:stock, reconsumeTimes:0\n"
    )
    _, events, _ = imported(written(tmp_path, line), ListenerLog(zone="Asia/Shanghai"))
    assert [event["time"] for event in events] == [1678263300127, 1678263300127]


def test_an_old_line_of_the_thread_is_none_of_this_call(tmp_path):
    text = own("09:15:00.000") + failure("09:15:05.001", "A", 1)
    _, events, _ = imported(written(tmp_path, text))
    assert [event["time"] % 60_000 for event in events] == [5001, 5001]


FIRST = "UNIQ_KEY=K1, TAGS=a"
RETRIED = "RETRY_TOPIC=stock, UNIQ_KEY=K2"


def printed(*, queue, offset, attempt, properties):
    """A message as Java prints it."""
    return (
        f"MessageExt [brokerName=broker-a, queueId={queue}, storeSize=180, queueOffset={offset}, sysFlag=0, "
        "bornTimestamp=1, bornHost=/10.0.0.1:1, storeTimestamp=2, storeHost=/10.0.0.2:10911, msgId=OFFSETID, "
        f"commitLogOffset=16, bodyCRC=1, reconsumeTimes={attempt}, preparedTransactionOffset=0, "
        f"toString()=Message{{topic='stock', flag=0, properties={{{properties}}}, body=[65], transactionId='null'}}]"
    )


def test_debug_lines_tell_queue_offset_and_success(tmp_path):
    text = (
        debug(
            "09:15:00.000", f"received msg: {printed(queue=3, offset=41, attempt=0, properties='UNIQ_KEY=K1, TAGS=a')}"
        )
        + debug("09:15:00.012", "consume K1 cost: 11 ms")
        + debug("09:15:01.000", f"received msg: {printed(queue=0, offset=5, attempt=2, properties=RETRIED)}")
        + failure("09:15:01.030", "K2", 2)
        + debug("09:15:02.030", "consume K3 cost: 30 ms", thread="T2")
    )
    _, events, problems = imported(written(tmp_path, text), ListenerLog(group="g"))
    assert problems.count == 0
    kinds = [(event["kind"], event.get("result"), event["time"] % 60_000) for event in events]
    assert kinds == [
        (Kind.DELIVER, None, 0),
        (Kind.RESULT, Result.OK, 12),
        (Kind.DELIVER, None, 1000),
        (Kind.RESULT, Result.EXCEPTION, 1030),
        (Kind.DELIVER, None, 2000),
        (Kind.RESULT, Result.OK, 2030),
    ]
    assert [events[1][name] for name in ("topic", "broker", "queue", "offset", "key")] == [
        "stock",
        "broker-a",
        3,
        41,
        "K1",
    ]
    # A retry copy is printed under its own topic, but its queue and offset are those of the retry topic.
    assert [events[2][name] for name in ("topic", "queue", "offset", "attempt")] == ["%RETRY%g", 0, 5, 2]


def test_damaged_lines_are_counted_and_located(tmp_path):
    text = (
        failure("09:15:00.120", "A", 0, date="2023-13-08")
        + failure("09:15:00.120", "A", 0)[:-22]
        + "\n"
        + failure("09:15:00.130", "A", 0)
    )
    path = written(tmp_path, text)
    _, events, problems = imported(path)
    assert len(events) == 2
    assert [(problem.file, problem.line, problem.what) for problem in problems.kept] == [
        (str(path), 1, "2023-13-08 09:15:00.120 is no date and time"),
        (str(path), 2, "consume message failed, but not of which message"),
    ]


@pytest.mark.skipif("ROCKETPROOF_SEEDS" not in os.environ, reason="ROCKETPROOF_SEEDS names no folder")
def test_the_log_of_the_retry_document():
    path = Path(os.environ["ROCKETPROOF_SEEDS"]) / "002_ab4ecf7f6d9e9137.txt"
    _, events, problems = imported(path)
    assert problems.count == 0
    assert [event["attempt"] for event in events[::2]] == [0, 1, 2, 3, 4, 5, 6]
    assert waits_in_seconds(events) == SPACING
