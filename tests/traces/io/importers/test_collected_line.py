"""Lines of logs as Docker, Kubernetes, journald and JSON encoders keep them."""

import json

import pytest

from rocketproof.traces.format.problems import Problems
from rocketproof.traces.io.importers import detect, importer
from rocketproof.traces.io.importers.collected_line import text_in
from rocketproof.traces.io.importers.listener_log import ListenerLog

MESSAGE = "doRebalance, CG, add a new mq, MessageQueue [topic=T, brokerName=a, queueId=0]"
CLIENT = f"2024-05-01 18:00:00.250 INFO  [77] [RebalanceService] [RocketmqClient#x:1] - {MESSAGE}"
FAILED = "consume message failed. messageId:0A01, topic:stock, reconsumeTimes:0"
CONTAINER = "org.apache.rocketmq.spring.support.DefaultRocketMQListenerContainer"

LOGSTASH = {
    "@timestamp": "2024-05-01T10:00:00.250123Z",
    "@version": "1",
    "message": MESSAGE,
    "logger_name": "RocketmqClient",
    "thread_name": "RebalanceService",
    "level": "INFO",
    "level_value": 20000,
}
ELASTIC = {
    "@timestamp": "2024-05-01T12:00:00.250+02:00",
    "log": {"level": "INFO", "logger": "RocketmqClient"},
    "process": {"pid": 77, "thread": {"name": "RebalanceService"}},
    "message": MESSAGE,
    "ecs": {"version": "8.11"},
}


def docker(line: str) -> str:
    return json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2024-05-01T10:00:00.251123456Z"})


@pytest.mark.parametrize(
    "line",
    [
        docker(CLIENT),
        f"2024-05-01T10:00:00.251123456Z stdout F {CLIENT}",
        f"May 01 10:00:00 host java[77]: {CLIENT}",
        f"2024-05-01T10:00:00+0000 host java[77]: {CLIENT}",
        f"shop-1  | {CLIENT}",
        f"MESSAGE={CLIENT}",
        json.dumps({"__REALTIME_TIMESTAMP": "1714557600251000", "_PID": "77", "MESSAGE": CLIENT}),
        json.dumps(LOGSTASH),
        docker(json.dumps(LOGSTASH)),
        f"2024-05-01T10:00:00.251123456Z stdout F {json.dumps(LOGSTASH)}",
        json.dumps(ELASTIC),
    ],
)
def test_a_client_log_is_read_as_a_collector_keeps_it(line, tmp_path):
    assert detect(line, "any").name == "client-log"
    path = tmp_path / "any.log"
    path.write_text(f"{line}\n{docker('	at a.b.C.d(C.java:7)')}\n")
    problems = Problems()
    read = importer("client-log").read(path, problems)
    (event,) = read.events
    assert (event["time"], event["kind"], event["group"]) == (1714557600250, "assign", "CG")
    assert problems.count == 0
    assert read.skipped["continuation"] == 1


def test_a_listener_log_of_an_encoder_names_its_process(tmp_path):
    parts = {"log.logger": CONTAINER, "log.level": "WARN", "process.pid": 11220, "process.thread.name": "T1"}
    path = tmp_path / "app.log"
    path.write_text(json.dumps({"@timestamp": "2024-05-01T10:00:00Z", "message": FAILED, **parts}))
    assert detect(path.read_text(), "app.log").name == "listener-log"
    events = list(ListenerLog(group="G").read(path, Problems()).events)
    assert [(event["time"], event["client"], event["key"]) for event in events] == [
        (1714557600000, "11220", "0A01")
    ] * 2


@pytest.mark.parametrize(
    "line", ["", "{", '["message"]', '{"a": "b"}', "a {b} c", '{"message": ' * 200 + "1" + "}" * 200]
)
def test_what_is_no_such_object_stays_as_it_is(line):
    assert text_in(line) == line
